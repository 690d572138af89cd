/* SPDX-License-Identifier: MIT */
/*
 * Initialised before the threads and again after them: what later loads may see is the last of it. Any type.
 * expect: pass 2
 * options: --outcomes
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
static volatile atomic_int x;
static _Atomic(char *) p;
static _Atomic bool b;
struct both {
    int a, c;
};
static _Atomic struct both s;

static void *run(void *arg)
{
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    char c;
    atomic_uint_least16_t *heap = malloc(sizeof *heap);
    atomic_init(heap, 7);
    atomic_init(&x, 1);
    atomic_init(&p, &c);
    atomic_init(&b, 5);
    atomic_init(&s, ((struct both){3, 4}));
    pthread_create(&t, NULL, run, NULL);
    int seen = atomic_load_explicit(&x, memory_order_relaxed);
    assert(seen == 1 || seen == 2);
    pthread_join(t, NULL);
    atomic_init(&x, 3);
    assert(x == 3 && p == &c && b && *heap == 7 && atomic_load(&s).c == 4);
    atomic_init(&x, 4);
    atomic_init(&x, 5);
    assert(atomic_load_explicit(&x, memory_order_relaxed) == 5);
    free(heap);
    return 0;
}
