/* harness
 * property: a look-up that sees no resize uses the size of the table
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "libcuckoo.h"
