/* SPDX-License-Identifier: MIT */
/* The number of words in a ring. */
#include "ring.h"

uint64_t lade_spsc_count(const struct lade_spsc *r)
{
    LADE_STEP();
    /* The words below head were pushed: tail is loaded after head and is at least as large. */
    uint64_t head = atomic_load_explicit(
        &r->head, memory_order_acquire); /* [ring.spsc.counted] -> [ring.spsc.popped], [ring.spsc.leave] */
    LADE_STEP();
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed) & ~LADE_SPSC_CLOSED;

    return tail - head < r->capacity ? tail - head : r->capacity;
}

/*
 * Finds the lowest open ticket of a side, as far as trades are visible. False: an entry is sealed, the ring stays
 * empty.
 */
static bool find_open(const struct lade_mpmc *r, enum side side, uint64_t *ticket)
{
    LADE_STEP();
    *ticket = atomic_load_explicit(&r->ticket[side].done,
                                   memory_order_acquire); /* [ring.mpmc.count.skip] -> [ring.mpmc.hint] */
    for (;;) {
        uint64_t position = position_of(r, *ticket);
        LADE_STEP();
        uint64_t seen = atomic_load_explicit(&r->entry[position],
                                             memory_order_acquire); /* [ring.mpmc.count.look] -> [ring.mpmc.trade] */
        uint64_t turn = turn_in(r, seen);
        if (turn == sealed_turn(r))
            return false;
        if (turn <= turn_of(r, *ticket, side))
            return true;
        *ticket = ticket_behind(r, position, turn, side);
    }
}

/* Returns the number of tickets before this one. The last round has none. */
static uint64_t number_of(const struct lade_mpmc *r, uint64_t ticket)
{
    uint64_t round = ticket >> r->position_bits;

    return (round < last_round(r) ? round : last_round(r)) * r->capacity + position_of(r, ticket);
}

uint64_t lade_mpmc_count(const struct lade_mpmc *r)
{
    uint64_t pushes, pops;

    /* Popped words were pushed: the pushes are counted after the pops and are at least as many. */
    if (!find_open(r, POP, &pops) || !find_open(r, PUSH, &pushes))
        return 0;
    uint64_t held = number_of(r, pushes) - number_of(r, pops);
    return held < r->capacity ? held : r->capacity;
}
