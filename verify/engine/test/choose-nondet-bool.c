/* SPDX-License-Identifier: MIT */
/*
 * A Boolean has two values, whatever --nondet is.
 *
 * expect: pass 2
 * options: --nondet 5:9
 * silent: weaker
 */
#include <assert.h>

_Bool __VERIFIER_nondet_bool(void);

int main(void)
{
    assert((int)__VERIFIER_nondet_bool() <= 1);
    return 0;
}
