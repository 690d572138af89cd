/* harness
 * property: every outcome of a producer and a consumer on the spsc ring is an outcome of a bounded queue, including FULL and EMPTY
 * engines: genmc/rc11
 * threads: 2
 * bound: capacity 1, 3 pushes, 3 pops
 * executions: 10
 * lin-spec: spsc_linear.c
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define CAPACITY 1
#include "harness.h"

#include "linear.h"

static void setup(void)
{
    OPERATION("make", 0, 0, make());
}

static void thread(int id)
{
    for (int i = 1; i <= 3; i++) {
        if (id == 0)
            do_push(id, i);
        else
            do_pop(id);
    }
}

static void finish(void)
{
    OPERATION("unmake", 0, 0, unmake());
}
