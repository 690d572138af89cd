/* SPDX-License-Identifier: MIT */
/*
 * One atomic is a linearizable register.
 *
 * expect: pass
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;
enum { WRITE, READ };

struct spec {
    long value;
};

static bool step(void *state, int op, long arg, long result)
{
    struct spec *s = state;

    if (op == WRITE) {
        s->value = arg;
        return true;
    }
    return s->value == result;
}

static void *writer(void *arg)
{
    explore_begin(WRITE, 1);
    atomic_store_explicit(&a, 1, memory_order_release);

    explore_end(0);
    return arg;
}

static void *reader(void *arg)
{
    explore_begin(READ, 0);
    long first = atomic_load_explicit(&a, memory_order_acquire);
    explore_end(first);
    explore_begin(READ, 0);
    long second = atomic_load_explicit(&a, memory_order_acquire);
    explore_end(second);
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
