/* SPDX-License-Identifier: MIT */
/* A small bag of records of two words that belong together. */
#include "small.h"

static uint64_t record[THREADS + 1][2];

static void make_records(uint64_t capacity)
{
    config.kind = LADE_BAG_RECORDS;
    config.record_size = sizeof record[0];
    make_bag(capacity);
}

static int put_record(int id, uint64_t n)
{
    record[id][0] = n;
    record[id][1] = 10 * n;
    return lade_bag_put(handle[id], record[id]);
}

static uint64_t check_record(const uint64_t *r)
{
    assert(r[1] == 10 * r[0]);
    return r[0];
}

/* The number of the record drawn, or 0 for EMPTY. */
static uint64_t draw_record(int id)
{
    return lade_bag_draw(handle[id], record[id]) == LADE_OK ? check_record(record[id]) : 0;
}
