/* SPDX-License-Identifier: MIT */
/*
 * A name that does not fit is refused, not cut.
 *
 * expect: unsupported
 * says: explore_cover takes
 */
#include <lade_explore.h>

int main(void)
{
    explore_cover("a name that is longer than the forty-seven characters that there is room for");
    return 0;
}
