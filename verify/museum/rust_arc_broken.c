/* harness
 * property: the last owner may modify the object without a lock
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "rust_arc.h"
