// Queues of UB buffers between two pipes, the style of vendor tutorials: the producing pipe allocates a buffer, fills and enqueues it, the
// consuming pipe dequeues, reads and frees it. Each step is a flag under the hood, from pool ids that no other queue has; so a queue is
// also what a ping-pong by hand would be, and is checked, timed and traced as such.
//
//   state of a buffer:  FREE ──alloc──▶ FILLING ──enqueue──▶ FULL ──dequeue──▶ TAKEN ──free──▶ FREE
#include "core.h"

enum { FREE, FILLING, FULL, TAKEN };

static void complain(ascir_core *core, const ascir_queue *queue, int32_t kind, int32_t reason, int64_t found, int32_t line) {
  ascir_fault fault = ascir_fault_of(core, kind, NULL, queue->from);
  fault.reason = reason;
  fault.line = line;
  fault.space = SPACE_UB;
  fault.dtype = queue->dtype;
  fault.found = found;
  fault.expected = queue->depth;
  strncpy(fault.name, queue->name, NAME_BYTES - 1);
  ascir_report(core, &fault);
}

// ---- flags ------------------------------------------------------------------------------------------------------------------------------

// The `number`-th id from above that the vendor's runtime does not keep, or -1.
static int32_t event_id(const ascir_target *target, int32_t number) {
  for (int32_t id = (int32_t)target->event_ids - 1; id >= 0; id--)
    if (!(target->reserved_event_ids >> id & 1) && number-- == 0) return id;
  return -1;
}

static void flag(ascir_core *core, int32_t opcode, int32_t from, int32_t to, int32_t event, int32_t line) {
  const ascir_instr instr = {.opcode = opcode, .line = line, .source_pipe = from, .pipe = to, .event = event};
  ascir_issue(core, &instr);
}

// ---- steps ------------------------------------------------------------------------------------------------------------------------------

static ascir_queue *known(ascir_core *core, int32_t line, const char *name) {
  for (int32_t k = 0; k < core->queues; k++)
    if (core->queue[k].line == line && core->queue[k].name == name) return &core->queue[k];
  return NULL;
}

// Flags that queues between these two pipes use already, in either direction.
static int32_t flags_used(const ascir_core *core, int32_t from, int32_t to) {
  int32_t used = 0;
  for (int32_t k = 0; k < core->queues; k++) {
    const ascir_queue *queue = &core->queue[k];
    if ((queue->from == from && queue->to == to) || (queue->from == to && queue->to == from)) used += queue->depth;
  }
  return used;
}

static bool fits(ascir_core *core, const ascir_queue *queue) {
  bool pipes = queue->from >= 0 && queue->from < ASCIR_PIPES && queue->to >= 0 && queue->to < ASCIR_PIPES && queue->from != queue->to;
  int32_t reason = !pipes ? REASON_PIPES : queue->depth < 1 || queue->depth > MAX_DEPTH ? REASON_QUEUE_DEPTH : REASON_QUEUE_FLAGS;
  int32_t last = queue->first_event + queue->depth - 1;
  if (reason == REASON_QUEUE_FLAGS && event_id(core->target, last) >= 0 && core->queues < MAX_QUEUES) return true;
  complain(core, queue, FAULT_QUEUE, reason, queue->first_event, queue->line);
  return false;
}

// Opening again at the same C line, as a loop does, gives the same queue.
ascir_queue *ascir_queue_open(ascir_core *core, int32_t dtype, int32_t from, int32_t to, int32_t depth, int64_t offset, int64_t elements,
                              const char *name, int32_t line) {
  ascir_queue *queue = known(core, line, name);
  if (queue) return queue;
  ascir_queue wanted = {.name = name, .line = line, .from = from, .to = to, .depth = depth, .dtype = dtype};
  wanted.first_event = flags_used(core, from, to);
  if (!fits(core, &wanted)) ascir_leave(core);
  int64_t bytes = ascir_ceil_of(elements * ascir_element_bytes[dtype], core->target->block_bytes) * core->target->block_bytes;
  for (int32_t k = 0; k < depth; k++) wanted.buffer[k] = ascir_alloc_ub(core, offset + k * bytes, elements, dtype, name, line);
  core->queue[core->queues] = wanted;
  return &core->queue[core->queues++];
}

static int32_t slot_of(const ascir_queue *queue, const void *buffer, int32_t state) {
  for (int32_t k = 0; k < queue->depth; k++)
    if (queue->buffer[k] == buffer && queue->state[k] == state) return k;
  return -1;
}

static int32_t event_of(const ascir_core *core, const ascir_queue *queue, int32_t slot) {
  return event_id(core->target, queue->first_event + slot);
}

// A buffer for the producing pipe, which waits until the consuming one has freed it.
void *ascir_queue_alloc(ascir_core *core, ascir_queue *queue, int32_t line) {
  int32_t slot = queue->next;
  if (queue->state[slot] != FREE) {
    complain(core, queue, FAULT_QUEUE, REASON_QUEUE_FULL, 0, line);
    ascir_leave(core);
  }
  queue->next = (slot + 1) % queue->depth;
  if (queue->freed[slot]) flag(core, ASCIR_OP_MEMORY_WAIT_FLAG, queue->to, queue->from, event_of(core, queue, slot), line);
  queue->freed[slot] = false;
  queue->state[slot] = FILLING;
  queue->since[slot] = line;
  return queue->buffer[slot];
}

void ascir_queue_enqueue(ascir_core *core, ascir_queue *queue, const void *buffer, int32_t line) {
  int32_t slot = slot_of(queue, buffer, FILLING);
  if (slot < 0) return complain(core, queue, FAULT_QUEUE, REASON_QUEUE_NOT_ALLOCATED, 0, line);
  flag(core, ASCIR_OP_MEMORY_SET_FLAG, queue->from, queue->to, event_of(core, queue, slot), line);
  queue->state[slot] = FULL;
  queue->since[slot] = line;
  queue->order[(queue->first + queue->full++) % MAX_DEPTH] = slot;
}

// The buffer that was enqueued first; the consuming pipe waits until it is full.
void *ascir_queue_dequeue(ascir_core *core, ascir_queue *queue, int32_t line) {
  if (!queue->full) {
    complain(core, queue, FAULT_QUEUE, REASON_QUEUE_EMPTY, 0, line);
    ascir_leave(core);
  }
  int32_t slot = queue->order[queue->first];
  queue->first = (queue->first + 1) % MAX_DEPTH;
  queue->full--;
  flag(core, ASCIR_OP_MEMORY_WAIT_FLAG, queue->from, queue->to, event_of(core, queue, slot), line);
  queue->state[slot] = TAKEN;
  queue->since[slot] = line;
  return queue->buffer[slot];
}

void ascir_queue_free(ascir_core *core, ascir_queue *queue, const void *buffer, int32_t line) {
  int32_t slot = slot_of(queue, buffer, TAKEN);
  if (slot < 0) return complain(core, queue, FAULT_QUEUE, REASON_QUEUE_NOT_DEQUEUED, 0, line);
  flag(core, ASCIR_OP_MEMORY_SET_FLAG, queue->to, queue->from, event_of(core, queue, slot), line);
  queue->state[slot] = FREE;
  queue->freed[slot] = true;
}

// The kernel returned: every buffer is free again, and the flags of the last rounds are taken back.
void ascir_queues_close(ascir_core *core) {
  for (int32_t q = 0; q < core->queues; q++) {
    const ascir_queue *queue = &core->queue[q];
    for (int32_t slot = 0; slot < queue->depth; slot++) {
      uint16_t bit = (uint16_t)(1u << event_of(core, queue, slot));
      core->flags_set[queue->to][queue->from] &= (uint16_t)~bit;
      if (queue->state[slot] == FREE) continue;
      core->flags_set[queue->from][queue->to] &= (uint16_t)~bit;
      if (core->checks) complain(core, queue, FAULT_LEAK, REASON_NONE, queue->state[slot], queue->since[slot]);
    }
  }
}
