// Every instruction on float.
#include "loops.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Winclude-next-absolute-path"  // math.h passes requests for <math.h> on, wherever it was found
#endif
#include "math.h"

#include "loops_float.inc"
