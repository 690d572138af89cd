/* SPDX-License-Identifier: MIT */
/*
 * What runs before main is not explored.
 * expect: unsupported
 */
static int g;

__attribute__((constructor)) static void early(void)
{
    g = 1;
}

int main(void)
{
    return !g;
}
