/* SPDX-License-Identifier: MIT */
/* The counting of lade feed on batches made up here: what is right passes, and each thing that can be wrong is noticed. */
#include "feed.h"

#include <criterion/criterion.h>

enum { COUNT = 10 }; /* samples of the source; those below 8 are of the part */

static struct tally made(void)
{
    struct tally t = {.expected = 8, .whole = true};

    cr_assert(tally_create(&t, COUNT));
    for (uint64_t i = 0; i < 8; i++)
        tally_member(&t, i);
    return t;
}

static void give(struct tally *t, uint64_t epoch, uint64_t faults, uint64_t count, const uint64_t *ids)
{
    const struct lade_batch batch = {.epoch = epoch, .count = count, .ids = ids, .faults = faults};

    cr_assert(tally_batch(t, &batch, false));
}

#define GIVE(t, epoch, faults, ...)                                                                                    \
    give(t, epoch, faults, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (const uint64_t[]){__VA_ARGS__})

static void ends(struct tally *t, uint64_t missing, uint64_t repeated, uint64_t foreign)
{
    tally_end(t, true);
    cr_assert_eq(t->missing, missing, "%d missing", (int)t->missing);
    cr_assert_eq(t->repeated, repeated, "%d repeated", (int)t->repeated);
    cr_assert_eq(t->foreign, foreign, "%d foreign", (int)t->foreign);
    cr_assert_eq(tally_right(t), missing + repeated + foreign + t->wrong_length == 0);
    tally_free(t);
}

Test(feed_check, all_once)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0);
    GIVE(&t, 1, 0, 1, 2, 3); /* epochs may overlap */
    GIVE(&t, 0, 0, 6, 2, 4, 5);
    GIVE(&t, 1, 0, 7, 6, 5, 4, 0);
    cr_assert_null(t.open, "memory does not grow with the number of epochs");
    ends(&t, 0, 0, 0);
}

Test(feed_check, one_lost)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0, 2, 4, 5);
    ends(&t, 1, 0, 0);
}

Test(feed_check, one_instead_of_another)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0, 2, 4, 5, 5);
    ends(&t, 1, 1, 0);
}

Test(feed_check, one_too_many)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0, 2, 4, 5, 6);
    GIVE(&t, 0, 0, 3);
    tally_end(&t, true);
    cr_assert_not(tally_right(&t));
    tally_free(&t);
}

Test(feed_check, of_another_part)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0, 2, 4, 5, 8);
    ends(&t, 1, 0, 1);
}

Test(feed_check, not_of_the_source)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 3, 1, 7, 0, 2, 4, 5, UINT64_MAX);
    ends(&t, 1, 0, 1);
}

Test(feed_check, an_epoch_that_was_begun_before)
{
    struct tally t = made();
    const struct lade_batch batch = {.epoch = 4, .count = 3, .ids = (const uint64_t[]){1, 2, 3}};

    cr_assert(tally_batch(&t, &batch, true));
    GIVE(&t, 5, 0, 0, 1, 2, 3, 4, 5, 6, 7);
    ends(&t, 0, 0, 0);
}

Test(feed_check, an_end_before_the_end)
{
    struct tally t = made();

    GIVE(&t, 0, 0, 0, 1, 2);
    tally_end(&t, false);
    cr_assert(tally_right(&t));
    tally_free(&t);
}

Test(feed_check, faults_are_excused_and_named)
{
    struct tally skip = made(), other = made();

    skip.fault = LADE_FAULT_SKIP;
    GIVE(&skip, 0, 1, 0, 1, 2, 3, 4, 6, 7);
    cr_assert(skip.suspects == 1 && skip.suspect[0] == 5);
    ends(&skip, 0, 0, 0);
    other.fault = LADE_FAULT_SUBSTITUTE;
    GIVE(&other, 0, 1, 0, 1, 2, 3, 4, 6, 7, 7);
    cr_assert(other.suspects == 1 && other.suspect[0] == 5);
    ends(&other, 0, 0, 0);
}

Test(feed_check, more_is_missing_than_faults_explain)
{
    struct tally t = made();

    t.fault = LADE_FAULT_SKIP;
    GIVE(&t, 0, 1, 0, 1, 2, 3, 4, 6);
    ends(&t, 1, 0, 0);
}

Test(feed_check, the_last_batch_is_dropped)
{
    struct tally t = made();

    t.expected = 6;
    GIVE(&t, 0, 0, 0, 1, 2, 5, 6, 7);
    ends(&t, 0, 0, 0);
}

Test(feed_check, draws_with_replacement)
{
    struct tally t = made(), wrong = made();

    t.repeats = wrong.repeats = true;
    GIVE(&t, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
    ends(&t, 0, 0, 0);
    GIVE(&wrong, 0, 0, 1, 1, 1);
    tally_end(&wrong, true);
    cr_assert_eq(wrong.wrong_length, 5);
    tally_free(&wrong);
}

Test(feed_check, a_stream_mixes_epochs)
{
    struct tally t = made();

    t.mixed = true;
    t.asked = 2;
    GIVE(&t, 0, 0, 0, 0, 1, 2, 3, 4, 5);
    GIVE(&t, 1, 0, 6, 7, 1, 2, 3, 4, 5, 6, 7);
    cr_assert_null(t.open);
    ends(&t, 0, 0, 0);
}

Test(feed_check, a_stream_that_loses_and_repeats)
{
    struct tally t = made(), shorter = made();

    t.mixed = shorter.mixed = true;
    t.asked = shorter.asked = 2;
    GIVE(&t, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7);
    ends(&t, 1, 1, 0);
    GIVE(&shorter, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7);
    ends(&shorter, 8, 0, 0);
}

Test(feed_check, a_curve_keeps_its_shape)
{
    static struct curve c;

    for (unsigned i = 0; i < 100000; i++)
        curve_add(&c, i, 2.0 * i);
    cr_assert(c.points > POINTS / 4 && c.points <= POINTS);
    for (unsigned i = 0; i < c.points; i++) {
        cr_assert(c.y[i] == 2 * c.x[i]);
        cr_assert(c.x[i] == (double)(i * c.every));
    }
    cr_assert(c.x[c.points - 1] > 99000);
}
