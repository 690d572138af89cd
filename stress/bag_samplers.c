/* SPDX-License-Identifier: MIT */
#include "bag_samplers.h"
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 24 };

struct object { /* of a bag of refs */
    struct lade_ref ref;
    uint64_t word;
};

/* Slots as in the bag, and a fault. */
struct faulty {
    pthread_mutex_t lock;
    uint64_t *slot, *born; /* the word, and the number of the put that brought it */
    uint64_t used, held, puts, turn;
    uint64_t most; /* held at some time since it was empty */
};

/* The word that a put of this thread evicted last. */
static _Thread_local uint64_t sampler_evicted;

static void sampler_drop(void *context, uint64_t word)
{
    (void)context;
    sampler_evicted = word;
}

/* The test keeps the objects, so a released one is reinitialised. */
static void sampler_release(struct lade_ref *ref)
{
    sampler_evicted = ((struct object *)(void *)ref)->word;
    lade_ref_init(ref);
}

static bool is_bag(const struct sampler *s)
{
    return s->set.subject <= BAG_RECORDS;
}

static void open_bag(struct sampler *s)
{
    struct lade_bag_config config = {
        .capacity = s->set.capacity, .handles = s->set.handles, .full = s->set.full, .seed = s->set.seed};

    if (s->set.subject == BAG_REFS) {
        uint64_t most = s->set.capacity + s->set.handles;
        config.kind = LADE_BAG_REFS;
        config.release = sampler_release;
        s->object = check_memory((size_t)most, sizeof *s->object);
        for (uint64_t i = 0; i < most; i++) {
            lade_ref_init(&s->object[i].ref);
            s->object[i].word = i + 1;
        }
    } else if (s->set.subject == BAG_RECORDS) {
        config.kind = LADE_BAG_RECORDS;
        config.record_size = RECORD;
    } else {
        config.drop = sampler_drop;
    }
    if (lade_bag_create(&s->bag, &config) != LADE_OK || lade_bag_join(s->bag, &s->handle) != LADE_OK) {
        fprintf(stderr, "no bag\n");
        exit(2);
    }
}

struct sampler sampler_open(const struct setting *set)
{
    struct sampler s = {.set = *set};

    s.set.handles = set->handles ? set->handles : 1;
    s.set.strength = set->strength > 0 ? set->strength : 0.01;
    if (is_bag(&s)) {
        open_bag(&s);
        return s;
    }
    s.faulty = check_memory(1, sizeof *s.faulty);
    s.faulty->slot = check_memory((size_t)set->capacity, sizeof *s.faulty->slot);
    s.faulty->born = check_memory((size_t)set->capacity, sizeof *s.faulty->born);
    (void)pthread_mutex_init(&s.faulty->lock, NULL);
    lade_random_init(&s.random, lade_key_make(set->seed, 0, set->subject), 0);
    return s;
}

struct sampler sampler_join(const struct sampler *first, unsigned number)
{
    struct sampler s = *first;

    s.errors = 0;
    if (is_bag(&s)) {
        if (lade_bag_join(s.bag, &s.handle) != LADE_OK)
            exit(2);
    } else if (s.set.subject != ONE_STREAM) { /* fault: every handle has the same random numbers */
        lade_random_init(&s.random, lade_key_make(s.set.seed, 0, s.set.subject), number);
    }
    return s;
}

void sampler_rejoin(struct sampler *s)
{
    if (is_bag(s)) {
        lade_bag_leave(s->handle);
        s->errors += lade_bag_join(s->bag, &s->handle) != LADE_OK;
    } else if (s->set.subject == ONE_STREAM) { /* fault: the random numbers restart */
        lade_random_init(&s->random, lade_key_make(s->set.seed, 0, s->set.subject), 0);
    }
}

void sampler_leave(struct sampler *s)
{
    if (is_bag(s))
        lade_bag_leave(s->handle);
}

void sampler_close(struct sampler *s)
{
    if (is_bag(s)) {
        lade_bag_leave(s->handle);
        lade_bag_destroy(s->bag);
        free(s->object);
        return;
    }
    (void)pthread_mutex_destroy(&s->faulty->lock);
    free(s->faulty->slot);
    free(s->faulty->born);
    free(s->faulty);
}

static double unit(struct sampler *s)
{
    return (double)(lade_random_word(&s->random) >> 11) * 0x1p-53;
}

static uint64_t held_slot_below(struct sampler *s, uint64_t limit)
{
    uint64_t slot;

    do
        slot = lade_random_below(&s->random, limit);
    while (!s->faulty->slot[slot]);
    return slot;
}

/* A class that has the share p of the elements gets (1 + strength) p of the draws. */
static bool favours(struct sampler *s, bool in_class, double p)
{
    double e = s->set.strength, other = 1 - e * p / (1 - p);

    return in_class || unit(s) < other / (1 + e);
}

static uint64_t favoured(struct sampler *s)
{
    const struct faulty *f = s->faulty;

    for (;;) {
        uint64_t slot = held_slot_below(s, f->used);
        bool in_class = s->set.subject == RECENT           ? f->puts - f->born[slot] < f->most / 8
                        : s->set.subject == FAVOURED_PLACE ? slot % GROUP < GROUP / 8
                                                           : slot == 3;
        if (favours(s, in_class, s->set.subject == FAVOURED_ITEM ? 1 / (double)f->held : 0.125))
            return slot;
    }
}

/* Where the next element comes from; one is there. */
static uint64_t pick(struct sampler *s)
{
    struct faulty *f = s->faulty;
    uint64_t slot, groups = (f->used + GROUP - 1) / GROUP, limit;

    switch (s->set.subject) {
    case BUCKET_FIRST: /* a bucket that is not empty, then one of its elements */
        for (;;) {
            uint64_t group = lade_random_below(&s->random, groups), from = group * GROUP;
            uint64_t size = f->used - from < GROUP ? f->used - from : GROUP, elements = 0;
            for (uint64_t i = 0; i < size; i++)
                elements += f->slot[from + i] != 0;
            while (elements > 0) {
                slot = from + lade_random_below(&s->random, size);
                if (f->slot[slot])
                    return slot;
            }
        }
    case SKIP_LOCKED: /* in one draw of a hundred another thread holds the lock of the first bucket, which is skipped */
        limit = f->turn++ % 100;
        do
            slot = held_slot_below(s, f->used);
        while (limit == 0 && slot < GROUP && f->used > GROUP);
        return slot;
    case MODULO: /* 16 bits by the number of slots */
        do
            slot = (lade_random_word(&s->random) & 0xffff) % f->used;
        while (!f->slot[slot]);
        return slot;
    case SEVENTEEN: /* only 17 slots are ever probed */
        do
            slot = lade_random_below(&s->random, 17) * f->used / 17;
        while (!f->slot[slot]);
        return slot;
    case RECENT:         /* the last eighth that was put is too likely */
    case FAVOURED_PLACE: /* the first eighth of each group */
    case FAVOURED_ITEM:  /* the fourth slot */
        return favoured(s);
    case NEVER_LAST: /* one slot too few, unless there is nothing else */
        return held_slot_below(s, f->held > 1 && f->slot[f->used - 1] ? f->used - 1 : f->used);
    case STALE_LIMIT: /* the number of slots up to 15 puts ago */
        return held_slot_below(s, f->used > 16 ? f->used / 16 * 16 : f->used);
    case REPEATS:      /* sometimes the slot of the last draw */
    case REPEATS_LATE: /* of PAST times before */
        slot = s->past[(s->taken - (s->set.subject == REPEATS ? 1 : PAST)) % PAST];
        if (slot && f->slot[slot - 1] && unit(s) < s->set.strength)
            return slot - 1;
        return held_slot_below(s, f->used);
    default:
        return held_slot_below(s, f->used);
    }
}

/* A put goes to the slot that the handle emptied last, else to the first one never used, else to the first free one. */
static void faulty_put(struct sampler *s, uint64_t word)
{
    struct faulty *f = s->faulty;
    uint64_t slot = 0;

    if (s->emptied && !f->slot[s->emptied - 1])
        slot = s->emptied - 1;
    else if (f->used < s->set.capacity)
        slot = f->used;
    else
        while (f->slot[slot])
            slot++;
    f->used = slot >= f->used ? slot + 1 : f->used;
    f->slot[slot] = word;
    f->born[slot] = ++f->puts;
    f->most = ++f->held > f->most ? f->held : f->most;
    s->emptied = 0;
}

/* in: the element that replaces it; 0: none. */
static uint64_t faulty_take(struct sampler *s, uint64_t slot, uint64_t in)
{
    struct faulty *f = s->faulty;
    uint64_t word = f->slot[slot];

    s->past[s->taken++ % PAST] = slot + 1;
    f->slot[slot] = in;
    if (in) {
        f->born[slot] = ++f->puts;
    } else {
        s->emptied = slot + 1;
        if (--f->held == 0)
            f->used = f->most = s->emptied = 0;
    }
    return word;
}

static void faulty_lock(struct sampler *s)
{
    if (s->set.handles > 1)
        (void)pthread_mutex_lock(&s->faulty->lock);
}

static void faulty_unlock(struct sampler *s)
{
    if (s->set.handles > 1)
        (void)pthread_mutex_unlock(&s->faulty->lock);
}

static uint64_t result_of(struct sampler *s, int status, uint64_t word)
{
    if (status == LADE_OK)
        return word;
    s->errors++;
    return 0;
}

/* The bytes of an element, as the bag takes them. */
union element {
    uint64_t word;
    struct lade_ref *ref;
    unsigned char record[RECORD];
};

static void to_element(const struct sampler *s, uint64_t word, union element *e)
{
    if (s->set.subject == BAG_REFS)
        e->ref = &s->object[word - 1].ref;
    else
        e->word = word;
}

static uint64_t from_element(const struct sampler *s, const union element *e)
{
    return s->set.subject == BAG_REFS ? ((const struct object *)(const void *)e->ref)->word : e->word;
}

void sampler_put(struct sampler *s, uint64_t word)
{
    union element e = {.word = 0};

    if (is_bag(s)) {
        to_element(s, word, &e);
        (void)result_of(s, lade_bag_put(s->handle, &e), 1);
        return;
    }
    faulty_lock(s);
    faulty_put(s, word);
    faulty_unlock(s);
}

uint64_t sampler_draw(struct sampler *s)
{
    union element e = {.word = 0};
    uint64_t word;

    if (is_bag(s)) {
        int status = lade_bag_draw(s->handle, &e);
        return status == LADE_OK ? from_element(s, &e) : result_of(s, status, 0);
    }
    faulty_lock(s);
    word = faulty_take(s, pick(s), 0);
    faulty_unlock(s);
    return word;
}

uint64_t sampler_exchange(struct sampler *s, uint64_t in)
{
    union element e = {.word = 0};
    uint64_t word;

    if (is_bag(s)) {
        to_element(s, in, &e);
        int status = lade_bag_exchange(s->handle, &e, &e);
        return status == LADE_OK ? from_element(s, &e) : result_of(s, status, 0);
    }
    faulty_lock(s);
    word = faulty_take(s, pick(s), in);
    faulty_unlock(s);
    return word;
}

uint64_t sampler_sample(struct sampler *s)
{
    struct lade_loan loan;
    uint64_t word;

    if (is_bag(s)) {
        int status = lade_bag_sample(s->handle, &loan);
        if (status != LADE_OK)
            return result_of(s, status, 0);
        if (s->set.subject == BAG_REFS)
            word = ((const struct object *)(const void *)loan.ref)->word;
        else if (s->set.subject == BAG_RECORDS)
            memcpy(&word, loan.record, sizeof word);
        else
            word = loan.word;
        lade_bag_give_back(s->handle, &loan);
        return word;
    }
    faulty_lock(s);
    word = pick(s);
    s->past[s->taken++ % PAST] = word + 1;
    word = s->faulty->slot[word];
    faulty_unlock(s);
    return word;
}

uint64_t sampler_evict(struct sampler *s)
{
    if (!is_bag(s))
        return sampler_draw(s);
    sampler_evicted = 0;
    s->errors += lade_bag_evict(s->handle) != LADE_OK;
    return sampler_evicted;
}

uint64_t sampler_put_evicting(struct sampler *s, uint64_t in)
{
    if (!is_bag(s) && s->set.full == LADE_BAG_EVICT_OLDEST)
        return faulty_take(s, s->faulty->puts % s->set.capacity, in);
    if (!is_bag(s))
        return sampler_exchange(s, in);
    sampler_evicted = 0;
    sampler_put(s, in);
    return sampler_evicted;
}

void sampler_draw_many(struct sampler *s, uint64_t *word, size_t count)
{
    if (is_bag(s)) {
        s->errors += lade_bag_draw_many(s->handle, word, count) != count;
        return;
    }
    uint64_t start = pick(s);
    for (size_t i = 0; i < count; i++) {
        while (!s->faulty->slot[start % s->faulty->used])
            start++;
        word[i] = faulty_take(s, s->set.subject == NEIGHBOURS ? start % s->faulty->used : pick(s), 0);
    }
}

void sampler_put_many(struct sampler *s, const uint64_t *word, size_t count)
{
    if (is_bag(s)) {
        s->errors += lade_bag_put_many(s->handle, word, count) != count;
        return;
    }
    for (size_t i = 0; i < count; i++)
        faulty_put(s, word[i]);
}

void sampler_exchange_many(struct sampler *s, const uint64_t *in, uint64_t *out, size_t count)
{
    if (is_bag(s)) {
        s->errors += lade_bag_exchange_many(s->handle, in, out, count) != count;
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = faulty_take(s, pick(s), in[i]);
}

void sampler_sample_many(struct sampler *s, uint64_t *word, size_t count)
{
    struct lade_loan loan[MOST_BATCH];

    if (is_bag(s)) {
        s->errors += lade_bag_sample_many(s->handle, loan, count) != count;
        for (size_t i = 0; i < count; i++)
            word[i] = loan[i].word;
        lade_bag_give_back_many(s->handle, loan, count);
        return;
    }
    uint64_t start = pick(s);
    for (size_t i = 0; i < count; i++, start++) {
        while (!s->faulty->slot[start % s->faulty->used])
            start++;
        word[i] = s->faulty->slot[s->set.subject == NEIGHBOURS ? start % s->faulty->used : pick(s)];
    }
}

void sampler_draw_nothing(struct sampler *s)
{
    uint64_t word = 0;

    if (is_bag(s))
        s->errors += lade_bag_draw(s->handle, &word) != LADE_EMPTY;
    else
        s->errors += s->faulty->held != 0;
}

double sampler_scanned(const struct sampler *s)
{
    struct lade_bag_stats counts;

    if (!is_bag(s))
        return 0;
    lade_bag_stats(s->bag, &counts);
    return (double)counts.scanned / (double)(counts.drawn + counts.sampled + counts.evicted);
}
