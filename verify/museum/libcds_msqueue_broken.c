/* harness
 * property: a dequeuer reads a node only after the enqueuer has written it
 * engines: explore
 * threads: 3
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "libcds_msqueue.h"
