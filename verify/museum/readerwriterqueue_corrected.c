/* harness
 * property: a thread that follows the chain of blocks finds each block linked
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "readerwriterqueue.h"
