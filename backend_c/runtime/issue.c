// The door. The kernel function is pipe S: it runs down the program and hands every instruction to the in-order queue of a pipe. As
// long as that pipe waits for nothing, the instruction passes the stations at once: check → execute → time → trace. A pipe blocked on
// a flag keeps its instructions until the flag is set, which may happen later in program order; only pipe S itself cannot wait for
// what the program has not said yet, and that is a deadlock.
#include "core.h"

#include <stdlib.h>

// ---- which pipe -----------------------------------------------------------------------------------------------------------------------

static int32_t refuse(ascir_core *core, const ascir_instr *instr, int32_t kind, int32_t slot, int64_t found, int64_t expected) {
  ascir_fault fault = ascir_fault_of(core, kind, instr, NO_PIPE);
  fault.slot = slot;
  fault.writes = slot == ASCIR_DST;
  fault.found = found;
  fault.expected = expected;
  ascir_report(core, &fault);
  return NO_PIPE;
}

// The addresses decide: hw §2.
static int32_t pipe_of_copy(ascir_core *core, const ascir_instr *instr) {
  int32_t from = ascir_space_of(core, instr->tile[ASCIR_A].p), to = ascir_space_of(core, instr->tile[ASCIR_DST].p);
  if (from == NO_SPACE) return refuse(core, instr, FAULT_UNALLOCATED, ASCIR_A, 0, 0);
  if (to == NO_SPACE) return refuse(core, instr, FAULT_UNALLOCATED, ASCIR_DST, 0, 0);
  int32_t pipe = core->target->path[from][to];
  bool moves = from != to && pipe != NO_PIPE;  // within UB it is a vector instruction
  return moves ? pipe : refuse(core, instr, FAULT_ILLEGAL_PATH, ASCIR_A, from, to);
}

static int32_t pipe_of_row(ascir_core *core, const ascir_instr *instr) {
  int32_t form = ascir_form[instr->opcode], dst = instr->tile[ASCIR_DST].dtype, a = instr->tile[ASCIR_A].dtype;
  bool only_dst = form == FORM_DUPLICATE || form == FORM_IOTA;
  int32_t pipe = form == FORM_CAST ? ascir_cast_pipe[a][dst] : ascir_pipe_of[instr->opcode][only_dst ? dst : a];
  if (pipe != NO_PIPE) return pipe;
  ascir_fault fault = ascir_fault_of(core, FAULT_ILLEGAL_OPERAND, instr, NO_PIPE);
  fault.reason = REASON_DTYPE;
  fault.slot = only_dst ? ASCIR_DST : ASCIR_A;
  fault.found = only_dst ? dst : a;
  fault.expected = form == FORM_CAST ? dst : -1;
  ascir_report(core, &fault);
  return NO_PIPE;
}

// A barrier for all pipes holds up pipe S.
static int32_t pipe_of_barrier(ascir_core *core, const ascir_instr *instr) {
  if (!ascir_barrier_is_legal(core, instr)) return NO_PIPE;
  return instr->pipe == PIPE_ALL ? PIPE_S : instr->pipe;
}

static int32_t pipe_of(ascir_core *core, const ascir_instr *instr) {
  if (instr->opcode < ASCIR_ROWS) return pipe_of_row(core, instr);
  switch (instr->opcode) {
    case ASCIR_OP_MEMORY_COPY: return pipe_of_copy(core, instr);
    case ASCIR_OP_MEMORY_SET_FLAG: return ascir_flag_is_legal(core, instr) ? instr->source_pipe : NO_PIPE;
    case ASCIR_OP_MEMORY_WAIT_FLAG: return ascir_flag_is_legal(core, instr) ? instr->pipe : NO_PIPE;
    case ASCIR_OP_MEMORY_PIPE_BARRIER: return pipe_of_barrier(core, instr);
    default: return PIPE_S;
  }
}

// ---- stations -------------------------------------------------------------------------------------------------------------------------

static ascir_scalar work(ascir_core *core, int32_t pipe, const ascir_instr *instr) {
  ascir_operands operands;
  ascir_scalar result = {0, 0.0f};
  core->pipe[pipe].issued++;
  ascir_check(core, instr, pipe, &operands);
  if (operands.legal) result = ascir_compute(core, pipe, instr, &operands);
  double start = core->pipe[pipe].free, duration = ascir_duration(core, instr, pipe, &operands);
  core->pipe[pipe].free += duration;
  core->pipe[pipe].busy += duration;
  ascir_trace(core, instr, pipe, &operands, start, duration);
  return result;
}

// The pipe is free to take the instruction, dispatched at cycle `time`.
static ascir_scalar start(ascir_core *core, int32_t pipe, const ascir_instr *instr, const ascir_clock *dispatched, double time) {
  ascir_pipe *p = &core->pipe[pipe];
  ascir_join(&p->clock, dispatched);
  p->free = p->free > time ? p->free : time;
  p->left_queue[p->dequeued++ % MAX_QUEUE] = p->free;
  switch (instr->opcode) {
    case ASCIR_OP_MEMORY_SET_FLAG: ascir_set_flag(core, instr); break;
    case ASCIR_OP_MEMORY_WAIT_FLAG: ascir_take_flag(core, instr); break;
    case ASCIR_OP_MEMORY_PIPE_BARRIER: ascir_barrier(core, instr); break;
    default: return work(core, pipe, instr);
  }
  return (ascir_scalar){0, 0.0f};
}

// ---- queues ---------------------------------------------------------------------------------------------------------------------------

static bool must_wait(const ascir_core *core, const ascir_instr *instr) {
  return instr->opcode == ASCIR_OP_MEMORY_WAIT_FLAG && !ascir_flag_is_set(core, instr);
}

static int64_t depth_of(const ascir_core *core) { return core->target->queue_depth < MAX_QUEUE ? core->target->queue_depth : MAX_QUEUE; }

// Pipe S stands at a full queue until an instruction leaves it: for ever, if that needs a flag which comes later in the program.
static void wait_for_room(ascir_core *core, int32_t pipe, const ascir_instr *instr) {
  ascir_pipe *s = &core->pipe[PIPE_S];
  const ascir_pipe *p = &core->pipe[pipe];
  int64_t depth = depth_of(core), before = p->dequeued + p->waiting - depth;
  if (pipe == PIPE_S || before < 0) return;
  if (p->waiting >= depth) ascir_deadlock(core, instr, pipe);
  double left = p->left_queue[before % MAX_QUEUE];
  s->free = s->free > left ? s->free : left;
}

static void enqueue(ascir_core *core, int32_t pipe, const ascir_instr *instr) {
  ascir_pipe *p = &core->pipe[pipe];
  *ascir_queued(p, p->waiting++) = (ascir_waiting){*instr, core->pipe[PIPE_S].clock, core->pipe[PIPE_S].free};
}

static void drain(ascir_core *core, int32_t pipe) {
  ascir_pipe *p = &core->pipe[pipe];
  while (p->waiting && !must_wait(core, &ascir_queued(p, 0)->instr)) {
    const ascir_waiting *next = ascir_queued(p, 0);
    p->head = (p->head + 1) % MAX_QUEUE;
    p->waiting--;
    start(core, pipe, &next->instr, &next->dispatched, next->time);
  }
}

// A set flag may unblock a pipe, whose work may set the next flag.
static void wake(ascir_core *core) {
  while (core->to_wake) {
    int32_t pipe = __builtin_ctz(core->to_wake);
    core->to_wake &= core->to_wake - 1;
    drain(core, pipe);
  }
}

// Pipe S does not get past a wait for a flag that is not set, nor past a barrier for pipes that are blocked: what could free them comes
// later in the program.
static bool is_stuck(const ascir_core *core, const ascir_instr *instr) {
  if (instr->opcode == ASCIR_OP_MEMORY_PIPE_BARRIER && instr->pipe == PIPE_ALL)
    for (int32_t p = 0; p < ASCIR_PIPES; p++)
      if (core->pipe[p].waiting) return true;
  return must_wait(core, instr);
}

ascir_scalar ascir_issue(ascir_core *core, const ascir_instr *instr) {
  ascir_scalar result = {0, 0.0f};
  int32_t pipe = pipe_of(core, instr);
  if (pipe == NO_PIPE) return result;
  ascir_pipe *s = &core->pipe[PIPE_S];
  s->free += core->target->issue_cycles;
  wait_for_room(core, pipe, instr);
  if (pipe == PIPE_S && is_stuck(core, instr)) ascir_deadlock(core, instr, NO_PIPE);
  if (core->pipe[pipe].waiting || must_wait(core, instr)) {
    enqueue(core, pipe, instr);
  } else {
    const ascir_clock known = s->clock;
    result = start(core, pipe, instr, &known, s->free);
  }
  if (core->to_wake) wake(core);
  return result;
}
