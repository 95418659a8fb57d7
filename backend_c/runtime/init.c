// Which bytes of a UB buffer hold something the kernel wrote. Mostly a buffer is filled by one copy or one instruction and then read
// in the same shape, so the state is one footprint, `known`, and both questions are a comparison. When writes do not fit together,
// a bit a byte holds the truth and `known` stays as a short cut. Buffers that share bytes forget what another one overwrites.
#include "core.h"

#include <stdlib.h>

enum { WORD = 64 };

static uint64_t ones(int64_t from, int64_t to) {  // bits from … to-1 of a word
  return (~0ull << from) & (~0ull >> (WORD - to));
}

static void fill_word(uint64_t *word, uint64_t bits, bool value) { *word = value ? *word | bits : *word & ~bits; }

// Sets or clears bits [lo, hi), lo < hi.
static void fill(uint64_t *map, int64_t lo, int64_t hi, bool value) {
  int64_t first = lo / WORD, last = (hi - 1) / WORD;
  if (first == last) return fill_word(&map[first], ones(lo % WORD, hi - last * WORD), value);
  fill_word(&map[first], ones(lo % WORD, WORD), value);
  memset(&map[first + 1], value ? 0xff : 0, (size_t)(last - first - 1) * sizeof *map);
  fill_word(&map[last], ones(0, hi - last * WORD), value);
}

// The first bit of [lo, hi) that is `value`, or hi.
static int64_t find(const uint64_t *map, int64_t lo, int64_t hi, bool value) {
  for (int64_t word = lo / WORD; word * WORD < hi; word++) {
    int64_t start = word * WORD, from = lo > start ? lo - start : 0, to = hi - start < WORD ? hi - start : WORD;
    uint64_t hits = (value ? map[word] : ~map[word]) & ones(from, to);
    if (hits) return start + __builtin_ctzll(hits);
  }
  return hi;
}

static void fill_footprint(ascir_buffer *buffer, const ascir_footprint *f, bool value) {
  for (int64_t row = 0; row < f->rows; row++)
    for (int64_t chunk = 0; chunk < f->chunks; chunk++) {
      int64_t at = f->lo - buffer->offset + row * f->pitch + chunk * f->step;
      fill(buffer->map, at, at + f->width, value);
    }
}

static bool nothing_known(const ascir_buffer *buffer) { return buffer->known.rows == 0; }

// From now on the bits are the truth.
static void use_map(ascir_buffer *buffer) {
  if (buffer->mapped) return;
  memset(buffer->map, 0, (size_t)ascir_ceil_of(buffer->bytes, WORD) * sizeof *buffer->map);
  buffer->mapped = true;
  if (!nothing_known(buffer)) fill_footprint(buffer, &buffer->known, true);
}

static bool is_interval(const ascir_footprint *f) { return f->rows == 1 && f->chunks == 1; }

// Extends `known` by an interval that touches it.
static bool grow(ascir_footprint *known, const ascir_footprint *f) {
  if (!is_interval(known) || !is_interval(f) || f->lo > known->hi || f->hi < known->lo) return false;
  known->lo = f->lo < known->lo ? f->lo : known->lo;
  known->hi = f->hi > known->hi ? f->hi : known->hi;
  known->width = known->hi - known->lo;
  return true;
}

static void learn(ascir_buffer *buffer, const ascir_footprint *f) {
  if (!nothing_known(buffer) && ascir_contains(&buffer->known, f)) return;
  if (buffer->mapped) fill_footprint(buffer, f, true);
  if (nothing_known(buffer) || ascir_contains(f, &buffer->known)) {
    buffer->known = *f;
  } else if (!grow(&buffer->known, f) && !buffer->mapped) {
    use_map(buffer);
    fill_footprint(buffer, f, true);
  }
}

// The part of `f` in this buffer is no longer what its kernel wrote there.
static void forget(ascir_buffer *buffer, const ascir_footprint *f) {
  if (nothing_known(buffer) && !buffer->mapped) return;
  if (f->hi <= buffer->offset || f->lo >= buffer->offset + buffer->bytes) return;
  if (!buffer->mapped && ascir_contains(f, &buffer->known)) {
    buffer->known.rows = 0;
    return;
  }
  if (!buffer->mapped && !ascir_overlap(f, &buffer->known)) return;
  use_map(buffer);
  buffer->known.rows = 0;
  int64_t end = buffer->offset + buffer->bytes;
  for (int64_t row = 0; row < f->rows; row++)
    for (int64_t chunk = 0; chunk < f->chunks; chunk++) {
      int64_t lo = f->lo + row * f->pitch + chunk * f->step, hi = lo + f->width;
      lo = lo < buffer->offset ? buffer->offset : lo;
      hi = hi > end ? end : hi;
      if (lo < hi) fill(buffer->map, lo - buffer->offset, hi - buffer->offset, false);
    }
}

void ascir_written(ascir_core *core, int32_t owner, const ascir_footprint *bytes) {
  learn(&core->buffer[owner], bytes);
  if (!core->buffer[owner].shares) return;
  for (int32_t other = 0; other < core->buffers; other++)
    if (other != owner && core->buffer[other].shares) forget(&core->buffer[other], bytes);
}

// Whether all bytes hold something; if not, [lo, hi) are the first that do not.
bool ascir_initialised(ascir_buffer *buffer, const ascir_footprint *f, int64_t *lo, int64_t *hi) {
  if (!nothing_known(buffer) && ascir_contains(&buffer->known, f)) return true;
  use_map(buffer);
  for (int64_t row = 0; row < f->rows; row++)
    for (int64_t chunk = 0; chunk < f->chunks; chunk++) {
      int64_t at = f->lo - buffer->offset + row * f->pitch + chunk * f->step, end = at + f->width;
      int64_t first = find(buffer->map, at, end, false);
      if (first == end) continue;
      *lo = first + buffer->offset;
      *hi = find(buffer->map, first, end, true) + buffer->offset;
      return false;
    }
  if (nothing_known(buffer) || ascir_bytes_in(f) > ascir_bytes_in(&buffer->known)) buffer->known = *f;
  return true;
}
