/* harness
 * property: each message that was pushed can be reached from the tail
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "pony_queue.h"
