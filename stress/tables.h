/* SPDX-License-Identifier: MIT */
/*
 * The table's sources, stepped (steps.h), with arrays and blocks so small that a few keys make it grow. Every load is a
 * step too. Two faults can be switched on, for checks that must notice them.
 */
#ifndef LADE_STRESS_TABLES_H
#define LADE_STRESS_TABLES_H

#include "steps.h"

#include <lade/ref.h>
#include <urcu/urcu-memb.h>

#define LADE_TABLE_FIRST 8
#define LADE_TABLE_MOVE 4
#define LADE_TABLE_SAMPLED 4096

/* One cell in four is not counted, as most are not in large arrays: there an insert takes its fast path. */
#define LADE_TABLE_COUNTED(a, c) (((c) - (a)->cell) % 4 != 3 && !((uint64_t)((c) - (a)->cell) & (a)->sample))

/* Negative: a val is overwritten although another is present; a moved cell can still be changed. */
enum table_fault { SOUND, WRITE_OVER, NOT_FROZEN };
static enum table_fault table_fault;

typedef struct array *step_array;
typedef struct record *step_record;

/* Threads stop at loads too, but pause only at the library's marks: scanning a table would take too long. */
static inline void step_load(void)
{
    if (step_plan && !step_plan->pauses)
        step_here();
}

#define STEP_LOAD(name, type)                                                                                          \
    static inline type name(_Atomic type *object, memory_order order)                                                  \
    {                                                                                                                  \
        step_load();                                                                                                   \
        return atomic_load_explicit(object, order);                                                                    \
    }

STEP_LOAD(step_load_64, uint64_t)
STEP_LOAD(step_load_32, uint32_t)
STEP_LOAD(step_load_8, uint8_t)
STEP_LOAD(step_load_array, step_array)
STEP_LOAD(step_load_record, step_record)

static inline bool table_cas_64(_Atomic uint64_t *object, uint64_t *expected, uint64_t wanted, memory_order success,
                                memory_order failure)
{
    bool is_val = (uintptr_t)object % (2 * sizeof *object) != 0;

    if (table_fault == WRITE_OVER && is_val && *expected == 0) {
        atomic_store(object, wanted);
        return true;
    }
    return step_cas_64(object, expected, wanted, success, failure);
}

/* Not the macro of steps.h. */
#define STEP_CAS_POINTER(name, type)                                                                                   \
    static inline bool name(_Atomic type *object, type *expected, type wanted, memory_order success,                   \
                            memory_order failure)                                                                      \
    {                                                                                                                  \
        type before = *expected;                                                                                       \
        while (!atomic_compare_exchange_weak_explicit(object, expected, wanted, success, failure))                     \
            if (*expected != before) {                                                                                 \
                step_here();                                                                                           \
                return false;                                                                                          \
            }                                                                                                          \
        step_here();                                                                                                   \
        return true;                                                                                                   \
    }
STEP_CAS_POINTER(step_cas_array, step_array)
STEP_CAS_POINTER(step_cas_record, step_record)

static inline uint64_t table_or_64(_Atomic uint64_t *object, uint64_t bits, memory_order order)
{
    return table_fault == NOT_FROZEN ? atomic_load(object) : step_or_64(object, bits, order);
}

static inline uint8_t step_exchange_8(_Atomic uint8_t *object, uint8_t value, memory_order order)
{
    uint8_t old = atomic_exchange_explicit(object, value, order);

    step_here();
    return old;
}

/* The following applies to the sources only. */
#pragma push_macro("atomic_load_explicit")
#pragma push_macro("atomic_compare_exchange_strong_explicit")
#pragma push_macro("atomic_fetch_or_explicit")
#pragma push_macro("atomic_exchange_explicit")
#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                                                            \
    _Generic((object), _Atomic uint64_t *                                                                              \
             : step_load_64, _Atomic uint32_t *                                                                        \
             : step_load_32, _Atomic uint8_t *                                                                         \
             : step_load_8, _Atomic step_array *                                                                       \
             : step_load_array, _Atomic step_record *                                                                  \
             : step_load_record)(object, order)

#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(object, expected, wanted, success, failure)                            \
    _Generic((object), _Atomic uint64_t *                                                                              \
             : table_cas_64, _Atomic step_array *                                                                      \
             : step_cas_array, _Atomic step_record *                                                                   \
             : step_cas_record)(object, expected, wanted, success, failure)

#undef atomic_fetch_or_explicit
#define atomic_fetch_or_explicit table_or_64

#undef atomic_exchange_explicit
#define atomic_exchange_explicit step_exchange_8

#include "../lib/table.c"

#include "../lib/table_grow.c"

#include "../lib/table_create.c"

#pragma pop_macro("atomic_load_explicit")
#pragma pop_macro("atomic_compare_exchange_strong_explicit")
#pragma pop_macro("atomic_fetch_or_explicit")
#pragma pop_macro("atomic_exchange_explicit")

#endif
