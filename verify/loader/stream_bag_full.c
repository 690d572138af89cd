/* harness
 * property: a worker that finds the bag full is woken when the consumer waits for samples, and then wakes it
 * engines: explore genmc/rc11
 * threads: 2
 * bound: 1 worker, a full bag and one sample more, two batches of one; too few draws to wake the worker for them
 * executions: 50
 * cover: slept worker_slept
 * timeout: 240
 */
#define THREADS 2
#define BATCH 1
#define BUFFER 8
#define CAPACITY 4
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
    for (int k = 0; k < 2; k++) {
        assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_OK && batch.count == 1);
        lade_batch_ring_give(&loader.ring, 0);
    }
    if (atomic_load_explicit(&futex_woken[WORKERS], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(atomic_load(&inside) == CAPACITY - 1);
}
