/* SPDX-License-Identifier: MIT */
/* stress/bag.c on the sources compiled with small groups and random pauses at their steps. */
#define WITH_PAUSES
#include "bags.h"

#include "bag.c"
