/* harness
 * property: the lock admits one thread at a time
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "sel4_clh.h"
