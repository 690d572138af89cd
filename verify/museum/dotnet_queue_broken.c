/* harness
 * property: an enumeration reads an item after it was written
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "dotnet_queue.h"
