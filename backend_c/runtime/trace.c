// The last station: what was done is counted, and recorded as an event when a timeline is wanted.
#include "core.h"

#include <stdlib.h>

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
  ascir_event *event = core->tracing ? room_for_event(core) : NULL;
  if (!event) return;
  int32_t dtype;
  int64_t elements = elements_of(core, instr, operands, &dtype);
  *event = (ascir_event){start, duration, bytes, elements, (int32_t)core->block_idx, 0, instr->opcode, pipe, instr->line, dtype};
}
