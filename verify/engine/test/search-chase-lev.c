/* SPDX-License-Identifier: MIT */
/*
 * A deque of Chase and Lev without the seq_cst fences between its two indices: five pushes, two thieves, and the owner
 * takes. Owner and thief both take the last element. Too large to exhaust in a test.
 *
 * options: --search --seconds 60
 * expect: error assertion
 * says: found: in run
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { PUSHES = 5, ROOM = 8 };
static atomic_int top, bottom, cell[ROOM], taken[PUSHES + 1];

static void push(int value)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);

    atomic_store_explicit(&cell[b % ROOM], value, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

static void got(int value)
{
    assert(atomic_fetch_add_explicit(&taken[value], 1, memory_order_relaxed) == 0);
}

static void take(void)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;

    atomic_store_explicit(&bottom, b, memory_order_release);
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
        return;
    }
    int value = atomic_load_explicit(&cell[b % ROOM], memory_order_relaxed);
    if (t == b) {
        bool won = atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed);
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
        if (!won)
            return;
    }
    got(value);
}

static void *thief(void *arg)
{
    int t = atomic_load_explicit(&top, memory_order_acquire), b = atomic_load_explicit(&bottom, memory_order_acquire);

    if (t < b) {
        int value = atomic_load_explicit(&cell[t % ROOM], memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            got(value);
    }
    return arg;
}

static void *owner(void *arg)
{
    for (int i = 1; i <= PUSHES; i++)
        push(i);
    for (int i = 0; i < PUSHES; i++)
        take();
    return arg;
}

int main(void)
{
    pthread_t o, a, b;

    pthread_create(&o, NULL, owner, NULL);
    pthread_create(&a, NULL, thief, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(o, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
