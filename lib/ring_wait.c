/* SPDX-License-Identifier: MIT */
/* Waiting forms, close and cancel of the rings, on top of operations that never wait. */
#include "ring.h"

/* A waiting call: it is retried after each notification. */
struct ring_call {
    int (*perform)(const struct ring_call *call);
    struct lade_spsc *spsc;
    struct lade_mpmc_handle *handle;
    struct lade_ring_waits *wait;
    uint64_t in;
    uint64_t *out;
    uint32_t cancelled; /* number of cancels when the wait began */
};

static int spsc_push_once(const struct ring_call *c)
{
    return lade_spsc_push(c->spsc, c->in);
}

static int spsc_pop_once(const struct ring_call *c)
{
    return lade_spsc_pop(c->spsc, c->out);
}

static int mpmc_push_once(const struct ring_call *c)
{
    return lade_mpmc_push(c->handle, c->in);
}

static int mpmc_pop_once(const struct ring_call *c)
{
    return lade_mpmc_pop(c->handle, c->out);
}

static bool is_refused(int status)
{
    return status == LADE_FULL || status == LADE_EMPTY;
}

static int ring_call_or_await(void *context, int64_t *until)
{
    const struct ring_call *c = context;

    (void)until;
    LADE_STEP();
    /* Ordered by the event. */
    if (atomic_load_explicit(&c->wait->cancelled, memory_order_relaxed) != c->cancelled)
        return LADE_CANCELLED;
    int status = c->perform(c);
    return is_refused(status) ? LADE_AWAIT : status;
}

static int ring_call_wait(struct ring_call *c, struct lade_event *event, int64_t timeout)
{
    int status = c->perform(c);

    if (!is_refused(status))
        return status;
    LADE_STEP();
    c->cancelled = atomic_load_explicit(&c->wait->cancelled, memory_order_relaxed);
    return lade_event_await(event, ring_call_or_await, c, lade_deadline(lade_now(), timeout));
}

int lade_spsc_push_wait(struct lade_spsc *r, uint64_t word, int64_t timeout)
{
    struct ring_call c = {.perform = spsc_push_once, .spsc = r, .wait = &r->wait, .in = word};

    return r->waits ? ring_call_wait(&c, &r->wait.left, timeout) : LADE_INVALID;
}

int lade_spsc_pop_wait(struct lade_spsc *r, uint64_t *word, int64_t timeout)
{
    struct ring_call c = {.perform = spsc_pop_once, .spsc = r, .wait = &r->wait, .out = word};

    return r->waits ? ring_call_wait(&c, &r->wait.arrived, timeout) : LADE_INVALID;
}

int lade_mpmc_push_wait(struct lade_mpmc_handle *h, uint64_t word, int64_t timeout)
{
    struct lade_mpmc *r = h->ring;
    struct ring_call c = {.perform = mpmc_push_once, .handle = h, .wait = &r->wait, .in = word};

    return r->waits ? ring_call_wait(&c, &r->wait.left, timeout) : LADE_INVALID;
}

int lade_mpmc_pop_wait(struct lade_mpmc_handle *h, uint64_t *word, int64_t timeout)
{
    struct lade_mpmc *r = h->ring;
    struct ring_call c = {.perform = mpmc_pop_once, .handle = h, .wait = &r->wait, .out = word};

    return r->waits ? ring_call_wait(&c, &r->wait.arrived, timeout) : LADE_INVALID;
}

static int ring_cancel(struct lade_ring_waits *w, bool waits)
{
    if (!waits)
        return LADE_INVALID;
    LADE_STEP();
    atomic_fetch_add_explicit(&w->cancelled, 1, memory_order_relaxed); /* ordered by the event */
    lade_ring_wake(w);
    return LADE_OK;
}

int lade_spsc_cancel(struct lade_spsc *r)
{
    return ring_cancel(&r->wait, r->waits);
}

int lade_mpmc_cancel(struct lade_mpmc *r)
{
    return ring_cancel(&r->wait, r->waits);
}

static void spsc_mark_closed(struct lade_spsc *r)
{
    LADE_STEP();
    atomic_fetch_or_explicit(&r->tail, LADE_SPSC_CLOSED,
                             memory_order_release); /* [ring.spsc.close] -> [ring.spsc.open], [ring.spsc.arrived] */
}

/*
 * A thread that stops between the two steps loses no wakeup: the first operation that returns LADE_CLOSED wakes the
 * others.
 */
int lade_spsc_close(struct lade_spsc *r)
{
    if (!r->waits)
        return LADE_INVALID;
    spsc_mark_closed(r);
    lade_ring_wake(&r->wait);
    return LADE_OK;
}

static void mpmc_mark_closed(struct lade_mpmc *r)
{
    LADE_STEP();
    atomic_store_explicit(&r->wait.closed, 1, memory_order_release); /* [ring.mpmc.close] -> [ring.mpmc.closed] */
}

int lade_mpmc_close(struct lade_mpmc *r)
{
    if (!r->waits)
        return LADE_INVALID;
    mpmc_mark_closed(r);
    lade_ring_wake(&r->wait);
    return LADE_OK;
}
