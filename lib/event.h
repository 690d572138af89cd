/* SPDX-License-Identifier: MIT */
/*
 * Eventcount: connects threads that wait for a condition with threads that make it true. It is the only way to sleep
 * and to wake in the libraries of lade. Internal; docs/event.md explains why it is correct.
 *
 * A waiter calls lade_event_await() if its condition does not hold. A notifier first makes the condition true and then
 * calls one of the notify functions; without waiters each of them is a single access. Which one:
 *
 *   lade_event_notify_all            after any store
 *   lade_event_notify_all_seq_cst    after a seq_cst store or read-modify-write, if the condition loads with seq_cst:
 *                                    it is a load, so notifiers do not write to a shared line
 *   lade_event_notify_one            after any store that makes one waiter's condition true, see there
 *   lade_event_is_awaited            for a notifier that decides whether to wake a waiter by what it waits for, with
 *                                    lade_event_wake_all
 *
 * Waiting blocks, notifying is wait-free. A thread that stops between its store and notify_all delays only waiters that
 * get no other notification. A thread that stops inside await costs each notifier a system call.
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
 * The callback of lade_event_await(), called at first and after each sleep. Returns LADE_AWAIT to sleep, or a status to
 * return. It may take what it finds, and may lower *until with lade_event_recheck_by().
 */
#define LADE_AWAIT INT_MAX /* not a status */
typedef int lade_event_condition(void *context, int64_t *until);

/* The condition is called again by this time, with or without a notification; negative: no such time. */
static inline void lade_event_recheck_by(int64_t *until, int64_t time)
{
    if (time >= 0 && (*until < 0 || time < *until))
        *until = time;
}

/*
 * Sleeps until the condition returns a status, and returns that; LADE_TIMEOUT if the condition still returned
 * LADE_AWAIT after the deadline (negative: none). Call it only after the condition was found not to hold: it writes to
 * the event.
 */
int lade_event_await(struct lade_event *event, lade_event_condition *condition, void *context, int64_t deadline);

/* Wakes without checking for waiters. */
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
 * Returns whether there are waiters. A waiter that is not yet counted will observe everything that the caller did
 * before. The caller observes everything that a counted waiter did before await.
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
 * Sufficient if each notifier makes one item available, and each waiter takes any one of them, or has observed that
 * there is none. Not sufficient:
 * - for two items at once, unless each waiter that took one and sees more calls notify_one again;
 * - if waiters have different conditions: the one that is woken may not be the one that can continue;
 * - if a condition may return a status while there is an item to take (cancelled, closed): that needs notify_all;
 * - to make up for a notifier that stopped before its notification: its item may stay until the next notify_all.
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
