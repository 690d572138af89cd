/* harness
 * property: a thread that has locked the mutex sees what the one before it wrote
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "crystal_mutex.h"
