/* SPDX-License-Identifier: MIT */
/*
 * A choice of one value is none.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <lade_explore.h>

int main(void)
{
    assert(explore_choose(1) == 0);
    return 0;
}
