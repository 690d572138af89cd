/* SPDX-License-Identifier: MIT */
/* Shared by the stress programs: options, seed, one line for each check, closing counts, threads. */
#ifndef LADE_STRESS_CHECK_H
#define LADE_STRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much less is done where a step takes longer: under a sanitizer, or with pauses. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SLOW 10u
#endif
#endif
#if !defined(SLOW) && (defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__))
#define SLOW 10u
#elif !defined(SLOW) && defined(WITH_PAUSES)
#define SLOW 8u
#elif !defined(SLOW)
#define SLOW 1u
#endif

/* Reads --full and --seed S, prints the seed. Without --seed it is random. */
void check_begin(int argc, char **argv);

bool check_full(void);
uint64_t check_seed(void);

/* Prints "PASS name: ..." or "FAIL name: ...", counts it and returns ok. For the main thread only. */
__attribute__((format(printf, 3, 4))) bool check(bool ok, const char *name, const char *format, ...);

/* Prints "N passed, N failed, N skipped"; the exit code. */
int check_end(void);

/*
 * A watchdog: unless it is called again within this number of seconds, prints "FAIL what: ..." and ends the program. 0
 * stops it. For checks that would hang when they fail.
 */
void check_within(unsigned seconds, const char *what);

/* Allocates memory, or ends the program. */
void *check_memory(size_t count, size_t size);

/* Runs body(arg + i * size) for each i < count in a separate thread and waits for all of them. */
void check_threads(unsigned count, void *(*body)(void *), void *arg, size_t size);

/* The next number of a sequence that decides schedules and sizes (SplitMix64: Steele, Lea, Flood 2014). */
static inline uint64_t check_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A small number below n; the slight bias does not matter here. */
static inline unsigned check_below(uint64_t *state, unsigned n)
{
    return (unsigned)((check_next(state) >> 32) * n >> 32);
}

#endif
