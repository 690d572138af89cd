/* SPDX-License-Identifier: MIT */
/*
 * An integer has the values that --nondet gives.
 *
 * expect: weaker 4
 * options: --nondet -1:2 --outcomes
 * says: outcome: -1 (1 execution)
 */
#include <stdio.h>

int __VERIFIER_nondet_int(void);

int main(void)
{
    printf("%d\n", __VERIFIER_nondet_int());
    return 0;
}
