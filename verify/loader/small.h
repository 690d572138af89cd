/* SPDX-License-Identifier: MIT */
/*
 * The ring of a loader, small enough for a checker: PLACES places, a plan record for each thread and one more, as many
 * buffers. The second word of a plan follows from the first.
 */
#define LADE_PLAN_WORDS 2
#include "batch_ring.h"

#ifndef PLACES
#define PLACES 2
#endif
#ifndef BUFFERS
#define BUFFERS THREADS
#endif
#define PLANS (THREADS + 1)

/* No thread waits, unless the harness has its own futex. */
#ifndef FUTEX
void lade_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)word;
    (void)count;
    assert(0);
}
#endif

static struct lade_batch_ring ring;
static struct lade_plan plans[PLANS];
static _Atomic uint64_t place[PLACES], buffers_free[1];
static struct lade_event ready;

/* The content of a buffer, written by the worker that makes the batch, read by the thread that holds it. */
static uint64_t content[BUFFERS];

static uint64_t second(uint64_t first)
{
    return 3 * first + 5;
}

/* Batch 0 is planned next; no buffer is free; plan records beyond the first hold an invalid plan. */
static void make_ring(void)
{
    for (uint64_t i = 0; i < PLANS; i++) {
        atomic_init(&plans[i].word[0], i ? 77 : 0);
        atomic_init(&plans[i].word[1], i ? 77 : second(0));
    }
    for (int i = 0; i < PLACES; i++)
        atomic_init(&place[i], 0);
    for (int i = 0; i < BUFFERS; i++)
        content[i] = 0;
    atomic_init(&buffers_free[0], 0);
    atomic_init(&ring.plan, 0);
    atomic_init(&ring.low, 0);
    atomic_init(&ring.offered, 0);
    atomic_init(&ring.awaited, 0);
    lade_event_init(&ready);
    ring.plans = plans;
    ring.place = place;
    ring.places = PLACES;
    ring.free = buffers_free;
    ring.free_words = 1;
}
