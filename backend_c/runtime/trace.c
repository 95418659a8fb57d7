// The last station: what was done is counted, and recorded as an event when a timeline is wanted.
#include "core.h"

#include <stdlib.h>

// Bytes in and out of UB, and the energy of the arithmetic.
static void count_energy(ascir_core *core, const ascir_instr *instr, const ascir_operands *operands) {
  bool computes = instr->opcode < ASCIR_ROWS;
  double passes = computes ? core->target->passes[instr->opcode] : 1.0;
  int64_t bytes = 0;
  for (int32_t k = 0; k < operands->count && operands->legal; k++)
    if (operands->access[k].space == SPACE_UB) bytes += ascir_bytes_in(&operands->access[k].bytes);
  core->ub_bytes += passes * (double)bytes;
  if (!computes || !operands->legal) return;
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A];
  bool of_source = ascir_form[instr->opcode] == FORM_REDUCE || ascir_form[instr->opcode] == FORM_COMPARE ||
                   ascir_form[instr->opcode] == FORM_COMPARE_SCALAR;
  const ascir_tile *shape = of_source ? a : dst;
  core->arithmetic_pj += (double)(shape->rows * shape->cols) * core->target->picojoules[instr->opcode][shape->dtype];
}

static void count(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands, int64_t *bytes) {
  ascir_counts *counts = &core->counts;
  counts->operations[instr->opcode]++;
  counts->of_pipe[pipe]++;
  *bytes = 0;
  for (int32_t k = 0; k < operands->count && operands->legal; k++) {
    const ascir_access *access = &operands->access[k];
    if (access->space != SPACE_GM) continue;
    *bytes = ascir_bytes_in(&access->bytes);
    *(access->writes ? &counts->bytes_written : &counts->bytes_read) += *bytes;
  }
}

// How many elements of which dtype: a plain copy counts bytes, so the buffer in UB has to say what they are.
static int64_t elements_of(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands, int32_t *dtype) {
  const ascir_tile *data = &instr->tile[instr->tile[ASCIR_A].p ? ASCIR_A : ASCIR_DST];
  int64_t bytes = data->rows * data->cols * ascir_element_bytes[data->dtype];
  *dtype = data->dtype;
  if (instr->opcode == ASCIR_OP_MEMORY_COPY)
    for (int32_t k = 0; k < operands->count; k++)
      if (operands->access[k].space == SPACE_UB) *dtype = core->buffer[operands->access[k].owner].dtype;
  return bytes / ascir_element_bytes[*dtype];
}

static ascir_event *room_for_event(ascir_core *core) {
  if (core->events == core->event_capacity) {
    int64_t capacity = core->event_capacity ? 2 * core->event_capacity : 256;
    ascir_event *event = realloc(core->event, (size_t)capacity * sizeof *event);
    if (!event) return NULL;
    core->event = event;
    core->event_capacity = capacity;
  }
  return &core->event[core->events++];
}

void ascir_trace(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands, double start, double duration) {
  int64_t bytes;
  count(core, instr, pipe, operands, &bytes);
  count_energy(core, instr, operands);
  ascir_event *event = core->tracing ? room_for_event(core) : NULL;
  if (!event) return;
  int32_t dtype;
  int64_t elements = elements_of(core, instr, operands, &dtype);
  *event = (ascir_event){start, duration, bytes, elements, (int32_t)core->block_idx, 0, instr->opcode, pipe, instr->line, dtype};
}
