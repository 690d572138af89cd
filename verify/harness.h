/* SPDX-License-Identifier: MIT */
/*
 * The few primitives that a harness needs, the same under every engine.
 *
 * A harness defines THREADS and three functions, includes this header first and the library's sources after it:
 *
 *     static void setup(void);        before the threads start
 *     static void thread(int id);     id = 0 .. THREADS-1, run concurrently
 *     static void finish(void);       after all of them have ended
 *
 * and uses
 *
 *     assert(c)      must hold
 *     assume(c)      discards this execution unless c holds (native: returns from thread())
 *     cover(NAME)    some execution must reach this point; NAME is listed under "cover:" in the harness's comment block
 *     ROUND          number of the round, 0 under a checker
 *     pause_here()   native runs wait a random time here; a no-op under a checker
 *
 * Checkers run one round; native engines run HARNESS_ROUNDS of them with persistent threads, a barrier between rounds
 * and random delays, and do not check cover points, since reaching them depends on chance. Explore lists the points
 * that it reached. Under GenMC -DCOVER_NAME=1 turns a point into a failing assertion: if the run fails, the point is
 * reachable. Under CBMC, which reports every property of a run, each point is a property called "cover NAME" that must
 * fail.
 *
 * The engine is chosen by one of -DENGINE_NATIVE -DENGINE_GENMC -DENGINE_CBMC -DENGINE_EXPLORE.
 */
#ifndef LADE_VERIFY_HARNESS_H
#define LADE_VERIFY_HARNESS_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static void setup(void);
static void thread(int id);
static void finish(void);

/* The id of the running thread; -1 in setup() and finish(). */
static _Thread_local int harness_id = -1;

/* 1 when x is defined as 1, else 0; usable inside an expression. */
#define HARNESS_SET_1 0,
#define HARNESS_SECOND_(a, b, ...) b
#define HARNESS_SECOND(...) HARNESS_SECOND_(__VA_ARGS__)
#define HARNESS_SET__(a) HARNESS_SECOND(a 1, 0, 0)
#define HARNESS_SET_(x) HARNESS_SET__(HARNESS_SET_##x)
#define HARNESS_SET(x) HARNESS_SET_(x)

#ifndef ENGINE_NATIVE
#define LADE_PAUSE() ((void)0) /* checkers model neither the instruction nor time */
#endif

#if defined ENGINE_GENMC || defined ENGINE_EXPLORE
#include <pthread.h>
void __VERIFIER_assume(_Bool);
#define assume(c) __VERIFIER_assume(c)
#define pause_here() ((void)0)
#define ROUND 0

static void *harness_body(void *arg)
{
    harness_id = (int)(intptr_t)arg;
    thread(harness_id);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    setup();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, harness_body, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    finish();
    return 0;
}

#elif defined ENGINE_CBMC
void __CPROVER_assume(_Bool);
void __CPROVER_atomic_begin(void);
void __CPROVER_atomic_end(void);
void __CPROVER_assert(_Bool, const char *);
#define assume(c) __CPROVER_assume(c)
#define cover(NAME) __CPROVER_assert(0, "cover " #NAME)
#define pause_here() ((void)0)
#define ROUND 0

#ifdef SEQUENTIAL /* a contract of one thread; thread(0) is called like a function */
int main(void)
{
    setup();
    thread(0);
    finish();
    cover(harness_end);
    return 0;
}
#else
static int harness_ended;

static void harness_body(int id)
{
    thread(id);
    __CPROVER_atomic_begin();
    harness_ended++;
    __CPROVER_atomic_end();
}

int main(void)
{
    setup();
__CPROVER_ASYNC_1:
    harness_body(0);
#if THREADS > 1
__CPROVER_ASYNC_2:
    harness_body(1);
#endif
#if THREADS > 2
__CPROVER_ASYNC_3:
    harness_body(2);
#endif
#if THREADS > 3
__CPROVER_ASYNC_4:
    harness_body(3);
#endif
    __CPROVER_assume(harness_ended == THREADS);
    finish();
    cover(harness_end);
    return 0;
}
#endif

#else /* ENGINE_NATIVE, also under ThreadSanitizer */
#include "native.h"
#endif

#ifdef ENGINE_EXPLORE
void explore_cover(const char *);
#define cover(NAME) explore_cover(#NAME)
#endif

#ifndef cover
#define cover(NAME) assert(!HARNESS_SET(COVER_##NAME))
#endif

#endif
