/* SPDX-License-Identifier: MIT */
/*
 * Inline assembly is refused.
 *
 * expect: unsupported
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int x;

int main(void)
{
    __asm__ volatile("lock; incl %0" : "+m"(x));
    return 0;
}
