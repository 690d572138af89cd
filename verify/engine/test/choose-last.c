/* SPDX-License-Identifier: MIT */
/*
 * The last value of a second choice, after the last of the first.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <lade_explore.h>

int main(void)
{
    int a = explore_choose(3), b = explore_choose(4);

    assert(a != 2 || b != 3);
    return 0;
}
