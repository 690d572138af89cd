/* harness
 * property: push reuses a slot after pop has read it
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "iceoryx2_queue.h"
