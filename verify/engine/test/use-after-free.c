/* SPDX-License-Identifier: MIT */
/*
 * A load of freed memory by the same thread.
 *
 * expect: error use-after-free
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
    return *p;
}
