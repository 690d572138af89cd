/* harness
 * property: a consumer never computes more entries than the ring holds
 * engines: explore
 * threads: 3
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "dpdk_ring.h"
