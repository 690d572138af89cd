/* SPDX-License-Identifier: MIT */
/*
 * To start at main is what happens anyhow; its result counts.
 * expect: error assertion
 * options: --entry main
 * says: main returned 3
 */
int main(void)
{
    return 3;
}
