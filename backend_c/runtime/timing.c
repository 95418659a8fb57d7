// How long an instruction keeps its pipe busy, in cycles, from the target's table and from sizes; data and host addresses have no say.
// A 2-d vector instruction stands for what a careful author would issue on the hardware: a loop over rows, or over columns of one
// repeat's width, whichever is cheaper.
#include "core.h"

static int64_t size_of(const ascir_tile *tile) { return ascir_element_bytes[tile->dtype]; }

// ---- vector instructions ----------------------------------------------------------------------------------------------------------------

// What one element and one repeat of an instruction cost.
typedef struct {
  const ascir_target *target;
  double per_repeat;
  int64_t lanes;
} rate;

// `repeats` repeats in as few instructions as the repeat counter allows.
static double repeats_cost(const rate *r, int64_t repeats) {
  return (double)ascir_ceil_of(repeats, r->target->max_repeats) * r->target->vector_start + (double)repeats * r->per_repeat;
}

static double row_cost(const rate *r, int64_t elements) { return repeats_cost(r, ascir_ceil_of(elements, r->lanes)); }

// `r` for repeats along a row, `across` for one repeat a row.
static double matrix_cost(const rate *r, const rate *across, int64_t rows, int64_t cols, bool strides_fit) {
  double by_rows = (double)rows * row_cost(r, cols);
  double by_columns = (double)ascir_ceil_of(cols, r->lanes) * repeats_cost(across, rows);
  return strides_fit && by_columns < by_rows ? by_columns : by_rows;
}

// One unbroken run of elements.
static bool is_flat(const ascir_tile *tile) {
  return (tile->rows <= 1 || tile->row_stride == tile->cols) && (tile->cols <= 1 || tile->col_stride == 1);
}

static bool stride_fits(const ascir_target *target, const ascir_tile *tile) {
  return tile->row_stride * size_of(tile) <= target->max_stride_blocks * target->block_bytes;
}

static bool has_mask(int32_t form) {
  return form == FORM_COMPARE || form == FORM_COMPARE_SCALAR || form == FORM_SELECT || form == FORM_SELECT_SCALAR;
}

static rate rate_of(const ascir_core *core, int32_t opcode, int32_t dtype) {
  int64_t lanes = core->target->repeat_bytes / ascir_element_bytes[dtype];
  return (rate){core->target, (double)lanes * core->target->cycles_per_element[opcode][dtype], lanes};
}

// UB serves a repeat no faster than its banks allow.
static rate through_banks(rate r, const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands, int64_t repeats, bool across) {
  double cycles = ascir_bank_cycles(core, instr, operands, r.lanes, repeats, across);
  r.per_repeat = r.per_repeat > cycles ? r.per_repeat : cycles;
  return r;
}

static double element_wise(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands, int32_t form) {
  const ascir_tile *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A], *b = &instr->tile[ASCIR_B];
  const ascir_tile *shape = form == FORM_COMPARE || form == FORM_COMPARE_SCALAR ? a : dst;
  bool wider = form == FORM_CAST && size_of(a) > size_of(dst);
  rate bare = rate_of(core, instr->opcode, wider ? a->dtype : shape->dtype);
  rate r = through_banks(bare, core, instr, operands, ascir_ceil_of(shape->cols, bare.lanes), false);
  if (shape->rows == 1) return row_cost(&r, shape->cols);
  if (has_mask(form)) return (double)shape->rows * row_cost(&r, shape->cols);  // each row's mask begins a new byte
  bool flat = is_flat(dst) && is_flat(a) && is_flat(b), fit = stride_fits(core->target, dst);
  fit = fit && stride_fits(core->target, a) && stride_fits(core->target, b);
  if (flat) return row_cost(&r, shape->rows * shape->cols);
  rate across = fit ? through_banks(bare, core, instr, operands, shape->rows, true) : r;
  return matrix_cost(&r, &across, shape->rows, shape->cols, fit);
}

// Rows longer than a repeat are folded one after another, for the work space holds one; then a whole-repeat reduce ends each.
static double reduce_rows(const rate *r, double per_element, int64_t rows, int64_t cols) {
  double folds = 0.0;
  for (; cols > r->lanes; cols = ascir_ceil_of(cols, 2)) folds += row_cost(r, cols / 2);
  rate last = {r->target, (double)r->lanes * per_element, r->lanes};
  return folds > 0.0 ? (double)rows * (folds + repeats_cost(&last, 1)) : repeats_cost(&last, rows);
}

static double reduce_columns(const rate *r, const ascir_tile *a) {
  double cycles = row_cost(r, a->cols);  // the last move into place
  for (int64_t rows = a->rows; rows > 1; rows = ascir_ceil_of(rows, 2))
    cycles += matrix_cost(r, r, rows / 2, a->cols, stride_fits(r->target, a));
  return cycles;
}

static double reduction(const ascir_core *core, const ascir_instr *instr) {
  const ascir_tile *a = &instr->tile[ASCIR_A];
  rate r = rate_of(core, instr->opcode, a->dtype);
  return instr->option ? reduce_rows(&r, core->target->repeat_reduce[a->dtype], a->rows, a->cols) : reduce_columns(&r, a);
}

static double vector(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands) {
  int32_t form = ascir_form[instr->opcode];
  return form == FORM_REDUCE ? reduction(core, instr) : element_wise(core, instr, operands, form);
}

// ---- copies ---------------------------------------------------------------------------------------------------------------------------------

static const ascir_access *gm_access(const ascir_operands *operands) {
  for (int32_t k = 0; k < operands->count; k++)
    if (operands->access[k].space == SPACE_GM) return &operands->access[k];
  return NULL;
}

// Every row begins at a multiple of `aligned_gm_bytes` from the start of its argument, wherever the host has put that.
static bool is_aligned(const ascir_core *core, const ascir_access *gm, const ascir_tile *tile) {
  int64_t unit = core->target->aligned_gm_bytes;
  int64_t start = gm->bytes.lo - (int64_t)(intptr_t)core->args[gm->owner].p;
  return start % unit == 0 && (tile->rows <= 1 || tile->row_stride * size_of(tile) % unit == 0);
}

// A copy takes the time of its pipe, or longer if others are using the core's share of the bandwidth.
static double copy(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands) {
  const ascir_access *gm = gm_access(operands);
  const ascir_target *target = core->target;
  if (!gm) return target->copy_start;  // no bytes
  const ascir_tile *tile = &instr->tile[gm->slot];
  double bytes = (double)(tile->rows * tile->cols * size_of(tile));
  if (!is_aligned(core, gm, tile)) bytes /= target->unaligned_efficiency;
  double start = core->pipe[pipe].free, issue = target->copy_start + target->copy_row * (double)(tile->rows - 1);
  double alone = issue + bytes / (gm->writes ? target->gm_write_per_cycle : target->gm_read_per_cycle);
  double shared = ascir_port_transfer(&core->port, start + issue, bytes) - start;
  return alone > shared ? alone : shared;
}

// ---- pipe S ---------------------------------------------------------------------------------------------------------------------------------

static double scalar(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands) {
  const ascir_target *target = core->target;
  const ascir_tile *a = &instr->tile[ASCIR_A], *dst = &instr->tile[ASCIR_DST];
  bool in_gm = gm_access(operands) != NULL;
  if (instr->opcode == ASCIR_OP_MEMORY_SCALAR_COPY)
    return (double)(a->rows * a->cols) * (in_gm ? target->scalar_gm_cycles : target->scalar_element_cycles);
  if (instr->opcode >= ASCIR_ROWS) return in_gm ? target->scalar_gm_cycles : target->scalar_access_cycles;
  int64_t elements = a->rows * a->cols > dst->rows * dst->cols ? a->rows * a->cols : dst->rows * dst->cols;
  return (double)elements * target->scalar_element_cycles;
}

double ascir_duration(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_operands *operands) {
  if (!operands->legal) return 0.0;
  if (instr->opcode == ASCIR_OP_MEMORY_COPY) return copy(core, instr, pipe, operands);
  return pipe == PIPE_S ? scalar(core, instr, operands) : vector(core, instr, operands);
}
