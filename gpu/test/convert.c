/* SPDX-License-Identifier: MIT */
/* The conversion text as C: halves against their definition, images against the steps of a pipeline. */
#include "../../lib/test/allocator.h"
#include "halves.h"

#include <lade/convert.h>
#include <lade/transform.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static uint16_t half(uint32_t bits)
{
    float from = float_of(bits);
    uint16_t to;

    lade_convert_half(&from, &to, 1);
    return to;
}

Test(half, known_values)
{
    static const struct {
        float from;
        uint16_t to;
    } known[] = {
        {0, 0},
        {-0.0f, 0x8000},
        {1, 0x3c00},
        {-2, 0xc000},
        {0.5f, 0x3800},
        {65504, 0x7bff},       /* the largest */
        {65519.996f, 0x7bff},  /* nearer to it than to 2^16 */
        {65520, 0x7c00},       /* halfway */
        {INFINITY, 0x7c00},    /* */
        {-INFINITY, 0xfc00},   /* */
        {0x1p-14f, 0x0400},    /* the smallest normal half */
        {0x1p-24f, 0x0001},    /* the smallest */
        {0x1p-25f, 0x0000},    /* halfway to zero, which is even */
        {0x1.8p-24f, 0x0002},  /* halfway to 2 * 2^-24, which is even */
        {2049, 0x6800},        /* halfway between 2048 and 2050 */
        {2051, 0x6802},        /* halfway between 2050 and 2052 */
        {0x1.ffep-15f, 0x0400} /* halfway between the largest denormal half and 2^-14 */
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_assert_eq(half(bits_of(known[i].from)), known[i].to, "%a", (double)known[i].from);
    cr_assert_eq(half(0x7fc00000), 0x7e00);
    cr_assert_eq(half(0xff800001), 0xfe00, "a signalling one becomes quiet");
}

Test(half, each_half_and_each_value_where_the_result_changes)
{
    for (uint32_t h = 0; h < HALF_INFINITY; h++) {
        float here = (float)half_value(h), next = (float)half_value(h + 1), middle = here + (next - here) / 2;
        uint32_t at = bits_of(middle), even = h % 2 == 0 ? h : h + 1;
        cr_assert(half(bits_of(here)) == h && half(at - 1) == h && half(at) == even && half(at + 1) == h + 1);
        cr_assert(half(bits_of(here) | 0x80000000) == (h | 0x8000) && half((at - 1) | 0x80000000) == (h | 0x8000));
        cr_assert(half(at | 0x80000000) == (even | 0x8000) && half((at + 1) | 0x80000000) == ((h + 1) | 0x8000));
    }
}

Test(half, no_number_stays_none)
{
    for (uint32_t h = 0x7c01; h < 0x8000; h++) {
        uint32_t bits = 0x7f800000 | (h & 0x3ff) << 13;
        cr_assert_eq(half(bits), h | 0x200);
        cr_assert_eq(half(bits | 0x80000fff), h | 0x8200);
    }
}

/* Floats with bits first to last - 1, of both signs, in steps: all give this half. */
static void all_give(uint32_t first, uint32_t last, uint32_t step, uint16_t expected)
{
    enum { TOGETHER = 1 << 12 };
    static float from[2 * TOGETHER];
    static uint16_t to[2 * TOGETHER];

    while (first < last) {
        uint32_t n = 0;
        while (n < TOGETHER && first < last) {
            from[n] = float_of(first);
            from[TOGETHER + n++] = float_of(first | 0x80000000);
            first = last - first > step ? first + step : last;
        }
        lade_convert_half(from, to, n);
        lade_convert_half(from + TOGETHER, to + TOGETHER, n);
        for (uint32_t i = 0; i < n; i++)
            cr_assert(to[i] == expected && to[TOGETHER + i] == (expected | 0x8000), "%a", (double)from[i]);
    }
}

/* The floats nearest to a half form a range. With LADE_FULL all are tested, else every 61st. */
Test(half, all_floats)
{
    const char *full = getenv("LADE_FULL");
    uint32_t step = full && *full ? 1 : 61, first = 0;

    for (uint32_t h = 0; h < HALF_INFINITY; h++) {
        float here = (float)half_value(h), next = (float)half_value(h + 1);
        uint32_t last = bits_of(here + (next - here) / 2) + (h % 2 == 0);
        all_give(first, last, step, (uint16_t)h);
        first = last;
    }
    all_give(first, 0x7f800001, step, HALF_INFINITY);
    for (uint32_t payload = 0; payload < 0x400; payload++) {
        first = 0x7f800000 + (payload << 13);
        all_give(payload == 0 ? first + 1 : first, first + 0x2000, step, (uint16_t)(0x7e00 | payload));
    }
}

static const double mean[] = {0.485, 0.456, 0.406, 0, -3.25}, deviation[] = {0.229, 0.224, 0.225, 1, 0.0625};

/* The output of a pipeline's steps for an image. */
static void by_steps(const uint8_t *from, float *to, uint32_t height, uint32_t width, uint32_t channels, double scale)
{
    struct lade_pipeline *p;
    float *scratch = malloc((size_t)height * width * channels * sizeof *scratch + 256);

    cr_assert_eq(lade_pipeline_create(&p, &(struct lade_image){LADE_U8, LADE_HWC, height, width, channels}, NULL),
                 LADE_OK);
    cr_assert_eq(lade_pipeline_normalise(p, scale, mean, deviation), LADE_OK);
    cr_assert_eq(lade_pipeline_layout(p, LADE_CHW), LADE_OK);
    cr_assert_eq(lade_pipeline_run(p, &(struct lade_rng_context){1, 2, 3}, from, to, scratch, NULL), LADE_OK);
    lade_pipeline_destroy(p);
    free(scratch);
}

static void compare(uint32_t images, uint32_t height, uint32_t width, uint32_t channels, double scale)
{
    uint32_t pixels = height * width;
    size_t each = (size_t)pixels * channels, all = each * images;
    uint8_t *from = malloc(all);
    float *to = malloc(all * sizeof *to + 1), *expected = malloc(each * sizeof *expected), table[10];
    uint16_t *halves = malloc(all * sizeof *halves + 1);

    for (size_t i = 0; i < all; i++)
        from[i] = (uint8_t)(i * 37 + i / 256 * 11);
    ((uint8_t *)to)[all * sizeof *to] = ((uint8_t *)halves)[all * sizeof *halves] = 0xee;
    cr_assert_eq(lade_convert_table(table, channels, scale, mean, deviation), LADE_OK);
    lade_convert_f32(from, to, table, images, pixels, channels);
    lade_convert_f16(from, halves, table, images, pixels, channels);
    for (uint32_t n = 0; n < images; n++) {
        by_steps(from + n * each, expected, height, width, channels, scale);
        cr_assert_arr_eq(to + n * each, expected, each * sizeof *expected);
        for (size_t i = 0; i < each; i++)
            cr_assert_eq(halves[n * each + i], half_nearest(expected[i]));
    }
    cr_assert_eq(((uint8_t *)to)[all * sizeof *to], 0xee, "no byte behind the numbers is written");
    cr_assert_eq(((uint8_t *)halves)[all * sizeof *halves], 0xee);
    free(from);
    free(to);
    free(expected);
    free(halves);
}

Test(image, as_the_steps_of_a_pipeline)
{
    compare(1, 16, 16, 1, 1.0 / 255);
    compare(2, 32, 32, 3, 1.0 / 255);
    compare(3, 7, 5, 4, 1);
    compare(1, 64, 37, 5, 1e-39); /* products that are denormal */
    compare(4, 1, 1, 2, 1000);    /* halves that are infinite */
}

/* If product and sum were fused, the comparison above would fail: some of its numbers differ. */
Test(image, numbers_that_distinguish_one_rounding_from_two)
{
    float table[10];
    unsigned differ = 0;

    cr_assert_eq(lade_convert_table(table, 5, 1.0 / 255, mean, deviation), LADE_OK);
    for (int c = 0; c < 3; c++)
        for (int x = 0; x < 256; x++) {
            volatile float product = (float)x * table[c];
            differ += product + table[5 + c] != fmaf((float)x, table[c], table[5 + c]);
        }
    cr_assert_gt(differ, 100);
}

Test(table, refuses_what_makes_no_sense)
{
    float table[4];

    cr_assert_eq(lade_convert_table(table, 0, 1, mean, deviation), LADE_INVALID);
    cr_assert_eq(lade_convert_table(table, 2, 1, mean, (double[]){1, 0}), LADE_INVALID);
    cr_assert_eq(lade_convert_table(table, 2, 1, mean, (double[]){NAN, 1}), LADE_INVALID);
}

/* A converter and its backend's part; each fails once, and both are freed. */
Test(converter, memory_of_an_allocator)
{
    static const float table[2] = {2, 1};
    const uint8_t from[4] = {0, 1, 2, 3};
    const struct lade_shape shape = {LADE_U8, 2, {1, 4}};
    const struct lade_tensor tensor = {.data = (void *)(uintptr_t)from, .shape = &shape};
    struct lade_error error;
    float to[4];

    for (int n = 1; n <= 3; n++) {
        struct failing f = {.fail_at = n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_converter *c = NULL;
        const struct lade_converter_config config = {
            .pixels = 4, .channels = 1, .dtype = LADE_F32, .table = table, .alloc = &alloc};
        cr_assert_eq(lade_converter_create(&c, &config, &error), n < 3 ? LADE_NO_MEMORY : LADE_OK);
        cr_assert_eq(c != NULL, n == 3);
        cr_assert_eq(f.live, n < 3 ? 0 : 2);
        if (c)
            cr_assert(lade_converter_run(c, &tensor, to, NULL, &error) == LADE_OK && to[3] == 7);
        lade_converter_destroy(c);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
    }
}
