/* SPDX-License-Identifier: MIT */
/* harness
 * property: a worker that finds the bag full is woken by draws of a consumer that does not wait
 * engines: explore genmc/rc11
 * threads: 2
 * bound: 1 worker, a full bag of four and one sample more, a batch of one
 * executions: 2
 * cover: worker_slept
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
    for (int i = 0; i < CAPACITY; i++)
        assert(put(&worker[0]));
}

static void thread(int id)
{
    static struct lade_batch batch;
    static struct lade_error error;

    if (id < WORKERS) {
        assert(put(&worker[0]));
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(worker_slept);
        return;
    }
    assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_OK && batch.count == 1);
}

static void finish(void)
{
    assert(atomic_load(&inside) == CAPACITY);
}
