/* SPDX-License-Identifier: MIT */
/* Candidate: ck_ht of Concurrency Kit with keys and values in its cells (see ck.h). Inserts look first, without the mutex. */
#include "ck.h"
#include "job.h"
#include "keys.h"

#include <ck_ht.h>

struct table {
    _Alignas(128) pthread_mutex_t mutex;
    _Alignas(128) ck_ht_t ht;
};

struct seat {
    struct table *table;
};

static void hash(ck_ht_hash_t *h, const void *key, size_t size, uint64_t seed)
{
    (void)size;
    (void)seed;
    h->value = key_mix(*(const uint64_t *)key);
}

void *table_make(uint64_t expected, unsigned threads)
{
    struct table *t = aligned_alloc(_Alignof(struct table), sizeof *t);

    (void)expected;
    (void)threads;
    if (!t || pthread_mutex_init(&t->mutex, NULL) != 0 ||
        !ck_ht_init(&t->ht, CK_HT_MODE_DIRECT, hash, &ck_memory, CK_FIRST, 1))
        return NULL;
    return t;
}

void table_free(void *table)
{
    struct table *t = table;

    ck_ht_destroy(&t->ht);
    free(t);
}

#include "reader.h"

static inline bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    ck_ht_hash_t h;
    ck_ht_entry_t entry;
    bool found;

    ck_ht_hash_direct(&h, &seat->table->ht, key);
    ck_ht_entry_key_set_direct(&entry, key);
    urcu_memb_read_lock();
    found = ck_ht_get_spmc(&seat->table->ht, h, &entry);
    urcu_memb_read_unlock();
    if (found)
        *value = ck_ht_entry_value_direct(&entry);
    return found;
}

static inline bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    ck_ht_hash_t h;
    ck_ht_entry_t entry;
    bool inserted;

    if (at_get(seat, key, winner))
        return false;
    ck_ht_hash_direct(&h, &seat->table->ht, key);
    ck_ht_entry_set_direct(&entry, h, key, value);
    pthread_mutex_lock(&seat->table->mutex);
    inserted = ck_ht_put_spmc(&seat->table->ht, h, &entry);
    if (!inserted && !ck_ht_get_spmc(&seat->table->ht, h, &entry))
        abort(); /* no memory */
    pthread_mutex_unlock(&seat->table->mutex);
    *winner = inserted ? value : ck_ht_entry_value_direct(&entry);
    return inserted;
}

static inline bool at_remove(struct seat *seat, uint64_t key)
{
    ck_ht_hash_t h;
    ck_ht_entry_t entry;
    bool removed;

    ck_ht_hash_direct(&h, &seat->table->ht, key);
    ck_ht_entry_key_set_direct(&entry, key);
    pthread_mutex_lock(&seat->table->mutex);
    removed = ck_ht_remove_spmc(&seat->table->ht, h, &entry);
    pthread_mutex_unlock(&seat->table->mutex);
    return removed;
}

#include "loops.h"
