/* SPDX-License-Identifier: MIT */
/* A table under test, its keys by number, words or byte strings, and an allocator that counts and can fail. */
#ifndef LADE_STRESS_TABLE_KEYS_H
#define LADE_STRESS_TABLE_KEYS_H

#include "check.h"

#include <lade/table.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-memb.h>

enum { ACTORS_MOST = 8, BATCH_MOST = 20 };

#define UNKNOWN UINT64_MAX
#define ULL(x) ((unsigned long long)(x))

/*
 * liburcu is not instrumented, so ThreadSanitizer does not see what a grace period orders (see stress/ref.c), nor that the
 * words of its read sections, which the table takes inline, are atomic.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(WITH_TSAN)
#undef WITH_TSAN
#define WITH_TSAN 1
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:liburcu-memb\nrace:take_turn\n";
}
#endif

/* A deliberate fault, to see that it is detected. */
enum sabotage { NO_SABOTAGE, LOSE, BRING_BACK, STALE, SHARED_LOST, VISITED_TWICE, TWO_WINNERS, LEAK, SABOTAGES };

/* An allocator that counts, and fails for some calls. The library's thread frees arrays. */
static struct {
    _Atomic int64_t held;  /* pieces */
    _Atomic int64_t bytes; /* of pieces of at least large_from bytes */
    _Atomic int64_t most_bytes;
    _Atomic uint64_t calls, refused;
    _Atomic uint64_t refuse_from, refuse_to; /* numbers of calls, from 1; the last not included */
    size_t large_from;
} memory;

static void *memory_get(void *context, size_t size, size_t align)
{
    uint64_t call = atomic_fetch_add(&memory.calls, 1) + 1;
    void *got = NULL;

    (void)context;
    if (call >= atomic_load(&memory.refuse_from) && call < atomic_load(&memory.refuse_to))
        atomic_fetch_add(&memory.refused, 1);
    else
        got = aligned_alloc(align, size);
    if (got)
        atomic_fetch_add(&memory.held, 1);
    if (got && memory.large_from && size >= memory.large_from) {
        int64_t bytes = atomic_fetch_add(&memory.bytes, (int64_t)size) + (int64_t)size;
        int64_t most = atomic_load(&memory.most_bytes);
        while (bytes > most && !atomic_compare_exchange_weak(&memory.most_bytes, &most, bytes))
            continue;
    }
    return got;
}

static void memory_put(void *context, void *piece, size_t size)
{
    (void)context;
    atomic_fetch_sub(&memory.held, 1);
    if (memory.large_from && size >= memory.large_from)
        atomic_fetch_sub(&memory.bytes, (int64_t)size);
    free(piece);
}

static const struct lade_alloc memory_alloc = {memory_get, memory_put, NULL};

static inline void memory_begin(uint64_t refuse_from, uint64_t refuse_to)
{
    atomic_store(&memory.held, 0);
    atomic_store(&memory.bytes, 0);
    atomic_store(&memory.most_bytes, 0);
    atomic_store(&memory.calls, 0);
    atomic_store(&memory.refused, 0);
    atomic_store(&memory.refuse_from, refuse_from);
    atomic_store(&memory.refuse_to, refuse_to);
    memory.large_from = 0;
}

static struct scene {
    struct lade_table_config config;
    struct lade_table *table;
    unsigned threads;
    uint64_t operations; /* of each thread */
    uint64_t keys;       /* of each thread, and shared */
    uint64_t races;      /* keys that all insert once */
    bool may_fail;       /* NO_MEMORY is a valid result */
    bool whole;          /* also for_each, trim, reserve, stats */
    bool stopped;        /* threads are stopped inside: grace periods do not end */
    enum sabotage sabotage;
    bool sabotaged;
    pthread_barrier_t gate;
} scene;

/* Keys have numbers. Number n belongs to thread n % (threads + 1), or to all; those at the end are the race keys. */
static inline uint64_t numbers(void)
{
    return scene.keys * (scene.threads + 1) + scene.races;
}

#define HASH_ODD UINT64_C(0xd1342543de82ef95)
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)
/* Their multiplicative inverses. */
#define HASH_BACK UINT64_C(0x572b5ee77a54e3bd)
#define SPREAD_BACK UINT64_C(0xf1de83e19937733d)

static uint64_t hash_mix(void *context, uint64_t key)
{
    (void)context;
    return key * HASH_ODD;
}

static uint64_t hash_unmix(void *context, uint64_t mixed_key)
{
    (void)context;
    return mixed_key * HASH_BACK;
}

/* Under this hash number 0 and number 1 are the keys that equal reserved codes. */
static uint64_t key_of(uint64_t n)
{
    return n == 1 ? 0 - HASH_BACK : n * SPREAD;
}

static inline uint64_t number_of_key(uint64_t key)
{
    uint64_t n = key * SPREAD_BACK;

    if (key == key_of(1))
        return 1;
    return n != 1 && n < numbers() ? n : UNKNOWN;
}

/* Byte strings of 0 and of 8 to 24 bytes. */
struct string {
    unsigned char byte[24];
    size_t size;
};

static struct string string_of(uint64_t n)
{
    struct string s = {.size = n == 0 ? 0 : 8 + n % 17};

    memcpy(s.byte, &n, sizeof n);
    memset(s.byte + 8, (int)(n % 17), sizeof s.byte - 8);
    return s;
}

static inline uint64_t number_of_string(const void *bytes, size_t size)
{
    uint64_t n = 0;
    struct string s;

    if (size >= sizeof n)
        memcpy(&n, bytes, sizeof n);
    s = string_of(n);
    return n < numbers() && s.size == size && (size == 0 || memcmp(s.byte, bytes, size) == 0) ? n : UNKNOWN;
}

/* Four strings have the same hash. */
static uint64_t hash_bytes(void *context, const void *bytes, size_t size)
{
    uint64_t n = 0;

    (void)context;
    if (size >= sizeof n)
        memcpy(&n, bytes, sizeof n);
    return n / 4 * SPREAD;
}

static const struct lade_table_hash model_hash = {hash_mix, hash_unmix, hash_bytes, NULL};

enum model_act { M_GET, M_INSERT, M_REPLACE, M_REMOVE };

static inline bool has_strings(void)
{
    return scene.config.kind == LADE_TABLE_BYTES;
}

static inline int model_do(enum model_act act, uint64_t n, uint64_t value, uint64_t *other)
{
    struct lade_table *t = scene.table;

    if (has_strings()) {
        struct string s = string_of(n);
        switch (act) {
        case M_GET:
            return lade_table_get_bytes(t, s.byte, s.size, other);
        case M_INSERT:
            return lade_table_insert_bytes(t, s.byte, s.size, value, other);
        case M_REPLACE:
            return lade_table_replace_bytes(t, s.byte, s.size, value, other);
        default:
            return lade_table_remove_bytes(t, s.byte, s.size, other);
        }
    }
    switch (act) {
    case M_GET:
        return lade_table_get(t, key_of(n), other);
    case M_INSERT:
        return lade_table_insert(t, key_of(n), value, other);
    case M_REPLACE:
        return lade_table_replace(t, key_of(n), value, other);
    default:
        return lade_table_remove(t, key_of(n), other);
    }
}

#endif
