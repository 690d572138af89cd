/* harness
 * property: a thread that stops forever at any step of a push or a pop blocks no other thread
 * engines: explore
 * threads: 3
 * bound: capacity 1; a push, a pop, a push and a pop; each thread stopped after each of its steps
 * flags explore: --stop-threads
 * executions: 20
 * cover: full empty
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "mpmc.h"

static void setup(void)
{
    make(1);
}

static void push(int id)
{
    int status = lade_mpmc_push(handle[id], (uint64_t)(10 + id));

    assert(status == LADE_OK || status == LADE_FULL);
    if (status == LADE_FULL)
        cover(full);
}

static void pop(int id)
{
    uint64_t word = 0;
    int status = lade_mpmc_pop(handle[id], &word);

    assert(status == LADE_EMPTY || (word >= 10 && word < 10 + THREADS));
    if (status == LADE_EMPTY)
        cover(empty);
}

static void thread(int id)
{
    if (id != 1)
        push(id);
    if (id != 0)
        pop(id);
}

static void finish(void)
{
    lade_mpmc_destroy(ring);
}
