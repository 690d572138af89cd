/* SPDX-License-Identifier: MIT */
/* The states of all shards of a run as one. */
#include "loader_state.h"

#include "heap.h"

#include <string.h>

#define RANGES_FEW 256 /* delivered samples that are merged into one list whenever they fit */

static bool same_ranges(const struct lade_ranges *a, const struct lade_ranges *b)
{
    return a->count == b->count && (a->count == 0 || memcmp(a->range, b->range, a->count * sizeof *a->range) == 0);
}

/* Whether two states are of the same run, apart from shard and progress. */
static bool go_together(const struct lade_state *a, const struct lade_state *b)
{
    if (a->is_packed != b->is_packed || a->identity != b->identity || a->seed != b->seed || a->shards != b->shards ||
        a->epoch != b->epoch || a->levels != b->levels || a->total != b->total || a->sources != b->sources ||
        a->from != b->from || memcmp(a->weight, b->weight, sizeof a->weight) != 0 ||
        memcmp(a->taken, b->taken, sizeof a->taken) != 0)
        return false;
    for (unsigned l = 0; l < a->levels; l++) {
        if (a->level[l].shards != b->level[l].shards)
            return false;
        for (unsigned r = 0; r < a->level[l].shards; r++)
            if (!same_ranges(&a->level[l].shard[r], &b->level[l].shard[r]))
                return false;
    }
    return true;
}

/*
 * Whether a state is of the run of another. A shard that has ended its epoch is at the next one, with nothing done
 * there.
 */
static int check_state(struct lade_state *s, const struct lade_state *other, bool *fits)
{
    struct lade_state before = *s;

    *fits = go_together(s, other);
    if (*fits || s->epoch != other->epoch + 1 || s->levels > 0 || s->done.count > 0)
        return LADE_OK;
    before.epoch--;
    before.levels = other->levels; /* equal within a run */
    before.total = other->total;   /* of another epoch a mixture may have another */
    before.from = other->from;
    memcpy(before.taken, other->taken, sizeof before.taken);
    memcpy(before.level, other->level, sizeof before.level);
    *fits = go_together(&before, other);
    const uint64_t all = s->is_packed ? s->packed[LADE_PACK_BEFORE] : UINT64_MAX;
    return *fits ? lade_ranges_add(&s->done, 0, all, s->alloc) : LADE_OK;
}

/* What the shards did becomes one list of rows, and the position is that of the shard that is furthest behind. */
static int join_packed(const struct lade_state *s, unsigned count, unsigned first, struct lade_state *joined,
                       struct lade_level *last, struct lade_error *error)
{
    struct lade_level one = {1, lade_heap_get(s->alloc, 1, sizeof *one.shard)};
    const struct lade_ranges none = {NULL, 0}, *before = s[first].levels > 0 ? &s[first].level[0].shard[0] : &none;
    int status = one.shard ? lade_ranges_merge(before, last, LADE_PERMUTATION_MAX, LADE_STATE_RANGES_MAX, &one.shard[0],
                                               s->alloc)
                           : LADE_NO_MEMORY;

    for (unsigned i = 0; i < count; i++)
        if (s[i].epoch == s[first].epoch && s[i].packed[LADE_PACK_NUMBER] < joined->packed[LADE_PACK_NUMBER])
            memcpy(joined->packed, s[i].packed, sizeof joined->packed);
    lade_level_free(last, s->alloc);
    *last = one;
    joined->levels = 0;
    joined->level[joined->levels++] = *last;
    return status == LADE_LIMITED
               ? lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                           "the shards are too far apart: their rows take more than %d ranges", LADE_STATE_RANGES_MAX)
           : status == LADE_OK ? LADE_OK
                               : lade_state_no_memory(error);
}

/* Merges all levels into one list of at most most ranges, in *all. LADE_OK, LADE_NO_MEMORY, LADE_LIMITED. */
static int flatten(const struct lade_state *s, size_t most, struct lade_ranges *all)
{
    int status = LADE_OK;

    for (unsigned l = 0; l < s->levels && status == LADE_OK; l++) {
        struct lade_ranges merged = {NULL, 0};
        status = lade_ranges_merge(all, &s->level[l], s->total, most, &merged, s->alloc);
        lade_ranges_free(all, s->alloc);
        *all = merged;
    }
    return status;
}

/* Adds what the last run delivered: as part of one list if that is short, or if there are many levels already. */
static int add_level(struct lade_state *joined, struct lade_level *last, struct lade_error *error)
{
    struct lade_ranges all = {NULL, 0};
    struct lade_state whole = *joined;
    struct lade_ranges *one = lade_heap_get(joined->alloc, 1, sizeof *one);
    int status = one ? LADE_OK : LADE_NO_MEMORY;
    const bool is_full = joined->levels == LADE_LEVELS_MAX;

    if (!is_full)
        whole.level[whole.levels++] = *last;
    if (status == LADE_OK)
        status = flatten(&whole, is_full ? LADE_STATE_RANGES_MAX : RANGES_FEW, &all);
    if (status == LADE_OK && is_full) {
        struct lade_ranges merged = {NULL, 0};
        status = lade_ranges_merge(&all, last, joined->total, LADE_STATE_RANGES_MAX, &merged, joined->alloc);
        lade_ranges_free(&all, joined->alloc);
        all = merged;
    }
    if (status == LADE_OK) { /* the levels so far belong to the states */
        *one = all;
        lade_level_free(last, joined->alloc);
        *last = (struct lade_level){1, one};
        joined->levels = 0;
    } else {
        lade_ranges_free(&all, joined->alloc);
        lade_heap_put(joined->alloc, one);
    }
    if (status == LADE_NO_MEMORY)
        return lade_state_no_memory(error);
    if (status == LADE_LIMITED && is_full)
        return lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                         "the shards are too far apart: what they delivered takes more than %d ranges",
                         LADE_STATE_RANGES_MAX);
    joined->level[joined->levels++] = *last;
    return LADE_OK;
}

/* One state for all shards of its run, which are in step. */
static int spread(struct lade_state *s, struct lade_level *last, struct lade_error *error)
{
    const struct lade_range *range = s->done.range;

    if (s->done.count > 1 || (s->done.count == 1 && range->from > 0))
        return lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                         "batches were taken out of order: give the states of all %u shards", s->shards);
    last->shard = lade_heap_get(s->alloc, s->shards, sizeof *last->shard);
    last->shards = s->shards;
    for (unsigned r = 0; last->shard && r < s->shards && s->done.count > 0; r++)
        if (lade_ranges_add(&last->shard[r], 0, range->end, s->alloc) != LADE_OK)
            return lade_state_no_memory(error);
    return last->shard ? LADE_OK : lade_state_no_memory(error);
}

/* Collects what the shards did. */
static int collect(struct lade_state *s, unsigned count, unsigned first, struct lade_level *last,
                   struct lade_error *error)
{
    last->shard = lade_heap_get(s->alloc, count, sizeof *last->shard);
    bool *met = lade_heap_get(s->alloc, count, sizeof *met);
    int status = last->shard && met ? LADE_OK : lade_state_no_memory(error);
    last->shards = count;
    for (unsigned i = 0; i < count && status == LADE_OK; i++) {
        bool fits;
        if (check_state(&s[i], &s[first], &fits) != LADE_OK) {
            status = lade_state_no_memory(error);
        } else if (s[i].shards != count || !fits || met[s[i].shard]) {
            status =
                lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                          "state %u does not fit: give one state of each shard, all of the same run and epoch", i + 1);
        } else {
            met[s[i].shard] = true;
            last->shard[s[i].shard] = s[i].done;
            s[i].done = (struct lade_ranges){NULL, 0};
        }
    }
    lade_heap_put(s->alloc, met);
    return status;
}

/* The caller frees the last level of the result. */
static int join(struct lade_state *s, unsigned count, struct lade_state *joined, struct lade_level *last,
                struct lade_error *error)
{
    unsigned first = 0;

    for (unsigned i = 1; i < count; i++)
        if (s[i].epoch < s[first].epoch)
            first = i;
    int status = count == 1 && s->shards > 1 ? spread(s, last, error) : collect(s, count, first, last, error);
    *joined = s[first];
    joined->done = (struct lade_ranges){NULL, 0};
    joined->shard = joined->shards = 0;
    if (status == LADE_OK)
        status = joined->is_packed ? join_packed(s, count, first, joined, last, error) : add_level(joined, last, error);
    return status;
}

static size_t none(struct lade_error *error, const char *why)
{
    (void)lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s", why);
    return 0;
}

size_t lade_loader_merge_states(const char *const *states, unsigned count, char *to, size_t size,
                                const struct lade_alloc *alloc, struct lade_error *error)
{
    if (!states || count == 0 || count > LADE_LOADER_SHARDS_MAX)
        return none(error, "give 1 to 4,096 states");
    struct lade_state *s = lade_heap_get(alloc, count, sizeof *s), joined;
    struct lade_level last = {0, NULL};
    int status = s ? LADE_OK : lade_state_no_memory(error);
    size_t needed = 0;

    for (unsigned i = 0; i < count && status == LADE_OK; i++)
        status = lade_state_read(&s[i], states[i], alloc, error);
    if (status == LADE_OK)
        status = join(s, count, &joined, &last, error);
    if (status == LADE_OK)
        needed = lade_state_write(&joined, to, size);
    /* All levels but the last belong to one of the states. */
    lade_level_free(&last, alloc);
    for (unsigned i = 0; s && i < count; i++)
        lade_state_free(&s[i]);
    lade_heap_put(alloc, s);
    return needed;
}
