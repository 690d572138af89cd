/* SPDX-License-Identifier: MIT */
/*
 * A structure with atomic members is assigned from another.
 * expect: pass 1
 */
#include <assert.h>
#include <stdatomic.h>
static struct box {
    atomic_int a;
    int gap;
    atomic_int b, c;
    long d;
} s, other = {1, 2, 3, 4, 5};

int main(void)
{
    struct box *p = &other;
    assert(s.a == 0 && s.b == 0 && s.c == 0);
    s = *p;
    assert(s.a == 1 && s.b == 3 && s.c == 4);
}
