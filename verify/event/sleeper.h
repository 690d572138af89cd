/* SPDX-License-Identifier: MIT */
/*
 * Detects lost wake-ups. A thread that goes to sleep is recorded and continues at once, as if its timeout had expired.
 * It would have slept forever if no other thread has changed the number that it slept on when all threads have ended.
 */
#define FUTEX
#include "event.h"

static struct lade_event *slept_on;
static uint32_t slept_with, own_changes;
static int64_t slept_until;

enum { SLEEPER = 1 }; /* the thread that may sleep */

/* It stays counted as a waiter. */
void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    (void)deadline;
    slept_on = (struct lade_event *)(void *)word;
    slept_with = value;
    slept_until = INT64_MAX / 2; /* a timeout may be added to it */
    own_changes = 0;
    atomic_fetch_add_explicit(&slept_on->waiters, 1, memory_order_relaxed);
}

void lade_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)count;
    if (harness_id == SLEEPER && slept_on && word == &slept_on->number)
        own_changes++; /* a sleeping thread would not have made this change */
}

int64_t lade_now(void)
{
    return harness_id == SLEEPER ? slept_until : 0;
}

#include "event.c"

/* Called before the threads start. */
static void nobody_sleeps(void)
{
    slept_on = NULL;
    slept_until = 0;
    own_changes = 0;
}

#define TIME_ENOUGH 1 /* a deadline, and a timeout, that has expired for the thread that has slept */

/* Called after the threads have ended. */
static void nobody_sleeps_on(void)
{
    if (slept_on) {
        assert(atomic_load_explicit(&slept_on->number, memory_order_relaxed) - slept_with != own_changes);
        cover(slept);
    }
}
