/* SPDX-License-Identifier: MIT */
/*
 * Double-checked initialisation with a relaxed pointer to a new block: the store that is missed is named, not malloc.
 *
 * expect: error race 46 25
 * says: nothing orders double-checked-heap.c:25 (T1) before double-checked-heap.c:46 (T0)
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object { int value, other; };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct object *_Atomic shared;

static struct object *use(void)
{
    struct object *p = atomic_load_explicit(&shared, memory_order_relaxed);
    if (!p) {
        pthread_mutex_lock(&m);
        p = atomic_load_explicit(&shared, memory_order_relaxed);
        if (!p) {
            p = malloc(sizeof *p);
            p->value = 7;
            atomic_store_explicit(&shared, p, memory_order_relaxed);
        }
        pthread_mutex_unlock(&m);
    }
    return p;
}

static void *run(void *arg)
{
    use();
    return arg;
}

int main(void)
{
    pthread_t a;

    pthread_create(&a, NULL, run, NULL);
    struct object *p = use();

    assert(p->value == 7);
    pthread_join(a, NULL);
    free(p);
    return 0;
}
