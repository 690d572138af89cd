/* harness
 * property: the lock admits one thread at a time
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "sel4_clh.h"
