/* SPDX-License-Identifier: MIT */
/* The slow path of draws and puts, after random probes failed: they scan the groups until EMPTY or FULL is certain. */
#include "bag_slot.h"

/* Returns the slots of group j that hold an element, as bits. */
static uint64_t held_in(const struct lade_bag *b, uint64_t j, uint64_t count)
{
    _Atomic uint64_t *slot = &b->slot[j * LADE_BAG_GROUP];
    uint64_t held = b->held;
    uint64_t mask = 0;

    for (uint64_t i = 0; i < count; i++) {
        LADE_STEP();
        uint64_t seen = atomic_load_explicit(&slot[i], memory_order_seq_cst); /* [bag.group.slot] -> [bag.put.slot] */
        mask |= (uint64_t)((seen & held) != 0) << i;
    }
    return mask;
}

/*
 * Returns the slots of group j that hold an element (want_held) or are free (otherwise), as bits. If there are none,
 * records that in the group's word, so that the next caller can skip the slots.
 */
static inline uint64_t scan_group(struct lade_bag *b, uint64_t j, bool want_held)
{
    enum group_state check = want_held ? CHECK_EMPTY : CHECK_FULL;
    enum group_state none = want_held ? GROUP_EMPTY : FULL;

    for (;;) {
        LADE_STEP();
        uint64_t g = atomic_load_explicit(&b->group[j], memory_order_seq_cst); /* [bag.group.look] -> [bag.put.open] */
        if (state_of(g) == none)
            return 0;
        uint64_t count = slots_in(b, j + 1) - j * LADE_BAG_GROUP;
        uint64_t mask = held_in(b, j, count);
        if (!want_held)
            mask ^= UINT64_MAX >> (64 - count);
        if (mask)
            return mask;
        bool seen_none = state_of(g) == check;
        LADE_STEP();
        bool done = atomic_compare_exchange_strong_explicit(
            &b->group[j], &g, next_state(g, seen_none ? none : check), memory_order_seq_cst,
            memory_order_seq_cst); /* [bag.group.check] -> [bag.put.group] */
        if (seen_none && done)
            return 0;
    }
}

/* Returns the position of a random bit of the mask. */
static uint64_t random_bit(struct lade_bag_handle *h, uint64_t mask)
{
    uint64_t skip = LADE_BAG_BELOW(&h->random, (uint64_t)__builtin_popcountll(mask));

    for (; skip > 0; skip--)
        mask &= mask - 1;
    return (uint64_t)__builtin_ctzll(mask);
}

/* The bag is empty, hence not full. Reopens full_state: the draw that emptied the bag may not have done so yet. */
static int saw_empty(struct lade_bag_handle *h, uint64_t active)
{
    struct lade_bag *b = h->bag;

    LADE_STEP();
    uint64_t full_state =
        atomic_load_explicit(&b->full_state, memory_order_seq_cst); /* [bag.empty.full_state] -> [bag.full.check] */
    while (state_of(full_state) != OPEN) {
        LADE_STEP();
        /* It is enough that the thread that announced a check finds the word changed. */
        if (atomic_compare_exchange_strong_explicit(&b->full_state, &full_state, next_state(full_state, OPEN),
                                                    memory_order_relaxed, memory_order_relaxed))
            break;
    }
    add(h, SAW_EMPTY, 1);
    return active & ACTIVE_CLOSED ? unless_closed(b, LADE_CLOSED) : LADE_EMPTY;
}

/* One scan of the groups in use selects a slot. Each slot found to hold an element has the same probability. */
static inline bool pass(struct lade_bag_handle *h, uint64_t groups, uint64_t *slot)
{
    uint64_t total = 0, chosen = 0, chosen_mask = 0;

    for (uint64_t j = 0; j < groups; j++) {
        uint64_t mask = scan_group(h->bag, j, true);
        if (mask == 0)
            continue;
        uint64_t count = (uint64_t)__builtin_popcountll(mask);
        total += count;
        if (LADE_BAG_BELOW(&h->random, total) < count) {
            chosen = j;
            chosen_mask = mask;
        }
    }
    if (total == 0)
        return false;
    *slot = chosen * LADE_BAG_GROUP + random_bit(h, chosen_mask);
    return true;
}

int lade_bag_choose_by_passes(struct lade_bag_handle *h, enum act act, uint64_t put)
{
    struct lade_bag *b = h->bag;
    uint64_t slot;

    for (;;) {
        LADE_STEP();
        uint64_t active = atomic_load_explicit(&b->active, memory_order_seq_cst); /* [bag.active] -> [bag.put.raise] */
        if (used(active) == 0)
            return saw_empty(h, active);
        add(h, SCANNED, 1);
        if (pass(h, used(active), &slot)) {
            if (attempt(h, act, slot, put, false))
                return LADE_OK;
            continue;
        }
        bool checked = active & ACTIVE_CHECK;
        uint64_t next = checked ? next_active(active, 0) : (active + ACTIVE_VERSION) | ACTIVE_CHECK;
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->active, &active, next, memory_order_seq_cst,
                                                    memory_order_seq_cst) && /* [bag.empty.check] -> [bag.put.active] */
            checked)
            return saw_empty(h, next);
    }
}

/* Searches every group for a free slot. */
static bool fill_anywhere(struct lade_bag_handle *h, uint64_t put)
{
    struct lade_bag *b = h->bag;
    uint64_t start = h->cursor / LADE_BAG_GROUP;

    for (uint64_t i = 0; i < b->groups; i++) {
        uint64_t j = (start + i) % b->groups;
        uint64_t mask = scan_group(b, j, false);
        for (; mask; mask &= mask - 1) {
            h->cursor = j * LADE_BAG_GROUP + (uint64_t)__builtin_ctzll(mask);
            if (look_and_fill(h, h->cursor, put, false))
                return true;
        }
    }
    return false;
}

/* The bag is full, hence not empty. Updates active: the put that filled the bag may not have done so yet. */
static int saw_full(struct lade_bag_handle *h)
{
    struct lade_bag *b = h->bag;

    LADE_STEP();
    uint64_t active =
        atomic_load_explicit(&b->active, memory_order_seq_cst); /* [bag.full.active] -> [bag.empty.check] */
    while ((active & ACTIVE_CHECK) || used(active) < b->groups) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->active, &active, next_active(active, b->groups),
                                                    memory_order_relaxed, memory_order_relaxed))
            break;
    }
    add(h, SAW_FULL, 1);
    return active & ACTIVE_CLOSED ? unless_closed(b, LADE_CLOSED) : LADE_FULL;
}

int lade_bag_fill_or_full(struct lade_bag_handle *h, uint64_t put)
{
    struct lade_bag *b = h->bag;

    for (;;) {
        LADE_STEP();
        uint64_t full_state =
            atomic_load_explicit(&b->full_state, memory_order_seq_cst); /* [bag.full_state] -> [bag.draw.reopen] */
        if (state_of(full_state) == FULL)
            return saw_full(h);
        add(h, SCANNED, 1);
        if (fill_anywhere(h, put))
            return LADE_OK;
        bool checked = state_of(full_state) == CHECK_FULL;
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(
                &b->full_state, &full_state, next_state(full_state, checked ? FULL : CHECK_FULL), memory_order_seq_cst,
                memory_order_seq_cst) && /* [bag.full.check] -> [bag.draw.full_state] */
            checked)
            return saw_full(h);
    }
}
