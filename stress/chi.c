/* SPDX-License-Identifier: MIT */
#include "chi.h"
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* x^a e^-x / Gamma(a + 1), by logarithms. */
static double front(double a, double x)
{
    return exp(a * log(x) - x - lgamma(a + 1));
}

/* P as a power series (Abramowitz, Stegun 6.5.29); quick for x below a + 1. */
static double by_series(double a, double x)
{
    double term = 1, sum = 1;

    for (double n = 1; term > sum * DBL_EPSILON / 4; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return front(a, x) * sum;
}

/* Q as a continued fraction (6.5.31, even part), from the front by the rule of Lentz; quick for x above a + 1. */
static double by_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, value = d;

    for (double n = 1; n < 1e6; n++) {
        double up = n * (a - n);
        b += 2;
        d = up * d + b;
        d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
        c = b + up / c;
        if (fabs(c) < DBL_MIN)
            c = DBL_MIN;
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return front(a, x) * a * value;
}

double chi_gamma_p(double a, double x)
{
    if (x <= 0)
        return 0;
    return x < a + 1 ? by_series(a, x) : 1 - by_fraction(a, x);
}

double chi_gamma_q(double a, double x)
{
    if (x <= 0)
        return 1;
    return x < a + 1 ? 1 - by_series(a, x) : by_fraction(a, x);
}

double chi_above(double x, double df)
{
    return chi_gamma_q(df / 2, x / 2);
}

double chi_below(double x, double df)
{
    return chi_gamma_p(df / 2, x / 2);
}

double chi_critical(double p, double df)
{
    double low = 0, high = df + 10;

    while (chi_above(high, df) > p)
        high *= 2;
    while (high - low > high * 1e-13) {
        double middle = (low + high) / 2;
        if (chi_above(middle, df) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/*
 * A mixture of central ones: with probability Poisson(j; noncentrality / 2) there are 2j more degrees of freedom. The
 * sum runs over 12 standard deviations of the Poisson number, outside of which lies less than 10^-12.
 */
double chi_noncentral_above(double x, double df, double noncentrality)
{
    double mean = noncentrality / 2, reach = 12 * sqrt(mean) + 40, sum = 0;
    double first = floor(mean - reach > 0 ? mean - reach : 0), last = ceil(mean + reach);
    double q = chi_above(x, df + 2 * first), half = x / 2;

    if (mean <= 0)
        return chi_above(x, df);
    for (double j = first; j <= last; j++) {
        double a = df / 2 + j;
        sum += exp(j * log(mean) - mean - lgamma(j + 1)) * q;
        q += front(a, half); /* Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1) */
    }
    return sum;
}

double chi_noncentrality(double alpha, double df, double power)
{
    double x = chi_critical(alpha, df), low = 0, high = 1;

    while (chi_noncentral_above(x, df, high) < power)
        high *= 2;
    while (high - low > high * 1e-9) {
        double middle = (low + high) / 2;
        if (chi_noncentral_above(x, df, middle) < power)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static unsigned tests;

struct chi_result chi_judge(double statistic, double df, uint64_t draws)
{
    struct chi_result r = {.statistic = statistic, .df = df, .draws = draws, .least = HUGE_VAL};
    double above = chi_above(statistic, df), below = chi_below(statistic, df);

    r.p = 2 * (above < below ? above : below);
    r.p = r.p > 1 ? 1 : r.p;
    r.fails = !(r.p >= CHI_ALPHA);
    r.detects = sqrt(chi_noncentrality(CHI_ALPHA / 2, df, CHI_POWER) / (double)draws);
    return r;
}

struct chi_result chi_test(const uint64_t *count, const double *weight, size_t cells)
{
    double statistic = 0, whole = 0, least = HUGE_VAL;
    uint64_t draws = 0;

    for (size_t i = 0; i < cells; i++) {
        draws += count[i];
        whole += weight ? weight[i] : 1;
    }
    for (size_t i = 0; i < cells; i++) {
        double expected = (double)draws * (weight ? weight[i] : 1) / whole;
        double off = (double)count[i] - expected;
        statistic += off * off / expected;
        least = expected < least ? expected : least;
    }
    struct chi_result r = chi_judge(statistic, (double)cells - 1, draws);
    r.least = least;
    return r;
}

double chi_cell_bias(struct chi_result r)
{
    double p = r.least / (double)r.draws;

    return r.detects * sqrt((1 - p) / p);
}

uint64_t chi_draws(double df, double p, double e, double power)
{
    return (uint64_t)ceil(chi_noncentrality(CHI_ALPHA / 2, df, power) * (1 - p) / (p * e * e));
}

static bool report(bool ok, struct chi_result r, const char *name, const char *what, const char *kind)
{
    char cell[40] = "";

    if (isfinite(r.least))
        (void)snprintf(cell, sizeof cell, ", of one cell %.3g%%", 100 * chi_cell_bias(r));
    return check(ok, name, "%s%s: chi-square/df %.4g, df %.0f, p %.3g, %llu draws; finds deviations of %.3g%%%s", kind,
                 what, r.statistic / r.df, r.df, r.p, (unsigned long long)r.draws, 100 * r.detects, cell);
}

bool chi_expect(struct chi_result r, const char *name, const char *what)
{
    tests++;
    return report(!r.fails && r.least >= CHI_LEAST, r, name, what, "");
}

bool chi_expect_failure(struct chi_result r, const char *name, const char *what)
{
    return report(r.fails && r.least >= CHI_LEAST, r, name, what, "control that must fail, ");
}

void chi_budget(void)
{
    check(tests <= CHI_MOST, "false alarms", "%u tests at %g each: below %.2g for this program; power %g", tests,
          CHI_ALPHA, tests * CHI_ALPHA, CHI_POWER);
}
