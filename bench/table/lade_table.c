/* SPDX-License-Identifier: MIT */
/* Candidate: lade_table, of words, with the library's own mixer and a fixed seed. */
#include "job.h"

#include <lade/table.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

#define CAN_BATCH 1
#define CAN_COUNT 1
#define CAN_TRIM 1

struct seat {
    struct lade_table *table;
};

void *table_make(uint64_t expected, unsigned threads)
{
    struct lade_table_config config = {.kind = LADE_TABLE_WORDS, .seeded = true, .seed = 1};
    struct lade_table *table = NULL;

    (void)expected;
    (void)threads;
    return lade_table_create(&table, &config) == LADE_OK ? table : NULL;
}

void table_free(void *table)
{
    lade_table_destroy(table);
}

#include "reader.h"

uint64_t table_counted(void *table)
{
    struct lade_table_stats stats;
    struct seat *seat = seat_make(table, 0);

    lade_table_stats(table, &stats);
    seat_free(seat);
    return stats.bytes;
}

bool table_trim(void *table)
{
    return lade_table_trim(table) == LADE_OK;
}

static inline bool at_get(struct seat *seat, uint64_t key, uint64_t *value)
{
    return lade_table_get(seat->table, key, value) == LADE_OK;
}

static inline bool at_insert(struct seat *seat, uint64_t key, uint64_t value, uint64_t *winner)
{
    return lade_table_insert(seat->table, key, value, winner) == LADE_OK;
}

static inline bool at_remove(struct seat *seat, uint64_t key)
{
    return lade_table_remove(seat->table, key, NULL) == LADE_OK;
}

static inline uint64_t at_get_many(struct seat *seat, const uint64_t *keys, unsigned count, uint64_t *sum)
{
    uint64_t values[BATCH_MAX];
    int status[BATCH_MAX];
    uint64_t found = lade_table_get_many(seat->table, keys, count, values, status);

    for (unsigned i = 0; i < count; i++)
        *sum += status[i] == LADE_OK ? values[i] : 0;
    return found;
}

#include "loops.h"
