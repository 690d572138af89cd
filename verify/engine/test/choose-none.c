/* SPDX-License-Identifier: MIT */
/*
 * A choice among no values is refused.
 *
 * expect: unsupported
 * says: a choice among 0 values
 */
#include <lade_explore.h>

int main(void)
{
    return explore_choose(0);
}
