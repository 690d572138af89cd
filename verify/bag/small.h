/* SPDX-License-Identifier: MIT */
/*
 * A bag that is small enough for a checker: groups of SLOTS_IN_GROUP slots, TRIES tries before a pass, one probe. The
 * only random choice is the one that the harness makes in below() (or by random words: RANDOM_WORDS). One handle for
 * each thread and one for setup() and finish().
 */
#ifndef SLOTS_IN_GROUP
#define SLOTS_IN_GROUP 1
#endif
#ifndef TRIES
#define TRIES 0
#endif
#ifndef below
#define below(n) ((n)-1)
#endif
#define LADE_BAG_GROUP SLOTS_IN_GROUP
#define LADE_BAG_TRIES TRIES
#define LADE_BAG_PROBES 1
#define LADE_BAG_RESTARTS 1
#include <lade/random.h>
#ifdef RANDOM_WORDS
/* The bag's own random choice, with words that the harness supplies in lade_random_refill(). */
#define lade_random_init(random, key, id) ((random)->next = LADE_RANDOM_BUFFER)
#define LADE_LIB_PREFETCH_H /* checkers do not support prefetch */
#define lade_prefetch(place) ((void)(place))
#else
#define lade_random_init(random, key, id) ((void)(random))
#define LADE_BAG_BELOW(random, n) ((void)(random), below(n))
#endif

#ifdef ENGINE_GENMC
#pragma STDC FP_CONTRACT OFF /* it does not support the instruction */
#endif

/*
 * GenMC does not support memcpy. Elements of the harnesses are copied word by word, and the configuration field by
 * field, since no access may cover two fields.
 */
#include <lade/bag.h>
#include <string.h>
static void *copy(void *to, const void *from, size_t size)
{
    if (size == sizeof(struct lade_bag_config)) {
        struct lade_bag_config *t = to;
        const struct lade_bag_config *f = from;
        t->capacity = f->capacity, t->handles = f->handles, t->kind = f->kind, t->record_size = f->record_size;
        t->max_loans = f->max_loans, t->full = f->full, t->max_times_sampled = f->max_times_sampled;
        t->byte_budget = f->byte_budget, t->bytes = f->bytes, t->samples_per_insert = f->samples_per_insert;
        t->ratio_slack = f->ratio_slack, t->seed = f->seed, t->release = f->release, t->drop = f->drop;
        t->context = f->context, t->alloc = f->alloc;
        return to;
    }
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
    return to;
}
#define memcpy copy

#include "reclaim/without_thread.h"

#include "ref.c"
#include "ring.c"

#include <sys/random.h>
#define getrandom(seed, size, flags) (-1) /* seeds are given */

#include "bag.c"
#include "bag_scan.c"
#include "bag_create.c"
#include "bag_sample.c"

/* No thread waits, unless the harness has its own futex. */
#ifndef FUTEX
#include "event/nobody_waits.h"
#endif

static struct lade_bag *bag;
static struct lade_bag_handle *handle[THREADS + 1];

/* Set what differs from these before make_bag(). */
static struct lade_bag_config config = {.handles = THREADS + 1};

static void make_bag(uint64_t capacity)
{
    config.capacity = capacity;
    assert(lade_bag_create(&bag, &config) == LADE_OK);
    for (int i = 0; i <= THREADS; i++)
        assert(lade_bag_join(bag, &handle[i]) == LADE_OK);
}

/* In static memory: GenMC may place a local of an inlined function at the address of one that is still in use. */
static uint64_t in[THREADS + 1], out[THREADS + 1];

static int put(int id, uint64_t word)
{
    in[id] = word;
    return lade_bag_put(handle[id], &in[id]);
}

/* The word drawn, or 0 for EMPTY. */
static uint64_t draw(int id)
{
    return lade_bag_draw(handle[id], &out[id]) == LADE_OK ? out[id] : 0;
}
