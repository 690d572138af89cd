/* SPDX-License-Identifier: MIT */
/*
 * Open MPI, WAIT_SYNC_SIGNAL (pull request 14271, 2026; a failed assertion in the C library on AArch64). The signaller
 * unlocks the mutex and then clears a flag; the waiter sees the flag cleared and destroys the mutex, which may still
 * be unlocked afterwards.
 *
 * repair: release instead of relaxed, acquire instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define CLEAR memory_order_relaxed
#define WATCH memory_order_relaxed
#else
#define CLEAR memory_order_release
#define WATCH memory_order_acquire
#endif

static atomic_int *mutex; /* a mutex of one word: 1 locked */
static atomic_int signaling = 1;

static void setup(void)
{
    mutex = malloc(sizeof *mutex);
    atomic_init(mutex, 1);
}

static void signal_waiter(void)
{
    atomic_store_explicit(mutex, 0, memory_order_release);
    atomic_store_explicit(&signaling, 0, CLEAR);
}

static void release_sync(void)
{
    while (atomic_load_explicit(&signaling, WATCH) != 0)
        continue;
    free(mutex); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        signal_waiter();
    else
        release_sync();
}

static void finish(void)
{
}
