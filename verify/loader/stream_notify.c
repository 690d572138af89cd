/* harness
 * property: when two workers put a sample each, one of them wakes the consumer, which needs both
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 2 workers, one sample each, a batch of one from a buffer of four, which must be half full
 * executions: 5000
 * cover: slept
 * timeout: 240
 */
#define THREADS 3
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
        assert(put(&worker[id]));
        return;
    }
    assert(lade_stream_next(&loader, &batch, LADE_FOREVER, &error) == LADE_OK && batch.count == 1);
    if (atomic_load_explicit(&futex_woken[WORKERS], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(atomic_load(&inside) == 1);
}
