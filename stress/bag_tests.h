/* SPDX-License-Identifier: MIT */
/* The tests of bag_stats.c, for one thread. Each takes a job, runs its sampler and leaves tables of counts. */
#ifndef LADE_STRESS_BAG_TESTS_H
#define LADE_STRESS_BAG_TESTS_H

#include "bag_trial.h"

enum op { SAMPLE, DRAW, EXCHANGE, EVICT, PUT_EVICTING };

struct job {
    struct trial trial;
    void (*run)(struct job *job);
    enum op op;
};

enum { CONTENT = 640 }; /* capacity for test_batches() */

void test_still(struct job *job);   /* elements stay where they are: which slots are drawn? */
void test_growth(struct job *job);  /* the bag fills up */
void test_age(struct job *job);     /* each draw is followed by a put */
void test_replay(struct job *job);  /* each put evicts the oldest element */
void test_pairs(struct job *job);   /* two draws */
void test_handles(struct job *job); /* two handles, or one that leaves and joins again */
void test_orders(struct job *job);  /* all orders of five elements */
void test_ranks(struct job *job);   /* a full bag is drained */
void test_batches(struct job *job); /* labels in batches */

#endif
