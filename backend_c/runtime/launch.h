// The face towards emulator.py, which mirrors these structs: what to run, and what came of it.
#ifndef ASCIR_LAUNCH_H
#define ASCIR_LAUNCH_H

#include "core.h"

typedef struct ascir_pool ascir_pool;

typedef struct {
  void (*entry)(void);
  const ascir_arg *args;
  const ascir_target *target;
  int64_t arg_count, block_dim;
  int32_t threads;  // at most so many host threads, the caller's included
  int32_t checks, tracing;
  int32_t thorough;  // checks that cost more
  int32_t policy;    // SCHEDULE_…
  int32_t windows;   // the kernel only computes addresses: show it GM through windows
  int64_t seed;      // of a shuffled schedule
  int64_t *finished; // counts blocks as they end, for whoever watches; or NULL
} ascir_request;

typedef struct {
  double cycles;  // of the kernel; the launch itself is the caller's to add
  double busy[ASCIR_PIPES];  // cycles, summed over cores
  double arithmetic_pj;      // energy of the arithmetic alone
  double ub_bytes;           // that went into UB or out of it
  int64_t cores;  // physical cores that had work
  int64_t in_l2;  // whether the arguments fit in L2
  ascir_counts counts;
  ascir_fault *fault;
  ascir_event *event;
  ascir_buffer_use *buffer;
  int64_t faults, events, buffers, events_lost;
  int64_t accesses_lost;  // to GM, which were not compared between blocks
  int32_t out_of_memory;
} ascir_result;

#pragma GCC visibility push(default)
ascir_pool *ascir_pool_open(int32_t helpers);
void ascir_launch(ascir_pool *pool, const ascir_request *request, ascir_result *result);
void ascir_release(ascir_result *result);
int64_t ascir_size_of(int32_t which);
#pragma GCC visibility pop

#endif
