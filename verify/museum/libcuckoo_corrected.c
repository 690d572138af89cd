/* harness
 * property: a look-up that sees no resize uses the size of the table
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "libcuckoo.h"
