/* harness
 * property: a reader that accepts its copy has read one version of the entry
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "cpython_seqlock.h"
