/* harness
 * property: a reader that accepts its copy has read one version of the entry
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "cpython_seqlock.h"
