/* SPDX-License-Identifier: MIT */
/* harness
 * property: the last worker closes the bag and wakes the consumer, which takes what is left
 * engines: explore genmc/rc11
 * threads: 2
 * bound: 1 worker, one sample, batches of one from a buffer of four, which it does not fill half
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
    assert(put(&worker[0]));
}

static void thread(int id)
{
    static struct lade_batch batch;
    static struct lade_error error;

    if (id < WORKERS) {
        leave_stream(&worker[0]);
        return;
    }
    assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_OK && batch.count == 1);
    lade_batch_ring_give(&loader.ring, 0);
    assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_CLOSED);
    if (atomic_load_explicit(&futex_woken[WORKERS], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(atomic_load(&inside) == 0);
}
