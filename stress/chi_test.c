/* SPDX-License-Identifier: MIT */
/* The chi-square functions against tables, closed forms and themselves; and the power that chi.h states. */
#include "check.h"
#include "chi.h"

#include <lade/random.h>
#include <math.h>
#include <stdio.h>

static bool close_to(double value, double expected, double relative)
{
    return fabs(value - expected) <= relative * fabs(expected);
}

/* Upper points of chi-square as printed in tables (Abramowitz, Stegun, table 26.8), to the digits given there. */
static void table(void)
{
    static const struct {
        double df, p, x;
    } row[] = {{1, 0.05, 3.84146},  {1, 0.001, 10.8276},  {2, 0.05, 5.99147},    {5, 0.01, 15.0863},
               {10, 0.05, 18.3070}, {10, 0.995, 2.15586}, {20, 0.001, 45.3147},  {30, 0.95, 18.4926},
               {50, 0.01, 76.1539}, {100, 0.05, 124.342}, {100, 0.995, 67.3276}, {100, 0.001, 149.449}};
    unsigned wrong = 0, rows = sizeof row / sizeof *row;

    for (unsigned i = 0; i < rows; i++)
        wrong += !close_to(chi_critical(row[i].p, row[i].df), row[i].x, 1e-5) ||
                 !close_to(chi_above(row[i].x, row[i].df), row[i].p, 2e-4);
    check(wrong == 0, "table", "%u of %u points of the chi-square table differ", wrong, rows);
    check(!close_to(chi_critical(0.05, 10), 18.4, 1e-5) && !close_to(chi_above(3.84146, 1), 0.051, 2e-4), "table",
          "negative: wrong points are noticed");
}

/* df = 1: the error function. Even df: a finite sum. Also far out in the tail, which the tests use. */
static void closed_forms(void)
{
    double worst = 0;

    for (double x = 0.01; x < 300; x *= 1.7) {
        double error = fabs(chi_above(x, 1) / erfc(sqrt(x / 2)) - 1);
        worst = error > worst ? error : worst;
        for (int half = 1; half < 400; half = half * 3 + 1) {
            double term = 1, sum = 1;
            for (int i = 1; i < half; i++) {
                term *= x / 2 / i;
                sum += term;
            }
            error = fabs(chi_above(x, 2.0 * half) / (exp(-x / 2) * sum) - 1);
            worst = error > worst ? error : worst;
            error = fabs(chi_above(x, 2.0 * half) + chi_below(x, 2.0 * half) - 1);
            worst = error > worst ? error : worst;
        }
    }
    check(worst < 1e-10, "closed forms", "largest relative error %.2g", worst);
}

/* Noncentralities for alpha 0.05 and power 0.8, as tables of power have them. */
static void power_table(void)
{
    static const struct {
        double df, value;
    } row[] = {{1, 7.849}, {2, 9.635}, {3, 10.903}, {4, 11.935}, {5, 12.828}, {10, 16.241}};
    unsigned wrong = 0, rows = sizeof row / sizeof *row;

    for (unsigned i = 0; i < rows; i++)
        wrong += !close_to(chi_noncentrality(0.05, row[i].df, 0.8), row[i].value, 2e-4);
    check(wrong == 0, "power table", "%u of %u noncentralities differ", wrong, rows);
    /* df = 1: a squared shifted normal number. */
    double x = chi_critical(CHI_ALPHA, 1), shift = 9, root = sqrt(x);
    double exact = 0.5 * erfc((root - shift) / sqrt(2)) + 0.5 * erfc((root + shift) / sqrt(2));
    check(close_to(chi_noncentral_above(x, 1, shift * shift), exact, 1e-9), "power",
          "df 1 at the level used: %.12g, exactly %.12g", chi_noncentral_above(x, 1, shift * shift), exact);
}

/* Draws from cells of which every other one is too heavy by e and the rest too light. */
static struct chi_result biased(struct lade_random *random, double e, uint64_t draws)
{
    enum { CELLS = 100 };
    uint64_t count[CELLS] = {0};

    for (uint64_t i = 0; i < draws; i++) {
        uint64_t cell = lade_random_below(random, CELLS);
        double u = (double)(lade_random_word(random) >> 11) * 0x1p-53;
        if (cell % 2 && u < e)
            cell--;
        count[cell]++;
    }
    return chi_test(count, NULL, CELLS);
}

/* At the stated deviation 0.999 of the tests must fail, so nearly all of these; at none of it, none. */
static void stated_power(void)
{
    enum { RUNS = 100, DRAWS = 20000 };
    struct lade_random random;
    unsigned found = 0, alarms = 0;
    double e = chi_judge(99, 99, DRAWS).detects;

    lade_random_init(&random, lade_key_make(check_seed(), 0, 1), 0);
    for (unsigned i = 0; i < RUNS; i++) {
        found += biased(&random, e, DRAWS).fails;
        alarms += biased(&random, 0, DRAWS).fails;
    }
    /* Ten or more missed of 100 at 0.001 each: probability below 10^-16. */
    check(found + 10 > RUNS && alarms == 0, "stated power", "deviation %.3g found in %u of %d runs, none found in %u",
          e, found, (int)RUNS, RUNS - alarms);
}

/* One cell of CELLS too heavy by e, drawn chi_draws() times: what is stated for one cell. */
static void power_of_one_cell(void)
{
    enum { CELLS = 8, RUNS = 100 };
    const double e = 0.1, p = 1.0 / CELLS;
    uint64_t draws = chi_draws(CELLS - 1, p, e, CHI_POWER);
    struct lade_random random;
    struct chi_result r;
    unsigned found = 0;

    lade_random_init(&random, lade_key_make(check_seed(), 0, 2), 0);
    for (unsigned run = 0; run < RUNS; run++) {
        uint64_t count[CELLS] = {0};
        for (uint64_t i = 0; i < draws; i++) {
            double u = (double)(lade_random_word(&random) >> 11) * 0x1p-53;
            count[u < p * (1 + e) ? 0 : 1 + lade_random_below(&random, CELLS - 1)]++;
        }
        r = chi_test(count, NULL, CELLS);
        found += r.fails;
    }
    check(found + 10 > RUNS && close_to(chi_cell_bias(r), e, 1e-4), "one cell",
          "10%% on one of %d cells found in %u of %d runs of %llu draws", (int)CELLS, found, (int)RUNS,
          (unsigned long long)draws);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    table();
    closed_forms();
    power_table();
    stated_power();
    power_of_one_cell();
    return check_end();
}
