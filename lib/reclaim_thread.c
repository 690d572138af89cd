/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "reclaim.h"
#include "thread.h"
#include "wait.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* A grace period makes every processor run a fence: no more than a hundred a second, each for all that has come meanwhile. */
#define REST 10000000 /* nanoseconds */

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t started;
static struct lade_event filled;

static void await_work(void)
{
    lade_event_expect(&filled);
    for (;;) {
        uint32_t number = lade_event_number(&filled);
        if (lade_reclaim_has_work())
            break;
        lade_futex_wait(&filled.number, number, -1);
    }
    lade_event_leave(&filled);
}

static void *work(void *unused)
{
    const struct timespec rest = {0, REST};

    pthread_setname_np(pthread_self(), "lade-reclaim");
    for (;;) {
        await_work();
        lade_reclaim_turn();
        (void)nanosleep(&rest, NULL);
    }
    return unused;
}

static void before_fork(void)
{
    pthread_mutex_lock(&starting);
    lade_reclaim_before_fork();
}

static void in_parent(void)
{
    lade_reclaim_after_fork();
    pthread_mutex_unlock(&starting);
}

static void in_child(void)
{
    lade_reclaim_after_fork();
    atomic_store_explicit(&filled.waiters, 0, memory_order_relaxed);
    atomic_store_explicit(&started, false, memory_order_relaxed); /* the next one to come starts it */
    pthread_mutex_unlock(&starting);
}

static bool start(void)
{
    static bool forks_known;
    pthread_t thread;

    if (!forks_known && pthread_atfork(before_fork, in_parent, in_child))
        return false;
    forks_known = true;
    return lade_thread_start(&thread, work, NULL) && !pthread_detach(thread);
}

int lade_reclaim_start(void)
{
    bool there;

    if (atomic_load_explicit(&started, memory_order_relaxed))
        return LADE_OK;
    pthread_mutex_lock(&starting);
    there = atomic_load_explicit(&started, memory_order_relaxed) || start();
    atomic_store_explicit(&started, there, memory_order_relaxed);
    pthread_mutex_unlock(&starting);
    return there ? LADE_OK : LADE_NO_MEMORY;
}

void lade_reclaim_wake(void)
{
    (void)lade_reclaim_start(); /* without it, memory waits for the next time, or for a barrier */
    lade_event_tell_after(&filled);
}
