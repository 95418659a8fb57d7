// The element loops: one C function per instruction and element type, made by the macros below from the C meanings in
// machine/instructions.py. A loop runs over contiguous elements; a destination may be one of its sources, element for element. Only
// float, of the float types, reaches a loop: f16 and bf16 are widened before and rounded after (execute.c).
#ifndef ASCIR_LOOPS_H
#define ASCIR_LOOPS_H

#include "core.h"

#if defined(__clang__)
#define EACH _Pragma("clang loop vectorize(assume_safety)") for (int64_t k = 0; k < n; k++)
#else
#define EACH _Pragma("GCC ivdep") for (int64_t k = 0; k < n; k++)
#endif

#define LOOP(name) static void name(void *out, const void *pa, const void *pb, ascir_scalar scalar, int64_t n)
#define ONE_SOURCE (void)pb, (void)scalar
#define NUMBER(T) _Generic((T)0, float: scalar.f, default: scalar.i)

#define UNARY(name, dtype, type, meaning) \
  LOOP(name##_##dtype) {                  \
    typedef type T;                       \
    const T *x = pa;                      \
    T *o = out;                           \
    ONE_SOURCE;                           \
    EACH {                                \
      T a = x[k];                         \
      o[k] = meaning;                     \
    }                                     \
  }

#define TWO_SOURCES(name, type, result, meaning) \
  LOOP(name) {                                   \
    typedef type T;                              \
    const T *x = pa, *y = pb;                    \
    result *o = out;                             \
    (void)scalar;                                \
    EACH {                                       \
      T a = x[k], b = y[k];                      \
      o[k] = meaning;                            \
    }                                            \
  }

#define WITH_SCALAR(name, type, result, meaning) \
  LOOP(name) {                                   \
    typedef type T;                              \
    const T *x = pa;                             \
    const T s = (T)NUMBER(T);                    \
    result *o = out;                             \
    (void)pb;                                    \
    EACH {                                       \
      T a = x[k];                                \
      o[k] = meaning;                            \
    }                                            \
  }

#define BINARY(name, dtype, type, meaning) TWO_SOURCES(name##_##dtype, type, type, meaning)
#define SCALAR(name, dtype, type, meaning) WITH_SCALAR(name##_##dtype, type, type, meaning)
#define COMPARE(name, dtype, type, meaning) TWO_SOURCES(name##_##dtype, type, uint8_t, meaning)         // a byte an element,
#define COMPARE_SCALAR(name, dtype, type, meaning) WITH_SCALAR(name##_##dtype, type, uint8_t, meaning)  // packed in execute.c

// Functions that math.h has for arrays.
#define UNARY_FUNCTION(name, function) \
  LOOP(name##_f32) {                   \
    ONE_SOURCE;                        \
    function(out, pa, (size_t)n);      \
  }
#define BINARY_FUNCTION(name, function) \
  LOOP(name##_f32) {                    \
    (void)scalar;                       \
    function(out, pa, pb, (size_t)n);   \
  }

// Integer meanings that C leaves undefined: x / 0 is 0, the least number divided by -1 is itself, a shift by the width or more gives
// what shifting bit by bit would.
#define IS_MINUS_ONE(b) ((T)-1 < (T)0 && (b) == (T)-1)
#define shift_left(a, b) ((T)((uint64_t)(b) < 8 * sizeof(T) ? (T)((a) << (b)) : 0))
#define shift_right(a, b) ((T)((uint64_t)(b) < 8 * sizeof(T) ? (T)((a) >> (b)) : (a) < 0 ? -1 : 0))
#define remainder_of(a, b) ((T)((b) == 0 || IS_MINUS_ONE(b) ? 0 : (a) % (b)))
#define UNLIKE_SIGNS(a, b) (((a) < 0) != ((b) < 0))
#define modulo(a, b) ((T)(remainder_of(a, b) + (remainder_of(a, b) != 0 && UNLIKE_SIGNS(a, b) ? (b) : 0)))
#define floor_div(a, b) \
  ((T)((b) == 0 ? 0 : IS_MINUS_ONE(b) ? (T)(0 - (a)) : (T)((a) / (b) - ((a) % (b) != 0 && UNLIKE_SIGNS(a, b)))))

// One text serves signed and unsigned types, for which `a < 0` is a constant.
#pragma GCC diagnostic ignored "-Wtype-limits"

#endif
