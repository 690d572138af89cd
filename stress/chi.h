/* SPDX-License-Identifier: MIT */
/*
 * Chi-square tests with their power.
 *
 * Null hypothesis of each test: the counts come from independent draws with the given cell probabilities. The statistic
 * is Pearson's. A test fails when the statistic lies in the outer CHI_ALPHA of its distribution, half of that on each
 * side: counts that are too even are as suspicious as counts that are too uneven.
 *
 * False alarms. The whole suite may have 10^-6. CHI_ALPHA is a thousandth of that, and five programs make at most CHI_MOST
 * tests each, loader_stats 20, so that they stay below by a factor of about two. That factor is there because the statistic is chi-square only in
 * the limit: each cell expects CHI_LEAST counts or more, and then the tail is off by less than two.
 *
 * Power. Under cell probabilities p_i (1 + e_i) the statistic is noncentral chi-square with noncentrality N * sum p_i
 * e_i^2. The field detects is the root mean square of e that a test of that size detects with probability 0.999. When
 * one cell has p (1 + e) and the others share the difference in proportion, the noncentrality is N e^2 p / (1 - p).
 */
#ifndef LADE_STRESS_CHI_H
#define LADE_STRESS_CHI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHI_ALPHA 1e-9
#define CHI_MOST 100
#define CHI_POWER 0.999
#define CHI_LEAST 100

/* The regularised incomplete gamma functions, P(a, x) = 1 - Q(a, x). */
double chi_gamma_p(double a, double x);
double chi_gamma_q(double a, double x);

/* The probability that chi-square with df degrees of freedom exceeds x; that it stays below. */
double chi_above(double x, double df);
double chi_below(double x, double df);

/* The x that chi-square exceeds with probability p. */
double chi_critical(double p, double df);

/* The probability that noncentral chi-square exceeds x. */
double chi_noncentral_above(double x, double df, double noncentrality);

/* The noncentrality at which a test with this alpha and df has this power. */
double chi_noncentrality(double alpha, double df, double power);

struct chi_result {
    double statistic, df, p; /* p: of the smaller side, doubled */
    double detects;          /* root mean square relative deviation found with probability CHI_POWER */
    double least;            /* smallest expected count */
    uint64_t draws;
    bool fails;
};

/* weight: cell probabilities up to a common factor; NULL: all equal. */
struct chi_result chi_test(const uint64_t *count, const double *weight, size_t cells);

/* The same from a statistic and its degrees of freedom, when several tests are added up. */
struct chi_result chi_judge(double statistic, double df, uint64_t draws);

/* The relative bias of the smallest cell alone that the test finds with probability CHI_POWER. */
double chi_cell_bias(struct chi_result result);

/* The draws with which a bias e of one cell, whose probability is p, is found with this power. */
uint64_t chi_draws(double df, double p, double e, double power);

/* A check that the test does not fail, and a control: a check that it does. Both print statistic, df, p and power. */
bool chi_expect(struct chi_result result, const char *name, const char *what);
bool chi_expect_failure(struct chi_result result, const char *name, const char *what);

/* A check that the budget of false alarms was kept. Last. */
void chi_budget(void);

#endif
