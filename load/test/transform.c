/* SPDX-License-Identifier: MIT */
/* Expected values are computed by hand, or, if random, by an independent implementation. */
#include <lade/transform.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct lade_rng_context rng = {1, 2, 0};

static struct lade_pipeline *made(enum lade_dtype dtype, enum lade_layout layout, uint32_t h, uint32_t w, uint32_t c)
{
    struct lade_pipeline *p;

    cr_assert_eq(lade_pipeline_create(&p, &(struct lade_image){dtype, layout, h, w, c}, NULL), LADE_OK);
    return p;
}

/* Runs p, checks the output bytes, and destroys it. */
static void gives(struct lade_pipeline *p, const void *from, const void *expected)
{
    _Alignas(8) static uint8_t to[4096], scratch[8192];
    size_t bytes = lade_image_bytes(lade_pipeline_output(p)), needed = lade_pipeline_scratch(p);

    cr_assert(bytes < sizeof to && needed < sizeof scratch);
    memset(to, 0xee, sizeof to);
    memset(scratch, 0xdd, sizeof scratch);
    cr_assert_eq(lade_pipeline_run(p, &rng, from, to, scratch, NULL), LADE_OK);
    cr_assert_arr_eq(to, expected, bytes);
    cr_assert_eq(to[bytes], 0xee, "no byte behind the image is written");
    cr_assert_eq(scratch[needed], 0xdd, "nor behind the scratch");
    lade_pipeline_destroy(p);
}

Test(pipeline, without_steps_copies)
{
    gives(made(LADE_U8, LADE_HWC, 1, 2, 3), "abcdef", "abcdef");
}

Test(resize, to_double_width)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 2, 1);

    cr_assert_eq(lade_pipeline_resize(p, 1, 4), LADE_OK);
    /* Positions -1/4, 1/4, 3/4, 5/4: 0, 25, 75, 100. */
    gives(p, (uint8_t[]){0, 100}, (uint8_t[]){0, 25, 75, 100});
}

Test(resize, rounds_halves_up)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 2, 2, 1);

    cr_assert_eq(lade_pipeline_resize(p, 1, 1), LADE_OK);
    gives(p, (uint8_t[]){1, 2, 2, 1}, (uint8_t[]){2}); /* 1.5 */
    p = made(LADE_U8, LADE_HWC, 2, 2, 1);
    cr_assert_eq(lade_pipeline_resize(p, 1, 1), LADE_OK);
    gives(p, (uint8_t[]){1, 1, 2, 1}, (uint8_t[]){1}); /* 1.25 */
    p = made(LADE_U8, LADE_HWC, 2, 2, 1);
    cr_assert_eq(lade_pipeline_resize(p, 3, 3), LADE_OK);
    gives(p, (uint8_t[]){255, 255, 255, 255}, (uint8_t[]){255, 255, 255, 255, 255, 255, 255, 255, 255});
}

/* 3 to 2: positions 1/4 and 7/4, so 3/4 a + 1/4 b and 1/4 b + 3/4 c; rows first, then columns. */
Test(resize, both_ways_and_both_layouts)
{
    static const uint8_t planes[18] = {0, 40, 80, 0, 40, 80, 0, 40, 80, 8, 8, 8, 16, 16, 16, 24, 24, 24};
    static const uint8_t planes_out[8] = {10, 70, 10, 70, 10, 10, 22, 22};
    static const uint8_t pixels[18] = {0, 8, 40, 8, 80, 8, 0, 16, 40, 16, 80, 16, 0, 24, 40, 24, 80, 24};
    static const uint8_t pixels_out[8] = {10, 10, 70, 10, 10, 22, 70, 22};
    struct lade_pipeline *p = made(LADE_U8, LADE_CHW, 3, 3, 2);

    cr_assert_eq(lade_pipeline_resize(p, 2, 2), LADE_OK);
    gives(p, planes, planes_out);
    p = made(LADE_U8, LADE_HWC, 3, 3, 2);
    cr_assert_eq(lade_pipeline_resize(p, 2, 2), LADE_OK);
    gives(p, pixels, pixels_out);
}

Test(resize, floats)
{
    struct lade_pipeline *p = made(LADE_F32, LADE_CHW, 2, 2, 1);

    cr_assert_eq(lade_pipeline_resize(p, 1, 4), LADE_OK);
    /* The two rows halved: 1, -3; then positions as above. */
    gives(p, (float[]){0, -4, 2, -2}, (float[]){1, 0, -2, -3});
}

static const uint8_t grid[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; /* 3 x 4 */

Test(crop, rectangle_and_centre)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 3, 4, 1);

    cr_assert_eq(lade_pipeline_crop(p, 1, 2, 2, 2), LADE_OK);
    gives(p, grid, (uint8_t[]){7, 8, 11, 12});
    p = made(LADE_U8, LADE_HWC, 3, 4, 1);
    cr_assert_eq(lade_pipeline_crop_centre(p, 2, 2), LADE_OK);
    gives(p, grid, (uint8_t[]){2, 3, 6, 7});
    p = made(LADE_U8, LADE_CHW, 2, 2, 3);
    cr_assert_eq(lade_pipeline_crop(p, 0, 1, 2, 1), LADE_OK);
    gives(p, grid, (uint8_t[]){2, 4, 6, 8, 10, 12});
    p = made(LADE_U8, LADE_HWC, 2, 2, 3);
    cr_assert_eq(lade_pipeline_crop(p, 0, 1, 2, 1), LADE_OK);
    gives(p, grid, (uint8_t[]){4, 5, 6, 10, 11, 12});
    p = made(LADE_U8, LADE_HWC, 3, 4, 1);
    cr_assert_eq(lade_pipeline_crop(p, 2, 0, 2, 2), LADE_INVALID);
    cr_assert_eq(lade_pipeline_crop(p, 0, UINT32_MAX, 2, 2), LADE_INVALID);
    cr_assert_eq(lade_pipeline_crop(p, 0, 0, 0, 2), LADE_INVALID);
    cr_assert_eq(lade_pipeline_crop_centre(p, 4, 2), LADE_INVALID);
    lade_pipeline_destroy(p);
}

/* The positions of the crop for seed 1, epoch 2 and ids 0 to 31 among 9 x 9, computed independently. */
Test(crop, random_places)
{
    static const int places[32][2] = {{2, 4}, {1, 0}, {1, 1}, {4, 2}, {7, 2}, {4, 0}, {4, 4}, {1, 3},
                                      {6, 1}, {6, 2}, {1, 0}, {5, 7}, {2, 8}, {3, 5}, {4, 0}, {8, 3},
                                      {4, 7}, {8, 4}, {8, 6}, {1, 6}, {3, 0}, {6, 1}, {7, 8}, {0, 6},
                                      {0, 5}, {8, 4}, {3, 5}, {1, 4}, {2, 2}, {6, 8}, {7, 7}, {1, 2}};
    struct lade_pipeline *p = made(LADE_U8, LADE_CHW, 32, 32, 1);
    static uint8_t from[32 * 32], to[32 * 32];

    for (int i = 0; i < 32 * 32; i++)
        from[i] = (uint8_t)(1 + i % 251);
    cr_assert_eq(lade_pipeline_crop_random(p, 4, 32, 32), LADE_OK);
    for (uint64_t id = 0; id < 32; id++) {
        cr_assert_eq(lade_pipeline_run(p, &(struct lade_rng_context){1, 2, id}, from, to, NULL, NULL), LADE_OK);
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 32; x++) {
                int row = y + places[id][0] - 4, column = x + places[id][1] - 4;
                bool inside = row >= 0 && row < 32 && column >= 0 && column < 32;
                cr_assert_eq(to[32 * y + x], inside ? from[32 * row + column] : 0, "id %d at %d, %d", (int)id, y, x);
            }
    }
    cr_assert_eq(lade_pipeline_crop_random(p, 4, 41, 32), LADE_INVALID);
    cr_assert_eq(lade_pipeline_crop_random(p, UINT32_MAX, 32, 32), LADE_INVALID);
    lade_pipeline_destroy(p);
}

/* A window completely inside the padding is zero, with pixels of several bytes as well. */
Test(crop, far_outside)
{
    struct lade_pipeline *p = made(LADE_F32, LADE_HWC, 1, 1, 2);
    float from[2] = {1, 2}, to[2];
    int seen = 0;

    cr_assert_eq(lade_pipeline_crop_random(p, 2, 1, 1), LADE_OK);
    for (uint64_t id = 0; id < 200; id++) {
        cr_assert_eq(lade_pipeline_run(p, &(struct lade_rng_context){1, 1, id}, from, to, NULL, NULL), LADE_OK);
        cr_assert((to[0] == 0 && to[1] == 0) || (to[0] == 1 && to[1] == 2));
        seen += to[0] == 1;
    }
    /* 200 tries at 1/25: 8 expected, standard deviation 2.8. */
    cr_assert(seen > 0 && seen < 25, "%d", seen);
    lade_pipeline_destroy(p);
}

/*
 * For seed 1 and epoch 2 the first step flips the ids 3, 4 and 5 of 0 to 5, the second 0 to 4; computed independently.
 */
Test(flip, half_of_the_samples)
{
    static const bool first[6] = {0, 0, 0, 1, 1, 1}, second[6] = {1, 1, 1, 1, 1, 0};
    struct lade_pipeline *one = made(LADE_U8, LADE_HWC, 1, 3, 2), *two = made(LADE_U8, LADE_HWC, 1, 3, 2);
    char to[6], scratch[64];

    cr_assert_eq(lade_pipeline_flip(one), LADE_OK);
    cr_assert_eq(lade_pipeline_layout(two, LADE_HWC), LADE_OK);
    cr_assert_eq(lade_pipeline_flip(two), LADE_OK);
    for (uint64_t id = 0; id < 6; id++) {
        const struct lade_rng_context d = {1, 2, id};
        cr_assert_eq(lade_pipeline_run(one, &d, "aAbBcC", to, NULL, NULL), LADE_OK);
        cr_assert_arr_eq(to, first[id] ? "cCbBaA" : "aAbBcC", 6);
        cr_assert_eq(lade_pipeline_run(two, &d, "aAbBcC", to, scratch, NULL), LADE_OK);
        cr_assert_arr_eq(to, second[id] ? "cCbBaA" : "aAbBcC", 6);
    }
    lade_pipeline_destroy(one);
    lade_pipeline_destroy(two);
}

Test(flip, planes)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_CHW, 1, 3, 2);
    char to[6];

    cr_assert_eq(lade_pipeline_flip(p), LADE_OK);
    cr_assert_eq(lade_pipeline_run(p, &(struct lade_rng_context){1, 2, 3}, "abcABC", to, NULL, NULL), LADE_OK);
    cr_assert_arr_eq(to, "cbaCBA", 6);
    lade_pipeline_destroy(p);
}

Test(normalise, both_types_and_layouts)
{
    static const double mean[2] = {0.5, 1}, deviation[2] = {0.25, 2};
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 2, 2);

    /* (x / 4 - mean) / deviation: (x - 2) for the first channel, (x / 8 - 1/2) for the second. */
    cr_assert_eq(lade_pipeline_normalise(p, 0.25, mean, deviation), LADE_OK);
    cr_assert_eq(lade_pipeline_output(p)->dtype, LADE_F32);
    gives(p, (uint8_t[]){0, 4, 255, 8}, (float[]){-2, 0, 253, 0.5f});
    p = made(LADE_F32, LADE_CHW, 1, 2, 2);
    cr_assert_eq(lade_pipeline_normalise(p, 0.25, mean, deviation), LADE_OK);
    gives(p, (float[]){0, 255, 4, 8}, (float[]){-2, 253, 0, 0.5f});
    p = made(LADE_U8, LADE_HWC, 1, 1, 1);
    cr_assert_eq(lade_pipeline_normalise(p, 1, mean, (double[]){0}), LADE_INVALID);
    cr_assert_eq(lade_pipeline_normalise(p, 1, mean, (double[]){NAN}), LADE_INVALID);
    lade_pipeline_destroy(p);
}

Test(cast, there_and_back)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 4, 1);

    cr_assert_eq(lade_pipeline_cast(p, LADE_F32, 0.5f), LADE_OK);
    gives(p, (uint8_t[]){0, 1, 3, 255}, (float[]){0, 0.5f, 1.5f, 127.5f});
    p = made(LADE_F32, LADE_HWC, 1, 8, 1);
    cr_assert_eq(lade_pipeline_cast(p, LADE_U8, 2), LADE_OK);
    gives(p, (float[]){0.2f, 0.25f, -1, NAN, 127.6f, 1e30f, -INFINITY, 0.75f}, (uint8_t[]){0, 1, 0, 0, 255, 255, 0, 2});
    p = made(LADE_U8, LADE_HWC, 1, 1, 1);
    cr_assert_eq(lade_pipeline_cast(p, LADE_F64, 1), LADE_INVALID);
    lade_pipeline_destroy(p);
}

Test(layout, there_and_back)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 2, 3);

    cr_assert_eq(lade_pipeline_layout(p, LADE_CHW), LADE_OK);
    cr_assert_eq(lade_pipeline_output(p)->layout, LADE_CHW);
    gives(p, "abcdef", "adbecf");
    p = made(LADE_U8, LADE_CHW, 1, 2, 3);
    cr_assert_eq(lade_pipeline_layout(p, LADE_HWC), LADE_OK);
    gives(p, "adbecf", "abcdef");
    p = made(LADE_F32, LADE_HWC, 1, 2, 2);
    cr_assert_eq(lade_pipeline_layout(p, LADE_CHW), LADE_OK);
    gives(p, (float[]){1, 2, 3, 4}, (float[]){1, 3, 2, 4});
    p = made(LADE_U8, LADE_HWC, 1, 1, 1);
    cr_assert_eq(lade_pipeline_layout(p, (enum lade_layout)7), LADE_INVALID);
    lade_pipeline_destroy(p);
}

static int first_pixel(void *context, const struct lade_image *in, const void *from, const struct lade_image *out,
                       void *to, struct lade_random *random, struct lade_error *error)
{
    if (in->height != 1 || out->width != 1)
        return LADE_INVALID;
    *(uint64_t *)context = lade_random_word(random);
    memcpy(to, from, 2);
    if (*(const char *)from != 'x' && *(const char *)from != 'y')
        return LADE_RELEASED;
    if (*(const char *)from == 'x')
        (void)snprintf(error->text, sizeof error->text, "x is not wanted");
    return LADE_DAMAGED;
}

/* The function gets the words of its step: those from 2^20 on for the second. */
Test(call, a_user_callback)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 3, 2);
    const struct lade_image out = {LADE_U8, LADE_HWC, 1, 1, 2};
    uint64_t word = 0;
    char to[2], scratch[64];

    cr_assert_eq(lade_pipeline_layout(p, LADE_HWC), LADE_OK);
    cr_assert_eq(lade_pipeline_call(p, first_pixel, &word, &out), LADE_OK);
    cr_assert_eq(lade_pipeline_run(p, &rng, "abcdef", to, scratch, NULL), LADE_OK);
    cr_assert_arr_eq(to, "ab", 2);
    cr_assert_eq(word, UINT64_C(0xfdfd951b811731c2));
    struct lade_error error = {.text = "unchanged"};
    cr_assert_eq(lade_pipeline_run(p, &rng, "abcdef", to, scratch, &error), LADE_OK);
    cr_assert_str_eq(error.text, "unchanged");
    cr_assert_eq(lade_pipeline_run(p, &rng, "xbcdef", to, scratch, NULL), LADE_DAMAGED);
    cr_assert_eq(lade_pipeline_run(p, &rng, "xbcdef", to, scratch, &error), LADE_DAMAGED);
    cr_assert_eq(error.status, LADE_DAMAGED);
    cr_assert_str_eq(error.text, "a transform failed: x is not wanted");
    cr_assert_eq(lade_pipeline_run(p, &rng, "ybcdef", to, scratch, &error), LADE_DAMAGED);
    cr_assert_str_eq(error.text, "a transform failed: damaged data");
    cr_assert_eq(lade_pipeline_call(p, NULL, NULL, &out), LADE_INVALID);
    lade_pipeline_destroy(p);
}

/*
 * Steps of different sizes, so that both scratch buffers are used: 2 x 2 in two planes, flipped, to pixels, scaled,
 * cut.
 */
Test(pipeline, several_steps_in_order)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_CHW, 1, 2, 2);

    cr_assert_eq(lade_pipeline_layout(p, LADE_HWC), LADE_OK);  /* (0, 8), (100, 16) */
    cr_assert_eq(lade_pipeline_resize(p, 2, 4), LADE_OK);      /* (0, 8), (25, 10), (75, 14), (100, 16), twice */
    cr_assert_eq(lade_pipeline_crop(p, 1, 1, 1, 2), LADE_OK);  /* (25, 10), (75, 14) */
    cr_assert_eq(lade_pipeline_cast(p, LADE_F32, 2), LADE_OK); /* (50, 20), (150, 28) */
    cr_assert_eq(lade_pipeline_layout(p, LADE_CHW), LADE_OK);  /* 50, 150, 20, 28 */
    cr_assert_eq(lade_pipeline_scratch(p), 2 * 64);
    gives(p, (uint8_t[]){0, 100, 8, 16}, (float[]){50, 150, 20, 28});
}

Test(pipeline, limits)
{
    struct lade_pipeline *p;
    struct lade_image image = {LADE_U8, LADE_HWC, 16384, 16384, 9};

    cr_assert_eq(lade_pipeline_create(&p, &image, NULL), LADE_INVALID);
    cr_assert_null(p);
    image.channels = 8;
    cr_assert_eq(lade_image_bytes(&image), (size_t)1 << 31);
    image.height = 16385;
    cr_assert_eq(lade_image_bytes(&image), 0);
    lade_pipeline_destroy(NULL);
    p = made(LADE_U8, LADE_HWC, 1, 1, 1);
    cr_assert_eq(lade_pipeline_resize(p, 0, 5), LADE_INVALID);
    cr_assert_eq(lade_pipeline_resize(p, 99999, 5), LADE_INVALID);
    for (int i = 0; i < 32; i++)
        cr_assert_eq(lade_pipeline_flip(p), LADE_OK);
    cr_assert_eq(lade_pipeline_flip(p), LADE_INVALID);
    cr_assert_eq(lade_pipeline_resize(p, 2, 2), LADE_INVALID);
    lade_pipeline_destroy(p);
}

/* Other seeds, epochs and ids draw other numbers: each of the three alone changes a sequence of 64 flips. */
Test(pipeline, draws_depend_on_seed_epoch_and_id)
{
    struct lade_pipeline *p = made(LADE_U8, LADE_HWC, 1, 2, 1);
    uint64_t flips[4] = {0};
    char to[2];

    cr_assert_eq(lade_pipeline_flip(p), LADE_OK);
    for (uint64_t i = 0; i < 64; i++) {
        const struct lade_rng_context d[4] = {{1, 1, i}, {2, 1, i}, {1, 2, i}, {1, 1, i + 64}};
        for (int k = 0; k < 4; k++) {
            cr_assert_eq(lade_pipeline_run(p, &d[k], "ab", to, NULL, NULL), LADE_OK);
            flips[k] |= (uint64_t)(to[0] == 'b') << i;
        }
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            cr_assert_neq(flips[a], flips[b]);
    lade_pipeline_destroy(p);
}
