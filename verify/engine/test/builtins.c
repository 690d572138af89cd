/* SPDX-License-Identifier: MIT */
/*
 * What gcc expands without touching memory, or turns into a call that is modelled, stays allowed.
 * expect: pass 1
 */
#include <stdarg.h>
#include <stdatomic.h>
static atomic_int x;

static int sum(int n, ...)
{
    va_list list;
    int s = 0, more;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        if (__builtin_add_overflow(s, va_arg(list, int), &more) || ((s = more), 0))
            __builtin_trap();
    va_end(list);
    return s;
}

int main(void)
{
    int n = atomic_load(&x) + 3, room[n], *more = __builtin_alloca(sizeof *more);
    room[0] = sum(2, __builtin_popcount(5), __builtin_ctzll(4));
    *more = room[0] + (int)__builtin_bswap32(0);
    __builtin_prefetch(more);
    __builtin_ia32_pause();
    __builtin_free(__builtin_malloc(4));
    __sync_synchronize();
    return __builtin_expect(*more == 4, 1) && __builtin_fabs(-1.0 * n) > 2.5 ? 0 : 1;
}
