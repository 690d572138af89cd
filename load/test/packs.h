/* SPDX-License-Identifier: MIT */
/* Declarations shared by the tests of packed batches: sequences, and a check of every number of a batch. */
#ifndef PACKS_H
#define PACKS_H

#include "fields.h"
#include "states.h"

#include <lade/random.h>

enum { PACK_COUNT = 203, LONGEST = 37 };

/* Lengths 0 to 36, spread. */
static inline uint64_t spread(uint64_t i)
{
    return (i * i + 11 * i) % LONGEST;
}

/* Of a loader of open_sequences(): tensor 0 the tokens, then segments, positions, rows. */
enum { VALUES, SEGMENTS, POSITIONS, ROWS };

/* Rows in the order of delivery: a checksum of the ids and positions of the steps of each. */
struct rows {
    uint64_t *hash;
    uint64_t count, capacity;
    uint32_t seen[PACK_COUNT][LONGEST]; /* steps */
    uint32_t entries[PACK_COUNT];
    uint64_t steps, empty, batches;
};

static inline struct rows *rows_new(void)
{
    struct rows *r = calloc(1, sizeof *r);

    cr_assert(r);
    return r;
}

static inline void rows_free(struct rows *r)
{
    free(r->hash);
    free(r);
}

static inline void rows_add(struct rows *r, uint64_t hash)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->hash = realloc(r->hash, r->capacity * sizeof *r->hash);
        cr_assert(r->hash);
    }
    r->hash[r->count++] = hash;
}

static inline int64_t int_at(const struct lade_tensor *t, uint64_t i)
{
    return t->shape->dtype == LADE_I64 ? ((const int64_t *)t->host)[i] : ((const int32_t *)t->host)[i];
}

/* Checks a batch against the numbers of its samples, and adds its rows. gaps: skipped samples leave some. */
static inline void check_packed(struct rows *r, const struct lade_batch *b, uint64_t steps, int32_t padding, bool gaps)
{
    const struct lade_tensor *t = b->tensor;
    const int32_t *value = t[VALUES].host;

    for (unsigned k = VALUES; k <= POSITIONS; k++)
        cr_assert(t[k].shape->dims == 2 && t[k].shape->dim[0] == b->rows && t[k].shape->dim[1] == steps);
    cr_assert(t[ROWS].shape->dims == 1 && t[ROWS].shape->dim[0] == b->rows + 1);
    cr_assert_eq(int_at(&t[ROWS], 0), 0);
    cr_assert_eq(int_at(&t[ROWS], b->rows), (int64_t)b->count);
    for (uint64_t row = 0; row < b->rows; row++) {
        const int64_t first = int_at(&t[ROWS], row), samples = int_at(&t[ROWS], row + 1) - first;
        uint64_t hash = 1;
        int64_t segment = 0, position = 0;
        bool ended = false;
        cr_assert_geq(samples, 0);
        for (uint64_t k = row * steps; k < (row + 1) * steps; k++) {
            const int64_t s = int_at(&t[SEGMENTS], k), p = int_at(&t[POSITIONS], k);
            cr_assert(s >= 0 && s <= samples);
            if (s == 0) {
                cr_assert(value[k] == padding && p == 0);
                ended = true;
                continue;
            }
            cr_assert(!ended || (gaps && s > segment), "padding inside a row");
            ended = false;
            cr_assert(s == segment ? p == position + 1 : s > segment, "segments rise, positions count");
            segment = s;
            position = p;
            const uint64_t id = b->ids[first + s - 1];
            cr_assert(id < PACK_COUNT && p < LONGEST);
            cr_assert_eq(value[k], token(id, (uint64_t)p));
            r->seen[id][p]++;
            r->steps++;
            const uint64_t what[2] = {id, (uint64_t)p};
            hash = hash_of(hash, what, sizeof what);
        }
        for (int64_t s = 0; s < samples; s++)
            r->entries[b->ids[first + s]]++;
        hash = hash_of(hash, b->ids + first, (size_t)samples * sizeof *b->ids);
        r->empty += samples == 0;
        rows_add(r, hash);
    }
}

/* Takes up to this many batches. Returns the last status. */
static inline int take_rows(struct lade_loader *l, struct rows *r, uint64_t steps, uint64_t most)
{
    int status = LADE_OK;

    for (uint64_t n = 0; n < most; n++) {
        struct lade_batch b;
        status = lade_loader_next(l, &b, INT64_C(60000000000), NULL);
        if (status != LADE_OK)
            break;
        check_packed(r, &b, steps, 0, false);
        lade_loader_release(l, &b);
        r->batches++;
    }
    return status;
}

/* All rows of a loader that ends. */
static inline struct rows *all_rows(const struct lade_loader_config *config)
{
    struct lade_loader *l = open_loader(config);
    struct rows *r = rows_new();

    cr_assert_eq(take_rows(l, r, config->pack_row, UINT64_MAX), LADE_CLOSED);
    lade_loader_destroy(l);
    return r;
}

static inline void same_rows(const struct rows *a, const struct rows *b)
{
    cr_assert_eq(a->count, b->count);
    for (uint64_t i = 0; i < a->count; i++)
        cr_assert_eq(a->hash[i], b->hash[i], "row %llu", (unsigned long long)i);
}

/* Each step of each sample, up to a length, this many times. */
static inline void each_step(const struct rows *r, uint64_t (*length)(uint64_t i), uint64_t most, uint32_t times)
{
    for (uint64_t i = 0; i < PACK_COUNT; i++)
        for (uint64_t k = 0; k < LONGEST; k++)
            cr_assert_eq(r->seen[i][k], k < length(i) && k < most ? times : 0, "step %llu of sample %llu",
                         (unsigned long long)k, (unsigned long long)i);
}

static inline void expect_refusal(const struct lade_loader_config *config, const char *state, int status,
                                  const char *text)
{
    struct lade_error error = {.text = "no text"};
    struct lade_loader *l;

    cr_assert_eq(lade_loader_resume(&l, config, state, &error), status, "%s", error.text);
    cr_assert(strstr(error.text, text), "%s", error.text);
}

#endif
