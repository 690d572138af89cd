/* SPDX-License-Identifier: MIT */
/*
 * Without a check of progress, waiting forever is no error, but it is no pass either.
 * expect: vacuous 0
 * options: --no-liveness
 * says: every one waits
 */
#include <stdatomic.h>
static atomic_int x;

int main(void)
{
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        ;
    return 0;
}
