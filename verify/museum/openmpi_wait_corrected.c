/* harness
 * property: the waiter destroys the mutex after the signaller has left it
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "openmpi_wait.h"
