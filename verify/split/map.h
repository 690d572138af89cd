/* SPDX-License-Identifier: MIT */
/*
 * Routing on a table of a few places, for checkers: exactly what lade_table guarantees for get and insert.
 */
#ifndef PLACES_MODELLED
#define PLACES_MODELLED 64
#endif

#include <lade/table.h>

static _Atomic uint64_t map[PLACES_MODELLED]; /* value + 1; 0: absent */

int lade_table_get(struct lade_table *table, uint64_t key, uint64_t *value)
{
    (void)table;
    uint64_t found = atomic_load_explicit(&map[key], memory_order_acquire);
    *value = found - 1;
    return found ? LADE_OK : LADE_ABSENT;
}

int lade_table_insert(struct lade_table *table, uint64_t key, uint64_t value, uint64_t *winner)
{
    uint64_t found = 0;

    (void)table;
    if (atomic_compare_exchange_strong_explicit(&map[key], &found, value + 1, memory_order_acq_rel,
                                                memory_order_acquire)) {
        *winner = value;
        return LADE_OK;
    }
    *winner = found - 1;
    return LADE_PRESENT;
}

#include "names.h"

static void make_split(enum lade_split_rule rule)
{
    for (int i = 0; i < PLACES_MODELLED; i++)
        atomic_store_explicit(&map[i], 0, memory_order_relaxed);
    make_names(rule);
}
