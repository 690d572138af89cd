/* SPDX-License-Identifier: MIT */
/*
 * A block that is never freed.
 *
 * expect: error leak
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    return 0;
}
