/* SPDX-License-Identifier: MIT */
/*
 * Candidate: 64 tables, each behind a mutex and on separate lines; the top bits of the mixed key choose one. Each is an
 * array of cells {mixed key, value} with linear probing, that doubles when it is 0.7 full. Removal moves those behind up,
 * so that nothing is left behind. Zeroed memory comes from calloc, which maps it when it is large.
 */
#include "job.h"
#include "keys.h"

#include <pthread.h>
#include <stdlib.h>

#define SHARD_BITS 6
#define FIRST_BITS 6 /* 64 cells at first */

struct cell {
    uint64_t key, value;
};

struct shard {
    _Alignas(128) pthread_mutex_t mutex;
    struct cell *cells;
    uint64_t mask, keys;
    unsigned shift;
};

struct table {
    struct shard shard[1 << SHARD_BITS];
};

struct seat {
    struct shard *shard;
};

static bool shard_make(struct shard *s, unsigned bits)
{
    s->cells = calloc((size_t)1 << bits, sizeof *s->cells);
    s->mask = ((uint64_t)1 << bits) - 1;
    s->shift = 64 - bits;
    return s->cells;
}

void *table_make(uint64_t expected, unsigned threads)
{
    struct table *t = aligned_alloc(_Alignof(struct table), sizeof *t);

    (void)expected;
    (void)threads;
    for (int i = 0; t && i < 1 << SHARD_BITS; i++) {
        t->shard[i] = (struct shard){.mutex = PTHREAD_MUTEX_INITIALIZER};
        if (!shard_make(&t->shard[i], FIRST_BITS))
            return NULL;
    }
    return t;
}

void table_free(void *table)
{
    struct table *t = table;

    for (int i = 0; i < 1 << SHARD_BITS; i++)
        free(t->shard[i].cells);
    free(t);
}

void *seat_make(void *table, unsigned number)
{
    struct table *t = table;
    struct seat *seat = malloc(sizeof *seat);

    (void)number;
    if (seat)
        seat->shard = t->shard;
    return seat;
}

void seat_free(void *seat)
{
    free(seat);
}

static inline struct shard *lock(struct seat *seat, uint64_t mixed)
{
    struct shard *s = &seat->shard[mixed >> (64 - SHARD_BITS)];

    pthread_mutex_lock(&s->mutex);
    return s;
}

/* The place of a mixed key: where it is, or the empty cell at which looking for it ends. */
static inline uint64_t find(const struct shard *s, uint64_t mixed)
{
    uint64_t at = mixed << SHARD_BITS >> s->shift;

    while (s->cells[at].key != mixed && s->cells[at].key != 0)
        at = (at + 1) & s->mask;
    return at;
}

static void grow(struct shard *s)
{
    struct shard old = *s;

    if (!shard_make(s, 64 - s->shift + 1))
        abort();
    for (uint64_t i = 0; i <= old.mask; i++) {
        if (old.cells[i].key != 0)
            s->cells[find(s, old.cells[i].key)] = old.cells[i];
    }
    free(old.cells);
}

static inline bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    uint64_t mixed = key_place(key);
    struct shard *s = lock(seat, mixed);
    struct cell *c = &s->cells[find(s, mixed)];
    bool found = c->key != 0;

    if (found)
        *value = c->value;
    pthread_mutex_unlock(&s->mutex);
    return found;
}

static inline bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    uint64_t mixed = key_place(key);
    struct shard *s = lock(seat, mixed);
    struct cell *c = &s->cells[find(s, mixed)];
    bool absent = c->key == 0;

    if (absent) {
        *c = (struct cell){mixed, value};
        if (++s->keys * 10 > (s->mask + 1) * 7)
            grow(s);
        *winner = value;
    } else {
        *winner = c->value;
    }
    pthread_mutex_unlock(&s->mutex);
    return absent;
}

static inline bool at_remove(struct seat *seat, uint64_t key)
{
    uint64_t mixed = key_place(key);
    struct shard *s = lock(seat, mixed);
    uint64_t hole = find(s, mixed);
    bool found = s->cells[hole].key != 0;

    if (found) {
        for (uint64_t at = (hole + 1) & s->mask; s->cells[at].key != 0; at = (at + 1) & s->mask) {
            uint64_t home = s->cells[at].key << SHARD_BITS >> s->shift;
            if (((at - home) & s->mask) >= ((at - hole) & s->mask)) {
                s->cells[hole] = s->cells[at];
                hole = at;
            }
        }
        s->cells[hole].key = 0;
        s->keys--;
    }
    pthread_mutex_unlock(&s->mutex);
    return found;
}

#include "loops.h"
