/* SPDX-License-Identifier: MIT */
/*
 * A store through a null pointer.
 *
 * expect: error crash
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int *volatile p;

int main(void)
{
    *p = 1;
    return 0;
}
