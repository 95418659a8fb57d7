// UB buffers, as the kernel asks for them: a place planned by the compiler or by the author, a name for messages, and contents that are
// no one's until written. Asking again at the same C line for the same place, as a loop does, gives the same buffer.
#include "core.h"

#include <stdlib.h>

enum { POISON = 0xFF };  // NaN in every float type

static void complain(ascir_core *core, int32_t kind, int32_t reason, const ascir_buffer *buffer, int64_t found, int64_t expected) {
  ascir_fault fault = ascir_fault_of(core, kind, NULL, NO_PIPE);
  fault.reason = reason;
  fault.line = buffer->line;
  fault.dtype = buffer->dtype;
  fault.space = SPACE_UB;
  fault.lo = buffer->offset;
  fault.hi = buffer->offset + buffer->bytes;
  fault.found = found;
  fault.expected = expected;
  strncpy(fault.name, buffer->name, NAME_BYTES - 1);
  ascir_report(core, &fault);
}

static int32_t find(const ascir_core *core, const ascir_buffer *wanted) {
  for (int32_t k = 0; k < core->buffers; k++) {
    const ascir_buffer *b = &core->buffer[k];
    if (b->line == wanted->line && b->offset == wanted->offset && b->bytes == wanted->bytes && b->name == wanted->name) return k;
  }
  return -1;
}

static void mark_shared(ascir_core *core, ascir_buffer *buffer) {
  for (int32_t k = 0; k < core->buffers; k++) {
    ascir_buffer *other = &core->buffer[k];
    if (other->offset + other->bytes <= buffer->offset || other->offset >= buffer->offset + buffer->bytes) continue;
    other->shares = buffer->shares = true;
    ascir_settle(core);  // what the earlier buffer is still to be used for comes before the poison
  }
}

// A buffer that does not fit in UB keeps the part that does.
static void check_place(ascir_core *core, ascir_buffer *buffer) {
  int64_t room = core->ub.bytes;
  if (buffer->offset < 0 || buffer->bytes < 0 || buffer->offset + buffer->bytes > room) {
    complain(core, FAULT_CAPACITY, REASON_NONE, buffer, buffer->offset + buffer->bytes, room);
    buffer->offset = buffer->offset < 0 ? 0 : buffer->offset > room ? room : buffer->offset;
    buffer->bytes = buffer->bytes < 0 ? 0 : buffer->bytes > room - buffer->offset ? room - buffer->offset : buffer->bytes;
  } else if (core->checks && buffer->offset % core->target->block_bytes) {
    complain(core, FAULT_MISALIGNED, REASON_NONE, buffer, buffer->offset, core->target->block_bytes);
  }
}

void *ascir_alloc_ub(ascir_core *core, int64_t offset, int64_t elements, int32_t dtype, const char *name, int32_t line) {
  ascir_buffer wanted = {.name = name, .offset = offset, .bytes = elements * ascir_element_bytes[dtype], .dtype = dtype, .line = line};
  int32_t number = find(core, &wanted);
  if (number >= 0) return ascir_ub_window(&core->ub, number) + core->buffer[number].offset;
  number = core->buffers;
  uint8_t *window = number < MAX_BUFFERS ? ascir_ub_window(&core->ub, number) : NULL;
  uint64_t *map = number < MAX_BUFFERS ? core->buffer[number].map : NULL;
  if (window && !map) map = malloc((size_t)core->ub.bytes / 8 + sizeof *map);
  if (!window || !map) {
    complain(core, FAULT_CAPACITY, REASON_BUFFERS, &wanted, number + 1, MAX_BUFFERS);
    return NULL;
  }
  wanted.map = map;
  check_place(core, &wanted);
  mark_shared(core, &wanted);
  core->buffer[core->buffers++] = wanted;
  int64_t end = wanted.offset + wanted.bytes;
  if (end > core->counts.ub_peak) core->counts.ub_peak = end;
  return memset(window + wanted.offset, POISON, (size_t)wanted.bytes);
}
