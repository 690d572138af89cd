/* SPDX-License-Identifier: MIT */
/*
 * Crystal, Sync::MU (pull request 17063, 2026; fibers that stalled on ARM). Two orders were exchanged: unlocking for
 * writing acquires, and try_rlock releases. Each of the two alone is a race, so a repair changes both.
 *
 * repair: acq_rel instead of acquire, acq_rel instead of release
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define UNLOCK memory_order_acquire
#define TRY_RLOCK memory_order_release
#else
#define UNLOCK memory_order_release
#define TRY_RLOCK memory_order_acquire
#endif

enum { FREE, WRITER, READER };
static atomic_int state = WRITER; /* thread 0 holds it */
static int value;

static void setup(void)
{
}

static void write_and_unlock(void)
{
    int expected = WRITER;

    value = 1;
    atomic_compare_exchange_strong_explicit(&state, &expected, FREE, UNLOCK, memory_order_relaxed);
}

static void try_rlock(void)
{
    int expected = FREE;

    if (atomic_compare_exchange_strong_explicit(&state, &expected, READER, TRY_RLOCK, memory_order_relaxed))
        assert(value == 1); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        write_and_unlock();
    else
        try_rlock();
}

static void finish(void)
{
}
