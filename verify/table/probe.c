/* harness
 * property: a search ends after at most as many steps as there are cells, whatever they hold, and stays inside the array;
 *           it comes to every cell once
 * engines: cbmc
 * threads: 1
 * bound: 4 cells of any content in lines of 2, with or without a next array of 2; words
 * flags: --unwind 6
 * timeout: 120
 * cover: found nothing on no_room wrapped
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#define LADE_TABLE_LINE 2
#include "harness.h"

#include "table.h"

uint64_t nondet_uint64(void);

static struct cell first[4], second[2];
static struct array a, b;

static void setup(void)
{
}

static void fill(struct array *array, struct cell *cell, uint64_t cells)
{
    array->cells = cells;
    array->cell = cell;
    array->most = cells;
    for (uint64_t i = 0; i < cells; i++) {
        cell[i].key = nondet_uint64();
        cell[i].val = nondet_uint64();
    }
}

static void thread(int id)
{
    struct sought s;
    struct cell *c = NULL;
    uint64_t val = ABSENT, h = nondet_uint64();
    uint64_t quarter = nondet_uint64(), m = nondet_uint64(), n = nondet_uint64();
    bool counted = false, grows = nondet_uint64() & 1;
    enum want want = (enum want)(nondet_uint64() % 3);

    (void)id;
    fill(&a, first, 4);
    fill(&b, second, 2);
    a.next = grows ? &b : NULL;
    b.next = NULL;
    a.starved = (uint32_t)nondet_uint64();
    a.used = nondet_uint64();
    /* A key of each home: the product is checked in homes.c. */
    assume(quarter < 4 && m < n && n < 4);
    assert(nth_cell(&a, quarter, m) != nth_cell(&a, quarter, n));
    assert(nth_cell(&a, quarter, n) >= first && nth_cell(&a, quarter, n) < first + 4);
    h = quarter * (UINT64_MAX / 4 + 1) + 1;
    seek(&s, h, false);
    assert(!(look_up(&a, &s) & FROZEN));
    c = find_near(&a, quarter, h, &val);
    assert(c ? val == h || val == EMPTY || val == MOVED : val != h && val != EMPTY);
    assert(!c || (c >= first + quarter / 2 * 2 && c < first + 4 && c->key == val));
    c = NULL;
    val = ABSENT;
    enum find found = find_cell(&a, &s, want, &c, &val, &counted);
    if (found == FOUND) {
        cover(found);
        assert(c >= first && c < first + 4 && c->key == h && c->val == val);
        if (quarter / 2 > (uint64_t)(c - first) / 2)
            cover(wrapped);
    }
    if (found == NOTHING) {
        cover(nothing);
        assert(want == LOOK);
    }
    if (found == ON)
        cover(on);
    if (found == NO_ROOM) {
        cover(no_room);
        assert(want != LOOK && !grows);
    }
    assert(!counted || (found == FOUND && want != LOOK));
}

static void finish(void)
{
}
