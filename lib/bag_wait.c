/* SPDX-License-Identifier: MIT */
/* Waiting forms, close and cancel, on top of operations that never wait. */
#include "bag.h"

struct call {
    enum { PUT_CALL, DRAW_CALL, EXCHANGE_CALL, SAMPLE_CALL } which;
    const void *in;
    void *out;
    struct lade_loan *loan;
};

static int perform(struct lade_bag_handle *h, const struct call *c)
{
    switch (c->which) {
    case PUT_CALL:
        return lade_bag_put(h, c->in);
    case DRAW_CALL:
        return lade_bag_draw(h, c->out);
    case EXCHANGE_CALL:
        return lade_bag_exchange(h, c->in, c->out);
    default:
        return lade_bag_sample(h, c->loan);
    }
}

static bool is_to_wait(int status)
{
    return status == LADE_EMPTY || status == LADE_FULL || status == LADE_LIMITED;
}

/* Whether an element can never fit. */
static bool is_too_large(const struct lade_bag *b, const void *element)
{
    return b->config.bytes && b->config.bytes(b->config.context, element) > b->config.byte_budget;
}

/* A waiting call: it is retried after each notification. */
struct waiting_call {
    struct lade_bag_handle *handle;
    const struct call *call;
    uint32_t cancelled; /* number of cancels when the wait began */
};

static int call_or_await(void *context, int64_t *until)
{
    const struct waiting_call *a = context;

    (void)until;
    LADE_STEP();
    /* Ordered by the event. */
    if (atomic_load_explicit(&a->handle->bag->cancelled, memory_order_relaxed) != a->cancelled)
        return LADE_CANCELLED;
    int status = perform(a->handle, a->call);
    return is_to_wait(status) ? LADE_AWAIT : status;
}

static int perform_waiting(struct lade_bag_handle *h, const struct call *c, int64_t timeout)
{
    struct lade_bag *b = h->bag;
    int status = perform(h, c);

    if (!is_to_wait(status) || (status == LADE_FULL && is_too_large(b, c->in)))
        return status;
    LADE_STEP();
    struct waiting_call a = {h, c, atomic_load_explicit(&b->cancelled, memory_order_relaxed)};
    return lade_event_await(c->which == PUT_CALL ? &b->left : &b->arrived, call_or_await, &a,
                            lade_deadline(lade_now(), timeout));
}

int lade_bag_put_wait(struct lade_bag_handle *h, const void *element, int64_t timeout)
{
    return perform_waiting(h, &(struct call){.which = PUT_CALL, .in = element}, timeout);
}

int lade_bag_draw_wait(struct lade_bag_handle *h, void *element, int64_t timeout)
{
    return perform_waiting(h, &(struct call){.which = DRAW_CALL, .out = element}, timeout);
}

int lade_bag_exchange_wait(struct lade_bag_handle *h, const void *in, void *out, int64_t timeout)
{
    return perform_waiting(h, &(struct call){.which = EXCHANGE_CALL, .in = in, .out = out}, timeout);
}

int lade_bag_sample_wait(struct lade_bag_handle *h, struct lade_loan *loan, int64_t timeout)
{
    return perform_waiting(h, &(struct call){.which = SAMPLE_CALL, .loan = loan}, timeout);
}

static void notify_waiters(struct lade_bag *b)
{
    lade_event_notify_all(&b->arrived);
    lade_event_notify_all(&b->left);
}

static void mark_closed(struct lade_bag *b)
{
    LADE_STEP();
    atomic_fetch_or_explicit(&b->active, ACTIVE_CLOSED, memory_order_seq_cst); /* [bag.close] -> [bag.closed] */
}

/*
 * A thread that stops between the two steps loses no wakeup: every thread that finds the mark wakes the others, see
 * unless_closed().
 */
void lade_bag_close(struct lade_bag *b)
{
    mark_closed(b);
    notify_waiters(b);
}

void lade_bag_cancel(struct lade_bag *b)
{
    LADE_STEP();
    atomic_fetch_add_explicit(&b->cancelled, 1, memory_order_relaxed); /* ordered by the event */
    notify_waiters(b);
}
