/* SPDX-License-Identifier: MIT */
#include <lade/source.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lade_source *open_good(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, text, NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

static uint64_t fnv(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Computed by an independent implementation, in Python from the description in source_synthetic.c. */
Test(synthetic, golden)
{
    static const struct {
        const char *text;
        uint64_t i;
        int64_t label;
        uint64_t hash;
    } golden[] = {
        {"synthetic", 0, 9, UINT64_C(0x1efd0f8989108df3)},
        {"synthetic:", 49999, 7, UINT64_C(0xb29f820945efe71e)},
        {"synthetic:seed=7,classes=100,skew=5", 12345, 79, UINT64_C(0xabc2e73f43921805)},
        {"synthetic:seed=3,classes=2,skew=9,shape=5", 2, 0, UINT64_C(0x26259725b08dfd43)},
    };

    for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
        struct lade_source *source = open_good(golden[g].text);
        uint8_t to[3072];
        int64_t label, again;
        cr_assert_eq(lade_source_read(source, golden[g].i, to, &label, NULL), LADE_OK);
        cr_assert_eq(label, golden[g].label);
        cr_assert_eq(fnv(to, lade_source_info(source)->bytes), golden[g].hash, "golden %d", (int)g);
        cr_assert_eq(lade_source_label(source, golden[g].i, &again, NULL), LADE_OK);
        cr_assert_eq(label, again);
        lade_source_close(source);
    }
}

Test(synthetic, a_random_seed_is_reported)
{
    struct lade_source *zero = open_good("synthetic:seed=0"), *a = open_good("synthetic:seed=random"),
                       *b = open_good("synthetic:seed=random");
    uint8_t of_zero[3072], of_a[3072], of_again[3072];
    char text[64];
    struct lade_error error;

    cr_assert(lade_source_synthetic_seed(zero) == 0 && lade_source_synthetic_seed(a) != lade_source_synthetic_seed(b));
    (void)snprintf(text, sizeof text, "synthetic:seed=%llu", (unsigned long long)lade_source_synthetic_seed(a));
    struct lade_source *again = open_good(text);
    cr_assert_eq(lade_source_read(zero, 5, of_zero, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_source_read(a, 5, of_a, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_source_read(again, 5, of_again, NULL, NULL), LADE_OK);
    cr_assert(memcmp(of_a, of_again, sizeof of_a) == 0 && memcmp(of_a, of_zero, sizeof of_a) != 0);
    lade_source_close(zero);
    lade_source_close(a);
    lade_source_close(b);
    cr_assert_eq(lade_source_open(&a, "synthetic:seed=chance", NULL, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "a number or random"));
    lade_source_close(again);
}

Test(synthetic, default_is_shaped_like_cifar)
{
    struct lade_source *source = open_good("synthetic");
    const struct lade_source_info *info = lade_source_info(source);
    uint8_t to;

    cr_assert(info->count == 50000 && info->bytes == 3072 && info->classes == 10 && info->index_bytes == 0);
    cr_assert(info->shape.dims == 3 && info->shape.dim[0] == 3 && info->shape.dim[2] == 32);
    cr_assert_str_eq(info->kind, "synthetic");
    cr_assert_eq(lade_source_read(source, 50000, &to, NULL, NULL), LADE_INVALID);
    lade_source_close(source);
}

/* Frequencies against weights 5, 4, 3, 2, 1 of 15; 6 standard deviations of at most 0.0019 either side. */
Test(synthetic, skew_is_as_configured)
{
    struct lade_source *source = open_good("synthetic:count=70000,classes=5,skew=5,shape=1");
    int count[5] = {0};

    for (uint64_t i = 0; i < 70000; i++) {
        int64_t label;
        cr_assert_eq(lade_source_label(source, i, &label, NULL), LADE_OK);
        cr_assert(label >= 0 && label < 5);
        count[label]++;
    }
    for (int c = 0; c < 5; c++) {
        double off = count[c] / 70000.0 - (5 - c) / 15.0;
        cr_assert(off < 0.0114 && off > -0.0114, "class %d is off by %f", c, off);
    }
    lade_source_close(source);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* As many copies as requested, each equal to its origin; all others differ from one another. */
Test(synthetic, duplicates_are_counted_copies)
{
    enum { COUNT = 3000, COPIES = 90 };
    struct lade_source *source = open_good("synthetic:count=3000,duplicates=3%");
    static uint8_t to[3072], of[3072];
    static uint64_t hash[COUNT];
    int copies = 0, equal = 0;

    for (uint64_t i = 0; i < COUNT; i++) {
        int64_t label, other;
        uint64_t origin = lade_source_synthetic_origin(source, i);
        cr_assert_eq(lade_source_read(source, i, to, &label, NULL), LADE_OK);
        hash[i] = fnv(to, sizeof to);
        if (origin == i)
            continue;
        copies++;
        cr_assert_lt(origin, COUNT);
        cr_assert_eq(lade_source_synthetic_origin(source, origin), origin);
        cr_assert_eq(lade_source_read(source, origin, of, &other, NULL), LADE_OK);
        cr_assert_arr_eq(to, of, sizeof to);
        cr_assert_eq(label, other);
    }
    qsort(hash, COUNT, sizeof *hash, by_hash);
    for (int i = 1; i < COUNT; i++)
        equal += hash[i] == hash[i - 1];
    cr_assert_eq(copies, COPIES);
    cr_assert_eq(equal, COPIES);
    lade_source_close(source);
}

/* Memory stays small, and every byte is written. */
Test(synthetic, large_samples_repeat_after_a_mebibyte)
{
    enum { MEBIBYTE = 1 << 20, SIZE = 2 * MEBIBYTE + 77 };
    struct lade_source *source = open_good("synthetic:count=3,shape=2097229");
    uint8_t *to = calloc(SIZE + 1, 1);

    cr_assert_not_null(to);
    to[SIZE] = 0xee;
    cr_assert_eq(lade_source_read(source, 2, to, NULL, NULL), LADE_OK);
    cr_assert_arr_eq(to + 8, to + MEBIBYTE + 8, MEBIBYTE - 8);
    cr_assert_arr_eq(to + 8, to + 2 * MEBIBYTE + 8, 69);
    cr_assert_eq(to[SIZE], 0xee);
    free(to);
    lade_source_close(source);
}

Test(synthetic, refuses_what_cannot_be)
{
    static const char *const texts[] = {
        "synthetic:count=0",        "synthetic:count=many",       "synthetic:classes=0",
        "synthetic:classes=65537",  "synthetic:skew=0",           "synthetic:skew=2,classes=1",
        "synthetic:shape=0",        "synthetic:shape=2147483648", "synthetic:duplicates=50000",
        "synthetic:duplicates=1%x", "synthetic:duplicates=100%",  "synthetic:count=endless,duplicates=1",
        "synthetic:seed=-1",        "synthetic:shape=3x32x",
    };

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct lade_source *source;
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_source_open(&source, texts[t], NULL, &error), LADE_INVALID, "%s", texts[t]);
        cr_assert_null(source);
        cr_assert_str_neq(error.text, "");
    }
}

enum { THREADS = 4, EACH = 40000 };
static struct lade_source *endless;
static uint64_t keys[THREADS * EACH];
static pthread_barrier_t together;

static void *take(void *arg)
{
    uint64_t *mine = arg;
    uint8_t to[3], again[3];
    int64_t label, other;

    pthread_barrier_wait(&together);
    for (int i = 0; i < EACH; i++)
        if (lade_source_next(endless, to, &label, &mine[i], NULL) != LADE_OK ||
            lade_source_read(endless, mine[i], again, &other, NULL) != LADE_OK || memcmp(to, again, 3) != 0 ||
            label != other)
            mine[i] = UINT64_MAX;
    return NULL;
}

Test(synthetic, a_stream_hands_out_each_sample_once)
{
    pthread_t thread[THREADS];

    endless = open_good("synthetic:count=endless,shape=3");
    cr_assert_eq(lade_source_info(endless)->count, LADE_ENDLESS);
    cr_assert_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++)
        cr_assert_eq(pthread_create(&thread[t], NULL, take, keys + t * EACH), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    qsort(keys, THREADS * EACH, sizeof *keys, by_hash);
    for (uint64_t i = 0; i < THREADS * EACH; i++)
        cr_assert_eq(keys[i], i);
    lade_source_close(endless);
}
