/* SPDX-License-Identifier: MIT */
/*
 * And when it is called, by name.
 *
 * expect: unsupported
 * says: mlock is not modelled
 */
#include <sys/mman.h>

int main(int argc, char **argv)
{
    (void)argv;
    return argc == 1 ? mlock(&argc, sizeof argc) : 0;
}
