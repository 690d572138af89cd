/* SPDX-License-Identifier: MIT */
/*
 * Memory has the names of the program: members, indices, the pointer that a block is assigned to, or the expression of an
 * access where the allocation shows no type; a pointer to a structure is no pointer to its first member.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct {
        _Atomic(struct node *) next;
    } link;
};
struct ring {
    struct {
        atomic_int head, tail;
    } prod[2];
};
static struct ring ring;
static struct node pool[2];
static _Atomic(struct node *) top;

/* Its callers choose the type. */
static void *get(size_t size)
{
    return malloc(size);
}

static void *run(void *arg)
{
    atomic_store_explicit(&ring.prod[1].tail, 3, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    struct node *n = calloc(1, sizeof *n);
    struct ring *two[2] = {get(sizeof *two[0]), get(sizeof *two[1])};

    for (int i = 0; i < 2; i++) {
        struct ring *r = two[i];
        atomic_store_explicit(&r->prod[1].head, 7 + i, memory_order_relaxed);
        r->prod[0].tail = 0;
    }
    atomic_exchange_explicit(&top, &pool[1], memory_order_relaxed);
    atomic_store_explicit(&n->link.next, NULL, memory_order_relaxed);
    atomic_exchange_explicit(&top, n, memory_order_relaxed);
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    assert(!atomic_load_explicit(&ring.prod[1].tail, memory_order_relaxed));
    free(n);
    free(two[0]);
    free(two[1]);
    return 0;
}
