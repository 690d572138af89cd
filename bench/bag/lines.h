/* SPDX-License-Identifier: MIT */
/*
 * Included before every source of the library in one program: reports each atomic access to lines.c. The orders are the
 * ones of the source; lines.c runs in a single thread.
 */
#ifndef LADE_BENCH_LINES_H
#define LADE_BENCH_LINES_H

#include <stdatomic.h>
#include <stdbool.h>

void lines_touched(const volatile void *place, bool written);

/* The type without _Atomic, of at least the size of an int. */
#define LINES_PLAIN(p) ((__typeof__(*(p) + 0) *)(p))
#define LINES_READ(p) lines_touched(p, false)
#define LINES_WROTE(p) lines_touched(p, true)

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#define atomic_load_explicit(p, order) (LINES_READ(p), __atomic_load_n(LINES_PLAIN(p), order))
#define atomic_store_explicit(p, value, order) (LINES_WROTE(p), __atomic_store_n(LINES_PLAIN(p), value, order))
#define atomic_exchange_explicit(p, value, order) (LINES_WROTE(p), __atomic_exchange_n(LINES_PLAIN(p), value, order))
#define atomic_compare_exchange_strong_explicit(p, expected, value, success, failure)                                  \
    (LINES_WROTE(p), __atomic_compare_exchange_n(LINES_PLAIN(p), expected, value, false, success, failure))
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#define atomic_fetch_add_explicit(p, value, order) (LINES_WROTE(p), __atomic_fetch_add(LINES_PLAIN(p), value, order))
#define atomic_fetch_sub_explicit(p, value, order) (LINES_WROTE(p), __atomic_fetch_sub(LINES_PLAIN(p), value, order))
#define atomic_fetch_or_explicit(p, value, order) (LINES_WROTE(p), __atomic_fetch_or(LINES_PLAIN(p), value, order))
#define atomic_fetch_and_explicit(p, value, order) (LINES_WROTE(p), __atomic_fetch_and(LINES_PLAIN(p), value, order))

#endif
