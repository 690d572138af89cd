/* SPDX-License-Identifier: MIT */
/*
 * Atomic accesses of different sizes to one place.
 *
 * expect: unsupported
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static union { atomic_int a; atomic_char b; } u;

int main(void)
{
    atomic_store(&u.a, 1);
    return atomic_load(&u.b) - 1;
}
