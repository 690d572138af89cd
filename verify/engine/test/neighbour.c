/* SPDX-License-Identifier: MIT */
/*
 * An index one too far does not reach the next block.
 * expect: error out-of-bounds
 */
#include <stdlib.h>
struct box {
    long f[4];
};

int main(void)
{
    struct box *p = calloc(1, sizeof *p), *q = calloc(1, sizeof *q);
    p[1].f[2] = 7;
    free(p);
    free(q);
}
