/* SPDX-License-Identifier: MIT */
/*
 * Including and naming it is no reason.
 * expect: pass 1
 */
#include <iostream>

int main(int argc, char **)
{
    if (argc > 1)
        std::cout << 1;
}
