/* SPDX-License-Identifier: MIT */
/*
 * Assigning a structure does not define what was undefined.
 * expect: error uninitialised
 */
#include <stdlib.h>
struct box {
    long a, b, c;
};

int main(void)
{
    struct box *p = malloc(sizeof *p), *q = malloc(sizeof *q);
    p->a = 1;
    *q = *p;
    long n = q->b;
    free(p);
    free(q);
    return n == 7;
}
