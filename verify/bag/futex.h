/* SPDX-License-Identifier: MIT */
/*
 * A model of futex: whoever sleeps is woken by a wake that comes after it has looked at the word, and by nothing else.
 * The kernel's lock around the look is a mutex here. A thread that is never woken waits for ever, which is an error.
 */
#define FUTEX
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_mutex_t futex_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int futex_woken[THREADS];
static int futex_sleeps[THREADS];

void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    int id = harness_id;
    int sleeps;

    (void)deadline;
    pthread_mutex_lock(&futex_lock);
    sleeps = atomic_load_explicit(word, memory_order_relaxed) == value;
    futex_sleeps[id] = sleeps;
    atomic_store_explicit(&futex_woken[id], 0, memory_order_relaxed);
    pthread_mutex_unlock(&futex_lock);
    if (sleeps)
        while (!atomic_load_explicit(&futex_woken[id], memory_order_acquire))
            ;
}

void lade_futex_wake(_Atomic uint32_t *word)
{
    (void)word;
    pthread_mutex_lock(&futex_lock);
    for (int i = 0; i < THREADS; i++)
        if (futex_sleeps[i]) {
            futex_sleeps[i] = 0;
            atomic_store_explicit(&futex_woken[i], 1, memory_order_release);
        }
    pthread_mutex_unlock(&futex_lock);
}

int64_t lade_now(void)
{
    return 0;
}
