/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a lab program on this processor, for verify/lab: it is compiled with PROGRAM, the lab's C text; RESET, statements
 * that give each shared variable its first value; BODIES, the threads; and THREADS. Prints a line "COUNT OUTCOME" for each outcome.
 *
 *     PROGRAM ROUNDS SECONDS
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OUTCOMES = 512, LENGTH = 1 << 14, SPINS = 256, WAITS = 20000, LINE_UP = 1 << 14 };

static char outcome[LENGTH];
static atomic_int failed, left_out, waits;

/* A thread that waits lets others run; after WAITS of these it ends, and the round counts as "still waiting". */
static bool waited(unsigned *turns)
{
    if (++*turns % SPINS == 0)
        sched_yield();
    return *turns < SPINS * WAITS;
}

#undef assert
#define END_IF(CONDITION, FLAG)                                                                                        \
    do {                                                                                                               \
        if (CONDITION) {                                                                                               \
            FLAG = 1;                                                                                                  \
            goto end;                                                                                                  \
        }                                                                                                              \
    } while (0)
#define assert(c) END_IF(!(c), failed)
#define free(p) ((void)(p)) /* the variable is there again in the next round */
#define __VERIFIER_assume(c) END_IF(!(c), left_out)
#define WAIT_FOR(c)                                                                                                    \
    for (unsigned turns = 0; (c) && ({                                                                                 \
                                 if (!waited(&turns))                                                                  \
                                     END_IF(true, waits);                                                              \
                                 true;                                                                                 \
                             });)
#define show(...) snprintf(outcome, sizeof outcome, __VA_ARGS__)

#include PROGRAM

/* Each on its own cache line: spinning on one must not disturb the program's variables. */
static _Alignas(128) atomic_ulong open_round;
static int64_t begin; /* of the open round, in ticks */
static _Alignas(128) atomic_int ended;
static _Alignas(128) atomic_bool over;

static struct {
    char text[LENGTH];
    unsigned long count;
} seen[OUTCOMES];
static unsigned long rounds;
static int64_t last; /* nanoseconds: few rounds begin after it */

static void *(*const body[THREADS])(void *) = {BODIES};

static void count(void)
{
    int i = 0;

    if (left_out)
        return;
    if (waits)
        strcpy(outcome, "still waiting");
    else if (failed)
        strcpy(outcome, "assertion failed");
    else {
        show_outcome();
        outcome[strcspn(outcome, "\n")] = 0;
    }
    while (i < OUTCOMES - 1 && seen[i].count && strcmp(seen[i].text, outcome))
        i++;
    strcpy(seen[i].text, outcome);
    seen[i].count++;
}

static void wait_until(atomic_ulong *word, unsigned long least)
{
    for (unsigned spin = 1; atomic_load_explicit(word, memory_order_acquire) < least; spin++)
        if (spin % LINE_UP == 0) /* rarely: a thread that yields begins late */
            sched_yield();
}

/* A clock that all processors share and that is cheap to read. */
static int64_t ticks(void)
{
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    int64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return clock();
#endif
}

#ifdef __x86_64__
enum { AHEAD = 3000 };
#else
enum { AHEAD = 100 };
#endif

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Each thread stays on one processor, so that two never share one while another is free. */
static void settle(size_t me)
{
    cpu_set_t given, one;
    int nth = 0;

    if (sched_getaffinity(0, sizeof given, &given))
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &given) && (size_t)nth++ == me % (size_t)CPU_COUNT(&given))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one); /* a wish: it may be refused */
}

/*
 * The last thread to end a round counts its outcome and opens the next one, which begins a moment later by the clock: a thread
 * that waited for a store of another one would always begin after it.
 */
static void *run(void *of)
{
    const size_t me = (size_t)(uintptr_t)of;
    uint32_t random = 2463534242u + 7919u * (uint32_t)me;

    settle(me);
    for (unsigned long round = 1; !over; round++) {
        wait_until(&open_round, round);
        random ^= random << 13; /* xorshift32 (Marsaglia 2003): a delay that varies */
        random ^= random >> 17;
        random ^= random << 5;
        while (ticks() < begin)
            ;
        for (volatile uint32_t n = random % 64; n; n = n - 1)
            ;
        body[me](NULL);
        if (atomic_fetch_add_explicit(&ended, 1, memory_order_acq_rel) == THREADS - 1) {
            count();
            failed = left_out = waits = ended = 0;
            RESET
            over = round >= rounds || (round % 64 == 0 && now() > last);
            begin = ticks() + AHEAD;
            atomic_store_explicit(&open_round, round + 1, memory_order_release);
        } else {
            wait_until(&open_round, round + 1); /* over is settled then */
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];

    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    last = now() + (int64_t)(1e9 * (argc > 2 ? atof(argv[2]) : 5));
    RESET
    open_round = 1;
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i)) {
            fprintf(stderr, "cannot start a thread\n");
            return 4;
        }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < OUTCOMES && seen[i].count; i++)
        printf("%lu %s\n", seen[i].count, seen[i].text);
    return 0;
}
