/* harness
 * property: in stream mode over numbers, workers make the batches that the consumer plans, each from its own list, and end
 * engines: explore
 * threads: 2
 * bound: 1 worker, 2 buffers, 1 list, two batches: the second is planned after the first was taken
 * executions: 40000
 * cover: slept worker_slept
 * timeout: 240
 */
#define THREADS 2
#define SPARE 1
#define SHUFFLE
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

/* Draws the first of the held samples, so that samples keep their order. */
void lade_random_init(struct lade_random *random, struct lade_key key, uint64_t id)
{
    (void)random, (void)key, (void)id;
}

void lade_random_refill(struct lade_random *random)
{
    random->word[0] = 0;
    random->next = 0;
}

NEVER(struct lade_key, lade_key_make, (uint64_t seed, uint64_t epoch, uint64_t purpose))
NEVER(void, lade_walk_free, (struct lade_walk * walk, const struct lade_alloc *alloc))
NEVER(bool, lade_source_is_flat, (const struct lade_source *source))
NEVER(void, lade_split_get_config_sized,
      (const struct lade_split *split, struct lade_split_config *config, size_t size))

#include "loader_shuffle.c"

#define LISTS 1
static struct lade_shuffle shuffle;
static struct numbered buffer[2];
static uint64_t fresh[1], spare[LISTS];
static _Atomic uint64_t lists_of[PLACES], listed_id[LISTS], listed_epoch[LISTS];
static struct list lists[LISTS];

static void setup(void)
{
    make_loader(2);
    loader.config.buffer = 2;
    loader.shuffle = &shuffle;
    shuffle =
        (struct lade_shuffle){.buffer = buffer, .fresh = fresh, .spare = spare, .list_of = lists_of, .list = lists};
    shuffle.random.next = LADE_RANDOM_BUFFER;
    for (int i = 0; i < PLACES; i++)
        atomic_init(&lists_of[i], 0);
    for (unsigned i = 0; i < LISTS; i++) {
        atomic_init(&listed_id[i], 77);
        atomic_init(&listed_epoch[i], 77);
        atomic_init(&lists[i].count, 1);
        lists[i].id = &listed_id[i];
        lists[i].epoch = &listed_epoch[i];
        spare[shuffle.spares++] = i;
    }
    lade_shuffle_plan(&loader);
}

static void thread(int id)
{
    static struct lade_batch batch;

    if (id < WORKERS) {
        work_in_epochs(&worker[id]);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(worker_slept);
        return;
    }
    for (uint64_t k = 0; k < 2; k++) {
        assert(take_next(k, LADE_FOREVER, &batch) == LADE_OK);
        lade_loader_release(&loader, &batch);
    }
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    take_rest(2);
}
