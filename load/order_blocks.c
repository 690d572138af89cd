/* SPDX-License-Identifier: MIT */
#include "order_blocks.h"

#include "ignore.h"

/* Purposes of lade_key_make(). The second is the upper half of one, and the number of a window the lower. */
enum { BLOCKS = 0x6b636f6c, ROWS = 0x73776f72 };

static uint64_t windows_of(const struct lade_blocks *b)
{
    return (b->count - 1) / b->window + 1;
}

/* The blocks of a window, and its samples. */
static void enter(const struct lade_blocks *b, struct lade_block_walk *w, struct lade_permutation_table *table,
                  uint64_t window)
{
    const uint64_t from = window * b->window;

    w->window = window;
    w->held = (unsigned)(b->count - from < b->window ? b->count - from : b->window);
    w->before[0] = 0;
    for (unsigned i = 0; i < w->held; i++) {
        const uint64_t block = b->rising ? from + i : lade_permutation_at(&w->blocks, from + i);
        w->first[i] = b->first[block];
        w->before[i + 1] = w->before[i] + b->first[block + 1] - b->first[block];
    }
    w->count = w->before[w->held];
    if (w->count == 0)
        return;
    const struct lade_key key = lade_key_make(w->seed, w->epoch, (uint64_t)ROWS << 32 | window);
    lade_ignore(lade_permutation_init(&w->rows, key, w->count)); /* not 0, and below 2^62 */
    if (table && w->count > LADE_PERMUTATION_SMALL)
        lade_permutation_tabulate(&w->rows, table);
}

static void begin(const struct lade_blocks *b, struct lade_block_walk *w, struct lade_permutation_table *table,
                  uint64_t seed, uint64_t epoch)
{
    w->ready = true;
    w->seed = seed;
    w->epoch = epoch;
    w->place = 0;
    if (!b->rising)
        lade_ignore(lade_permutation_init(&w->blocks, lade_key_make(seed, epoch, BLOCKS), b->count));
    enter(b, w, table, 0);
}

/* Moves to the window that has the position: the positions of a thread are near each other. */
static void seek(const struct lade_blocks *b, struct lade_block_walk *w, struct lade_permutation_table *table,
                 uint64_t place)
{
    while (place < w->place) {
        enter(b, w, table, w->window - 1);
        w->place -= w->count;
    }
    while (place - w->place >= w->count && w->window + 1 < windows_of(b)) {
        w->place += w->count;
        enter(b, w, table, w->window + 1);
    }
}

/* The sample that is number row of the window's blocks. */
static uint64_t sample_of(const struct lade_block_walk *w, uint64_t row)
{
    unsigned low = 0, high = w->held;

    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (w->before[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return w->first[low] + (row - w->before[low]);
}

void lade_blocks_list(const struct lade_blocks *b, struct lade_block_walk *w, struct lade_permutation_table *table,
                      uint64_t seed, uint64_t epoch, uint64_t place, uint64_t count, uint64_t *ids)
{
    if (!w->ready || w->seed != seed || w->epoch != epoch)
        begin(b, w, table, seed, epoch);
    for (uint64_t done = 0; done < count;) {
        seek(b, w, table, place + done);
        const uint64_t at = place + done - w->place, here = w->count - at;
        const uint64_t n = count - done < here ? count - done : here;
        lade_permutation_walk(&w->rows, w->count > LADE_PERMUTATION_SMALL ? table : NULL, at, n, ids + done);
        for (uint64_t i = 0; i < n; i++)
            ids[done + i] = sample_of(w, ids[done + i]);
        done += n;
    }
}
