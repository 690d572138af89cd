/* SPDX-License-Identifier: MIT */
/*
 * What a thread does at the steps of an operation (LADE_STEP of lib/step.h): nothing, a random pause, or a stop at a
 * chosen step until it is released. Include before the source that is stepped.
 */
#ifndef LADE_STRESS_STEPS_H
#define LADE_STRESS_STEPS_H

#include "check.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

struct step_plan {
    unsigned stop_at; /* the step, from 1; 0: none */
    unsigned count;   /* steps so far */
    bool stopped;
    uint64_t pauses;                /* state of the random pauses; 0: none */
    void (*disturb)(void *context); /* runs at each step before stop_at */
    void *context;
    sem_t reached, resume;
};

/* The plan of this thread; NULL: continue. */
static _Thread_local struct step_plan *step_plan;

static void step_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static void step_pause(uint64_t *state)
{
    uint64_t r = check_next(state);

    if (r % 8 == 0) {
        (void)sched_yield();
    } else if (r % 8 == 1) {
        for (volatile unsigned spin = (unsigned)(r >> 32) % 256; spin > 0; spin = spin - 1)
            continue;
    }
}

static void step_here(void)
{
    struct step_plan *plan = step_plan;

    if (!plan)
        return;
    plan->count++;
    if (plan->count == plan->stop_at) {
        plan->stopped = true;
        plan->disturb = NULL;
        (void)sem_post(&plan->reached);
        step_wait(&plan->resume);
    } else if (plan->disturb) {
        step_plan = NULL;
        plan->disturb(plan->context);
        step_plan = plan;
    }
    if (plan->pauses)
        step_pause(&plan->pauses);
}

#define LADE_STEP() step_here()

/*
 * The library marks the step before an access. Tests that stop a thread also need the step after a read-modify-write,
 * where it has succeeded and not yet notified any thread. So the operations themselves are wrapped. The memory orders
 * are unchanged.
 */
#define STEP_CAS(name, type)                                                                                           \
    static inline bool name(_Atomic type *object, type *expected, type wanted, memory_order success,                   \
                            memory_order failure)                                                                      \
    {                                                                                                                  \
        bool won = atomic_compare_exchange_strong_explicit(object, expected, wanted, success, failure);                \
                                                                                                                       \
        step_here();                                                                                                   \
        return won;                                                                                                    \
    }

STEP_CAS(step_cas_32, uint32_t)
STEP_CAS(step_cas_64, uint64_t)
STEP_CAS(step_cas_i64, int64_t)

#define STEP_FETCH(name, type, operation)                                                                              \
    static inline type name(_Atomic type *object, type value, memory_order order)                                      \
    {                                                                                                                  \
        type old = operation(object, value, order);                                                                    \
                                                                                                                       \
        step_here();                                                                                                   \
        return old;                                                                                                    \
    }

STEP_FETCH(step_or_32, uint32_t, atomic_fetch_or_explicit)
STEP_FETCH(step_or_64, uint64_t, atomic_fetch_or_explicit)
STEP_FETCH(step_add_32, uint32_t, atomic_fetch_add_explicit)
STEP_FETCH(step_add_64, uint64_t, atomic_fetch_add_explicit)
STEP_FETCH(step_add_i64, int64_t, atomic_fetch_add_explicit)
STEP_FETCH(step_sub_32, uint32_t, atomic_fetch_sub_explicit)
STEP_FETCH(step_sub_64, uint64_t, atomic_fetch_sub_explicit)
STEP_FETCH(step_sub_i64, int64_t, atomic_fetch_sub_explicit)

#undef atomic_fetch_or_explicit
#define atomic_fetch_or_explicit(object, bits, order)                                                                  \
    _Generic((object), _Atomic uint64_t * : step_or_64, _Atomic uint32_t * : step_or_32)(object, bits, order)

#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(object, value, order)                                                                \
    _Generic((object), _Atomic uint64_t *                                                                              \
             : step_add_64, _Atomic int64_t *                                                                          \
             : step_add_i64, _Atomic uint32_t *                                                                        \
             : step_add_32)(object, value, order)

#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(object, value, order)                                                                \
    _Generic((object), _Atomic uint64_t *                                                                              \
             : step_sub_64, _Atomic int64_t *                                                                          \
             : step_sub_i64, _Atomic uint32_t *                                                                        \
             : step_sub_32)(object, value, order)

#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(object, expected, wanted, success, failure)                            \
    _Generic((object), _Atomic uint64_t *                                                                              \
             : step_cas_64, _Atomic int64_t *                                                                          \
             : step_cas_i64, _Atomic uint32_t *                                                                        \
             : step_cas_32)(object, expected, wanted, success, failure)

#endif
