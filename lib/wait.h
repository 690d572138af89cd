/* SPDX-License-Identifier: MIT */
/*
 * Events: those who wait for something and those who bring it about meet here. Telling takes no lock and costs one load
 * when nobody waits. A thread that stops while it tells is not missed: the next one tells again. One that stops while
 * it waits costs each teller a system call. Internal to the libraries of lade.
 */
#ifndef LADE_LIB_WAIT_H
#define LADE_LIB_WAIT_H

#include "step.h"

#include <lade/api.h>
#include <lade/status.h>
#include <stdatomic.h>
#include <stdint.h>

struct lade_event {
    _Atomic uint32_t number; /* of the last event, what sleepers sleep on */
    _Atomic uint32_t waiters;
};

/* Sleeps while *word is value, until woken or until the deadline (CLOCK_MONOTONIC, nanoseconds; negative: none). */
LADE_API void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline);
LADE_API void lade_futex_wake(_Atomic uint32_t *word);

/* CLOCK_MONOTONIC in nanoseconds. */
LADE_API int64_t lade_now(void);

/* When a time to wait that begins now is over; negative: never. */
static inline int64_t lade_deadline(int64_t now, int64_t timeout)
{
    if (timeout == LADE_FOREVER)
        return -1;
    if (timeout < 0)
        return now;
    return timeout < INT64_MAX - now ? now + timeout : INT64_MAX;
}

/* Who waits: expect, look at the number, look once more for the thing itself, sleep on the number; in the end leave. */
static inline void lade_event_expect(struct lade_event *event)
{
    LADE_STEP();
    atomic_fetch_add_explicit(&event->waiters, 1, memory_order_seq_cst); /* [bag.wait.expect] -> [bag.wait.tell] */
}

static inline uint32_t lade_event_number(struct lade_event *event)
{
    LADE_STEP();
    return atomic_load_explicit(&event->number, memory_order_acquire); /* [bag.wait.number] -> [bag.wait.change] */
}

static inline void lade_event_leave(struct lade_event *event)
{
    LADE_STEP();
    atomic_fetch_sub_explicit(&event->waiters, 1, memory_order_relaxed); /* only fewer wakes */
}

/* Tells everybody, whether they wait or not. */
static inline void lade_event_tell_all(struct lade_event *event)
{
    LADE_STEP();
    atomic_fetch_add_explicit(&event->number, 1, memory_order_release); /* [bag.wait.change] -> [bag.wait.number] */
    LADE_STEP();
    lade_futex_wake(&event->number);
}

/* Who brought something about by a seq_cst access. */
static inline void lade_event_tell(struct lade_event *event)
{
    LADE_STEP();
    if (atomic_load_explicit(&event->waiters, memory_order_seq_cst)) /* [bag.wait.tell] -> [bag.wait.expect] */
        lade_event_tell_all(event);
}

/* Who brought something about by a weaker access: whoever expects later sees it. */
static inline void lade_event_tell_after(struct lade_event *event)
{
    LADE_STEP();
    if (atomic_fetch_add_explicit(&event->waiters, 0, memory_order_release)) /* [bag.wait.after] -> [bag.wait.expect] */
        lade_event_tell_all(event);
}

#endif
