/* SPDX-License-Identifier: MIT */
/* The internal structures of the rings, shared by lib/ring*.c. Internal. */
#ifndef LADE_LIB_RING_H
#define LADE_LIB_RING_H

#include <lade/ring.h>

#include "alloc.h"
#include "step.h"
#include "event.h"

#include <stdatomic.h>

/* State of the waiting forms. Not used without waits. */
struct lade_ring_waits {
    /* loaded by pushes */
    _Alignas(LADE_CACHELINE_PAIR) struct lade_event arrived; /* pops wait here */
    _Atomic uint32_t closed;                                 /* mpmc only */
    _Atomic uint32_t cancelled;                              /* number of cancels */
    /* loaded by pops */
    _Alignas(LADE_CACHELINE_PAIR) struct lade_event left; /* pushes wait here */
};

/*
 * spsc: indices count words since creation; slot = index & mask (Lamport 1977; each side has a copy of the other index,
 * as in Lee, Bu, Chandranmenon 2010).
 */
struct lade_spsc {
    uint64_t *slot;
    uint64_t mask;
    uint64_t capacity;
    const struct lade_alloc *alloc;
    bool waits;
    /* written by the producer, and by close */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t tail;
    uint64_t head_seen;
    /* written by the consumer */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t head;
    uint64_t tail_seen;
    struct lade_ring_waits wait;
};

/* Added to tail by close: the producer's next publication fails. No index reaches this value. */
#define LADE_SPSC_CLOSED (UINT64_C(1) << 63)

/*
 * mpmc. A ticket is the number of a push or pop, written as (round, position) so that no division is needed. Entry p of
 * the ring has turns 0, 1, 2, ...: turn 2k waits for the push of round k, turn 2k + 1 for its pop. A word does not fit
 * beside the turn, so the entry names a cell of cell[] instead. Operations trade cells: a push leaves the cell that it
 * has filled and takes the empty one in the entry; a pop leaves its empty cell and takes the full one. Each entry and
 * each handle owns exactly one cell at any time, so nothing is allocated, and a stopped thread keeps only its own cell.
 *
 * A handle's cursor names a ticket whose predecessor is known to be done. Therefore it is the lowest open ticket or
 * before it. At the lowest open ticket, one load of the entry decides. Either it is this ticket's turn. Or it is the
 * turn before: for a push this means that all capacity words pushed before are still there (FULL), for a pop that
 * nothing was pushed (EMPTY).
 *
 * Loads of entries and trades are sequentially consistent. With weaker orders, a FULL and an EMPTY can contradict each
 * other: one thread observes the last push and misses the pop, another makes that pop and misses the push.
 *
 * A push that observes the ring closed fails. For a push that does not, the first pop that finds the closed ring empty
 * seals the entry of its ticket, which is also the entry of the lowest push: its turn becomes the last one, which no
 * ticket has. No operation passes a sealed entry, so the ring stays empty.
 */
struct lade_mpmc_handle {
    _Alignas(LADE_CACHELINE_PAIR) struct lade_mpmc *ring;
    uint64_t cursor[2]; /* next ticket to try: of pushes, of pops */
    uint32_t cell;      /* the cell that this handle owns */
    _Atomic uint32_t taken;
};

struct lade_mpmc {
    _Atomic uint64_t *entry; /* turn << cell_bits | cell */
    uint64_t *cell;
    uint64_t capacity;
    uint32_t position_bits, cell_bits;
    struct lade_mpmc_handle *handle;
    uint32_t handles;
    bool waits;
    const struct lade_alloc *alloc;
    struct {
        /* All tickets below are done and can be skipped. A hint for cursors that fell behind, written occasionally. */
        _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t done;
        _Atomic uint64_t asked; /* below this ticket, another thread asks to pass */
    } ticket[2];
    struct lade_ring_waits wait;
};

enum side { PUSH = 0, POP = 1 };

static inline uint64_t position_of(const struct lade_mpmc *r, uint64_t ticket)
{
    return ticket & ((UINT64_C(1) << r->position_bits) - 1);
}

/* Returns the turn of an entry. */
static inline uint64_t turn_in(const struct lade_mpmc *r, uint64_t entry)
{
    return entry >> r->cell_bits;
}

/* Returns the turn that a ticket waits for. */
static inline uint64_t turn_of(const struct lade_mpmc *r, uint64_t ticket, enum side side)
{
    return (ticket >> r->position_bits << 1) + side;
}

/* The turn of a sealed entry: the last one of the last round. */
static inline uint64_t sealed_turn(const struct lade_mpmc *r)
{
    return UINT64_MAX >> r->cell_bits;
}

/* The round whose last turn would wrap to 0. */
static inline uint64_t last_round(const struct lade_mpmc *r)
{
    return (UINT64_C(1) << (63 - r->cell_bits)) - 1;
}

/*
 * No ticket belongs to the last round. The ticket after it waits for a turn that no entry can represent: from there on
 * every push gets FULL and every pop EMPTY, forever.
 */
static inline uint64_t ticket_after(const struct lade_mpmc *r, uint64_t ticket)
{
    uint64_t round = (ticket >> r->position_bits) + 1;

    if (position_of(r, ticket) + 1 != r->capacity)
        return ticket + 1;
    return (round < last_round(r) ? round : last_round(r) + 1) << r->position_bits;
}

/* Returns the first ticket after all that an entry with this turn shows to be done. */
static inline uint64_t ticket_behind(const struct lade_mpmc *r, uint64_t position, uint64_t turn, enum side side)
{
    uint64_t round = (turn - 1 - side) / 2; /* the last round in which this side is done with this entry */

    return ticket_after(r, round << r->position_bits | position);
}

static inline void lade_ring_waits_init(struct lade_ring_waits *w)
{
    lade_event_init(&w->arrived);
    lade_event_init(&w->left);
    atomic_init(&w->closed, 0);
    atomic_init(&w->cancelled, 0);
}

/* After a store of any order: wakes all waiting threads. */
static inline void lade_ring_wake(struct lade_ring_waits *w)
{
    lade_event_notify_all(&w->arrived);
    lade_event_notify_all(&w->left);
}

#endif
