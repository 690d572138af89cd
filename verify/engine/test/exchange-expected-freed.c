/* SPDX-License-Identifier: MIT */
/*
 * What it expects must be there.
 * expect: error use-after-free
 */
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;

int main(void)
{
    int *e = calloc(1, sizeof *e);
    free(e);
    atomic_compare_exchange_strong(&x, e, 1);
}
