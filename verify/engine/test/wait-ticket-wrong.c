/* SPDX-License-Identifier: MIT */
/*
 * The error needs a loop that waited to continue: the last ticket belongs to the first thread.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int next, served;

static void *run(void *arg)
{
    int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&served, memory_order_acquire) != mine)
        ;
    assert(arg || mine != N - 1);
    atomic_store_explicit(&served, mine + 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
