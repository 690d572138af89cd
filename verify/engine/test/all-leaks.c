/* SPDX-License-Identifier: MIT */
/*
 * The block is still in use when main returns, which is a leak only when asked for.
 * expect: error leak
 * options: --all-leaks
 */
#include <stdlib.h>
static int *kept;

int main(void)
{
    kept = malloc(sizeof *kept);
    return 0;
}
