/* SPDX-License-Identifier: MIT */
/*
 * Memory has the names of the program: members, indices, the pointer that a block is assigned to; and a pointer that is
 * exchanged stands under its own name.
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
static _Atomic(struct node *) top;

static void *run(void *arg)
{
    atomic_store_explicit(&ring.prod[1].tail, 3, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    struct node *n = calloc(1, sizeof *n);

    atomic_store_explicit(&n->link.next, NULL, memory_order_relaxed);
    atomic_exchange_explicit(&top, n, memory_order_relaxed);
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    assert(!atomic_load_explicit(&ring.prod[1].tail, memory_order_relaxed));
    free(n);
    return 0;
}
