// When values are computed. Checks, times and the trace follow the program; what an instruction does to memory may come later, as on
// hardware, where pipes run side by side. An instruction of an asynchronous pipe may be held back until something that is ordered behind
// it has to run: the same order of flags, barriers and issue that race.c judges by. So a kernel without races computes the same bits
// under every schedule, and a missing flag shows in the numbers too:
//
//   eager     at issue, in the order of the program
//   late      only when something ordered behind it runs, and then the newest first
//   shuffled  whenever a seeded die says so, in any order that is legal
//
// Pipe S itself never lags: the kernel's C is pipe S.
#include "core.h"

#include <stdlib.h>

// splitmix64
static uint64_t roll(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void ascir_schedule_reset(ascir_core *core, uint64_t seed) {
  ascir_schedule *schedule = &core->schedule;
  *schedule = (ascir_schedule){.entry = schedule->entry, .random = seed + (uint64_t)core->block_idx};
}

static void settle_up_to(ascir_core *core, const ascir_clock *clock, int32_t below);

// Computes entry `k`, after all that is ordered before it. Those were issued earlier: their places in the list are below k.
static void run(ascir_core *core, int32_t k) {
  ascir_pending *pending = &core->schedule.entry[k];
  if (pending->done) return;
  pending->done = true;
  core->schedule.left--;
  settle_up_to(core, &pending->needs, k);
  ascir_execute(&pending->instr);
}

// Whether anything of what `clock` demands is still to do.
static bool demands(const ascir_schedule *schedule, const ascir_clock *clock) {
  for (int32_t q = 0; q < CLOCKS; q++)
    if (clock->of[q] > schedule->settled[q]) return true;
  return false;
}

static void mark_settled(ascir_schedule *schedule, const ascir_clock *clock) {
  for (int32_t q = 0; q < CLOCKS; q++)
    if (clock->of[q] > schedule->settled[q]) schedule->settled[q] = clock->of[q];
}

// Computes everything among the first `below` entries that `clock` says is complete, the newest first.
static void settle_up_to(ascir_core *core, const ascir_clock *clock, int32_t below) {
  ascir_schedule *schedule = &core->schedule;
  if (!demands(schedule, clock)) return;
  for (int32_t k = below - 1; k >= 0; k--) {
    const ascir_pending *pending = &schedule->entry[k];
    if (!pending->done && pending->number <= clock->of[pending->pipe]) run(core, k);
  }
  mark_settled(schedule, clock);
}

// Computes all that is left: from the newest, or in a shuffled order, each after what it needs.
void ascir_settle(ascir_core *core) {
  ascir_schedule *schedule = &core->schedule;
  while (schedule->left && core->policy == SCHEDULE_SHUFFLED && schedule->left > schedule->count / 8)
    run(core, (int32_t)(roll(&schedule->random) % (uint64_t)schedule->count));
  for (int32_t k = schedule->count - 1; k >= 0 && schedule->left; k--) run(core, k);
  schedule->count = schedule->left = 0;
}

static bool reserve(ascir_schedule *schedule) {
  if (!schedule->entry) schedule->entry = malloc(MAX_PENDING * sizeof *schedule->entry);
  return schedule->entry != NULL;
}

static void hold_back(ascir_core *core, int32_t pipe, const ascir_instr *instr) {
  ascir_schedule *schedule = &core->schedule;
  if (schedule->count == MAX_PENDING || !schedule->left) ascir_settle(core);
  schedule->entry[schedule->count++] = (ascir_pending){*instr, core->pipe[pipe].clock, core->pipe[pipe].issued, (int16_t)pipe, false};
  schedule->left++;
  if (core->policy != SCHEDULE_SHUFFLED || roll(&schedule->random) % 2) return;
  run(core, (int32_t)(roll(&schedule->random) % (uint64_t)schedule->count));
}

// The operands where the host has them: a kernel sees GM through windows of addresses.
static ascir_instr at_home(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands) {
  ascir_instr home = *instr;
  for (int32_t k = 0; k < operands->count; k++)
    if (operands->access[k].space == SPACE_GM) {
      ascir_tile *tile = &home.tile[operands->access[k].slot];
      tile->p = ascir_host_address(core, tile->p);
    }
  return home;
}

static bool touches_gm(const ascir_operands *operands) {
  for (int32_t k = 0; k < operands->count; k++)
    if (operands->access[k].space == SPACE_GM) return true;
  return false;
}

ascir_scalar ascir_compute(ascir_core *core, int32_t pipe, const ascir_instr *instr, const ascir_operands *operands) {
  ascir_instr home;
  if (touches_gm(operands)) home = at_home(core, instr, operands), instr = &home;
  if (core->policy == SCHEDULE_EAGER || !reserve(&core->schedule)) return ascir_execute(instr);
  if (pipe == PIPE_S) {
    settle_up_to(core, &core->pipe[PIPE_S].clock, core->schedule.count);
    return ascir_execute(instr);
  }
  hold_back(core, pipe, instr);
  return (ascir_scalar){0, 0.0f};
}

// ---- the order of blocks --------------------------------------------------------------------------------------------------------------

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

// Which block comes in turn `turn`: cores run side by side, so any order is legal.
int64_t ascir_block_in_turn(int32_t policy, uint64_t seed, int64_t turn, int64_t blocks) {
  if (policy == SCHEDULE_EAGER || blocks > INT32_MAX) return turn;
  if (policy == SCHEDULE_LATE) return blocks - 1 - turn;
  int64_t first = (int64_t)(roll(&seed) % (uint64_t)blocks), step = 1 + (int64_t)(roll(&seed) % (uint64_t)blocks);
  while (greatest_common_divisor(step, blocks) != 1) step++;
  return (first + turn * step) % blocks;
}
