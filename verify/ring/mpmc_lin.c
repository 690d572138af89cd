/* harness
 * property: pushes and pops of the mpmc ring are linearizable to a bounded queue, including FULL and EMPTY
 * engines: explore
 * threads: 3
 * bound: capacity 1; two pushes, two pops, a push and a pop
 * executions: 20
 * cover: full empty
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#define CAPACITY 1
#include "harness.h"

#include "lin.h"
#include "mpmc.h"

static bool push(int id, uint64_t word)
{
    return lade_mpmc_push(handle[id], word) == LADE_OK;
}

static uint64_t pop(int id)
{
    uint64_t word = 0;

    return lade_mpmc_pop(handle[id], &word) == LADE_OK ? word : 0;
}

static void setup(void)
{
    lin_setup();
    make(CAPACITY);
}

static void do_push(int id, uint64_t word)
{
    if (!lin_push(id, word))
        cover(full);
}

static void do_pop(int id)
{
    if (!lin_pop(id))
        cover(empty);
}

static void thread(int id)
{
    if (id == 0) {
        do_push(id, 1);
        do_push(id, 2);
    } else if (id == 1) {
        do_pop(id);
        do_pop(id);
    } else {
        do_push(id, 3);
        do_pop(id);
    }
}

static void finish(void)
{
    lade_mpmc_destroy(ring);
}
