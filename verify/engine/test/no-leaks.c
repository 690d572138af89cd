/* SPDX-License-Identifier: MIT */
/*
 * The same with the check left out.
 *
 * expect: weaker 1
 * options: --no-leaks
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
