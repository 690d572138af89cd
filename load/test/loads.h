/* SPDX-License-Identifier: MIT */
/* Declarations shared by the tests of the loader. */
#ifndef LOADS_H
#define LOADS_H

#include <lade/loader.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static inline struct lade_source *open_source(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, text, NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

/* Hook of a test for each read of a sample. */
struct numbered {
    uint64_t count;
    int (*on_read)(void *context, uint64_t i);
    void *context;
};

/* Sample i is the 16 bytes of i and of its complement. */
static inline int read_number(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct numbered *n = self;
    const uint64_t bytes[2] = {i, ~i};
    int status = n->on_read ? n->on_read(n->context, i) : LADE_OK;

    if (status != LADE_OK && error) {
        error->status = status;
        strcpy(error->text, "as the test wants");
    }
    memcpy(to, bytes, sizeof bytes);
    *label = (int64_t)(i % 10);
    return status;
}

static inline struct lade_source *numbers_with(uint64_t count, int (*on_read)(void *context, uint64_t i), void *context)
{
    const struct lade_source_ops ops = {.read = read_number, .close = free};
    const struct lade_source_info info = {
        .kind = "numbers", .count = count, .shape = {LADE_U8, 1, {16}}, .bytes = 16, .classes = 10};
    struct numbered *self = malloc(sizeof *self);
    struct lade_source *source;

    cr_assert(self);
    *self = (struct numbered){count, on_read, context};
    cr_assert_eq(lade_source_open_custom(&source, &ops, self, &info, NULL, NULL), LADE_OK);
    return source;
}

static inline struct lade_source *numbers(uint64_t count)
{
    return numbers_with(count, NULL, NULL);
}

static inline struct lade_loader *open_loader(const struct lade_loader_config *config)
{
    struct lade_loader *loader;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_loader_create(&loader, config, &error), LADE_OK, "%s", error.text);
    return loader;
}

static inline struct lade_batch next_of(struct lade_loader *loader)
{
    struct lade_batch batch = {0};
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_loader_next(loader, &batch, INT64_C(60000000000), &error), LADE_OK, "%s", error.text);
    return batch;
}

/* Number of deliveries of each sample. */
struct tally {
    uint64_t count;
    uint32_t *seen;
};

static inline void tally_init(struct tally *t, uint64_t count)
{
    t->count = count;
    t->seen = calloc((size_t)count, sizeof *t->seen);
    cr_assert(t->seen);
}

static inline void tally_free(struct tally *t)
{
    free(t->seen);
}

/* Counts a batch of a source of numbers, and checks its content. */
static inline void tally_add(struct tally *t, const struct lade_batch *b)
{
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t bytes[2];
        memcpy(bytes, (const char *)b->samples + 16 * i, sizeof bytes);
        cr_assert_lt(b->ids[i], t->count);
        cr_assert(bytes[0] == b->ids[i] && bytes[1] == ~b->ids[i], "the content is that of another sample");
        cr_assert_eq(b->labels[i], (int64_t)(b->ids[i] % 10));
        t->seen[b->ids[i]]++;
    }
}

static inline void tally_expect(const struct tally *t, uint32_t times)
{
    for (uint64_t i = 0; i < t->count; i++)
        cr_assert_eq(t->seen[i], times, "sample %llu came %u times, not %u", (unsigned long long)i, t->seen[i], times);
}

/* Takes all batches. The last status. */
static inline int take_all(struct lade_loader *l, struct tally *t, uint64_t *batches)
{
    struct lade_batch b;
    int status;

    *batches = 0;
    while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK) {
        tally_add(t, &b);
        lade_loader_release(l, &b);
        ++*batches;
    }
    return status;
}

static inline uint64_t hash_of(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
