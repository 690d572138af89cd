/* SPDX-License-Identifier: MIT */
/* The tests of an audit against known values. */
#include <lade/split.h>

#include <criterion/criterion.h>
#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* p-values: erfc(sqrt(x / 2)) for one degree of freedom, exp(-x / 2) for two. */
Test(split_audit, known_values)
{
    struct lade_split_tests a;

    cr_assert_eq(lade_split_audit((uint64_t[]){10, 20, 30, 40}, 2, 2, NULL, &a), LADE_OK);
    cr_assert(is_near(a.classes, 0.79365079365079361) && a.classes_df == 1);
    cr_assert(is_near(a.classes_p, 0.37299848361348717));
    cr_assert(is_near(a.shares, 4) && a.shares_df == 1 && is_near(a.shares_p, 0.045500263896358417));
    cr_assert(is_near(a.least, 12));
    cr_assert_eq(lade_split_audit((uint64_t[]){70, 20, 10}, 1, 3, (uint32_t[]){6, 2, 2}, &a), LADE_OK);
    cr_assert(is_near(a.shares, 100.0 / 60 + 5) && a.shares_df == 2 && is_near(a.shares_p, exp(-(100.0 / 60 + 5) / 2)));
    cr_assert(a.classes_df == 0 && a.classes_p == 1);
    /* far out, where the continued fraction works */
    cr_assert_eq(lade_split_audit((uint64_t[]){600, 400, 0}, 1, 3, (uint32_t[]){1, 1, 0}, &a), LADE_OK);
    cr_assert(a.shares_df == 1 && is_near(a.shares_p, erfc(sqrt(20.0))));
}

Test(split_audit, what_is_empty_is_left_out)
{
    struct lade_split_tests a;

    cr_assert_eq(lade_split_audit((uint64_t[]){10, 0, 20, 0, 0, 0, 30, 0, 40}, 3, 3, (uint32_t[]){1, 0, 1}, &a),
                 LADE_OK);
    cr_assert(is_near(a.classes_p, 0.37299848361348717) && a.classes_df == 1 && a.shares_df == 1);
    cr_assert_eq(lade_split_audit((uint64_t[]){1, 1, 0, 0}, 2, 2, (uint32_t[]){1, 0}, &a), LADE_OK);
    cr_assert_eq(a.shares_p, 0); /* there is something in a part of weight 0 */
    cr_assert_eq(lade_split_audit((uint64_t[]){0, 0}, 1, 2, NULL, &a), LADE_OK);
    cr_assert(a.shares_p == 1 && a.classes_p == 1 && a.least == 0);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 0, 1, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 1, 0, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 1, 256, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit(NULL, 1, 1, NULL, &a), LADE_INVALID);
}
