// Flags and barriers: how one pipe learns that another has finished. A flag carries the cycle at which all earlier work of its source
// is complete, and the source's clock; who waits for it takes over both. What remains when the kernel returns is checked here too.
#include "core.h"

static uint16_t bit(const ascir_instr *instr) { return (uint16_t)(1u << instr->event); }

static uint16_t *bits(ascir_core *core, const ascir_instr *instr) {
  return &core->flags_set[instr->source_pipe][instr->pipe];
}

static void report(ascir_core *core, const ascir_instr *instr, int32_t kind, int32_t reason, int64_t found, int64_t expected, int32_t other) {
  ascir_fault fault = ascir_fault_of(core, kind, instr, NO_PIPE);
  fault.reason = reason;
  fault.found = found;
  fault.expected = expected;
  fault.flag_source = instr->source_pipe;
  fault.flag_pipe = instr->pipe;
  fault.flag_event = instr->event;
  fault.other_line = other;
  ascir_report(core, &fault);
}

static bool is_pipe(int32_t pipe) { return pipe >= 0 && pipe < ASCIR_PIPES; }

bool ascir_flag_is_legal(ascir_core *core, const ascir_instr *instr) {
  bool pipes = is_pipe(instr->source_pipe) && is_pipe(instr->pipe) && instr->source_pipe != instr->pipe;
  int64_t events = core->target->event_ids < MAX_EVENTS ? core->target->event_ids : MAX_EVENTS;
  if (!pipes) report(core, instr, FAULT_ILLEGAL_OPERAND, REASON_PIPES, instr->source_pipe, instr->pipe, NO_LINE);
  else if (instr->event < 0 || instr->event >= events) report(core, instr, FAULT_ILLEGAL_OPERAND, REASON_EVENT, instr->event, events, NO_LINE);
  else {
    if (core->checks && core->target->reserved_event_ids >> instr->event & 1)
      report(core, instr, FAULT_RESERVED_FLAG, REASON_NONE, instr->event, 0, NO_LINE);
    return true;
  }
  return false;
}

bool ascir_barrier_is_legal(ascir_core *core, const ascir_instr *instr) {
  if (is_pipe(instr->pipe) || instr->pipe == PIPE_ALL) return true;
  report(core, instr, FAULT_ILLEGAL_OPERAND, REASON_PIPES, instr->pipe, instr->pipe, NO_LINE);
  return false;
}

bool ascir_flag_is_set(const ascir_core *core, const ascir_instr *instr) {
  return core->flags_set[instr->source_pipe][instr->pipe] & bit(instr);
}

// All earlier instructions of the pipe are complete from now on.
static void completed(ascir_core *core, ascir_clock *clock, int32_t pipe) { clock->of[pipe] = core->pipe[pipe].issued; }

void ascir_set_flag(ascir_core *core, const ascir_instr *instr) {
  const ascir_pipe *source = &core->pipe[instr->source_pipe];
  ascir_flag *flag = &core->flag[instr->source_pipe][instr->pipe][instr->event];
  if (ascir_flag_is_set(core, instr)) {
    if (core->checks) report(core, instr, FAULT_DUPLICATE_FLAG, REASON_NONE, 0, 0, flag->line);
    return;  // the first set is what the next wait can rely on
  }
  *flag = (ascir_flag){source->free, source->clock, instr->line};
  completed(core, &flag->clock, instr->source_pipe);
  *bits(core, instr) |= bit(instr);
  core->to_wake |= 1u << instr->pipe;
}

void ascir_take_flag(ascir_core *core, const ascir_instr *instr) {
  const ascir_flag *flag = &core->flag[instr->source_pipe][instr->pipe][instr->event];
  ascir_pipe *pipe = &core->pipe[instr->pipe];
  double time = flag->time + core->target->flag_cycles;
  pipe->free = pipe->free > time ? pipe->free : time;
  ascir_join(&pipe->clock, &flag->clock);
  *bits(core, instr) &= (uint16_t)~bit(instr);
}

// PIPE_ALL holds up pipe S until every pipe has finished; whatever is issued next starts later and knows of it.
void ascir_barrier(ascir_core *core, const ascir_instr *instr) {
  bool all = instr->pipe == PIPE_ALL;
  ascir_pipe *waits = &core->pipe[all ? PIPE_S : instr->pipe];
  for (int32_t p = 0; p < ASCIR_PIPES; p++) {
    if (!all && p != instr->pipe) continue;
    completed(core, &waits->clock, p);
    waits->free = waits->free > core->pipe[p].free ? waits->free : core->pipe[p].free;
  }
  waits->free += core->target->barrier_cycles;
}

// ---- the end of a kernel ----------------------------------------------------------------------------------------------------------------

static void blame(ascir_fault *fault, int32_t pipe, const ascir_instr *wait) {
  fault->waits[pipe][0] = wait->source_pipe;
  fault->waits[pipe][1] = wait->event;
  fault->waits[pipe][2] = wait->line;
  if (fault->line == NO_LINE) fault->line = wait->line;
}

static ascir_fault who_waits(const ascir_core *core, const ascir_instr *instr) {
  ascir_fault fault = ascir_fault_of(core, FAULT_DEADLOCK, instr, NO_PIPE);
  for (int32_t p = 0; p < ASCIR_PIPES; p++)
    if (core->pipe[p].waiting) blame(&fault, p, &ascir_queued(&core->pipe[p], 0)->instr);
  return fault;
}

// Whether the flag that `wait` waits for will be set by what its source pipe still has to do.
static bool will_be_set(const ascir_core *core, const ascir_instr *wait) {
  const ascir_pipe *source = &core->pipe[wait->source_pipe];
  for (int32_t k = 0; k < source->waiting; k++) {
    const ascir_instr *set = &ascir_queued(source, k)->instr;
    if (set->opcode == ASCIR_OP_MEMORY_SET_FLAG && set->pipe == wait->pipe && set->event == wait->event) return true;
  }
  return false;
}

// The kernel has returned, and pipes still wait: for each other, or for a flag whose set_flag does not exist.
static void report_waiting(ascir_core *core) {
  ascir_fault fault = who_waits(core, NULL);
  for (int32_t p = 0; p < ASCIR_PIPES; p++) {
    const ascir_instr *wait = core->pipe[p].waiting ? &ascir_queued(&core->pipe[p], 0)->instr : NULL;
    if (!wait || will_be_set(core, wait)) continue;
    fault.kind = FAULT_UNPAIRED_FLAG;
    fault.line = wait->line;
    fault.flag_source = wait->source_pipe;
    fault.flag_pipe = wait->pipe;
    fault.flag_event = wait->event;
  }
  ascir_report(core, &fault);
}

// Pipe S cannot go on at `instr`, because it waits itself or the queue of pipe `full` has no room: out of the kernel.
_Noreturn void ascir_deadlock(ascir_core *core, const ascir_instr *instr, int32_t full) {
  ascir_fault fault = who_waits(core, instr);
  fault.pipe = full;
  if (instr->opcode == ASCIR_OP_MEMORY_WAIT_FLAG && instr->pipe == PIPE_S) blame(&fault, PIPE_S, instr);
  ascir_report(core, &fault);
  ascir_leave(core);
}

// Out of the kernel, which cannot go on.
_Noreturn void ascir_leave(ascir_core *core) { longjmp(core->leave, 1); }

static void check_left_over(ascir_core *core) {
  for (int32_t source = 0; source < ASCIR_PIPES; source++)
    for (int32_t pipe = 0; pipe < ASCIR_PIPES; pipe++)
      for (int32_t event = 0; core->flags_set[source][pipe] >> event; event++) {
        if (!(core->flags_set[source][pipe] >> event & 1)) continue;
        const ascir_instr set = {.opcode = ASCIR_OP_MEMORY_SET_FLAG, .line = core->flag[source][pipe][event].line,
                                 .source_pipe = source, .pipe = pipe, .event = event};
        report(core, &set, FAULT_LEFT_OVER_FLAG, REASON_NONE, 0, 0, NO_LINE);
      }
}

static void check_guards(ascir_core *core) {
  if (ascir_ub_guards_intact(&core->ub)) return;
  ascir_fault fault = ascir_fault_of(core, FAULT_OVERRUN, NULL, NO_PIPE);
  fault.reason = REASON_GUARD;
  fault.writes = true;
  fault.space = SPACE_UB;
  ascir_report(core, &fault);
}

// The kernel returned: nothing may be left to do, no flag set, no guard zone touched.
void ascir_finish(ascir_core *core) {
  for (int32_t p = 0; p < ASCIR_PIPES; p++) {
    if (!core->pipe[p].waiting) continue;
    report_waiting(core);
    return;
  }
  ascir_settle(core);
  ascir_queues_close(core);
  if (!core->checks) return;
  check_left_over(core);
  check_guards(core);
}
