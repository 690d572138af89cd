/* SPDX-License-Identifier: MIT */
/*
 * The same through an atomic.
 *
 * expect: error uninitialised
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    atomic_int *p = malloc(sizeof *p);
    int v = atomic_load(p);
    free(p);
    return v;
}
