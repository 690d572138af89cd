/* SPDX-License-Identifier: MIT */
/*
 * Functions of atexit run when main returns, the last one first.
 * expect: error assertion 14
 */
#include <assert.h>
#include <stdlib.h>

static int n;

static void first(void)
{
    n++;
    assert(n != 2); /* runs second */
}

static void second(void)
{
    n++;
}

int main(void)
{
    atexit(first);
    atexit(second);
    return 0;
}
