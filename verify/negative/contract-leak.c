/* harness
 * property: memory is freed when a second allocation fails (it is not)
 * engines: cbmc
 * threads: 1
 * bound: two allocations, each may fail
 * expect: FAIL leak
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

static void setup(void) {}

static void thread(int id)
{
    (void)id;
    int *a = malloc(sizeof *a);
    if (!a)
        return;
    int *b = malloc(sizeof *b);
    if (!b)
        return;
    free(b);
    free(a);
}

static void finish(void) {}
