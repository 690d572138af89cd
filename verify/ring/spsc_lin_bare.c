/* harness
 * property: without a fence, the spsc ring is linearizable to a bounded queue, including FULL and EMPTY (ring.h does not promise this)
 * engines: explore
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops
 * expect: FAIL linearizability
 */
/* SPDX-License-Identifier: MIT */
#define AFTER_CALL() ((void)0)
#include "spsc_lin.c"
