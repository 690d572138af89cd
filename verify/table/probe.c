/* harness
 * property: a search ends after at most as many steps as there are cells, whatever they hold, and stays inside the array
 * engines: cbmc
 * threads: 1
 * bound: 3 cells of any content, with or without a next array of 2; words
 * flags: --unwind 5
 * timeout: 120
 * cover: found nothing on no_room wrapped
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "table.h"

uint64_t nondet_uint64(void);

static struct cell first[3], second[2];
static struct array a, b;

static void setup(void)
{
}

static void fill(struct array *array, struct cell *cell, uint64_t cells)
{
    array->cells = cells;
    array->cell = cell;
    array->end = cell + cells;
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
    uint64_t third = nondet_uint64();
    bool counted = false, grows = nondet_uint64() & 1;
    enum want want = (enum want)(nondet_uint64() % 3);

    (void)id;
    fill(&a, first, 3);
    fill(&b, second, 2);
    a.next = grows ? &b : NULL;
    b.next = NULL;
    a.starved = (uint32_t)nondet_uint64();
    a.used = nondet_uint64();
    /* Three homes are enough: the product is checked in homes.c. */
    assume(third < 3);
    h = third * (UINT64_MAX / 3) + third + 1;
    seek(&s, h, false);
    assert(!(look_up(&a, &s) & FROZEN));
    c = find_first(&a, h, &val);
    assert(val == h || val == EMPTY || val == MOVED);
    assert(c == a.end ? val == MOVED : c >= first && c < first + 3 && c->key == val);
    c = NULL;
    val = ABSENT;
    enum find found = find_cell(&a, &s, want, &c, &val, &counted);
    if (found == FOUND) {
        cover(found);
        assert(c >= first && c < first + 3 && c->key == h && c->val == val);
        if ((uint64_t)(c - first) < home_of(&a, h))
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
