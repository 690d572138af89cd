/* SPDX-License-Identifier: MIT */
/* Operations on one slot of a bag, and updates of the words that record them. Internal. */
#ifndef LADE_LIB_BAG_SLOT_H
#define LADE_LIB_BAG_SLOT_H

#include "bag.h"

/*
 * EMPTY and FULL are certified, not counted, because a counter shared by all threads would cost more than the
 * operations.
 *
 * EMPTY. A thread that finds nothing announces a check (ACTIVE_CHECK) and scans the groups. If no thread has changed
 * the active word since, it sets that word to no groups in use. A put that completes withdraws the announcement, so
 * that an element put behind the scan position is not missed. Groups use the same protocol on a smaller scale
 * (CHECK_EMPTY, GROUP_EMPTY), so that the next thread need not inspect their slots again. No thread owns a check: any
 * thread can finish it, and a thread that stops in the middle of one blocks no other.
 *
 * FULL is the mirror image: full_state instead of active, CHECK_FULL and FULL, and draws withdraw the announcement.
 *
 * Each announcement and the scan after it, and each change of a slot and the check of the words after it, are
 * sequentially consistent: one of the two observes the other.
 */

static inline enum group_state state_of(uint64_t word)
{
    return (enum group_state)(word & STATE_BITS);
}

static inline uint64_t next_state(uint64_t word, enum group_state state)
{
    return ((word & ~STATE_BITS) + STATE_VERSION) | state;
}

static inline uint64_t used(uint64_t active)
{
    return active & USED_BITS;
}

/* Returns the next active word, without a check. */
static inline uint64_t next_active(uint64_t active, uint64_t groups)
{
    return ((active & ~(USED_BITS | ACTIVE_CHECK)) + ACTIVE_VERSION) | groups;
}

/* Returns the slot word after its element is removed. */
LADE_BAG_INLINE uint64_t vacated(const struct lade_bag_handle *h, uint64_t seen, bool plain)
{
    return !plain && h->bag->cells ? (seen & LAP_BITS) | h->spare : 0;
}

/* After a slot was filled: no check that has not observed it may end with EMPTY. Returns the active word. */
static inline uint64_t announce_fill(struct lade_bag *b, uint64_t slot)
{
    uint64_t j = slot / LADE_BAG_GROUP;

    LADE_STEP();
    uint64_t g = atomic_load_explicit(&b->group[j], memory_order_seq_cst); /* [bag.put.group] -> [bag.group.check] */
    while (state_of(g) == CHECK_EMPTY || state_of(g) == GROUP_EMPTY) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->group[j], &g, next_state(g, OPEN), memory_order_seq_cst,
                                                    memory_order_seq_cst)) /* [bag.put.open] -> [bag.group.look] */
            break;
    }
    LADE_STEP();
    uint64_t active =
        atomic_load_explicit(&b->active, memory_order_seq_cst); /* [bag.put.active] -> [bag.empty.check] */
    while ((active & ACTIVE_CHECK) || used(active) <= j) {
        uint64_t more = next_active(active, used(active) > j ? used(active) : j + 1);
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->active, &active, more, memory_order_seq_cst,
                                                    memory_order_seq_cst)) /* [bag.put.raise] -> [bag.active] */
            active = more;
    }
    return active;
}

/* After a slot was emptied: no check that has not observed it may end with FULL. */
static inline void note_emptied(struct lade_bag *b, uint64_t slot)
{
    uint64_t j = slot / LADE_BAG_GROUP;

    LADE_STEP();
    uint64_t g = atomic_load_explicit(&b->group[j], memory_order_seq_cst); /* [bag.draw.group] -> [bag.group.check] */
    while (state_of(g) == CHECK_FULL || state_of(g) == FULL) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->group[j], &g, next_state(g, OPEN), memory_order_seq_cst,
                                                    memory_order_seq_cst)) /* [bag.draw.open] -> [bag.group.look] */
            break;
    }
    LADE_STEP();
    uint64_t full_state =
        atomic_load_explicit(&b->full_state, memory_order_seq_cst); /* [bag.draw.full_state] -> [bag.full.check] */
    while (state_of(full_state) != OPEN) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->full_state, &full_state, next_state(full_state, OPEN),
                                                    memory_order_seq_cst,
                                                    memory_order_seq_cst)) /* [bag.draw.reopen] -> [bag.full_state] */
            break;
    }
}

/* Remembers the last REMEMBERED slots that the handle emptied. */
static inline void remember(struct lade_bag_handle *h, uint64_t slot)
{
    h->free_hints[++h->last % REMEMBERED] = (uint32_t)slot;
    if (h->remembered < REMEMBERED)
        h->remembered++;
}

/* A sample that reaches the limit removes the element. */
static inline bool takes_out(const struct lade_bag *b, enum act act, uint64_t seen)
{
    return act == DRAW || (act == SAMPLE && b->config.max_times_sampled > 0 &&
                           (seen >> TIMES_SHIFT) + 1 >= b->config.max_times_sampled);
}

/*
 * If the slot cannot count further, the cell is borrowed through its own count; after that, check that the slot still
 * holds it.
 */
static inline bool borrow_uncounted(struct lade_bag_handle *h, uint64_t slot, uint64_t seen)
{
    uint32_t cell = (uint32_t)(seen & CELL_BITS);

    LADE_STEP();
    /*
     * Either the thread that removes the element counts this loan, or this addition comes later and the slot shows the
     * removal.
     */
    atomic_fetch_add_explicit(&h->bag->cell_refs[cell], 1, memory_order_acquire); /* [bag.borrow] -> [bag.cell_unref] */
    LADE_STEP();
    if (atomic_load_explicit(&h->bag->slot[slot], memory_order_relaxed) == seen)
        return true;
    lade_bag_cell_unref(h, cell, -1);
    return false;
}

/* Inspects a slot and acts on the element that it holds, if any. plain may be set for a plain bag. */
LADE_BAG_INLINE bool attempt(struct lade_bag_handle *h, enum act act, uint64_t slot, uint64_t put, bool plain)
{
    struct lade_bag *b = h->bag;

    LADE_STEP();
    uint64_t seen = atomic_load_explicit(&b->slot[slot], memory_order_acquire); /* [bag.look] -> [bag.put.slot] */
    if (!(seen & (plain ? WORD_BITS : b->held)))
        return false;
    h->seen = seen;
    bool removes = takes_out(b, act, seen);
    if (act >= SAMPLE && !removes) {
        if (!b->cells && (act == VISIT || b->config.max_times_sampled == 0))
            return true;
        if (seen >> TIMES_SHIFT == TIMES_FULL)
            return borrow_uncounted(h, slot, seen);
    }
    uint64_t next = removes ? vacated(h, seen, plain) : act == EXCHANGE ? put : seen + TIMES_ONE;
    LADE_STEP();
    if (!atomic_compare_exchange_strong_explicit(&b->slot[slot], &seen, next, memory_order_seq_cst,
                                                 memory_order_seq_cst)) /* [bag.take] -> [bag.put.slot] */
        return false;
    if (removes) {
        note_emptied(b, slot);
        remember(h, slot);
    }
    h->slot = slot;
    return true;
}

/* The update of a put: from the free slot word seen, if it is unchanged, to one that holds the element. */
LADE_BAG_INLINE bool fill_slot(_Atomic uint64_t *slot, uint64_t seen, uint64_t put)
{
    LADE_STEP();
    return atomic_compare_exchange_strong_explicit(slot, &seen, put, memory_order_seq_cst,
                                                   memory_order_seq_cst); /* [bag.put.slot] -> [bag.take] */
}

/* Fills the slot if it is still free and unchanged; the handle then owns the cell that was there. */
LADE_BAG_INLINE bool fill(struct lade_bag_handle *h, uint64_t slot, uint64_t seen, uint64_t put, bool plain)
{
    if (!fill_slot(&h->bag->slot[slot], seen, put))
        return false;
    if (!plain)
        h->spare = (uint32_t)(seen & CELL_BITS);
    h->slot = slot;
    return true;
}

/* Inspects a slot and fills it if it is free. */
LADE_BAG_INLINE bool look_and_fill(struct lade_bag_handle *h, uint64_t slot, uint64_t put, bool plain)
{
    LADE_STEP();
    uint64_t seen = atomic_load_explicit(&h->bag->slot[slot], memory_order_relaxed);
    return !(seen & (plain ? WORD_BITS : h->bag->held)) && fill(h, slot, seen, put, plain);
}

#endif
