/* SPDX-License-Identifier: MIT */
/* Arrays of cells: created, filled from the previous one, and freed. */
#include "table.h"

/*
 * Loads in 1/256: at which a larger array is requested; that trim aims at; at which a tight array grows; the maximum.
 */
#ifndef GROW_AT
#define GROW_AT 154
#endif
#define TRIM_TO 180
#define TIGHT_AT 205
#define MOST 243

static uint64_t share(uint64_t cells, uint64_t of_256)
{
    return cells / 256 * of_256 + cells % 256 * of_256 / 256;
}

uint64_t lade_table_cells_for(uint64_t keys, bool tight)
{
    uint64_t of = tight ? TRIM_TO : GROW_AT;
    uint64_t cells = keys / of * 256 + keys % of * 256 / of + 3;

    return cells < LADE_TABLE_FIRST ? LADE_TABLE_FIRST : cells;
}

static uint64_t blocks_of(uint64_t cells)
{
    return (cells + LADE_TABLE_MOVE - 1) / LADE_TABLE_MOVE;
}

/* Offsets in bytes in an array's mapping: of the flags, which follow the cells, and of the end. */
static uint64_t flags_at(uint64_t cells)
{
    return sizeof(struct array) + cells * sizeof(struct cell);
}

static uint64_t end_at(uint64_t cells)
{
    return flags_at(cells) + blocks_of(cells);
}

/* A rejected request is never counted: for a moment it would make other requests fail that fit. */
static bool reserve_bytes(struct lade_table *t, uint64_t size)
{
    uint64_t most = t->config.max_bytes, before;

    if (!most) {
        LADE_TABLE_COUNT(&t->bytes, size);
        return true;
    }
    before = atomic_load_explicit(&t->bytes, memory_order_relaxed);
    do
        if (size > most || before > most - size)
            return false;
    while (!atomic_compare_exchange_strong_explicit(&t->bytes, &before, before + size, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

struct array *lade_table_array(struct lade_table *t, uint64_t cells, bool tight)
{
    struct array *a = NULL;
    uint64_t size, unit;

    if (cells > LADE_TABLE_MAX)
        return NULL;
    cells = (cells + LADE_TABLE_LINE - 1) / LADE_TABLE_LINE * LADE_TABLE_LINE;
    size = end_at(cells);
    if (!reserve_bytes(t, size))
        return NULL;
    a = lade_table_map(t, (size_t)size);
    if (!a) {
        LADE_TABLE_COUNT(&t->bytes, -size);
        return NULL;
    }
    unit = cells >= LADE_TABLE_SAMPLED ? LADE_TABLE_SAMPLE : 1;
    a->cells = cells;
    a->blocks = blocks_of(cells);
    a->sample = unit - 1;
    a->limit = share(cells, tight ? TIGHT_AT : GROW_AT) / unit;
    a->most = share(cells, MOST) / unit;
    a->size = size;
    a->moved = (_Atomic uint8_t *)((char *)a + flags_at(cells));
    a->table = t;
    lade_ref_init(&a->ref);
    return a;
}

static void free_records(struct array *a)
{
    struct record *r = atomic_load_explicit(&a->limbo, memory_order_relaxed); /* ordered by the grace period */

    while (r) {
        struct record *after = r->limbo;
        lade_table_record_free(r);
        r = after;
    }
    /* Records that are present were copied to the next array, unless this is the last. */
    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t val = atomic_load_explicit(&a->cell[i].val, memory_order_relaxed);
        if ((val & ~FROZEN) != ABSENT && (!(val & FROZEN) || val & TOMB))
            lade_table_record_free(record_of(val));
    }
}

/* Frees only the cells. */
static void unmap_array(struct array *a)
{
    struct lade_table *t = a->table;
    uint64_t size = a->size;

    lade_table_unmap(t, a, (size_t)size);
    LADE_TABLE_COUNT(&t->bytes, -size);
}

void lade_table_array_free(struct array *a)
{
    if (a->table->config.kind == LADE_TABLE_BYTES)
        free_records(a);
    unmap_array(a);
}

static struct array *array_of(struct lade_later *grace)
{
    return (struct array *)((char *)grace - offsetof(struct array, grace));
}

static void free_waiting_array(struct lade_later *grace)
{
    struct array *a = array_of(grace);
    struct lade_table *t = a->table;

    lade_table_array_free(a);
    LADE_TABLE_COUNT(&t->waiting, -UINT64_C(1));
}

static void last_put(struct lade_ref *ref)
{
    struct array *a = (struct array *)((char *)ref - offsetof(struct array, ref));

    /*
     * During the grace period, threads that entered here may have replaced records of the next array and added the old
     * ones to limbo. Readers that entered there since it began may reference them: a second grace period waits for these
     * readers.
     */
    if (atomic_load_explicit(&a->limbo, memory_order_relaxed))
        lade_reclaim_later(&a->grace, free_waiting_array);
    else
        free_waiting_array(&a->grace);
}

void lade_table_array_put(struct array *a)
{
    lade_ref_put(&a->ref, last_put);
}

static void array_grace(struct lade_later *later)
{
    lade_table_array_put(array_of(later));
}

static void retire_array(struct array *a)
{
    LADE_TABLE_COUNT(&a->table->waiting, 1);
    lade_reclaim_later(&a->grace, array_grace);
}

static const struct lade_alloc *allocator(const struct lade_table *t)
{
    return t->config.alloc ? t->config.alloc : &lade_default;
}

static size_t record_size(size_t size)
{
    return (offsetof(struct record, bytes) + size + 15) / 16 * 16;
}

struct record *lade_table_record(struct lade_table *t, const void *key, size_t size, uint64_t value)
{
    const struct lade_alloc *a = allocator(t);
    struct record *r = a->get(a->context, record_size(size), 16);

    if (!r)
        return NULL;
    /* Bits that cells use themselves; allocators that tag pointers may set the upper one. */
    if ((uintptr_t)r & (FROZEN | TOMB)) {
        a->put(a->context, r, record_size(size));
        return NULL;
    }
    r->table = t;
    r->value = value;
    r->size = size;
    if (size)
        memcpy(r->bytes, key, size);
    return r;
}

void lade_table_record_free(struct record *r)
{
    const struct lade_alloc *a = allocator(r->table);

    a->put(a->context, r, record_size(r->size));
}

static void record_grace(struct lade_later *later)
{
    lade_table_record_free((struct record *)((char *)later - offsetof(struct record, grace)));
}

void lade_table_retire(struct array *before, struct record *r)
{
    struct record *first;

    if (!before) {
        lade_reclaim_later(&r->grace, record_grace);
        return;
    }
    first = atomic_load_explicit(&before->limbo, memory_order_relaxed);
    do
        r->limbo = first;
    /* Relaxed: the links are read when the array is freed, a grace period after this read section. */
    while (!atomic_compare_exchange_strong_explicit(&before->limbo, &first, r, memory_order_relaxed,
                                                    memory_order_relaxed));
}

/* Arrays from this size on grow twofold, to save memory; smaller ones fourfold, to move less. */
#define LARGE (UINT64_C(1) << 20)

/* Old arrays may take this number of bytes, if that is more than the table takes. */
#define SPARE (UINT64_C(1) << 20)

/*
 * Whether the next array may have any size. While old arrays wait to be freed, perhaps for a stopped thread, each one
 * is at least twice as large as the one before: then all of them together take no more memory than the table.
 */
static bool is_free_to_choose(struct lade_table *t)
{
    return atomic_load_explicit(&t->bytes, memory_order_relaxed) <= SPARE ||
           atomic_load_explicit(&t->waiting, memory_order_relaxed) == 0;
}

uint64_t lade_table_cells_after(struct lade_table *t, const struct array *a, uint64_t cells)
{
    return cells >= 2 * a->cells || is_free_to_choose(t) ? cells : 2 * a->cells;
}

/*
 * Returns the size of the array after a. If most keys were removed: the same size, which only cleans; or half of it if
 * hardly any key is left.
 */
static uint64_t size_after(struct lade_table *t, struct array *a)
{
    uint64_t unit = a->sample + 1;
    uint64_t used = atomic_load_explicit(&a->used, memory_order_relaxed);
    uint64_t dead = atomic_load_explicit(&a->dead, memory_order_relaxed);
    uint64_t live;
    bool spare = is_free_to_choose(t);

    if (dead > INT64_MAX)
        dead = 0; /* a key was reinserted before its removal was counted */
    live = dead < used ? (used - dead) * unit : 0;
    if (spare && live < a->cells / 16 && a->cells / 2 >= LADE_TABLE_FIRST)
        return a->cells / 2;
    if (spare && live < share(a->cells, GROW_AT) / 2)
        return a->cells;
    return a->cells * (a->cells < LARGE ? 4 : 2);
}

#ifndef SIZE_AFTER
#define SIZE_AFTER size_after
#endif

/* Returns whether a has a next array; creates one if necessary. */
static bool extend(struct lade_table *t, struct array *a, uint64_t cells, bool tight)
{
    struct array *expected = NULL;
    struct array *b = NULL;

    if (next_of(a))
        return true;
    b = lade_table_array(t, cells ? cells : SIZE_AFTER(t, a), tight);
    if (!b) {
        atomic_store_explicit(&a->starved, 1, memory_order_relaxed);
        return next_of(a) != NULL;
    }
    LADE_STEP();
    if (atomic_compare_exchange_strong_explicit(&a->next, &expected, b, memory_order_release,
                                                memory_order_relaxed)) /* [table.install] -> [table.next] */
        LADE_TABLE_COUNT(&t->growths, 1);
    else
        unmap_array(b); /* no thread has seen it: a stopped reader must not delay it */
    return true;
}

bool lade_table_grow(struct lade_table *t, struct array *a, uint64_t cells, bool tight)
{
    /* Two arrays are enough, unless a copy finds no free cell in the second. */
    if (a != root_of(t) && !lade_table_complete(t))
        return false;
    return extend(t, a, cells, tight);
}

/* Copies a frozen pair of a into the later arrays, unless they have something newer. False if no cell is free. */
static bool copy(struct lade_table *t, struct array *a, const struct sought *s, uint64_t val)
{
    struct array *b = next_of(a);

    for (;;) {
        struct cell *c = NULL;
        uint64_t there = ABSENT;
        bool counted = false;
        enum find found = find_cell(b, s, COPY, &c, &there, &counted);

        if (counted)
            LADE_TABLE_COUNT(&b->used, 1);
        if (found == FOUND) {
            LADE_STEP();
            /*
             * A thread that copies another byte string with the same hash compares it with this record, which it gets
             * only from here.
             */
            if (there == ABSENT &&
                atomic_compare_exchange_strong_explicit(
                    &c->val, &there, val, memory_order_acq_rel,
                    memory_order_acquire)) /* [table.copy] -> [table.change], [table.freeze], [table.val] */
                return true;
            if (!is_of(s, there))
                continue; /* another byte string took the cell */
            if (there != (FROZEN | ABSENT))
                return true;
        }
        if (found == NO_ROOM && !extend(t, b, 0, false))
            return false;
        b = next_of(b);
    }
}

static bool move_cell(struct lade_table *t, struct array *a, struct cell *c)
{
    uint64_t key = atomic_load_explicit(&c->key, memory_order_relaxed); /* the key alone */
    struct sought s;
    uint64_t val;

    LADE_STEP();
    if (key == KEY_EMPTY &&
        atomic_compare_exchange_strong_explicit(&c->key, &key, MOVED, memory_order_release,
                                                memory_order_relaxed)) /* [table.move] -> [table.key], [table.claim] */
        return true;
    if (key == MOVED)
        return true;
    seek(&s, key, t->config.kind == LADE_TABLE_BYTES);
    LADE_STEP();
    /*
     * A thread that finds the val frozen finds the next array. What happened before the val was stored happens before
     * any load of the copy.
     */
    val = atomic_fetch_or_explicit(&c->val, FROZEN, memory_order_acq_rel) &
          ~FROZEN; /* [table.freeze] -> [table.val], [table.change], [table.copy] */
    if (!is_live(&s, val))
        return true;
    if (s.is_bytes)
        seek_record(&s, key, record_of(val));
    return copy(t, a, &s, val);
}

/* Makes operations begin at the next array, once all blocks are moved. */
static void swing(struct lade_table *t, struct array *a)
{
    struct array *expected = a;

    LADE_STEP();
    /* A thread that begins at the next array finds everything that was moved there. */
    if (atomic_compare_exchange_strong_explicit(&t->root, &expected, next_of(a), memory_order_release,
                                                memory_order_relaxed)) /* [table.swing] -> [table.enter] */
        retire_array(a);
}

static bool move_block(struct lade_table *t, struct array *a, uint64_t block)
{
    uint64_t from = block * LADE_TABLE_MOVE;
    uint64_t to = a->cells - from < LADE_TABLE_MOVE ? a->cells : from + LADE_TABLE_MOVE;

    for (uint64_t i = from; i < to; i++) {
        if (!move_cell(t, a, &a->cell[i]))
            return false;
    }
    LADE_TABLE_COUNT(&t->moved_cells, to - from);
    LADE_STEP();
    /*
     * The changes to the cells of this block are visible to the thread that counts the last block, or finds all flags
     * set.
     */
    if (atomic_exchange_explicit(&a->moved[block], 1, memory_order_release) ==
            0 && /* [table.flag] -> [table.flagged] */
        atomic_fetch_add_explicit(&a->done, 1, memory_order_acq_rel) + 1 ==
            a->blocks) /* [table.done] -> [table.done] */
        swing(t, a);
    return true;
}

/* Number of blocks whose new pages are requested at once, and maximum growth factor of an array. */
#define BLOCKS_TOGETHER 8
#define TIMES 4

static void populate(struct lade_table *t, struct array *a, uint64_t block)
{
    struct array *b = next_of(a);
    uint64_t times = b->cells / a->cells;
    uint64_t each = times <= TIMES ? times * LADE_TABLE_MOVE : 0; /* reserved memory need not all be used */
    uint64_t from = block * each;
    uint64_t to = from + BLOCKS_TOGETHER * each;

    if (to > b->cells)
        to = b->cells;
    if (block % BLOCKS_TOGETHER == 0 && from < to)
        lade_table_populate(t, b->cell + from, (to - from) * sizeof(struct cell));
}

void lade_table_help(struct lade_table *t, struct array *a)
{
    uint64_t block = atomic_load_explicit(&a->turn, memory_order_relaxed);

    if (block >= a->blocks)
        return;
    block = atomic_fetch_add_explicit(&a->turn, 1, memory_order_relaxed);
    if (block < a->blocks) {
        populate(t, a, block);
        (void)move_block(t, a, block);
    }
}

struct array *lade_table_complete(struct lade_table *t)
{
    struct array *a;

    while (a = root_of(t), next_of(a)) {
        for (uint64_t i = 0; i < a->blocks; i++) {
            if (!atomic_load_explicit(&a->moved[i], memory_order_acquire) && /* [table.flagged] -> [table.flag] */
                !move_block(t, a, i))
                return NULL;
        }
        swing(t, a);
    }
    return a;
}
