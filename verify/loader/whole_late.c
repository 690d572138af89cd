/* harness
 * property: a late worker, which may resume at any time, and its replacement deliver each batch once
 * engines: explore native tsan
 * threads: 3
 * bound: 1 worker and 1 replacement, one batch
 * executions: 300
 * cover: replaced early
 * timeout: 120
 */
#define THREADS 2
#define LATER 1
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static uint64_t delivered;

static void setup(void)
{
    make_loader(1);
    loader.config.worker_timeout = 0; /* time stands still */
    delivered = 0;
    /* The worker has planned the batch and is late. */
    atomic_init(&plans[0].word[0], 1);
    atomic_init(&plans[0].word[1], 1);
    atomic_init(&worker[0].batch, 1);
    worker[0].job = (struct lade_job){.batch = 0};
    worker[0].redo = true;
}

static void thread(int id)
{
    static struct lade_batch batch;
    static struct lade_error error;

    if (id < WORKERS) {
        work_in_epochs(&worker[id]);
        return;
    }
    assert(lade_loader_supervise(&loader, &error) == LADE_OK);
    loader.config.worker_timeout = LADE_FOREVER;
    if (take_next(0, 0, &batch) == LADE_OK) {
        lade_loader_release(&loader, &batch);
        delivered = 1;
        if (loader.replaced)
            cover(early);
    }
}

static void finish(void)
{
    if (loader.replaced) {
        pthread_join(worker[1].thread, NULL);
        cover(replaced);
    }
    take_rest(delivered);
}
