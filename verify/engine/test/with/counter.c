/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

int counter_add(void);

static atomic_int n;

int counter_add(void)
{
    return atomic_fetch_add(&n, 1);
}
