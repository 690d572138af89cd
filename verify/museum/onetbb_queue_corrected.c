/* harness
 * property: a pop does not find the queue empty while an item is in it
 * engines: explore
 * threads: 3
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "onetbb_queue.h"
