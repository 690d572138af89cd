/* harness
 * property: a dequeuer reads a node only after the enqueuer has written it
 * engines: explore
 * threads: 3
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "libcds_msqueue.h"
