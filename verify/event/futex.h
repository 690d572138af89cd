/* SPDX-License-Identifier: MIT */
/*
 * A model of the futex: only a wake of the word, after the sleeper has compared the word, wakes a sleeper. The thread
 * that has slept longest is woken first. A mutex stands for the kernel's lock around the comparison. A thread that is
 * never woken waits forever, which is an error. With CLOCK the harness sets the time, and deadlines end sleeps too.
 *
 * GenMC does not report that. There a thread ends where it sleeps, unless it is found woken at once, and finish() fails if
 * threads sleep and none of them could continue. Executions where one could are the beginnings of others.
 */
#define FUTEX
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_mutex_t futex_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int futex_woken[THREADS];
static _Atomic uint32_t *futex_word[THREADS]; /* the word that a thread sleeps on */
static unsigned futex_since[THREADS], futex_sleeps;

#ifdef CLOCK
static _Atomic int64_t futex_time;
#endif

int64_t lade_now(void)
{
#ifdef CLOCK
    return atomic_load_explicit(&futex_time, memory_order_acquire);
#else
    return 0;
#endif
}

static int futex_is_over(int64_t deadline)
{
#ifdef CLOCK
    return deadline >= 0 && lade_now() >= deadline;
#else
    return (void)deadline, 0;
#endif
}

#ifdef ENGINE_GENMC
static int64_t futex_until[THREADS];
static bool futex_left[THREADS];

static void leave_asleep(int id, int64_t deadline)
{
    if (atomic_load_explicit(&futex_woken[id], memory_order_acquire) || futex_is_over(deadline))
        return;
    futex_until[id] = deadline;
    futex_left[id] = true;
    pthread_exit(NULL);
}

static void finish_awake(void);

static void finish(void)
{
    bool asleep = false;

    for (int i = 0; i < THREADS; i++)
        if (futex_left[i]) {
            if (atomic_load_explicit(&futex_woken[i], memory_order_relaxed) || futex_is_over(futex_until[i]))
                return;
            asleep = true;
        }
    assert(!asleep);
    finish_awake();
}
#define finish finish_awake
#else
#define leave_asleep(id, deadline) ((void)0)
#endif

void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    int id = harness_id;
    int sleeps;

    pthread_mutex_lock(&futex_lock);
    sleeps = atomic_load_explicit(word, memory_order_relaxed) == value;
    futex_word[id] = sleeps ? word : NULL;
    futex_since[id] = futex_sleeps++;
    atomic_store_explicit(&futex_woken[id], 0, memory_order_relaxed);
    pthread_mutex_unlock(&futex_lock);
    if (!sleeps)
        return;
    leave_asleep(id, deadline);
    while (!atomic_load_explicit(&futex_woken[id], memory_order_acquire))
        if (futex_is_over(deadline)) {
            pthread_mutex_lock(&futex_lock);
            futex_word[id] = NULL;
            pthread_mutex_unlock(&futex_lock);
            return;
        }
}

void lade_futex_wake(_Atomic uint32_t *word, int count)
{
    pthread_mutex_lock(&futex_lock);
    for (; count > 0; count--) {
        int first = -1;
        for (int i = 0; i < THREADS; i++)
            if (futex_word[i] == word && (first < 0 || futex_since[i] < futex_since[first]))
                first = i;
        if (first < 0)
            break;
        futex_word[first] = NULL;
        atomic_store_explicit(&futex_woken[first], 1, memory_order_release);
    }
    pthread_mutex_unlock(&futex_lock);
}

#include "event.c"
