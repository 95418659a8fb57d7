// What a kernel may say: the vocabulary of an AI Core, for generated and for hand-written C alike. A kernel includes this header
// only; every statement becomes one instruction at the emulator's door, `ascir_issue`. Read the macros below as the manual:
//
//   __local__ half *x_tile = __alloc_ub(half, 0, 8192, "x_tile");    8192 elements at byte 0 of UB
//   __memcpy_async(x_tile, x + off, n * sizeof(half));                GM → UB on MTE2, UB → GM on MTE3: the addresses decide
//   __hcc_add(dst, a, b, n);  __hcc_add_2d(__t(…), __t(…), __t(…));   pipe V (S for a dtype that pipe V lacks)
//   __set_flag(PIPE_MTE2, PIPE_V, 0);  __wait_flag(PIPE_MTE2, PIPE_V, 0);  __pipe_barrier(PIPE_V);
//
// A pointer's type is the dtype of the instruction. One C statement a line, please: faults and timelines name the line.
#ifndef ASCIR_CORE_H
#define ASCIR_CORE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ASCIR_RUNTIME  // the emulator's own files include the host's SIMD headers, some of which know these names
// Structs, so that any C11 compiler will do and nobody adds two of them by accident.
typedef struct { uint16_t bits; } half;
typedef struct { uint16_t bits; } bfloat16_t;
#endif

#include "ascir_instructions.h"

// Where a function runs and a pointer points, for the reader: C has no use for it.
#define __aicore__
#define __gm__
#define __local__
#define __constant__ static const
#define __private__

typedef struct ascir_core ascir_core;
typedef struct ascir_queue ascir_queue;

// A 2-d operand. Strides count elements. A source may repeat: row stride 0 is one row for all; column stride 0 is one 32 B block
// for a whole row, lane j reading element j mod (32 / element size) of it.
typedef struct {
  void *p;
  int64_t rows, cols, row_stride, col_stride;
  int32_t dtype;
} ascir_tile;

// A scalar operand: both readings, the element type picks one.
typedef struct {
  int64_t i;
  float f;
} ascir_scalar;

enum { ASCIR_DST, ASCIR_A, ASCIR_B, ASCIR_MASK, ASCIR_WORK, ASCIR_TILES };

typedef struct {
  int32_t opcode, line;
  int32_t option;  // rounding of a cast, axis of a reduction
  int32_t source_pipe, pipe, event;  // of flags; `pipe` of a barrier
  ascir_scalar s;
  ascir_tile tile[ASCIR_TILES];
} ascir_instr;

// A kernel argument: a GM buffer of `bytes` bytes, or an integer, or a float.
typedef struct {
  void *p;  // NULL for a scalar
  int64_t i;
  float f;
  int32_t writable;
  int64_t bytes;
  const char *name;
} ascir_arg;

#pragma GCC visibility push(default)
ascir_core *ascir_self(void) __attribute__((const));
const ascir_arg *ascir_args(ascir_core *core) __attribute__((pure));
int64_t ascir_block_idx(ascir_core *core) __attribute__((pure));
int64_t ascir_block_num(ascir_core *core) __attribute__((pure));
void *ascir_alloc_ub(ascir_core *core, int64_t offset, int64_t elements, int32_t dtype, const char *name, int32_t line);
ascir_scalar ascir_issue(ascir_core *core, const ascir_instr *instr);
ascir_queue *ascir_queue_open(ascir_core *core, int32_t dtype, int32_t from, int32_t to, int32_t depth, int64_t offset, int64_t elements,
                              const char *name, int32_t line);
void *ascir_queue_alloc(ascir_core *core, ascir_queue *queue, int32_t line);
void ascir_queue_enqueue(ascir_core *core, ascir_queue *queue, const void *buffer, int32_t line);
void *ascir_queue_dequeue(ascir_core *core, ascir_queue *queue, int32_t line);
void ascir_queue_free(ascir_core *core, ascir_queue *queue, const void *buffer, int32_t line);
float ascir_round_f16(float value);
float ascir_round_bf16(float value);
#pragma GCC visibility pop

#define ASCIR_KERNEL(name) __attribute__((visibility("default"))) void name##__entry(void)
#define __arg(k) (ascir_args(ascir_self())[k])
#define __block_idx (ascir_block_idx(ascir_self()))
#define __block_num (ascir_block_num(ascir_self()))
#define __alloc_ub(type, offset, elements, name) \
  ((type *)ascir_alloc_ub(ascir_self(), offset, elements, ASCIR_DTYPE((type){0}), name, __LINE__))

// ---- operands ------------------------------------------------------------------------------------------------------------------

#define __t(pointer, rows, cols, row_stride, col_stride) \
  ((ascir_tile){(void *)(pointer), rows, cols, row_stride, col_stride, ASCIR_DTYPE(*(pointer))})
#define ASCIR_ROW(pointer, count) __t(pointer, 1, count, 0, 1)
#define ASCIR_BITS(pointer, count) __t(pointer, 1, ((count) + 7) / 8, 0, 1)  // a mask, one bit an element
#define ASCIR_BLOCK_ELEMENTS(pointer) ((int64_t)(ASCIR_BLOCK_BYTES / sizeof *(pointer)))

static inline ascir_scalar ascir_from_float(float f) {
  return (ascir_scalar){fabsf(f) < 0x1p63f ? (int64_t)f : INT64_MIN, f};
}
static inline ascir_scalar ascir_from_int(int64_t i) { return (ascir_scalar){i, (float)i}; }
#define ASCIR_NUMBER(s) _Generic((s), float: ascir_from_float, double: ascir_from_float, default: ascir_from_int)(s)

// ---- instructions --------------------------------------------------------------------------------------------------------------

#define ASCIR_ISSUE(code, ...) ascir_issue(ascir_self(), &(ascir_instr){.opcode = code, .line = __LINE__, __VA_ARGS__})

// `n` elements: the count is evaluated once.
#define ASCIR_COUNT(n, ...)      \
  do {                           \
    const int64_t ascir_n = (n); \
    __VA_ARGS__;                 \
  } while (0)

#define ASCIR_UNARY_2D(code, dst, a) ASCIR_ISSUE(code, .tile = {[ASCIR_DST] = dst, [ASCIR_A] = a})
#define ASCIR_BINARY_2D(code, dst, a, b) ASCIR_ISSUE(code, .tile = {[ASCIR_DST] = dst, [ASCIR_A] = a, [ASCIR_B] = b})
#define ASCIR_SCALAR_2D(code, dst, a, x) ASCIR_ISSUE(code, .s = ASCIR_NUMBER(x), .tile = {[ASCIR_DST] = dst, [ASCIR_A] = a})
#define ASCIR_COMPARE_2D ASCIR_BINARY_2D
#define ASCIR_COMPARE_SCALAR_2D ASCIR_SCALAR_2D
#define ASCIR_SELECT_2D(code, dst, mask, a, b) \
  ASCIR_ISSUE(code, .tile = {[ASCIR_DST] = dst, [ASCIR_MASK] = mask, [ASCIR_A] = a, [ASCIR_B] = b})
#define ASCIR_SELECT_SCALAR_2D(code, dst, mask, a, x) \
  ASCIR_ISSUE(code, .s = ASCIR_NUMBER(x), .tile = {[ASCIR_DST] = dst, [ASCIR_MASK] = mask, [ASCIR_A] = a})
#define ASCIR_CAST_2D(code, dst, a, mode) ASCIR_ISSUE(code, .option = mode, .tile = {[ASCIR_DST] = dst, [ASCIR_A] = a})
#define ASCIR_DUPLICATE_2D(code, dst, x) ASCIR_ISSUE(code, .s = ASCIR_NUMBER(x), .tile = {[ASCIR_DST] = dst})
#define ASCIR_IOTA_2D ASCIR_DUPLICATE_2D
#define ASCIR_COPY_2D ASCIR_UNARY_2D

#define ASCIR_UNARY(code, dst, a, n) ASCIR_COUNT(n, ASCIR_UNARY_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_ROW(a, ascir_n)))
#define ASCIR_BINARY(code, dst, a, b, n) \
  ASCIR_COUNT(n, ASCIR_BINARY_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_ROW(a, ascir_n), ASCIR_ROW(b, ascir_n)))
#define ASCIR_SCALAR(code, dst, a, x, n) \
  ASCIR_COUNT(n, ASCIR_SCALAR_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_ROW(a, ascir_n), x))
#define ASCIR_COMPARE(code, dst, a, b, n) \
  ASCIR_COUNT(n, ASCIR_BINARY_2D(code, ASCIR_BITS(dst, ascir_n), ASCIR_ROW(a, ascir_n), ASCIR_ROW(b, ascir_n)))
#define ASCIR_COMPARE_SCALAR(code, dst, a, x, n) \
  ASCIR_COUNT(n, ASCIR_SCALAR_2D(code, ASCIR_BITS(dst, ascir_n), ASCIR_ROW(a, ascir_n), x))
#define ASCIR_SELECT(code, dst, mask, a, b, n)                                                                     \
  ASCIR_COUNT(n, ASCIR_SELECT_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_BITS(mask, ascir_n), ASCIR_ROW(a, ascir_n), \
                                 ASCIR_ROW(b, ascir_n)))
#define ASCIR_SELECT_SCALAR(code, dst, mask, a, x, n) \
  ASCIR_COUNT(n, ASCIR_SELECT_SCALAR_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_BITS(mask, ascir_n), ASCIR_ROW(a, ascir_n), x))
#define ASCIR_CAST(code, dst, a, mode, n) \
  ASCIR_COUNT(n, ASCIR_CAST_2D(code, ASCIR_ROW(dst, ascir_n), ASCIR_ROW(a, ascir_n), mode))
#define ASCIR_DUPLICATE(code, dst, x, n) ASCIR_COUNT(n, ASCIR_DUPLICATE_2D(code, ASCIR_ROW(dst, ascir_n), x))
#define ASCIR_IOTA ASCIR_DUPLICATE
#define ASCIR_COPY ASCIR_UNARY
#define ASCIR_BLOCK_BROADCAST(code, dst, a, n)                                                                             \
  ASCIR_COUNT(n, ASCIR_UNARY_2D(code, __t(dst, ascir_n, ASCIR_BLOCK_ELEMENTS(dst), ASCIR_BLOCK_ELEMENTS(dst), 1), \
                                ASCIR_ROW(a, ascir_n)))
#define ASCIR_REDUCE(code, dst, a, work, work_elements, axis_of_a)                                                        \
  do {                                                                                                                    \
    const ascir_tile ascir_a = a;                                                                                         \
    const int32_t ascir_axis = (axis_of_a);                                                                               \
    ASCIR_ISSUE(code, .option = ascir_axis,                                                                               \
                .tile = {[ASCIR_DST] = ASCIR_ROW(dst, ascir_axis ? ascir_a.rows : ascir_a.cols), [ASCIR_A] = ascir_a, \
                         [ASCIR_WORK] = ASCIR_ROW(work, work_elements)});                                                 \
  } while (0)

// ---- copies, flags, scalar accesses ----------------------------------------------------------------------------------------------

#define __memcpy_async(dst, src, bytes) \
  ASCIR_COUNT(bytes, __memcpy_async_2d(ASCIR_ROW((uint8_t *)(dst), ascir_n), ASCIR_ROW((const uint8_t *)(src), ascir_n)))
#define __memcpy_async_2d(dst, src) ASCIR_ISSUE(ASCIR_OP_MEMORY_COPY, .tile = {[ASCIR_DST] = dst, [ASCIR_A] = src})
#define __scalar_copy(dst, src) ASCIR_ISSUE(ASCIR_OP_MEMORY_SCALAR_COPY, .tile = {[ASCIR_DST] = dst, [ASCIR_A] = src})

#define __set_flag(from, to, id) ASCIR_ISSUE(ASCIR_OP_MEMORY_SET_FLAG, .source_pipe = from, .pipe = to, .event = id)
#define __wait_flag(from, to, id) ASCIR_ISSUE(ASCIR_OP_MEMORY_WAIT_FLAG, .source_pipe = from, .pipe = to, .event = id)
#define __pipe_barrier(of) ASCIR_ISSUE(ASCIR_OP_MEMORY_PIPE_BARRIER, .pipe = of)

// ---- queues: `depth` buffers of `elements` elements from byte `offset` of UB on, filled by pipe `from` and read by pipe `to` --------------
//
//   ascir_queue *in = __queue(half, PIPE_MTE2, PIPE_V, 2, 0, 1024, "in");
//   half *t = __queue_alloc(in);  __memcpy_async(t, x, 2048);  __queue_enqueue(in, t);
//   half *u = __queue_dequeue(in);  __hcc_exp(y, u, 1024);  __queue_free(in, u);

#define __queue(type, from, to, depth, offset, elements, name) \
  ascir_queue_open(ascir_self(), ASCIR_DTYPE((type){0}), from, to, depth, offset, elements, name, __LINE__)
#define __queue_alloc(queue) ascir_queue_alloc(ascir_self(), queue, __LINE__)
#define __queue_enqueue(queue, buffer) ascir_queue_enqueue(ascir_self(), queue, buffer, __LINE__)
#define __queue_dequeue(queue) ascir_queue_dequeue(ascir_self(), queue, __LINE__)
#define __queue_free(queue, buffer) ascir_queue_free(ascir_self(), queue, buffer, __LINE__)

// A float for float types, an int64_t for the others.
#define __scalar_load(p) \
  _Generic(*(p), half: ascir_float, bfloat16_t: ascir_float, float: ascir_float, default: ascir_integer)( \
      ASCIR_ISSUE(ASCIR_OP_MEMORY_SCALAR_LOAD, .tile = {[ASCIR_A] = ASCIR_ROW(p, 1)}))
#define __scalar_store(p, value) \
  ASCIR_ISSUE(ASCIR_OP_MEMORY_SCALAR_STORE, .s = ASCIR_NUMBER(value), .tile = {[ASCIR_DST] = ASCIR_ROW(p, 1)})

static inline float ascir_float(ascir_scalar s) { return s.f; }
static inline int64_t ascir_integer(ascir_scalar s) { return s.i; }

// ---- scalar arithmetic: total functions, where C's own are undefined ---------------------------------------------------------------

static inline int64_t ascir_div(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static inline int64_t ascir_rem(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline int64_t ascir_floor_div(int64_t a, int64_t b) {
  int64_t rest = ascir_rem(a, b);
  return ascir_div(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
static inline int64_t ascir_ceil_div(int64_t a, int64_t b) {
  int64_t rest = ascir_rem(a, b);
  return ascir_div(a, b) + (rest != 0 && (rest < 0) == (b < 0));
}
static inline int64_t ascir_max_int(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ascir_min_int(int64_t a, int64_t b) { return a < b ? a : b; }
static inline float ascir_max_float(float a, float b) { return a > b || a != a ? a : b; }  // NaN wins
static inline float ascir_min_float(float a, float b) { return a < b || a != a ? a : b; }

#define __div ascir_div
#define __rem ascir_rem
#define __floor_div ascir_floor_div
#define __ceil_div ascir_ceil_div
#define ASCIR_BY_KIND(a, b, of_float, of_int) _Generic((a) + (b), float: of_float, double: of_float, default: of_int)(a, b)
#define __max(a, b) ASCIR_BY_KIND(a, b, ascir_max_float, ascir_max_int)
#define __min(a, b) ASCIR_BY_KIND(a, b, ascir_min_float, ascir_min_int)
#define __round_f16 ascir_round_f16
#define __round_bf16 ascir_round_bf16

#endif
