/* harness
 * property: the waiter destroys the mutex after the signaller has left it
 * engines: explore
 * threads: 2
 * bound: one round
 * expect: FAIL use-after-free
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "openmpi_wait.h"
