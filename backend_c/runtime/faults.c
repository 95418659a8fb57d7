// What a fault carries and where it is kept. A kernel in a loop makes the same mistake a thousand times: equal faults are counted, not
// repeated, and after MAX_FAULTS different ones a block reports no more. Texts are made in report.py.
#include "core.h"

#include <stdlib.h>

ascir_fault ascir_fault_of(const ascir_core *core, int32_t kind, const ascir_instr *instr, int32_t pipe) {
  ascir_fault fault = {.kind = kind, .pipe = pipe, .block = (int32_t)core->block_idx, .times = 1};
  fault.space = NO_SPACE;
  fault.slot = fault.other_pipe = fault.other_opcode = fault.other_block = fault.opcode = fault.dtype = -1;
  for (int p = 0; p < ASCIR_PIPES; p++) fault.waits[p][0] = NO_PIPE;
  if (instr) {
    fault.opcode = instr->opcode;
    fault.line = instr->line;
  }
  return fault;
}

static void copy_name(ascir_fault *fault, const char *name) {
  strncpy(fault->name, name ? name : "", NAME_BYTES - 1);
}

// Buffer name and byte range, counted from the start of the buffer.
void ascir_fault_place(const ascir_core *core, ascir_fault *fault, const ascir_access *access) {
  fault->space = access->space;
  fault->slot = access->slot;
  fault->writes = access->writes;
  bool in_ub = access->space == SPACE_UB;
  if (access->owner < 0) return;
  int64_t start = in_ub ? core->buffer[access->owner].offset : (int64_t)(intptr_t)core->args[access->owner].p;
  copy_name(fault, in_ub ? core->buffer[access->owner].name : core->args[access->owner].name);
  fault->lo = access->bytes.lo - start;
  fault->hi = access->bytes.hi - start;
}

// The earlier party of a race, or of a write that is lost.
void ascir_fault_other(ascir_fault *fault, const ascir_past *past, bool writes) {
  fault->other_opcode = past->opcode;
  fault->other_pipe = past->pipe;
  fault->other_line = past->line;
  fault->other_writes = writes;
}

static bool equal(const ascir_fault *a, const ascir_fault *b) {
  return a->kind == b->kind && a->reason == b->reason && a->line == b->line && a->opcode == b->opcode && a->slot == b->slot &&
         a->other_line == b->other_line && a->other_pipe == b->other_pipe && a->flag_event == b->flag_event &&
         a->flag_source == b->flag_source && a->flag_pipe == b->flag_pipe && strcmp(a->name, b->name) == 0;
}

void ascir_report(ascir_core *core, const ascir_fault *fault) {
  for (int32_t k = 0; k < core->faults; k++)
    if (equal(&core->fault[k], fault)) {
      core->fault[k].times++;
      return;
    }
  if (!core->fault) core->fault = malloc(MAX_FAULTS * sizeof *core->fault);
  if (core->fault && core->faults < MAX_FAULTS) core->fault[core->faults++] = *fault;
}
