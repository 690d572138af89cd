/* SPDX-License-Identifier: MIT */
/*
 * Candidate: a shuffle buffer behind a mutex. A dense array and a count; put appends, draw takes a random element and
 * moves the last one into its place. Records are not moved: the array holds their numbers, those in use first.
 */
#include "bag.h"

#include <pthread.h>
#include <stdlib.h>

#define HAS_EXCHANGE
#define HAS_BATCH

struct bag {
    /* The lock and what it protects in one line: a thread that takes the lock needs the rest. */
    _Alignas(128) pthread_mutex_t mutex;
    uint64_t count;
    _Alignas(128) uint64_t capacity;
    struct element *element;
#ifdef RECORD
    uint32_t *order;
#endif
};

struct seat {
    struct bag *bag;
    struct lade_random random;
};

static bool bag_open(struct bag *b, const struct plan *plan)
{
    size_t size = ((size_t)plan->capacity * sizeof *b->element + 127) / 128 * 128;
    pthread_mutexattr_t attributes;

    b->capacity = plan->capacity;
    b->count = 0;
    b->element = aligned_alloc(128, size);
    if (!b->element)
        return false;
#ifdef RECORD
    b->order = malloc((size_t)plan->capacity * sizeof *b->order);
    if (!b->order)
        return false;
    for (uint32_t i = 0; i < plan->capacity; i++)
        b->order[i] = i;
#endif
    /* The kind that spins a little before it sleeps is the faster one here. */
    pthread_mutexattr_init(&attributes);
#ifdef MUTEX_ADAPTIVE
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    return pthread_mutex_init(&b->mutex, &attributes) == 0;
}

static void bag_close(struct bag *b)
{
    pthread_mutex_destroy(&b->mutex);
#ifdef RECORD
    free(b->order);
#endif
    free(b->element);
}

static bool seat_open(struct seat *seat, struct bag *b, unsigned number, enum role role)
{
    (void)role;
    seat->bag = b;
    seat_random(&seat->random, number);
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

/* New random numbers are not made while others wait. */
static inline void refill(struct seat *seat)
{
    if (seat->random.next == LADE_RANDOM_BUFFER)
        lade_random_refill(&seat->random);
}

static inline bool append(struct bag *b, const struct element *in)
{
    if (b->count == b->capacity)
        return false;
#ifdef RECORD
    b->element[b->order[b->count]] = *in;
#else
    b->element[b->count] = *in;
#endif
    b->count++;
    return true;
}

static inline bool take(struct seat *seat, struct element *out)
{
    struct bag *b = seat->bag;
    uint64_t i;

    if (b->count == 0)
        return false;
    i = lade_random_below(&seat->random, b->count);
    b->count--;
#ifdef RECORD
    uint32_t record = b->order[i];
    b->order[i] = b->order[b->count];
    b->order[b->count] = record;
    *out = b->element[record];
#else
    *out = b->element[i];
    b->element[i] = b->element[b->count];
#endif
    return true;
}

static inline bool seat_put(struct seat *seat, const struct element *in)
{
    struct bag *b = seat->bag;
    bool done;

    pthread_mutex_lock(&b->mutex);
    done = append(b, in);
    pthread_mutex_unlock(&b->mutex);
    return done;
}

static inline bool seat_draw(struct seat *seat, struct element *out)
{
    struct bag *b = seat->bag;
    bool done;

    refill(seat);
    pthread_mutex_lock(&b->mutex);
    done = take(seat, out);
    pthread_mutex_unlock(&b->mutex);
    return done;
}

static inline bool seat_exchange(struct seat *seat, const struct element *in, struct element *out)
{
    struct bag *b = seat->bag;
    bool done;

    refill(seat);
    pthread_mutex_lock(&b->mutex);
    done = b->count > 0;
    if (done) {
        struct element *e = &b->element[lade_random_below(&seat->random, b->count)];
        *out = *e;
        *e = *in;
    }
    pthread_mutex_unlock(&b->mutex);
    return done;
}

static inline size_t seat_put_many(struct seat *seat, const struct element *in, size_t count)
{
    struct bag *b = seat->bag;
    size_t done = 0;

    pthread_mutex_lock(&b->mutex);
    while (done < count && append(b, &in[done]))
        done++;
    pthread_mutex_unlock(&b->mutex);
    return done;
}

static inline size_t seat_draw_many(struct seat *seat, struct element *out, size_t count)
{
    struct bag *b = seat->bag;
    size_t done = 0;

    pthread_mutex_lock(&b->mutex);
    while (done < count && take(seat, &out[done]))
        done++;
    pthread_mutex_unlock(&b->mutex);
    return done;
}

#include "workload.h"
