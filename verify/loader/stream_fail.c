/* SPDX-License-Identifier: MIT */
/* harness
 * property: a worker that fails wakes the consumer, which returns the error
 * engines: explore
 * threads: 2
 * bound: 1 worker, a batch of one
 * executions: 2
 * cover: slept
 * timeout: 120
 */
#define THREADS 2
#define BATCH 1
#define BUFFER 4
#include "harness.h"

#include "event/futex.h"

#include "stream.h"

static void setup(void)
{
    make_loader();
}

static void thread(int id)
{
    static struct lade_batch batch;
    static struct lade_error error;

    if (id < WORKERS) {
        assert(!fail(&worker[0], LADE_IO));
        return;
    }
    assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_IO);
    if (atomic_load_explicit(&futex_woken[WORKERS], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(atomic_load(&inside) == 0);
}
