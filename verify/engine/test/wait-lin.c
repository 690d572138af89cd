/* SPDX-License-Identifier: MIT */
/*
 * Only the iteration that failed acquires what the writer released: without it the two operations are not ordered, and the
 * result could be explained.
 *
 * expect: error linearizability
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WRITE, READ };
struct spec {
    long value;
};
static atomic_int flag;

static bool step(void *state, int op, long arg, long result)
{
    struct spec *s = state;

    if (op == WRITE)
        s->value = arg;
    return op == WRITE || s->value == result;
}

static void *writer(void *arg)
{
    explore_begin(WRITE, 1);
    explore_end(0);
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    return arg;
}

/* Returns 0, whatever the register holds. */
static void *reader(void *arg)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != 2)
        ;
    explore_begin(READ, 0);
    explore_end(0);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    explore_spec(sizeof(struct spec), step);
    pthread_create(&t, NULL, writer, NULL);
    pthread_create(&u, NULL, reader, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
