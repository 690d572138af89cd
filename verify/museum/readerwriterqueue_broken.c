/* harness
 * property: a thread that follows the chain of blocks finds each block linked
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "readerwriterqueue.h"
