/* SPDX-License-Identifier: MIT */
/* Creation, handles and destruction of a bag. */
#include "bag.h"

#include "seed.h"
#include "sized.h"

#include <string.h>

#define CELL_ALIGN 64 /* alignment of records that fill a line */

static bool is_valid_config(const struct lade_bag_config *c)
{
    bool records = c->kind == LADE_BAG_RECORDS;

    return c->capacity > 0 && c->capacity <= LADE_BAG_MAX && c->handles > 0 && c->handles <= LADE_BAG_HANDLES_MAX &&
           (unsigned)c->kind <= LADE_BAG_RECORDS && (unsigned)c->full <= LADE_BAG_EVICT_OLDEST &&
           (records ? c->record_size > 0 && c->record_size <= LADE_BAG_RECORD_MAX : c->record_size == 0) &&
           c->max_loans <= (records ? LADE_BAG_LOANS_MAX : 0) && c->max_times_sampled <= LADE_BAG_TIMES_MAX &&
           (c->byte_budget > 0) == (c->bytes != NULL) &&
           (!c->bytes || (!records && c->full != LADE_BAG_EVICT_OLDEST)) && c->samples_per_insert >= 0 &&
           c->samples_per_insert < 1e9 &&
           (c->samples_per_insert == 0 || (c->ratio_slack >= 1 && c->ratio_slack >= c->samples_per_insert)) &&
           (c->max_times_sampled == 0 || c->max_times_sampled >= c->samples_per_insert) &&
           (c->release != NULL) == (c->kind == LADE_BAG_REFS) && (!c->drop || c->kind == LADE_BAG_WORDS);
}

static size_t element_of(const struct lade_bag_config *c)
{
    switch (c->kind) {
    case LADE_BAG_RECORDS:
        return c->record_size;
    case LADE_BAG_REFS:
        return sizeof(struct lade_ref *);
    default:
        return sizeof(uint64_t);
    }
}

static size_t stride_of(size_t element)
{
    size_t align = element >= CELL_ALIGN ? CELL_ALIGN : sizeof(uint64_t);

    return (element + align - 1) / align * align;
}

/*
 * Cells in addition to those of the slots, per handle: the one that it owns, the one that it is taking or has just
 * taken out of a slot, one lent during a sample or a visit, and its loans. So a handle that needs a cell always finds
 * one in the pool.
 */
static uint64_t cells_of_handles(const struct lade_bag_config *c)
{
    return (uint64_t)c->handles * (3 + c->max_loans);
}

static bool make_cells(struct lade_bag *b)
{
    const struct lade_bag_config *c = &b->config;
    const struct lade_ring_config pool = {.capacity = cells_of_handles(c), .handles = c->handles, .alloc = c->alloc};

    b->cell_count = c->capacity + cells_of_handles(c);
    b->cell = lade_array_get(c->alloc, b->cell_count, b->stride);
    b->cell_refs = lade_array_get(c->alloc, b->cell_count, sizeof *b->cell_refs);
    if (!b->cell || !b->cell_refs || lade_mpmc_create(&b->pool, &pool) != LADE_OK)
        return false;
    for (uint64_t i = 0; i < b->cell_count; i++)
        atomic_init(&b->cell_refs[i], 0);
    for (unsigned i = 0; i < c->handles; i++) {
        if (lade_mpmc_join(b->pool, &b->handle[i].pool) != LADE_OK)
            return false;
        b->handle[i].spare = (uint32_t)(c->capacity + i);
    }
    for (uint64_t i = c->capacity + c->handles; i < b->cell_count; i++)
        if (lade_mpmc_push(b->handle[0].pool, i) != LADE_OK)
            return false;
    return true;
}

static void make_handle(struct lade_bag *b, unsigned number)
{
    struct lade_bag_handle *h = &b->handle[number];

    h->bag = b;
    h->pool = NULL;
    h->cursor = 0;
    h->half = 0;
    h->last = 0;
    h->remembered = 0;
    h->spare = 0;
    h->number = number;
    lade_random_init(&h->random, lade_key_make(b->config.seed, 0, UINT64_C(0x676162)), number);
    for (int i = 0; i < COUNTS; i++)
        atomic_init(&h->count[i], 0);
    atomic_init(&h->taken, 0);
    atomic_init(&h->loans_out, 0);
}

static bool make(struct lade_bag *b)
{
    const struct lade_bag_config *c = &b->config;

    b->slot = lade_array_get(c->alloc, c->capacity, sizeof *b->slot);
    b->group = lade_array_get(c->alloc, b->groups, sizeof *b->group);
    b->handle = lade_array_get(c->alloc, c->handles, sizeof *b->handle);
    if (!b->slot || !b->group || !b->handle)
        return false;
    for (uint64_t i = 0; i < c->capacity; i++)
        atomic_init(&b->slot[i], b->cells ? i : 0);
    for (uint64_t i = 0; i < b->groups; i++)
        atomic_init(&b->group[i], GROUP_EMPTY);
    for (unsigned i = 0; i < c->handles; i++)
        make_handle(b, i);
    atomic_init(&b->active, 0);
    atomic_init(&b->full_state, OPEN);
    atomic_init(&b->arrived.number, 0);
    atomic_init(&b->arrived.waiters, 0);
    atomic_init(&b->left.number, 0);
    atomic_init(&b->left.waiters, 0);
    atomic_init(&b->cancelled, 0);
    atomic_init(&b->ticket, 0);
    return !b->cells || make_cells(b);
}

static void free_all(struct lade_bag *b)
{
    const struct lade_alloc *a = b->config.alloc;

    lade_mpmc_destroy(b->pool);
    lade_array_put(a, b->cell_refs, b->cell_count, sizeof *b->cell_refs);
    lade_array_put(a, b->cell, b->cell_count, b->stride);
    lade_array_put(a, b->handle, b->config.handles, sizeof *b->handle);
    lade_array_put(a, b->group, b->groups, sizeof *b->group);
    lade_array_put(a, b->slot, b->config.capacity, sizeof *b->slot);
    lade_array_put(a, b, 1, sizeof *b);
}

int lade_bag_create_sized(struct lade_bag **bag, const struct lade_bag_config *config, size_t size)
{
    struct lade_bag_config whole;

    config = config ? lade_sized_in(config, size, &whole, sizeof whole) : NULL;
    if (!bag || !config || !is_valid_config(config))
        return LADE_INVALID;

    const struct lade_alloc *a = config->alloc ? config->alloc : &lade_default;
    uint64_t seed = config->seed;
    if (config->random_seed && !lade_seed_draw(&seed))
        return LADE_IO;
    struct lade_bag *b = lade_array_get(a, 1, sizeof *b);
    if (!b)
        return LADE_NO_MEMORY;
    b->slot = NULL;
    b->group = NULL;
    b->handle = NULL;
    b->cell = NULL;
    b->cell_refs = NULL;
    b->pool = NULL;
    b->cell_count = 0;
    memcpy(&b->config, config, sizeof *config);
    b->config.alloc = a;
    b->config.seed = seed;
    if (config->kind == LADE_BAG_RECORDS && config->max_loans == 0)
        b->config.max_loans = 1;
    b->groups = (config->capacity + LADE_BAG_GROUP - 1) / LADE_BAG_GROUP;
    b->cells = config->kind != LADE_BAG_WORDS || config->full == LADE_BAG_EVICT_OLDEST;
    b->plain = !b->cells && !has_limits(b);
    b->held = b->cells ? CELL_HELD : WORD_BITS;
    b->element = element_of(config);
    b->stride = stride_of(b->element);
    if (!make(b)) {
        free_all(b);
        return LADE_NO_MEMORY;
    }
    *bag = b;
    return LADE_OK;
}

/* No other thread uses the bag, so each element in a slot can be dropped. */
static void drop_all(struct lade_bag *b)
{
    for (uint64_t i = 0; i < b->config.capacity; i++) {
        uint64_t seen = atomic_load_explicit(&b->slot[i], memory_order_relaxed);
        uint64_t word = seen & WORD_BITS;
        if (!(seen & b->held))
            continue;
        if (b->cells)
            memcpy(&word, cell_at(b, (uint32_t)(seen & CELL_BITS)), sizeof word);
        if (b->config.drop)
            b->config.drop(b->config.context, word);
        if (b->config.release)
            (void)lade_ref_put(ref_in(b, (uint32_t)(seen & CELL_BITS)), b->config.release);
    }
}

void lade_bag_destroy(struct lade_bag *b)
{
    if (!b)
        return;
    if (b->config.drop || b->config.release)
        drop_all(b);
    free_all(b);
}

int lade_bag_join(struct lade_bag *b, struct lade_bag_handle **handle)
{
    for (unsigned i = 0; i < b->config.handles; i++) {
        LADE_STEP();
        /* The previous owner's records of slots and cells are complete. */
        uint32_t taken =
            atomic_fetch_or_explicit(&b->handle[i].taken, 1, memory_order_acquire); /* [bag.join] -> [bag.leave] */
        if (taken)
            continue;
        *handle = &b->handle[i];
        return LADE_OK;
    }
    return LADE_TOO_MANY;
}

void lade_bag_leave(struct lade_bag_handle *h)
{
    if (!h)
        return;
    LADE_STEP();
    atomic_store_explicit(&h->taken, 0, memory_order_release); /* [bag.leave] -> [bag.join] */
}
