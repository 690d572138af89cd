/* harness
 * property: an object is not accessed after it was freed (it is)
 * engines: native tsan cbmc genmc/rc11 explore
 * threads: 1
 * bound: one object
 * expect: FAIL use-after-free
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
    assert(*object == 0);
}
