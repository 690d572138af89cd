/* SPDX-License-Identifier: MIT */
/*
 * The compiler's header for programs under explore, with one difference. Initialising an atomic object is not an atomic
 * operation (C11 7.17.2.1): against any other access it is a race. gcc makes it a relaxed store, which would hide that.
 */
#pragma GCC system_header
#include_next <stdatomic.h>

#undef atomic_init
#define atomic_init(OBJECT, VALUE)                                                                                     \
    __extension__({                                                                                                    \
        __auto_type lade_object = (OBJECT);                                                                            \
        __typeof__((void)0, *lade_object) lade_value = (VALUE);                                                        \
        *(__typeof__((void)0, *lade_object) *)lade_object = lade_value;                                                \
        (void)0;                                                                                                       \
    })
