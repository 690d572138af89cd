/* SPDX-License-Identifier: MIT */
/* The rows that the shards of a run delivered, as one list. Rows that earlier runs delivered have no place in a round. */
#include "loader_pack.h"

#include "heap.h"

/* The end of the interval of rounds from a on in which each shard did all rounds or none; *held: shards that did. */
static uint64_t next_change(const struct lade_level *done, size_t *at, uint64_t a, unsigned *held)
{
    uint64_t end = UINT64_MAX;

    *held = 0;
    for (unsigned r = 0; r < done->shards; r++) {
        const struct lade_ranges *of = &done->shard[r];
        while (at[r] < of->count && of->range[at[r]].end <= a)
            at[r]++;
        if (at[r] == of->count)
            continue;
        const struct lade_range *range = &of->range[at[r]];
        const bool holds = range->from <= a;
        *held += holds;
        const uint64_t change = holds ? range->end : range->from;
        end = change < end ? change : end;
    }
    return end;
}

static int add(struct lade_ranges *to, uint64_t from, uint64_t end, size_t most, const struct lade_alloc *alloc)
{
    return to->count > most ? LADE_LIMITED : lade_ranges_add(to, from, end, alloc);
}

/* Row x of round x / shards and shard x % shards: lists those that are done. */
static int list_done(const struct lade_level *done, size_t most, struct lade_ranges *to, const struct lade_alloc *alloc)
{
    const uint64_t shards = done->shards;
    size_t *at = lade_heap_get(alloc, (size_t)shards, sizeof *at);
    int status = at ? LADE_OK : LADE_NO_MEMORY;
    unsigned held;

    for (uint64_t a = 0, end = 0; status == LADE_OK && end < UINT64_MAX; a = end) {
        end = next_change(done, at, a, &held);
        if (held > 0 && end > UINT64_MAX / shards)
            status = LADE_LIMITED;
        else if (held == shards)
            status = add(to, a * shards, end * shards, most, alloc);
        for (uint64_t i = a; held > 0 && held < shards && i < end && status == LADE_OK; i++)
            for (unsigned r = 0; r < shards && status == LADE_OK; r++)
                if (at[r] < done->shard[r].count && done->shard[r].range[at[r]].from <= a)
                    status = add(to, i * shards + r, i * shards + r + 1, most, alloc);
    }
    lade_heap_put(alloc, at);
    return status;
}

int lade_pack_merge(const struct lade_ranges *before, const struct lade_level *done, size_t most,
                    struct lade_ranges *merged, const struct lade_alloc *alloc)
{
    struct lade_ranges mine = {NULL, 0};
    uint64_t skipped = 0; /* rows done before, up to here */
    size_t b = 0;
    int status = list_done(done, most, &mine, alloc);

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
