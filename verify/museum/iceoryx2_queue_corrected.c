/* harness
 * property: push reuses a slot after pop has read it
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "iceoryx2_queue.h"
