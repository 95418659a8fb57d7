// Casts. Floats widen to float, integers to 64 bits, and from there every destination has one conversion; only a value between two of
// the destination's is rounded, once. Out of range or NaN becomes what x86-64 makes of it (INT64_MIN, then wrapped to the narrower
// integer; INT32_MIN for i32), on every host.
#include "execute.h"
#include "loops.h"
#include "simd.h"

// ---- widening -----------------------------------------------------------------------------------------------------------------------------

static const float *to_float(const void *in, int32_t dtype, float *buffer, int64_t n) {
  if (dtype == ASCIR_F32) return in;
  ascir_widen(buffer, in, dtype, n);
  return buffer;
}

#define WIDEN_CASE(dtype, type)                          \
  case dtype: {                                          \
    const type *x = in;                                  \
    EACH buffer[k] = (int64_t)x[k];                      \
    return buffer;                                       \
  }

static const int64_t *to_int64(const void *in, int32_t dtype, int64_t *buffer, int64_t n) {
  switch (dtype) {
    WIDEN_CASE(ASCIR_I1, uint8_t)
    WIDEN_CASE(ASCIR_I8, int8_t)
    WIDEN_CASE(ASCIR_UI8, uint8_t)
    WIDEN_CASE(ASCIR_I16, int16_t)
    WIDEN_CASE(ASCIR_UI16, uint16_t)
    WIDEN_CASE(ASCIR_I32, int32_t)
    WIDEN_CASE(ASCIR_UI32, uint32_t)
    default: return in;
  }
}

// ---- integers out -------------------------------------------------------------------------------------------------------------------------

#define NARROW_CASE(type)                  \
  case sizeof(type): {                     \
    type *o = out;                         \
    EACH o[k] = (type)in[k];               \
    return;                                \
  }

static void from_int64(void *out, int32_t dtype, const int64_t *in, int64_t n) {
  if (dtype == ASCIR_I1) {
    uint8_t *o = out;
    EACH o[k] = in[k] != 0;
    return;
  }
  switch (ascir_element_bytes[dtype]) {
    NARROW_CASE(uint8_t)
    NARROW_CASE(uint16_t)
    NARROW_CASE(uint32_t)
    NARROW_CASE(uint64_t)
  }
}

static void to_whole(float *out, const float *in, int32_t mode, int64_t n) {
  switch (mode) {
    case ROUND_FLOOR: EACH out[k] = floorf(in[k]); break;
    case ROUND_CEIL: EACH out[k] = ceilf(in[k]); break;
    case ROUND_ROUND: EACH out[k] = copysignf(floorf(fabsf(in[k])) + (fabsf(in[k]) - floorf(fabsf(in[k])) >= 0.5f ? 1.0f : 0.0f), in[k]); break;
    case ROUND_TRUNC: EACH out[k] = truncf(in[k]); break;
    default: EACH out[k] = rintf(in[k]);
  }
}

static void whole_to_int64(int64_t *out, const float *in, bool as_unsigned, int64_t n) {
  EACH out[k] = in[k] >= -0x1p63f && in[k] < 0x1p63f ? (int64_t)in[k] : INT64_MIN;
  if (as_unsigned)
    for (int64_t k = 0; k < n; k++)
      if (in[k] >= 0x1p63f && in[k] < 0x1p64f) out[k] = (int64_t)(uint64_t)in[k];
}

static void float_to_integer(void *out, int32_t dtype, const float *in, int32_t mode, int64_t n) {
  float whole[ASCIR_CHUNK];
  int64_t wide[ASCIR_CHUNK];
  if (dtype == ASCIR_I1) {
    uint8_t *o = out;
    EACH o[k] = in[k] != 0.0f;
    return;
  }
  to_whole(whole, in, mode, n);
  if (dtype == ASCIR_I32) {
    int32_t *o = out;
    EACH o[k] = whole[k] >= -0x1p31f && whole[k] < 0x1p31f ? (int32_t)whole[k] : INT32_MIN;
    return;
  }
  whole_to_int64(wide, whole, dtype == ASCIR_UI64, n);
  from_int64(out, dtype, wide, n);
}

// ---- floats out ---------------------------------------------------------------------------------------------------------------------------

static void float_to_float(void *out, int32_t dtype, const float *in, int32_t mode, int64_t n) {
  if (dtype == ASCIR_F16) simd_f32_to_f16_mode(out, in, (size_t)n, mode);
  else if (dtype == ASCIR_BF16) simd_f32_to_bf16_mode(out, in, (size_t)n, mode);
  else if (out != in) memcpy(out, in, (size_t)n * sizeof(float));
}

// The float next to an integer of more than 24 bits, in a direction.
static float directed(uint64_t magnitude, bool negative, int32_t mode) {
  int32_t shift = 40 - __builtin_clzll(magnitude | 1);
  if (shift <= 0) return negative ? -(float)magnitude : (float)magnitude;
  uint64_t kept = magnitude >> shift, lost = magnitude - (kept << shift);
  uint64_t below = shift > 2 ? lost & ((1ull << (shift - 2)) - 1) : 0;
  uint32_t eighths = (uint32_t)(shift >= 2 ? lost >> (shift - 2) << 1 | (below != 0) : lost << 2);  // 4 is a half, odd is inexact
  kept += (uint64_t)simd_goes_up(mode, negative, (uint32_t)kept, eighths, 4);
  float result = ldexpf((float)kept, shift);
  return negative ? -result : result;
}

static void integer_to_float(float *out, const int64_t *in, bool is_unsigned, int32_t mode, int64_t n) {
  if (mode == ROUND_RINT && is_unsigned) EACH out[k] = (float)(uint64_t)in[k];
  else if (mode == ROUND_RINT) EACH out[k] = (float)in[k];
  else
    for (int64_t k = 0; k < n; k++) {
      bool negative = !is_unsigned && in[k] < 0;
      out[k] = directed(negative ? 0 - (uint64_t)in[k] : (uint64_t)in[k], negative, mode);
    }
}

// To f16 and bf16 an integer goes through float. Nothing must be rounded twice, so the first rounding is to odd; but not where there is
// none: f16 is infinite before a float rounds, and 16 bits fit in one.
static void integer_to_any_float(void *out, int32_t dtype, const int64_t *in, int32_t from, int32_t mode, int64_t n) {
  float wide[ASCIR_CHUNK];
  bool once = dtype == ASCIR_F32 || ascir_element_bytes[from] <= 2 || (dtype == ASCIR_F16 && mode == ROUND_RINT);
  integer_to_float(wide, in, from == ASCIR_UI64, once ? mode : ROUND_ODD, n);
  float_to_float(out, dtype, wide, mode, n);
}

// `n` is at most ASCIR_CHUNK.
void ascir_convert(void *out, int32_t to, const void *in, int32_t from, int32_t mode, int64_t n) {
  float narrow[ASCIR_CHUNK];
  int64_t wide[ASCIR_CHUNK];
  if (ascir_is_float[from] && to == ASCIR_F32) return ascir_widen(out, in, from, n);
  if (ascir_is_float[from]) {
    const float *x = to_float(in, from, narrow, n);
    return ascir_is_float[to] ? float_to_float(out, to, x, mode, n) : float_to_integer(out, to, x, mode, n);
  }
  const int64_t *x = to_int64(in, from, wide, n);
  return ascir_is_float[to] ? integer_to_any_float(out, to, x, from, mode, n) : from_int64(out, to, x, n);
}
