/* harness
 * property: a search ends after at most as many steps as there are cells, whatever they hold, stays inside the array, and visits every cell once
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

static struct array *a, *b;

static void setup(void)
{
}

static struct array *filled(uint64_t cells)
{
    struct array *array = malloc(sizeof *array + cells * sizeof(struct cell));

    assume(array);
    array->cells = cells;
    array->most = cells;
    for (uint64_t i = 0; i < cells; i++) {
        array->cell[i].key = nondet_uint64();
        array->cell[i].val = nondet_uint64();
    }
    return array;
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
    a = filled(4);
    b = filled(2);
    a->next = grows ? b : NULL;
    b->next = NULL;
    a->starved = (uint32_t)nondet_uint64();
    a->used = nondet_uint64();
    /* One key of each home; homes.c checks the product. */
    assume(quarter < 4 && m < n && n < 4);
    assert(nth_cell(a, quarter, m) != nth_cell(a, quarter, n));
    assert(nth_cell(a, quarter, n) >= a->cell && nth_cell(a, quarter, n) < a->cell + 4);
    h = quarter * (UINT64_MAX / 4 + 1) + 1;
    seek(&s, h, false);
    assert(!(look_up(a, &s) & FROZEN));
    c = find_near(a, quarter, h, &val);
    assert(c ? val == h || val == KEY_EMPTY || val == MOVED : val != h && val != KEY_EMPTY);
    assert(!c || (c >= a->cell + quarter / 2 * 2 && c < a->cell + 4 && c->key == val));
    c = NULL;
    val = ABSENT;
    enum find found = find_cell(a, &s, want, &c, &val, &counted);
    if (found == FOUND) {
        cover(found);
        assert(c >= a->cell && c < a->cell + 4 && c->key == h && c->val == val);
        if (quarter / 2 > (uint64_t)(c - a->cell) / 2)
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
    free(a);
    free(b);
}

static void finish(void)
{
}
