// Bank conflicts in UB. Blocks of 32 B are dealt out to the bank groups in turn, and a group's banks hold one stretch of UB each. In one
// cycle a group serves one block to read and one to write, and a bank only one of the two (hw §3). So a repeat whose blocks crowd into one
// group takes as many cycles as there are blocks in it, however fast the arithmetic is.
//
// Assumed, for nobody says: a repeat's write meets the reads of the same repeat, except that of an operand which it replaces in place;
// and two operands at the same address are read once.
#include "core.h"

enum { MAX_PORTS = 3, MAX_GROUPS = 64, MAX_BANKS = 256, MAX_SAMPLES = 16 };

// One operand, seen by the banks: the blocks of its first repeat, and how far the next repeat lies.
typedef struct {
  int64_t first, blocks, pitch;
  bool writes, replaced;  // replaced: what a source read is overwritten in place
} port;

static bool same_place(const port *a, const port *b) { return a->first == b->first && a->blocks == b->blocks && a->pitch == b->pitch; }

static port port_of(const ascir_access *access, const ascir_tile *tile, int64_t lanes, bool row_a_repeat) {
  int64_t size = ascir_element_bytes[tile->dtype], bytes = tile->col_stride ? lanes * size : ASCIR_BLOCK_BYTES;
  int64_t step = tile->col_stride ? bytes : 0;
  return (port){access->bytes.lo, ascir_ceil_of(bytes, ASCIR_BLOCK_BYTES), row_a_repeat ? tile->row_stride * size : step, access->writes, false};
}

static int32_t ports_of(const ascir_instr *instr, const ascir_operands *operands, int64_t lanes, bool row_a_repeat, port ports[MAX_PORTS]) {
  int32_t n = 0;
  for (int32_t k = 0; k < operands->count; k++) {
    const ascir_access *access = &operands->access[k];
    if (access->empty || access->space != SPACE_UB || access->slot == ASCIR_MASK || access->slot == ASCIR_WORK) continue;
    port p = port_of(access, &instr->tile[access->slot], lanes, row_a_repeat);
    bool again = false;
    for (int32_t q = 0; q < n; q++) {
      if (!same_place(&p, &ports[q])) continue;
      again |= p.writes == ports[q].writes;
      p.replaced = ports[q].replaced = p.writes != ports[q].writes;
    }
    if (!again) ports[n++] = p;
  }
  return n;
}

static int32_t cycles_of_repeat(const ascir_target *target, const port *ports, int32_t n, int64_t repeat) {
  uint8_t used[2][MAX_GROUPS] = {{0}}, bank[MAX_BANKS] = {0};
  int64_t stretch = target->ub_bytes / target->group_banks;
  int32_t most = 1;
  for (int32_t k = 0; k < n; k++)
    for (int64_t block = 0; block < ports[k].blocks; block++) {
      int64_t at = ports[k].first + repeat * ports[k].pitch + block * ASCIR_BLOCK_BYTES;
      int64_t group = at / ASCIR_BLOCK_BYTES % target->bank_groups;
      int32_t here = ++used[ports[k].writes][group % MAX_GROUPS];
      bool counts = !(ports[k].replaced && !ports[k].writes);
      int32_t there = counts ? ++bank[(at / stretch * target->bank_groups + group) % MAX_BANKS] : 0;
      most = here > most ? here : most;
      most = there > most ? there : most;
    }
  return most;
}

// Whether all repeats look like the first.
static bool in_step(const ascir_target *target, const port *ports, int32_t n) {
  for (int32_t k = 1; k < n; k++)
    if ((ports[k].pitch - ports[0].pitch) % (target->bank_groups * ASCIR_BLOCK_BYTES)) return false;
  return true;
}

double ascir_bank_cycles(const ascir_core *core, const ascir_instr *instr, const ascir_operands *operands, int64_t lanes, int64_t repeats,
                         bool row_a_repeat) {
  port ports[MAX_PORTS];
  int32_t n = ports_of(instr, operands, lanes, row_a_repeat, ports), sum = 0;
  int64_t samples = in_step(core->target, ports, n) ? 1 : repeats < MAX_SAMPLES ? repeats : MAX_SAMPLES;
  for (int64_t repeat = 0; repeat < samples; repeat++) sum += cycles_of_repeat(core->target, ports, n, repeat);
  return samples ? (double)sum / (double)samples : 1.0;
}
