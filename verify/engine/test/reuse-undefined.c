/* SPDX-License-Identifier: MIT */
/*
 * A block that is handed out again has no defined value.
 * expect: error uninitialised 15
 * options: --reuse
 */
#include <stdlib.h>

int main(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
    p = malloc(sizeof *p);
    int v = *p;
    free(p);
    return v & 0;
}
