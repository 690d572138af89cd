/* SPDX-License-Identifier: MIT */
/*
 * The order of samples that lie in blocks. An epoch's blocks are permuted, or rise; each run of N of them is
 * a window, and the samples of a window are permuted. Windows follow each other. All of it is a pure function of the blocks,
 * the seed, the epoch and the position. Internal.
 */
#ifndef LADE_LOAD_ORDER_BLOCKS_H
#define LADE_LOAD_ORDER_BLOCKS_H

#include "source.h"

#include <lade/arrow.h>
#include <lade/random.h>

/* A thread's position between calls; initially zero. */
struct lade_block_walk {
    bool ready;
    uint64_t seed, epoch;
    struct lade_permutation blocks, rows;
    uint64_t window, place, count; /* number of the window, position of its first sample, number of its samples */
    unsigned held;                 /* blocks in the window */
    uint64_t first[LADE_WINDOW_MAX], before[LADE_WINDOW_MAX + 1];
};

/* Lists the samples at positions place, ..., count of them, all below the number of samples. table: memory, or NULL. */
void lade_blocks_list(const struct lade_blocks *blocks, struct lade_block_walk *walk,
                      struct lade_permutation_table *table, uint64_t seed, uint64_t epoch, uint64_t place,
                      uint64_t count, uint64_t *ids);

#endif
