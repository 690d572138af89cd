/* SPDX-License-Identifier: MIT */
/*
 * What was never stored to is copied over an atomic that had a value. The store in between makes the first load right.
 * expect: error uninitialised 20
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    atomic_int *p = malloc(sizeof *p), *q = malloc(sizeof *q);
    atomic_store(q, 1);
    memcpy(q, p, sizeof *q);
    atomic_store(q, 2);
    int first = atomic_load(q) + *(int *)q;
    assert(first == 4);
    memcpy(q, p, sizeof *q);
    int n = atomic_load(q);
    free(p);
    free(q);
    return n == 7;
}
