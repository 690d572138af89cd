/* harness
 * property: two plain writes to one word are ordered (they are not)
 * engines: tsan genmc explore
 * threads: 2
 * bound: two writes
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static int word;

static void setup(void)
{
    word = 0;
}

static void thread(int id)
{
    word = id;
}

static void finish(void) {}
