/* SPDX-License-Identifier: MIT */
/*
 * A function that is not modelled must not be called by its address, which may go anywhere.
 *
 * expect: unsupported
 * says: other than by a call: mlock
 */
#include <sys/mman.h>

static int (*f)(const void *, size_t) = mlock;

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? f(&argc, sizeof argc) : 0;
}
