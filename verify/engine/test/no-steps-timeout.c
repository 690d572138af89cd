/* SPDX-License-Identifier: MIT */
/*
 * The same when time is up before.
 * expect: bound
 * options: --timeout 2
 */
int main(void)
{
    for (;;)
        ;
}
