/* SPDX-License-Identifier: MIT */
/*
 * The same as a _Bool.
 * expect: vacuous 0
 */
#include <assert.h>
void __VERIFIER_assume(_Bool);
static volatile int flags = 0x100;

int main(void)
{
    __VERIFIER_assume(flags & 0x100);
    __VERIFIER_assume(!flags);
    assert(0);
}
