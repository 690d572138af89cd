/* harness
 * property: while the table grows, no thread reads a value older than one that it has read or that happens before the read
 * threads: 3
 * bound: 1 to 2 cells; growth and moves, one replace, a reader that reads twice
 * executions: 4352
 * cover: observed not_observed
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static atomic_int done;

static void setup(void)
{
    atomic_init(&done, 0);
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        grow(2);
        complete();
    } else if (id == 1) {
        assert(replace_(1, 1, 6) == 5);
        atomic_store_explicit(&done, 1, memory_order_release);
    } else {
        int observed = atomic_load_explicit(&done, memory_order_acquire);
        uint64_t first = get_(2, 1);
        uint64_t second = get_(2, 1);
        if (observed)
            cover(observed);
        else
            cover(not_observed);
        assert(first == 6 || (first == 5 && !observed));
        assert(second == 6 || (second == 5 && first == 5));
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 6 && cells_of(1) == 1);
    unmake();
}
