/* SPDX-License-Identifier: MIT */
/* The packer, against first-fit decreasing as one writes it down. */
#include "pack.h"

#include <criterion/criterion.h>
#include <lade/random.h>
#include <math.h>
#include <stdlib.h>

/* Rows by trying each row for each piece, from the longest piece to the shortest. */
static uint32_t by_trying(const uint32_t *length, uint32_t pieces, uint32_t steps, uint32_t most, uint32_t *row_of)
{
    uint32_t *used = calloc(pieces + 1, sizeof *used), *held = calloc(pieces + 1, sizeof *held), rows = 0;
    bool *placed = calloc(pieces + 1, sizeof *placed);

    cr_assert(used && held && placed);
    for (uint32_t n = 0; n < pieces; n++) {
        uint32_t longest = UINT32_MAX, row = 0;
        for (uint32_t i = 0; i < pieces; i++)
            if (!placed[i] && (longest == UINT32_MAX || length[i] > length[longest]))
                longest = i;
        while (held[row] == most || used[row] + length[longest] > steps)
            row++;
        placed[longest] = true;
        used[row] += length[longest];
        held[row]++;
        row_of[longest] = row;
        rows = row + 1 > rows ? row + 1 : rows;
    }
    free(used);
    free(held);
    free(placed);
    return rows;
}

static void compare(struct lade_packer *p, const uint32_t *length, uint32_t pieces, uint32_t steps, uint32_t most)
{
    static uint32_t row[1024];

    cr_assert(lade_packer_reserve(p, pieces, NULL));
    const uint32_t expected = by_trying(length, pieces, steps, most, row);
    cr_assert_eq(lade_packer_run(p, length, pieces, steps, most), expected);
    for (uint32_t i = 0; i < pieces; i++)
        cr_assert_eq(p->row[i], row[i], "piece %u of %u, of %u steps in rows of %u", i, pieces, length[i], steps);
}

/* Sizes around each power of two, rows of one, two and four digits; zero and full pieces among them. */
Test(pack, equals_first_fit_decreasing)
{
    static const uint32_t steps[] = {1, 2, 7, 255, 256, 2048, 65535, 65536, 1u << 24, INT32_MAX};
    struct lade_packer p = {0};
    struct lade_random random;
    uint32_t length[300];

    lade_random_init(&random, lade_key_make(7, 0, 0), 0);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (uint32_t run = 0; run < 60; run++) {
            const uint32_t pieces = 1 + (uint32_t)lade_random_below(&random, run % 3 ? 40 : 300);
            const uint32_t most = run % 4 == 1 ? 1 + (uint32_t)lade_random_below(&random, 5) : UINT32_MAX;
            const uint32_t range = run % 5 == 2 && steps[s] > 4 ? steps[s] / 4 : steps[s];
            for (uint32_t i = 0; i < pieces; i++)
                length[i] = run % 7 == 3 ? i % 2 * steps[s] : (uint32_t)lade_random_below(&random, (uint64_t)range + 1);
            compare(&p, length, pieces, steps[s], most);
        }
    lade_packer_free(&p, NULL);
}

/* The lengths of the promise: log-normal, mean 400, sigma 0.8, at most a row. */
Test(pack, fills_99_percent)
{
    enum { WINDOW = 1024, STEPS = 2048, WINDOWS = 50 };
    const double sigma = 0.8, mu = log(400) - sigma * sigma / 2;
    const struct lade_key key = lade_key_make(3, 0, 0);
    struct lade_packer p = {0};
    uint32_t length[WINDOW];
    uint64_t steps = 0, rows = 0;

    cr_assert(lade_packer_reserve(&p, WINDOW, NULL));
    for (uint64_t w = 0; w < WINDOWS; w++) {
        for (uint64_t i = 0; i < WINDOW; i++) {
            const double u = ((double)(lade_random_at(key, w * WINDOW + i, 0) >> 11) + 0.5) * 0x1p-53;
            const double v = (double)(lade_random_at(key, w * WINDOW + i, 1) >> 11) * 0x1p-53;
            const double x = exp(mu + sigma * sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
            length[i] = x < 1 ? 1 : x > STEPS ? STEPS : (uint32_t)x;
            steps += length[i];
        }
        rows += lade_packer_run(&p, length, WINDOW, STEPS, UINT32_MAX);
    }
    cr_assert_geq((double)steps / (double)(rows * STEPS), 0.99, "%g", (double)steps / (double)(rows * STEPS));
    lade_packer_free(&p, NULL);
}
