/* SPDX-License-Identifier: MIT */
/*
 * A small interface that the statistics use, implemented by the bag and by samplers with a known fault. An element is a
 * word from 1 on. One struct sampler is one handle, of one thread.
 */
#ifndef LADE_STRESS_BAG_SAMPLERS_H
#define LADE_STRESS_BAG_SAMPLERS_H

#include "check.h"

#include <lade/bag.h>
#include <lade/random.h>

enum { GROUP = 64, MOST_BATCH = 64, PAST = 64 };

/* What is tested. For the faults see pick(). */
enum subject {
    BAG, /* words */
    BAG_REFS,
    BAG_RECORDS,
    FAIR,
    BUCKET_FIRST,
    SKIP_LOCKED,
    MODULO,
    SEVENTEEN,
    RECENT,
    FAVOURED_PLACE,
    FAVOURED_ITEM,
    NEVER_LAST,
    STALE_LIMIT,
    REPEATS,
    REPEATS_LATE,
    NEIGHBOURS,
    ONE_STREAM,
};

struct setting {
    enum subject subject;
    uint64_t capacity;
    unsigned handles;
    enum lade_bag_full full;
    uint64_t seed;
    double strength; /* of the fault: the relative bias of the class that it favours; 0.01 unless set */
};

struct sampler {
    struct setting set;
    struct lade_bag *bag;
    struct lade_bag_handle *handle;
    struct object *object;
    struct faulty *faulty;
    struct lade_random random;
    uint64_t past[PAST], taken; /* the slots + 1 that it took elements from recently, and how many */
    uint64_t emptied;           /* slot + 1 that it left free */
    uint64_t errors;            /* operations that failed */
};

struct sampler sampler_open(const struct setting *set);

/* Opens, and closes, another handle of the same sampler; number is from 1 on. */
struct sampler sampler_join(const struct sampler *first, unsigned number);
void sampler_leave(struct sampler *s);

/* A handle that leaves and joins again. */
void sampler_rejoin(struct sampler *s);

/* Frees what all handles share. */
void sampler_close(struct sampler *s);

/* A failure counts as an error and returns 0. */
void sampler_put(struct sampler *s, uint64_t word);
uint64_t sampler_draw(struct sampler *s);
uint64_t sampler_exchange(struct sampler *s, uint64_t in);
uint64_t sampler_sample(struct sampler *s);

/* Evicts an element; the word is the one that the bag reports. Words and refs. */
uint64_t sampler_evict(struct sampler *s);

/* A put on a full bag; returns the evicted word, 0: none. Words and refs. */
uint64_t sampler_put_evicting(struct sampler *s, uint64_t in);

/* A draw that must find nothing; after it slots are filled from the first one on. */
void sampler_draw_nothing(struct sampler *s);

/* Words only; count is at most MOST_BATCH. */
void sampler_draw_many(struct sampler *s, uint64_t *word, size_t count);
void sampler_put_many(struct sampler *s, const uint64_t *word, size_t count);
void sampler_exchange_many(struct sampler *s, const uint64_t *in, uint64_t *out, size_t count);
void sampler_sample_many(struct sampler *s, uint64_t *word, size_t count);

/* The share of the draws so far whose random tries failed and that scanned the groups. */
double sampler_scanned(const struct sampler *s);

#endif
