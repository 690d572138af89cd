/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include "pause.h"
#include "sized.h"

/* The code for rings with waits is kept out of line, so that the functions without waits stay short. */
#ifdef __GNUC__
#define LADE_RING_APART static __attribute__((noinline))
#else
#define LADE_RING_APART static
#endif

/* Returns the configuration as this library knows it, or NULL if it is not valid. */
static const struct lade_ring_config *valid_config(const struct lade_ring_config *config, size_t size,
                                                   struct lade_ring_config *copy)
{
    const struct lade_ring_config *c = config ? lade_sized_in(config, size, copy, sizeof *copy) : NULL;

    return c && c->capacity > 0 && c->capacity <= LADE_RING_MAX && c->handles <= LADE_RING_HANDLES_MAX ? c : NULL;
}

int lade_spsc_create_sized(struct lade_spsc **ring, const struct lade_ring_config *config, size_t size)
{
    struct lade_ring_config copy;
    const struct lade_ring_config *c = valid_config(config, size, &copy);

    if (!ring || !c || c->handles != 0)
        return LADE_INVALID;
    const struct lade_alloc *a = c->alloc ? c->alloc : &lade_default;
    struct lade_spsc *r = NULL;
    uint64_t slots = 1;
    while (slots < c->capacity)
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
    r->capacity = c->capacity;
    r->alloc = a;
    r->waits = c->waits;
    atomic_init(&r->tail, 0);
    r->head_seen = 0;
    atomic_init(&r->head, 0);
    r->tail_seen = 0;
    lade_ring_waits_init(&r->wait);
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
 * If the two sides run close together, their cache lines bounce for every word. Two measures separate them again. A
 * copy of the other side's index is kept only if it covers some words: loading it each time lets the processor continue
 * speculatively, loading it late makes it wait. And a side that finds only a few words, or few free slots, pauses
 * briefly for more.
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
    return atomic_load_explicit(&r->head, memory_order_acquire); /* [ring.spsc.free] -> [ring.spsc.popped] */
}

static uint64_t tail_now(struct lade_spsc *r)
{
    /* The slots below tail are complete. */
    return atomic_load_explicit(&r->tail, memory_order_acquire); /* [ring.spsc.stock] -> [ring.spsc.pushed] */
}

/* Returns the number of free slots after tail: exact, or at least wanted. */
static uint64_t spsc_free(struct lade_spsc *r, uint64_t tail, uint64_t wanted)
{
    if (tail - r->head_seen + wanted <= r->capacity)
        return wanted;
    uint64_t head = head_now(r);
    if (is_few(r, r->capacity - (tail - head))) {
        lade_pause(PATIENCE);
        head = head_now(r);
    }
    uint64_t free_slots = r->capacity - (tail - head);
    if (free_slots >= WORTH_KEEPING)
        r->head_seen = head;
    return free_slots;
}

/* Returns the number of words from head on: exact, or at least wanted. */
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
    atomic_store_explicit(&r->head, head, memory_order_release); /* [ring.spsc.popped] -> [ring.spsc.free] */
}

/*
 * With waits. An index is published and loaded with seq_cst. Take a thread that publishes and then checks for waiters,
 * and a thread that is counted as a waiter and then checks the index: one of the two observes the other. The tail is
 * published by a compare-exchange, which fails if the ring was closed in the meantime.
 */
static int spsc_closed(struct lade_spsc *r)
{
    /* In place of a thread that stopped inside close. */
    lade_ring_wake(&r->wait);
    return LADE_CLOSED;
}

/* LADE_OK: *count words were pushed, at least one. */
static int spsc_push_open(struct lade_spsc *r, const uint64_t *word, size_t *count)
{
    LADE_STEP();
    /* Only this thread and close write it. */
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire); /* [ring.spsc.open] -> [ring.spsc.close] */
    uint64_t wanted = *count < r->capacity ? *count : r->capacity;

    if (tail & LADE_SPSC_CLOSED)
        return spsc_closed(r);
    if (tail - r->head_seen + wanted > r->capacity) {
        LADE_STEP();
        r->head_seen = atomic_load_explicit(&r->head, memory_order_seq_cst); /* [ring.spsc.left] -> [ring.spsc.leave] */
    }
    uint64_t free_slots = r->capacity - (tail - r->head_seen);
    uint64_t n = wanted < free_slots ? wanted : free_slots;
    if (n == 0)
        return LADE_FULL;
    for (uint64_t i = 0; i < n; i++)
        r->slot[(tail + i) & r->mask] = word[i];
    LADE_STEP();
    if (!atomic_compare_exchange_strong_explicit(
            &r->tail, &tail, tail + n, memory_order_seq_cst,
            memory_order_seq_cst)) /* [ring.spsc.arrive] -> [ring.spsc.arrived], [ring.spsc.close] */
        return spsc_closed(r);
    lade_event_notify_all_seq_cst(&r->wait.arrived);
    *count = (size_t)n;
    return LADE_OK;
}

/* LADE_OK: *count words were popped, at least one. */
static int spsc_pop_open(struct lade_spsc *r, uint64_t *word, size_t *count)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* only this thread writes it */
    uint64_t wanted = *count < r->capacity ? *count : r->capacity;
    uint64_t closed = 0;

    if (r->tail_seen - head < wanted) {
        LADE_STEP();
        uint64_t tail = atomic_load_explicit(
            &r->tail, memory_order_seq_cst); /* [ring.spsc.arrived] -> [ring.spsc.arrive], [ring.spsc.close] */
        closed = tail & LADE_SPSC_CLOSED;
        r->tail_seen = tail & ~LADE_SPSC_CLOSED;
    }
    uint64_t stock = r->tail_seen - head;
    uint64_t n = wanted < stock ? wanted : stock;
    if (n == 0)
        return closed ? spsc_closed(r) : LADE_EMPTY;
    for (uint64_t i = 0; i < n; i++)
        word[i] = r->slot[(head + i) & r->mask];
    LADE_STEP();
    atomic_store_explicit(&r->head, head + n, memory_order_seq_cst); /* [ring.spsc.leave] -> [ring.spsc.left] */
    lade_event_notify_all_seq_cst(&r->wait.left);
    *count = (size_t)n;
    return LADE_OK;
}

LADE_RING_APART int spsc_push_one_open(struct lade_spsc *r, uint64_t word)
{
    return spsc_push_open(r, &word, &(size_t){1});
}

LADE_RING_APART int spsc_pop_one_open(struct lade_spsc *r, uint64_t *word)
{
    return spsc_pop_open(r, word, &(size_t){1});
}

/* The single forms branch on the other index and do not compute with it: a predicted branch is enough to continue. */
int lade_spsc_push(struct lade_spsc *r, uint64_t word)
{
    if (r->waits)
        return spsc_push_one_open(r, word);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed); /* only this thread writes it */

    if (spsc_free(r, tail, 1) == 0)
        return LADE_FULL;
    r->slot[tail & r->mask] = word;
    spsc_pushed(r, tail + 1);
    return LADE_OK;
}

int lade_spsc_pop(struct lade_spsc *r, uint64_t *word)
{
    if (r->waits)
        return spsc_pop_one_open(r, word);
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* only this thread writes it */

    if (spsc_stock(r, head, 1) == 0)
        return LADE_EMPTY;
    *word = r->slot[head & r->mask];
    spsc_popped(r, head + 1);
    return LADE_OK;
}

size_t lade_spsc_push_many(struct lade_spsc *r, const uint64_t *word, size_t count)
{
    if (r->waits)
        return spsc_push_open(r, word, &count) == LADE_OK ? count : 0;
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t wanted = count < r->capacity ? count : r->capacity;
    uint64_t free_slots = spsc_free(r, tail, wanted);
    uint64_t n = wanted < free_slots ? wanted : free_slots;

    for (uint64_t i = 0; i < n; i++)
        r->slot[(tail + i) & r->mask] = word[i];
    if (n > 0)
        spsc_pushed(r, tail + n);
    return (size_t)n;
}

size_t lade_spsc_pop_many(struct lade_spsc *r, uint64_t *word, size_t count)
{
    if (r->waits)
        return spsc_pop_open(r, word, &count) == LADE_OK ? count : 0;
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

/* A cursor that reaches a multiple of this is published as a hint. */
#define HINT_EVERY 16

static uint32_t bits_for(uint64_t n)
{
    uint32_t bits = 0;

    while (n > UINT64_C(1) << bits)
        bits++;
    return bits;
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
    lade_ring_waits_init(&r->wait);
}

int lade_mpmc_create_sized(struct lade_mpmc **ring, const struct lade_ring_config *config, size_t size)
{
    struct lade_ring_config copy;
    const struct lade_ring_config *c = valid_config(config, size, &copy);

    if (!ring || !c || c->handles == 0)
        return LADE_INVALID;
    const struct lade_alloc *a = c->alloc ? c->alloc : &lade_default;
    struct lade_mpmc *r = lade_array_get(a, 1, sizeof *r);
    if (!r)
        return LADE_NO_MEMORY;
    r->capacity = c->capacity;
    r->position_bits = bits_for(c->capacity);
    r->cell_bits = bits_for(c->capacity + c->handles);
    r->handles = c->handles;
    r->waits = c->waits;
    r->alloc = a;
    r->entry = lade_array_get(a, c->capacity, sizeof *r->entry);
    r->cell = lade_array_get(a, c->capacity + c->handles, sizeof *r->cell);
    r->handle = lade_array_get(a, c->handles, sizeof *r->handle);
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
        /* The cursors and the cell are those that the last owner left. */
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

/* Number of lost races after which a thread asks the others to let it pass, and number of tickets for which they do. */
#ifndef RACES
#define RACES 128
#endif
#define COURTESY 64

/*
 * Called after a lost race: another thread works on this entry. The loser leaves the line alone for a moment, which is
 * best for both. But the thread that has the line in its cache also wins the following races, until the system preempts
 * it. So a thread that has lost many races asks, and then does not pause. The others pause after each operation until
 * it has succeeded, or for a few tickets: a thread that stops while it asks blocks no other.
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

/*
 * Moves to the ticket after the one just done, and publishes a hint at every HINT_EVERY-th position,
 * and at each ticket while a thread asks.
 */
static void advance(struct lade_mpmc_handle *h, enum side side, uint32_t lost)
{
    struct lade_mpmc *r = h->ring;
    uint64_t ticket = ticket_after(r, h->cursor[side]);
    bool asked = ticket < atomic_load_explicit(&r->ticket[side].asked, memory_order_relaxed);

    h->cursor[side] = ticket;
    if (asked || position_of(r, ticket) % HINT_EVERY == 0) {
        LADE_STEP();
        /* Racing stores may leave an older ticket. It is as valid as the newer one, only less useful. */
        atomic_store_explicit(&r->ticket[side].done, ticket,
                              memory_order_release); /* [ring.mpmc.hint] -> [ring.mpmc.skip] */
    }
    if (lost >= RACES)
        atomic_store_explicit(&r->ticket[side].asked, 0, memory_order_relaxed);
    else if (asked)
        lade_pause(2 * PATIENCE);
}

/* Another thread did the cursor's ticket: moves to the furthest ticket known to follow a finished one. */
static void catch_up(struct lade_mpmc_handle *h, enum side side, uint64_t turn)
{
    struct lade_mpmc *r = h->ring;
    uint64_t here = ticket_behind(r, position_of(r, h->cursor[side]), turn, side);
    /* A thread that skips tickets must observe them done, or it mistakes an old turn for FULL or EMPTY. */
    uint64_t hint =
        atomic_load_explicit(&r->ticket[side].done, memory_order_acquire); /* [ring.mpmc.skip] -> [ring.mpmc.hint] */

    h->cursor[side] = hint > here ? hint : here;
}

/*
 * Trades the handle's cell for the one in the entry of the side's lowest open ticket, if its turn has come. LADE_OK,
 * LADE_FULL or LADE_EMPTY; LADE_CLOSED: the entry is sealed.
 */
static inline int trade(struct lade_mpmc_handle *h, enum side side)
{
    struct lade_mpmc *r = h->ring;
    uint32_t lost = 0;

    for (;;) {
        uint64_t ticket = h->cursor[side];
        uint64_t mine = turn_of(r, ticket, side);
        _Atomic uint64_t *entry = &r->entry[position_of(r, ticket)];
        LADE_STEP();
        /* The cell in the entry is complete (for a pop), or was read before it was left there (for a push). */
        uint64_t seen = atomic_load_explicit(entry, memory_order_seq_cst); /* [ring.mpmc.look] -> [ring.mpmc.trade] */
        uint64_t turn = turn_in(r, seen);

        if (turn != mine) {
            if (turn == sealed_turn(r))
                return LADE_CLOSED;
            if (turn < mine)
                return side == PUSH ? LADE_FULL : LADE_EMPTY;
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
        return LADE_OK;
    }
}

static bool mpmc_is_closed(struct lade_mpmc *r)
{
    LADE_STEP();
    return atomic_load_explicit(&r->wait.closed, memory_order_acquire); /* [ring.mpmc.closed] -> [ring.mpmc.close] */
}

/*
 * Seals the entry of the handle's pop ticket, where the ring was just found empty, unless another thread has changed it
 * since.
 */
static void seal(struct lade_mpmc_handle *h)
{
    struct lade_mpmc *r = h->ring;
    _Atomic uint64_t *entry = &r->entry[position_of(r, h->cursor[POP])];
    LADE_STEP();
    uint64_t seen = atomic_load_explicit(entry, memory_order_relaxed); /* only compared */

    if (turn_in(r, seen) >= turn_of(r, h->cursor[POP], POP))
        return;
    LADE_STEP();
    /* Every thread that finds the seal observes everything before the close. */
    (void)atomic_compare_exchange_strong_explicit(entry, &seen, seen | sealed_turn(r) << r->cell_bits,
                                                  memory_order_release,
                                                  memory_order_relaxed); /* [ring.mpmc.seal] -> [ring.mpmc.look] */
}

/* Wakes the threads that can continue after this operation. */
static int mpmc_notify(struct lade_mpmc *r, struct lade_event *event, int status)
{
    if (status == LADE_OK)
        lade_event_notify_all_seq_cst(event); /* trades and the loads of entries are seq_cst */
    if (status == LADE_CLOSED)
        lade_ring_wake(&r->wait); /* in place of a thread that stopped inside close */
    return status;
}

LADE_RING_APART int mpmc_push_open(struct lade_mpmc_handle *h)
{
    struct lade_mpmc *r = h->ring;

    return mpmc_notify(r, &r->wait.arrived, mpmc_is_closed(r) ? LADE_CLOSED : trade(h, PUSH));
}

LADE_RING_APART int mpmc_pop_open(struct lade_mpmc_handle *h, uint64_t *word)
{
    struct lade_mpmc *r = h->ring;
    int status;

    while ((status = trade(h, POP)) == LADE_EMPTY && mpmc_is_closed(r))
        seal(h);
    if (status == LADE_OK)
        *word = r->cell[h->cell];
    return mpmc_notify(r, &r->wait.left, status);
}

int lade_mpmc_push(struct lade_mpmc_handle *h, uint64_t word)
{
    h->ring->cell[h->cell] = word;
    return h->ring->waits ? mpmc_push_open(h) : trade(h, PUSH);
}

int lade_mpmc_pop(struct lade_mpmc_handle *h, uint64_t *word)
{
    if (h->ring->waits)
        return mpmc_pop_open(h, word);
    int status = trade(h, POP);
    if (status == LADE_OK)
        *word = h->ring->cell[h->cell];
    return status;
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
