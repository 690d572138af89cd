/* SPDX-License-Identifier: MIT */
/*
 * A copy of atomics is as defined as they are: by memcpy, realloc and assignment of a structure.
 * expect: pass 1
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
struct node {
    long key[2];
    atomic_int count;
};

int main(void)
{
    struct node *p = malloc(sizeof *p), *q = malloc(sizeof *q), *r = malloc(sizeof *r);
    p->key[0] = p->key[1] = 1;
    atomic_store(&p->count, 2);
    memcpy(q, p, sizeof *q);
    assert(atomic_load(&q->count) == 2);
    *r = *p;
    assert(atomic_fetch_add(&r->count, 1) == 2);
    *r = *q; /* over a location that has been accessed atomically */
    assert(atomic_load(&r->count) == 2);
    q = realloc(q, 4 * sizeof *q);
    assert(atomic_load(&q->count) == 2);
    atomic_store(&q[1].count, 5);
    q = realloc(q, 8 * sizeof *q);
    assert(atomic_load(&q[1].count) == 5 && *(int *)&q[1].count == 5);
    free(p);
    free(q);
    free(r);
    return 0;
}
