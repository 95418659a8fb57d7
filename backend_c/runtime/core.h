// The state of one emulated AI Core, as plain structs, and the stations of the door: check → execute → time → trace (issue.c).
// Nothing here is global: every function is handed the core it works on. One core runs one block at a time on one host thread;
// launch.c spreads the blocks of a kernel over threads and reuses cores from launch to launch.
#ifndef ASCIR_RUNTIME_CORE_H
#define ASCIR_RUNTIME_CORE_H

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#define ASCIR_RUNTIME
#include "ascir_core.h"

enum { NO_PIPE = -1, NO_SPACE = -1, NO_LINE = 0 };

#include "instruction_tables.h"

// Sizes of the emulator itself, not of the hardware.
enum {
  MAX_BUFFERS = 256,      // UB buffers of one kernel
  MAX_EVENTS = 16,        // ids of a flag that there is room for
  CLOCKS = 8,             // pipes, rounded up so that a clock is one SIMD register
  HISTORY = 512,          // accesses remembered per pipe, memory and direction
  MAX_QUEUE = 64,         // instructions that one pipe has room for, if the target does not say fewer
  MAX_FAULTS = 32,        // distinct faults reported by one block
  MAX_PENDING = 4096,     // instructions of one block whose values are still to be computed
  MAX_GM_LOG = 1 << 18,   // accesses to GM remembered, all blocks together
  MAX_GM_PIECES = 1 << 22,  // rows of these accesses that are compared
  WINDOW_BITS = 48,       // GM argument k is seen through the addresses whose upper bits are k + 1
  NAME_BYTES = 48,
};

// ---- what the emulator knows about instructions (generated; tables.c) -------------------------------------------------------------

typedef void ascir_loop(void *out, const void *a, const void *b, ascir_scalar s, int64_t n);

extern const uint8_t ascir_element_bytes[ASCIR_DTYPES];
extern const bool ascir_is_float[ASCIR_DTYPES];
extern const uint8_t ascir_form[ASCIR_ROWS];
extern const int8_t ascir_pipe_of[ASCIR_ROWS][ASCIR_DTYPES];
extern const int8_t ascir_cast_pipe[ASCIR_DTYPES][ASCIR_DTYPES];
extern ascir_loop *const ascir_float_loops[ASCIR_ROWS][ASCIR_DTYPES];
extern ascir_loop *const ascir_integer_loops[ASCIR_ROWS][ASCIR_DTYPES];

// ---- operands ---------------------------------------------------------------------------------------------------------------------

// Bytes that an operand touches: `rows` times `pitch` apart, in each row `chunks` of `width` bytes `step` apart. Strides are
// positive; `lo` and `hi` bound it all. Offsets in UB, host addresses in GM (so that arguments that share memory collide).
typedef struct {
  int64_t lo, hi, rows, pitch, chunks, step, width;
} ascir_footprint;

// An operand after look-up: where it lies and what it touches.
typedef struct {
  ascir_footprint bytes;
  int16_t space, owner;  // owner: number of the UB buffer or of the kernel argument
  int16_t slot;          // which operand of the instruction
  bool writes, empty;
} ascir_access;

typedef struct {
  ascir_access access[ASCIR_TILES];
  int32_t count;
  bool legal;  // it can be executed without touching foreign memory
} ascir_operands;

// A past access, for the race check.
typedef struct {
  ascir_footprint bytes;
  uint32_t number;  // of the instruction in its pipe
  int32_t line;
  int16_t opcode, owner, pipe;
} ascir_past;

// ---- memories ---------------------------------------------------------------------------------------------------------------------

typedef struct {
  const char *name;
  int64_t offset, bytes;
  int32_t dtype, line;
  ascir_footprint known;   // initialised; the whole truth while !mapped (init.c)
  uint64_t *map;           // else a bit a byte
  bool mapped, shares;     // shares: another buffer holds some of the same bytes
  ascir_past unread;       // the last write, while nothing has read any of it; no rows: there is none
} ascir_buffer;

// UB, seen through one window of addresses a buffer (arena.c).
typedef struct {
  uint8_t *base;
  int64_t bytes, guard, window;
  int32_t windows, file;
} ascir_ub;

// ---- pipes ------------------------------------------------------------------------------------------------------------------------

// clock[q]: so many of pipe q's instructions are known to be complete.
typedef struct {
  uint32_t of[CLOCKS];
} ascir_clock;

typedef struct {
  ascir_instr instr;
  ascir_clock dispatched;  // what pipe S knew when it issued this
  double time;
} ascir_waiting;

typedef struct {
  double free;         // cycle at which all issued work is complete
  double busy;         // cycles spent working
  uint32_t issued;     // instructions started
  ascir_clock clock;
  double *left_queue;    // ring: the cycles at which the last MAX_QUEUE instructions left the queue, `dequeued` in all
  int64_t dequeued;
  ascir_waiting *queue;  // ring. Not empty: the pipe is blocked, and the first is a wait_flag whose flag is not set
  int32_t head, waiting;
} ascir_pipe;

typedef struct {
  double time;
  ascir_clock clock;
  int32_t line;
} ascir_flag;

// A core's way to global memory, for both directions: when it was in use (port.c).
enum { MAX_SPANS = 32 };

typedef struct {
  double rate, others;  // bytes per cycle of all cores together; cores at work beside this one
  double lockstep;      // the target's
  double began, used;   // cycle of the first transfer; cycles that all took
  double from[MAX_SPANS], to[MAX_SPANS];  // in order and apart
  double forgotten;                       // before this all counts as in use
  int32_t spans;
} ascir_port;

typedef struct {
  ascir_past *entry;  // ring of HISTORY
  uint32_t count;     // accesses ever
} ascir_history;

// ---- values that are not computed yet (schedule.c) -----------------------------------------------------------------------------------

enum { SCHEDULE_EAGER, SCHEDULE_LATE, SCHEDULE_SHUFFLED };

typedef struct {
  ascir_instr instr;   // GM operands are host addresses
  ascir_clock needs;   // needs.of[q]: so many of pipe q's instructions come before this one
  uint32_t number;     // in its pipe
  int16_t pipe;
  bool done;
} ascir_pending;

typedef struct {
  ascir_pending *entry;       // in the order of issue
  int32_t count, left;        // left: not done
  uint32_t settled[CLOCKS];   // all of pipe q's instructions up to this one are done
  uint64_t random;
} ascir_schedule;

// ---- accesses to GM that other blocks must not touch (cores.c) -------------------------------------------------------------------------

typedef struct {
  ascir_past past;
  int32_t block;
  bool writes;
} ascir_gm_access;

typedef struct {
  ascir_gm_access *entry;
  int64_t count, capacity, lost;
} ascir_gm_log;

// ---- queues of buffers (queue.c) -------------------------------------------------------------------------------------------------------

enum { MAX_QUEUES = 16, MAX_DEPTH = 8 };

struct ascir_queue {
  const char *name;
  int32_t line, from, to, depth, dtype;
  int32_t first_event;  // of its flags, counted from the highest id that is free
  void *buffer[MAX_DEPTH];
  uint8_t state[MAX_DEPTH];
  bool freed[MAX_DEPTH];        // the flag back to the producing pipe is set
  int32_t since[MAX_DEPTH];     // line of the step that led to the state
  int32_t order[MAX_DEPTH];     // the full ones, a ring from `first` on
  int32_t first, full, next;    // next: to be allocated
};

// ---- what a run leaves behind (shared with emulator.py, which checks the sizes) ----------------------------------------------------

enum {
  FAULT_UNALLOCATED,
  FAULT_UNINITIALISED,
  FAULT_OVERRUN,
  FAULT_MISALIGNED,
  FAULT_ILLEGAL_PATH,
  FAULT_ILLEGAL_OPERAND,
  FAULT_RACE,
  FAULT_DUPLICATE_FLAG,
  FAULT_LEFT_OVER_FLAG,
  FAULT_RESERVED_FLAG,
  FAULT_DEADLOCK,
  FAULT_CAPACITY,
  FAULT_UNPAIRED_FLAG,
  FAULT_OVERWRITTEN,
  FAULT_CORES_OVERLAP,
  FAULT_QUEUE,
  FAULT_LEAK,
};

// Why an operand is illegal; `found` and `expected` say more.
enum {
  REASON_NONE,
  REASON_SPACE,
  REASON_DTYPE,
  REASON_ROWS,
  REASON_COLUMNS,
  REASON_STEP,   // elements of a row apart
  REASON_PITCH,  // rows apart
  REASON_COUNT,
  REASON_OVERLAP,
  REASON_READ_ONLY,
  REASON_WORK,
  REASON_AXIS,
  REASON_ROUNDING,
  REASON_PIPES,
  REASON_EVENT,
  REASON_COPY_ROWS,
  REASON_COPY_BYTES,
  REASON_GUARD,
  REASON_BUFFERS,
  REASON_QUEUE_DEPTH,
  REASON_QUEUE_FLAGS,
  REASON_QUEUE_FULL,
  REASON_QUEUE_NOT_ALLOCATED,
  REASON_QUEUE_EMPTY,
  REASON_QUEUE_NOT_DEQUEUED,
};

typedef struct {
  int32_t kind, reason, opcode, pipe, line, block, dtype, times;
  int32_t space, slot, writes;
  int32_t other_opcode, other_pipe, other_line, other_writes, other_block;
  int32_t flag_source, flag_pipe, flag_event;
  int64_t lo, hi, found, expected;      // lo, hi: bytes of the buffer
  int32_t waits[ASCIR_PIPES][3];        // of a deadlock: source pipe or NO_PIPE, event, line
  char name[NAME_BYTES];
} ascir_fault;

typedef struct {
  double start, duration;  // cycles
  int64_t bytes, elements;
  int32_t block, core, opcode, pipe, line, dtype;
} ascir_event;

typedef struct {
  int64_t offset, bytes;
  int32_t dtype, line;
  char name[NAME_BYTES];
} ascir_buffer_use;

typedef struct {
  double cycles;
  double busy[ASCIR_PIPES];
  double arithmetic_pj, ub_bytes;
} ascir_block_times;

typedef struct {
  int64_t bytes_read, bytes_written, ub_peak;  // GM bytes
  int64_t operations[ASCIR_OPERATIONS], of_pipe[ASCIR_PIPES];  // instructions
} ascir_counts;

// ---- the core ---------------------------------------------------------------------------------------------------------------------

struct ascir_core {
  const ascir_target *target;
  const ascir_arg *args;  // where the bytes are
  const ascir_arg *seen;  // the same with the addresses that the kernel sees
  int64_t arg_count, block_idx, block_num;
  ascir_port port;
  bool checks, thorough, tracing;
  int32_t policy;  // SCHEDULE_…

  ascir_ub ub;
  ascir_buffer buffer[MAX_BUFFERS];
  int32_t buffers;

  ascir_pipe pipe[ASCIR_PIPES];
  ascir_flag flag[ASCIR_PIPES][ASCIR_PIPES][MAX_EVENTS];
  uint16_t flags_set[ASCIR_PIPES][ASCIR_PIPES];  // a bit an event
  uint32_t to_wake;                              // pipes whose head may have been unblocked, a bit a pipe
  ascir_history history[ASCIR_PIPES][2][2];      // pipe, in UB, written

  ascir_queue queue[MAX_QUEUES];
  int32_t queues;

  ascir_schedule schedule;
  ascir_gm_log gm_log;

  ascir_counts counts;
  double arithmetic_pj, ub_bytes;  // of the block
  ascir_fault *fault;
  int32_t faults;
  ascir_event *event;
  int64_t events, event_capacity;
  jmp_buf leave;  // out of the kernel, from a deadlock

  ascir_core *next;  // in the list of idle cores
};

// ---- stations of the door -----------------------------------------------------------------------------------------------------------

// check.c: looks the operands up and reports what is wrong with them.
void ascir_check(ascir_core *core, const ascir_instr *instr, int32_t pipe, ascir_operands *operands);
int32_t ascir_space_of(const ascir_core *core, const void *p);
void *ascir_host_address(const ascir_core *core, void *p);

// execute.c: computes. `operands` are legal.
ascir_scalar ascir_execute(const ascir_instr *instr);

// banks.c: cycles that UB takes to serve one repeat.
double ascir_bank_cycles(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands, int64_t lanes, int64_t repeats,
                         bool row_a_repeat);

// timing.c: cycles on its pipe.
double ascir_duration(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands);

// port.c: when `bytes` asked for at cycle `start` have passed.
double ascir_port_transfer(ascir_port *port, double start, double bytes);

// trace.c: counters, and an event if asked for.
void ascir_trace(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands, double start, double duration);

// ---- used by the stations -------------------------------------------------------------------------------------------------------------

// footprint.c
bool ascir_overlap(const ascir_footprint *a, const ascir_footprint *b);
bool ascir_contains(const ascir_footprint *outer, const ascir_footprint *inner);
bool ascir_same(const ascir_footprint *a, const ascir_footprint *b);

// init.c
bool ascir_initialised(ascir_buffer *buffer, const ascir_footprint *bytes, int64_t *lo, int64_t *hi);
void ascir_written(ascir_core *core, int32_t owner, const ascir_footprint *bytes);

// race.c
bool ascir_race(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands);

// schedule.c: when values are computed.
void ascir_schedule_reset(ascir_core *core, uint64_t seed);
ascir_scalar ascir_compute(ascir_core *core, int32_t pipe, const ascir_instr *instr, const ascir_operands *operands);
void ascir_settle(ascir_core *core);
int64_t ascir_block_in_turn(int32_t policy, uint64_t seed, int64_t turn, int64_t blocks);

// cores.c: what blocks do to the same bytes of GM.
void ascir_log_gm(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_access *access);
void ascir_join_logs(ascir_gm_log *all, const ascir_gm_log *log);
void ascir_compare_blocks(ascir_core *core, const ascir_gm_log *log);

// sync.c: flags, barriers, the end of a kernel.
void ascir_set_flag(ascir_core *core, const ascir_instr *instr);
bool ascir_flag_is_set(const ascir_core *core, const ascir_instr *instr);
void ascir_take_flag(ascir_core *core, const ascir_instr *instr);
void ascir_barrier(ascir_core *core, const ascir_instr *instr);
bool ascir_flag_is_legal(ascir_core *core, const ascir_instr *instr);
bool ascir_barrier_is_legal(ascir_core *core, const ascir_instr *instr);
_Noreturn void ascir_deadlock(ascir_core *core, const ascir_instr *instr, int32_t full);
void ascir_finish(ascir_core *core);
_Noreturn void ascir_leave(ascir_core *core);

// queue.c
void ascir_queues_close(ascir_core *core);

// faults.c
ascir_fault ascir_fault_of(const ascir_core *core, int32_t kind, const ascir_instr *instr, int32_t pipe);
void ascir_fault_other(ascir_fault *fault, const ascir_past *past, bool writes);
void ascir_fault_place(const ascir_core *core, ascir_fault *fault, const ascir_access *access);
void ascir_report(ascir_core *core, const ascir_fault *fault);

// arena.c
bool ascir_ub_open(ascir_ub *ub, int64_t bytes);
void ascir_ub_close(ascir_ub *ub);
uint8_t *ascir_ub_window(ascir_ub *ub, int32_t number);
bool ascir_ub_guards_intact(ascir_ub *ub);

// The k-th instruction that waits in a pipe.
static inline ascir_waiting *ascir_queued(const ascir_pipe *pipe, int32_t k) { return &pipe->queue[(pipe->head + k) % MAX_QUEUE]; }

static inline int64_t ascir_ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline void ascir_join(ascir_clock *into, const ascir_clock *from) {
  for (int q = 0; q < CLOCKS; q++) into->of[q] = into->of[q] > from->of[q] ? into->of[q] : from->of[q];
}

static inline int64_t ascir_bytes_in(const ascir_footprint *f) { return f->rows * f->chunks * f->width; }

#endif
