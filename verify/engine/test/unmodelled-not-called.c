/* SPDX-License-Identifier: MIT */
/*
 * What is not modelled is refused when it is called, not when it is there.
 *
 * expect: pass 1
 */
#include <sys/mman.h>

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? mlock(&argc, sizeof argc) : 0;
}
