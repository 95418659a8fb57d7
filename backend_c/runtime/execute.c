// What an instruction computes. Every form takes rows in chunks: fetch the sources of a chunk as contiguous elements (repeating a block
// where a source does), run the element loop, store. f16 and bf16 are widened to float for the one operation and rounded once.
// Timing and checks are elsewhere; addresses here are known to be good.
#include "execute.h"

#include "loops.h"
#include "simd.h"

static int64_t size_of(const ascir_tile *tile) { return ascir_element_bytes[tile->dtype]; }

static char *at(const ascir_tile *tile, int64_t row, int64_t col) {
  return (char *)tile->p + (row * tile->row_stride + col * tile->col_stride) * size_of(tile);
}

// ---- narrow floats ------------------------------------------------------------------------------------------------------------------------

void ascir_widen(float *out, const void *in, int32_t dtype, int64_t n) {
  if (dtype == ASCIR_F16) simd_f16_to_f32(out, in, (size_t)n);
  else if (dtype == ASCIR_BF16) simd_bf16_to_f32(out, in, (size_t)n);
  else memcpy(out, in, (size_t)n * sizeof *out);
}

void ascir_narrow(void *out, int32_t dtype, const float *in, int64_t n) {
  if (dtype == ASCIR_F16) simd_f32_to_f16(out, in, (size_t)n);
  else if (dtype == ASCIR_BF16) simd_f32_to_bf16(out, in, (size_t)n);
  else memcpy(out, in, (size_t)n * sizeof *in);
}

static bool is_narrow(int32_t dtype) { return dtype == ASCIR_F16 || dtype == ASCIR_BF16; }

float ascir_round_f16(float value) { return simd_f16_to_f32_one(simd_f32_to_f16_one(value)); }
float ascir_round_bf16(float value) { return simd_bf16_to_f32_one(simd_f32_to_bf16_one(value)); }

// ---- sources ------------------------------------------------------------------------------------------------------------------------------

// Room for a chunk of any element type.
typedef union {
  int64_t widest[ASCIR_CHUNK];
  char bytes[ASCIR_CHUNK * sizeof(int64_t)];
} chunk;

// `n` contiguous elements from (row, first) on; a repeating block is laid out in `room`.
static const void *fetch(const ascir_tile *tile, int64_t row, int64_t first, int64_t n, chunk *room) {
  if (tile->col_stride != 0 || tile->cols <= 1) return at(tile, row, first);
  const char *block = at(tile, row, 0);
  for (int64_t k = 0; k < n * size_of(tile); k += ASCIR_BLOCK_BYTES) memcpy(room->bytes + k, block, ASCIR_BLOCK_BYTES);
  return room->bytes;
}

// A scalar operand in the bits of an element type.
static void put_scalar(void *out, int32_t dtype, ascir_scalar s) {
  if (ascir_is_float[dtype]) ascir_narrow(out, dtype, &s.f, 1);
  else if (dtype == ASCIR_I1) *(uint8_t *)out = s.i != 0;
  else memcpy(out, &s.i, ascir_element_bytes[dtype]);  // little-endian: the low bytes
}

static void spread(void *out, const void *value, int64_t size, int64_t n) {
  char *o = out;
  if (n) memcpy(o, value, (size_t)size);
  for (int64_t done = 1; done < n; done *= 2) memcpy(o + done * size, o, (size_t)((n - done < done ? n - done : done) * size));
}

// ---- arithmetic ---------------------------------------------------------------------------------------------------------------------------

static ascir_loop *loop_of(int32_t opcode, int32_t dtype) {
  return ascir_is_float[dtype] ? ascir_float_loops[opcode][dtype] : ascir_integer_loops[opcode][dtype];
}

// out = a ⊕ b on contiguous elements of a narrow float type.
static void apply_narrow(ascir_loop *loop, int32_t dtype, void *out, const void *a, const void *b, ascir_scalar s, int64_t n) {
  float x[ASCIR_CHUNK], y[ASCIR_CHUNK];
  for (int64_t k = 0; k < n; k += ASCIR_CHUNK) {
    int64_t part = n - k < ASCIR_CHUNK ? n - k : ASCIR_CHUNK;
    ascir_widen(x, (const uint16_t *)a + k, dtype, part);
    if (b) ascir_widen(y, (const uint16_t *)b + k, dtype, part);
    loop(x, x, y, s, part);
    ascir_narrow((uint16_t *)out + k, dtype, x, part);
  }
}

static void apply(int32_t opcode, int32_t dtype, void *out, const void *a, const void *b, ascir_scalar s, int64_t n) {
  ascir_loop *loop = loop_of(opcode, dtype);
  if (is_narrow(dtype)) apply_narrow(loop, dtype, out, a, b, s, n);
  else loop(out, a, b, s, n);
}

static void arithmetic(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A], *b = &instr->tile[ASCIR_B];
  chunk room_a, room_b;
  const void *y = b->p ? fetch(b, row, first, n, &room_b) : NULL;
  apply(instr->opcode, dst->dtype, at(dst, row, first), fetch(a, row, first, n, &room_a), y, instr->s, n);
}

// ---- masks --------------------------------------------------------------------------------------------------------------------------------

// Eight bytes of 0 or 1 → eight bits: the product gathers bit 0 of byte k at bit 56 + k.
static uint8_t pack_byte(const uint8_t *bytes) {
  uint64_t eight;
  memcpy(&eight, bytes, sizeof eight);
  return (uint8_t)(eight * 0x0102040810204080u >> 56);
}

// Eight bits → eight bytes that are zero or not.
static void unpack_byte(uint8_t *bytes, uint8_t bits) {
  uint64_t eight = bits * 0x0101010101010101u & 0x8040201008040201u;
  memcpy(bytes, &eight, sizeof eight);
}

static void compare(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A], *b = &instr->tile[ASCIR_B];
  chunk room_a, room_b;
  float x[ASCIR_CHUNK], y[ASCIR_CHUNK];
  uint8_t truth[ASCIR_CHUNK + 8];
  const void *left = fetch(a, row, first, n, &room_a), *right = b->p ? fetch(b, row, first, n, &room_b) : NULL;
  if (is_narrow(a->dtype)) {
    ascir_widen(x, left, a->dtype, n);
    if (right) ascir_widen(y, right, a->dtype, n);
    left = x, right = y;
  }
  loop_of(instr->opcode, a->dtype)(truth, left, right, instr->s, n);
  memset(truth + n, 0, 8);
  uint8_t *mask = (uint8_t *)at(dst, row, first / 8);
  for (int64_t k = 0; k < n; k += 8) mask[k / 8] = pack_byte(truth + k);
}

#define SELECT_CASE(type)                              \
  case sizeof(type): {                                 \
    const type *x = a, *y = b;                         \
    type *o = out;                                     \
    EACH o[k] = truth[k] ? x[k] : y[k];                \
    return;                                            \
  }

static void choose(void *out, const uint8_t *truth, const void *a, const void *b, int64_t size, int64_t n) {
  switch (size) {
    SELECT_CASE(uint8_t)
    SELECT_CASE(uint16_t)
    SELECT_CASE(uint32_t)
    SELECT_CASE(uint64_t)
  }
}

static void select_lanes(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A], *b = &instr->tile[ASCIR_B];
  chunk room_a, room_b;
  uint8_t truth[ASCIR_CHUNK + 8];
  const uint8_t *mask = (const uint8_t *)at(&instr->tile[ASCIR_MASK], row, first / 8);
  for (int64_t k = 0; k < n; k += 8) unpack_byte(truth + k, mask[k / 8]);
  const void *otherwise = room_b.bytes;
  if (b->p) {
    otherwise = fetch(b, row, first, n, &room_b);
  } else {
    uint64_t value = 0;
    put_scalar(&value, dst->dtype, instr->s);
    spread(room_b.bytes, &value, size_of(dst), n);
  }
  choose(at(dst, row, first), truth, fetch(a, row, first, n, &room_a), otherwise, size_of(dst), n);
}

// ---- moves --------------------------------------------------------------------------------------------------------------------------------

static void cast(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A];
  chunk room;
  ascir_convert(at(dst, row, first), dst->dtype, fetch(a, row, first, n, &room), a->dtype, instr->option, n);
}

static void copy(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST];
  chunk room;
  memmove(at(dst, row, first), fetch(&instr->tile[ASCIR_A], row, first, n, &room), (size_t)(n * size_of(dst)));
}

static void duplicate(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST];
  uint64_t value = 0;
  put_scalar(&value, dst->dtype, instr->s);
  spread(at(dst, row, first), &value, size_of(dst), n);
}

static void iota(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST];
  void *out = at(dst, row, first);
  float x[ASCIR_CHUNK];
  int64_t i[ASCIR_CHUNK];
  if (ascir_is_float[dst->dtype]) {
    EACH x[k] = (float)(first + k) + instr->s.f;
    ascir_narrow(out, dst->dtype, x, n);
  } else {
    EACH i[k] = first + k + instr->s.i;
    ascir_convert(out, dst->dtype, i, ASCIR_I64, ROUND_RINT, n);
  }
}

// Each element fills a row of one block.
static void block_broadcast(const ascir_instr *instr, int64_t row, int64_t first, int64_t n) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST];
  spread(at(dst, row, first), at(&instr->tile[ASCIR_A], 0, row), size_of(dst), n);
}

// ---- rows and chunks ------------------------------------------------------------------------------------------------------------------------

typedef void chunk_function(const ascir_instr *instr, int64_t row, int64_t first, int64_t n);

static chunk_function *const chunk_of[] = {
    [FORM_UNARY] = arithmetic,   [FORM_BINARY] = arithmetic,        [FORM_SCALAR] = arithmetic,
    [FORM_COMPARE] = compare,    [FORM_COMPARE_SCALAR] = compare,   [FORM_SELECT] = select_lanes,
    [FORM_SELECT_SCALAR] = select_lanes, [FORM_CAST] = cast,              [FORM_DUPLICATE] = duplicate,
    [FORM_IOTA] = iota,          [FORM_BLOCK_BROADCAST] = block_broadcast, [FORM_COPY] = copy,
};

static bool is_flat(const ascir_tile *tile) {
  return !tile->p || (tile->row_stride == tile->cols && (tile->col_stride == 1 || tile->cols <= 1));
}

// Rows that follow each other without a gap in every operand are one long row.
static bool may_flatten(const ascir_instr *instr, int32_t form) {
  if (form == FORM_IOTA || form == FORM_BLOCK_BROADCAST || instr->tile[ASCIR_MASK].p) return false;
  if (form == FORM_COMPARE || form == FORM_COMPARE_SCALAR) return false;
  return is_flat(&instr->tile[ASCIR_DST]) && is_flat(&instr->tile[ASCIR_A]) && is_flat(&instr->tile[ASCIR_B]);
}

static void element_wise(const ascir_instr *instr, int32_t form) {
  const ascir_tile *a = &instr->tile[ASCIR_A], *dst = &instr->tile[ASCIR_DST];
  const ascir_tile *shape = form == FORM_COMPARE || form == FORM_COMPARE_SCALAR ? a : dst;
  int64_t rows = shape->rows, cols = shape->cols;
  if (rows > 1 && may_flatten(instr, form)) cols *= rows, rows = 1;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t first = 0; first < cols; first += ASCIR_CHUNK)
      chunk_of[form](instr, row, first, cols - first < ASCIR_CHUNK ? cols - first : ASCIR_CHUNK);
}

// ---- reductions: x[0 : n-h] ⊕= x[h : n] with h = ⌈n / 2⌉, until one is left -------------------------------------------------------------------

static const ascir_scalar no_scalar = {0, 0.0f};

static void fold_row(const ascir_instr *instr, int64_t row) {
  const ascir_tile *a = &instr->tile[ASCIR_A];
  int64_t n = a->cols, size = size_of(a);
  const char *x = at(a, row, 0);
  char *work = instr->tile[ASCIR_WORK].p;
  for (int64_t half; n > 1; n = half, x = work) {
    half = (n + 1) / 2;
    apply(instr->opcode, a->dtype, work, x, x + half * size, no_scalar, n - half);
    if (x != work && half > n - half) memcpy(work + (n - half) * size, x + (n - half) * size, (size_t)size);  // the middle one
  }
  memcpy(at(&instr->tile[ASCIR_DST], 0, row), x, (size_t)size);
}

static void fold_columns(const ascir_instr *instr) {
  const ascir_tile *a = &instr->tile[ASCIR_A];
  int64_t lanes = ASCIR_BLOCK_BYTES / size_of(a), row_bytes = a->cols * size_of(a);
  ascir_tile work = {instr->tile[ASCIR_WORK].p, 0, a->cols, ascir_ceil_of(a->cols, lanes) * lanes, 1, a->dtype}, x = *a;
  for (int64_t n = a->rows, half; n > 1; n = half, x = work) {
    half = (n + 1) / 2;
    for (int64_t row = 0; row < n - half; row++)
      apply(instr->opcode, a->dtype, at(&work, row, 0), at(&x, row, 0), at(&x, row + half, 0), no_scalar, a->cols);
    if (x.p != work.p && half > n - half) memcpy(at(&work, n - half, 0), at(&x, n - half, 0), (size_t)row_bytes);
  }
  memcpy(instr->tile[ASCIR_DST].p, x.p, (size_t)row_bytes);
}

static void reduce(const ascir_instr *instr) {
  if (instr->option == 0) return fold_columns(instr);
  for (int64_t row = 0; row < instr->tile[ASCIR_A].rows; row++) fold_row(instr, row);
}

// ---- copies and scalar accesses ---------------------------------------------------------------------------------------------------------------

// memcpy, but fetching ahead: GM is read once and in pieces, for which the host's own look-ahead starts too late.
static void copy_row(char *restrict to, const char *restrict from, int64_t n) {
  enum { LINE = 64, AHEAD = 4096 };
  int64_t k = 0;
  for (; k + LINE <= n; k += LINE) {
    __builtin_prefetch(from + k + AHEAD);
    memcpy(to + k, from + k, LINE);
  }
  memcpy(to + k, from + k, (size_t)(n - k));
}

static void copy_rows(const ascir_tile *dst, const ascir_tile *src) {
  int64_t bytes = src->cols * size_of(src);
  for (int64_t row = 0; row < src->rows; row++) copy_row(at(dst, row, 0), at(src, row, 0), bytes);
}

#define COPY_CASE(type)                                                                                            \
  case sizeof(type):                                                                                               \
    for (int64_t row = 0; row < src->rows; row++) {                                                                \
      const char *from = at(src, row, 0);                                                                          \
      char *to = at(dst, row, 0);                                                                                  \
      for (int64_t col = 0; col < src->cols; col++)                                                                \
        memcpy(to + col * dst->col_stride * (int64_t)sizeof(type), from + col * src->col_stride * (int64_t)sizeof(type), sizeof(type)); \
    }                                                                                                              \
    return;

static void copy_elements(const ascir_tile *dst, const ascir_tile *src) {
  switch (size_of(src)) {
    COPY_CASE(uint8_t)
    COPY_CASE(uint16_t)
    COPY_CASE(uint32_t)
    COPY_CASE(uint64_t)
  }
}

static ascir_scalar load(const ascir_tile *tile) {
  ascir_scalar s = {0, 0.0f};
  if (ascir_is_float[tile->dtype]) ascir_widen(&s.f, tile->p, tile->dtype, 1);
  else ascir_convert(&s.i, ASCIR_I64, tile->p, tile->dtype, ROUND_RINT, 1);
  return s;
}

ascir_scalar ascir_execute(const ascir_instr *instr) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A];
  switch (instr->opcode) {
    case ASCIR_OP_MEMORY_COPY: copy_rows(dst, a); break;
    case ASCIR_OP_MEMORY_SCALAR_COPY: copy_elements(dst, a); break;
    case ASCIR_OP_MEMORY_SCALAR_LOAD: return load(a);
    case ASCIR_OP_MEMORY_SCALAR_STORE: put_scalar(dst->p, dst->dtype, instr->s); break;
    default:
      if (ascir_form[instr->opcode] == FORM_REDUCE) reduce(instr);
      else element_wise(instr, ascir_form[instr->opcode]);
  }
  return (ascir_scalar){0, 0.0f};
}
