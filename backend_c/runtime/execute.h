// Shared by execute.c and cast.c: rows are processed in chunks that fit in the host's first-level cache.
#ifndef ASCIR_EXECUTE_H
#define ASCIR_EXECUTE_H

#include "core.h"

enum { ASCIR_CHUNK = 512 };  // elements; a multiple of the lanes of a block and of the bits of a mask byte

void ascir_widen(float *out, const void *in, int32_t dtype, int64_t n);
void ascir_narrow(void *out, int32_t dtype, const float *in, int64_t n);
void ascir_convert(void *out, int32_t to, const void *in, int32_t from, int32_t mode, int64_t n);

#endif
