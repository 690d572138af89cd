/* SPDX-License-Identifier: MIT */
/*
 * Shared by the statistics of the bag: which slots hold an element, draws counted by class, and the verdict.
 *
 * Null hypothesis: each draw is independent of the others and falls on each element with the same probability, so that
 * a class of elements is drawn in proportion to its size. A table with another hypothesis states it.
 *
 * Power. Draws are counted until a bias of 1 % on one class, at the cost of all others, is found with probability
 * TRIAL_POWER. So a control with just that bias is missed no more often than a test gives a false alarm. A table that
 * is marked sharp fails as well when it could not have found 1 % on its smallest class with CHI_POWER.
 */
#ifndef LADE_STRESS_BAG_TRIAL_H
#define LADE_STRESS_BAG_TRIAL_H

#include "bag_samplers.h"
#include "chi.h"

#define TRIAL_BIAS 0.01
#define TRIAL_POWER (1 - 1e-9)
enum { TRIAL_TABLES = 5, TRIAL_CLASSES = 8 };

/* Which slots of a bag hold an element. */
struct scene {
    const char *name;
    uint64_t capacity;
    bool (*holds)(uint64_t slot, uint64_t capacity);
};

bool holds_all(uint64_t slot, uint64_t capacity);

/* Scattered at random, the same in each run. */
bool holds_half(uint64_t slot, uint64_t capacity);
bool holds_tenth(uint64_t slot, uint64_t capacity);
bool holds_hundredth(uint64_t slot, uint64_t capacity);

bool holds_first_tenth(uint64_t slot, uint64_t capacity);
bool holds_last_tenth(uint64_t slot, uint64_t capacity);
bool holds_unequal(uint64_t slot, uint64_t capacity); /* 64, 32, ... 1 elements in consecutive groups */
bool holds_lonely(uint64_t slot, uint64_t capacity);  /* one full group, one element in each of the others */
bool holds_few(uint64_t slot, uint64_t capacity);     /* four elements: two in one group, two alone */

/* Counts of draws and the probabilities of the cells up to a factor. */
struct table {
    char what[100];
    uint64_t *count;
    double *weight;
    size_t cells;
    double df;     /* 0: cells - 1 */
    double spread; /* variance of a count divided by that of independent draws; 0: 1 */
    bool sharp;
};

/* How draws are put into classes. */
enum by { BY_POSITION = 1, BY_PLACE = 2, BY_GROUP = 4, BY_SIZE = 8, BY_ITEM = 16 };

struct trial {
    const char *name;
    struct setting set;
    struct scene scene;
    uint64_t draws;
    unsigned by, sharp; /* of enum by */
    unsigned classes;   /* by position; 0: TRIAL_CLASSES */
    struct table table[TRIAL_TABLES];
    unsigned tables;
    uint64_t errors;
    double scanned; /* share of the draws that scanned the groups */
    bool must_scan;
};

/*
 * Fills the sampler: word i + 1 lies in slot i, for each slot of the scene, as far as the sampler places elements as
 * expected.
 */
void trial_arrange(struct trial *t, struct sampler *s);

/* Another table; cells of weight 0 are for the caller to fill in. */
struct table *trial_table(struct trial *t, size_t cells, const char *what);

/* Tables of the draws of each slot, by the classes of t->by. */
void trial_classify(struct trial *t, const uint64_t *drawn);

/* Prints the result, checks it, frees the tables. A control passes when its last table fails clearly. */
void trial_judge(struct trial *t);

/* Whether it is one of the faulty samplers. */
bool trial_is_control(const struct trial *t);

/* The number of draws that is enough for classes of which the smallest has the share p. */
uint64_t trial_draws(unsigned classes, double p);

/* Class of an element when n of them are cut into parts whose sizes differ by at most one. */
static inline size_t trial_part(uint64_t element, uint64_t n, size_t parts)
{
    return (size_t)(element * parts / n);
}

#endif
