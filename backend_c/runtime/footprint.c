// Arithmetic on the bytes an operand touches: rows a pitch apart, in each row chunks a step apart. Two questions decide whether
// accesses collide and whether bytes are initialised: do two footprints share a byte, does one hold the other. Both are answered
// from the bounds first and row by row only where the bounds cannot tell.
#include "core.h"

// check.c merges rows and chunks that touch, so an interval has one of each.
static bool contiguous(const ascir_footprint *f) { return f->rows == 1 && f->chunks == 1; }

bool ascir_same(const ascir_footprint *a, const ascir_footprint *b) {
  return a->lo == b->lo && a->hi == b->hi && a->rows == b->rows && a->chunks == b->chunks && a->width == b->width &&
         (a->rows == 1 || a->pitch == b->pitch) && (a->chunks == 1 || a->step == b->step);
}

// Quotient rounded down, for a positive divisor.
static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Whether [lo, hi) meets one of `n` intervals of `width` bytes, `stride` apart from `first` on.
static bool meets(int64_t first, int64_t n, int64_t stride, int64_t width, int64_t lo, int64_t hi) {
  int64_t k = n == 1 ? 0 : floor_of(lo - first - width, stride) + 1;  // the first that ends after lo
  k = k < 0 ? 0 : k;
  return k < n && first + k * stride < hi && first + k * stride + width > lo;
}

static bool interval_meets(const ascir_footprint *f, int64_t lo, int64_t hi) {
  if (f->chunks == 1) return meets(f->lo, f->rows, f->pitch, f->width, lo, hi);
  for (int64_t row = 0; row < f->rows; row++)
    if (meets(f->lo + row * f->pitch, f->chunks, f->step, f->width, lo, hi)) return true;
  return false;
}

// Both are rows of the same pitch: b's rows fall into a's columns at `shift`, and perhaps run over into a's next row.
static bool same_pitch_overlap(const ascir_footprint *a, const ascir_footprint *b) {
  int64_t row = floor_of(b->lo - a->lo, a->pitch), shift = b->lo - a->lo - row * a->pitch;
  bool here = shift < a->width && row < a->rows && row + b->rows > 0;
  bool next = shift + b->width > a->pitch && row + 1 < a->rows && row + 1 + b->rows > 0;
  return here || next;
}

bool ascir_overlap(const ascir_footprint *a, const ascir_footprint *b) {
  if (a->lo >= b->hi || b->lo >= a->hi) return false;
  if (contiguous(a)) return interval_meets(b, a->lo, a->hi);
  if (contiguous(b)) return interval_meets(a, b->lo, b->hi);
  if (a->chunks == 1 && b->chunks == 1 && a->pitch == b->pitch) return same_pitch_overlap(a, b);
  const ascir_footprint *few = a->rows * a->chunks <= b->rows * b->chunks ? a : b, *many = few == a ? b : a;
  for (int64_t row = 0; row < few->rows; row++)
    for (int64_t chunk = 0; chunk < few->chunks; chunk++) {
      int64_t at = few->lo + row * few->pitch + chunk * few->step;
      if (interval_meets(many, at, at + few->width)) return true;
    }
  return false;
}

// True only if certain: rows of another pitch are not looked at one by one.
bool ascir_contains(const ascir_footprint *outer, const ascir_footprint *inner) {
  if (inner->lo < outer->lo || inner->hi > outer->hi) return false;
  if (contiguous(outer)) return true;
  if (outer->chunks != 1 || inner->chunks != 1 || (inner->rows > 1 && inner->pitch != outer->pitch)) return ascir_same(outer, inner);
  int64_t shift = (inner->lo - outer->lo) % outer->pitch;
  return shift + inner->width <= outer->width;
}
