/* SPDX-License-Identifier: MIT */
/*
 * A result other than 0 is an error, as exit with it is.
 * expect: error assertion
 */
int main(void)
{
    return 1;
}
