// UB, seen through one window of addresses per buffer. All windows map the same bytes, so buffers that the plan put on top of each
// other do share memory; but an address tells which buffer it was meant for, so an overrun into the neighbour is seen even though
// the neighbour's bytes exist. Around UB each window has a guard zone, and beyond that nothing that can be touched.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_CHECKED = 256, GUARD_BYTE = 0xA5 };

static int anonymous_file(void) {
#ifdef __linux__
  return memfd_create("ascir-ub", MFD_CLOEXEC);
#else
  char path[] = "/tmp/ascir-ub-XXXXXX";
  int file = mkstemp(path);
  if (file >= 0) unlink(path);
  return file;
#endif
}

// The bytes of one window: guard, UB rounded up to whole pages, guard.
static int64_t span(const ascir_ub *ub) { return ascir_ceil_of(ub->bytes, ub->guard) * ub->guard + 2 * ub->guard; }

bool ascir_ub_open(ascir_ub *ub, int64_t bytes) {
  *ub = (ascir_ub){.bytes = bytes, .guard = sysconf(_SC_PAGESIZE), .window = 1, .file = anonymous_file()};
  while (ub->window < span(ub)) ub->window *= 2;
  if (ub->file < 0 || ftruncate(ub->file, span(ub)) != 0) return false;
  void *base = mmap(NULL, ub->window * MAX_BUFFERS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return false;
  ub->base = base;
#ifdef MADV_DONTFORK
  madvise(base, ub->window * MAX_BUFFERS, MADV_DONTFORK);  // a forked child must not share its parent's UB
#endif
  uint8_t *first = ascir_ub_window(ub, 0);
  if (!first) return false;
  memset(first - GUARD_CHECKED, GUARD_BYTE, GUARD_CHECKED);
  memset(first + bytes, GUARD_BYTE, GUARD_CHECKED);
  return true;
}

void ascir_ub_close(ascir_ub *ub) {
  if (ub->base) munmap(ub->base, ub->window * MAX_BUFFERS);
  if (ub->file >= 0) close(ub->file);
}

// Where UB starts in a window; NULL if the host has no memory left.
uint8_t *ascir_ub_window(ascir_ub *ub, int32_t number) {
  uint8_t *start = ub->base + number * ub->window;
  for (; ub->windows <= number; ub->windows++) {
    uint8_t *at = ub->base + ub->windows * ub->window;
    if (mmap(at, span(ub), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ub->file, 0) == MAP_FAILED) return NULL;
#ifdef MADV_DONTFORK
    madvise(at, span(ub), MADV_DONTFORK);
#endif
  }
  return start + ub->guard;
}

static bool intact(uint8_t *zone) {
  for (int i = 0; i < GUARD_CHECKED; i++)
    if (zone[i] != GUARD_BYTE) {
      memset(zone, GUARD_BYTE, GUARD_CHECKED);
      return false;
    }
  return true;
}

// Whether nobody wrote just outside UB past the door (hand-written C may); repairs the zones.
bool ascir_ub_guards_intact(ascir_ub *ub) {
  uint8_t *first = ub->base + ub->guard;
  bool before = intact(first - GUARD_CHECKED), after = intact(first + ub->bytes);
  return before && after;
}
