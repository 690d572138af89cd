/* harness
 * property: under evict-oldest, a put replaces the element of an earlier put in its slot and yields to a later one
 * engines: cbmc
 * threads: 1
 * bound: any ticket, 1 to 3 slots, a slot last used up to 16,384 rounds before or after
 * flags: --unwind 6
 * timeout: 300
 * cover: too_late evicts free_slot
 */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include <lade/random.h>
#define LADE_BAG_BELOW(random, n) ((void)(random), (void)(n), UINT64_C(0))
#include "bag.c"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static uint64_t dropped;

static void drop(void *context, uint64_t word)
{
    (void)context;
    dropped = word;
}

static void thread(int id)
{
    static _Atomic uint64_t slot[3], group[1];
    static uint64_t cell[4];
    static _Atomic int64_t cell_refs[4];
    static struct lade_bag b;
    static struct lade_bag_handle h;
    uint64_t n = nondet_uint64() % 3 + 1, round = nondet_uint64(), at = nondet_uint64() % n;
    int64_t rounds = (int64_t)(nondet_uint64() % (2 * LAPS_APART)) - (int64_t)LAPS_APART;
    bool held = nondet_uint64() % 2;

    (void)id;
    assume(round < UINT64_C(1) << 60);
    b.slot = slot, b.group = group, b.groups = 1, b.held = CELL_HELD, b.cells = true;
    b.cell = (unsigned char *)cell, b.cell_refs = cell_refs, b.element = b.stride = 8, b.handle = &h;
    b.config.capacity = n, b.config.handles = 1, b.config.full = LADE_BAG_EVICT_OLDEST, b.config.drop = drop;
    h.bag = &b, h.spare = 3;
    atomic_init(&b.ticket, round * n + at);
    uint64_t before = ((round + 1 + (uint64_t)rounds) << LAP_SHIFT & LAP_BITS) | (held ? CELL_HELD : 0) | at;
    atomic_init(&slot[at], before);
    cell[at] = 10, cell[3] = 20;
    dropped = 0;
    assert(put_in_turn(&h, CELL_HELD | 3) == LADE_OK);
    uint64_t after = atomic_load_explicit(&slot[at], memory_order_relaxed);
    if (rounds >= 0) { /* a later put, or this one's own round, has used the slot */
        assert(after == before && dropped == 20 && h.spare == 3);
        cover(too_late);
    } else {
        assert(after == (((round + 1) << LAP_SHIFT & LAP_BITS) | CELL_HELD | 3) && h.spare == at);
        assert(dropped == (held ? 10 : 0));
        if (held)
            cover(evicts);
        else
            cover(free_slot);
    }
}

static void finish(void)
{
}
