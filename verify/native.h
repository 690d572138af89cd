/* SPDX-License-Identifier: MIT */
/*
 * The native side of harness.h: persistent threads, many rounds, a barrier around each, random delays. A watcher ends
 * the program with code 43 when no round has ended for a while, and reports whether the threads sleep (deadlock) or
 * spin (livelock).
 *
 * Environment: HARNESS_ROUNDS (default 2000), HARNESS_SECONDS (no new round after that; default 60), HARNESS_SEED
 * (default from the clock; printed), HARNESS_STALL (seconds, default 20).
 */
#ifndef LADE_VERIFY_NATIVE_H
#define LADE_VERIFY_NATIVE_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define assume(c)                                                                                                      \
    do {                                                                                                               \
        if (!(c))                                                                                                      \
            return;                                                                                                    \
    } while (0)

#define cover(NAME) ((void)0) /* outcomes that depend on timing are left to the checkers */
#define ROUND harness_round
#define pause_here() harness_pause()

static unsigned long harness_round;
static unsigned long harness_rounds;
static bool harness_over; /* written before the gate opens */
static uint64_t harness_seed;
static unsigned long harness_stall;
static atomic_ulong harness_ended; /* rounds, for the watcher */
static atomic_ulong harness_lined;
static pthread_barrier_t harness_gate;
static _Thread_local uint64_t harness_state;

/*
 * xorshift64* (Vigna 2016); delays need no better. Mostly no delay, sometimes one that is long enough for another
 * thread to run.
 */
static inline void harness_pause(void)
{
    harness_state ^= harness_state >> 12;
    harness_state ^= harness_state << 25;
    harness_state ^= harness_state >> 27;
    uint64_t r = harness_state * UINT64_C(0x2545F4914F6CDD1D) >> 32;
    volatile unsigned spin = (r & 7) == 0 ? (unsigned)(r >> 8 & 1023) : (unsigned)(r >> 8 & 31);
    while (spin > 0)
        spin = spin - 1;
    if ((r >> 24 & 31) == 0)
        sched_yield(); /* even if the threads share one core */
}

/*
 * Waking up after the barrier takes longer than most bodies: without this the threads would run one after the other. It
 * also matters to ThreadSanitizer: a thread that leaves a barrier late inherits what a quick one did until the next
 * barrier, which hides races. Relaxed: the line orders nothing by itself.
 */
static void harness_line_up(unsigned long round)
{
    atomic_fetch_add_explicit(&harness_lined, 1, memory_order_relaxed);
    for (unsigned spin = 0; atomic_load_explicit(&harness_lined, memory_order_relaxed) < (round + 1) * THREADS; spin++)
        if (spin % 256 == 255)
            sched_yield();
}

static void *harness_watch(void *arg)
{
    unsigned long seen = 0;
    clock_t start = clock();

    (void)arg;
    for (unsigned long still = 0; still < harness_stall; still++) {
        sleep(1);
        unsigned long ended = atomic_load_explicit(&harness_ended, memory_order_relaxed);
        if (ended != seen) {
            seen = ended;
            still = 0;
            start = clock();
        }
    }
    /* Sleeping threads use no CPU time; a spinning thread uses a large part of it, even on a busy machine. */
    double busy = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("stalled in round %lu for %lu s: %s\n", seen, harness_stall,
           busy * 20 > (double)harness_stall ? "livelock" : "deadlock");
    fflush(stdout);
    _exit(43);
    return NULL;
}

static void *harness_body(void *arg)
{
    int id = (int)(intptr_t)arg;

    harness_id = id;
    harness_state = (harness_seed | 1) * (2 * (uint64_t)id + 3);
    for (unsigned long r = 0; r < harness_rounds; r++) {
        pthread_barrier_wait(&harness_gate);
        if (harness_over)
            break;
        harness_line_up(r);
        harness_pause();
        thread(id);
        pthread_barrier_wait(&harness_gate);
    }
    return NULL;
}

static unsigned long long harness_number(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

int main(void)
{
    pthread_t t[THREADS], watcher;
    struct timespec start, now;

    timespec_get(&start, TIME_UTC);
    harness_rounds = (unsigned long)harness_number("HARNESS_ROUNDS", 2000);
    harness_seed = harness_number("HARNESS_SEED", (uint64_t)start.tv_nsec * 1000003u + (uint64_t)start.tv_sec);
    harness_stall = (unsigned long)harness_number("HARNESS_STALL", 20);
    time_t seconds = (time_t)harness_number("HARNESS_SECONDS", 60);
    harness_state = harness_seed | 1;
    printf("rounds %lu\nseed %llu\n", harness_rounds, (unsigned long long)harness_seed);
    fflush(stdout);
    pthread_barrier_init(&harness_gate, NULL, THREADS + 1);
    pthread_create(&watcher, NULL, harness_watch, NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, harness_body, (void *)i);
    for (harness_round = 0; harness_round < harness_rounds; harness_round++) {
        timespec_get(&now, TIME_UTC);
        if (now.tv_sec - start.tv_sec >= seconds) {
            harness_over = true;
            pthread_barrier_wait(&harness_gate);
            break;
        }
        setup();
        pthread_barrier_wait(&harness_gate);
        pthread_barrier_wait(&harness_gate);
        finish();
        atomic_fetch_add_explicit(&harness_ended, 1, memory_order_relaxed);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    pthread_cancel(watcher);
    pthread_join(watcher, NULL);
    pthread_barrier_destroy(&harness_gate);
    printf("executions %lu\n", harness_round);
    return 0;
}

#endif
