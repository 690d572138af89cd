/* SPDX-License-Identifier: MIT */
/*
 * Candidate: ck_rhs of Concurrency Kit (see ck.h), a set of pointers to {key, value}, which lie in pool.h's chunks.
 * Inserts look first, without the mutex.
 */
#include "ck.h"
#include "job.h"
#include "keys.h"
#include "pool.h"

#include <ck_rhs.h>

struct node {
    uint64_t key, value;
};

struct table {
    _Alignas(128) pthread_mutex_t mutex;
    _Alignas(128) ck_rhs_t rhs;
};

struct seat {
    struct table *table;
    struct pool pool;
};

static unsigned long hash(const void *node, unsigned long seed)
{
    (void)seed;
    return key_mix(((const struct node *)node)->key);
}

static bool equal(const void *a, const void *b)
{
    return ((const struct node *)a)->key == ((const struct node *)b)->key;
}

void *table_make(uint64_t expected, unsigned threads)
{
    struct table *t = aligned_alloc(_Alignof(struct table), sizeof *t);

    (void)expected;
    (void)threads;
    if (!t || pthread_mutex_init(&t->mutex, NULL) != 0 ||
        !ck_rhs_init(&t->rhs, CK_RHS_MODE_SPMC | CK_RHS_MODE_OBJECT, hash, equal, &ck_memory, CK_FIRST, 1))
        return NULL;
    return t;
}

void table_free(void *table)
{
    struct table *t = table;

    ck_rhs_destroy(&t->rhs);
    free(t);
}

#include "reader.h"

static inline bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    struct node wanted = {key, 0};
    const struct node *node;

    urcu_memb_read_lock();
    node = ck_rhs_get(&seat->table->rhs, key_mix(key), &wanted);
    if (node)
        *value = node->value;
    urcu_memb_read_unlock();
    return node;
}

static inline bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    struct node *node;
    bool inserted;

    if (at_get(seat, key, winner))
        return false;
    node = pool_take(&seat->pool, sizeof *node);
    *node = (struct node){key, value};
    pthread_mutex_lock(&seat->table->mutex);
    inserted = ck_rhs_put(&seat->table->rhs, key_mix(key), node);
    pthread_mutex_unlock(&seat->table->mutex);
    if (inserted) {
        *winner = value;
    } else {
        pool_return(&seat->pool, sizeof *node);
        at_get(seat, key, winner);
    }
    return inserted;
}

static inline bool at_remove(struct seat *seat, uint64_t key)
{
    struct node wanted = {key, 0};
    bool removed;

    pthread_mutex_lock(&seat->table->mutex);
    removed = ck_rhs_remove(&seat->table->rhs, key_mix(key), &wanted);
    pthread_mutex_unlock(&seat->table->mutex);
    return removed;
}

#include "loops.h"
