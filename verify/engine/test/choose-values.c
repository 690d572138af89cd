/* SPDX-License-Identifier: MIT */
/*
 * Every value of a choice is tried.
 *
 * expect: pass 3
 * options: --outcomes
 * says: outcome: 2 (1 execution)
 */
#include <lade_explore.h>
#include <stdio.h>

int main(void)
{
    printf("%d\n", explore_choose(3));
    return 0;
}
