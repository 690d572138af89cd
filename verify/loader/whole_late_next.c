/* harness
 * property: a worker that timed out but has proceeded to another batch delivers that batch, which no other worker would
 * engines: explore native tsan
 * threads: 3
 * bound: 1 worker and 1 replacement, two batches
 * executions: 127
 * executions explore: 100
 * cover: replaced both
 */
#define THREADS 2
#define LATER 1
#define SPARE 1
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static void setup(void)
{
    make_loader(2);
    loader.config.worker_timeout = 0; /* time stands still */
    /* The worker has planned the batch and is late. */
    atomic_init(&plans[0].word[0], 1);
    atomic_init(&plans[0].word[1], 1);
    atomic_init(&worker[0].batch, 1);
    worker[0].job = (struct lade_job){.batch = 0};
    worker[0].redo = true;
}

static void thread(int id)
{
    static struct lade_error error;

    if (id < WORKERS)
        work_in_epochs(&worker[id]);
    else
        assert(lade_loader_supervise(&loader, &error) == LADE_OK);
}

static void finish(void)
{
    if (loader.replaced) {
        pthread_join(worker[1].thread, NULL);
        cover(replaced);
        if (!worker[0].has_buffer && worker[0].job.batch == 1)
            cover(both);
    }
    take_rest(0);
}
