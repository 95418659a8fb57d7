// The generated tables, compiled once.
#define ASCIR_TABLES
#include "core.h"
