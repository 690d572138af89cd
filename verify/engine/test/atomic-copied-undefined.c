/* SPDX-License-Identifier: MIT */
/*
 * One atomic of the array was never stored to, and its copy is not defined by that of the other.
 * expect: error uninitialised 18
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    atomic_int *p = malloc(2 * sizeof *p);
    atomic_int *q = malloc(2 * sizeof *q);
    atomic_store(&p[0], 1);
    memcpy(q, p, 2 * sizeof *q);
    assert(atomic_load(&q[0]) == 1);
    int n = atomic_load(&q[1]);
    free(p);
    free(q);
    return n == 7;
}
