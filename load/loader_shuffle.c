/* SPDX-License-Identifier: MIT */
/*
 * Stream mode for samples that lie in memory and need no preparation, and for samples with fields: the buffer holds their
 * numbers, and a worker copies a sample once, directly into its batch.
 *
 * The consumer draws. After taking a batch it plans others: it puts the next numbers of the order into the buffer, and
 * draws from it the numbers that become the list of a batch. Workers make these batches as in epoch mode, from a list
 * instead of a range of the order; the batch of a late worker is made again from its list.
 *
 * A list is free again when its batch was taken. A superseded worker may still read it then. Its words are atomic, and
 * each is a valid sample number at any time, so that worker makes a batch of existing samples that no thread takes.
 */
#include "loader.h"

#include "heap.h"

#include <stdlib.h>

#define PURPOSE 0x66756873 /* of lade_key_make() */

struct numbered {
    uint64_t id, epoch;
};

/* The samples of a batch. */
struct list {
    _Atomic uint64_t count;
    _Atomic uint64_t *id, *epoch;
};

struct lade_shuffle {
    /* Used by the consumer only. */
    struct lade_random random;
    struct numbered *buffer;
    uint64_t held;
    struct lade_walk walk;
    struct lade_job job; /* the last range of the order, and where it continues */
    uint64_t *fresh, count, used;
    uint64_t planned; /* batches */
    bool ended;       /* there are no others */
    uint64_t *spare;  /* lists without a batch */
    unsigned spares;
    /* Written by the consumer, read by workers. */
    _Atomic uint64_t *list_of; /* batch k has the list in k % places */
    struct list *list;
    unsigned lists;
};

bool lade_shuffle_fits(const struct lade_loader *l)
{
    const struct lade_loader_config *c = &l->config;
    struct lade_split_config split = {.store = LADE_SPLIT_PURE};

    if (c->split)
        lade_split_get_config(c->split, &split);
    /*
     * Only threads registered with liburcu may query an exact split; the consumer need not be registered. A skipped
     * sample would make a short batch, which a stream has only at its end.
     */
    return c->buffer > 0 && (l->fields || (!c->pipeline && lade_source_is_flat(c->source))) &&
           split.store != LADE_SPLIT_EXACT && c->fault != LADE_FAULT_SKIP;
}

static bool make_list(const struct lade_loader *l)
{
    struct lade_shuffle *s = l->shuffle;
    const uint64_t batch = l->config.batch;
    struct list *list = &s->list[s->lists++];

    list->id = lade_heap_get(l->config.alloc, (size_t)batch, sizeof *list->id);
    list->epoch = lade_heap_get(l->config.alloc, (size_t)batch, sizeof *list->epoch);
    return list->id && list->epoch;
}

int lade_shuffle_create(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_loader_config *c = &l->config;
    const unsigned lists = c->slots + c->threads; /* one for each buffer */
    struct lade_shuffle *s = l->shuffle = lade_heap_get(l->config.alloc, 1, sizeof *s);
    bool made = s != NULL;

    if (made) {
        s->job.start = l->next;
        l->next = (struct lade_cursor){0}; /* unused in this mode */
        lade_random_init(&s->random, lade_key_make(c->seed, s->job.start.epoch, PURPOSE), 0);
        s->buffer = lade_heap_get(l->config.alloc, (size_t)c->buffer, sizeof *s->buffer);
        s->fresh = lade_heap_get(l->config.alloc, (size_t)c->batch, sizeof *s->fresh);
        s->spare = lade_heap_get(l->config.alloc, lists, sizeof *s->spare);
        s->list = lade_heap_get(l->config.alloc, lists, sizeof *s->list);
        s->list_of = lade_heap_get(l->config.alloc, (size_t)l->ring.places, sizeof *s->list_of);
        made = s->buffer && s->fresh && s->spare && s->list && s->list_of;
    }
    while (made && s->lists < lists) {
        s->spare[s->spares++] = s->lists;
        made = make_list(l);
    }
    if (!made)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory for a buffer of %llu samples",
                         (unsigned long long)c->buffer);
    lade_shuffle_plan(l);
    return LADE_OK;
}

void lade_shuffle_free(struct lade_loader *l)
{
    struct lade_shuffle *s = l->shuffle;

    if (!s)
        return;
    for (unsigned i = 0; i < s->lists; i++) {
        lade_heap_put(l->config.alloc, (void *)s->list[i].id);
        lade_heap_put(l->config.alloc, (void *)s->list[i].epoch);
    }
    lade_walk_free(&s->walk, l->config.alloc);
    lade_heap_put(l->config.alloc, s->buffer);
    lade_heap_put(l->config.alloc, s->fresh);
    lade_heap_put(l->config.alloc, s->spare);
    lade_heap_put(l->config.alloc, s->list);
    lade_heap_put(l->config.alloc, (void *)s->list_of);
    lade_heap_put(l->config.alloc, s);
    l->shuffle = NULL;
}

/* Reads the next samples of the order. False: there are none. */
static bool read_order(struct lade_loader *l)
{
    struct lade_shuffle *s = l->shuffle;

    if (s->count > 0)
        s->job.start = s->job.end;
    s->used = s->count = 0;
    if (s->job.start.epoch >= l->config.epochs)
        return false;
    lade_job_plan(l, &s->walk, &s->job, s->fresh, &s->count);
    lade_job_list(l, &s->walk, &s->job, s->fresh, s->count);
    return true;
}

/* Refills the buffer while the order has samples, and draws from it. False: none left. */
static bool draw(struct lade_loader *l, struct numbered *drawn)
{
    struct lade_shuffle *s = l->shuffle;

    while (s->held < l->config.buffer && (s->used < s->count || read_order(l)))
        s->buffer[s->held++] = (struct numbered){s->fresh[s->used++], s->job.start.epoch};
    if (s->held == 0)
        return false;
    uint64_t i = lade_random_below(&s->random, s->held);
    *drawn = s->buffer[i];
    s->buffer[i] = s->buffer[--s->held];
    return true;
}

/* Late workers may read lists at any time; lade_batch_ring_offer() publishes this one to the workers that need it. */
static uint64_t write_list(struct lade_loader *l, struct list *list)
{
    struct numbered drawn;
    uint64_t rows = 0;

    for (; rows < l->config.batch && draw(l, &drawn); rows++) {
        atomic_store_explicit(&list->id[rows], drawn.id, memory_order_relaxed);
        atomic_store_explicit(&list->epoch[rows], drawn.epoch, memory_order_relaxed);
    }
    atomic_store_explicit(&list->count, rows, memory_order_relaxed);
    return rows;
}

void lade_shuffle_plan(struct lade_loader *l)
{
    struct lade_shuffle *s = l->shuffle;

    while (!s->ended && s->spares > 0 && s->planned < l->low + l->ring.places) {
        uint64_t number = s->spare[s->spares - 1], rows = write_list(l, &s->list[number]);
        s->ended = rows < l->config.batch;
        if (rows == 0)
            break;
        s->spares--;
        atomic_store_explicit(&s->list_of[s->planned & (l->ring.places - 1)], number, memory_order_relaxed);
        s->planned++;
    }
    lade_batch_ring_offer(&l->ring, s->planned, s->ended);
}

static struct list *list_of(const struct lade_loader *l, uint64_t batch)
{
    const struct lade_shuffle *s = l->shuffle;

    return &s->list[atomic_load_explicit(&s->list_of[batch & (l->ring.places - 1)], memory_order_relaxed)];
}

bool lade_shuffle_taken(struct lade_loader *l, uint64_t batch)
{
    struct lade_shuffle *s = l->shuffle;
    struct list *list = list_of(l, batch);
    bool is_short = atomic_load_explicit(&list->count, memory_order_relaxed) < l->config.batch;

    s->spare[s->spares++] = (uint64_t)(list - s->list);
    lade_shuffle_plan(l);
    return is_short;
}

bool lade_shuffle_is_over(const struct lade_loader *l)
{
    return l->shuffle->ended && l->low == l->shuffle->planned;
}

void lade_shuffle_list(const struct lade_loader *l, uint64_t batch, struct lade_batch_buffer *slot)
{
    struct list *list = list_of(l, batch);

    slot->count = atomic_load_explicit(&list->count, memory_order_relaxed);
    slot->epoch = UINT64_MAX;
    slot->from = 0;
    slot->end = (struct lade_cursor){0};
    for (uint64_t i = 0; i < slot->count; i++) {
        uint64_t epoch = atomic_load_explicit(&list->epoch[i], memory_order_relaxed);
        slot->ids[i] = atomic_load_explicit(&list->id[i], memory_order_relaxed);
        slot->epoch = epoch < slot->epoch ? epoch : slot->epoch;
    }
}

uint64_t lade_shuffle_epoch(const struct lade_loader *l, uint64_t batch, uint64_t i)
{
    return atomic_load_explicit(&list_of(l, batch)->epoch[i], memory_order_relaxed);
}
