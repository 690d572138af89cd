/* SPDX-License-Identifier: MIT */
/*
 * What libstdc++ has compiled is refused when it is called, by the name that a person writes.
 * expect: unsupported
 * says: operator<<(int) is not modelled
 */
#include <iostream>

int main()
{
    std::cout << 1;
}
