/* SPDX-License-Identifier: MIT */
/*
 * Moving undefined bytes does not define them.
 * expect: error uninitialised
 */
#include <stdlib.h>
#include <string.h>

int main(void)
{
    int *a = malloc(8), *b = malloc(8);
    a[0] = 1;
    memmove(b, a, 8);
    int n = b[1];
    free(a);
    free(b);
    return n == 7;
}
