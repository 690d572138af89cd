/* SPDX-License-Identifier: MIT */
/*
 * Sleeping on a word, and the clock for its deadline. All system calls are here, so that harnesses can replace them.
 * Internal.
 */
#ifndef LADE_LIB_FUTEX_H
#define LADE_LIB_FUTEX_H

#include <lade/status.h>
#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word is value, until woken or until the deadline (CLOCK_MONOTONIC, nanoseconds; negative: none). */
void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline);

/* Wakes at most count of the threads that sleep on the word. */
void lade_futex_wake(_Atomic uint32_t *word, int count);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t lade_now(void);

/* Returns the deadline of a timeout that begins at the given time; negative: never. */
static inline int64_t lade_deadline(int64_t now, int64_t timeout)
{
    if (timeout == LADE_FOREVER)
        return -1;
    if (timeout < 0)
        return now;
    return timeout < INT64_MAX - now ? now + timeout : INT64_MAX;
}

#endif
