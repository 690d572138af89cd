/* SPDX-License-Identifier: MIT */
/*
 * One past the end of a heap block.
 *
 * expect: error out-of-bounds
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    int *p = calloc(3, sizeof *p);
    int v = p[3];
    free(p);
    return v;
}
