/* SPDX-License-Identifier: MIT */
/*
 * The limit: an array of cells {mixed key, value}, linear probing from the place that the high bits give, sized for
 * its keys beforehand (a power of two, at most 0.6 full), so that it never grows. Plain loads and stores and nothing else:
 * no claim, no order, no read section, no code for a table that moves. Two threads that insert can take the same cell,
 * and one key is then lost; this is a measure, not a table. A batch is mixed and fetched first, then checked.
 *
 * Operations are called, as those of a library are: where they are called, the compiler knows nothing about them. With
 * INLINED they stand in the loop, and the processor has more of them in progress at once. With LONGER each has twelve
 * instructions more, which nothing waits for: what they cost is what a processor has fewer operations in progress for.
 */
#include "job.h"
#include "keys.h"

#include <stdlib.h>
#include <sys/mman.h>

#define CAN_BATCH 1
#ifdef INLINED
#define OPERATION static inline
#elif defined __clang__
#define OPERATION __attribute__((noinline)) static
#else
#define OPERATION __attribute__((noipa)) static
#endif
#define PAD 4096 /* cells behind the end, so that probing does not wrap */

struct cell {
    uint64_t key, value;
};

struct table {
    struct cell *cells;
    unsigned shift;
};

struct seat {
    struct cell *cells;
    unsigned shift;
};

/* The compiler may not join or repeat these, and that is all that they mean. */
static inline uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void *table_make(uint64_t expected, unsigned threads)
{
    struct table *t = malloc(sizeof *t);
    size_t count = 1024;

    (void)threads;
    if (!t)
        return NULL;
    t->shift = 64 - 10;
    while ((double)expected > 0.6 * (double)count) {
        count *= 2;
        t->shift--;
    }
    t->cells = mmap(NULL, (count + PAD) * sizeof *t->cells, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return t->cells == MAP_FAILED ? NULL : t;
}

void table_free(void *table)
{
    (void)table; /* with the program */
}

void *seat_make(void *table, unsigned number)
{
    struct table *t = table;
    struct seat *seat = malloc(sizeof *seat);

    (void)number;
    if (seat)
        *seat = (struct seat){t->cells, t->shift};
    return seat;
}

void seat_free(void *seat)
{
    free(seat);
}

static inline bool find(struct cell *c, uint64_t mixed, uint64_t *value)
{
    for (;; c++) {
        uint64_t key = load(&c->key);
        if (key == mixed) {
            *value = load(&c->value);
            return true;
        }
        if (key == 0)
            return false;
    }
}

static inline void lengthen(uint64_t key)
{
#ifdef LONGER
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) {
        key++;
        __asm__ volatile("" : "+r"(key));
    }
#else
    (void)key;
#endif
}

OPERATION bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    uint64_t mixed = key_place(key);

    lengthen(key);
    return find(&seat->cells[mixed >> seat->shift], mixed, value);
}

OPERATION uint64_t at_get_many(struct seat *seat, const uint64_t *keys, unsigned count, uint64_t *sum)
{
    uint64_t mixed[BATCH_MAX];
    uint64_t found = 0;

    for (unsigned i = 0; i < count; i++) {
        mixed[i] = key_place(keys[i]);
        __builtin_prefetch(&seat->cells[mixed[i] >> seat->shift]);
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        found += find(&seat->cells[mixed[i] >> seat->shift], mixed[i], &value);
        *sum += value;
    }
    return found;
}

OPERATION bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    uint64_t mixed = key_place(key);

    lengthen(key);
    for (struct cell *c = &seat->cells[mixed >> seat->shift];; c++) {
        uint64_t there = load(&c->key);
        if (there == mixed) {
            *winner = load(&c->value);
            return false;
        }
        if (there == 0) {
            store(&c->value, value);
            store(&c->key, mixed);
            *winner = value;
            return true;
        }
    }
}

/* By one thread alone: those behind move up. A key that was lost counts as removed. */
static inline bool at_remove(struct seat *seat, uint64_t key)
{
    uint64_t mixed = key_place(key);
    struct cell *hole = &seat->cells[mixed >> seat->shift];

    while (hole->key != mixed) {
        if (hole->key == 0)
            return true;
        hole++;
    }
    for (struct cell *c = hole + 1; c->key != 0; c++) {
        if (&seat->cells[c->key >> seat->shift] <= hole) {
            *hole = *c;
            hole = c;
        }
    }
    hole->key = 0;
    return true;
}

#include "loops.h"
