/* SPDX-License-Identifier: MIT */
/*
 * A load of heap memory that no thread stored to.
 *
 * expect: error uninitialised
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    int *p = malloc(sizeof *p);
    int v = *p;
    free(p);
    return v;
}
