/* SPDX-License-Identifier: MIT */
#include "../event.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 4 };

static struct lade_event event;
static _Atomic int things;
static _Atomic int calls;

/* Takes one item, or waits. */
static int take_or_await(void *context, int64_t *until)
{
    int seen = atomic_load_explicit(&things, memory_order_relaxed);

    (void)context, (void)until;
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    while (seen > 0)
        if (atomic_compare_exchange_weak_explicit(&things, &seen, seen - 1, memory_order_relaxed, memory_order_relaxed))
            return LADE_OK;
    return LADE_AWAIT;
}

static int closed_or_await(void *context, int64_t *until)
{
    (void)context, (void)until;
    return atomic_load_explicit(&things, memory_order_seq_cst) ? LADE_CLOSED : LADE_AWAIT;
}

static void *taker(void *context)
{
    *(int *)context = lade_event_await(&event, take_or_await, NULL, -1);
    return NULL;
}

static void *closed(void *context)
{
    *(int *)context = lade_event_await(&event, closed_or_await, NULL, -1);
    return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *context), int *status)
{
    for (int i = 0; i < THREADS; i++) {
        status[i] = 1;
        cr_assert_eq(pthread_create(&thread[i], NULL, body, &status[i]), 0);
    }
    while (atomic_load(&event.waiters) < THREADS)
        (void)sched_yield();
}

static void join(pthread_t *thread, const int *status, int expected)
{
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(thread[i], NULL), 0);
        cr_assert_eq(status[i], expected);
    }
    cr_assert_eq(atomic_load(&event.waiters), 0);
}

Test(event, a_condition_that_holds_ends_the_wait, .timeout = 20)
{
    atomic_store(&things, 1);
    cr_assert_eq(lade_event_await(&event, take_or_await, NULL, -1), LADE_OK);
    cr_assert_eq(lade_event_await(&event, take_or_await, NULL, 0), LADE_TIMEOUT);
    atomic_store(&things, 1);
    cr_assert_eq(lade_event_await(&event, closed_or_await, NULL, 0), LADE_CLOSED, "the condition comes first");
    cr_assert_eq(atomic_load(&event.waiters), 0);
}

Test(event, a_wait_ends_at_its_deadline, .timeout = 20)
{
    int64_t deadline = lade_now() + 3000000;

    cr_assert_eq(lade_event_await(&event, take_or_await, NULL, deadline), LADE_TIMEOUT);
    cr_assert_geq(lade_now(), deadline);
    cr_assert_geq(atomic_load(&calls), 2, "there is a look behind the deadline");
}

/* Holds at the third check, and requests checks at given times. */
static int third_or_await(void *context, int64_t *until)
{
    int64_t *asked = context;

    cr_assert(*asked == 0 || lade_now() >= *asked);
    if (atomic_fetch_add(&calls, 1) == 2)
        return LADE_OK;
    *asked = lade_now() + 1000000;
    lade_event_recheck_by(until, *asked + 1000000000);
    lade_event_recheck_by(until, *asked);
    return LADE_AWAIT;
}

Test(event, a_condition_can_ask_to_be_called_again, .timeout = 20)
{
    int64_t asked = 0;

    cr_assert_eq(lade_event_await(&event, third_or_await, &asked, -1), LADE_OK);
    atomic_store(&calls, 0);
    asked = 0;
    cr_assert_eq(lade_event_await(&event, third_or_await, &asked, lade_now() + INT64_C(3600) * 1000000000), LADE_OK);
}

Test(event, the_earlier_time_counts)
{
    int64_t until = -1;

    lade_event_recheck_by(&until, -1);
    cr_assert_eq(until, -1);
    lade_event_recheck_by(&until, 7);
    cr_assert_eq(until, 7);
    lade_event_recheck_by(&until, 9);
    cr_assert_eq(until, 7);
    lade_event_recheck_by(&until, -1);
    cr_assert_eq(until, 7);
    lade_event_recheck_by(&until, 0);
    cr_assert_eq(until, 0);
}

Test(event, no_thread_is_woken_where_none_waits)
{
    cr_assert_not(lade_event_is_awaited(&event));
    lade_event_notify_all(&event);
    lade_event_notify_one(&event);
    lade_event_notify_all_seq_cst(&event);
    cr_assert_eq(atomic_load(&event.number), 0);
    atomic_store(&event.waiters, 1);
    cr_assert(lade_event_is_awaited(&event));
    lade_event_notify_all(&event);
    lade_event_notify_one(&event);
    lade_event_notify_all_seq_cst(&event);
    cr_assert_eq(atomic_load(&event.number), 3);
    lade_event_init(&event);
    cr_assert_not(lade_event_is_awaited(&event));
    cr_assert_eq(atomic_load(&event.number), 0);
}

Test(event, one_item_at_a_time_reaches_all_waiters, .timeout = 60)
{
    pthread_t thread[THREADS];
    int status[THREADS];

    for (int round = 0; round < 200; round++) {
        start(thread, taker, status);
        for (int i = 0; i < THREADS; i++) {
            atomic_fetch_add_explicit(&things, 1, memory_order_relaxed);
            lade_event_notify_one(&event);
        }
        join(thread, status, LADE_OK);
        cr_assert_eq(atomic_load(&things), 0);
    }
}

Test(event, a_mark_reaches_all, .timeout = 60)
{
    void (*const notify[])(struct lade_event *) = {lade_event_notify_all, lade_event_notify_all_seq_cst,
                                                   lade_event_wake_all};
    pthread_t thread[THREADS];
    int status[THREADS];

    for (int round = 0; round < 300; round++) {
        start(thread, closed, status);
        atomic_store_explicit(&things, 1, memory_order_seq_cst);
        notify[round % 3](&event);
        join(thread, status, LADE_CLOSED);
        atomic_store(&things, 0);
    }
}
