/* harness
 * property: an object is freed when no thread can hold a reference to it
 * engines: explore
 * threads: 3
 * bound: one round
 */
/* SPDX-License-Identifier: MIT */
#include "crossbeam_epoch.h"
