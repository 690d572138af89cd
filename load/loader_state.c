/* SPDX-License-Identifier: MIT */
/*
 * The position of a loader, as a line of text:
 *
 *   lade-loader 1 identity=HEX seed=N epoch=N shard=N/N|any mix=HEX,... from=HEX:HEX,... of=N done=RANGES
 *   level=N:RANGES/RANGES... crc=HEX
 *
 * done: the numbers of this shard's samples of the epoch that were delivered. Each level: the same for all shards of an
 * earlier run of the epoch. of: samples of the epoch, of all shards. mix: the weights of a mixture. from: where its law
 * restarted in this epoch, and how many samples of each source came before. Packed batches: rows instead of samples,
 * packed=N,... is where their window begins, and one level of one shard has the rows of all shards that earlier runs
 * delivered. RANGES is A-B,A-B,... (from A, below B), in rising order.
 */
#include "loader.h"

#include "checksum.h"
#include "file.h"
#include "heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_MAX ((size_t)1 << 24)
#define RANGES_MAX (1 << 20) /* of one shard */
#define RANGES_FEW 256       /* delivered samples that are merged into one list whenever they fit */

struct state {
    const struct lade_alloc *alloc; /* NULL: the C library's */
    uint32_t identity;
    uint64_t seed, epoch, total;
    unsigned shard, shards; /* shards 0: any */
    struct lade_ranges done;
    struct lade_level level[LADE_LEVELS_MAX];
    unsigned levels;
    /* Of a mixture: its weights, and samples of each source before the position where the law restarted; from 0: nowhere. */
    unsigned sources;
    uint32_t weight[LADE_MIXTURE_SOURCES_MAX];
    uint64_t from, taken[LADE_MIXTURE_SOURCES_MAX];
    bool is_packed;
    uint64_t packed[LADE_PACK_WORDS]; /* see lade_pack_position() */
};

static void free_state(struct state *s)
{
    lade_ranges_free(&s->done, s->alloc);
    for (unsigned l = 0; l < s->levels; l++)
        lade_level_free(&s->level[l], s->alloc);
}

static int no_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
}

/* Text that is cut at the end of its buffer, but counted in full. */
struct text {
    char *to;
    size_t room, size;
    uint32_t crc;
};

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void
say(struct text *t, const char *format, ...)
{
    char piece[96];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    t->crc = lade_crc32c(t->crc, piece, (size_t)n);
    for (int i = 0; i <= n; i++)
        if (t->size + (size_t)i < t->room)
            t->to[t->size + (size_t)i] = i == n || t->size + (size_t)i + 1 == t->room ? '\0' : piece[i];
    t->size += (size_t)n;
}

static void write_ranges(struct text *t, const struct lade_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        say(t, "%s%" PRIu64 "-%" PRIu64, i ? "," : "", ranges->range[i].from, ranges->range[i].end);
}

static size_t write_state(const struct state *s, char *to, size_t size)
{
    struct text t = {to, size, 0, 0};

    say(&t, "lade-loader 1 identity=%08" PRIx32 " seed=%" PRIu64 " epoch=%" PRIu64, s->identity, s->seed, s->epoch);
    if (s->shards)
        say(&t, " shard=%u/%u", s->shard, s->shards);
    else
        say(&t, " shard=any");
    for (unsigned i = 0; s->is_packed && i < LADE_PACK_WORDS; i++)
        say(&t, "%s%" PRIu64, i ? "," : " packed=", s->packed[i]);
    for (unsigned i = 0; i < s->sources; i++)
        say(&t, "%s%" PRIx32, i ? "," : " mix=", s->weight[i]);
    if (s->from > 0)
        say(&t, " from=%" PRIx64, s->from);
    for (unsigned i = 0; s->from > 0 && i < s->sources; i++)
        say(&t, "%s%" PRIx64, i ? "," : ":", s->taken[i]);
    say(&t, " of=%" PRIu64 " done=", s->total);
    write_ranges(&t, &s->done);
    for (unsigned l = 0; l < s->levels; l++) {
        say(&t, " level=%u:", s->level[l].shards);
        for (unsigned r = 0; r < s->level[l].shards; r++) {
            say(&t, "%s", r ? "/" : "");
            write_ranges(&t, &s->level[l].shard[r]);
        }
    }
    uint32_t crc = t.crc;
    say(&t, " crc=%08" PRIx32, crc);
    return t.size + 1;
}

static bool expect(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_number(const char **at, uint64_t *number)
{
    char *end = NULL;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(*at, &end, 10);
    *at = end;
    *number = value;
    return errno == 0;
}

static bool take_hex(const char **at, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < 8; i++, ++*at) {
        const char *digits = "0123456789abcdef", *d = **at ? strchr(digits, **at) : NULL;
        if (!d)
            return false;
        *number = *number << 4 | (uint32_t)(d - digits);
    }
    return true;
}

/* A number of up to 16 hexadecimal digits. */
static bool take_hex_number(const char **at, uint64_t *number)
{
    const char *digits = "0123456789abcdef", *d;
    int i = 0;

    for (*number = 0; i < 16 && **at && (d = strchr(digits, **at)); i++, ++*at)
        *number = *number << 4 | (uint64_t)(d - digits);
    return i > 0;
}

static bool take_mixture(const char **at, struct state *s)
{
    uint64_t number, sum = 0;

    if (!expect(at, " mix="))
        return true;
    do {
        if (s->sources == LADE_MIXTURE_SOURCES_MAX || !take_hex_number(at, &number) || number > LADE_MIXTURE_WEIGHT_MAX)
            return false;
        s->weight[s->sources++] = (uint32_t)number;
        sum += number;
    } while (expect(at, ","));
    if (sum == 0 || sum > LADE_MIXTURE_WEIGHT_MAX)
        return false;
    if (!expect(at, " from="))
        return true;
    if (!take_hex_number(at, &s->from) || s->from > LADE_PERMUTATION_MAX)
        return false;
    sum = 0;
    for (unsigned i = 0; i < s->sources; i++) {
        if (!expect(at, i ? "," : ":") || !take_hex_number(at, &s->taken[i]) || s->taken[i] > s->from - sum)
            return false;
        sum += s->taken[i];
    }
    return s->from > 0 && sum == s->from;
}

/* LADE_OK, LADE_DAMAGED, LADE_NO_MEMORY. */
static int take_ranges(const char **at, struct lade_ranges *ranges, const struct lade_alloc *alloc)
{
    uint64_t last = 0;

    if (**at < '0' || **at > '9')
        return LADE_OK;
    do {
        uint64_t from, end;
        if (!take_number(at, &from) || !expect(at, "-") || !take_number(at, &end) || from >= end ||
            (ranges->count > 0 && from <= last) || ranges->count == RANGES_MAX)
            return LADE_DAMAGED;
        if (lade_ranges_add(ranges, from, end, alloc) != LADE_OK)
            return LADE_NO_MEMORY;
        last = end;
    } while (expect(at, ","));
    return LADE_OK;
}

static int take_level(const char **at, struct state *s)
{
    struct lade_level *level = &s->level[s->levels];
    uint64_t shards;
    int status = LADE_OK;

    if (s->levels == LADE_LEVELS_MAX || !take_number(at, &shards) || shards == 0 || shards > LADE_LOADER_SHARDS_MAX ||
        !expect(at, ":"))
        return LADE_DAMAGED;
    level->shard = lade_heap_get(s->alloc, (size_t)shards, sizeof *level->shard);
    if (!level->shard)
        return LADE_NO_MEMORY;
    level->shards = (unsigned)shards;
    s->levels++;
    for (unsigned r = 0; r < level->shards && status == LADE_OK; r++)
        status = r > 0 && !expect(at, "/") ? LADE_DAMAGED : take_ranges(at, &level->shard[r], s->alloc);
    return status;
}

static int take_fields(const char **at, struct state *s)
{
    uint64_t shard = 0, shards = 0;

    if (!expect(at, "lade-loader 1 identity=") || !take_hex(at, &s->identity) || !expect(at, " seed=") ||
        !take_number(at, &s->seed) || !expect(at, " epoch=") || !take_number(at, &s->epoch) || !expect(at, " shard="))
        return LADE_DAMAGED;
    if (!expect(at, "any") && (!take_number(at, &shard) || !expect(at, "/") || !take_number(at, &shards) ||
                               shards > LADE_LOADER_SHARDS_MAX || shard >= shards))
        return LADE_DAMAGED;
    s->shard = (unsigned)shard;
    s->shards = (unsigned)shards;
    s->is_packed = expect(at, " packed=");
    for (unsigned i = 0; s->is_packed && i < LADE_PACK_WORDS; i++)
        if ((i > 0 && !expect(at, ",")) || !take_number(at, &s->packed[i]))
            return LADE_DAMAGED;
    if (s->epoch == UINT64_MAX || !take_mixture(at, s) || !expect(at, " of=") || !take_number(at, &s->total) ||
        s->total > LADE_PERMUTATION_MAX || !expect(at, " done="))
        return LADE_DAMAGED;
    int status = take_ranges(at, &s->done, s->alloc);
    while (status == LADE_OK && expect(at, " level="))
        status = take_level(at, s);
    return status;
}

/* The caller frees it in any case. */
static int read_state(struct state *s, const char *text, const struct lade_alloc *alloc, struct lade_error *error)
{
    const char *at = text;
    uint32_t crc = 0;

    *s = (struct state){.alloc = alloc};
    int status = take_fields(&at, s);
    if (status == LADE_NO_MEMORY)
        return no_memory(error);
    size_t size = (size_t)(at - text);
    if (status != LADE_OK || !expect(&at, " crc=") || !take_hex(&at, &crc) || *at != '\0')
        return lade_fail(error, LADE_DAMAGED, "state", (uint64_t)(at - text), "not a loader state");
    if (crc != lade_crc32c(0, text, size))
        return lade_fail(error, LADE_DAMAGED, "state", size, "the state is damaged: its checksum does not match");
    return LADE_OK;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct lade_range *)a)->from, y = ((const struct lade_range *)b)->from;

    return (x > y) - (x < y);
}

/* Numbers before the cursor, of batches taken out of order, and those done by an earlier run. */
static int add_done(const struct lade_loader *l, struct lade_ranges *done)
{
    const struct lade_order *o = &l->order;
    const uint64_t length = l->pack ? UINT64_MAX : lade_order_length(o, l->next.epoch), mask = l->ring.places - 1;
    const size_t before = l->next.epoch == o->first ? o->done.count : 0;
    struct lade_range *all = lade_heap_raw(l->config.alloc, (size_t)l->ring.places + before + 1, sizeof *all);
    size_t n = 0;
    uint64_t at = 0;
    int status = all ? LADE_OK : LADE_NO_MEMORY;

    if (!all)
        return status;
    all[n++] = (struct lade_range){0, lade_loader_mine(l, &l->next)};
    for (uint64_t k = l->low; k < l->low + l->ring.places; k++) {
        const struct lade_cursor *end = &l->end[k & mask];
        const uint64_t last = l->pack ? lade_pack_length(end) : length;
        if (l->taken[k & mask])
            all[n++] =
                (struct lade_range){l->from[k & mask], end->epoch == l->next.epoch ? lade_loader_mine(l, end) : last};
    }
    for (size_t i = 0; i < before; i++)
        all[n++] = o->done.range[i];
    qsort(all, n, sizeof *all, compare);
    for (size_t i = 0; i < n && status == LADE_OK; i++) {
        uint64_t from = all[i].from > at ? all[i].from : at, end = all[i].end < length ? all[i].end : length;
        if (end <= from)
            continue;
        status = lade_ranges_add(done, from, end, l->config.alloc);
        at = end;
    }
    lade_heap_put(l->config.alloc, all);
    return status;
}

/* The state of a loader; the caller frees it. */
static int describe(const struct lade_loader *l, struct state *s)
{
    *s = (struct state){.alloc = l->config.alloc,
                        .identity = lade_loader_identity(l),
                        .seed = l->config.seed,
                        .epoch = l->next.epoch,
                        .total = lade_order_total(&l->order, l->next.epoch),
                        .shard = l->config.shard,
                        .shards = l->config.shards,
                        .is_packed = l->pack != NULL};
    if (l->order.mixture) {
        s->sources = l->order.mixture->sources;
        memcpy(s->weight, l->order.mixture->weight, sizeof s->weight);
    }
    if (l->pack)
        lade_pack_position(l, s->packed);
    if (l->next.epoch != l->order.first)
        return add_done(l, &s->done);
    if (l->order.restarted.length > 0) {
        memcpy(s->taken, l->order.taken, sizeof s->taken);
        for (unsigned i = 0; i < s->sources; i++)
            s->from += s->taken[i];
    }
    for (unsigned i = 0; i < l->order.levels; i++) {
        const struct lade_level *from = &l->order.level[i];
        struct lade_level *to = &s->level[i];
        to->shard = lade_heap_get(s->alloc, from->shards, sizeof *to->shard);
        if (!to->shard)
            return LADE_NO_MEMORY;
        to->shards = from->shards;
        s->levels++;
        for (unsigned r = 0; r < from->shards; r++)
            for (size_t k = 0; k < from->shard[r].count; k++)
                if (lade_ranges_add(&to->shard[r], from->shard[r].range[k].from, from->shard[r].range[k].end,
                                    s->alloc) != LADE_OK)
                    return LADE_NO_MEMORY;
    }
    return add_done(l, &s->done);
}

size_t lade_loader_state(const struct lade_loader *l, char *to, size_t size)
{
    struct state s;
    size_t needed = 0;

    if (l->config.buffer > 0)
        return 0;
    if (describe(l, &s) == LADE_OK)
        needed = write_state(&s, to, size);
    free_state(&s);
    return needed;
}

/* Whether the delivered samples of an epoch of total are the first ones, and how many; shard is that of no run, or 0 of 1. */
static bool is_prefix(const struct state *s, uint64_t total, uint64_t *count)
{
    const uint64_t own = lade_ranges_count(&s->done, 0, total);

    *count = 0;
    for (unsigned l = 0; l < s->levels; l++) {
        const struct lade_level *level = &s->level[l];
        uint64_t done = 0;
        for (unsigned r = 0; r < level->shards; r++)
            done += lade_ranges_count(&level->shard[r], 0, lade_share_of(total, r, level->shards));
        for (unsigned r = 0; r < level->shards; r++) {
            const uint64_t share = lade_share_of(done, r, level->shards);
            if (lade_ranges_count(&level->shard[r], 0, share) != share)
                return false;
        }
        *count += done;
        total -= done;
    }
    *count += own;
    return s->shards <= 1 && own <= total && lade_ranges_count(&s->done, 0, own) == own;
}

/* Begins the law with the weights of the loader after what the state has delivered, and replaces its ranges. */
static int change_weights(struct lade_order *o, struct state *s, struct lade_error *error)
{
    struct lade_mixture_law law;
    uint64_t count = 0;
    int status = lade_mixture_law_init(&law, o->mixture, s->weight, s->from, s->from ? s->taken : NULL, s->alloc);
    bool fits = status == LADE_OK && is_prefix(s, law.length, &count);

    if (status == LADE_OK && !fits)
        status =
            lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                      "weights can change only where the shards are in step: merge the states of all shards, saved "
                      "after the same number of batches in order");
    else if (status == LADE_OK && (count < s->from || law.spans == 0))
        status = lade_fail(error, LADE_DAMAGED, "state", LADE_NO_OFFSET, "not a state of this mixture");
    else if (status != LADE_OK)
        status = lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
    if (status == LADE_OK && count > 0) {
        lade_mixture_law_taken(&law, s->sources, count, s->taken);
        for (unsigned l = 0; l < s->levels; l++)
            lade_level_free(&s->level[l], s->alloc);
        lade_ranges_free(&s->done, s->alloc);
        s->levels = 0;
        s->level[0].shard = lade_heap_get(s->alloc, 1, sizeof *s->level[0].shard);
        s->level[0].shards = 1;
        s->levels = s->level[0].shard != NULL;
        if (s->levels == 0 || lade_ranges_add(&s->level[0].shard[0], 0, count, s->alloc) != LADE_OK ||
            lade_order_restart(o, count, s->taken) != LADE_OK)
            status = no_memory(error);
    }
    lade_mixture_law_free(&law, s->alloc);
    return status;
}

static int restore_mixture(struct lade_order *o, struct state *s, struct lade_error *error)
{
    const struct lade_mixture *m = o->mixture;
    bool fits = s->sources == (m ? m->sources : 0);

    for (unsigned i = 0; fits && i < s->sources; i++)
        fits = m->end == LADE_MIXTURE_REPEAT || s->taken[i] <= m->first[i + 1] - m->first[i];
    if (!fits)
        return lade_fail(error, LADE_DAMAGED, "state", LADE_NO_OFFSET, "not a state of this mixture");
    const bool changes = m && memcmp(s->weight, m->weight, m->sources * sizeof *m->weight) != 0;
    if (changes && s->is_packed)
        return lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET, "the weights of a packed mixture cannot change");
    if (changes)
        return change_weights(o, s, error);
    if (m && s->from > 0 && lade_order_restart(o, s->from, s->taken) != LADE_OK)
        return no_memory(error);
    return LADE_OK;
}

int lade_loader_restore(struct lade_loader *l, const char *text, struct lade_error *error)
{
    struct lade_order *o = &l->order;
    struct state s;
    int status = read_state(&s, text, l->config.alloc, error);

    if (status == LADE_OK && l->config.random_seed)
        l->config.seed = o->seed = s.seed;
    if (status == LADE_OK &&
        (s.identity != lade_loader_identity(l) || s.seed != l->config.seed || s.is_packed != (l->pack != NULL) ||
         (s.is_packed && s.levels > 0 && (s.levels > 1 || s.level[0].shards > 1))))
        status = lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                           "the state belongs to another source, split, part, seed, order, draw or packing");
    if (status == LADE_OK && s.shards && (s.shards != l->config.shards || s.shard != l->config.shard))
        status =
            lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                      "the state is that of shard %u of %u; merge the states of all shards first", s.shard, s.shards);
    if (status == LADE_OK)
        status = restore_mixture(o, &s, error);
    if (status == LADE_OK) {
        o->first = l->next.epoch = s.epoch;
        o->done = s.done;
        memcpy(o->level, s.level, sizeof s.level);
        o->levels = s.levels;
        return l->pack ? lade_pack_begin(l, s.packed, error) : LADE_OK;
    }
    free_state(&s);
    return status;
}

/* Whether two states are of the same run, apart from shard and progress. */
static bool go_together(const struct state *a, const struct state *b)
{
    char one[256], two[256];

    if (a->is_packed != b->is_packed || a->identity != b->identity || a->seed != b->seed || a->shards != b->shards || a->epoch != b->epoch ||
        a->levels != b->levels || a->total != b->total || a->sources != b->sources || a->from != b->from ||
        memcmp(a->weight, b->weight, sizeof a->weight) != 0 || memcmp(a->taken, b->taken, sizeof a->taken) != 0)
        return false;
    for (unsigned l = 0; l < a->levels; l++) {
        if (a->level[l].shards != b->level[l].shards)
            return false;
        for (unsigned r = 0; r < a->level[l].shards; r++) {
            struct text t = {one, sizeof one, 0, 0}, u = {two, sizeof two, 0, 0};
            write_ranges(&t, &a->level[l].shard[r]);
            write_ranges(&u, &b->level[l].shard[r]);
            if (t.size != u.size || t.crc != u.crc)
                return false;
        }
    }
    return true;
}

/*
 * Whether a state is of the run of another. A shard that has ended its epoch is at the next one, with nothing done
 * there.
 */
static int look_at(struct state *s, const struct state *other, bool *fits)
{
    struct state before = *s;

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
static int join_packed(const struct state *s, unsigned count, unsigned first, struct state *joined,
                       struct lade_level *last, struct lade_error *error)
{
    struct lade_level one = {1, lade_heap_get(s->alloc, 1, sizeof *one.shard)};
    const struct lade_ranges none = {NULL, 0}, *before = s[first].levels > 0 ? &s[first].level[0].shard[0] : &none;
    int status = one.shard ? lade_pack_merge(before, last, RANGES_MAX, &one.shard[0], s->alloc) : LADE_NO_MEMORY;

    for (unsigned i = 0; i < count; i++)
        if (s[i].epoch == s[first].epoch && s[i].packed[LADE_PACK_NUMBER] < joined->packed[LADE_PACK_NUMBER])
            memcpy(joined->packed, s[i].packed, sizeof joined->packed);
    lade_level_free(last, s->alloc);
    *last = one;
    joined->levels = 0;
    joined->level[joined->levels++] = *last;
    return status == LADE_LIMITED
               ? lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                           "the shards are too far apart: their rows take more than %d ranges", RANGES_MAX)
           : status == LADE_OK ? LADE_OK
                               : no_memory(error);
}

/* Merges all levels into one list of at most most ranges, in *all. LADE_OK, LADE_NO_MEMORY, LADE_LIMITED. */
static int flatten(const struct state *s, size_t most, struct lade_ranges *all)
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
static int add_level(struct state *joined, struct lade_level *last, struct lade_error *error)
{
    struct lade_ranges all = {NULL, 0};
    struct state whole = *joined;
    struct lade_ranges *one = lade_heap_get(joined->alloc, 1, sizeof *one);
    int status = one ? LADE_OK : LADE_NO_MEMORY;
    const bool is_full = joined->levels == LADE_LEVELS_MAX;

    if (!is_full)
        whole.level[whole.levels++] = *last;
    if (status == LADE_OK)
        status = flatten(&whole, is_full ? RANGES_MAX : RANGES_FEW, &all);
    if (status == LADE_OK && is_full) {
        struct lade_ranges merged = {NULL, 0};
        status = lade_ranges_merge(&all, last, joined->total, RANGES_MAX, &merged, joined->alloc);
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
        return no_memory(error);
    if (status == LADE_LIMITED && is_full)
        return lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                         "the shards are too far apart: what they delivered takes more than %d ranges", RANGES_MAX);
    joined->level[joined->levels++] = *last;
    return LADE_OK;
}

/* One state for all shards of its run, which are in step. */
static int spread(struct state *s, struct lade_level *last, struct lade_error *error)
{
    const struct lade_range *range = s->done.range;

    if (s->done.count > 1 || (s->done.count == 1 && range->from > 0))
        return lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                         "batches were taken out of order: give the states of all %u shards", s->shards);
    last->shard = lade_heap_get(s->alloc, s->shards, sizeof *last->shard);
    last->shards = s->shards;
    for (unsigned r = 0; last->shard && r < s->shards && s->done.count > 0; r++)
        if (lade_ranges_add(&last->shard[r], 0, range->end, s->alloc) != LADE_OK)
            return no_memory(error);
    return last->shard ? LADE_OK : no_memory(error);
}

/* Collects what the shards did. */
static int collect(struct state *s, unsigned count, unsigned first, struct lade_level *last, struct lade_error *error)
{
    last->shard = lade_heap_get(s->alloc, count, sizeof *last->shard);
    bool *met = lade_heap_get(s->alloc, count, sizeof *met);
    int status = last->shard && met ? LADE_OK : no_memory(error);
    last->shards = count;
    for (unsigned i = 0; i < count && status == LADE_OK; i++) {
        bool fits;
        if (look_at(&s[i], &s[first], &fits) != LADE_OK) {
            status = no_memory(error);
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
static int join(struct state *s, unsigned count, struct state *joined, struct lade_level *last,
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
    struct state *s = lade_heap_get(alloc, count, sizeof *s), joined;
    struct lade_level last = {0, NULL};
    int status = s ? LADE_OK : no_memory(error);
    size_t needed = 0;

    for (unsigned i = 0; i < count && status == LADE_OK; i++)
        status = read_state(&s[i], states[i], alloc, error);
    if (status == LADE_OK)
        status = join(s, count, &joined, &last, error);
    if (status == LADE_OK)
        needed = write_state(&joined, to, size);
    /* All levels but the last belong to one of the states. */
    lade_level_free(&last, alloc);
    for (unsigned i = 0; s && i < count; i++)
        free_state(&s[i]);
    lade_heap_put(alloc, s);
    return needed;
}

int lade_loader_save(const struct lade_loader *l, const char *path, struct lade_error *error)
{
    struct lade_file file;
    size_t size = lade_loader_state(l, NULL, 0);
    char *text = size ? lade_heap_raw(l->config.alloc, size, 1) : NULL;

    if (!text)
        return lade_fail(error, l->config.buffer > 0 ? LADE_INVALID : LADE_NO_MEMORY, path, LADE_NO_OFFSET, "%s",
                         l->config.buffer > 0 ? "stream mode has no state" : "out of memory");
    if (lade_loader_state(l, text, size) != size) {
        lade_heap_put(l->config.alloc, text);
        return lade_fail(error, LADE_NO_MEMORY, path, LADE_NO_OFFSET, "out of memory");
    }
    text[size - 1] = '\n';
    int status = lade_file_create(&file, path);
    if (status == LADE_OK) {
        status = lade_file_put(&file, text, size) ? lade_file_replace(&file) : LADE_IO;
        if (status != LADE_OK)
            lade_file_drop(&file);
    }
    int why = errno;
    lade_heap_put(l->config.alloc, text);
    return status == LADE_OK ? LADE_OK : lade_fail(error, LADE_IO, path, LADE_NO_OFFSET, "%s", strerror(why));
}

size_t lade_loader_read_state(const char *path, char *to, size_t size, const struct lade_alloc *alloc,
                              struct lade_error *error)
{
    struct lade_bytes bytes;

    if (lade_read_file(&bytes, path, alloc, error) != LADE_OK)
        return 0;
    size_t n = bytes.size > 0 && bytes.data[bytes.size - 1] == '\n' ? bytes.size - 1 : bytes.size;
    if (n == 0 || n >= STATE_MAX || memchr(bytes.data, 0, n)) {
        (void)lade_fail(error, LADE_DAMAGED, path, 0, "not a loader state");
        n = 0;
    } else if (size > 0) {
        size_t part = n < size - 1 ? n : size - 1;
        memcpy(to, bytes.data, part);
        to[part] = '\0';
    }
    lade_free_file(&bytes, alloc);
    return n ? n + 1 : 0;
}
