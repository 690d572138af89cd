/* harness
 * property: a reader sees what the writer before it wrote
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "crystal_rwlock.h"
