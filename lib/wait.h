/* SPDX-License-Identifier: MIT */
/*
 * Events: those who wait for something and those who bring it about meet at a 32-bit word, its lowest bit set while
 * somebody may be waiting, the rest a number of the last event. Telling takes no lock and costs one load when nobody
 * waits. Internal.
 */
#ifndef LADE_LIB_WAIT_H
#define LADE_LIB_WAIT_H

#include "step.h"

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word is value, until woken or until the deadline (CLOCK_MONOTONIC, nanoseconds; negative: none). */
void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline);
void lade_futex_wake(_Atomic uint32_t *word);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t lade_now(void);

/* Who waits: announce, look once more, then sleep with the answer as value. */
static inline uint32_t lade_event_expect(_Atomic uint32_t *event)
{
    LADE_STEP();
    return atomic_fetch_or_explicit(event, 1, memory_order_seq_cst) | 1; /* [wait.expect] -> [wait.tell] */
}

/* Tells everybody, whether they wait or not. */
static inline void lade_event_tell_all(_Atomic uint32_t *event)
{
    uint32_t old = atomic_load_explicit(event, memory_order_relaxed);

    do
        LADE_STEP();
    while (!atomic_compare_exchange_strong_explicit(event, &old, (old + 2) & ~UINT32_C(1), memory_order_release,
                                                    memory_order_relaxed)); /* [wait.change] -> [wait.expect] */
    lade_futex_wake(event);
}

/* Who brought something about, after it can be seen. */
static inline void lade_event_tell(_Atomic uint32_t *event)
{
    LADE_STEP();
    if (atomic_load_explicit(event, memory_order_seq_cst) & 1) /* [wait.tell] -> [wait.expect] */
        lade_event_tell_all(event);
}

#endif
