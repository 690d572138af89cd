/* harness
 * property: the last owner may modify the object without a lock
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "rust_arc.h"
