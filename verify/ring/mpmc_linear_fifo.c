/* harness
 * property: words leave the mpmc ring in an order in which they may have entered it
 * engines: genmc/rc11
 * threads: 3
 * bound: capacity 2, two pushes by one thread, one by another, two pops
 * executions: 20
 * timeout: 120
 * lin-spec: mpmc_linear_fifo.c
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#define CAPACITY 2
#define LINEAR_MPMC
#include "harness.h"

#include "linear.h"

static void setup(void)
{
    OPERATION("make", 0, 0, make());
}

static void thread(int id)
{
    if (id == 0) {
        do_push(id, 1);
        do_push(id, 2);
    } else if (id == 1) {
        do_push(id, 3);
    } else {
        do_pop(id);
        do_pop(id);
    }
}

static void finish(void)
{
    OPERATION("unmake", 0, 0, unmake());
}
