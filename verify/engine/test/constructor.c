/* SPDX-License-Identifier: MIT */
/*
 * What runs before main, and after it, is explored with it.
 * expect: pass 1
 * options: --all-leaks
 */
#include <stdlib.h>

static int *g;

__attribute__((constructor(200))) static void early(void)
{
    g = malloc(sizeof *g);
    *g = 1;
}

__attribute__((constructor(201))) static void late(void)
{
    *g += 1;
}

__attribute__((destructor)) static void end(void)
{
    free(g);
}

int main(void)
{
    return *g != 2;
}
