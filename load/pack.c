/* SPDX-License-Identifier: MIT */
#include "pack.h"

#include "heap.h"

#include <string.h>

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

static uint32_t leaves_for(size_t pieces)
{
    uint32_t leaves = 1;

    while (leaves < pieces)
        leaves *= 2;
    return leaves;
}

void lade_packer_free(struct lade_packer *p, const struct lade_alloc *alloc)
{
    lade_heap_put(alloc, p->row);
    lade_heap_put(alloc, p->sorted);
    lade_heap_put(alloc, p->other);
    lade_heap_put(alloc, p->space);
    *p = (struct lade_packer){0};
}

bool lade_packer_reserve(struct lade_packer *p, size_t pieces, const struct lade_alloc *alloc)
{
    if (pieces <= p->pieces)
        return true;
    lade_packer_free(p, alloc);
    const uint32_t leaves = leaves_for(pieces);
    p->row = lade_heap_raw(alloc, leaves, sizeof *p->row);
    p->sorted = lade_heap_raw(alloc, leaves, sizeof *p->sorted);
    p->other = lade_heap_raw(alloc, leaves, sizeof *p->other); /* sorting, then the pieces of each row */
    p->space = lade_heap_raw(alloc, 2 * (size_t)leaves, sizeof *p->space);
    p->pieces = p->row && p->sorted && p->other && p->space ? leaves : 0;
    return p->pieces > 0;
}

/* Sorts by falling length, in stable passes over the digits of the steps that a piece lacks to a whole row. */
static void sort(struct lade_packer *p, const uint32_t *length, uint32_t pieces, uint32_t steps)
{
    for (uint32_t i = 0; i < pieces; i++)
        p->sorted[i] = i;
    for (unsigned shift = 0; shift < 32 && steps >> shift; shift += DIGIT) {
        uint32_t at[DIGITS] = {0}, sum = 0;
        for (uint32_t i = 0; i < pieces; i++)
            at[(steps - length[i]) >> shift & (DIGITS - 1)]++;
        for (unsigned d = 0; d < DIGITS; d++) {
            const uint32_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (uint32_t i = 0; i < pieces; i++) {
            const uint32_t piece = p->sorted[i];
            p->other[at[(steps - length[piece]) >> shift & (DIGITS - 1)]++] = piece;
        }
        uint32_t *other = p->sorted;
        p->sorted = p->other;
        p->other = other;
    }
}

uint32_t lade_packer_run(struct lade_packer *p, const uint32_t *length, uint32_t pieces, uint32_t steps, uint32_t most)
{
    const uint32_t leaves = leaves_for(pieces);
    uint32_t rows = 0, *space = p->space;

    sort(p, length, pieces, steps);
    uint32_t *held = p->other; /* pieces of each row */
    memset(held, 0, pieces * sizeof *held);
    /* A leaf is the space of a row, + 1; 0: it has as many pieces as it may. An inner node is the larger of its two. */
    for (uint32_t node = 1; node < 2 * leaves; node++)
        space[node] = steps + 1;
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t piece = p->sorted[i], need = length[piece];
        uint32_t node = 1;
        while (node < leaves) {
            node *= 2;
            node += space[node] <= need;
        }
        const uint32_t row = node - leaves;
        p->row[piece] = row;
        rows = row >= rows ? row + 1 : rows;
        space[node] = ++held[row] < most ? space[node] - need : 0;
        for (node /= 2; node > 0; node /= 2) {
            const uint32_t left = space[2 * node], right = space[2 * node + 1], larger = left > right ? left : right;
            if (space[node] == larger)
                break;
            space[node] = larger;
        }
    }
    return rows;
}
