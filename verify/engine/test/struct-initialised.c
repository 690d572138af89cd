/* SPDX-License-Identifier: MIT */
/*
 * Padding may be undefined, and a later assignment defines.
 * expect: pass 1
 */
#include <stdlib.h>
struct box {
    char a;
    long b;
};

int main(void)
{
    struct box *p = malloc(sizeof *p), *q = malloc(sizeof *q), l;
    p->a = 1;
    p->b = 2;
    l = *p;
    *q = l;
    long n = q->b;
    *q = *p;
    n += q->b + q->a;
    free(p);
    free(q);
    return n != 5;
}
