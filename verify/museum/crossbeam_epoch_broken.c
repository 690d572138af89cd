/* harness
 * property: an object is freed when no thread can hold a reference to it
 * engines: explore
 * threads: 3
 * bound: one round
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define BROKEN
#include "crossbeam_epoch.h"
