/* SPDX-License-Identifier: MIT */
/*
 * Structure assignment, memcpy and padding.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <string.h>
struct s { char a; long b; } g;

int main(void)
{
    struct s *p = malloc(sizeof *p), *q = malloc(sizeof *q);
    p->a = 1;
    p->b = 2;
    *q = *p;
    memcpy(&g, q, sizeof g);
    assert(g.a == 1 && g.b == 2);
    free(p);
    free(q);
    return 0;
}
