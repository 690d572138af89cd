/* SPDX-License-Identifier: MIT */
/* The position of a loader: taken from it, restored, and as a file. */
#include "loader_state.h"

#include "file.h"
#include "heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STATE_MAX ((size_t)1 << 24)

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
static int describe(const struct lade_loader *l, struct lade_state *s)
{
    *s = (struct lade_state){.alloc = l->config.alloc,
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
    struct lade_state s;
    size_t needed = 0;

    if (l->config.buffer > 0)
        return 0;
    if (describe(l, &s) == LADE_OK)
        needed = lade_state_write(&s, to, size);
    lade_state_free(&s);
    return needed;
}

/* Whether the delivered samples of an epoch of total are the first ones, and how many; shard is that of no run, or 0 of 1. */
static bool is_prefix(const struct lade_state *s, uint64_t total, uint64_t *count)
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

static int restart(struct lade_order *o, uint64_t position, const uint64_t *taken, struct lade_error *error)
{
    int status = lade_order_restart(o, position, taken);

    return status == LADE_OK ? LADE_OK
                             : lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s",
                                         status == LADE_LIMITED ? "with these weights an epoch of the mixture has more "
                                                                  "than 2^62 samples"
                                                                : "out of memory");
}

/* Begins the law with the weights of the loader after what the state has delivered, and replaces its ranges. */
static int change_weights(struct lade_order *o, struct lade_state *s, struct lade_error *error)
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
        if (s->levels == 0 || lade_ranges_add(&s->level[0].shard[0], 0, count, s->alloc) != LADE_OK)
            status = lade_state_no_memory(error);
        else
            status = restart(o, count, s->taken, error);
    }
    lade_mixture_law_free(&law, s->alloc);
    return status;
}

/* Whether all before the position where the law restarted is delivered: it has no sources there. */
static bool has_begun(const struct lade_state *s)
{
    return s->levels > 0 && s->level[0].shards == 1 && lade_ranges_count(&s->level[0].shard[0], 0, s->from) == s->from;
}

static int restore_mixture(struct lade_order *o, struct lade_state *s, struct lade_error *error)
{
    const struct lade_mixture *m = o->mixture;
    bool fits = s->sources == (m ? m->sources : 0) && (s->from == 0 || (!s->is_packed && has_begun(s)));

    for (unsigned i = 0; fits && i < s->sources; i++)
        fits = m->end == LADE_MIXTURE_REPEAT || s->taken[i] <= m->first[i + 1] - m->first[i];
    if (!fits)
        return lade_fail(error, LADE_DAMAGED, "state", LADE_NO_OFFSET, "not a state of this mixture");
    const bool changes = m && memcmp(s->weight, m->weight, m->sources * sizeof *m->weight) != 0;
    if (changes && s->is_packed)
        return lade_fail(error, LADE_CONFLICT, NULL, LADE_NO_OFFSET, "the weights of a packed mixture cannot change");
    if (changes)
        return change_weights(o, s, error);
    return s->from > 0 ? restart(o, s->from, s->taken, error) : LADE_OK;
}

int lade_loader_restore(struct lade_loader *l, const char *text, struct lade_error *error)
{
    struct lade_order *o = &l->order;
    struct lade_state s;
    int status = lade_state_read(&s, text, l->config.alloc, error);

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
    lade_state_free(&s);
    return status;
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
