/* harness
 * property: a consumer never computes more entries than the ring holds
 * engines: explore
 * threads: 3
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "dpdk_ring.h"
