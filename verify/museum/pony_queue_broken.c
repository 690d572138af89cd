/* harness
 * property: each message that was pushed can be reached from the tail
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "pony_queue.h"
