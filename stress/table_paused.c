/* SPDX-License-Identifier: MIT */
/* stress/table.c on the sources compiled with small arrays and random pauses at their steps. */
#define WITH_PAUSES
#include "tables.h"

#include "table.c"
