/* harness
 * property: a thread that stops forever at any step of an operation, or of growth, blocks no other thread
 * engines: explore
 * threads: 2
 * bound: 1 to 2 cells; a replace and a remove, each of which moves the table
 * flags explore: --stop-threads
 * executions: 122
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
    grow(2);
}

static void work(int id)
{
    if (id == 0) {
        (void)replace_(0, 1, 6);
    } else {
        (void)remove_(1, 1);
    }
}

static void finish(void)
{
    unmake();
}
