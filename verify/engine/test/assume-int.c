/* SPDX-License-Identifier: MIT */
/*
 * SV-COMP's assume takes an int: all of it counts.
 * expect: error assertion
 */
#include <assert.h>
void __VERIFIER_assume(int);
static volatile int flags = 0x100;

int main(void)
{
    __VERIFIER_assume(flags & 0x100);
    assert(0);
}
