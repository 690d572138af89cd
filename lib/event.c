/* SPDX-License-Identifier: MIT */
#include "event.h"

static void event_enter(struct lade_event *event)
{
    LADE_STEP();
    atomic_fetch_add_explicit(&event->waiters, 1,
                              memory_order_seq_cst); /* [event.enter] -> [event.look], [event.notify], [event.asked] */
}

static void event_leave(struct lade_event *event)
{
    LADE_STEP();
    atomic_fetch_sub_explicit(&event->waiters, 1, memory_order_relaxed); /* only fewer system calls */
}

static uint32_t event_number(struct lade_event *event)
{
    LADE_STEP();
    return atomic_load_explicit(&event->number, memory_order_acquire); /* [event.number] -> [event.change] */
}

/*
 * The number is loaded before the condition is checked: a later notification changes it, and then there is no sleep.
 * The condition is checked before the clock: a waiter that was woken alone never times out without a check.
 */
int lade_event_await(struct lade_event *event, lade_event_condition *condition, void *context, int64_t deadline)
{
    int status;

    event_enter(event);
    for (;;) {
        uint32_t number = event_number(event);
        int64_t until = deadline;
        status = condition(context, &until);
        if (status != LADE_AWAIT)
            break;
        if (deadline >= 0 && lade_now() >= deadline) {
            status = LADE_TIMEOUT;
            break;
        }
        lade_futex_wait(&event->number, number, until);
    }
    event_leave(event);
    return status;
}
