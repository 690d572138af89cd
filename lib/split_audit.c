/* SPDX-License-Identifier: MIT */
/* Chi-square tests of the result of a split. */
#include <lade/split.h>

#include "sized.h"

#include <float.h>
#include <math.h>

/*
 * Returns the probability that chi-square with df degrees of freedom exceeds x: 1 - P(df/2, x/2). Uses the power series
 * of the incomplete gamma function where it converges fast, else its continued fraction, evaluated from the back.
 */
static double chi_above(double x, double df)
{
    double a = df / 2, y = x / 2;

    if (!(y > 0))
        return 1;
    double front = exp(a * log(y) - y - lgamma(a + 1));
    if (y < a + 1) {
        double term = 1, sum = 1;
        for (double n = 1; term > sum * DBL_EPSILON / 4; n++) {
            term *= y / (a + n);
            sum += term;
        }
        return 1 - front * sum;
    }
    double tail = 0;
    for (double n = 200 + floor(20 * sqrt(a)); n > 0; n--)
        tail = n * (a - n) / (y + 2 * n + 1 - a + tail);
    return front * a / (y + 1 - a + tail);
}

static double share_of(const uint32_t *weights, unsigned part)
{
    return weights ? weights[part] : 1;
}

static void test_shares(const double *size, unsigned parts, const uint32_t *weights, double all,
                        struct lade_split_tests *a)
{
    double sum = 0;

    a->shares_df = -1;
    for (unsigned p = 0; p < parts; p++)
        sum += share_of(weights, p);
    for (unsigned p = 0; p < parts; p++) {
        double expected = sum > 0 ? all * share_of(weights, p) / sum : 0;
        if (expected > 0) {
            a->shares += (size[p] - expected) * (size[p] - expected) / expected;
            a->shares_df++;
        } else if (size[p] > 0) {
            a->shares = HUGE_VAL; /* there should be none */
        }
    }
    if (a->shares_df < 0)
        a->shares_df = 0; /* there are no items */
    a->shares_p = a->shares == HUGE_VAL ? 0 : a->shares_df > 0 ? chi_above(a->shares, a->shares_df) : 1;
}

static int audit_all(const uint64_t *count, unsigned classes, unsigned parts, const uint32_t *weights,
                     struct lade_split_tests *audit)
{
    double size[LADE_SPLIT_PARTS_MAX] = {0}, all = 0;
    unsigned used_parts = 0, used_classes = 0;

    if (!count || classes == 0 || parts == 0 || parts > LADE_SPLIT_PARTS_MAX)
        return LADE_INVALID;
    *audit = (struct lade_split_tests){.least = HUGE_VAL};
    for (unsigned c = 0; c < classes; c++)
        for (unsigned p = 0; p < parts; p++)
            size[p] += (double)count[(size_t)c * parts + p];
    for (unsigned p = 0; p < parts; p++) {
        all += size[p];
        used_parts += size[p] > 0;
    }
    for (unsigned c = 0; c < classes; c++) {
        const uint64_t *row = count + (size_t)c * parts;
        double of_class = 0;
        for (unsigned p = 0; p < parts; p++)
            of_class += (double)row[p];
        used_classes += of_class > 0;
        for (unsigned p = 0; p < parts && of_class > 0; p++) {
            double expected = size[p] * of_class / all, off = (double)row[p] - expected;
            if (size[p] > 0) {
                audit->classes += off * off / expected;
                audit->least = expected < audit->least ? expected : audit->least;
            }
        }
    }
    if (all > 0)
        audit->classes_df = (double)(used_parts - 1) * (double)(used_classes - 1);
    audit->classes_p = audit->classes_df > 0 ? chi_above(audit->classes, audit->classes_df) : 1;
    test_shares(size, parts, weights, all, audit);
    if (!isfinite(audit->least))
        audit->least = 0;
    return LADE_OK;
}

int lade_split_audit_sized(const uint64_t *count, unsigned classes, unsigned parts, const uint32_t *weights,
                           struct lade_split_tests *audit, size_t size)
{
    struct lade_split_tests whole;
    int status = audit ? audit_all(count, classes, parts, weights, &whole) : LADE_INVALID;

    if (status == LADE_OK)
        lade_sized_out(audit, size, &whole, sizeof whole);
    return status;
}
