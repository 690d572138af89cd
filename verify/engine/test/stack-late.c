/* SPDX-License-Identifier: MIT */
/*
 * The last store to an atomic local is plain. It belongs to the function, although its event comes at the next step.
 * expect: pass 1
 */
#include <stdatomic.h>
static atomic_int x;

static int once(void)
{
    atomic_int a;
    atomic_init(&a, 1);
    int seen = atomic_fetch_add_explicit(&a, 1, memory_order_relaxed);
    atomic_init(&a, 7);
    return seen;
}

int main(void)
{
    int seen = once();
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return seen - 1;
}
