/* SPDX-License-Identifier: MIT */
/*
 * Eventcount: threads that wait for a condition and threads that make it true meet here. It is the only way to sleep and
 * to wake in the libraries of lade. Internal; docs/event.md says why it is right.
 *
 * A waiter calls lade_event_await() when its condition does not hold. A notifier first makes the condition true and then
 * calls one of the notify functions; with no waiter each of them is a single access. Which one:
 *
 *   lade_event_notify_all            behind any store
 *   lade_event_notify_all_seq_cst    behind a seq_cst store or read-modify-write, where the condition loads with seq_cst:
 *                                    a load, so notifiers do not write to a shared line
 *   lade_event_notify_one            behind any store that makes one waiter's condition true, see there
 *   lade_event_is_awaited            for a notifier that decides by what the waiter waits for whether to wake it, with
 *                                    lade_event_wake_all
 *
 * Waiting blocks, notifying is wait-free. A thread that stops between its store and notify_all delays only waiters for
 * which no other notification comes. A thread that stops inside await costs each notifier a system call.
 */
#ifndef LADE_LIB_EVENT_H
#define LADE_LIB_EVENT_H

#include "futex.h"
#include "step.h"

#include <limits.h>
#include <stdbool.h>

/* Zeroed memory is an event without waiters. */
struct lade_event {
    _Atomic uint32_t number; /* of notifications; waiters sleep on it */
    _Atomic uint32_t waiters;
};

static inline void lade_event_init(struct lade_event *event)
{
    atomic_init(&event->number, 0);
    atomic_init(&event->waiters, 0);
}

/*
 * What lade_event_await() calls at first and after each sleep: LADE_AWAIT to sleep, or a status to return. It may take what
 * it finds, and may lower *until with lade_event_recheck_by().
 */
#define LADE_AWAIT INT_MAX /* is no status */
typedef int lade_event_condition(void *context, int64_t *until);

/* The condition is to be called again by this time, whether there is a notification or not; negative: no such time. */
static inline void lade_event_recheck_by(int64_t *until, int64_t time)
{
    if (time >= 0 && (*until < 0 || time < *until))
        *until = time;
}

/*
 * Sleeps until the condition returns a status, and returns that; LADE_TIMEOUT if the condition still returned LADE_AWAIT
 * after the deadline (negative: none). Call it only after the condition was found not to hold: it writes to the event.
 */
int lade_event_await(struct lade_event *event, lade_event_condition *condition, void *context, int64_t deadline);

/* Wakes without asking whether there are waiters. */
static inline void lade_event_wake(struct lade_event *event, int count)
{
    LADE_STEP();
    atomic_fetch_add_explicit(&event->number, 1, memory_order_release); /* [event.change] -> [event.number] */
    LADE_STEP();
    lade_futex_wake(&event->number, count);
}

static inline void lade_event_wake_all(struct lade_event *event)
{
    lade_event_wake(event, INT_MAX);
}

/*
 * Whether there are waiters. One that is not counted yet will see all that the caller did before. Of one that is counted
 * the caller sees all that it did before await.
 */
static inline bool lade_event_is_awaited(struct lade_event *event)
{
    LADE_STEP();
    return atomic_fetch_add_explicit(&event->waiters, 0, memory_order_acq_rel); /* [event.asked] -> [event.enter] */
}

static inline void lade_event_notify(struct lade_event *event, int count)
{
    LADE_STEP();
    if (atomic_fetch_add_explicit(&event->waiters, 0, memory_order_release)) /* [event.notify] -> [event.enter] */
        lade_event_wake(event, count);
}

static inline void lade_event_notify_all(struct lade_event *event)
{
    lade_event_notify(event, INT_MAX);
}

/*
 * Enough when each notifier makes one thing available, and each waiter takes one of them, whichever it is, or has seen that
 * there is none. Not enough:
 * - for two things at once, unless each waiter that took one and sees more calls notify_one in turn;
 * - where waiters have different conditions: the one that is woken may not be the one that can go on;
 * - where a condition may return a status while there is a thing to take (cancelled, closed): that needs notify_all;
 * - to make up for a notifier that stopped before its notification: its thing may stay until the next notify_all.
 */
static inline void lade_event_notify_one(struct lade_event *event)
{
    lade_event_notify(event, 1);
}

static inline void lade_event_notify_all_seq_cst(struct lade_event *event)
{
    LADE_STEP();
    if (atomic_load_explicit(&event->waiters, memory_order_seq_cst)) /* [event.look] -> [event.enter] */
        lade_event_wake_all(event);
}

#endif
