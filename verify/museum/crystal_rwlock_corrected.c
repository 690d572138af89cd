/* harness
 * property: a reader sees what the writer before it wrote
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "crystal_rwlock.h"
