/* SPDX-License-Identifier: MIT */
/*
 * Who goes to sleep is remembered, and gives up at once: its time is over. It would have slept for ever if in the end the
 * number that it went to sleep on were still the same.
 */
#define FUTEX
#define LADE_FEEDER_NAP(word, number, until) ((void)(until), lade_futex_wait(word, number, 0))
#include "wait.h"

#define lade_event_leave(event) ((void)(event)) /* it would still be there */

static _Atomic uint32_t *slept_on;
static uint32_t slept_with;
static int64_t slept_until;

enum { SLEEPER = 1 }; /* the thread that may sleep */

void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    (void)deadline;
    slept_on = word;
    slept_with = value;
    slept_until = INT64_MAX;
}

void lade_futex_wake(_Atomic uint32_t *word)
{
    (void)word;
}

int64_t lade_now(void)
{
    return harness_id == SLEEPER ? slept_until : 0;
}

/* Before the threads. */
static void nobody_sleeps(void)
{
    slept_on = NULL;
    slept_until = 0;
}

#define TIME_ENOUGH 1 /* a deadline that is over for who has slept */

/* After the threads. */
static void nobody_sleeps_on(void)
{
    if (slept_on) {
        assert(atomic_load_explicit(slept_on, memory_order_relaxed) != slept_with);
        cover(slept);
    }
}
