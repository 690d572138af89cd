/* SPDX-License-Identifier: MIT */
/*
 * A reader that finds a writer counts itself out again, and waits.
 *
 * expect: pass 4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WRITER = 100 };
static atomic_int lock;
static int data;

static void *reader(void *arg)
{
    int seen;

    while (atomic_fetch_add_explicit(&lock, 1, memory_order_acquire) >= WRITER) {
        atomic_fetch_sub_explicit(&lock, 1, memory_order_relaxed);
        while (atomic_load_explicit(&lock, memory_order_relaxed) >= WRITER)
            ;
    }
    seen = data;
    (void)seen;
    atomic_fetch_sub_explicit(&lock, 1, memory_order_release);
    return arg;
}

static void *writer(void *arg)
{
    int free = 0;

    while (!atomic_compare_exchange_strong_explicit(&lock, &free, WRITER, memory_order_acquire, memory_order_relaxed))
        free = 0;
    data++;
    atomic_fetch_sub_explicit(&lock, WRITER, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, reader, NULL);
    pthread_create(&u, NULL, writer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    assert(data == 1);
    return 0;
}
