// The first station of the door: what does this instruction touch, and may it? Each operand is looked up, bounded, and checked for
// its memory, dtype, shape, strides and alignment; then the operands are checked against each other, against the bytes nobody wrote,
// and against the other pipes (race.c). A fault never changes a value; what would touch foreign memory is reported and not executed.
//
// Looking up and bounding happens even with checks off: it is what keeps the host process whole.
#include "core.h"

// ---- what each form expects of its operands ---------------------------------------------------------------------------------------

enum { ABSENT, READS, WRITES, READS_MASK, WRITES_MASK, WORKS };

static const uint8_t roles[][ASCIR_TILES] = {
    [FORM_UNARY] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS},
    [FORM_BINARY] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS, [ASCIR_B] = READS},
    [FORM_SCALAR] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS},
    [FORM_COMPARE] = {[ASCIR_DST] = WRITES_MASK, [ASCIR_A] = READS, [ASCIR_B] = READS},
    [FORM_COMPARE_SCALAR] = {[ASCIR_DST] = WRITES_MASK, [ASCIR_A] = READS},
    [FORM_SELECT] = {[ASCIR_DST] = WRITES, [ASCIR_MASK] = READS_MASK, [ASCIR_A] = READS, [ASCIR_B] = READS},
    [FORM_SELECT_SCALAR] = {[ASCIR_DST] = WRITES, [ASCIR_MASK] = READS_MASK, [ASCIR_A] = READS},
    [FORM_CAST] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS},
    [FORM_DUPLICATE] = {[ASCIR_DST] = WRITES},
    [FORM_IOTA] = {[ASCIR_DST] = WRITES},
    [FORM_BLOCK_BROADCAST] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS},
    [FORM_COPY] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS},
    [FORM_REDUCE] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS, [ASCIR_WORK] = WORKS},
};

static const uint8_t copy_roles[ASCIR_TILES] = {[ASCIR_DST] = WRITES, [ASCIR_A] = READS};
static const uint8_t load_roles[ASCIR_TILES] = {[ASCIR_A] = READS};
static const uint8_t store_roles[ASCIR_TILES] = {[ASCIR_DST] = WRITES};

static const uint8_t *roles_of(const ascir_instr *instr) {
  if (instr->opcode < ASCIR_ROWS) return roles[ascir_form[instr->opcode]];
  if (instr->opcode == ASCIR_OP_MEMORY_SCALAR_LOAD) return load_roles;
  if (instr->opcode == ASCIR_OP_MEMORY_SCALAR_STORE) return store_roles;
  return copy_roles;
}

static bool is_mask(uint8_t role) { return role == READS_MASK || role == WRITES_MASK; }
static bool is_written(uint8_t role) { return role == WRITES || role == WRITES_MASK || role == WORKS; }

// ---- one check of one instruction: the state that its steps share -----------------------------------------------------------------

typedef struct {
  ascir_core *core;
  const ascir_instr *instr;
  int32_t pipe;
  ascir_operands *operands;
  bool raced;  // one cause, one fault
} checking;

static void complain(checking *c, int32_t kind, int32_t reason, const ascir_access *access, int64_t found, int64_t expected) {
  ascir_fault fault = ascir_fault_of(c->core, kind, c->instr, c->pipe);
  ascir_fault_place(c->core, &fault, access);
  fault.reason = reason;
  fault.dtype = c->instr->tile[access->slot].dtype;
  fault.found = found;
  fault.expected = expected;
  ascir_report(c->core, &fault);
}

static bool illegal(checking *c, int32_t slot, int32_t reason, int64_t found, int64_t expected) {
  const ascir_access nowhere = {.space = NO_SPACE, .owner = -1, .slot = (int16_t)slot};
  complain(c, FAULT_ILLEGAL_OPERAND, reason, &nowhere, found, expected);
  return false;
}

// ---- where an address points --------------------------------------------------------------------------------------------------------

static int64_t ub_distance(const ascir_core *core, const void *p) { return (const uint8_t *)p - core->ub.base; }

static bool in_ub_windows(const ascir_core *core, const void *p) {
  return (uint64_t)ub_distance(core, p) < (uint64_t)(core->ub.window * MAX_BUFFERS);
}

// The argument that holds `p`, or else the one nearest to it, so that an overrun has a name.
static int32_t argument_near(const ascir_core *core, const char *p) {
  int32_t nearest = -1;
  uint64_t best = 1 << 24;  // farther away it is nobody's overrun
  for (int32_t k = 0; k < core->arg_count; k++) {
    const ascir_arg *arg = &core->args[k];
    if (!arg->p || arg->p != core->seen[k].p) continue;
    uint64_t inside = (uint64_t)(p - (const char *)arg->p);
    if (inside < (uint64_t)arg->bytes) return k;
    uint64_t distance = p < (const char *)arg->p ? 0 - inside : inside - (uint64_t)arg->bytes;
    if (distance < best) best = distance, nearest = k;
  }
  return nearest;
}

// A kernel that only computes addresses sees each argument through a window of its own, as it sees UB buffers: an address tells which
// argument it was meant for, however far it is off. C that dereferences pointers itself gets real addresses, which
// are looked up.
static int32_t argument_at(const ascir_core *core, const char *p) {
  uint64_t window = (uint64_t)(uintptr_t)p >> WINDOW_BITS;
  if (window) return (int64_t)window <= core->arg_count && core->args[window - 1].p ? (int32_t)window - 1 : -1;
  return argument_near(core, p);
}

// Where the host has the byte that the kernel calls `p`, an address of an argument.
void *ascir_host_address(const ascir_core *core, void *p) {
  int32_t k = argument_at(core, p);
  return (char *)core->args[k].p + ((intptr_t)p - (intptr_t)core->seen[k].p);
}

int32_t ascir_space_of(const ascir_core *core, const void *p) {
  if (in_ub_windows(core, p)) return SPACE_UB;
  return argument_at(core, p) >= 0 ? SPACE_GM : NO_SPACE;
}

// Sets memory, owner and first byte of an access.
static void locate(const ascir_core *core, const void *p, ascir_access *access) {
  access->owner = -1;
  access->space = NO_SPACE;
  if (in_ub_windows(core, p)) {
    int64_t number = ub_distance(core, p) / core->ub.window;
    access->space = SPACE_UB;
    access->bytes.lo = ub_distance(core, p) - number * core->ub.window - core->ub.guard;
    if (number < core->buffers) access->owner = (int16_t)number;
    return;
  }
  access->owner = (int16_t)argument_at(core, p);
  if (access->owner < 0) return;
  access->space = SPACE_GM;
  access->bytes.lo = (intptr_t)p - (intptr_t)core->seen[access->owner].p + (intptr_t)core->args[access->owner].p;
}

// ---- which bytes it touches -----------------------------------------------------------------------------------------------------------

// One dimension of an operand, in bytes. A single element counts as contiguous.
typedef struct {
  int64_t count, step;
} axis;

static bool axis_of(int64_t count, int64_t stride, int64_t size, axis *out) {
  *out = (axis){1, size};
  if (count == 1 || stride == 0) return true;
  out->count = count;
  return !__builtin_mul_overflow(stride, size, &out->step);
}

// Extends the bounds along an axis and turns the axis to run upwards.
static bool extend(ascir_footprint *f, axis *a) {
  int64_t reach;
  if (__builtin_mul_overflow(a->count - 1, a->step, &reach)) return false;
  int64_t *bound = reach < 0 ? &f->lo : &f->hi;
  a->step = a->step < 0 ? -a->step : a->step;
  return !__builtin_add_overflow(*bound, reach, bound);
}

// Rows that touch or overlap are one.
static void merge_rows(ascir_footprint *f) {
  if (f->rows == 1 || f->chunks > 1 || f->pitch > f->width) return;
  f->width = f->hi - f->lo;
  f->rows = 1;
}

// `start` is the address of element (0, 0); column stride 0 repeats a block of `lanes` elements. False if the numbers are too wild for
// 64 bits.
static bool measure(const ascir_tile *tile, int64_t lanes, int64_t start, ascir_footprint *f) {
  int64_t size = ascir_element_bytes[tile->dtype];
  axis rows, cols;
  if (!axis_of(tile->rows, tile->row_stride, size, &rows) || !axis_of(tile->cols, tile->col_stride, size, &cols)) return false;
  if (tile->col_stride == 0) cols.count = tile->cols < lanes ? tile->cols : lanes;
  *f = (ascir_footprint){.lo = start, .hi = start + size};
  if (!extend(f, &rows) || !extend(f, &cols)) return false;
  if (rows.step == size && cols.step != size) {  // runs go down the columns
    axis swap = rows;
    rows = cols, cols = swap;
  }
  bool solid = cols.step == size;
  f->rows = rows.count, f->pitch = rows.step;
  f->chunks = solid ? 1 : cols.count, f->step = solid ? 0 : cols.step, f->width = solid ? cols.count * size : size;
  merge_rows(f);
  return true;
}

// Where the memory that the access may touch begins and ends.
static void limits(const ascir_core *core, const ascir_access *access, int64_t *lo, int64_t *hi) {
  if (access->space == SPACE_UB) {
    const ascir_buffer *buffer = &core->buffer[access->owner];
    *lo = buffer->offset;
    *hi = buffer->offset + buffer->bytes;
  } else {
    const ascir_arg *arg = &core->args[access->owner];
    *lo = (int64_t)(intptr_t)arg->p;
    *hi = *lo + arg->bytes;
  }
}

// Looks one operand up; false if it must not be touched.
static bool resolve(checking *c, int32_t slot, uint8_t role) {
  const ascir_tile *tile = &c->instr->tile[slot];
  ascir_access *access = &c->operands->access[c->operands->count];
  *access = (ascir_access){.slot = (int16_t)slot, .writes = is_written(role)};
  locate(c->core, tile->p, access);
  if (access->owner < 0) {
    complain(c, FAULT_UNALLOCATED, REASON_NONE, access, 0, 0);
    return false;
  }
  int64_t lo, hi;
  limits(c->core, access, &lo, &hi);
  int64_t lanes = c->instr->opcode < ASCIR_ROWS ? ASCIR_BLOCK_BYTES / ascir_element_bytes[tile->dtype] : 1;
  bool sane = measure(tile, lanes, access->bytes.lo, &access->bytes);
  if (!sane || access->bytes.lo < lo || access->bytes.hi > hi) {
    if (!sane) access->bytes.hi = INT64_MAX;
    complain(c, FAULT_OVERRUN, REASON_NONE, access, hi - lo, 0);
    return false;
  }
  if (access->writes && access->space == SPACE_GM && !c->core->args[access->owner].writable) {
    complain(c, FAULT_ILLEGAL_OPERAND, REASON_READ_ONLY, access, 0, 0);
    return false;
  }
  c->operands->count++;
  return true;
}

// ---- dtypes, shapes and strides -------------------------------------------------------------------------------------------------------

static bool check_dtypes(checking *c, const uint8_t *role) {
  const ascir_tile *tile = c->instr->tile;
  bool cast = c->instr->opcode < ASCIR_ROWS && ascir_form[c->instr->opcode] == FORM_CAST;
  int32_t data = role[ASCIR_A] ? tile[ASCIR_A].dtype : tile[ASCIR_DST].dtype;
  for (int32_t slot = 0; slot < ASCIR_TILES; slot++) {
    if (role[slot] == ABSENT || (cast && slot == ASCIR_DST)) continue;
    int32_t expected = is_mask(role[slot]) ? ASCIR_UI8 : data;
    if (tile[slot].dtype != expected) return illegal(c, slot, REASON_DTYPE, tile[slot].dtype, expected);
  }
  return true;
}

typedef struct {
  int64_t rows, cols;
} shape;

// The shape that operand `slot` must have.
static shape expected_shape(const ascir_instr *instr, int32_t slot, uint8_t role) {
  const ascir_tile *tile = &instr->tile[slot], *dst = &instr->tile[ASCIR_DST], *a = &instr->tile[ASCIR_A];
  if (instr->opcode == ASCIR_OP_MEMORY_SCALAR_LOAD) return (shape){1, 1};
  if (instr->opcode >= ASCIR_ROWS) return (shape){dst->rows, dst->cols};
  int32_t form = ascir_form[instr->opcode];
  if (form == FORM_REDUCE) {
    bool along_rows = instr->option == 1;
    return slot == ASCIR_DST ? (shape){1, along_rows ? a->rows : a->cols} : (shape){tile->rows, tile->cols};
  }
  if (form == FORM_BLOCK_BROADCAST) {
    int64_t lanes = ASCIR_BLOCK_BYTES / ascir_element_bytes[dst->dtype];
    return slot == ASCIR_DST ? (shape){a->cols, lanes} : (shape){1, tile->cols};
  }
  bool compares = form == FORM_COMPARE || form == FORM_COMPARE_SCALAR;
  shape data = compares ? (shape){a->rows, a->cols} : (shape){dst->rows, dst->cols};
  return is_mask(role) ? (shape){data.rows, ascir_ceil_of(data.cols, 8)} : data;
}

static bool check_shape(checking *c, int32_t slot, uint8_t role) {
  const ascir_tile *tile = &c->instr->tile[slot];
  if (tile->rows < 0 || tile->cols < 0) return illegal(c, slot, REASON_COUNT, tile->rows < 0 ? tile->rows : tile->cols, 0);
  shape expected = expected_shape(c->instr, slot, role);
  if (tile->rows != expected.rows) return illegal(c, slot, REASON_ROWS, tile->rows, expected.rows);
  if (tile->cols != expected.cols) return illegal(c, slot, REASON_COLUMNS, tile->cols, expected.cols);
  return true;
}

// A vector instruction walks contiguous elements, rows apart; only a source may repeat. A copy has no repeats, and bursts that do not
// overlap; only a scalar copy takes any strides.
static bool check_strides(checking *c, int32_t slot, uint8_t role) {
  const ascir_tile *tile = &c->instr->tile[slot];
  bool copy = c->instr->opcode == ASCIR_OP_MEMORY_COPY;
  if (c->instr->opcode >= ASCIR_ROWS && !copy) return true;
  bool reduce = !copy && ascir_form[c->instr->opcode] == FORM_REDUCE;
  bool may_repeat = !copy && !reduce && role == READS;
  if (tile->cols > 1 && tile->col_stride != 1 && !(may_repeat && tile->col_stride == 0))
    return illegal(c, slot, REASON_STEP, tile->col_stride, may_repeat ? 0 : 1);
  int64_t least = may_repeat || role == READS_MASK ? 0 : copy || is_written(role) ? tile->cols : 1;
  if (tile->rows > 1 && tile->row_stride < least) return illegal(c, slot, REASON_PITCH, tile->row_stride, least);
  return true;
}

// Work space of a reduction: half of what it folds.
static int64_t work_needed(const ascir_instr *instr) {
  const ascir_tile *a = &instr->tile[ASCIR_A];
  int64_t lanes = ASCIR_BLOCK_BYTES / ascir_element_bytes[a->dtype];
  if (instr->option == 1) return a->cols > 1 ? ascir_ceil_of(a->cols, 2) : 1;
  return (a->rows > 1 ? ascir_ceil_of(a->rows, 2) : 1) * ascir_ceil_of(a->cols, lanes) * lanes;
}

static bool check_reduce(checking *c) {
  const ascir_instr *instr = c->instr;
  const ascir_tile *a = &instr->tile[ASCIR_A];
  int64_t folded = instr->option ? a->cols : a->rows, kept = instr->option ? a->rows : a->cols;
  if (folded == 0 && kept > 0) return illegal(c, ASCIR_A, REASON_COUNT, 0, 1);
  int64_t need = work_needed(instr), found = instr->tile[ASCIR_WORK].cols;
  return found >= need || illegal(c, ASCIR_WORK, REASON_WORK, found, need);
}

static bool check_cast(checking *c) {
  const ascir_tile *tile = c->instr->tile;
  int32_t mode = c->instr->option;
  bool known = mode >= ROUND_RINT && mode <= ROUND_ODD;
  bool to_half = tile[ASCIR_A].dtype == ASCIR_F32 && tile[ASCIR_DST].dtype == ASCIR_F16;
  return (known && (mode != ROUND_ODD || to_half)) || illegal(c, ASCIR_A, REASON_ROUNDING, mode, 0);
}

static bool check_copy_limits(checking *c) {
  const ascir_target *target = c->core->target;
  const ascir_tile *a = &c->instr->tile[ASCIR_A];
  int64_t bytes = a->cols * ascir_element_bytes[a->dtype];
  if (a->rows > target->max_copy_blocks) return illegal(c, ASCIR_A, REASON_COPY_ROWS, a->rows, target->max_copy_blocks);
  return bytes <= target->max_copy_bytes || illegal(c, ASCIR_A, REASON_COPY_BYTES, bytes, target->max_copy_bytes);
}

static bool check_axis(checking *c) {
  bool reduces = c->instr->opcode < ASCIR_ROWS && ascir_form[c->instr->opcode] == FORM_REDUCE;
  return !reduces || c->instr->option == 0 || c->instr->option == 1 || illegal(c, ASCIR_A, REASON_AXIS, c->instr->option, 1);
}

static bool check_form(checking *c, const uint8_t *role) {
  if (!check_dtypes(c, role) || !check_axis(c)) return false;
  for (int32_t slot = 0; slot < ASCIR_TILES; slot++)
    if (role[slot] != ABSENT && (!check_shape(c, slot, role[slot]) || !check_strides(c, slot, role[slot]))) return false;
  if (c->instr->opcode == ASCIR_OP_MEMORY_COPY) return check_copy_limits(c);
  if (c->instr->opcode >= ASCIR_ROWS) return true;
  int32_t form = ascir_form[c->instr->opcode];
  return form == FORM_REDUCE ? check_reduce(c) : form == FORM_CAST ? check_cast(c) : true;
}

// Nothing to compute: legal, whatever the addresses.
static bool is_empty(const ascir_instr *instr, const uint8_t *role) {
  const ascir_tile *data = &instr->tile[role[ASCIR_A] ? ASCIR_A : ASCIR_DST];
  return data->rows == 0 || data->cols == 0;
}

// Vector operands lie in UB.
static bool check_space(checking *c) {
  if (c->instr->opcode >= ASCIR_ROWS) return true;
  for (int32_t k = 0; k < c->operands->count; k++)
    if (c->operands->access[k].space != SPACE_UB) {
      complain(c, FAULT_ILLEGAL_OPERAND, REASON_SPACE, &c->operands->access[k], c->operands->access[k].space, SPACE_UB);
      return false;
    }
  return true;
}

// ---- rules whose breach does not stop the execution -----------------------------------------------------------------------------------

// Bytes to which an operand's start and pitch must be aligned.
static int64_t alignment(const checking *c, const ascir_access *access) {
  if (access->space == SPACE_UB && c->pipe != PIPE_S) return c->core->target->block_bytes;
  return ascir_element_bytes[c->instr->tile[access->slot].dtype];
}

static void check_alignment(checking *c, const ascir_access *access) {
  const ascir_tile *tile = &c->instr->tile[access->slot];
  int64_t unit = alignment(c, access), size = ascir_element_bytes[tile->dtype];
  int64_t start = access->bytes.lo, pitch = tile->row_stride * size;
  if (access->space == SPACE_GM) return;  // any address will do, byte by byte if need be
  if (start % unit) complain(c, FAULT_MISALIGNED, REASON_NONE, access, start, unit);
  else if (tile->rows > 1 && pitch % unit) complain(c, FAULT_MISALIGNED, REASON_PITCH, access, pitch, unit);
}

// hw §3: source and destination coincide exactly or do not overlap at all.
static void check_overlap(checking *c) {
  for (int32_t i = 0; i < c->operands->count; i++)
    for (int32_t j = 0; j < c->operands->count; j++) {
      const ascir_access *write = &c->operands->access[i], *other = &c->operands->access[j];
      if (!write->writes || i == j || (other->writes && j < i) || write->space != other->space) continue;
      if (!ascir_overlap(&write->bytes, &other->bytes)) continue;
      if (!other->writes && ascir_same(&write->bytes, &other->bytes)) continue;
      complain(c, FAULT_ILLEGAL_OPERAND, REASON_OVERLAP, write, other->slot, 0);
    }
}

static void check_initialised(checking *c, const ascir_access *access) {
  ascir_access part = *access;
  if (access->writes || access->space != SPACE_UB) return;
  if (ascir_initialised(&c->core->buffer[access->owner], &access->bytes, &part.bytes.lo, &part.bytes.hi)) return;
  complain(c, FAULT_UNINITIALISED, REASON_NONE, &part, 0, 0);
  ascir_written(c->core, access->owner, &access->bytes);  // say it once
}

static void mark_read(checking *c, const ascir_access *access) {
  ascir_past *unread = &c->core->buffer[access->owner].unread;
  if (unread->bytes.rows && ascir_overlap(&unread->bytes, &access->bytes)) unread->bytes.rows = 0;
}

// Data on its way to nowhere: a copy lands on all that a copy before it brought, and nothing has looked at any of it, as when a load of
// the next tile overtakes the work on this one. With `thorough` checks that goes for what any instruction wrote.
static void check_overwritten(checking *c, const ascir_access *access) {
  ascir_past *unread = &c->core->buffer[access->owner].unread;
  bool copies = unread->opcode == ASCIR_OP_MEMORY_COPY && c->instr->opcode == ASCIR_OP_MEMORY_COPY;
  bool counts = !c->raced && (c->core->thorough || copies);
  if (unread->bytes.rows && counts && ascir_contains(&access->bytes, &unread->bytes)) {
    ascir_fault fault = ascir_fault_of(c->core, FAULT_OVERWRITTEN, c->instr, c->pipe);
    ascir_access lost = *access;
    lost.bytes = unread->bytes;
    ascir_fault_place(c->core, &fault, &lost);
    ascir_fault_other(&fault, unread, true);
    ascir_report(c->core, &fault);
  }
  *unread = (ascir_past){access->bytes, 0, c->instr->line, (int16_t)c->instr->opcode, access->owner, (int16_t)c->pipe};
}

static void mark_used(checking *c) {
  for (int32_t k = 0; k < c->operands->count; k++) {
    const ascir_access *access = &c->operands->access[k];
    if (access->space != SPACE_UB) ascir_log_gm(c->core, c->instr, c->pipe, access);
    else if (!access->writes) mark_read(c, access);
  }
  for (int32_t k = 0; k < c->operands->count; k++) {
    const ascir_access *access = &c->operands->access[k];
    if (!access->writes || access->slot == ASCIR_WORK || access->space != SPACE_UB) continue;
    check_overwritten(c, access);
    ascir_written(c->core, access->owner, &access->bytes);
  }
}

void ascir_check(ascir_core *core, const ascir_instr *instr, int32_t pipe, ascir_operands *operands) {
  checking c = {core, instr, pipe, operands, false};
  const uint8_t *role = roles_of(instr);
  operands->count = 0;
  operands->legal = check_form(&c, role);
  if (!operands->legal || is_empty(instr, role)) return;
  for (int32_t slot = ASCIR_TILES - 1; slot >= 0; slot--)  // sources first, the destination last
    if (role[slot] != ABSENT && !resolve(&c, slot, role[slot])) operands->legal = false;
  operands->legal = operands->legal && check_space(&c);
  if (!core->checks) return;
  for (int32_t k = 0; k < operands->count; k++) {
    check_alignment(&c, &operands->access[k]);
    check_initialised(&c, &operands->access[k]);
  }
  check_overlap(&c);
  c.raced = ascir_race(core, instr, pipe, operands);
  mark_used(&c);
}
