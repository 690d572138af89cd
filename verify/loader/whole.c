/* harness
 * property: the loader's workers and its consumer deliver each batch once, in order and complete; no buffer or plan record is lost
 * engines: explore native tsan
 * threads: 3
 * bound: 2 workers, two batches; the consumer takes the first, or both in the end
 * executions: 11844
 * cover: early
 * timeout: 240
 */
#define THREADS 3
#define SPARE 2
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static uint64_t delivered;

static void setup(void)
{
    make_loader(2);
    delivered = 0;
}

static void thread(int id)
{
    static struct lade_batch batch;

    if (id < WORKERS) {
        work_in_epochs(&worker[id]);
        return;
    }
    if (take_next(0, 0, &batch) == LADE_OK) {
        lade_loader_release(&loader, &batch);
        delivered = 1;
        cover(early);
    }
}

static void finish(void)
{
    take_rest(delivered);
}
