/* SPDX-License-Identifier: MIT */
/*
 * Prefetches a cache line that will be needed soon, to write or to read. A hint, without effect on results. Internal.
 */
#ifndef LADE_LIB_PREFETCH_H
#define LADE_LIB_PREFETCH_H

/*
 * Prefetches a line to write it: the line arrives in exclusive state, so that the write need not wait for the
 * invalidation of other copies. Unless the target is a processor later than the first x86-64 ones, compilers emit an
 * instruction that prefetches to read.
 */
static inline void lade_prefetch(const volatile void *place)
{
#if defined __GNUC__ && defined __x86_64__
    __asm__("prefetchw %0" : : "m"(*(const volatile char *)place));
#elif defined __GNUC__
    __builtin_prefetch((const void *)place, 1);
#else
    (void)place;
#endif
}

static inline void lade_prefetch_read(const volatile void *place)
{
#ifdef __GNUC__
    __builtin_prefetch((const void *)place, 0);
#else
    (void)place;
#endif
}

#endif
