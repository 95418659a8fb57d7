// Cores that touch the same bytes of GM. Blocks run in any order and at the same time, so bytes that one block writes no other may read
// or write. Each block keeps a log of what it does to arguments that the kernel writes; when all have run, the logs are laid side by
// side. Nothing is compared byte by byte: accesses are sorted, and only where the bounds of two blocks meet are rows looked at.
#include "launch.h"

#include <stdlib.h>

// ---- the log of one block -------------------------------------------------------------------------------------------------------------

static bool extends(const ascir_gm_access *last, const ascir_gm_access *next) {
  const ascir_footprint *a = &last->past.bytes, *b = &next->past.bytes;
  return last->writes == next->writes && last->past.line == next->past.line && last->past.owner == next->past.owner && a->rows == 1 &&
         a->chunks == 1 && b->rows == 1 && b->chunks == 1 && a->hi == b->lo;
}

static void append(ascir_gm_log *log, const ascir_gm_access *access) {
  if (log->count == log->capacity) {
    int64_t capacity = log->capacity ? 2 * log->capacity : 64;
    ascir_gm_access *entry = capacity > MAX_GM_LOG ? NULL : realloc(log->entry, (size_t)capacity * sizeof *entry);
    if (!entry) {
      log->lost++;
      return;
    }
    log->entry = entry;
    log->capacity = capacity;
  }
  log->entry[log->count++] = *access;
}

void ascir_log_gm(ascir_core *core, const ascir_instr *instr, int32_t pipe, const ascir_access *access) {
  if (core->block_num == 1 || !core->args[access->owner].writable) return;
  ascir_gm_log *log = &core->gm_log;
  const ascir_gm_access next = {
      {access->bytes, 0, instr->line, (int16_t)instr->opcode, access->owner, (int16_t)pipe}, (int32_t)core->block_idx, access->writes};
  for (int64_t k = log->count - 1; k >= 0 && k >= log->count - 4; k--)
    if (log->entry[k].block == next.block && extends(&log->entry[k], &next)) {
      log->entry[k].past.bytes.hi = next.past.bytes.hi;
      log->entry[k].past.bytes.width += next.past.bytes.width;
      return;
    }
  append(log, &next);
}

// ---- all blocks ---------------------------------------------------------------------------------------------------------------------------

// Solid bytes, and the access that touches them.
typedef struct {
  int64_t lo, hi;
  const ascir_gm_access *access;
} interval;

static int by_start(const void *a, const void *b) {
  const interval *x = a, *y = b;
  if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
  if (x->access->block != y->access->block) return x->access->block < y->access->block ? -1 : 1;
  return (x->access->past.line > y->access->past.line) - (x->access->past.line < y->access->past.line);
}

// Of the intervals so far the one that reaches farthest, and the farthest one of another block.
typedef struct {
  const interval *first, *second;
} reach;

static void advance(reach *r, const interval *i) {
  if (r->first && r->first->access->block == i->access->block) {
    if (i->hi > r->first->hi) r->first = i;
  } else if (!r->first || i->hi > r->first->hi) {
    r->second = r->first;
    r->first = i;
  } else if (!r->second || i->hi > r->second->hi) {
    r->second = i;
  }
}

static const interval *meets(const reach *r, const interval *i) {
  const interval *other = r->first && r->first->access->block == i->access->block ? r->second : r->first;
  return other && other->hi > i->lo ? other : NULL;
}

typedef void found(void *context, const interval *later, const interval *earlier);

// Calls `each` for intervals that share bytes with one of another block, where one of the two is written.
static void sweep(interval *all, int64_t count, found *each, void *context) {
  reach written = {NULL, NULL}, read = {NULL, NULL};
  qsort(all, (size_t)count, sizeof *all, by_start);
  for (int64_t k = 0; k < count; k++) {
    const interval *i = &all[k], *other = meets(&written, i);
    if (!other && i->access->writes) other = meets(&read, i);
    if (other) each(context, i, other);
    advance(i->access->writes ? &written : &read, i);
  }
}

static void note(void *context, const interval *later, const interval *earlier) {
  (void)later, (void)earlier;
  *(bool *)context = true;
}

static void report(void *context, const interval *later, const interval *earlier) {
  const ascir_gm_access *access = later->access, *other = earlier->access;
  ascir_core *core = context;
  if (!access->writes) access = earlier->access, other = later->access;
  core->block_idx = access->block;
  ascir_fault fault = ascir_fault_of(core, FAULT_CORES_OVERLAP, NULL, access->past.pipe);
  const ascir_access shared = {.bytes = {.lo = later->lo, .hi = later->hi < earlier->hi ? later->hi : earlier->hi},
                               .space = SPACE_GM, .owner = access->past.owner, .slot = ASCIR_DST, .writes = access->writes};
  ascir_fault_place(core, &fault, &shared);
  fault.opcode = access->past.opcode;
  fault.line = access->past.line;
  ascir_fault_other(&fault, &other->past, other->writes);
  fault.other_block = other->block;
  ascir_report(core, &fault);
}

static int64_t pieces(const ascir_footprint *f) { return f->rows * f->chunks; }

static interval *split(interval *out, const ascir_gm_access *access) {
  const ascir_footprint *f = &access->past.bytes;
  for (int64_t row = 0; row < f->rows; row++)
    for (int64_t chunk = 0; chunk < f->chunks; chunk++) {
      int64_t lo = f->lo + row * f->pitch + chunk * f->step;
      *out++ = (interval){lo, lo + f->width, access};
    }
  return out;
}

// The bounds of the accesses alone mostly tell that there is nothing to find.
static bool bounds_meet(interval *all, const ascir_gm_log *log) {
  bool met = false;
  for (int64_t k = 0; k < log->count; k++)
    all[k] = (interval){log->entry[k].past.bytes.lo, log->entry[k].past.bytes.hi, &log->entry[k]};
  sweep(all, log->count, note, &met);
  return met;
}

// `core` is any core of the launch: the faults are left in it.
void ascir_compare_blocks(ascir_core *core, const ascir_gm_log *log) {
  int64_t total = 0;
  for (int64_t k = 0; k < log->count; k++) total += pieces(&log->entry[k].past.bytes);
  if (total > MAX_GM_PIECES) return;
  interval *all = malloc((size_t)(total + 1) * sizeof *all), *end = all;
  if (!all) return;
  if (bounds_meet(all, log)) {
    for (int64_t k = 0; k < log->count; k++) end = split(end, &log->entry[k]);
    sweep(all, end - all, report, core);
  }
  free(all);
}

void ascir_join_logs(ascir_gm_log *all, const ascir_gm_log *log) {
  for (int64_t k = 0; k < log->count; k++) append(all, &log->entry[k]);
  all->lost += log->lost;
}
