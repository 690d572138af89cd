/* harness
 * property: homes, shares, sizes and cell addresses stay within their ranges, and a table sized for n keys takes n without growth
 * engines: cbmc
 * threads: 1
 * bound: any number of cells up to 2^40; up to 2^14 keys
 * timeout: 120
 * cover: large tight last
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "table_grow.c"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static void shares(uint64_t cells)
{
    uint64_t of = nondet_uint64();

    assume(of <= 256);
    assert(share(cells, of) <= cells);
    assert(share(cells, GROW_AT) <= share(cells, TIGHT_AT) && share(cells, TIGHT_AT) <= share(cells, MOST));
    assert(share(cells, MOST) < cells);
}

/* Number of keys before the one that triggers a larger array. */
static void sizes(void)
{
    uint64_t keys = nondet_uint64();
    bool tight = nondet_uint64() & 1;

    assume(keys <= 1 << 14); /* both formulas repeat every 154 or 180 keys, and 256 cells */
    uint64_t cells = lade_table_cells_for(keys, tight);
    assert(cells >= LADE_TABLE_FIRST && cells <= 2 * LADE_TABLE_MAX);
    assert(share(cells, tight ? TIGHT_AT : GROW_AT) > keys);
    if (tight)
        cover(tight);
    if (keys > LADE_TABLE_FIRST)
        cover(large);
}

/* Cells and flags follow each other in the mapping, lines of cells at their alignment. */
static void places(uint64_t cells)
{
    uint64_t blocks = blocks_of(cells);
    uint64_t block = nondet_uint64(), cell = nondet_uint64();

    assume(block < blocks && cell < cells);
    uint64_t from = block * LADE_TABLE_MOVE;
    uint64_t to = cells - from < LADE_TABLE_MOVE ? cells : from + LADE_TABLE_MOVE;
    assert(from < to && to <= cells && to - from <= LADE_TABLE_MOVE);
    if (to == cells && to - from < LADE_TABLE_MOVE)
        cover(last);
    assert(offsetof(struct array, cell) == sizeof(struct array) && sizeof(struct array) % LADE_CACHELINE_PAIR == 0);
    assert(sizeof(struct array) + (cell + 1) * sizeof(struct cell) <= flags_at(cells));
    assert(flags_at(cells) + block < end_at(cells));
    assert(record_size(nondet_uint64() % (LADE_TABLE_BYTES_MAX + UINT64_C(1))) % 16 == 0);
}

static void thread(int id)
{
    uint64_t cells = nondet_uint64();

    (void)id;
    assume(cells >= 1 && cells <= LADE_TABLE_MAX);
    shares(cells);
    sizes();
    places(cells);
}

static void finish(void)
{
}
