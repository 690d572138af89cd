/* SPDX-License-Identifier: MIT */
/* Sets of numbers as ranges, and what the shards of a run delivered as one set. */
#include "order.h"

#include "heap.h"

void lade_ranges_free(struct lade_ranges *ranges, const struct lade_alloc *alloc)
{
    lade_heap_put(alloc, ranges->range);
    *ranges = (struct lade_ranges){NULL, 0};
}

void lade_level_free(struct lade_level *level, const struct lade_alloc *alloc)
{
    for (unsigned r = 0; level->shard && r < level->shards; r++)
        lade_ranges_free(&level->shard[r], alloc);
    lade_heap_put(alloc, level->shard);
    *level = (struct lade_level){0, NULL};
}

/* Index of the first range that ends after a number; count if there is none. */
static size_t find(const struct lade_ranges *ranges, uint64_t number)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranges->range[middle].end > number)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool lade_ranges_hold(const struct lade_ranges *ranges, uint64_t number)
{
    const size_t i = find(ranges, number);

    return i < ranges->count && ranges->range[i].from <= number;
}

uint64_t lade_ranges_count(const struct lade_ranges *ranges, uint64_t least, uint64_t end)
{
    uint64_t count = 0;

    for (size_t i = find(ranges, least); i < ranges->count && ranges->range[i].from < end; i++) {
        uint64_t a = ranges->range[i].from > least ? ranges->range[i].from : least;
        uint64_t b = ranges->range[i].end < end ? ranges->range[i].end : end;
        count += b > a ? b - a : 0;
    }
    return count;
}

int lade_ranges_add(struct lade_ranges *ranges, uint64_t from, uint64_t end, const struct lade_alloc *alloc)
{
    if (from >= end)
        return LADE_OK;
    if (ranges->count > 0 && ranges->range[ranges->count - 1].end == from) {
        ranges->range[ranges->count - 1].end = end;
        return LADE_OK;
    }
    if ((ranges->count & (ranges->count - 1)) == 0) { /* 0 or a power of two: the memory is used up */
        size_t capacity = ranges->count ? 2 * ranges->count : 1;
        struct lade_range *more = lade_heap_resize(alloc, ranges->range, capacity, sizeof *more);
        if (!more)
            return LADE_NO_MEMORY;
        ranges->range = more;
    }
    ranges->range[ranges->count++] = (struct lade_range){from, end};
    return LADE_OK;
}

/* Adds a range to a set of at most most ranges. */
static int add(struct lade_ranges *to, uint64_t from, uint64_t end, size_t most, const struct lade_alloc *alloc)
{
    int status = lade_ranges_add(to, from, end, alloc);

    return status == LADE_OK && to->count > most ? LADE_LIMITED : status;
}

/* Shards whose number k is in their ranges, and the first number above k where that changes. at: an index for each. */
static unsigned shards_at(const struct lade_level *level, size_t *at, uint64_t k, uint64_t *change)
{
    unsigned held = 0;

    *change = UINT64_MAX;
    for (unsigned r = 0; r < level->shards; r++) {
        const struct lade_ranges *of = &level->shard[r];
        while (at[r] < of->count && of->range[at[r]].end <= k)
            at[r]++;
        if (at[r] == of->count)
            continue;
        const bool holds = of->range[at[r]].from <= k;
        const uint64_t next = holds ? of->range[at[r]].end : of->range[at[r]].from;
        held += holds;
        *change = next < *change ? next : *change;
    }
    return held;
}

/* The numbers below total that the shards did: number k of shard r is number k * shards + r. */
static int list_done(const struct lade_level *level, uint64_t total, size_t most, struct lade_ranges *to,
                     const struct lade_alloc *alloc)
{
    const uint64_t shards = level->shards, last = total / shards + 1;
    size_t *at = lade_heap_get(alloc, (size_t)shards, sizeof *at);
    int status = at ? LADE_OK : LADE_NO_MEMORY;

    for (uint64_t k = 0, end = 0; k < last && status == LADE_OK; k = end) {
        const unsigned held = shards_at(level, at, k, &end);
        end = end < last ? end : last;
        if (held == shards) {
            const uint64_t until = end * shards < total ? end * shards : total;
            status = add(to, k * shards, until, most, alloc);
            continue;
        }
        for (uint64_t i = k; held > 0 && i < end && status == LADE_OK; i++)
            for (unsigned r = 0; r < shards && i * shards + r < total && status == LADE_OK; r++)
                if (at[r] < level->shard[r].count && level->shard[r].range[at[r]].from <= k)
                    status = add(to, i * shards + r, i * shards + r + 1, most, alloc);
    }
    lade_heap_put(alloc, at);
    return status;
}

int lade_ranges_merge(const struct lade_ranges *before, const struct lade_level *level, uint64_t total, size_t most,
                      struct lade_ranges *merged, const struct lade_alloc *alloc)
{
    struct lade_ranges mine = {NULL, 0};
    uint64_t skipped = 0; /* numbers of before that are below the one in question */
    size_t b = 0;
    int status = list_done(level, total - lade_ranges_count(before, 0, total), most, &mine, alloc);

    for (size_t i = 0; i < mine.count && status == LADE_OK; i++)
        for (uint64_t x = mine.range[i].from; x < mine.range[i].end && status == LADE_OK;) {
            for (; b < before->count && before->range[b].from <= x + skipped && status == LADE_OK; b++) {
                status = add(merged, before->range[b].from, before->range[b].end, most, alloc);
                skipped += before->range[b].end - before->range[b].from;
            }
            const uint64_t from = x + skipped, free = b < before->count ? before->range[b].from - from : UINT64_MAX;
            const uint64_t left = mine.range[i].end - x, more = left < free ? left : free;
            if (status == LADE_OK)
                status = add(merged, from, from + more, most, alloc);
            x += more;
        }
    for (; b < before->count && status == LADE_OK; b++)
        status = add(merged, before->range[b].from, before->range[b].end, most, alloc);
    lade_ranges_free(&mine, alloc);
    return status;
}
