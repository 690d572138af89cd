/* harness
 * property: without a fence FULL and EMPTY of the spsc ring are those of a bounded queue (what ring.h does not promise)
 * engines: explore
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops
 * expect: FAIL linearizability
 */
/* SPDX-License-Identifier: MIT */
#define AFTER_CALL() ((void)0)
#include "spsc_lin.c"
