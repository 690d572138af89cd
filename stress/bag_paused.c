/* SPDX-License-Identifier: MIT */
/* stress/bag.c once more, on the sources with small groups and with random pauses at their steps. */
#define WITH_PAUSES
#include "bags.h"

#include "bag.c"
