/* harness
 * property: an object is freed once (it is freed twice)
 * engines: native cbmc explore
 * threads: 1
 * bound: one object
 * expect: FAIL double-free
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

static int *volatile object;

static void setup(void)
{
    object = malloc(sizeof *object);
    assume(object != NULL);
}

static void thread(int id)
{
    *object = id;
    free(object);
}

static void finish(void)
{
    free(object);
}
