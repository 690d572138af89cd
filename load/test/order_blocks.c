/* SPDX-License-Identifier: MIT */
/* The order of samples in blocks: windows, each sample once, and the same from any position on. */
#include "order_blocks.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCKS = 50, MOST = 2000 };

static uint64_t first[BLOCKS + 1];

/* Blocks of 0 to 79 samples. */
static struct lade_blocks make(unsigned window, bool rising)
{
    for (unsigned b = 0; b < BLOCKS; b++)
        first[b + 1] = first[b] + b * 37 % 80 * (b % 9 != 4);
    return (struct lade_blocks){.count = BLOCKS, .first = first, .window = window, .rising = rising};
}

static unsigned block_of(uint64_t sample)
{
    unsigned b = 0;

    while (first[b + 1] <= sample)
        b++;
    return b;
}

static void list(const struct lade_blocks *b, uint64_t epoch, uint64_t *ids)
{
    static struct lade_permutation_table table;
    struct lade_block_walk walk = {.ready = false};

    lade_blocks_list(b, &walk, &table, 9, epoch, 0, first[BLOCKS], ids);
}

Test(order_blocks, windows)
{
    static const unsigned windows[] = {1, 3, 16, 49};
    static uint64_t ids[2][MOST];

    for (unsigned k = 0; k < 8; k++) {
        const struct lade_blocks b = make(windows[k / 2], k % 2);
        const uint64_t n = first[BLOCKS];
        bool seen[MOST] = {false};
        cr_assert_leq(n, MOST);
        list(&b, 4, ids[0]);
        list(&b, 5, ids[1]);
        cr_assert_neq(memcmp(ids[0], ids[1], n * sizeof **ids), 0);
        uint64_t left[BLOCKS];
        unsigned open = 0; /* blocks with samples that are still to come */
        for (unsigned i = 0; i < BLOCKS; i++)
            left[i] = first[i + 1] - first[i];
        for (uint64_t i = 0; i < n; i++) {
            const unsigned at = block_of(ids[0][i]);
            cr_assert(!seen[ids[0][i]], "twice");
            seen[ids[0][i]] = true;
            if (left[at] == first[at + 1] - first[at])
                open++;
            cr_assert_leq(open, b.window, "more blocks at a time than a window has");
            open -= --left[at] == 0;
        }
        for (uint64_t i = 0, last = 0; b.rising && i < n; i++) {
            const uint64_t here = block_of(ids[0][i]) / b.window;
            cr_assert_geq(here, last, "windows rise");
            last = here;
        }
    }
}

Test(order_blocks, any_position)
{
    static uint64_t whole[MOST], part[MOST];
    struct lade_block_walk walk = {.ready = false};
    uint64_t place = 1;

    for (int rising = 0; rising < 2; rising++) {
        const struct lade_blocks b = make(7, rising);
        const uint64_t n = first[BLOCKS];
        list(&b, 4, whole);
        walk.ready = false;
        for (int i = 0; i < 500; i++) {
            place = place * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t from = (place >> 33) % n, count = (place >> 20) % (n - from) + 1;
            lade_blocks_list(&b, &walk, NULL, 9, 4, from, count, part);
            cr_assert_arr_eq(part, whole + from, count * sizeof *part);
        }
    }
}
