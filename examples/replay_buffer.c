/* SPDX-License-Identifier: MIT */
/* Replay buffer: an actor puts transitions, the oldest of which give way; learners sample them, which stay in place in the meantime. */
#include <lade/bag.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY 64
#define STEPS 10000
#define LEARNERS 2
#define SAMPLES 5000 /* of each learner */

struct transition {
    uint64_t step, twice; /* twice is 2 * step: a torn copy would show */
};

static struct lade_bag *replay;
static _Atomic int torn, sampled;

static void *act(void *unused)
{
    struct lade_bag_handle *h;

    if (lade_bag_join(replay, &h) == LADE_OK) {
        for (uint64_t step = 1; step <= STEPS; step++) {
            struct transition t = {step, 2 * step};
            if (lade_bag_put(h, &t) != LADE_OK) /* never full: it replaces the oldest */
                abort();
        }
        lade_bag_leave(h);
    }
    return unused;
}

static void *learn(void *unused)
{
    struct lade_bag_handle *h;
    struct lade_loan loan;

    if (lade_bag_join(replay, &h) == LADE_OK) {
        for (int i = 0; i < SAMPLES && lade_bag_sample_wait(h, &loan, LADE_FOREVER) == LADE_OK; i++) {
            const struct transition *t =
                loan.record; /* no copy: valid until it is given back, also when it is replaced */
            torn += t->twice != 2 * t->step;
            sampled++;
            lade_bag_give_back(h, &loan);
        }
        lade_bag_leave(h);
    }
    return unused;
}

static bool is_late(void *context, const void *element)
{
    const struct transition *t = element;

    *(int *)context += t->step > STEPS - CAPACITY;
    return true;
}

int main(void)
{
    struct lade_bag_config config = {.capacity = CAPACITY,
                                     .handles = LEARNERS + 1,
                                     .kind = LADE_BAG_RECORDS,
                                     .record_size = sizeof(struct transition),
                                     .full = LADE_BAG_EVICT_OLDEST};
    struct lade_bag_handle *h;
    pthread_t actor, learner[LEARNERS];
    int late = 0;

    if (lade_bag_create(&replay, &config) != LADE_OK || pthread_create(&actor, NULL, act, NULL) != 0)
        return 1;
    for (int i = 0; i < LEARNERS; i++)
        if (pthread_create(&learner[i], NULL, learn, NULL) != 0)
            return 1;
    pthread_join(actor, NULL);
    for (int i = 0; i < LEARNERS; i++)
        pthread_join(learner[i], NULL);
    if (lade_bag_join(replay, &h) != LADE_OK)
        return 1;
    if (lade_bag_for_each(h, is_late, &late, NULL) != LADE_OK)
        return 1;
    lade_bag_leave(h);
    lade_bag_destroy(replay);
    printf("%d samples, %d torn\n", (int)sampled, (int)torn);
    printf("the last %d of %d steps are left\n", late, STEPS);
    return torn != 0;
}
