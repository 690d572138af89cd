/* SPDX-License-Identifier: MIT */
/* How draws and puts find a slot of a bag by random probes. Internal. */
#ifndef LADE_LIB_BAG_PROBE_H
#define LADE_LIB_BAG_PROBE_H

#include "bag_slot.h"

/* How a put searches for a free slot before it takes more groups into use. */
#ifndef LADE_BAG_PROBES
#define LADE_BAG_PROBES 32  /* neighbouring slots */
#define LADE_BAG_RESTARTS 4 /* random positions */
#endif

#define SLOTS_IN_LINE 8
#define PREFETCH_AHEAD (4 * SLOTS_IN_LINE) /* slots from the cursor */
#define BATCH_AHEAD (8 * SLOTS_IN_LINE)    /* the same, for a batch */

/*
 * A batch takes another group into use if fewer than one in FREE_SHARE slots is free. Inspecting a slot costs a batch as
 * much as filling it; draws pay with as many failed probes.
 */
#ifndef FREE_SHARE
#define FREE_SHARE 3
#endif
#define AT_ONCE 64 /* words of a batch that are put before they are completed */

#if LADE_BAG_AHEAD > 0
/* Prefetches the slots that a random word selects, unless they are rejected later. */
static inline void prefetch_slots(const struct lade_bag *b, uint64_t word, uint64_t slots)
{
    lade_prefetch(&b->slot[(word & UINT32_MAX) * slots >> 32]);
    lade_prefetch(&b->slot[(word >> 32) * slots >> 32]);
}

static uint64_t next_word(struct lade_bag_handle *h, uint64_t slots)
{
    struct lade_random *r = &h->random;

    if (r->next == LADE_RANDOM_BUFFER) {
        lade_random_refill(r);
        for (int i = 0; i < LADE_BAG_AHEAD; i++)
            prefetch_slots(h->bag, r->word[i], slots);
    }
    if (r->next + LADE_BAG_AHEAD < LADE_RANDOM_BUFFER)
        prefetch_slots(h->bag, r->word[r->next + LADE_BAG_AHEAD], slots);
    return lade_random_word(r);
}

/*
 * Returns a slot, each exactly equally likely: lade_random_below() with half a word, because there are at most
 * LADE_BAG_MAX slots. The words are generated some time before they are used, so that the cache lines arrive in the
 * meantime.
 */
LADE_BAG_INLINE uint64_t pick(struct lade_bag_handle *h, uint64_t slots)
{
    for (;;) {
        uint64_t half = h->half & UINT32_MAX;
        if (h->half) {
            h->half = 0;
        } else {
            uint64_t word = next_word(h, slots);
            half = word & UINT32_MAX;
            h->half = word >> 32 | UINT64_C(1) << 32;
        }
        uint64_t product = half * slots;
        if ((uint32_t)product >= slots || (uint32_t)product >= (UINT64_C(1) << 32) % slots)
            return product >> 32;
    }
}

/* As pick(), if that needs neither a refill nor a second random word. */
LADE_BAG_INLINE bool pick_at_once(struct lade_bag_handle *h, uint64_t slots, uint64_t *slot)
{
    struct lade_random *r = &h->random;
    uint64_t half = h->half & UINT32_MAX;

    if (h->half) {
        h->half = 0;
    } else {
        uint32_t next = r->next;
        if (next + LADE_BAG_AHEAD >= LADE_RANDOM_BUFFER)
            return false;
        prefetch_slots(h->bag, r->word[next + LADE_BAG_AHEAD], slots);
        half = r->word[next] & UINT32_MAX;
        h->half = r->word[next] >> 32 | UINT64_C(1) << 32;
        r->next = next + 1;
    }
    uint64_t product = half * slots;
    *slot = product >> 32;
    return (uint32_t)product >= slots || (uint32_t)product >= (UINT64_C(1) << 32) % slots;
}
#else
LADE_BAG_INLINE uint64_t pick(struct lade_bag_handle *h, uint64_t slots)
{
    return LADE_BAG_BELOW(&h->random, slots);
}

LADE_BAG_INLINE bool pick_at_once(struct lade_bag_handle *h, uint64_t slots, uint64_t *slot)
{
    if (LADE_BAG_TRIES == 0)
        return false;
    *slot = pick(h, slots);
    return true;
}
#endif

/* The number of slots to probe. */
LADE_BAG_INLINE uint64_t slots_to_try(struct lade_bag *b)
{
    LADE_STEP();
    return slots_in(b, used(atomic_load_explicit(&b->active, memory_order_relaxed))); /* only a hint */
}

/*
 * Chooses among the first slots, after some probes were already made. In a plain bag the first probe makes most
 * choices. It calls no other function, so no registers are saved: choose_at_once(). This function does the rest.
 */
LADE_BAG_INLINE int choose_among(struct lade_bag_handle *h, enum act act, uint64_t put, uint64_t slots, uint64_t tried,
                                 bool plain)
{
    uint64_t tries = slots / 512 > LADE_BAG_TRIES ? slots / 512 : LADE_BAG_TRIES;

    for (; slots > 0 && tries > tried; tries--)
        if (attempt(h, act, pick(h, slots), put, plain))
            return LADE_OK;
    return lade_bag_choose_by_passes(h, act, put);
}

LADE_BAG_INLINE bool choose_at_once(struct lade_bag_handle *h, enum act act, uint64_t put, uint64_t slots,
                                    uint64_t *tried)
{
    uint64_t slot;

    *tried = 0;
    if (slots == 0 || !pick_at_once(h, slots, &slot))
        return false;
    *tried = 1;
    return attempt(h, act, slot, put, true);
}

/* Tries some slots from the cursor on. */
LADE_BAG_INLINE bool fill_from_cursor(struct lade_bag_handle *h, uint64_t slots, uint64_t put, bool plain)
{
    _Atomic uint64_t *slot = h->bag->slot;
    uint64_t held = plain ? WORD_BITS : h->bag->held;
    uint64_t at = h->cursor < slots ? h->cursor : 0; /* the slot inspected longest ago */
    uint64_t end = at + LADE_BAG_PROBES < slots ? at + LADE_BAG_PROBES : slots;

    for (; at < end; at++) {
        if (at % SLOTS_IN_LINE == 0)
            lade_prefetch(&slot[at + PREFETCH_AHEAD < slots ? at + PREFETCH_AHEAD : at]);
        LADE_STEP();
        uint64_t seen = atomic_load_explicit(&slot[at], memory_order_relaxed);
        if (!(seen & held) && fill(h, at, seen, put, plain)) {
            h->cursor = at + 1;
            return true;
        }
    }
    h->cursor = at;
    return false;
}

/* Removes and returns one of the slots that the handle remembers; there must be one. */
static inline uint64_t recall(struct lade_bag_handle *h)
{
    h->remembered--;
    return h->free_hints[h->last-- % REMEMBERED];
}

/*
 * Remembers the free slots among some slots from the cursor on, in a plain bag; no slot was remembered before. Whether
 * a slot is free cannot be predicted, so there is no branch per slot.
 */
static inline bool look_ahead(struct lade_bag_handle *h, uint64_t slots)
{
    _Atomic uint64_t *slot = h->bag->slot;
    uint64_t at = h->cursor < slots ? h->cursor : 0; /* the slot inspected longest ago */
    uint64_t end = at + LADE_BAG_PROBES < slots ? at + LADE_BAG_PROBES : slots;
    uint32_t found = 0;

    while (at < end && found <= REMEMBERED - SLOTS_IN_LINE) {
        uint64_t line = (at / SLOTS_IN_LINE + 1) * SLOTS_IN_LINE;
        uint64_t stop = line < end ? line : end;
        lade_prefetch(&slot[at + PREFETCH_AHEAD < slots ? at + PREFETCH_AHEAD : at]);
        for (; at < stop; at++) {
            LADE_STEP();
            h->free_hints[(found + 1) % REMEMBERED] = (uint32_t)at;
            found += !(atomic_load_explicit(&slot[at], memory_order_relaxed) & WORD_BITS);
        }
    }
    h->cursor = at;
    h->last = h->remembered = found;
    return found > 0;
}

/* Notes the slot; the next note overwrites it unless the slot looks free. */
static inline size_t note_if_free(const _Atomic uint64_t *slot, uint64_t i, uint32_t *at, size_t found)
{
    LADE_STEP();
    at[found] = (uint32_t)i;
    return found + (atomic_load_explicit(&slot[i], memory_order_relaxed) == 0);
}

static inline size_t note_four(const _Atomic uint64_t *slot, uint64_t i, uint32_t *at, size_t found)
{
    found = note_if_free(slot, i, at, found);
    found = note_if_free(slot, i + 1, at, found);
    found = note_if_free(slot, i + 2, at, found);
    return note_if_free(slot, i + 3, at, found);
}

/*
 * Finds free slots of a plain bag from the cursor's cache line on, in order, without a branch per slot. Returns the
 * number found, which exceeds wanted by at most one line, and whether many slots were free.
 */
static inline size_t find_free(struct lade_bag_handle *h, uint64_t slots, size_t wanted, uint32_t *at, bool *has_enough)
{
    const _Atomic uint64_t *slot = h->bag->slot;
    uint64_t begin = h->cursor / SLOTS_IN_LINE * SLOTS_IN_LINE;
    uint64_t end = begin + FREE_SHARE * AT_ONCE < slots ? begin + FREE_SHARE * AT_ONCE : slots;
    uint64_t i = begin;
    size_t found = 0;

    for (; i + SLOTS_IN_LINE <= end && found < wanted; i += SLOTS_IN_LINE) {
        lade_prefetch(&slot[i + BATCH_AHEAD < slots ? i + BATCH_AHEAD : i]);
        found = note_four(slot, i, at, found);
        found = note_four(slot, i + 4, at, found);
    }
    for (; i < end && found < wanted; i++)
        found = note_if_free(slot, i, at, found);
    h->cursor = i;
    *has_enough = found * FREE_SHARE >= i - begin;
    return found;
}

/* Tries the slots that this handle emptied, then some from the cursor on, then some from random positions. */
LADE_BAG_INLINE bool fill_nearby(struct lade_bag_handle *h, uint64_t slots, uint64_t put, bool plain)
{
    if (slots == 0)
        h->remembered = 0; /* the bag was empty; it fills from the beginning again */
    while (h->remembered > 0) {
        uint64_t slot = h->free_hints[h->last-- % REMEMBERED];
        h->remembered--;
        if (slot < slots && look_and_fill(h, slot, put, plain))
            return true;
    }
    for (int restart = 0; slots > 0 && restart < LADE_BAG_RESTARTS; restart++) {
        if (fill_from_cursor(h, slots, put, plain))
            return true;
        h->cursor = LADE_BAG_BELOW(&h->random, slots);
    }
    return false;
}

/*
 * Takes more groups into use than active records, and moves the cursor there. False if active has changed in the
 * meantime.
 */
static inline bool use_more(struct lade_bag_handle *h, uint64_t active, uint64_t more)
{
    struct lade_bag *b = h->bag;
    uint64_t groups = used(active);

    LADE_STEP();
    if (!atomic_compare_exchange_strong_explicit(
            &b->active, &active, next_active(active, groups + more < b->groups ? groups + more : b->groups),
            memory_order_seq_cst, memory_order_seq_cst)) /* [bag.grow] -> [bag.active] */
        return false;
    h->cursor = groups * LADE_BAG_GROUP;
    return true;
}

/* Finds a free slot for put; takes more groups into use if necessary. LADE_OK, LADE_FULL, LADE_CLOSED. */
LADE_BAG_INLINE int place(struct lade_bag_handle *h, uint64_t put, bool plain)
{
    struct lade_bag *b = h->bag;

    for (;;) {
        LADE_STEP();
        uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed); /* announce_fill() checks again */
        uint64_t groups = used(active);
        if (active & ACTIVE_CLOSED)
            return unless_closed(b, LADE_CLOSED);
        if (fill_nearby(h, slots_in(b, groups), put, plain))
            return LADE_OK;
        if (groups == b->groups)
            return lade_bag_fill_or_full(h, put);
        (void)use_more(h, active, groups > 7 ? groups / 8 : 1);
    }
}

#endif
