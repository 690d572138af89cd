/* SPDX-License-Identifier: MIT */
/* The record batches of a source that reads in windows, with one slot for them. Fetching one is its number. */
#include "no_heap.h"

#include "arrow_cache.c"

static struct lade_arrow source;
static struct lade_arrow_cache cache;
static struct slot only;
static uint32_t slots[2];
static struct lade_arrow_piece columns[1];

static int fetch(void *self, uint64_t number, struct ArrowArray *array, struct lade_error *error)
{
    (void)self, (void)error;
    array->length = (int64_t)number;
    return LADE_OK;
}

int lade_arrow_resolve(struct lade_arrow *t, struct lade_arrow_block *to, struct ArrowArray *array,
                       const uint32_t *child, uint64_t number, bool grow, struct lade_error *error)
{
    (void)t, (void)child, (void)grow, (void)error;
    assert(array->length == (int64_t)number);
    to->array.length = array->length;
    to->piece = columns;
    return LADE_OK;
}

void lade_arrow_drop(struct lade_arrow *t, struct lade_arrow_block *from)
{
    (void)t;
    from->array.length = -1;
}

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    (void)error, (void)name, (void)offset, (void)format;
    return status;
}

uint32_t lade_fork_generation(void)
{
    return 0;
}

int lade_members_no_memory(struct lade_error *error)
{
    (void)error;
    abort();
}

static void make_cache(void)
{
    static struct lade_arrow_block blocks[2];

    blocks[1].all = 1;
    source.feed.fetch = fetch;
    source.feed.in_order = true;
    source.cache = &cache;
    source.block = blocks;
    cache.slots = 1;
    cache.slot = &only;
    cache.slot_of = slots;
    slots[0] = slots[1] = NO_SLOT;
    only.state = FREE;
    only.pins = 0;
    lade_event_init(&cache.changed);
    assert(pthread_mutex_init(&cache.lock, NULL) == 0);
}

static struct lade_error error[THREADS];

/* Waits for record batch number and holds it. */
static const struct lade_arrow_piece *hold(int id, uint64_t number)
{
    const struct lade_arrow_piece *piece;
    bool is_busy;

    assert(lade_arrow_acquire(&source, number, true, &is_busy, &piece, &error[id]) == LADE_OK && !is_busy);
    assert(only.content.array.length == (int64_t)number && piece == columns);
    return piece;
}

static void leave(uint64_t number, const struct lade_arrow_piece *piece)
{
    lade_arrow_release(&source, &number, &piece, 1);
}
