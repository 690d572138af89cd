/* SPDX-License-Identifier: MIT */
#include "event.h"
#include "reclaim.h"
#include "thread.h"

#include <lade/fork.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>
#include <urcu/urcu-memb.h>

/*
 * A grace period makes every processor execute a fence. So there are at most a hundred per second, each for all
 * callbacks that have arrived.
 */
#define REST 10000000 /* nanoseconds */

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t started;
static struct lade_event work_came;

static int work_or_await(void *context, int64_t *until)
{
    (void)context, (void)until;
    return lade_reclaim_has_work() ? LADE_OK : LADE_AWAIT;
}

static void await_work(void)
{
    if (!lade_reclaim_has_work())
        (void)lade_event_await(&work_came, work_or_await, NULL, -1);
}

static void *work(void *unused)
{
    const struct timespec rest = {0, REST};

    (void)prctl(PR_SET_NAME, "lade-reclaim");
    for (;;) {
        await_work();
        lade_reclaim_turn();
        (void)nanosleep(&rest, NULL);
    }
    return unused;
}

/*
 * A grace period in progress holds locks of liburcu, which no thread of the child would release: fork() waits for its
 * end. It does not wait inside a read section, for which the grace period itself waits, and not forever, because a
 * reader may have stopped. If the grace period is still in progress, the child can free nothing: pending memory is
 * kept, and no table can be created.
 */
static _Thread_local bool holds;
static bool lost;

static bool await_grace_period(void)
{
    struct timespec until;

    if (urcu_memb_read_ongoing())
        return pthread_mutex_trylock(&lade_reclaim_mutex) == 0;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return pthread_mutex_timedlock(&lade_reclaim_mutex, &until) == 0;
}

void lade_reclaim_before_fork(void)
{
    holds = !lade_reclaim_inside && await_grace_period();
    pthread_mutex_lock(&starting);
}

void lade_reclaim_after_fork(void)
{
    pthread_mutex_unlock(&starting);
    if (holds)
        pthread_mutex_unlock(&lade_reclaim_mutex);
}

void lade_reclaim_in_child(void)
{
    lost = lost || !(holds || lade_reclaim_inside);
    lade_event_init(&work_came);                                  /* the child does not have the thread that waited */
    atomic_store_explicit(&started, false, memory_order_relaxed); /* the next caller starts it */
}

static bool start(void)
{
    pthread_t thread;

    return lade_thread_start(&thread, work, NULL) && !pthread_detach(thread);
}

int lade_reclaim_start(void)
{
    bool there;

    if (atomic_load_explicit(&started, memory_order_relaxed))
        return LADE_OK;
    if (!lade_fork_is_counted())
        return LADE_NO_MEMORY;
    pthread_mutex_lock(&starting);
    there = atomic_load_explicit(&started, memory_order_relaxed) || (!lost && start());
    atomic_store_explicit(&started, there, memory_order_relaxed);
    pthread_mutex_unlock(&starting);
    return there ? LADE_OK : LADE_NO_MEMORY;
}

bool lade_reclaim_is_lost(void)
{
    return lost;
}

void lade_reclaim_wake(void)
{
    (void)lade_reclaim_start();        /* if it fails, memory waits for the next call, or for a barrier */
    lade_event_notify_one(&work_came); /* no other thread waits */
}
