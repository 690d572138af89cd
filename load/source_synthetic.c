/* SPDX-License-Identifier: MIT */
/*
 * Samples that are generated, not read. Each byte is half the pattern of its class and a quarter each of two stretches
 * of noise. Patterns and noise are windows into two pools of random bytes, so that a sample costs a few random words
 * and one pass over its bytes. Samples of more than a mebibyte repeat after one. The first eight bytes of a sample are
 * mixed with a random word, so that no two are equal by chance.
 */
#include "source.h"

#include "heap.h"
#include "ignore.h"
#include "seed.h"
#include "sized.h"

#include <lade/random.h>
#include <stdatomic.h>
#include <string.h>

enum { WINDOWS = 1 << 16, STRIDE = 40503, BLOCK = 1 << 20 }; /* an odd stride visits every window */
enum { PATTERN = 0x73796e31, NOISE, CONTENT, DUPLICATE };    /* purposes of random numbers, "syn1" and on */

struct synthetic {
    struct lade_source_synthetic config;
    size_t bytes;
    uint64_t step;  /* difference between the weights of successive classes */
    uint64_t first; /* weight of the first class */
    uint64_t total; /* of all weights */
    struct lade_key content, copy;
    struct lade_permutation order; /* the first samples in this order are duplicates */
    uint8_t *pattern, *noise;
    atomic_uint_fast64_t next;
};

static void set_default(struct lade_source_synthetic *c)
{
    *c = (struct lade_source_synthetic){.count = 50000,
                                        .shape = {.dtype = LADE_U8, .dims = 3, .dim = {3, 32, 32}},
                                        .classes = 10,
                                        .skew = 1,
                                        .seed = 1};
}

void lade_source_synthetic_default_sized(struct lade_source_synthetic *synthetic, size_t size)
{
    struct lade_source_synthetic whole;

    set_default(&whole);
    lade_sized_out(synthetic, size, &whole, sizeof whole);
}

/* Sum of the weights of the classes before c. Weights fall linearly, so no table is needed. */
static uint64_t weight_before(const struct synthetic *s, uint64_t c)
{
    return c * s->first - s->step * (c * (c - (c > 0)) / 2);
}

static uint64_t class_of(const struct synthetic *s, uint64_t word)
{
    uint64_t low, at = lade_multiply(word, s->total, &low), least = 0, above = s->config.classes;

    while (above - least > 1) {
        uint64_t middle = least + (above - least) / 2;
        if (weight_before(s, middle) <= at)
            least = middle;
        else
            above = middle;
    }
    return least;
}

static uint64_t origin_of(const struct synthetic *s, uint64_t i)
{
    const struct lade_source_synthetic *c = &s->config;
    uint64_t low;

    if (c->duplicates == 0)
        return i;
    uint64_t place = lade_permutation_at(&s->order, i);
    if (place >= c->duplicates)
        return i;
    uint64_t of = lade_multiply(lade_random_at(s->copy, i, 0), c->count - c->duplicates, &low);
    return lade_permutation_find(&s->order, c->duplicates + of);
}

static uint64_t load_word(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Eight bytes at a time: no sum of a byte exceeds 253, so there is no carry into the next. */
static void blend(uint8_t *to, const uint8_t *a, const uint8_t *b, const uint8_t *c, size_t size)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f), low6 = UINT64_C(0x3f3f3f3f3f3f3f3f);
    size_t i = 0;

    for (; i + 32 <= size; i += 32)
        for (size_t j = i; j < i + 32; j += 8) {
            uint64_t word =
                (load_word(a + j) >> 1 & low7) + (load_word(b + j) >> 2 & low6) + (load_word(c + j) >> 2 & low6);
            memcpy(to + j, &word, sizeof word);
        }
    for (; i < size; i++)
        to[i] = (uint8_t)((a[i] >> 1) + (b[i] >> 2) + (c[i] >> 2));
}

static int read_synthetic(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct synthetic *s = self;
    uint64_t of = origin_of(s, i);
    uint64_t class = class_of(s, lade_random_at(s->content, of, 0)), places = lade_random_at(s->content, of, 1);
    uint64_t stamp = lade_random_at(s->content, of, 2);
    uint8_t *out = to;

    (void)error;
    for (size_t at = 0; at < s->bytes; at += BLOCK)
        blend(out + at, s->pattern + class * STRIDE % WINDOWS, s->noise + places % WINDOWS,
              s->noise + (places >> 16) % WINDOWS, s->bytes - at < BLOCK ? s->bytes - at : BLOCK);
    for (unsigned b = 0; b < 8 && b < s->bytes; b++)
        out[b] ^= (uint8_t)(stamp >> 8 * b);
    *label = (int64_t) class;
    return LADE_OK;
}

static int label_synthetic(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    const struct synthetic *s = self;

    (void)error;
    *label = (int64_t)class_of(s, lade_random_at(s->content, origin_of(s, i), 0));
    return LADE_OK;
}

static int next_synthetic(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    struct synthetic *s = self;

    /* Only the numbers must differ; no other data is published. */
    *key = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
    return read_synthetic(s, *key, to, label, error);
}

static void close_synthetic(void *self)
{
    struct synthetic *s = self;
    const struct lade_alloc *alloc = s->config.alloc;

    lade_heap_put(alloc, s->pattern);
    lade_heap_put(alloc, s->noise);
    lade_heap_put(alloc, s);
}

static uint8_t *pool(const struct synthetic *s, uint64_t purpose)
{
    size_t size = ((s->bytes < BLOCK ? s->bytes : BLOCK) + WINDOWS + 7) / 8 * 8;
    uint8_t *bytes = lade_heap_raw(s->config.alloc, size, 1);
    struct lade_random random;

    if (!bytes)
        return NULL;
    lade_random_init(&random, lade_key_make(s->config.seed, 0, purpose), 0);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = lade_random_word(&random);
        for (unsigned b = 0; b < 8; b++)
            bytes[i + b] = (uint8_t)(word >> 8 * b);
    }
    return bytes;
}

static int check(const struct lade_source_synthetic *c, struct lade_error *error)
{
    const char *why = NULL;

    if (c->count == 0 || (c->count > LADE_PERMUTATION_MAX && c->count != LADE_ENDLESS))
        why = "the number of samples is zero or above 2^62";
    else if (c->classes == 0 || c->classes > 1 << 16)
        why = "the number of classes is zero or above 65536";
    else if (c->skew == 0 || c->skew > 1000000)
        why = "the skew is zero or above 1000000";
    else if (c->skew > 1 && c->classes == 1)
        why = "one class cannot be skewed";
    else if (c->duplicates >= c->count || (c->duplicates && c->count == LADE_ENDLESS))
        why = "duplicates must be fewer than samples, and an endless source has none";
    else if (c->shape.dtype != LADE_U8 || lade_shape_bytes(&c->shape) == 0 || lade_shape_bytes(&c->shape) > 1 << 30)
        why = "the shape must be u8 with 1 to 2^30 bytes";
    return why ? lade_fail(error, LADE_INVALID, "synthetic", LADE_NO_OFFSET, "%s", why) : LADE_OK;
}

static int open_synthetic(struct lade_source **source, const struct lade_source_synthetic *c, struct lade_error *error)
{
    struct lade_source_ops ops = {.read = read_synthetic, .label = label_synthetic, .close = close_synthetic};

    *source = NULL;
    int status = check(c, error);
    if (status != LADE_OK)
        return status;
    struct synthetic *s = lade_heap_get(c->alloc, 1, sizeof *s);
    if (!s)
        return lade_fail(error, LADE_NO_MEMORY, "synthetic", LADE_NO_OFFSET, "out of memory");
    s->config = *c;
    s->bytes = lade_shape_bytes(&c->shape);
    s->content = lade_key_make(c->seed, 0, CONTENT);
    s->copy = lade_key_make(c->seed, 1, DUPLICATE);
    if (c->duplicates)
        lade_ignore(lade_permutation_init(&s->order, lade_key_make(c->seed, 0, DUPLICATE), c->count));
    /* From skew * (classes - 1) down to classes - 1, in classes - 1 steps. */
    s->step = c->skew - 1;
    s->first = c->classes > 1 ? c->skew * (c->classes - 1) : 1;
    s->total = weight_before(s, c->classes);
    s->pattern = pool(s, PATTERN);
    s->noise = pool(s, NOISE);
    atomic_init(&s->next, 0);
    if (c->count == LADE_ENDLESS)
        ops.next = next_synthetic;
    const struct lade_source_info info = {
        .kind = "synthetic", .count = c->count, .shape = c->shape, .bytes = s->bytes, .classes = c->classes};
    status = s->pattern && s->noise ? lade_source_open_custom(source, &ops, s, &info, c->alloc, error)
                                    : lade_fail(error, LADE_NO_MEMORY, "synthetic", LADE_NO_OFFSET, "out of memory");
    if (status != LADE_OK)
        close_synthetic(s);
    return status;
}

int lade_source_open_synthetic_sized(struct lade_source **source, const struct lade_source_synthetic *synthetic,
                                     size_t size, struct lade_error *error)
{
    struct lade_source_synthetic copy;

    synthetic = lade_sized_in(synthetic, size, &copy, sizeof copy);
    if (!synthetic)
        return lade_fail_unknown(error);
    struct lade_source_synthetic seeded = *synthetic;
    if (seeded.random_seed && !lade_seed_draw(&seeded.seed))
        return lade_fail(error, LADE_IO, "synthetic", LADE_NO_OFFSET,
                         "the system returned no random bytes for the seed");
    return open_synthetic(source, &seeded, error);
}

uint64_t lade_source_synthetic_seed(const struct lade_source *source)
{
    return source->ops.read == read_synthetic ? ((const struct synthetic *)source->self)->config.seed : 0;
}

uint64_t lade_source_synthetic_origin(const struct lade_source *source, uint64_t i)
{
    return source->ops.read == read_synthetic ? origin_of(source->self, i) : i;
}
