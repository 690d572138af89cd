/* SPDX-License-Identifier: MIT */
/*
 * Bin packing: first-fit decreasing (Johnson 1973). Pieces are placed from the longest to the shortest, equally long ones
 * in their given order, each in the first row that has space. A tournament tree over the rows finds that row, so n pieces
 * take O(n log n) time. A pure function of the lengths, without threads. Internal.
 */
#ifndef LADE_LOAD_PACK_H
#define LADE_LOAD_PACK_H

#include <lade/alloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LADE_PACK_PIECES_MAX (UINT32_C(1) << 26)

/* Memory of a thread, reused between calls; initially zero. */
struct lade_packer {
    uint32_t *row; /* the result: of each piece */
    uint32_t *sorted, *other, *space;
    size_t pieces; /* that the memory is for */
};

/* False: out of memory; nothing is lost. */
bool lade_packer_reserve(struct lade_packer *p, size_t pieces, const struct lade_alloc *alloc);
void lade_packer_free(struct lade_packer *p, const struct lade_alloc *alloc);

/*
 * Places pieces that lade_packer_reserve() has memory for, none longer than a row of steps. A row has at most most pieces,
 * those of length 0 included. Returns the number of rows.
 */
uint32_t lade_packer_run(struct lade_packer *p, const uint32_t *length, uint32_t pieces, uint32_t steps, uint32_t most);

#endif
