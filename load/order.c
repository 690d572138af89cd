/* SPDX-License-Identifier: MIT */
#include "order_members.h"

#include "heap.h"
#include "ignore.h"

#include <string.h>

/* Purposes of lade_key_make(). */
enum { ORDER = 0x7264726f, DRAW = 0x77617264, SUBSTITUTE = 0x73627573, MIXTURE = 0x2078696d };

static unsigned depth_in(const struct lade_order *o, uint64_t epoch)
{
    return epoch == o->first ? o->levels : 0;
}

/* The law of a mixture in an epoch. */
static const struct lade_mixture_law *law_in(const struct lade_order *o, uint64_t epoch)
{
    return epoch == o->first && o->restarted.length > 0 ? &o->restarted : &o->mix;
}

static uint64_t places_in(const struct lade_order *o, uint64_t epoch)
{
    return o->mixture ? law_in(o, epoch)->length : o->places;
}

uint64_t lade_order_total(const struct lade_order *o, uint64_t epoch)
{
    return o->mixture ? places_in(o, epoch) : o->members;
}

/* Members that an epoch divides among the shards. */
static uint64_t total_in(const struct lade_order *o, uint64_t epoch)
{
    uint64_t total = lade_order_total(o, epoch);

    for (unsigned l = 0; l < depth_in(o, epoch); l++) {
        const struct lade_level *level = &o->level[l];
        uint64_t done = 0;
        for (unsigned r = 0; r < level->shards; r++)
            done += lade_ranges_count(&level->shard[r], 0, lade_share_of(total, r, level->shards));
        total -= done;
    }
    return total;
}

uint64_t lade_order_length(const struct lade_order *o, uint64_t epoch)
{
    uint64_t total = total_in(o, epoch);

    return o->pad ? total / o->shards + (total % o->shards != 0) : total / o->shards;
}

uint64_t lade_order_mine(const struct lade_order *o, const struct lade_cursor *cursor)
{
    return lade_share_of(cursor->seen[depth_in(o, cursor->epoch)], o->shard, o->shards);
}

uint64_t lade_order_left(const struct lade_order *o, const struct lade_cursor *cursor)
{
    uint64_t length = lade_order_length(o, cursor->epoch), mine = lade_order_mine(o, cursor);

    if (mine >= length)
        return 0;
    return length - mine - (cursor->epoch == o->first ? lade_ranges_count(&o->done, mine, length) : 0);
}

void lade_order_settle(const struct lade_order *o, struct lade_cursor *cursor, uint64_t least)
{
    if (lade_order_left(o, cursor) < (least ? least : 1))
        *cursor = (struct lade_cursor){.epoch = cursor->epoch + 1};
}

bool lade_order_is_even(const struct lade_order *o, uint64_t epoch)
{
    bool all = !o->split || o->draw != LADE_DRAW_ONCE;

    return all && (epoch != o->first || (o->levels == 0 && o->done.count == 0));
}

void lade_order_pass(const struct lade_order *o, struct lade_cursor *cursor, uint64_t count)
{
    uint64_t last = (lade_order_mine(o, cursor) + count - 1) * o->shards + o->shard;

    cursor->seen[0] = last + 1;
    cursor->place = last % places_in(o, cursor->epoch) + 1;
}

static uint64_t draw_at(const struct lade_order *o, struct lade_key key, uint64_t place)
{
    uint64_t low;
    uint64_t column = lade_multiply(lade_random_at(key, place, 0), o->members, &low);

    return o->member[(uint32_t)lade_random_at(key, place, 1) < o->limit[column] ? column : o->alias[column]];
}

/* Elements of the epoch's permutation, which begin_epoch() has begun. */
static void list_elements(const struct lade_order *o, struct lade_walk *walk, uint64_t place, uint64_t count,
                          uint64_t *ids)
{
    const struct lade_blocks *blocks = o->source->blocks;

    if (blocks)
        lade_blocks_list(blocks, &walk->blocks, walk->table, o->seed, walk->epoch, place, count, ids);
    else
        lade_permutation_walk(&walk->permutation, walk->table, place, count, ids);
}

/* Positions are requested in order, so several are computed at once. */
static uint64_t element_at(const struct lade_order *o, struct lade_walk *walk, uint64_t place)
{
    if (place - walk->at >= walk->held) {
        uint64_t left = walk->permutation.n - place;
        walk->at = place;
        walk->held = left < LADE_AHEAD ? left : LADE_AHEAD;
        list_elements(o, walk, place, walk->held, walk->ahead);
    }
    return walk->ahead[place - walk->at];
}

static bool is_done_before(const struct lade_level *level, uint64_t number)
{
    return lade_ranges_hold(&level->shard[number % level->shards], number / level->shards);
}

/* Counts a member. Whether it belongs to this shard and is not done. */
static bool is_due(const struct lade_order *o, struct lade_cursor *cursor, unsigned depth)
{
    uint64_t number = cursor->seen[0]++;

    for (unsigned l = 0; l < depth; l++) {
        if (is_done_before(&o->level[l], number))
            return false;
        number = cursor->seen[l + 1]++;
    }
    if (o->shards > 1 && number % o->shards != o->shard)
        return false;
    return cursor->epoch != o->first || o->done.count == 0 || !lade_ranges_hold(&o->done, number / o->shards);
}

/* Begins a permutation of n elements, which is at least 1 and below 2^62. */
static void begin_walk(const struct lade_order *o, struct lade_walk *walk, uint64_t n, struct lade_key key)
{
    lade_ignore(lade_permutation_init(&walk->permutation, key, n));
    walk->ready = true;
    walk->held = 0;
    if (!walk->table && n > LADE_PERMUTATION_SMALL) {
        walk->table = lade_heap_raw(o->alloc, 1, sizeof *walk->table);
        if (walk->table) /* so that memory use does not depend on the number of samples */
            memset(walk->table, 0, sizeof *walk->table);
    }
    if (walk->table && !o->source->blocks)
        lade_permutation_tabulate(&walk->permutation, walk->table);
}

static void begin_epoch(const struct lade_order *o, struct lade_walk *walk, uint64_t epoch, struct lade_key key)
{
    walk->epoch = epoch;
    begin_walk(o, walk, o->places, key);
}

/* Sample number k of a source in a round of an epoch, in the source's numbering. */
static uint64_t element_of(const struct lade_order *o, struct lade_walk *walk, uint64_t epoch, unsigned source,
                           uint64_t round, uint64_t k)
{
    const struct lade_mixture *m = o->mixture;
    struct lade_walk alone = {.ready = false}, *one = walk->each ? &walk->each[source] : &alone;

    if (!one->ready || one->epoch != epoch || one->round != round) {
        const struct lade_key all = lade_key_make(o->seed, epoch, MIXTURE);
        one->epoch = epoch;
        one->round = round;
        begin_walk(o, one, m->first[source + 1] - m->first[source],
                   lade_key_make(lade_random_at(all, source, 0), round, ORDER));
    }
    const uint64_t element = element_at(o, one, k);
    lade_walk_free(&alone, o->alloc);
    return element;
}

static uint64_t mixed_at(const struct lade_order *o, struct lade_walk *walk, uint64_t epoch, uint64_t place)
{
    const struct lade_mixture *m = o->mixture;
    uint64_t number;
    const unsigned source = lade_mixture_law_at(law_in(o, epoch), place, &number);
    const uint64_t samples = m->first[source + 1] - m->first[source], k = number % samples;

    if (!walk->each && !o->sequential)
        walk->each = lade_heap_get(o->alloc, LADE_MIXTURE_SOURCES_MAX, sizeof *walk->each);
    return m->first[source] + (o->sequential ? k : element_of(o, walk, epoch, source, number / samples, k));
}

int lade_order_restart(struct lade_order *o, uint64_t position, const uint64_t *taken)
{
    memcpy(o->taken, taken, o->mixture->sources * sizeof *taken);
    return lade_mixture_law_init(&o->restarted, o->mixture, o->mixture->weight, position, taken, o->alloc);
}

void lade_walk_free(struct lade_walk *walk, const struct lade_alloc *alloc)
{
    for (unsigned s = 0; walk->each && s < LADE_MIXTURE_SOURCES_MAX; s++)
        lade_heap_put(alloc, walk->each[s].table);
    lade_heap_put(alloc, walk->each);
    lade_heap_put(alloc, walk->table);
    walk->each = NULL;
    walk->table = NULL;
    walk->ready = false;
}

/* Every position is due, so the next ones are known without scanning. */
static void take_all(const struct lade_order *o, struct lade_walk *walk, struct lade_cursor *cursor, uint64_t *ids,
                     uint64_t count)
{
    list_elements(o, walk, cursor->place, count, ids);
    lade_order_pass(o, cursor, count);
}

void lade_order_take(const struct lade_order *o, struct lade_walk *walk, struct lade_cursor *cursor, uint64_t *ids,
                     uint64_t count)
{
    const unsigned depth = depth_in(o, cursor->epoch);
    const bool shuffled = o->draw == LADE_DRAW_ONCE && !o->sequential;
    const uint64_t places = places_in(o, cursor->epoch);
    struct lade_key key = lade_key_make(o->seed, cursor->epoch, o->draw == LADE_DRAW_ONCE ? ORDER : DRAW);

    if (shuffled && !o->mixture && (!walk->ready || walk->epoch != cursor->epoch))
        begin_epoch(o, walk, cursor->epoch, key);
    if (shuffled && !o->mixture && o->shards == 1 && lade_order_is_even(o, cursor->epoch) && count > 0) {
        take_all(o, walk, cursor, ids, count);
        return;
    }
    for (uint64_t n = 0; n < count;) {
        if (cursor->place == places) { /* padding: restart at the first position, but the numbers continue */
            cursor->place = 0;
            memset(cursor->seen, 0, depth * sizeof *cursor->seen);
        }
        uint64_t place = cursor->place++;
        if (o->mixture) { /* all its places are members */
            if (is_due(o, cursor, depth))
                ids[n++] = mixed_at(o, walk, cursor->epoch, place);
            continue;
        }
        uint64_t id = o->draw != LADE_DRAW_ONCE ? draw_at(o, key, place)
                      : o->sequential           ? place
                                                : element_at(o, walk, place);
        if (o->split && o->draw == LADE_DRAW_ONCE && !lade_order_is_member(o, id))
            continue;
        if (is_due(o, cursor, depth))
            ids[n++] = id;
    }
}

uint64_t lade_order_substitute(const struct lade_order *o, uint64_t epoch, uint64_t id, uint64_t attempt)
{
    struct lade_random random;
    uint64_t other;

    lade_random_init(&random, lade_key_make(o->seed, epoch, SUBSTITUTE), id);
    lade_random_seek(&random, attempt << 32);
    if (o->mixture) {
        const uint64_t *first = &o->mixture->first[lade_mixture_source(o->mixture, id)];
        return first[0] + lade_random_below(&random, first[1] - first[0]);
    }
    if (o->member)
        return o->member[lade_random_below(&random, o->members)];
    if (o->few)
        return o->few[lade_random_below(&random, o->members)];
    /* At least 65,536 members, or the whole source: about places / members draws find one. */
    do
        other = lade_random_below(&random, o->places);
    while (!lade_order_is_member(o, other));
    return other;
}
