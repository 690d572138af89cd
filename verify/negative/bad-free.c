/* harness
 * property: what is freed is the start of an allocation (it is the middle)
 * engines: explore
 * threads: 1
 * bound: one array
 * expect: FAIL bad-free
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#include "harness.h"

static int *object;

static void setup(void)
{
    object = malloc(2 * sizeof *object);
}

static void thread(int id)
{
    object[0] = id;
    free(object + 1);
}

static void finish(void) {}
