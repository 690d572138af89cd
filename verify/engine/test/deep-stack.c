/* SPDX-License-Identifier: MIT */
/*
 * The same by recursion.
 * expect: unsupported
 */
static int depth(int n)
{
    char room[100];
    room[0] = (char)n;
    return n ? depth(n - 1) + (room[0] == (char)n) : 0;
}

int main(void)
{
    return depth(100000) != 100000;
}
