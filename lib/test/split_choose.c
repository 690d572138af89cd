/* SPDX-License-Identifier: MIT */
/* How a part is chosen, without anything recorded. */
#include "splits.h"

#include "../split.h"

#include <math.h>

TestSuite(split_choose, .init = begin, .fini = end);

static const struct lade_split_sip sip = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

/*
 * The first is from the reference output of SipHash's authors, the second from OpenSSL: both with the key 00 01 ... 0f.
 */
Test(split_choose, the_hash_is_siphash)
{
    struct lade_split_name a, b;

    lade_split_sip(&sip, "", 0, &a);
    lade_split_sip(&sip, "hello, world! 12345", 19, &b);
    cr_assert(a.low == UINT64_C(0xe6a825ba047f81a3) && a.high == UINT64_C(0x930255c71472f66d));
    cr_assert(b.low == UINT64_C(0x81c18d3634e43da4) && b.high == UINT64_C(0xae4198d39fc2c59a));
}

static double log_of(const struct lade_split_logs *logs, uint64_t word)
{
    return (double)lade_split_minus_log(logs, word) * 0x1p-57;
}

Test(split_choose, logarithms_are_right)
{
    static struct lade_split_logs logs;
    uint64_t word = 1;

    lade_split_make_logs(&logs);
    for (int i = 0; i < 64; i++)
        cr_assert(fabs(log_of(&logs, UINT64_C(1) << i | (i > 0)) - (64 - log2(ldexp(1, i) + (i > 0)))) < 0x1p-40);
    cr_assert(fabs(log_of(&logs, 0) - 64) < 0x1p-40);
    cr_assert(log_of(&logs, UINT64_MAX) < 0x1p-40);
    for (int i = 0; i < 1000000; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t sample = word >> (i % 60);
        /* log2() of a rounded argument is off by 2^-52 */
        cr_assert(fabs(log_of(&logs, sample) - (64 - log2((double)(sample | 1)))) < 0x1p-40);
    }
}

static struct lade_split *pure(unsigned parts, const uint32_t *weights)
{
    return make((struct lade_split_config){.parts = parts, .weights = weights, .store = LADE_SPLIT_PURE, .seed = 5});
}

/*
 * These must never change: otherwise a file and a program, or two machines, would disagree. Another program computed
 * the same.
 */
Test(split_choose, parts_are_as_agreed)
{
    const uint32_t weights[] = {7, 2, 1, 0, 4000000000};
    struct lade_split *hash = pure(3, weights);
    struct lade_split *wide = pure(5, weights);
    struct lade_split *coin =
        make((struct lade_split_config){.parts = 3, .weights = weights, .rule = LADE_SPLIT_COIN, .seed = 5});
    char text[3][65] = {{0}};

    for (uint64_t i = 0; i < 64; i++) {
        text[0][i] = (char)('0' + part_of_word(hash, i));
        text[1][i] = (char)('0' + part_of_word(coin, i));
        text[2][i] = (char)('0' + part_of_word(wide, i));
    }
    cr_assert_str_eq(text[0], "0221100000100200020112010112001020000000012110001102000012002000", "%s", text[0]);
    cr_assert_str_eq(text[1], "2102100002000020100000000101010000010001002200000110010000001120", "%s", text[1]);
    cr_assert_str_eq(text[2], "4444444444444444444444444444444444444444444444444444444444444444", "%s", text[2]);
    lade_split_destroy(hash);
    lade_split_destroy(wide);
    lade_split_destroy(coin);
}

Test(split_choose, a_weight_moves_only_what_it_must)
{
    struct lade_split *before = pure(3, (uint32_t[]){5, 3, 2}), *more = pure(3, (uint32_t[]){5, 4, 2}),
                      *fourth = pure(4, (uint32_t[]){5, 3, 2, 1}), *doubled = pure(3, (uint32_t[]){10, 6, 4}),
                      *none = pure(3, (uint32_t[]){5, 3, 0});
    unsigned to_more = 0, to_fourth = 0, from_none = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        unsigned part = part_of_word(before, i);
        cr_assert(part_of_word(more, i) == part || part_of_word(more, i) == 1);
        cr_assert(part_of_word(fourth, i) == part || part_of_word(fourth, i) == 3);
        cr_assert(part_of_word(none, i) == part || part == 2);
        cr_assert_eq(part_of_word(doubled, i), part);
        to_more += part_of_word(more, i) != part;
        to_fourth += part_of_word(fourth, i) != part;
        from_none += part_of_word(none, i) != part;
    }
    /* 4/11 - 3/10, 1/11 and 1/5 of them, within six deviations */
    cr_assert(to_more > 1273 - 210 && to_more < 1273 + 210);
    cr_assert(to_fourth > 1818 - 245 && to_fourth < 1818 + 245);
    cr_assert(from_none > 4000 - 340 && from_none < 4000 + 340);
    lade_split_destroy(before);
    lade_split_destroy(more);
    lade_split_destroy(fourth);
    lade_split_destroy(doubled);
    lade_split_destroy(none);
}

Test(split_choose, all_parts_are_reached)
{
    struct lade_split *s = pure(LADE_SPLIT_PARTS_MAX, NULL);
    unsigned count[LADE_SPLIT_PARTS_MAX] = {0};

    for (uint64_t i = 0; i < 51000; i++)
        count[part_of_word(s, i)]++;
    for (unsigned i = 0; i < LADE_SPLIT_PARTS_MAX; i++)
        cr_assert(count[i] > 100 && count[i] < 300, "part %u has %u of 200", i, count[i]);
    lade_split_destroy(s);
}

Test(split_choose, a_group_or_content_decides)
{
    struct lade_split *s = pure(200, NULL);

    cr_assert_eq(part_of(s, "a", "g", NULL), part_of(s, "b", "g", NULL));
    cr_assert_eq(part_of(s, "a", NULL, "c"), part_of(s, "b", NULL, "c"));
    cr_assert_neq(part_of(s, "x", "g", NULL), part_of(s, "g", NULL, NULL)); /* a group is not a key of that name */
    cr_assert_eq(route(s, "a", "g", "c"), LADE_INVALID);
    cr_assert_eq(route(s, NULL, "g", NULL), LADE_INVALID);
    cr_assert_eq(pin(s, "a", NULL, NULL, 0), LADE_INVALID);
    lade_split_destroy(s);
}

Test(split_choose, seeds_have_nothing_to_do_with_each_other)
{
    struct lade_split *a = make((struct lade_split_config){.parts = 2, .store = LADE_SPLIT_PURE, .seed = 0});
    struct lade_split *b = make((struct lade_split_config){.parts = 2, .store = LADE_SPLIT_PURE, .seed = 1});
    unsigned same = 0;

    for (uint64_t i = 0; i < 10000; i++)
        same += part_of_word(a, i) == part_of_word(b, i);
    cr_assert(same > 4700 && same < 5300);
    lade_split_destroy(a);
    lade_split_destroy(b);
}

Test(split_choose, folds_are_apart_from_parts)
{
    struct lade_split *s = pure(2, NULL);
    unsigned count[2][5] = {{0}}, fold = 0, other = 1;

    for (uint64_t i = 0; i < 10000; i++) {
        struct lade_split_item it = {.key = &i, .key_size = sizeof i};
        unsigned part = NONE;
        cr_assert_eq(lade_split_fold(s, &it, 5, &fold), LADE_OK);
        cr_assert_eq(lade_split_route(s, &it, &part), LADE_OK);
        count[part][fold]++;
    }
    for (int i = 0; i < 10; i++)
        cr_assert(count[i / 5][i % 5] > 800 && count[i / 5][i % 5] < 1200);
    struct lade_split_item a = item("a", "g", NULL), b = item("b", "g", NULL), bad = item(NULL, NULL, NULL);
    cr_assert(lade_split_fold(s, &a, 1000, &fold) == LADE_OK && lade_split_fold(s, &b, 1000, &other) == LADE_OK);
    cr_assert_eq(fold, other);
    cr_assert_eq(lade_split_fold(s, &a, 0, &fold), LADE_INVALID);
    cr_assert_eq(lade_split_fold(s, &bad, 5, &fold), LADE_INVALID);
    lade_split_destroy(s);
}

Test(split_choose, shares_add_up)
{
    uint64_t count[LADE_SPLIT_PARTS_MAX];

    cr_assert_eq(lade_split_shares((uint32_t[]){7, 2, 1}, 3, 10, count), LADE_OK);
    cr_assert(count[0] == 7 && count[1] == 2 && count[2] == 1);
    cr_assert_eq(lade_split_shares((uint32_t[]){1, 1, 1}, 3, 11, count), LADE_OK);
    cr_assert(count[0] == 4 && count[1] == 4 && count[2] == 3);
    cr_assert_eq(lade_split_shares((uint32_t[]){8, 2}, 2, 4, count), LADE_OK); /* 3.2, 0.8 */
    cr_assert(count[0] == 3 && count[1] == 1);
    cr_assert_eq(lade_split_shares(NULL, 255, 254, count), LADE_OK);
    cr_assert(count[0] == 1 && count[253] == 1 && count[254] == 0);
    cr_assert_eq(lade_split_shares((uint32_t[]){0, 5}, 2, 7, count), LADE_OK);
    cr_assert(count[0] == 0 && count[1] == 7);
    cr_assert_eq(lade_split_shares((uint32_t[]){0, 0}, 2, 7, count), LADE_INVALID);
    cr_assert_eq(lade_split_shares(NULL, 0, 7, count), LADE_INVALID);
    cr_assert_eq(lade_split_shares(NULL, 256, 7, count), LADE_INVALID);
    cr_assert_eq(lade_split_shares(NULL, 2, UINT64_MAX, count), LADE_INVALID);
}
