/* SPDX-License-Identifier: MIT */
/*
 * Printing a string loads it.
 * expect: error use-after-free 15 14
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *s = malloc(8);
    strcpy(s, "abc");
    free(s);
    printf("%5d %s\n", 1, s);
}
