/* SPDX-License-Identifier: MIT */
/*
 * gcc expands __builtin_memset in place, without a hook.
 * expect: unsupported
 */
#include <stdlib.h>

int main(void)
{
    char *p = malloc(24);
    free(p);
    __builtin_memset(p, 0, 24);
    return 0;
}
