/* SPDX-License-Identifier: MIT */
/*
 * Of two bounds the one that was reached is named.
 *
 * expect: bound
 * options: --max-events 20 --max-executions 1000
 * says: bound: events of a thread
 */
#include <stdatomic.h>

int main(void)
{
    atomic_int x = 0;
    for (int i = 0; i < 40; i++)
        atomic_store_explicit(&x, i, memory_order_relaxed);
    return 0;
}
