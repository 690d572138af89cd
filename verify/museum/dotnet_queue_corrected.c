/* harness
 * property: an enumeration reads an item after it was written
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "dotnet_queue.h"
