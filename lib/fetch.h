/* SPDX-License-Identifier: MIT */
/* Asks for a cache line that will be needed soon: to write, or to read. A hint, without effect on what a program does. Internal. */
#ifndef LADE_LIB_FETCH_H
#define LADE_LIB_FETCH_H

static inline void lade_fetch(const volatile void *place)
{
#ifdef __GNUC__
    __builtin_prefetch((const void *)place, 1);
#else
    (void)place;
#endif
}

static inline void lade_fetch_read(const volatile void *place)
{
#ifdef __GNUC__
    __builtin_prefetch((const void *)place, 0);
#else
    (void)place;
#endif
}

#endif
