// Every instruction on integers and bools.
#include "loops.h"

#include "loops_integer.inc"
