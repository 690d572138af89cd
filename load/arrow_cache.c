/* SPDX-License-Identifier: MIT */
/*
 * Record batches in memory: at most as many as there are slots, each fetched by the thread that needs it first. What is
 * read does not depend on which are there. A thread that holds one never waits for another, so one of them always
 * continues.
 */
#include "arrow.h"

#include "event.h"
#include "heap.h"

#include <lade/fork.h>
#include <pthread.h>

enum state { FREE, LOADING, HERE };
#define NO_SLOT UINT32_MAX

struct slot {
    enum state state;
    uint64_t block, used; /* used: at which time */
    uint64_t pins;        /* threads that read it */
    struct lade_arrow_block content;
};

struct lade_arrow_cache {
    pthread_mutex_t lock;
    struct lade_event changed; /* a slot was filled, or is not read by any thread */
    uint32_t generation;       /* a child of fork() may find the lock held by a thread that it does not have */
    uint64_t slots, time;
    struct slot *slot;
    uint32_t *slot_of; /* of each block */
};

int lade_arrow_cache_create(struct lade_arrow *t, uint64_t count, struct lade_error *error)
{
    struct lade_arrow_cache *c = lade_heap_get(t->alloc, 1, sizeof *c);

    if (!c)
        return lade_members_no_memory(error);
    c->slots = count;
    c->slot = lade_heap_get(t->alloc, (size_t)count, sizeof *c->slot);
    c->slot_of = lade_heap_raw(t->alloc, (size_t)t->blocks, sizeof *c->slot_of);
    if (!c->slot || !c->slot_of) {
        lade_heap_put(t->alloc, c->slot);
        lade_heap_put(t->alloc, c->slot_of);
        lade_heap_put(t->alloc, c);
        return lade_members_no_memory(error);
    }
    for (uint64_t b = 0; b < t->blocks; b++)
        c->slot_of[b] = NO_SLOT;
    (void)pthread_mutex_init(&c->lock, NULL); /* does not fail with default attributes */
    lade_event_init(&c->changed);
    c->generation = lade_fork_generation();
    t->cache = c;
    return LADE_OK;
}

void lade_arrow_cache_free(struct lade_arrow *t)
{
    struct lade_arrow_cache *c = t->cache;

    if (!c)
        return;
    for (uint64_t s = 0; s < c->slots; s++)
        if (c->slot[s].state != LOADING) /* in a child of fork() another thread may have been about to fill it */
            lade_arrow_drop(t, &c->slot[s].content);
    (void)pthread_mutex_destroy(&c->lock);
    lade_heap_put(t->alloc, c->slot);
    lade_heap_put(t->alloc, c->slot_of);
    lade_heap_put(t->alloc, c);
    t->cache = NULL;
}

/* A slot that is free, or else the one unused for the longest time; NULL: all are in use. */
static struct slot *find_slot(struct lade_arrow_cache *c)
{
    struct slot *oldest = NULL;

    for (uint64_t s = 0; s < c->slots; s++) {
        struct slot *slot = &c->slot[s];
        if (slot->state == FREE)
            return slot;
        if (slot->state == HERE && slot->pins == 0 && (!oldest || slot->used < oldest->used))
            oldest = slot;
    }
    return oldest;
}

static int load(struct lade_arrow *t, struct slot *slot, struct lade_error *error)
{
    struct ArrowArray array = {.release = NULL};
    uint32_t child[LADE_FIELDS_MAX];

    int status = t->feed.fetch(t->feed.self, slot->block, &array, error);
    for (unsigned c = 0; c < t->tops; c++)
        child[c] = t->feed.in_order ? c : t->top[c];
    if (status == LADE_OK)
        status = lade_arrow_resolve(t, &slot->content, &array, child, slot->block, false, error);
    if (status == LADE_OK && (uint64_t)slot->content.array.length != t->block[slot->block].all) {
        lade_arrow_drop(t, &slot->content);
        status = lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET,
                           "record batch %llu is not what it was when the source was opened",
                           (unsigned long long)slot->block);
    }
    return status;
}

/* With the lock, which it gives up while it loads. */
static int fill_slot(struct lade_arrow *t, struct slot *slot, uint64_t block, struct lade_error *error)
{
    struct lade_arrow_cache *c = t->cache;

    if (slot->state == HERE)
        c->slot_of[slot->block] = NO_SLOT;
    slot->state = LOADING;
    slot->block = block;
    c->slot_of[block] = (uint32_t)(slot - c->slot);
    (void)pthread_mutex_unlock(&c->lock);
    lade_arrow_drop(t, &slot->content);
    int status = load(t, slot, error);
    (void)pthread_mutex_lock(&c->lock);
    slot->state = status == LADE_OK ? HERE : FREE;
    if (status != LADE_OK)
        c->slot_of[block] = NO_SLOT;
    lade_event_notify_all(&c->changed);
    return status;
}

struct request {
    struct lade_arrow *t;
    uint64_t block;
    const struct lade_arrow_piece *piece;
    struct lade_error *error;
};

/* Fetches the block, or takes the one that is there. Waits while another thread fetches it, or reads from every slot. */
static int take_block(void *request, int64_t *until)
{
    struct request *r = request;
    struct lade_arrow_cache *c = r->t->cache;
    int status = LADE_OK;

    (void)until;
    (void)pthread_mutex_lock(&c->lock);
    const uint32_t number = c->slot_of[r->block];
    struct slot *slot = number == NO_SLOT ? find_slot(c) : &c->slot[number];
    if (slot && number == NO_SLOT)
        status = fill_slot(r->t, slot, r->block, r->error);
    if (status == LADE_OK && slot && slot->state == HERE) {
        slot->pins++;
        slot->used = ++c->time;
        r->piece = slot->content.piece;
    } else if (status == LADE_OK) {
        status = LADE_AWAIT;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

static int check_process(const struct lade_arrow *t, struct lade_error *error)
{
    if (t->cache->generation == lade_fork_generation())
        return LADE_OK;
    return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET,
                     "a source that is read in windows was opened before fork(): open one in this process");
}

int lade_arrow_acquire(struct lade_arrow *t, uint64_t block, bool wait, bool *is_busy,
                       const struct lade_arrow_piece **piece, struct lade_error *error)
{
    struct request request = {.t = t, .block = block, .error = error};
    int status = check_process(t, error);

    *is_busy = false;
    if (status != LADE_OK)
        return status;
    status = take_block(&request, NULL);
    if (status == LADE_AWAIT && wait)
        status = lade_event_await(&t->cache->changed, take_block, &request, -1);
    *is_busy = status == LADE_AWAIT;
    *piece = request.piece;
    return *is_busy ? LADE_OK : status;
}

int lade_arrow_acquire_present(struct lade_arrow *t, const uint64_t *block, const struct lade_arrow_piece **piece,
                               uint64_t count, struct lade_error *error)
{
    struct lade_arrow_cache *c = t->cache;
    int status = check_process(t, error);

    if (status != LADE_OK)
        return status;
    (void)pthread_mutex_lock(&c->lock);
    const uint64_t time = ++c->time;
    for (uint64_t k = 0; k < count; k++) {
        const uint32_t number = c->slot_of[block[k]];
        struct slot *slot = number == NO_SLOT ? NULL : &c->slot[number];
        piece[k] = NULL;
        if (slot && slot->state == HERE) {
            slot->pins++;
            slot->used = time;
            piece[k] = slot->content.piece;
        }
    }
    (void)pthread_mutex_unlock(&c->lock);
    return LADE_OK;
}

void lade_arrow_release(struct lade_arrow *t, const uint64_t *block, const struct lade_arrow_piece *const *piece,
                        uint64_t count)
{
    struct lade_arrow_cache *c = t->cache;
    bool is_last = false;

    if (c->generation != lade_fork_generation())
        return; /* acquired before fork(), in the thread that called it */
    (void)pthread_mutex_lock(&c->lock);
    for (uint64_t k = 0; k < count; k++)
        if (piece[k])
            is_last |= --c->slot[c->slot_of[block[k]]].pins == 0;
    (void)pthread_mutex_unlock(&c->lock);
    if (is_last)
        lade_event_notify_all(&c->changed);
}
