/* harness
 * property: a thread that has locked the mutex sees what the one before it wrote
 * engines: explore
 * threads: 2
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "photon_mutex.h"
