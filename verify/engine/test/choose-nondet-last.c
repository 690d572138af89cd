/* SPDX-License-Identifier: MIT */
/*
 * The highest value is among them, and the range is part of the result.
 *
 * expect: error assertion
 * options: --nondet -1:2
 * says: weaker: nondeterministic integers are -1 to 2 only
 */
#include <assert.h>

int __VERIFIER_nondet_int(void);

int main(void)
{
    assert(__VERIFIER_nondet_int() != 2);
    return 0;
}
