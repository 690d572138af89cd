/* harness
 * property: a pop does not find the queue empty while an item is in it
 * engines: explore
 * threads: 3
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "onetbb_queue.h"
