/* harness
 * property: every outcome of two pushes and two pops on the mpmc ring is an outcome of a bounded queue, including FULL and EMPTY
 * engines: genmc/rc11
 * threads: 4
 * bound: capacity 1, one operation each
 * executions: 20
 * timeout: 120
 * lin-spec: mpmc_linear.c
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 4
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define LINEAR_MPMC
#include "harness.h"

#include "linear.h"

static void setup(void)
{
    OPERATION("make", 0, 0, make());
}

static void thread(int id)
{
    if (id < 2)
        do_push(id, id + 1);
    else
        do_pop(id);
}

static void finish(void)
{
    OPERATION("unmake", 0, 0, unmake());
}
