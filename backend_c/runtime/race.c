// Races, by vector clocks. A pipe's clock says how many instructions of every pipe are known to be complete when its next one starts;
// flags carry clocks from pipe to pipe, a barrier sets the pipe's own entry, and pipe S passes on what it knows with every instruction
// it issues. An access collides with a past one that is not known to be complete, touches the same bytes, and of the two one writes.
//
// Each pipe remembers its last accesses in the order of issue, so a scan from the newest backwards ends at the first complete one.
// What falls out of the ring can no longer be found: memory is bounded, and nothing innocent is ever accused.
#include "core.h"

#include <stdlib.h>

static void report(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_access *access, const ascir_past *past,
                   bool past_writes) {
  ascir_fault fault = ascir_fault_of(core, FAULT_RACE, instr, pipe);
  ascir_access shared = *access;
  if (past->bytes.lo > shared.bytes.lo) shared.bytes.lo = past->bytes.lo;
  if (past->bytes.hi < shared.bytes.hi) shared.bytes.hi = past->bytes.hi;
  ascir_fault_place(core, &fault, &shared);
  ascir_fault_other(&fault, past, past_writes);
  ascir_report(core, &fault);
}

// The newest access in the ring that is not among the first `complete` instructions and shares a byte with `bytes`.
static const ascir_past *find(const ascir_history *history, uint32_t complete, const ascir_footprint *bytes) {
  uint32_t oldest = history->count > HISTORY ? history->count - HISTORY : 0;
  for (uint32_t k = history->count; k > oldest; k--) {
    const ascir_past *past = &history->entry[(k - 1) % HISTORY];
    if (past->number <= complete) return NULL;
    if (ascir_overlap(&past->bytes, bytes)) return past;
  }
  return NULL;
}

static bool check_access(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_access *access) {
  bool in_ub = access->space == SPACE_UB;
  for (int32_t other = 0; other < ASCIR_PIPES; other++) {
    if (other == pipe && pipe == PIPE_S) continue;  // pipe S finishes an access before it begins the next
    uint32_t complete = core->pipe[pipe].clock.of[other];
    if (core->pipe[other].issued <= complete) continue;
    for (int32_t writes = 1; writes >= !access->writes; writes--) {
      const ascir_past *past = find(&core->history[other][in_ub][writes], complete, &access->bytes);
      if (past) return report(core, instr, pipe, access, past, writes), true;
    }
  }
  return false;
}

static void remember(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_access *access) {
  ascir_history *history = &core->history[pipe][access->space == SPACE_UB][access->writes];
  if (!history->entry) history->entry = malloc(HISTORY * sizeof *history->entry);
  if (!history->entry) return;
  history->entry[history->count++ % HISTORY] = (ascir_past){
      access->bytes, core->pipe[pipe].issued, instr->line, (int16_t)instr->opcode, access->owner, (int16_t)pipe};
}

// Whether there was one.
bool ascir_race(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands) {
  bool raced = false;
  for (int32_t k = 0; k < operands->count; k++) raced |= check_access(core, instr, pipe, &operands->access[k]);
  for (int32_t k = 0; k < operands->count; k++) remember(core, instr, pipe, &operands->access[k]);
  return raced;
}
