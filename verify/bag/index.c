/* harness
 * property: slots, groups, limits, versions, cells and their addresses stay within their ranges, for every configuration
 * engines: cbmc
 * threads: 1
 * bound: any valid configuration, slot, group, cell and word
 * timeout: 120
 * cover: last_group closed grown
 */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "bag_create.c"
#include "bag_slot.h"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static void groups_and_slots(struct lade_bag *b)
{
    uint64_t slot = nondet_uint64(), j = nondet_uint64();

    assert(b->groups >= 1 && b->groups <= USED_BITS);
    assert(slots_in(b, b->groups) == b->config.capacity && slots_in(b, 0) == 0);
    assume(slot < b->config.capacity);
    assert(slot / LADE_BAG_GROUP < b->groups && slot <= UINT32_MAX);
    assume(j < b->groups);
    uint64_t first = j * LADE_BAG_GROUP;
    assert(slots_in(b, j) == first);
    assert(slots_in(b, j + 1) > first && slots_in(b, j + 1) - first <= 64);
    if (slots_in(b, j + 1) - first < LADE_BAG_GROUP) {
        assert(j + 1 == b->groups);
        cover(last_group);
    }
}

static void words(struct lade_bag *b)
{
    uint64_t word = nondet_uint64(), more = nondet_uint64();
    enum group_state state = (enum group_state)(nondet_uint64() % 5);

    uint64_t next = next_state(word, state);
    assert(state_of(next) == state);
    assert(next / STATE_VERSION == (word / STATE_VERSION + 1) % (UINT64_MAX / STATE_VERSION + 1));
    assume(more <= b->groups);
    next = next_active(word, more);
    assert(used(next) == more && !(next & ACTIVE_CHECK));
    assert((next & ACTIVE_CLOSED) == (word & ACTIVE_CLOSED));
    assert(next / ACTIVE_VERSION == (word / ACTIVE_VERSION + 1) % ACTIVE_VERSION);
    if (next & ACTIVE_CLOSED)
        cover(closed);
}

/* The step of place() that activates more groups. */
static void growth(struct lade_bag *b)
{
    uint64_t groups = nondet_uint64();

    assume(groups < b->groups);
    uint64_t more = groups + (groups > 1 ? groups / 2 : 1);
    more = more < b->groups ? more : b->groups;
    assert(more > groups && more <= b->groups);
    assert(groups * LADE_BAG_GROUP < b->config.capacity); /* the cursor */
    cover(grown);
}

static void cells(struct lade_bag *b)
{
    const struct lade_bag_config *c = &b->config;
    uint64_t extra = cells_of_handles(c), count = c->capacity + extra;

    assert(extra <= LADE_RING_MAX && c->handles <= LADE_RING_HANDLES_MAX);
    assert(count <= CELL_BITS);
    assert(((uint64_t)(c->handles - 1) << LAP_SHIFT & ~LAP_BITS) == 0);
    assert((LADE_BAG_WORD_MAX & ~WORD_BITS) == 0 && ((CELL_BITS | CELL_HELD | LAP_BITS) & ~WORD_BITS) == 0);
    assert((CELL_BITS & CELL_HELD) == 0 && ((CELL_BITS | CELL_HELD) & LAP_BITS) == 0);
    size_t stride = stride_of(b->element);
    assert(stride >= b->element && stride - b->element < CELL_ALIGN && stride % sizeof(uint64_t) == 0);
    assert(b->element < CELL_ALIGN || stride % CELL_ALIGN == 0);
    /* The sum of all loans of a cell stays below REMOVED, and two REMOVED are never added to it. */
    assert((int64_t)LADE_BAG_HANDLES_MAX * (LADE_BAG_LOANS_MAX + 2) + (int64_t)TIMES_FULL < REMOVED / 2);
}

/* The last byte of any cell lies in the array. */
static void places(void)
{
    uint32_t count = (uint32_t)nondet_uint64(), cell = (uint32_t)nondet_uint64();
    size_t stride = (size_t)(nondet_uint64() % 4 == 0 ? 8 : nondet_uint64() % 2 ? 64 : 3072);

    assume(count >= 1 && count <= CELL_BITS && cell < count);
    size_t size = lade_array_size(count, stride);
    assert((uint64_t)cell * stride + stride <= size);
}

static void thread(int id)
{
    static struct lade_bag b;

    (void)id;
    b.config.capacity = nondet_uint64();
    b.config.handles = (unsigned)nondet_uint64();
    b.config.kind = (enum lade_bag_kind)(nondet_uint64() % 3);
    b.config.record_size = (size_t)nondet_uint64();
    b.config.max_loans = (unsigned)nondet_uint64();
    b.config.release = b.config.kind == LADE_BAG_REFS ? (void (*)(struct lade_ref *))1 : NULL;
    assume(is_valid_config(&b.config));
    b.groups = (b.config.capacity + LADE_BAG_GROUP - 1) / LADE_BAG_GROUP;
    b.element = b.config.kind == LADE_BAG_RECORDS ? b.config.record_size : sizeof(uint64_t);
    groups_and_slots(&b);
    words(&b);
    growth(&b);
    cells(&b);
    places();
}

static void finish(void)
{
}
