/* SPDX-License-Identifier: MIT */
/*
 * The bag's sources, stepped (steps.h), with groups so small that a bag of a few slots has several of them. A test can
 * choose the slots that a draw or put tries, and replace the protocol by a plain scan.
 */
#ifndef LADE_STRESS_BAGS_H
#define LADE_STRESS_BAGS_H

#include "steps.h"

#include <lade/random.h>
#include <stdlib.h>

#define LADE_BAG_GROUP 2
#define LADE_BAG_TRIES 2
#define LADE_BAG_PROBES 2
#define LADE_BAG_RESTARTS 1

/* NULL: at random. */
static _Thread_local const uint64_t *bag_choice;

static inline uint64_t bag_below(struct lade_random *random, uint64_t n)
{
    return bag_choice ? *bag_choice % n : lade_random_below(random, n);
}

#define LADE_BAG_BELOW bag_below

#include "../lib/event.c"
#include "../lib/ring.c"

#include "../lib/bag.c"

#define lade_bag_choose_by_passes certain_choose
#define lade_bag_fill_or_full certain_fill
#include "../lib/bag_scan.c"
#undef lade_bag_choose_by_passes
#undef lade_bag_fill_or_full

#include "../lib/bag_create.c"
#include "../lib/bag_sample.c"
#include "../lib/bag_wait.c"

/* Negative: each slot is checked once, and finding nothing is the result. */
static bool bag_scans_plainly;

int lade_bag_choose_by_passes(struct lade_bag_handle *h, enum act act, uint64_t put)
{
    if (!bag_scans_plainly)
        return certain_choose(h, act, put);
    for (uint64_t slot = 0; slot < h->bag->config.capacity; slot++)
        if (attempt(h, act, slot, put, false))
            return LADE_OK;
    return LADE_EMPTY;
}

int lade_bag_fill_or_full(struct lade_bag_handle *h, uint64_t put)
{
    if (!bag_scans_plainly)
        return certain_fill(h, put);
    for (uint64_t slot = 0; slot < h->bag->config.capacity; slot++)
        if (look_and_fill(h, slot, put, false))
            return LADE_OK;
    return LADE_FULL;
}

/*
 * When quiescent and empty: each cell is in exactly one place (a slot, a handle or the pool), and no thread borrows it.
 * This detects a cell that was freed twice, or never, long before it does harm.
 */
static inline bool cells_are_whole(struct lade_bag *b)
{
    bool whole = true;
    uint64_t cell, pooled = 0;

    if (!b->cells)
        return true;
    unsigned char *owners = check_memory(b->cell_count, 1);
    uint64_t *pool = check_memory(b->cell_count, sizeof *pool);
    for (uint64_t i = 0; i < b->config.capacity; i++)
        owners[atomic_load(&b->slot[i]) & CELL_BITS]++;
    for (unsigned i = 0; i < b->config.handles; i++)
        owners[b->handle[i].spare]++;
    while (pooled < b->cell_count && lade_mpmc_pop(b->handle[0].pool, &cell) == LADE_OK)
        owners[pool[pooled++] = cell]++;
    for (uint64_t i = 0; i < pooled; i++)
        whole = lade_mpmc_push(b->handle[0].pool, pool[i]) == LADE_OK && whole;
    for (uint64_t i = 0; i < b->cell_count; i++)
        whole = whole && owners[i] == 1 && atomic_load(&b->cell_refs[i]) == 0;
    free(owners);
    free(pool);
    return whole;
}

static inline void begin_plan(struct step_plan *plan, unsigned step)
{
    *plan = (struct step_plan){.stop_at = step};
    (void)sem_init(&plan->reached, 0, 0);
    (void)sem_init(&plan->resume, 0, 0);
}

static inline void end_plan(struct step_plan *plan)
{
    (void)sem_destroy(&plan->reached);
    (void)sem_destroy(&plan->resume);
}

#endif
