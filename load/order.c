/* SPDX-License-Identifier: MIT */
#include "order.h"

#include "checksum.h"
#include "heap.h"
#include "ignore.h"
#include "source.h"
#include "thread.h"

#include <lade/thread.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* Purposes of lade_key_make(). */
enum { ORDER = 0x7264726f, DRAW = 0x77617264, SUBSTITUTE = 0x73627573, MIXTURE = 0x2078696d };

#define MEMBERS_MAX UINT32_MAX /* of draws with replacement */
#define FEW_MAX (1 << 16)      /* members that are listed, so that substitutes need no search */

static bool is_member(const struct lade_order *o, uint64_t id)
{
    unsigned part = LADE_SPLIT_NO_PART;

    if (o->in_part)
        return o->in_part[id / 64] >> id % 64 & 1;
    return !o->split ||
           (lade_split_route_word(o->split, lade_source_group(o->source, id), &part) == LADE_OK && part == o->part);
}

/* A separate thread scans the source, because it must be registered with liburcu, whatever the caller is. */
struct survey {
    struct lade_order *order;
    const double *weight;
    uint64_t classes;
    double *share; /* of each member; NULL: only count them */
    int status;
    struct lade_error *error;
};

/* Finds the part of a sample: LADE_SPLIT_NO_PART if it is in none. LADE_OK or an error. */
static int route(struct survey *s, uint64_t i, unsigned *part)
{
    const struct lade_order *o = s->order;
    uint64_t group;
    int status = lade_source_read_group(o->source, i, &group, s->error);

    if (status != LADE_OK)
        return status;
    status = lade_split_route_word(o->split, group, part);
    if (status == LADE_NO_MEMORY || status == LADE_LIMITED || status == LADE_TOO_MANY || status == LADE_INVALID)
        return lade_fail(s->error, status, NULL, LADE_NO_OFFSET, "the split could not decide sample %llu: %s",
                         (unsigned long long)i, lade_status_text(status));
    if (status != LADE_OK)
        *part = LADE_SPLIT_NO_PART;
    return LADE_OK;
}

static void count_members(struct survey *s)
{
    struct lade_order *o = s->order;
    uint64_t count = o->places;

    o->members = count;
    if (!o->split)
        return;
    o->members = 0;
    for (uint64_t i = 0; i < count && s->status == LADE_OK; i++) {
        unsigned part = LADE_SPLIT_NO_PART;
        s->status = route(s, i, &part);
        if (s->status != LADE_OK || part != o->part)
            continue;
        if (o->in_part)
            o->in_part[i / 64] |= UINT64_C(1) << i % 64;
        if (o->few && o->members < FEW_MAX)
            o->few[o->members] = i;
        o->members++;
    }
}

/* A part with more members than the list holds gets no list, which would take memory for each sample. */
static void trim_few(struct lade_order *o)
{
    const bool few = o->members > 0 && o->members <= FEW_MAX;
    uint64_t *less = few ? lade_heap_resize(o->alloc, o->few, (size_t)o->members, sizeof *less) : NULL;

    if (!few)
        lade_heap_put(o->alloc, o->few);
    if (!few || less)
        o->few = less;
}

/* Lists the members and the weight of each. */
static int list_members(struct survey *s)
{
    struct lade_order *o = s->order;
    uint64_t *size = lade_heap_get(o->alloc, s->classes + 1, sizeof *size), at = 0;
    uint32_t *label = lade_heap_raw(o->alloc, (size_t)o->members, sizeof *label);
    int status = size && label ? LADE_OK : lade_fail(s->error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");

    for (uint64_t i = 0; i < o->places && at < o->members && status == LADE_OK; i++) {
        int64_t l = 0;
        if (!is_member(o, i))
            continue;
        if (!s->weight)
            status = lade_source_label(o->source, i, &l, s->error);
        if (status == LADE_OK && (l < 0 || (uint64_t)l > s->classes - !s->weight))
            status = lade_fail(s->error, LADE_DAMAGED, lade_source_info(o->source)->kind, LADE_NO_OFFSET,
                               "the label of sample %llu is none of the %llu classes", (unsigned long long)i,
                               (unsigned long long)s->classes);
        if (status != LADE_OK)
            break;
        o->member[at] = (uint32_t)i;
        label[at] = (uint32_t)l;
        size[l]++;
        s->share[at] = s->weight ? s->weight[i] : 0;
        at++;
    }
    for (uint64_t i = 0; !s->weight && status == LADE_OK && i < at; i++)
        s->share[i] = 1 / (double)size[label[i]];
    lade_heap_put(o->alloc, size);
    lade_heap_put(o->alloc, label);
    return status;
}

static void *go_over(void *context)
{
    struct survey *s = context;

    s->status = lade_thread_enter();
    if (s->status != LADE_OK)
        return NULL;
    if (s->share)
        s->status = list_members(s);
    else
        count_members(s);
    lade_thread_leave();
    return NULL;
}

static int run_survey(struct survey *s)
{
    pthread_t thread;

    if (!s->order->split && !s->share) {
        count_members(s);
        return LADE_OK;
    }
    if (!lade_thread_start(&thread, go_over, s))
        return lade_fail(s->error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "no thread could be started");
    (void)pthread_join(thread, NULL);
    return s->status;
}

/* Columns of equal height: a column that is too low is filled from one that is too high (Vose 1991). */
static int build_aliases(struct lade_order *o, double *share, struct lade_error *error)
{
    uint64_t n = o->members, low = 0, high = 0;
    uint32_t *stack = lade_heap_raw(o->alloc, (size_t)n, sizeof *stack);
    uint32_t heaviest = 0;
    double sum = 0;

    if (!stack)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        if (!(share[i] >= 0) || isinf(share[i])) {
            lade_heap_put(o->alloc, stack);
            return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                             "the weight of sample %u is negative or not a finite number", (unsigned)o->member[i]);
        }
        sum += share[i];
        heaviest = share[i] > share[heaviest] ? (uint32_t)i : heaviest;
    }
    if (!(sum > 0) || isinf(sum)) {
        lade_heap_put(o->alloc, stack);
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                         "the sum of the weights is not a finite number above 0");
    }
    for (uint64_t i = 0; i < n; i++) {
        share[i] *= (double)n / sum;
        o->alias[i] = (uint32_t)i;
        o->limit[i] = UINT32_MAX;
        if (share[i] < 1)
            stack[low++] = (uint32_t)i;
        else
            stack[n - ++high] = (uint32_t)i;
    }
    while (low > 0 && high > 0) {
        uint32_t less = stack[--low], more = stack[n - high];
        o->limit[less] = (uint32_t)(share[less] * 0x1p32 < 0xffffffffp0 ? share[less] * 0x1p32 : 0xffffffffp0);
        o->alias[less] = more;
        share[more] -= 1 - share[less];
        if (share[more] < 1) {
            high--;
            stack[low++] = more;
        }
    }
    /* Every column that remains is full, up to rounding; but a weight of 0 is never drawn. */
    while (low > 0) {
        uint32_t less = stack[--low];
        o->limit[less] = share[less] > 0 ? UINT32_MAX : 0;
        o->alias[less] = share[less] > 0 ? less : heaviest;
    }
    lade_heap_put(o->alloc, stack);
    return LADE_OK;
}

/* A checksum of the weights. */
static uint32_t sum_of(const struct lade_order *o)
{
    uint32_t crc = 0;

    for (uint64_t i = 0; i < o->members; i++) {
        unsigned char bytes[12];
        lade_write_number(bytes, o->member[i], 4);
        lade_write_number(bytes + 4, o->alias[i], 4);
        lade_write_number(bytes + 8, o->limit[i], 4);
        crc = lade_crc32c(crc, bytes, sizeof bytes);
    }
    return crc;
}

static int prepare_draws(struct lade_order *o, const struct lade_loader_config *c, struct lade_error *error)
{
    size_t n = (size_t)o->members;
    struct survey s = {o, c->weight, lade_source_info(c->source)->classes, NULL, LADE_OK, error};
    int status = LADE_OK;

    if (o->places > MEMBERS_MAX)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                         "draws with replacement take 2^32 - 1 samples at most");
    if (c->draw == LADE_DRAW_WEIGHTED ? !c->weight : s.classes == 0)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s",
                         c->weight ? "the source has no labels to balance"
                                   : "weights, or labels to balance, are missing");
    if (c->draw == LADE_DRAW_BALANCED)
        s.weight = NULL;
    o->member = lade_heap_raw(o->alloc, n, sizeof *o->member);
    o->alias = lade_heap_raw(o->alloc, n, sizeof *o->alias);
    o->limit = lade_heap_raw(o->alloc, n, sizeof *o->limit);
    s.share = lade_heap_raw(o->alloc, n, sizeof *s.share);
    if (!o->member || !o->alias || !o->limit || !s.share)
        status = lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    if (status == LADE_OK)
        status = run_survey(&s);
    if (status == LADE_OK)
        status = build_aliases(o, s.share, error);
    lade_heap_put(o->alloc, s.share);
    o->places = o->members;
    o->law = status == LADE_OK ? sum_of(o) : 0;
    return status;
}

/* Epochs have the length that the law gives them. */
static int init_mixture(struct lade_order *o, struct lade_error *error)
{
    int status = lade_mixture_law_init(&o->mix, o->mixture, o->mixture->weight, 0, NULL, o->alloc);

    o->places = o->members = o->mix.length;
    return status == LADE_OK ? LADE_OK
                             : lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s",
                                         status == LADE_LIMITED ? "an epoch of the mixture has more than 2^62 samples: "
                                                                  "the weight of a large source is too small"
                                                                : "out of memory");
}

int lade_order_init(struct lade_order *o, const struct lade_loader_config *c, struct lade_error *error)
{
    *o = (struct lade_order){.source = c->source,
                             .split = c->split,
                             .part = c->part,
                             .shard = c->shard,
                             .shards = c->shards ? c->shards : 1,
                             .pad = c->pad,
                             .sequential = c->sequential,
                             .draw = c->draw,
                             .alloc = c->alloc,
                             .seed = c->seed,
                             .places = lade_source_info(c->source)->count,
                             .first = UINT64_MAX,
                             .mixture = lade_mixture_of(c->source)};
    struct survey s = {o, NULL, 0, NULL, LADE_OK, error};
    if (o->source->blocks && o->draw != LADE_DRAW_ONCE)
        return lade_fail(error, LADE_INVALID, lade_source_info(o->source)->kind, LADE_NO_OFFSET,
                         "draws with replacement read samples in any order, but the source is read in windows; let it "
                         "have memory for all samples");
    if (o->split && o->draw == LADE_DRAW_ONCE && c->fault == LADE_FAULT_SUBSTITUTE &&
        !(o->few = lade_heap_raw(o->alloc, FEW_MAX, sizeof *o->few)))
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    if (o->split && (o->shards > 1 || lade_source_reads_group(o->source)) &&
        !(o->in_part = lade_heap_get(o->alloc, (size_t)(o->places / 64 + 1), sizeof *o->in_part))) {
        lade_order_free(o);
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    }
    int status = o->mixture ? init_mixture(o, error) : run_survey(&s);
    if (o->few)
        trim_few(o);
    if (status == LADE_OK && o->members > 0 && o->draw != LADE_DRAW_ONCE)
        status = prepare_draws(o, c, error);
    if (status != LADE_OK)
        lade_order_free(o);
    return status;
}

void lade_level_free(struct lade_level *level, const struct lade_alloc *alloc)
{
    for (unsigned r = 0; level->shard && r < level->shards; r++)
        lade_ranges_free(&level->shard[r], alloc);
    lade_heap_put(alloc, level->shard);
    *level = (struct lade_level){0, NULL};
}

void lade_order_free(struct lade_order *o)
{
    for (unsigned l = 0; l < o->levels; l++)
        lade_level_free(&o->level[l], o->alloc);
    lade_ranges_free(&o->done, o->alloc);
    lade_mixture_law_free(&o->mix, o->alloc);
    lade_mixture_law_free(&o->restarted, o->alloc);
    lade_heap_put(o->alloc, o->in_part);
    lade_heap_put(o->alloc, o->few);
    lade_heap_put(o->alloc, o->member);
    lade_heap_put(o->alloc, o->alias);
    lade_heap_put(o->alloc, o->limit);
    o->levels = 0;
    o->in_part = o->few = NULL;
    o->member = o->alias = o->limit = NULL;
}

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
        if (o->split && o->draw == LADE_DRAW_ONCE && !is_member(o, id))
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
    while (!is_member(o, other));
    return other;
}

static uint32_t add_number(uint32_t crc, uint64_t number)
{
    unsigned char bytes[8];

    lade_write_number(bytes, number, 8);
    return lade_crc32c(crc, bytes, sizeof bytes);
}

/* Names, types and shapes of the fields; nothing for a source without a schema. */
static uint32_t add_schema(uint32_t crc, const struct lade_schema *schema)
{
    for (unsigned f = 0; schema && f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        crc = lade_crc32c(crc, field->name, strlen(field->name) + 1);
        crc = add_number(crc, (uint64_t)field->dtype << 32 | field->dims);
        crc = add_number(crc, field->ragged_max);
        for (unsigned d = 0; d < field->dims; d++)
            crc = add_number(crc, field->dim[d]);
    }
    return schema ? add_number(add_number(add_number(crc, (uint64_t)schema->label), (uint64_t)schema->key),
                               (uint64_t)schema->group)
                  : crc;
}

/* Lengths of the ragged fields of a sample. */
static uint32_t add_lengths(uint32_t crc, struct lade_source *source, uint64_t i)
{
    const struct lade_schema *schema = lade_source_info(source)->schema;

    for (unsigned f = 0; schema && f < schema->fields; f++) {
        uint64_t length = UINT64_MAX;
        if (schema->field[f].ragged_max == 0)
            continue;
        if (lade_source_length(source, i, f, &length, NULL) != LADE_OK)
            length = UINT64_MAX;
        crc = add_number(crc, length);
    }
    return crc;
}

/* Identifies a source among those of the same length: its shape or schema; key, label and lengths of some samples. */
static uint32_t source_identity(const struct lade_order *o)
{
    enum { LOOKED_AT = 64 };
    const struct lade_source_info *info = lade_source_info(o->source);
    uint32_t crc = lade_crc32c(0, info->kind, strlen(info->kind));
    unsigned char bytes[16];

    lade_write_number(bytes, (uint64_t)info->shape.dtype << 32 | info->shape.dims, 8);
    lade_write_number(bytes + 8, info->classes, 8);
    crc = lade_crc32c(crc, bytes, sizeof bytes);
    for (unsigned d = 0; d < info->shape.dims; d++) {
        lade_write_number(bytes, info->shape.dim[d], 8);
        crc = lade_crc32c(crc, bytes, 8);
    }
    crc = add_schema(crc, info->schema);
    if (o->source->blocks) /* samples that are far from each other take long to read */
        return add_number(add_number(crc, o->source->blocks->window), o->source->blocks->identity);
    const uint64_t count = o->mixture ? info->count : o->places;
    const uint64_t samples = count < LOOKED_AT ? count : LOOKED_AT;
    for (uint64_t k = 0; k < samples; k++) {
        /* Evenly spread, both ends included. */
        const uint64_t step = samples > 1 ? (count - 1) / (samples - 1) : 0;
        const uint64_t i = k + 1 == samples ? count - 1 : k * step;
        int64_t label = LADE_NO_LABEL;
        if ((o->source->ops.label || info->schema) && info->classes > 0)
            lade_ignore(lade_source_label(o->source, i, &label, NULL)); /* a sample that cannot be read has none */
        lade_write_number(bytes, lade_source_key(o->source, i), 8);
        lade_write_number(bytes + 8, (uint64_t)label, 8);
        crc = lade_crc32c(crc, bytes, sizeof bytes);
        crc = add_lengths(crc, o->source, i);
    }
    return crc;
}

uint32_t lade_order_identity(const struct lade_order *o)
{
    struct lade_split_config split = {0};
    uint64_t word[10] = {o->places, o->members, o->sequential, (uint64_t)o->draw, o->split != NULL, o->part, o->law};
    unsigned char bytes[sizeof word];
    uint32_t crc;

    if (o->mixture) /* its weights may change */
        word[0] = word[1] = lade_source_info(o->source)->count;
    if (o->split) {
        lade_split_get_config(o->split, &split);
        word[7] = split.seed;
        word[8] = (uint64_t)split.rule << 32 | split.parts;
    }
    word[9] = source_identity(o);
    for (int i = 0; i < 10; i++)
        lade_write_number(bytes + 8 * i, word[i], 8);
    crc = lade_crc32c(0, bytes, sizeof bytes);
    for (unsigned p = 0; p < split.parts; p++) {
        lade_write_number(bytes, split.weights ? split.weights[p] : 1, 4);
        crc = lade_crc32c(crc, bytes, 4);
    }
    for (unsigned s = 0; o->mixture && s <= o->mixture->sources; s++)
        crc = add_number(crc, o->mixture->first[s]);
    return o->mixture ? add_number(crc, o->mixture->end) : crc;
}
