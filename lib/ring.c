/* SPDX-License-Identifier: MIT */
#include <lade/ring.h>

#include "alloc.h"
#include "pause.h"
#include "step.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * spsc: indices count words since creation; slot = index & mask (Lamport 1977, with each side's copy of the other index
 * as in Lee, Bu, Chandranmenon 2010).
 */
struct lade_spsc {
    uint64_t *slot;
    uint64_t mask;
    uint64_t capacity;
    const struct lade_alloc *alloc;
    /* written by the producer */
    _Alignas(LADE_APART) _Atomic uint64_t tail;
    uint64_t head_seen;
    /* written by the consumer */
    _Alignas(LADE_APART) _Atomic uint64_t head;
    uint64_t tail_seen;
};

int lade_spsc_create(struct lade_spsc **ring, uint64_t capacity, const struct lade_alloc *alloc)
{
    const struct lade_alloc *a = alloc ? alloc : &lade_default;
    struct lade_spsc *r = NULL;
    uint64_t slots = 1;

    if (!ring || capacity == 0 || capacity > LADE_RING_MAX)
        return LADE_INVALID;
    while (slots < capacity)
        slots *= 2;
    r = lade_array_get(a, 1, sizeof *r);
    if (!r)
        return LADE_NO_MEMORY;
    r->slot = lade_array_get(a, slots, sizeof *r->slot);
    if (!r->slot) {
        lade_array_put(a, r, 1, sizeof *r);
        return LADE_NO_MEMORY;
    }
    r->mask = slots - 1;
    r->capacity = capacity;
    r->alloc = a;
    atomic_init(&r->tail, 0);
    r->head_seen = 0;
    atomic_init(&r->head, 0);
    r->tail_seen = 0;
    *ring = r;
    return LADE_OK;
}

void lade_spsc_destroy(struct lade_spsc *r)
{
    if (!r)
        return;
    const struct lade_alloc *a = r->alloc;
    lade_array_put(a, r->slot, r->mask + 1, sizeof *r->slot);
    lade_array_put(a, r, 1, sizeof *r);
}

/*
 * When the two sides run close together, their lines go back and forth for every word. Two things part them again: a
 * copy of the other side's index is kept only when it is worth some words (asking each time lets the processor go on
 * speculatively, asking late makes it wait), and who finds only a few words, or little room, waits a moment for more.
 */
#ifndef WORTH_KEEPING
#define WORTH_KEEPING 16
#endif
#define FEW 32
#define PATIENCE 12 /* pauses: half a microsecond on current x86 */

static bool is_few(const struct lade_spsc *r, uint64_t n)
{
    return n > 0 && n < FEW && n < r->capacity / 4;
}

static uint64_t head_now(struct lade_spsc *r)
{
    /* The consumer has read the slots below head before they are written again. */
    return atomic_load_explicit(&r->head, memory_order_acquire); /* [ring.spsc.room] -> [ring.spsc.popped] */
}

static uint64_t tail_now(struct lade_spsc *r)
{
    /* The slots below tail are complete. */
    return atomic_load_explicit(&r->tail, memory_order_acquire); /* [ring.spsc.stock] -> [ring.spsc.pushed] */
}

/* Room behind tail: exact, or at least wanted. */
static uint64_t spsc_room(struct lade_spsc *r, uint64_t tail, uint64_t wanted)
{
    if (tail - r->head_seen + wanted <= r->capacity)
        return wanted;
    uint64_t head = head_now(r);
    if (is_few(r, r->capacity - (tail - head))) {
        lade_pause(PATIENCE);
        head = head_now(r);
    }
    uint64_t room = r->capacity - (tail - head);
    if (room >= WORTH_KEEPING)
        r->head_seen = head;
    return room;
}

/* Words in front of head: exact, or at least wanted. */
static uint64_t spsc_stock(struct lade_spsc *r, uint64_t head, uint64_t wanted)
{
    if (head + wanted <= r->tail_seen)
        return wanted;
    uint64_t tail = tail_now(r);
    if (is_few(r, tail - head)) {
        lade_pause(PATIENCE);
        tail = tail_now(r);
    }
    uint64_t stock = tail - head;
    if (stock >= WORTH_KEEPING)
        r->tail_seen = tail;
    return stock;
}

static void spsc_pushed(struct lade_spsc *r, uint64_t tail)
{
    LADE_STEP();
    atomic_store_explicit(&r->tail, tail, memory_order_release); /* [ring.spsc.pushed] -> [ring.spsc.stock] */
}

static void spsc_popped(struct lade_spsc *r, uint64_t head)
{
    LADE_STEP();
    atomic_store_explicit(&r->head, head, memory_order_release); /* [ring.spsc.popped] -> [ring.spsc.room] */
}

/* The single forms branch on the other index and do not compute with it: a guess of the branch is enough to go on. */
int lade_spsc_push(struct lade_spsc *r, uint64_t word)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed); /* only this thread writes it */

    if (spsc_room(r, tail, 1) == 0)
        return LADE_FULL;
    r->slot[tail & r->mask] = word;
    spsc_pushed(r, tail + 1);
    return LADE_OK;
}

int lade_spsc_pop(struct lade_spsc *r, uint64_t *word)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* only this thread writes it */

    if (spsc_stock(r, head, 1) == 0)
        return LADE_EMPTY;
    *word = r->slot[head & r->mask];
    spsc_popped(r, head + 1);
    return LADE_OK;
}

size_t lade_spsc_push_many(struct lade_spsc *r, const uint64_t *word, size_t count)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t wanted = count < r->capacity ? count : r->capacity;
    uint64_t room = spsc_room(r, tail, wanted);
    uint64_t n = wanted < room ? wanted : room;

    for (uint64_t i = 0; i < n; i++)
        r->slot[(tail + i) & r->mask] = word[i];
    if (n > 0)
        spsc_pushed(r, tail + n);
    return (size_t)n;
}

size_t lade_spsc_pop_many(struct lade_spsc *r, uint64_t *word, size_t count)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint64_t wanted = count < r->capacity ? count : r->capacity;
    uint64_t stock = spsc_stock(r, head, wanted);
    uint64_t n = wanted < stock ? wanted : stock;

    for (uint64_t i = 0; i < n; i++)
        word[i] = r->slot[(head + i) & r->mask];
    if (n > 0)
        spsc_popped(r, head + n);
    return (size_t)n;
}

/*
 * mpmc. A ticket is the number of a push or pop, written as (round, position) so that no division is needed. Entry p of
 * the ring passes through turns 0, 1, 2, ...: turn 2k waits for the push of round k, turn 2k + 1 for its pop. A word
 * does not fit beside the turn, so the entry names a cell of cell[] instead, and trades: a push leaves the cell that it
 * has filled and takes the empty one that lay there, a pop leaves its empty cell and takes the full one. Each entry and
 * each handle owns exactly one cell at any time, so nothing is allocated and a stopped thread takes only its own cell.
 *
 * A handle's cursor names a ticket whose predecessor is known to be done. It is therefore the lowest open ticket or
 * behind it. At the lowest open ticket, one look at the entry tells: my turn; or the turn before mine, which for a push
 * means that all capacity words pushed before are still there (FULL), for a pop that nothing was pushed (EMPTY).
 *
 * Looks and trades are sequentially consistent, because with less a FULL and an EMPTY can contradict each other: one
 * thread sees the last push and misses the pop, another makes that pop and misses the push.
 */
struct lade_mpmc_handle {
    _Alignas(LADE_APART) struct lade_mpmc *ring;
    uint64_t cursor[2]; /* next ticket to try: of pushes, of pops */
    uint32_t cell;      /* the one that this handle owns */
    _Atomic uint32_t taken;
};

struct lade_mpmc {
    _Atomic uint64_t *entry; /* turn << cell_bits | cell */
    uint64_t *cell;
    uint64_t capacity;
    uint32_t position_bits, cell_bits;
    struct lade_mpmc_handle *handle;
    uint32_t handles;
    const struct lade_alloc *alloc;
    struct {
        /* Everything below can be skipped: it is done. A hint for cursors left behind, written now and then. */
        _Alignas(LADE_APART) _Atomic uint64_t done;
        _Atomic uint64_t asked; /* below this ticket somebody wants to be let through */
    } ticket[2];
};

enum side { PUSH = 0, POP = 1 };

/* A cursor that reaches a multiple of this tells the others. */
#define HINT_EVERY 16

static uint32_t bits_for(uint64_t n)
{
    uint32_t bits = 0;

    while (n > UINT64_C(1) << bits)
        bits++;
    return bits;
}

static uint64_t position_of(const struct lade_mpmc *r, uint64_t ticket)
{
    return ticket & ((UINT64_C(1) << r->position_bits) - 1);
}

/* The round whose last turn would wrap to 0. */
static uint64_t last_round(const struct lade_mpmc *r)
{
    return (UINT64_C(1) << (63 - r->cell_bits)) - 1;
}

/*
 * No ticket belongs to the last round. The one behind it waits for a turn that no entry has room for: from there on a push
 * meets FULL and a pop EMPTY, for ever.
 */
static uint64_t ticket_after(const struct lade_mpmc *r, uint64_t ticket)
{
    uint64_t round = (ticket >> r->position_bits) + 1;

    if (position_of(r, ticket) + 1 != r->capacity)
        return ticket + 1;
    return (round < last_round(r) ? round : last_round(r) + 1) << r->position_bits;
}

static void mpmc_init(struct lade_mpmc *r)
{
    for (uint64_t i = 0; i < r->capacity; i++)
        atomic_init(&r->entry[i], i);
    for (uint32_t i = 0; i < r->handles; i++) {
        struct lade_mpmc_handle *h = &r->handle[i];
        h->ring = r;
        h->cursor[PUSH] = 0;
        h->cursor[POP] = 0;
        h->cell = (uint32_t)r->capacity + i;
        atomic_init(&h->taken, 0);
    }
    atomic_init(&r->ticket[PUSH].done, 0);
    atomic_init(&r->ticket[POP].done, 0);
    atomic_init(&r->ticket[PUSH].asked, 0);
    atomic_init(&r->ticket[POP].asked, 0);
}

int lade_mpmc_create(struct lade_mpmc **ring, uint64_t capacity, unsigned handles, const struct lade_alloc *alloc)
{
    const struct lade_alloc *a = alloc ? alloc : &lade_default;
    struct lade_mpmc *r = NULL;

    if (!ring || capacity == 0 || capacity > LADE_RING_MAX || handles == 0 || handles > LADE_RING_HANDLES_MAX)
        return LADE_INVALID;
    r = lade_array_get(a, 1, sizeof *r);
    if (!r)
        return LADE_NO_MEMORY;
    r->capacity = capacity;
    r->position_bits = bits_for(capacity);
    r->cell_bits = bits_for(capacity + handles);
    r->handles = handles;
    r->alloc = a;
    r->entry = lade_array_get(a, capacity, sizeof *r->entry);
    r->cell = lade_array_get(a, capacity + handles, sizeof *r->cell);
    r->handle = lade_array_get(a, handles, sizeof *r->handle);
    if (!r->entry || !r->cell || !r->handle) {
        lade_mpmc_destroy(r);
        return LADE_NO_MEMORY;
    }
    mpmc_init(r);
    *ring = r;
    return LADE_OK;
}

void lade_mpmc_destroy(struct lade_mpmc *r)
{
    if (!r)
        return;
    const struct lade_alloc *a = r->alloc;
    lade_array_put(a, r->handle, r->handles, sizeof *r->handle);
    lade_array_put(a, r->cell, r->capacity + r->handles, sizeof *r->cell);
    lade_array_put(a, r->entry, r->capacity, sizeof *r->entry);
    lade_array_put(a, r, 1, sizeof *r);
}

int lade_mpmc_join(struct lade_mpmc *r, struct lade_mpmc_handle **handle)
{
    for (uint32_t i = 0; i < r->handles; i++) {
        /* The cursors and the cell are as the last owner left them. */
        uint32_t taken = atomic_fetch_or_explicit(&r->handle[i].taken, 1,
                                                  memory_order_acquire); /* [ring.mpmc.join] -> [ring.mpmc.leave] */
        if (taken)
            continue;
        *handle = &r->handle[i];
        return LADE_OK;
    }
    return LADE_TOO_MANY;
}

void lade_mpmc_leave(struct lade_mpmc_handle *h)
{
    if (h)
        atomic_store_explicit(&h->taken, 0, memory_order_release); /* [ring.mpmc.leave] -> [ring.mpmc.join] */
}

/* Lost races after which a thread asks to be let through, and tickets for which the others do that. */
#ifndef RACES
#define RACES 128
#endif
#define COURTESY 64

/*
 * What a thread does that lost a race: somebody else is at work here. It leaves the line alone for a moment, which is best for
 * both. But who has the line in its cache wins the next race too, and the one after it, until the system takes its processor
 * away. So who has lost often asks, and then no longer pauses; the others rest behind each operation until it got through,
 * or for a few tickets: one that stops meanwhile hinders nobody.
 */
static void lose(struct lade_mpmc_handle *h, enum side side, uint32_t *lost)
{
    if (++*lost < RACES) {
        lade_pause(PATIENCE);
        return;
    }
    if (*lost % RACES == 0)
        atomic_store_explicit(&h->ring->ticket[side].asked, h->cursor[side] + COURTESY, memory_order_relaxed);
}

/* Goes on to the ticket after the one just done, and leaves a hint now and then. */
static void advance(struct lade_mpmc_handle *h, enum side side, uint32_t lost)
{
    struct lade_mpmc *r = h->ring;
    uint64_t ticket = ticket_after(r, h->cursor[side]);
    bool asked = ticket < atomic_load_explicit(&r->ticket[side].asked, memory_order_relaxed);

    h->cursor[side] = ticket;
    if (asked || position_of(r, ticket) % HINT_EVERY == 0) {
        LADE_STEP();
        /* Racing stores may leave an older ticket. It is as true as the newer one, only less help. */
        atomic_store_explicit(&r->ticket[side].done, ticket,
                              memory_order_release); /* [ring.mpmc.hint] -> [ring.mpmc.skip] */
    }
    if (lost >= RACES)
        atomic_store_explicit(&r->ticket[side].asked, 0, memory_order_relaxed);
    else if (asked)
        lade_pause(2 * PATIENCE);
}

/* The cursor's ticket was done by somebody else: on to the furthest ticket known to follow a finished one. */
static void catch_up(struct lade_mpmc_handle *h, enum side side, uint64_t turn)
{
    struct lade_mpmc *r = h->ring;
    uint64_t round = (turn - 1 - side) / 2; /* the last round in which this side is done with this entry */
    uint64_t here = ticket_after(r, round << r->position_bits | position_of(r, h->cursor[side]));
    /* Whoever skips tickets must see them done, or it takes an old turn for FULL or EMPTY. */
    uint64_t hint =
        atomic_load_explicit(&r->ticket[side].done, memory_order_acquire); /* [ring.mpmc.skip] -> [ring.mpmc.hint] */

    h->cursor[side] = hint > here ? hint : here;
}

/* Trades the handle's cell for the one in the entry of the side's lowest open ticket, if its turn has come. */
static inline bool trade(struct lade_mpmc_handle *h, enum side side)
{
    struct lade_mpmc *r = h->ring;
    uint32_t lost = 0;

    for (;;) {
        uint64_t ticket = h->cursor[side];
        uint64_t mine = (ticket >> r->position_bits << 1) + side;
        _Atomic uint64_t *entry = &r->entry[position_of(r, ticket)];
        LADE_STEP();
        /* The cell that lies there is complete (for a pop), or was read before it was left (for a push). */
        uint64_t seen = atomic_load_explicit(entry, memory_order_seq_cst); /* [ring.mpmc.look] -> [ring.mpmc.trade] */
        uint64_t turn = seen >> r->cell_bits;

        if (turn < mine)
            return false;
        if (turn > mine) {
            catch_up(h, side, turn);
            lose(h, side, &lost);
            continue;
        }
        LADE_STEP();
        uint64_t left = (mine + 1) << r->cell_bits | h->cell;
        if (!atomic_compare_exchange_strong_explicit(entry, &seen, left, memory_order_seq_cst,
                                                     memory_order_seq_cst)) /* [ring.mpmc.trade] -> [ring.mpmc.look] */
            continue;
        h->cell = (uint32_t)(seen & ((UINT64_C(1) << r->cell_bits) - 1));
        advance(h, side, lost);
        return true;
    }
}

int lade_mpmc_push(struct lade_mpmc_handle *h, uint64_t word)
{
    h->ring->cell[h->cell] = word;
    return trade(h, PUSH) ? LADE_OK : LADE_FULL;
}

int lade_mpmc_pop(struct lade_mpmc_handle *h, uint64_t *word)
{
    if (!trade(h, POP))
        return LADE_EMPTY;
    *word = h->ring->cell[h->cell];
    return LADE_OK;
}

size_t lade_mpmc_push_many(struct lade_mpmc_handle *h, const uint64_t *word, size_t count)
{
    size_t done = 0;

    while (done < count && lade_mpmc_push(h, word[done]) == LADE_OK)
        done++;
    return done;
}

size_t lade_mpmc_pop_many(struct lade_mpmc_handle *h, uint64_t *word, size_t count)
{
    size_t done = 0;

    while (done < count && lade_mpmc_pop(h, &word[done]) == LADE_OK)
        done++;
    return done;
}
