/* SPDX-License-Identifier: MIT */
/*
 * Candidate: the bucket container of Lin 2026. A constant number of buckets, each an array behind a lock that is tried,
 * never waited for, with its size in an atomic. Put and draw choose a random bucket and go elsewhere when it is locked or
 * there is nothing to do in it; a draw takes a random element of its bucket.
 *
 * What is better than need be: lock, size and place of the array are in one line, and each bucket has a separate line.
 * A bucket holds twice its share and some more, so that a put hardly ever finds it full, and the limit on the
 * whole is not enforced, for that would take a counter that all threads write. One random word serves several choices
 * of a bucket, so that the line of the next one is fetched ahead. Records are not moved within a bucket: an array holds
 * their numbers, those in use first.
 */
#include "bag.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifndef BUCKETS
#define BUCKETS 64
#endif
#define TRIES 4 /* random choices, before one bucket is tried after the other */

struct bucket {
    _Alignas(64) _Atomic uint32_t locked;
    _Atomic uint32_t size;
    struct element *element;
#ifdef RECORD
    uint32_t *order;
#endif
};

struct bag {
    _Alignas(128) struct bucket bucket[BUCKETS];
    _Alignas(128) uint32_t room; /* of a bucket */
    struct element *memory;
#ifdef RECORD
    uint32_t *orders;
#endif
};

struct seat {
    struct bag *bag;
    uint64_t bits; /* random, those not yet used; the highest bit set marks their end */
    struct lade_random random;
};

static bool bag_open(struct bag *b, const struct plan *plan)
{
    uint64_t share = (plan->capacity + BUCKETS - 1) / BUCKETS;

    b->room = (uint32_t)(share * 2 + 16) / 16 * 16;
    b->memory = aligned_alloc(128, (size_t)b->room * BUCKETS * sizeof *b->memory);
    if (!b->memory)
        return false;
#ifdef RECORD
    b->orders = malloc((size_t)b->room * BUCKETS * sizeof *b->orders);
    if (!b->orders)
        return false;
#endif
    for (size_t i = 0; i < BUCKETS; i++) {
        struct bucket *bucket = &b->bucket[i];
        atomic_init(&bucket->locked, 0);
        atomic_init(&bucket->size, 0);
        bucket->element = b->memory + i * b->room;
#ifdef RECORD
        bucket->order = b->orders + i * b->room;
        for (uint32_t k = 0; k < b->room; k++)
            bucket->order[k] = k;
#endif
    }
    return true;
}

static void bag_close(struct bag *b)
{
#ifdef RECORD
    free(b->orders);
#endif
    free(b->memory);
}

static bool seat_open(struct seat *seat, struct bag *b, unsigned number, enum role role)
{
    (void)role;
    seat->bag = b;
    seat->bits = 1;
    seat_random(&seat->random, number);
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

static inline uint32_t size_of(struct bucket *bucket)
{
    return atomic_load_explicit(&bucket->size, memory_order_relaxed);
}

static inline bool is_locked(struct bucket *bucket)
{
    return atomic_load_explicit(&bucket->locked, memory_order_relaxed);
}

/* Without a look before: that would fetch the line twice when another thread had it, and was slower wherever tried. */
static inline bool try_lock(struct bucket *bucket)
{
    return !atomic_exchange_explicit(&bucket->locked, 1, memory_order_acquire);
}

static inline void unlock(struct bucket *bucket)
{
    atomic_store_explicit(&bucket->locked, 0, memory_order_release);
}

static inline void fetch_to_write(const struct bucket *bucket)
{
#if defined __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*bucket)); /* the builtin asks for a shared copy only */
#else
    __builtin_prefetch(bucket, 1);
#endif
}

/* BUCKETS is a power of two. The bucket of the next operation is known already, but for the last bits of a word. */
static inline struct bucket *any_bucket(struct seat *seat)
{
    uint64_t choice;

    if (seat->bits < BUCKETS)
        seat->bits = lade_random_word(&seat->random) | (uint64_t)1 << 63;
    choice = seat->bits % BUCKETS;
    seat->bits /= BUCKETS;
    fetch_to_write(&seat->bag->bucket[seat->bits % BUCKETS]);
    return &seat->bag->bucket[choice];
}

static inline bool put_here(struct seat *seat, struct bucket *bucket, const struct element *in)
{
    uint32_t size;
    bool done;

    if (!try_lock(bucket))
        return false;
    size = size_of(bucket);
    done = size < seat->bag->room;
    if (done) {
#ifdef RECORD
        bucket->element[bucket->order[size]] = *in;
#else
        bucket->element[size] = *in;
#endif
        atomic_store_explicit(&bucket->size, size + 1, memory_order_relaxed);
    }
    unlock(bucket);
    return done;
}

static inline bool draw_here(struct seat *seat, struct bucket *bucket, struct element *out)
{
    uint32_t size;

    if (!try_lock(bucket))
        return false;
    size = size_of(bucket);
    if (size > 0) {
        uint64_t i = lade_random_below(&seat->random, size);
#ifdef RECORD
        uint32_t record = bucket->order[i];
        bucket->order[i] = bucket->order[size - 1];
        bucket->order[size - 1] = record;
        *out = bucket->element[record];
#else
        *out = bucket->element[i];
        bucket->element[i] = bucket->element[size - 1];
#endif
        atomic_store_explicit(&bucket->size, size - 1, memory_order_relaxed);
    }
    unlock(bucket);
    return size > 0;
}

/* The random choices met locked buckets, or those in which there is nothing to do. */
static bool put_anywhere(struct seat *seat, const struct element *in)
{
    size_t first = lade_random_below(&seat->random, BUCKETS);

    for (size_t i = 0; i < BUCKETS; i++) {
        struct bucket *bucket = &seat->bag->bucket[(first + i) % BUCKETS];
        if (!is_locked(bucket) && size_of(bucket) < seat->bag->room && put_here(seat, bucket, in))
            return true;
    }
    return false;
}

static bool draw_anywhere(struct seat *seat, struct element *out)
{
    size_t first = lade_random_below(&seat->random, BUCKETS);

    for (size_t i = 0; i < BUCKETS; i++) {
        struct bucket *bucket = &seat->bag->bucket[(first + i) % BUCKETS];
        if (!is_locked(bucket) && size_of(bucket) > 0 && draw_here(seat, bucket, out))
            return true;
    }
    return false;
}

static inline bool seat_put(struct seat *seat, const struct element *in)
{
    for (int i = 0; i < TRIES; i++) {
        if (put_here(seat, any_bucket(seat), in))
            return true;
    }
    return put_anywhere(seat, in);
}

static inline bool seat_draw(struct seat *seat, struct element *out)
{
    for (int i = 0; i < TRIES; i++) {
        if (draw_here(seat, any_bucket(seat), out))
            return true;
    }
    return draw_anywhere(seat, out);
}

#include "workload.h"
