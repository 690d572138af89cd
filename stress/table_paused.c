/* SPDX-License-Identifier: MIT */
/* stress/table.c once more, on the sources with small arrays and with random pauses at their steps. */
#define WITH_PAUSES
#include "tables.h"

#include "table.c"
