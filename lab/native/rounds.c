/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a lab program on this processor, for verify/lab: it is compiled with PROGRAM, the lab's C text; RESET, statements
 * that give each shared variable its first value; BODIES, the threads; and THREADS. Prints a line "COUNT OUTCOME" for each outcome.
 *
 *     PROGRAM ROUNDS SECONDS
 */
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

enum { OUTCOMES = 512, LENGTH = 512, SPINS = 256, WAITS = 20000 };

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
static _Alignas(128) atomic_ulong open_round, lined_up;
static _Alignas(128) atomic_int ended;
static _Alignas(128) atomic_bool over;

static struct {
    char text[LENGTH];
    unsigned long count;
} seen[OUTCOMES];
static unsigned long rounds;
static double seconds;
static struct timespec begun;

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
        if (spin % SPINS == 0)
            sched_yield();
}

/* The last thread to end a round counts its outcome and opens the next one; then all line up, so that they begin together. */
static void *run(void *of)
{
    const size_t me = (size_t)(uintptr_t)of;
    uint32_t random = 2463534242u + 7919u * (uint32_t)me;

    for (unsigned long round = 1; !over; round++) {
        wait_until(&open_round, round);
        atomic_fetch_add_explicit(&lined_up, 1, memory_order_acq_rel);
        wait_until(&lined_up, round * THREADS);
        random ^= random << 13; /* xorshift32 (Marsaglia 2003): a delay that varies */
        random ^= random >> 17;
        random ^= random << 5;
        for (volatile uint32_t n = random % 256; n; n = n - 1)
            ;
        body[me](NULL);
        if (atomic_fetch_add_explicit(&ended, 1, memory_order_acq_rel) == THREADS - 1) {
            struct timespec now;
            count();
            failed = left_out = waits = ended = 0;
            RESET
            clock_gettime(CLOCK_MONOTONIC, &now);
            over = round >= rounds ||
                   (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec) > seconds;
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
    seconds = argc > 2 ? atof(argv[2]) : 5;
    clock_gettime(CLOCK_MONOTONIC, &begun);
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
