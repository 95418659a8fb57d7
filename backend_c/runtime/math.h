// The element functions of the emulator: exp, log, sin … on arrays of float, fast because the compiler turns each loop into SIMD.
// A function computes in double with polynomials that hold nearly all 53 bits and rounds once, so its result is the float (or the
// f16, the bf16) nearest to the true value wherever it was measured. docs/numerics.md states the policy and the measured errors;
// benchmarks/math_accuracy.py measures them and prints the coefficients below.
//
// For every function `xxx`:
//   float m_xxx(float)                                       one value; two arguments for the binary ones
//   void  m_xxx_n(float *o, const float *a, size_t n)        o[i] = m_xxx(a[i]); o may be a itself, other overlap is not allowed
//   void  m_xxx_narrow_n(float *o, const float *a, size_t n) the same, but such that a following conversion to f16 or bf16 gives
//                                                            the correctly rounded f16 or bf16 (no double rounding)
// Binary functions take `const float *a, const float *b`, and o may be either. sin, cos, tan and the remainders are fast only
// in the array forms; a loop over any other `m_xxx` is as fast as its array form.
//
// How it stays branch-free: both sides of a choice are computed and one selected; 2^k is made by shifting k into the exponent;
// rounding to an integer is adding and subtracting 1.5 * 2^52. No fused multiply-add: all machines then give the same bits. The
// few arguments that need another algorithm (sin of 1e30, remainder of 1e30 by 3) are found by a scan of each block.
//
// This folder may be on the compiler's -I path, where <math.h> would find this file: it passes that request on.
#include_next <math.h>

#ifndef ASCIR_MATH_H
#define ASCIR_MATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Everything a vector loop calls must melt into it.
#define M_INLINE static inline __attribute__((always_inline))

#if defined(__clang__)
#define M_VECTORISE _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define M_VECTORISE _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

// Elements of one block: two vectors of doubles on AVX-512. The last block of an array is padded, so no loop has a scalar tail.
enum { M_BLOCK = 16 };

// Hides that the array of a loop is the one just scanned: GCC would carry the first load over from the scan and then not vectorise.
#define M_FORGET(pointer) __asm__("" : "+r"(pointer))

#define M_INF __builtin_inf()
#define M_NAN __builtin_nan("")
#define M_ROUNDER 0x1.8p52
#define M_LOG_2_HI 0x1.62e42feep-1  // 32 bits: k * M_LOG_2_HI is exact
#define M_LOG_2_LO 0x1.a39ef35793c76p-33
#define M_LOG_2 0x1.62e42fefa39efp-1
#define M_LOG2_OF_E 0x1.71547652b82fep+0
#define M_LOG10_OF_E 0x1.bcb7b1526e50ep-2
#define M_LOG10_2_HI 0x1.34413508p-2  // 32 bits
#define M_LOG10_2_LO 0x1.f79fef311f12bp-34
#define M_HALF_PI 0x1.921fb54442d18p+0
#define M_TWO_OVER_PI 0x1.45f306dc9c883p-1
#define M_TRIG_FAST 0x1p20f  // up to here the quadrant has 20 bits and its product with a 33-bit piece of pi/2 is exact

// ---- bits ---------------------------------------------------------------------------------------------------------------------

M_INLINE uint64_t m_bits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

M_INLINE double m_from_bits(uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

M_INLINE double m_abs(double x) { return m_from_bits(m_bits(x) & 0x7fffffffffffffff); }

// |r| with the sign of x.
M_INLINE double m_sign(double r, double x) {
  return m_from_bits((m_bits(r) & 0x7fffffffffffffff) | (m_bits(x) & 0x8000000000000000));
}

// Nearest integer of |x| < 2^51, ties to even. The low bits of `x + M_ROUNDER` are that integer in two's complement.
M_INLINE double m_nearest(double x) { return (x + M_ROUNDER) - M_ROUNDER; }

M_INLINE double m_floor_of(double x) {
  double t = m_nearest(x);
  t = t > x ? t - 1.0 : t;
  return m_abs(x) < 0x1p51 ? t : x;
}

// 2^k, where the low bits of `k` are an integer in two's complement, |k| < 1022.
M_INLINE double m_power_of_two(uint64_t k) { return m_from_bits((k + 1023) << 52); }

M_INLINE double m_clamp(double x, double limit) {
  x = x > limit ? limit : x;
  return x < -limit ? -limit : x;
}

// Keeps 13 bits and ORs the lost ones into the last (rounding to odd). Rounding that to the 11 bits of f16 or the 8 of bf16 gives
// what rounding x itself would give, also for their subnormals; and float holds it exactly wherever that matters.
M_INLINE double m_sticky(double x) {
  uint64_t lost = 0xffffffffff, b = m_bits(x);
  return m_from_bits((b | ((b & lost) + lost)) & ~lost);
}

// ---- polynomials: c0 + c1 x + …, in Estrin's order, whose short chains keep the pipes busy -------------------------------------

M_INLINE double m_poly4(double x, double c0, double c1, double c2, double c3) {
  return (c0 + c1 * x) + (c2 + c3 * x) * (x * x);
}

M_INLINE double m_poly6(double x, double c0, double c1, double c2, double c3, double c4, double c5) {
  double x2 = x * x;
  return m_poly4(x, c0, c1, c2, c3) + (c4 + c5 * x) * (x2 * x2);
}

M_INLINE double m_poly8(double x, double c0, double c1, double c2, double c3, double c4, double c5, double c6, double c7) {
  double x2 = x * x;
  return m_poly4(x, c0, c1, c2, c3) + m_poly4(x, c4, c5, c6, c7) * (x2 * x2);
}

M_INLINE double m_poly10(double x, double c0, double c1, double c2, double c3, double c4, double c5, double c6, double c7,
                         double c8, double c9) {
  double x2 = x * x, x4 = x2 * x2;
  return m_poly8(x, c0, c1, c2, c3, c4, c5, c6, c7) + (c8 + c9 * x) * (x4 * x4);
}

M_INLINE double m_poly12(double x, double c0, double c1, double c2, double c3, double c4, double c5, double c6, double c7,
                         double c8, double c9, double c10, double c11) {
  double x2 = x * x, x4 = x2 * x2;
  return m_poly8(x, c0, c1, c2, c3, c4, c5, c6, c7) + m_poly4(x, c8, c9, c10, c11) * (x4 * x4);
}

M_INLINE double m_power16(double x) {
  double x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
  return x8 * x8;
}

// ---- exponentials -------------------------------------------------------------------------------------------------------------

// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2
#define M_EXPM1                                                                                                  \
  0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d63p-5, 0x1.11111111109b3p-7, 0x1.6c16c1788bd90p-10, \
      0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26

M_INLINE double m_expm1_reduced(double r) { return r + (r * r) * m_poly10(r, M_EXPM1); }

// e^x = scale (1 + result), |x| <= 200 after clamping: beyond, float is 0 or inf anyway.
M_INLINE double m_exp_parts(double x, double *scale) {
  x = m_clamp(x, 200.0);
  double shifted = x * M_LOG2_OF_E + M_ROUNDER, k = shifted - M_ROUNDER;
  *scale = m_power_of_two(m_bits(shifted));
  return m_expm1_reduced((x - k * M_LOG_2_HI) - k * M_LOG_2_LO);
}

M_INLINE double m_exp_d(double x) {
  double scale, q = m_exp_parts(x, &scale);
  return (1.0 + q) * scale;
}

// 2^(x + low), low being what x lost to rounding.
M_INLINE double m_exp2_sum(double x, double low) {
  x = m_clamp(x, 300.0);
  double shifted = x + M_ROUNDER, k = shifted - M_ROUNDER;
  return (1.0 + m_expm1_reduced(((x - k) + low) * M_LOG_2)) * m_power_of_two(m_bits(shifted));
}

M_INLINE double m_exp2_d(double x) { return m_exp2_sum(x, 0.0); }

// Of x >= 0, or x < 0 but -0 (which comes out as +0).
M_INLINE double m_expm1_core(double x) {
  double scale, q = m_exp_parts(x, &scale);
  return scale * q + (scale - 1.0);
}

M_INLINE double m_expm1_d(double x) { return m_sign(m_expm1_core(x), x); }

M_INLINE double m_sinh_d(double x) {
  double e = m_expm1_core(m_abs(x));
  return m_sign(0.5 * (e + e / (e + 1.0)), x);
}

M_INLINE double m_cosh_d(double x) {
  double e = m_exp_d(m_abs(x));
  return 0.5 * (e + 1.0 / e);
}

M_INLINE double m_tanh_d(double x) {
  double e = m_expm1_core(2.0 * m_abs(x));
  return m_sign(e / (e + 2.0), x);
}

// ---- logarithms ---------------------------------------------------------------------------------------------------------------

// (log((1 + s) / (1 - s)) / 2s - 1) / z, z = s^2, for (1 + s) / (1 - s) between sqrt(1/2) and sqrt(2)
#define M_LOG                                                                                                   \
  0x1.5555555555555p-2, 0x1.9999999999a38p-3, 0x1.2492492476c42p-3, 0x1.c71c7201662d1p-4, 0x1.745cf8ff99c62p-4, \
      0x1.3b1c365665fa7p-4, 0x1.0fbe7cc4c0d61p-4, 0x1.0c0498b690adbp-4

// x = m 2^k with m between sqrt(1/2) and sqrt(2); returns log m. x a normal positive double (anything else gives nonsense).
M_INLINE double m_log_parts(double x, double *k) {
  const uint64_t root_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
  uint64_t b = m_bits(x) + (one - root_half);
  *k = m_from_bits((b >> 52) | 0x4330000000000000) - (0x1p52 + 1023.0);
  double f = m_from_bits((b & 0x000fffffffffffff) + root_half) - 1.0;
  double s = f / (2.0 + f), z = s * s;
  return f - s * (f - 2.0 * z * m_poly8(z, M_LOG));
}

// The result r, or what a logarithm is at zero, below zero, at infinity and for NaN.
M_INLINE double m_log_edges(double x, double r) { return x > 0.0 ? (x < M_INF ? r : x) : (x == 0.0 ? -M_INF : M_NAN); }

M_INLINE double m_log_d(double x) {
  double k, f = m_log_parts(x, &k);
  return m_log_edges(x, k * M_LOG_2_HI + (f + k * M_LOG_2_LO));
}

M_INLINE double m_log2_d(double x) {
  double k, f = m_log_parts(x, &k);
  return m_log_edges(x, k + f * M_LOG2_OF_E);
}

M_INLINE double m_log10_d(double x) {
  double k, f = m_log_parts(x, &k);
  return m_log_edges(x, k * M_LOG10_2_HI + (f * M_LOG10_OF_E + k * M_LOG10_2_LO));
}

// log(1 + x) for any double x; what 1 + x loses comes back as `lost`. -0 comes out as +0.
M_INLINE double m_log1p_core(double x) {
  double u = 1.0 + x, lost = u < 4.0 ? x - (u - 1.0) : 0.0;
  double k, f = m_log_parts(u, &k);
  return m_log_edges(u, k * M_LOG_2_HI + (f + (k * M_LOG_2_LO + lost)));
}

M_INLINE double m_log1p_d(double x) { return m_sign(m_log1p_core(x), x); }

M_INLINE double m_asinh_d(double x) {
  double a = m_abs(x), square = a * a, more = square / (1.0 + __builtin_sqrt(1.0 + square));
  return m_sign(m_log1p_core(a < M_INF ? a + more : a), x);
}

M_INLINE double m_acosh_d(double x) {
  double t = x - 1.0, r = m_log1p_core(t + __builtin_sqrt(t * (t + 2.0)));
  return t < 0.0 ? M_NAN : r;
}

M_INLINE double m_atanh_d(double x) {
  double a = m_abs(x);
  return m_sign(0.5 * m_log1p_core(2.0 * a / (1.0 - a)), x);
}

// ---- roots --------------------------------------------------------------------------------------------------------------------

M_INLINE double m_rsqrt_d(double x) { return 1.0 / __builtin_sqrt(x); }

// The cube root on [1, 2], to 24 bits
#define M_CBRT                                                                                                    \
  0x1.b573b58a7f6e5p-2, 0x1.0cab81eba25ffp+0, -0x1.c0b0579be37d1p-1, 0x1.4271a3214c695p-1, -0x1.40d4226467813p-2, \
      0x1.9a67a79d1c6f7p-4, -0x1.2f34c7760c1f8p-6, 0x1.893319a48b51ap-10

M_INLINE double m_cbrt_d(double x) {
  double a = m_abs(x);
  uint64_t b = m_bits(a);
  double e = m_from_bits((b >> 52) | 0x4330000000000000) - (0x1p52 + 1023.0);
  double m = m_from_bits((b & 0x000fffffffffffff) | 0x3ff0000000000000);
  double shifted = (e - 1.0) * (1.0 / 3.0) + M_ROUNDER, rest = e - 3.0 * (shifted - M_ROUNDER);  // rest is 0, 1 or 2
  double y = m_poly8(m, M_CBRT), cube = y * y * y;
  y = y - y * (cube - m) / (2.0 * cube + m);  // Halley's step triples the correct bits
  double scale = rest == 0.0 ? 1.0 : rest == 1.0 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0;
  double r = y * scale * m_power_of_two(m_bits(shifted));
  return a > 0.0 && a < M_INF ? m_sign(r, x) : x;
}

M_INLINE double m_hypot_d(double x, double y) {
  double r = __builtin_sqrt(x * x + y * y);
  return m_abs(x) == M_INF || m_abs(y) == M_INF ? M_INF : r;
}

// ---- circle functions ---------------------------------------------------------------------------------------------------------

// (sin r / r - 1) / z and (cos r - 1 + z / 2) / z^2, z = r^2, on |r| <= pi / 4
#define M_SIN                                                                                                         \
  -0x1.5555555555555p-3, 0x1.1111111110babp-7, -0x1.a01a019e820aep-13, 0x1.71de37946ed6dp-19, -0x1.ae6008d114485p-26, \
      0x1.5e0a4fc16be58p-33
#define M_COS                                                                                                         \
  0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16, -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29, \
      -0x1.907cd8ff5ede7p-37

// x = r + quadrant pi/2, |r| <= pi/4. pi/2 in three pieces: the products with the first two are exact, so r is right to 50 bits
// even where x nearly is a multiple of pi/2. |x| <= M_TRIG_FAST.
M_INLINE double m_quarter(double x, uint64_t *quadrant) {
  double shifted = x * M_TWO_OVER_PI + M_ROUNDER, k = shifted - M_ROUNDER;
  *quadrant = m_bits(shifted);
  return ((x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
}

// The same for any finite |x| >= M_TRIG_FAST, by Payne and Hanek: of 2/pi only the 128 bits matter that are neither multiples of 4
// nor too small after the product with x = mantissa 2^e.
static inline double m_quarter_far(float x, uint64_t *quadrant) {
  static const uint64_t two_over_pi[5] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561};
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  uint32_t mantissa = (b & 0x7fffff) | 0x800000, start = ((b >> 23) & 255) - 150 - 2 + 64, word = start / 64, shift = start % 64;
  const uint64_t *w = two_over_pi + word;
  uint64_t high = shift ? w[0] << shift | w[1] >> (64 - shift) : w[0], low = shift ? w[1] << shift | w[2] >> (64 - shift) : w[1];
  uint64_t carry = ((low >> 32) * mantissa + ((low & 0xffffffff) * mantissa >> 32)) >> 32;
  high = high * mantissa + carry;  // x 2/pi modulo 4, in units of 2^-62; `low` holds 64 further bits
  low *= mantissa;
  uint64_t fraction = high << 2 | low >> 62;
  *quadrant = (high >> 62) + (fraction >> 63);  // a fraction of a half or more counts from the next quadrant
  double r = (double)(int64_t)fraction * 0x1p-64 + (double)(low << 2) * 0x1p-128;
  r *= M_HALF_PI;
  *quadrant = b >> 31 ? -*quadrant : *quadrant;
  return b >> 31 ? -r : r;
}

M_INLINE double m_sin_reduced(double r) {
  double z = r * r;
  return r * (1.0 + z * m_poly6(z, M_SIN));
}

M_INLINE double m_cos_reduced(double r) {
  double z = r * r;
  return 1.0 - z * (0.5 - z * m_poly6(z, M_COS));
}

M_INLINE double m_sin_quarter(double r, uint64_t quadrant) {
  double y = quadrant & 1 ? m_cos_reduced(r) : m_sin_reduced(r);
  return m_from_bits(m_bits(y) ^ (quadrant & 2) << 62);
}

M_INLINE double m_cos_quarter(double r, uint64_t quadrant) { return m_sin_quarter(r, quadrant + 1); }

M_INLINE double m_tan_quarter(double r, uint64_t quadrant) {
  double s = m_sin_reduced(r), c = m_cos_reduced(r);
  double y = (quadrant & 1 ? c : s) / (quadrant & 1 ? s : c);
  return m_from_bits(m_bits(y) ^ (quadrant & 1) << 63);
}

#define M_TRIG(name)                                                                        \
  M_INLINE double m_##name##_d(double x) {                                                  \
    uint64_t quadrant;                                                                      \
    double r = m_quarter(x, &quadrant);                                                     \
    return m_##name##_quarter(r, quadrant);                                                 \
  }                                                                                         \
  static inline double m_##name##_far(float x) {                                            \
    uint64_t quadrant;                                                                      \
    double r = m_quarter_far(x, &quadrant);                                                 \
    return __builtin_fabsf(x) < __builtin_inff() ? m_##name##_quarter(r, quadrant) : M_NAN; \
  }
M_TRIG(sin)
M_TRIG(cos)
M_TRIG(tan)
#undef M_TRIG

M_INLINE int m_angle_far(float x) { return __builtin_fabsf(x) > M_TRIG_FAST; }

// (atan t / t - 1) / z, z = t^2, on t <= 1
#define M_ATAN_LOW                                                                                                    \
  -0x1.5555555555555p-2, 0x1.9999999999620p-3, -0x1.24924924753dcp-3, 0x1.c71c71bb00613p-4, -0x1.745d15ee3005cp-4,    \
      0x1.3b1399d195ec2p-4, -0x1.110fff57287f7p-4, 0x1.e1d0237ddb1d3p-5, -0x1.aebbb0d05cd78p-5, 0x1.841dcd4f1453fp-5, \
      -0x1.5d0221d7b92cdp-5, 0x1.3328640a1c392p-5
#define M_ATAN_HIGH                                                                                                \
  -0x1.0038f14c9adb3p-5, 0x1.843f19c22c072p-6, -0x1.fd0decded5b41p-7, 0x1.123b68486cb07p-7, -0x1.ca35e2e7f0ab1p-9, \
      0x1.13254755dd58dp-10, -0x1.a358fae9d2ee3p-13, 0x1.2f06e57837f0bp-16

M_INLINE double m_atan_reduced(double t) {
  double z = t * t, z4 = z * z * (z * z), z12 = z4 * z4 * z4;
  return t + t * z * (m_poly12(z, M_ATAN_LOW) + z12 * m_poly8(z, M_ATAN_HIGH));
}

M_INLINE double m_atan_d(double x) {
  double a = m_abs(x);
  int steep = a > 1.0;
  double r = m_atan_reduced((steep ? 1.0 : a) / (steep ? a : 1.0));
  return m_sign(steep ? M_HALF_PI - r : r, x);
}

M_INLINE double m_atan2_d(double y, double x) {
  double ax = m_abs(x), ay = m_abs(y);
  int steep = ay > ax;
  double low = steep ? ax : ay, high = steep ? ay : ax;
  double t = low == high ? (high > 0.0 ? 1.0 : 0.0) : low / high;  // also inf / inf and 0 / 0
  double r = m_atan_reduced(t);
  r = steep ? M_HALF_PI - r : r;
  r = m_sign(1.0, x) < 0.0 ? 2.0 * M_HALF_PI - r : r;
  return m_sign(r, y);
}

// (asin u / u - 1) / z, z = u^2, on u <= 1/2
#define M_ASIN                                                                                                      \
  0x1.555555555554fp-3, 0x1.3333333336dabp-4, 0x1.6db6db684b26ep-5, 0x1.f1c71f953ff64p-6, 0x1.6e8b2b3868858p-6,     \
      0x1.1c593ca6a1618p-6, 0x1.c8726241c6f39p-7, 0x1.8522f69a2ee45p-7, 0x1.ff5ee801d5a63p-8, 0x1.06ba6de7cf8f4p-6, \
      -0x1.603b84e65e8d5p-7, 0x1.cd86f1a7c232dp-6

// asin a for a <= 1/2, else asin sqrt((1 - a) / 2), which is half of acos a.
M_INLINE double m_asin_parts(double a) {
  double z = a > 0.5 ? (1.0 - a) * 0.5 : a * a, u = a > 0.5 ? __builtin_sqrt(z) : a;
  return u + u * z * m_poly12(z, M_ASIN);
}

M_INLINE double m_asin_d(double x) {
  double a = m_abs(x), r = m_asin_parts(a);
  return m_sign(a > 0.5 ? M_HALF_PI - 2.0 * r : r, x);
}

M_INLINE double m_acos_d(double x) {
  double r = m_asin_parts(m_abs(x));
  double middle = M_HALF_PI - m_sign(r, x), left = 2.0 * M_HALF_PI - 2.0 * r;
  return x > 0.5 ? 2.0 * r : x < -0.5 ? left : m_abs(x) <= 0.5 ? middle : M_NAN;
}

// ---- error function -----------------------------------------------------------------------------------------------------------

// erf a / a over u = a^2 / 8 - 1, a <= 4. The terms all have one sign at u = -1, so small arguments lose nothing.
#define M_ERF_LOW                                                                                                 \
  0x1.6a040781a499cp-2, -0x1.69a0ccda3df49p-3, 0x1.0dabaf0613e8dp-3, -0x1.b92e95c193640p-4, 0x1.717efc78425c5p-4, \
      -0x1.3215d8b744da7p-4, 0x1.ea97f14be2bbdp-5, -0x1.76e8649c14dcap-5
#define M_ERF_MIDDLE                                                                                              \
  0x1.0ed52bfb795c8p-5, -0x1.7034f9aff117fp-6, 0x1.d6352a39bf7dbp-7, -0x1.1a023df9bc5e5p-7, 0x1.3e1509a1ccc3cp-8, \
      -0x1.51ee66ded0babp-9, 0x1.52da2658a8f46p-10, -0x1.4160b99ff5de9p-11
#define M_ERF_HIGH                                                                                                          \
  0x1.20e993e054bc3p-12, -0x1.ed84c28ce1f10p-14, 0x1.918e9e414c51cp-15, -0x1.3751a9ad85883p-16, 0x1.ca56c5fd74ca6p-18,      \
      -0x1.45b15e2e22ccfp-19, 0x1.cf7763b981e02p-21, -0x1.2c32d97528c11p-22, 0x1.206657bbcb353p-24, -0x1.6abfd6b1d956dp-26, \
      0x1.b7528039e647ep-27, -0x1.de87416b3ec2ep-29

M_INLINE double m_erf_d(double x) {
  double a = m_abs(x);
  a = a > 4.0 ? 4.0 : a;  // erf 4 rounds to 1
  double u = a * a * 0.125 - 1.0, u2 = u * u, u8 = u2 * u2 * (u2 * u2);
  double p = (m_poly8(u, M_ERF_LOW) + u8 * m_poly8(u, M_ERF_MIDDLE)) + m_power16(u) * m_poly12(u, M_ERF_HIGH);
  return m_sign(a * p, x);
}

// e^(a^2) erfc(a) (1 + a) over v = 28/11 a / (a + 3) - 1, a <= 11: a smooth curve from 1 to 1 / sqrt(pi).
#define M_ERFC_LOW                                                                                                  \
  0x1.8a47570d71153p-1, -0x1.b83a48fe53eb6p-3, 0x1.e85589e028b77p-5, 0x1.61f6916854d59p-7, -0x1.543c6be438f6ep-6, \
      0x1.5d623c2f4a321p-7, -0x1.553d696d5e1bfp-9, -0x1.9d292e2878e64p-18
#define M_ERFC_HIGH                                                                                                   \
  0x1.74dffe6958865p-13, -0x1.6e4a2e9b8d9d7p-16, -0x1.91e63c5c6ecd9p-17, 0x1.256a7f961c7aep-19, 0x1.11c4416eb2fe6p-20, \
      -0x1.540c134504d61p-23, -0x1.bc12c6bd6788fp-24, 0x1.94166e7ff1c41p-28, 0x1.61c75cc13597ep-27, 0x1.66b27524375d7p-31, \
      -0x1.8218ae5a546afp-31, -0x1.079d3933d5315p-33

// The square of a float is exact in double, so the tail keeps its relative accuracy down to the last subnormal.
M_INLINE double m_erfc_d(double x) {
  double a = m_abs(x);
  a = a > 11.0 ? 11.0 : a;  // erfc 11 rounds to 0
  double v = a / (a + 3.0) * (28.0 / 11.0) - 1.0, v2 = v * v, v8 = v2 * v2 * (v2 * v2);
  double p = m_poly8(v, M_ERFC_LOW) + v8 * m_poly12(v, M_ERFC_HIGH), r = m_exp_d(-a * a) * p / (1.0 + a);
  return x < 0.0 ? 2.0 - r : r;
}

// ---- power --------------------------------------------------------------------------------------------------------------------

// A power that is short (x^2, 3^10, 4^1.5 …) may lie exactly between two floats; the logarithm misses it by a hair. Within that
// hair of a number of 26 bits, take the number.
M_INLINE double m_snap(double r, double hair) {
  double c = r * 0x1.000002p27, high = c - (c - r);
  return m_abs(r - high) <= r * hair ? high : r;
}

M_INLINE double m_pow_d(double x, double y) {
  double a = m_abs(x), k, f = m_log_parts(a, &k) * M_LOG2_OF_E;
  double exact = y * k, rest = y * f, t = exact + rest;
  double low = m_abs(t) < 300.0 ? (exact - t) + rest : 0.0;
  t = ((a > 0.0) & (a < M_INF) & (m_abs(y) < M_INF)) ? t : y * m_log_edges(a, k + f);
  double r = m_snap(m_exp2_sum(t, low), (m_abs(rest) + 1.0) * 0x1p-51);
  r = ((a == 1.0) & (y == y)) ? 1.0 : r;  // also for infinite y
  double small = m_abs(y) < 0x1p51 ? y : 0.0, shifted = small + M_ROUNDER;  // larger floats are even
  double if_whole = m_from_bits(m_bits(r) | (m_bits(x) & m_bits(shifted) << 63));
  double if_not = x < 0.0 ? (x > -M_INF ? M_NAN : r) : r;
  r = shifted - M_ROUNDER == small ? if_whole : if_not;
  return ((x == 1.0) | (y == 0.0)) ? 1.0 : r;
}

// ---- remainders: NumPy's own formulas on float, over an exact fmod -------------------------------------------------------------

// fmod while the quotient has fewer than 29 bits: its product with b is exact, and it cannot have been rounded up to an integer, as
// a quotient of floats below an integer is so by 2^-25 at least.
M_INLINE double m_rest_near(double a, double b) {
  double n = m_abs(a), d = m_abs(b), q = m_floor_of(n / d), r = n - q * d;
  return m_sign(q == 0.0 ? n : r, a);
}

// The rest, 27 bits of the quotient at a time. Finite a, b not zero.
static inline double m_rest_far(double a, double b) {
  double d = m_abs(b), n = m_abs(a);
  while (d * 0x1p27 < n) d *= 0x1p27;
  for (; d >= m_abs(b); d *= 0x1p-27) n = m_rest_near(n, d);
  return m_sign(n, a);
}

M_INLINE int m_quotient_far(float a, float b) {
  float n = __builtin_fabsf(a), d = __builtin_fabsf(b);
  return (n >= d * 0x1p28f) & (n < __builtin_inff()) & (d > 0.0f);
}

M_INLINE float m_fmod_finish(float a, float b, float rest) { return (void)a, (void)b, rest; }

M_INLINE float m_mod_finish(float a, float b, float rest) {
  (void)a;
  float moved = (b < 0.0f) != (rest < 0.0f) ? rest + b : rest;
  return rest != 0.0f ? moved : __builtin_copysignf(0.0f, b);
}

M_INLINE float m_floor_div_finish(float a, float b, float rest) {
  float quotient = (a - rest) / b;
  quotient = ((rest != 0.0f) & ((b < 0.0f) != (rest < 0.0f))) ? quotient - 1.0f : quotient;
  float whole = (float)m_floor_of(quotient);
  whole = quotient - whole > 0.5f ? whole + 1.0f : whole;
  whole = quotient != 0.0f ? whole : __builtin_copysignf(0.0f, a / b);
  return b == 0.0f ? a / b : whole;
}

// ---- from the double functions to float and to arrays --------------------------------------------------------------------------

M_INLINE size_t m_block_bytes(size_t left) { return (left < M_BLOCK ? left : M_BLOCK) * sizeof(float); }

// The array form. NEAR(x) is branch-free, ANY(x) right for every x; a block in which FAR(x) holds somewhere takes the slow way.
// A last, short block goes through a padded copy.
#define M_ARRAY_1(function, FAR, ANY, NEAR)                                      \
  static inline void function(float *o, const float *a, size_t n) {              \
    for (size_t i = 0; i < n; i += M_BLOCK) {                                    \
      float pad[M_BLOCK] = {0}, *to = o + i;                                     \
      const float *x = a + i;                                                    \
      size_t bytes = m_block_bytes(n - i);                                       \
      if (bytes < sizeof pad) x = to = memcpy(pad, x, bytes);                    \
      int far = 0;                                                               \
      for (int j = 0; j < M_BLOCK; j++) far |= FAR(x[j]);                        \
      if (far) {                                                                 \
        for (int j = 0; j < M_BLOCK; j++) to[j] = (float)ANY(x[j]);              \
      } else {                                                                   \
        M_FORGET(x);                                                             \
        M_VECTORISE for (int j = 0; j < M_BLOCK; j++) to[j] = (float)NEAR(x[j]); \
      }                                                                          \
      if (to == pad) memcpy(o + i, pad, bytes);                                  \
    }                                                                            \
  }

#define M_ARRAY_2(function, FAR, ANY, NEAR)                                                \
  static inline void function(float *o, const float *a, const float *b, size_t n) {        \
    for (size_t i = 0; i < n; i += M_BLOCK) {                                              \
      float pad[M_BLOCK] = {0}, pad_b[M_BLOCK] = {0}, *to = o + i;                         \
      const float *x = a + i, *y = b + i;                                                  \
      size_t bytes = m_block_bytes(n - i);                                                 \
      if (bytes < sizeof pad) y = memcpy(pad_b, y, bytes), x = to = memcpy(pad, x, bytes); \
      int far = 0;                                                                         \
      for (int j = 0; j < M_BLOCK; j++) far |= FAR(x[j], y[j]);                            \
      if (far) {                                                                           \
        for (int j = 0; j < M_BLOCK; j++) to[j] = (float)ANY(x[j], y[j]);                  \
      } else {                                                                             \
        M_FORGET(x);                                                                       \
        M_FORGET(y);                                                                       \
        M_VECTORISE for (int j = 0; j < M_BLOCK; j++) to[j] = (float)NEAR(x[j], y[j]);     \
      }                                                                                    \
      if (to == pad) memcpy(o + i, pad, bytes);                                            \
    }                                                                                      \
  }

#define M_NEVER_1(x) 0
#define M_NEVER_2(x, y) 0

// A function of one argument without rare cases, from its m_xxx_d.
#define M_DEFINE_1(name)                                                           \
  M_INLINE float m_##name(float x) { return (float)m_##name##_d(x); }              \
  M_INLINE double m_##name##_sticky(float x) { return m_sticky(m_##name##_d(x)); } \
  M_ARRAY_1(m_##name##_n, M_NEVER_1, m_##name, m_##name)                           \
  M_ARRAY_1(m_##name##_narrow_n, M_NEVER_1, m_##name##_sticky, m_##name##_sticky)

#define M_DEFINE_2(name)                                                                       \
  M_INLINE float m_##name(float x, float y) { return (float)m_##name##_d(x, y); }              \
  M_INLINE double m_##name##_sticky(float x, float y) { return m_sticky(m_##name##_d(x, y)); } \
  M_ARRAY_2(m_##name##_n, M_NEVER_2, m_##name, m_##name)                                       \
  M_ARRAY_2(m_##name##_narrow_n, M_NEVER_2, m_##name##_sticky, m_##name##_sticky)

// A circle function: large angles are rare.
#define M_DEFINE_ANGLE(name)                                                                               \
  M_INLINE double m_##name##_any(float x) { return m_angle_far(x) ? m_##name##_far(x) : m_##name##_d(x); } \
  M_INLINE float m_##name(float x) { return (float)m_##name##_any(x); }                                    \
  M_INLINE double m_##name##_any_sticky(float x) { return m_sticky(m_##name##_any(x)); }                   \
  M_INLINE double m_##name##_sticky(float x) { return m_sticky(m_##name##_d(x)); }                         \
  M_ARRAY_1(m_##name##_n, m_angle_far, m_##name, m_##name##_d)                                             \
  M_ARRAY_1(m_##name##_narrow_n, m_angle_far, m_##name##_any_sticky, m_##name##_sticky)

// A remainder: large quotients are rare, and the results are exact or rounded to float by definition, so narrow is the same.
#define M_DEFINE_REMAINDER(name)                                                                            \
  M_INLINE float m_##name##_near(float x, float y) {                                                        \
    return m_##name##_finish(x, y, (float)m_rest_near(x, y));                                               \
  }                                                                                                         \
  M_INLINE float m_##name(float x, float y) {                                                               \
    return m_quotient_far(x, y) ? m_##name##_finish(x, y, (float)m_rest_far(x, y)) : m_##name##_near(x, y); \
  }                                                                                                         \
  M_ARRAY_2(m_##name##_n, m_quotient_far, m_##name, m_##name##_near)                                        \
  static inline void m_##name##_narrow_n(float *o, const float *a, const float *b, size_t n) { m_##name##_n(o, a, b, n); }

M_DEFINE_1(exp)
M_DEFINE_1(exp2)
M_DEFINE_1(expm1)
M_DEFINE_1(sinh)
M_DEFINE_1(cosh)
M_DEFINE_1(tanh)
M_DEFINE_1(log)
M_DEFINE_1(log2)
M_DEFINE_1(log10)
M_DEFINE_1(log1p)
M_DEFINE_1(asinh)
M_DEFINE_1(acosh)
M_DEFINE_1(atanh)
M_DEFINE_1(rsqrt)
M_DEFINE_1(cbrt)
M_DEFINE_1(asin)
M_DEFINE_1(acos)
M_DEFINE_1(atan)
M_DEFINE_1(erf)
M_DEFINE_1(erfc)
M_DEFINE_ANGLE(sin)
M_DEFINE_ANGLE(cos)
M_DEFINE_ANGLE(tan)
M_DEFINE_2(hypot)
M_DEFINE_2(pow)
M_DEFINE_2(atan2)
M_DEFINE_REMAINDER(fmod)
M_DEFINE_REMAINDER(mod)
M_DEFINE_REMAINDER(floor_div)

#endif
