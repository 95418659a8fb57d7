// f16 and bf16 in and out of float, the only code of the emulator that knows the host's SIMD instructions.
// An f16 or bf16 is a uint16_t in memory; the emulator widens blocks to float, computes there, and narrows once.
//
//   simd_f16_to_f32(float *dst, const uint16_t *src, n)     simd_f32_to_f16(uint16_t *dst, const float *src, n)
//   simd_bf16_to_f32(…)                                     simd_f32_to_bf16(…)            nearest, ties to even
//   simd_f32_to_f16_mode(dst, src, n, mode)                 simd_f32_to_bf16_mode(…)       any simd_rounding
// and the same for one value with `_one` at the end. Any n, any alignment, nothing touched past n; dst and src do not overlap.
//
// The bits are those of NumPy's and ml_dtypes' astype, subnormals and infinities included; a NaN stays a NaN, and f16's become
// quiet ones as the hardware instructions make them. Below: the scalar meaning of each conversion, then a block of 16 per kind
// of machine (AVX-512, F16C, NEON, or the scalar code, which ASCIR_PORTABLE forces), then the arrays.
#ifndef ASCIR_SIMD_H
#define ASCIR_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(ASCIR_PORTABLE) && defined(__F16C__)
#include <immintrin.h>
#elif !defined(ASCIR_PORTABLE) && defined(__aarch64__)
#include <arm_neon.h>
#endif

// In the order of ROUND_MODES in machine/instructions.py. SIMD_ROUND takes halves away from zero; SIMD_ODD sets the last bit if
// anything was lost. Towards zero, f16 overflows to 65504; away from zero, to infinity.
enum simd_rounding { SIMD_RINT, SIMD_FLOOR, SIMD_CEIL, SIMD_ROUND, SIMD_TRUNC, SIMD_ODD };

enum { SIMD_BLOCK = 16 };

// ---- one value -----------------------------------------------------------------------------------------------------------------

static inline uint32_t simd_bits(float x) {
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static inline float simd_float(uint32_t b) {
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}

static inline float simd_f16_to_f32_one(uint16_t h) {
  const uint32_t smallest_normal = 113u << 23;  // 2^-14
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = (uint32_t)(h & 0x7fff) << 13;
  uint32_t normal = magnitude + (112u << 23), special = magnitude | 0x7f800000 | (magnitude > 0x0f800000 ? 0x400000 : 0);
  uint32_t subnormal = simd_bits(simd_float(magnitude + smallest_normal) - simd_float(smallest_normal));
  return simd_float(sign | (magnitude >= 0x0f800000 ? special : magnitude < 0x00800000 ? subnormal : normal));
}

static inline uint16_t simd_f32_to_f16_one(float x) {
  uint32_t bits = simd_bits(x), magnitude = bits & 0x7fffffff;
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  uint32_t subnormal = simd_bits(simd_float(magnitude) + 0.5f) - simd_bits(0.5f);  // the last bit of 0.5f is worth 2^-24
  uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x3ff) : 0x7c00;
  uint32_t finite = magnitude < 113u << 23 ? subnormal : normal;
  return (uint16_t)((bits >> 16 & 0x8000) | (magnitude >= 0x477ff000 ? special : finite));  // from 65520 on, infinity
}

static inline float simd_bf16_to_f32_one(uint16_t h) { return simd_float((uint32_t)h << 16); }

static inline uint16_t simd_f32_to_bf16_one(float x) {
  uint32_t bits = simd_bits(x), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 & 0x8000) | 0x7fc0 : rounded);
}

// Whether a magnitude cut to `kept`, which lost `lost` of 2 * half, goes up to kept + 1.
static inline int simd_goes_up(int mode, int negative, uint32_t kept, uint32_t lost, uint32_t half) {
  switch (mode) {
    case SIMD_FLOOR: return negative && lost;
    case SIMD_CEIL: return !negative && lost;
    case SIMD_ROUND: return lost >= half;
    case SIMD_TRUNC: return 0;
    case SIMD_ODD: return lost && !(kept & 1);
    default: return lost > half || (lost == half && (kept & 1));
  }
}

static inline uint16_t simd_f32_to_f16_mode_one(float x, int mode) {
  uint32_t bits = simd_bits(x), magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
  if (magnitude >= 0x7f800000) return simd_f32_to_f16_one(x);
  uint32_t kept = 0x7bff, lost = 3, half = 2;  // 65536 and more: past 65504 by more than half
  if (exponent < 143) {
    uint32_t shift = exponent >= 113 ? 13 : exponent > 95 ? 126 - exponent : 31;
    uint32_t value = exponent >= 113 ? magnitude - (112u << 23) : (magnitude & 0x7fffff) | (exponent ? 0x800000 : 0);
    kept = value >> shift, half = 1u << (shift - 1), lost = value & (2 * half - 1);
  }
  return (uint16_t)((bits >> 16 & 0x8000) | (kept + simd_goes_up(mode, bits >> 31, kept, lost, half)));
}

static inline uint16_t simd_f32_to_bf16_mode_one(float x, int mode) {
  uint32_t bits = simd_bits(x), kept = bits >> 16;
  if ((bits & 0x7fffffff) >= 0x7f800000) return simd_f32_to_bf16_one(x);
  return (uint16_t)(kept + simd_goes_up(mode, bits >> 31, kept, bits & 0xffff, 0x8000));
}

// ---- a block of 16 -------------------------------------------------------------------------------------------------------------

#if !defined(ASCIR_PORTABLE) && defined(__F16C__) && defined(__AVX512F__)

static inline void simd_f16_to_f32_block(float *dst, const uint16_t *src) {
  _mm512_storeu_ps(dst, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)src)));
}

static inline void simd_f32_to_f16_block(uint16_t *dst, const float *src) {
  _mm256_storeu_si256((__m256i *)dst, _mm512_cvtps_ph(_mm512_loadu_ps(src), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#elif !defined(ASCIR_PORTABLE) && defined(__F16C__)

static inline void simd_f16_to_f32_block(float *dst, const uint16_t *src) {
  for (int i = 0; i < SIMD_BLOCK; i += 8) _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
}

static inline void simd_f32_to_f16_block(uint16_t *dst, const float *src) {
  for (int i = 0; i < SIMD_BLOCK; i += 8)
    _mm_storeu_si128((__m128i *)(dst + i), _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
}

#elif !defined(ASCIR_PORTABLE) && defined(__aarch64__)

static inline void simd_f16_to_f32_block(float *dst, const uint16_t *src) {
  for (int i = 0; i < SIMD_BLOCK; i += 4) vst1q_f32(dst + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(src + i))));
}

static inline void simd_f32_to_f16_block(uint16_t *dst, const float *src) {
  for (int i = 0; i < SIMD_BLOCK; i += 4) vst1_u16(dst + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(src + i))));
}

#else

static inline void simd_f16_to_f32_block(float *dst, const uint16_t *src) {
  for (int i = 0; i < SIMD_BLOCK; i++) dst[i] = simd_f16_to_f32_one(src[i]);
}

static inline void simd_f32_to_f16_block(uint16_t *dst, const float *src) {
  for (int i = 0; i < SIMD_BLOCK; i++) dst[i] = simd_f32_to_f16_one(src[i]);
}

#endif

// bf16 needs integer instructions only, which the compiler finds itself. (AVX-512's own conversion flushes subnormals to zero.)
static inline void simd_bf16_to_f32_block(float *dst, const uint16_t *src) {
  for (int i = 0; i < SIMD_BLOCK; i++) dst[i] = simd_bf16_to_f32_one(src[i]);
}

static inline void simd_f32_to_bf16_block(uint16_t *dst, const float *src) {
  for (int i = 0; i < SIMD_BLOCK; i++) dst[i] = simd_f32_to_bf16_one(src[i]);
}

// ---- arrays: whole blocks, then the rest through a padded copy ------------------------------------------------------------------

#define SIMD_ARRAY(convert, To, From)                                                 \
  static inline void convert(To *restrict dst, const From *restrict src, size_t n) {  \
    size_t whole = n - n % SIMD_BLOCK;                                                \
    for (size_t i = 0; i < whole; i += SIMD_BLOCK) convert##_block(dst + i, src + i); \
    if (whole == n) return;                                                           \
    From in[SIMD_BLOCK] = {0};                                                        \
    To out[SIMD_BLOCK];                                                               \
    memcpy(in, src + whole, (n - whole) * sizeof *in);                                \
    convert##_block(out, in);                                                         \
    memcpy(dst + whole, out, (n - whole) * sizeof *out);                              \
  }

SIMD_ARRAY(simd_f16_to_f32, float, uint16_t)
SIMD_ARRAY(simd_f32_to_f16, uint16_t, float)
SIMD_ARRAY(simd_bf16_to_f32, float, uint16_t)
SIMD_ARRAY(simd_f32_to_bf16, uint16_t, float)
#undef SIMD_ARRAY

static inline void simd_f32_to_f16_mode(uint16_t *dst, const float *src, size_t n, int mode) {
  if (mode == SIMD_RINT) simd_f32_to_f16(dst, src, n);
  else for (size_t i = 0; i < n; i++) dst[i] = simd_f32_to_f16_mode_one(src[i], mode);
}

static inline void simd_f32_to_bf16_mode(uint16_t *dst, const float *src, size_t n, int mode) {
  if (mode == SIMD_RINT) simd_f32_to_bf16(dst, src, n);
  else for (size_t i = 0; i < n; i++) dst[i] = simd_f32_to_bf16_mode_one(src[i], mode);
}

#endif
