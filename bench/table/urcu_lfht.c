/* SPDX-License-Identifier: MIT */
/* Candidate: cds_lfht of liburcu, which grows in a separate thread. Nodes of 32 bytes, see pool.h. */
#define _LGPL_SOURCE
#define URCU_INLINE_SMALL_FUNCTIONS
#include "job.h"
#include "keys.h"
#include "pool.h"

#include <urcu/urcu-memb.h>
#include <urcu/rculfhash.h>

#define FIRST 65536 /* buckets; from fewer, its thread may fall behind so far that filling takes minutes */

struct node {
    struct cds_lfht_node link;
    uint64_t key, value;
};

struct seat {
    struct cds_lfht *table;
    struct pool pool;
};

void *table_make(uint64_t expected, unsigned threads)
{
    (void)expected;
    (void)threads;
    return cds_lfht_new_flavor(FIRST, FIRST, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING, &urcu_memb_flavor, NULL);
}

void table_free(void *table)
{
    (void)table; /* would have to be emptied first; ends with the program */
}

#include "reader.h"

static int match(struct cds_lfht_node *link, const void *key)
{
    return caa_container_of(link, struct node, link)->key == *(const uint64_t *)key;
}

static inline bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    struct cds_lfht_iter iter;
    struct cds_lfht_node *link;

    urcu_memb_read_lock();
    cds_lfht_lookup(seat->table, key_mix(key), match, &key, &iter);
    link = cds_lfht_iter_get_node(&iter);
    if (link)
        *value = caa_container_of(link, struct node, link)->value;
    urcu_memb_read_unlock();
    return link;
}

/* Looks first, so that a node is made only for a key that is not there. */
static inline bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    struct node *node;
    struct cds_lfht_node *link;

    if (at_get(seat, key, winner))
        return false;
    node = pool_take(&seat->pool, sizeof *node);
    cds_lfht_node_init(&node->link);
    node->key = key;
    node->value = value;
    urcu_memb_read_lock();
    link = cds_lfht_add_unique(seat->table, key_mix(key), match, &key, &node->link);
    *winner = caa_container_of(link, struct node, link)->value;
    urcu_memb_read_unlock();
    if (link != &node->link)
        pool_return(&seat->pool, sizeof *node);
    return link == &node->link;
}

static inline bool at_remove(struct seat *seat, uint64_t key)
{
    struct cds_lfht_iter iter;
    struct cds_lfht_node *link;
    bool removed;

    urcu_memb_read_lock();
    cds_lfht_lookup(seat->table, key_mix(key), match, &key, &iter);
    link = cds_lfht_iter_get_node(&iter);
    removed = link && cds_lfht_del(seat->table, link) == 0;
    urcu_memb_read_unlock();
    return removed;
}

#include "loops.h"
