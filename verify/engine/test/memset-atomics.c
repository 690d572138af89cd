/* SPDX-License-Identifier: MIT */
/*
 * One plain store or copy over many atomics, which other threads used before and after.
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
enum { MANY = 40 };
static struct table {
    atomic_int count[MANY];
} a, b;

static void *add(void *arg)
{
    for (int i = 0; i < MANY; i++)
        atomic_fetch_add_explicit(&a.count[i], 1, memory_order_relaxed);
    return arg;
}

static void once(int before)
{
    pthread_t t;
    pthread_create(&t, NULL, add, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < MANY; i++)
        assert(atomic_load_explicit(&a.count[i], memory_order_relaxed) == before + 1);
}

int main(void)
{
    once(0);
    memcpy(&b, &a, sizeof a);
    memset(&a, 0, sizeof a);
    once(0);
    a = b;
    once(1);
    return 0;
}
