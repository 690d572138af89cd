/* SPDX-License-Identifier: MIT */
/*
 * One plain store over several atomic locations: each gets its value.
 * expect: pass 1
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>
static struct {
    atomic_int a;
    int gap;
    atomic_int b, c;
    atomic_long d;
} s;

int main(void)
{
    atomic_store(&s.a, 1);
    atomic_store(&s.b, 2);
    atomic_store(&s.c, 3);
    atomic_store(&s.d, 4);
    assert(s.a == 1 && s.b == 2 && s.c == 3 && s.d == 4);
    memset(&s, 0, sizeof s);
    assert(s.a == 0 && s.b == 0 && s.c == 0 && s.d == 0);
    memset(&s, 0xff, sizeof s);
    s.gap = 1;
    assert(s.a == -1 && s.b == -1 && s.c == -1 && s.d == -1);
}
