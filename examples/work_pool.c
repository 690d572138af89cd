/* SPDX-License-Identifier: MIT */
/* Work pool: threads draw jobs, and jobs make further jobs. The thread that completes the last one closes the pool. */
#include <lade/bag.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define WORKERS 4
#define LARGEST 4096

static struct lade_bag *pool;
static _Atomic int64_t unfinished = 1; /* jobs in the pool or at work */
static _Atomic uint64_t sum;

/* A job is a number of items: one item is counted, more are cut into two jobs. */
static void work(struct lade_bag_handle *h, uint64_t items)
{
    if (items > 1) {
        uint64_t half[2] = {items / 2, items - items / 2};
        atomic_fetch_add(&unfinished, 2); /* before they can be drawn, so that the count is not zero too early */
        for (int i = 0; i < 2; i++)
            if (lade_bag_put_word(h, half[i]) != LADE_OK)
                work(h, half[i]); /* no slot is free: it is done here */
    } else {
        atomic_fetch_add(&sum, 1);
    }
    if (atomic_fetch_sub(&unfinished, 1) == 1)
        lade_bag_close(pool);
}

static void *worker(void *unused)
{
    struct lade_bag_handle *h;
    uint64_t items;

    if (lade_bag_join(pool, &h) == LADE_OK) {
        while (lade_bag_draw_wait(h, &items, LADE_FOREVER) == LADE_OK)
            work(h, items);
        lade_bag_leave(h);
    }
    return unused;
}

int main(void)
{
    struct lade_bag_config config = {.capacity = 256, .handles = WORKERS + 1};
    struct lade_bag_handle *h;
    pthread_t thread[WORKERS];
    const uint64_t first = LARGEST;

    if (lade_bag_create(&pool, &config) != LADE_OK || lade_bag_join(pool, &h) != LADE_OK ||
        lade_bag_put_word(h, first) != LADE_OK)
        return 1;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&thread[i], NULL, worker, NULL) != 0)
            return 1;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    lade_bag_destroy(pool);
    printf("%d items were counted\n", (int)sum);
    return sum != LARGEST;
}
