/* harness
 * property: tickets, entries and array sizes stay within their ranges, for every capacity and number of handles
 * engines: cbmc
 * threads: 1
 * bound: any capacity, handles, round, cell
 * flags: --unwind 40
 * cover: last_of_round used_up refused
 */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static void tickets(struct lade_mpmc *r)
{
    uint64_t round = nondet_uint64(), position = nondet_uint64();

    assume(position < r->capacity);
    assume(round < last_round(r));
    uint64_t ticket = round << r->position_bits | position;
    uint64_t next = ticket_after(r, ticket);
    assert(position_of(r, ticket) == position);
    assert(position_of(r, next) < r->capacity);
    assert(next > ticket);
    if (position + 1 == r->capacity && round + 1 == last_round(r)) {
        /* No entry can have the turn that this ticket waits for, and the turn of an entry never wraps. */
        cover(used_up);
        assert((next >> r->position_bits << 1) > UINT64_MAX >> r->cell_bits);
    } else if (position + 1 == r->capacity) {
        cover(last_of_round);
        assert(next >> r->position_bits == round + 1 && position_of(r, next) == 0);
    } else {
        assert(next >> r->position_bits == round && position_of(r, next) == position + 1);
    }
}

static void entries(struct lade_mpmc *r)
{
    uint64_t turn = nondet_uint64(), cell = nondet_uint64();

    assume(cell < r->capacity + r->handles);
    assume(turn <= UINT64_MAX >> r->cell_bits);
    uint64_t entry = turn << r->cell_bits | cell;
    assert(entry >> r->cell_bits == turn);
    assert((entry & ((UINT64_C(1) << r->cell_bits) - 1)) == cell);
    assert(r->cell_bits <= 32);
}

static void sizes(void)
{
    uint64_t count = nondet_uint64();
    size_t size = lade_array_size(count, sizeof(uint64_t));

    if (size == 0) {
        cover(refused);
        assert(count == 0 || count > SIZE_MAX / sizeof(uint64_t) - LADE_CACHELINE_PAIR);
    } else {
        assert(size % LADE_CACHELINE_PAIR == 0);
        assert(size / sizeof(uint64_t) >= count);
    }
}

static void thread(int id)
{
    struct lade_mpmc r;

    (void)id;
    r.capacity = nondet_uint64();
    r.handles = (uint32_t)nondet_uint64();
    assume(r.capacity >= 1 && r.capacity <= LADE_RING_MAX);
    assume(r.handles >= 1 && r.handles <= LADE_RING_HANDLES_MAX);
    r.position_bits = bits_for(r.capacity);
    r.cell_bits = bits_for(r.capacity + r.handles);
    tickets(&r);
    entries(&r);
    sizes();
}

static void finish(void)
{
}
