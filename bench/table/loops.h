/* SPDX-License-Identifier: MIT */
/*
 * The loops of one candidate, in C or C++. Before it includes this file a candidate defines
 *
 *   struct table, struct seat     seat_make() and the other functions of job.h that are not loops
 *   bool at_get(struct seat *, uint64_t key, uint64_t *value)
 *   bool at_insert(struct seat *, uint64_t key, uint64_t value, uint64_t *winner)   true: inserted
 *   bool at_remove(struct seat *, uint64_t key)                                     if CAN_REMOVE
 *   uint64_t at_get_many(struct seat *, const uint64_t *keys, unsigned count, uint64_t *sum)   if CAN_BATCH
 *                                 the number of keys that are there; the sum of their values is added to *sum
 *
 * and CAN_COUNT when it has table_counted(), CAN_TRIM when it has table_trim().
 */
#ifndef LADE_BENCH_TABLE_LOOPS_H
#define LADE_BENCH_TABLE_LOOPS_H

#include "job.h"
#include "keys.h"

#include <time.h>

#ifndef CAN_REMOVE
#define CAN_REMOVE 1
#endif
#ifndef CAN_BATCH
#define CAN_BATCH 0
#endif

#ifndef CAN_COUNT
uint64_t table_counted(void *table)
{
    (void)table;
    return 0;
}
#endif
#ifndef CAN_TRIM
bool table_trim(void *table)
{
    (void)table;
    return true;
}
#endif

#define FAR (UINT64_C(1) << 40) /* numbers from here on are never inserted */

#define INLINE static inline __attribute__((always_inline))
#ifdef __cplusplus
#define LOCAL(seat) (static_cast<struct seat *>(seat))
#else
#define LOCAL(seat) ((struct seat *)(seat))
#endif

const bool table_can_remove = CAN_REMOVE;
const bool table_can_batch = CAN_BATCH;

INLINE void hit(struct seat *seat, struct part *part, bool skewed)
{
    uint64_t random = part->random;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < part->operations; i++) {
        uint64_t number = number_below(random_next(&random), part->entries, skewed);
        uint64_t value = 0;
        bool found = at_get(seat, key_of(number), &value);
        wrong += !found || value != number;
    }
    part->random = random;
    part->wrong += wrong;
}

void loop_hit(void *seat, struct part *part)
{
    if (part->skewed)
        hit(LOCAL(seat), part, true);
    else
        hit(LOCAL(seat), part, false);
}

INLINE void miss(struct seat *seat, struct part *part, bool skewed)
{
    uint64_t random = part->random;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < part->operations; i++) {
        uint64_t value = 0;
        wrong += at_get(seat, key_of(FAR + number_below(random_next(&random), part->entries, skewed)), &value);
    }
    part->random = random;
    part->wrong += wrong;
}

void loop_miss(void *seat, struct part *part)
{
    if (part->skewed)
        miss(LOCAL(seat), part, true);
    else
        miss(LOCAL(seat), part, false);
}

#if CAN_BATCH
INLINE void batch(struct seat *seat, struct part *part, bool skewed)
{
    uint64_t random = part->random;
    uint64_t keys[BATCH_MAX];

    for (uint64_t i = 0; i < part->operations; i += part->batch) {
        uint64_t expected = 0;
        uint64_t sum = 0;
        for (unsigned k = 0; k < part->batch; k++) {
            uint64_t number = number_below(random_next(&random), part->entries, skewed);
            expected += number;
            keys[k] = key_of(number);
        }
        uint64_t found = at_get_many(seat, keys, part->batch, &sum);
        part->wrong += found != part->batch || sum != expected;
    }
    part->random = random;
}

void loop_batch(void *seat, struct part *part)
{
    if (part->skewed)
        batch(LOCAL(seat), part, true);
    else
        batch(LOCAL(seat), part, false);
}
#else
void loop_batch(void *seat, struct part *part)
{
    (void)seat;
    part->wrong++;
}
#endif

INLINE void mark(struct seat *seat, struct part *part, bool skewed)
{
    uint64_t random = part->random;
    uint64_t fresh = part->fresh;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < part->operations; i++) {
        bool is_new = i % FRESH_EVERY == FRESH_EVERY - 1;
        uint64_t number = is_new ? fresh++ : number_below(random_next(&random), part->entries, skewed);
        uint64_t winner = 0;
        bool inserted = at_insert(seat, key_of(number), number, &winner);
        wrong += inserted != is_new || winner != number;
    }
    part->random = random;
    part->fresh = fresh;
    part->wrong += wrong;
}

void loop_mark(void *seat, struct part *part)
{
    if (part->skewed)
        mark(LOCAL(seat), part, true);
    else
        mark(LOCAL(seat), part, false);
}

#if CAN_REMOVE
/* Of 2^16: 5 % insert, 5 % remove. Keys come from twice as many as are there, so that their number stays. */
INLINE void mixed(struct seat *seat, struct part *part, bool skewed)
{
    const uint64_t share = 65536 / 20;
    uint64_t random = part->random;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < part->operations; i++) {
        uint64_t word = random_next(&random);
        uint64_t number = number_below(word, part->entries * 2, skewed);
        uint64_t choice = word & 65535;
        uint64_t value = number;
        if (choice >= 2 * share)
            at_get(seat, key_of(number), &value);
        else if (choice >= share)
            at_insert(seat, key_of(number), number, &value);
        else
            at_remove(seat, key_of(number));
        wrong += value != number;
    }
    part->random = random;
    part->wrong += wrong;
}

void loop_mixed(void *seat, struct part *part)
{
    if (part->skewed)
        mixed(LOCAL(seat), part, true);
    else
        mixed(LOCAL(seat), part, false);
}

void loop_remove(void *seat, struct part *part)
{
    for (uint64_t i = 0; i < part->operations; i++)
        part->wrong += !at_remove(LOCAL(seat), key_of(part->fresh + i * part->step));
}
#else
void loop_mixed(void *seat, struct part *part)
{
    (void)seat;
    part->wrong++;
}

void loop_remove(void *seat, struct part *part)
{
    (void)seat;
    (void)part;
}
#endif

void loop_insert(void *seat, struct part *part)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < part->operations; i++) {
        uint64_t number = part->fresh + i * part->step;
        uint64_t winner = 0;
        wrong += !at_insert(LOCAL(seat), key_of(number), number, &winner);
    }
    part->wrong += wrong;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void loop_timed(void *seat, struct part *part, uint64_t *nanoseconds)
{
    uint64_t before = now();

    for (uint64_t i = 0; i < part->operations; i++) {
        uint64_t number = part->fresh + i * part->step;
        uint64_t winner = 0;
        part->wrong += !at_insert(LOCAL(seat), key_of(number), number, &winner);
        uint64_t after = now();
        nanoseconds[i] = after - before;
        before = after;
    }
}

#endif
