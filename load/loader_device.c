/* SPDX-License-Identifier: MIT */
/*
 * Copies of batches to a device, without a thread: next checks which batches are ready, enqueues their copies into
 * slots of device memory, and hands out the batch whose copy was enqueued first. A host buffer returns to the workers
 * when next observes its copy complete.
 */
#include "loader.h"

#include "heap.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 3           /* one batch being copied, one in use, one ready */
#define NAP INT64_C(5000) /* nanoseconds, the first sleep between two checks of an event, which wakes no thread */
#define NAP_MOST INT64_C(1000000)

enum { FREE, USED };

struct stage_slot {
    struct lade_memory *memory;
    _Atomic uint32_t state;
    bool copies; /* from host buffer number buffer, which is kept until then */
    uint64_t buffer, batch;
    struct lade_batch_buffer made; /* the worker's fields, without the bytes */
};

struct lade_stage {
    unsigned depth;
    struct stage_slot slot[LADE_LOADER_DEPTH_MAX];
    unsigned queue[LADE_LOADER_DEPTH_MAX], first, queued; /* slots whose batches were not taken, in order */
    bool *staged;                                         /* of the batches in the ring */
    /* One thread writes the first failure, then publishes it. */
    _Atomic uint32_t failing, failed;
    struct lade_device_failure failure;
    uint64_t copied, copied_bytes, copies_timed, consumer_waits;
    int64_t copy_time;
};

int lade_stage_create(struct lade_loader *l, struct lade_error *error)
{
    struct lade_stage *s = lade_heap_get(l->config.alloc, 1, sizeof *s);

    if (!s)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    l->stage = s;
    s->depth = l->config.depth ? l->config.depth : DEPTH;
    s->staged = lade_heap_get(l->config.alloc, (size_t)l->ring.places, sizeof *s->staged);
    if (!s->staged)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    for (unsigned i = 0; i < s->depth; i++) {
        int status = lade_memory_create(l, &s->slot[i].memory, i, true, error);
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

void lade_stage_free(struct lade_loader *l)
{
    struct lade_stage *s = l->stage;

    if (!s)
        return;
    for (unsigned i = 0; i < s->depth; i++)
        lade_memory_free(s->slot[i].memory);
    lade_heap_put(l->config.alloc, s->staged);
    lade_heap_put(l->config.alloc, s);
}

int lade_stage_fail(struct lade_loader *l, const struct lade_device_failure *failure)
{
    struct lade_stage *s = l->stage;
    uint32_t expected = 0;

    if (atomic_compare_exchange_strong_explicit(&s->failing, &expected, 1, memory_order_relaxed,
                                                memory_order_relaxed)) { /* only one thread writes */
        s->failure = *failure;
        lade_store_release(&s->failed, 1);
        lade_event_notify_all(&l->ready);
    }
    return LADE_DEVICE;
}

int lade_stage_status(const struct lade_loader *l, struct lade_error *error)
{
    struct lade_stage *s = l->stage;

    if (!s || !lade_load_acquire(&s->failed))
        return LADE_OK;
    return lade_fail(error, LADE_DEVICE, NULL, LADE_NO_OFFSET, "%s: %s returned %lld: %s",
                     l->config.device->backend->name, s->failure.call, (long long)s->failure.code, s->failure.text);
}

bool lade_stage_is_held(const struct lade_loader *l)
{
    struct lade_stage *s = l->stage;
    unsigned held = 0;

    for (unsigned i = 0; i < s->depth; i++)
        held += lade_load_acquire(&s->slot[i].state) == USED;
    return s->queued == 0 && held == s->depth;
}

bool lade_stage_has(const struct lade_loader *l, uint64_t place)
{
    return l->stage && l->stage->staged[place];
}

struct lade_batch_buffer *lade_stage_slot(struct lade_loader *l, uint64_t slot, struct lade_memory **memory)
{
    *memory = l->stage->slot[slot].memory;
    return &l->stage->slot[slot].made;
}

void lade_stage_taken(struct lade_loader *l, uint64_t slot)
{
    struct lade_stage *s = l->stage;

    s->staged[s->slot[slot].batch & (l->ring.places - 1)] = false;
    s->first = (s->first + 1) % s->depth;
    s->queued--;
    lade_loader_note(l, LADE_STEP_TAKEN, s->slot[slot].batch, slot);
}

void lade_stage_released(struct lade_loader *l, uint64_t slot)
{
    lade_store_release(&l->stage->slot[slot].state, FREE);
}

/* 1: the event is complete; 0: not yet; LADE_DEVICE. */
static int is_complete(struct lade_loader *l, void *event)
{
    struct lade_device_failure failure;
    int complete = l->config.device->backend->query(l->config.device->self, event, &failure);

    return complete < 0 ? lade_stage_fail(l, &failure) : complete;
}

/* The copy into slot number i is complete. */
static void collect(struct lade_loader *l, unsigned i)
{
    const struct lade_device *device = l->config.device;
    struct lade_stage *s = l->stage;
    struct stage_slot *slot = &s->slot[i];
    int64_t time = device->backend->copied ? device->backend->copied(device->self, slot->memory->ready) : -1;

    s->copies_timed += time >= 0;
    s->copy_time += time >= 0 ? time : 0;
    lade_loader_note(l, LADE_STEP_COPIED, slot->batch, i);
    slot->copies = false;
    lade_loader_give(l, slot->buffer);
}

void lade_stage_collect(struct lade_loader *l)
{
    const struct lade_stage *s = l->stage;

    for (unsigned i = 0; i < s->depth; i++)
        if (s->slot[i].copies && is_complete(l, s->slot[i].memory->ready) == 1)
            collect(l, i);
}

void lade_stage_replace(struct lade_loader *l, uint64_t slot, struct lade_memory *memory)
{
    if (l->stage->slot[slot].copies)
        collect(l, (unsigned)slot);
    l->stage->slot[slot].memory = memory;
}

/* The copy waits on the device for the consumer's streams; the host does not wait. */
static int enqueue(struct lade_loader *l, struct lade_memory *to, const struct lade_batch_buffer *from)
{
    const struct lade_device *device = l->config.device;
    const struct lade_backend *b = device->backend;
    struct lade_device_failure failure;
    const size_t bytes =
        l->fields ? from->bytes : lade_memory_labels(l, from->planned) + (size_t)from->count * sizeof *from->labels;
    const unsigned marks = atomic_load_explicit(&to->marks, memory_order_relaxed); /* the slot's state carries it */
    int status = LADE_OK;

    for (unsigned i = 0; i <= l->tensors && status == LADE_OK; i++)
        if (marks & 1u << i)
            status = b->after(device->self, to->done[i], &failure);
    if (status == LADE_OK)
        status = b->copy(device->self, to->block, from->samples, bytes, to->ready, &failure);
    if (status != LADE_OK)
        return lade_stage_fail(l, &failure);
    atomic_store_explicit(&to->marks, 0, memory_order_relaxed);
    l->stage->copied++;
    l->stage->copied_bytes += bytes;
    return LADE_OK;
}

static bool free_slot(struct lade_stage *s, unsigned *slot)
{
    for (*slot = 0; *slot < s->depth; ++*slot)
        if (!s->slot[*slot].copies && lade_load_acquire(&s->slot[*slot].state) == FREE)
            return true;
    return false;
}

/* Enqueues the copy of a batch into a free slot. */
static void put(struct lade_loader *l, unsigned number, uint64_t batch, uint64_t buffer)
{
    struct lade_stage *s = l->stage;
    struct stage_slot *slot = &s->slot[number];
    const struct lade_batch_buffer *from = &l->slot[buffer];

    slot->made = *from;
    slot->batch = batch;
    slot->buffer = buffer;
    slot->copies = from->status == LADE_OK && (from->count > 0 || from->rows > 0);
    if (slot->copies) {
        memcpy(slot->memory->labels, from->labels, (size_t)from->count * sizeof *from->labels);
        memcpy(slot->memory->ids, from->ids, (size_t)from->count * sizeof *from->ids);
        if (enqueue(l, slot->memory, from) != LADE_OK)
            return;
        lade_loader_note(l, LADE_STEP_COPY, batch, number);
    } else {
        lade_loader_give(l, buffer);
    }
    atomic_store_explicit(&slot->state, USED, memory_order_relaxed); /* used by the consumer only until it is taken */
    s->staged[batch & (l->ring.places - 1)] = true;
    s->queue[(s->first + s->queued++) % s->depth] = number;
}

bool lade_stage_find(struct lade_loader *l, uint64_t *batch, uint64_t *slot)
{
    struct lade_stage *s = l->stage;
    uint64_t buffer;
    unsigned to;

    lade_stage_collect(l);
    while (!lade_load_acquire(&s->failed) && free_slot(s, &to) && lade_loader_find(l, batch, &buffer))
        put(l, to, *batch, buffer);
    if (s->queued == 0 || lade_load_acquire(&s->failed))
        return false;
    *slot = s->queue[s->first];
    *batch = s->slot[*slot].batch;
    return true;
}

static int slot_or_await(void *context, int64_t *until)
{
    struct lade_loader *l = context;
    unsigned to;

    lade_stage_collect(l);
    if (lade_load_acquire(&l->stage->failed))
        return LADE_DEVICE;
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return LADE_CANCELLED;
    if (!l->has_partial) {
        l->has_partial = lade_batch_ring_reuse(&l->ring, &l->partial);
        l->rows = 0;
    }
    if (l->has_partial && free_slot(l->stage, &to))
        return LADE_OK;
    lade_stage_recheck(l, until);
    return LADE_AWAIT;
}

int lade_stage_await_slot(struct lade_loader *l, int64_t deadline)
{
    return lade_event_await(&l->ready, slot_or_await, l, deadline);
}

bool lade_stage_put(struct lade_loader *l, uint64_t batch, uint64_t buffer, uint64_t *slot)
{
    unsigned to;

    if (lade_load_acquire(&l->stage->failed) || !free_slot(l->stage, &to))
        return false;
    put(l, to, batch, buffer);
    *slot = to;
    return !lade_load_acquire(&l->stage->failed);
}

void lade_stage_recheck(const struct lade_loader *l, int64_t *until)
{
    for (unsigned i = 0; l->stage && i < l->stage->depth; i++)
        if (l->stage->slot[i].copies)
            lade_event_recheck_by(until, lade_now() + 10 * NAP);
}

void lade_stage_stats(const struct lade_loader *l, struct lade_loader_stats *stats)
{
    const struct lade_stage *s = l->stage;

    stats->depth = s->depth;
    stats->copied = s->copied;
    stats->copied_bytes = s->copied_bytes;
    stats->copies_timed = s->copies_timed;
    stats->copy_time = s->copy_time;
    stats->consumer_waits = s->consumer_waits;
    stats->device_bytes = s->depth * (uint64_t)lade_memory_block(l);
}

/* Context of a wait for the device. */
struct device_wait {
    struct lade_memory *memory;
    bool all_marks;
    int64_t nap;
};

static int device_or_await(void *context, int64_t *until)
{
    struct device_wait *w = context;
    struct lade_memory *m = w->memory;
    int complete = is_complete(m->loader, m->ready);
    const unsigned marks = w->all_marks ? atomic_load_explicit(&m->marks, memory_order_relaxed) : 0;

    for (unsigned i = 0; i <= m->loader->tensors && complete == 1; i++)
        if (marks & 1u << i)
            complete = is_complete(m->loader, m->done[i]);
    if (complete != 0)
        return complete == 1 ? LADE_OK : complete;
    lade_event_recheck_by(until, lade_now() + w->nap);
    w->nap = w->nap < NAP_MOST / 2 ? 2 * w->nap : NAP_MOST;
    return LADE_AWAIT;
}

int lade_memory_await(struct lade_memory *m, bool all_marks, int64_t deadline)
{
    struct device_wait w = {m, all_marks, NAP};
    struct lade_event never;

    lade_event_init(&never);
    return lade_event_await(&never, device_or_await, &w, deadline);
}

int lade_stage_error(const struct lade_loader *l, int status, struct lade_error *error)
{
    if (status == LADE_OK)
        return status;
    if (status == LADE_INVALID)
        return lade_loader_refuse_child(error);
    if (status == LADE_DEVICE && lade_stage_status(l, error) != LADE_OK)
        return status;
    return lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
}

static int host_wait(struct lade_loader *l, const struct lade_batch *batch, int64_t timeout)
{
    if (!lade_loader_is_here(l))
        return LADE_INVALID;
    int complete = batch->memory->on_device ? is_complete(l, batch->memory->ready) : 1;
    if (complete != 0)
        return complete == 1 ? LADE_OK : complete;
    l->stage->consumer_waits++;
    return lade_memory_await(batch->memory, false, lade_deadline(lade_now(), timeout));
}

int lade_loader_host_wait(struct lade_loader *l, const struct lade_batch *batch, int64_t timeout,
                          struct lade_error *error)
{
    return lade_stage_error(l, host_wait(l, batch, timeout), error);
}

static int stream_wait(struct lade_loader *l, const struct lade_batch *batch, void *stream)
{
    const struct lade_device *device = l->config.device;
    struct lade_device_failure failure;

    if (!lade_loader_is_here(l))
        return LADE_INVALID;
    if (lade_stage_status(l, NULL) != LADE_OK)
        return LADE_DEVICE;
    if (!batch->memory->on_device ||
        device->backend->stream_wait(device->self, stream, batch->memory->ready, &failure) == LADE_OK)
        return LADE_OK;
    return lade_stage_fail(l, &failure);
}

int lade_loader_stream_wait(struct lade_loader *l, const struct lade_batch *batch, void *stream,
                            struct lade_error *error)
{
    return lade_stage_error(l, stream_wait(l, batch, stream), error);
}

/* Memory that a consumer or a tensor holds is awaited when the last of them lets go. */
int lade_stage_finish(struct lade_loader *l, int64_t deadline)
{
    for (unsigned i = 0; l->stage && i < l->stage->depth; i++) {
        struct stage_slot *slot = &l->stage->slot[i];
        const bool is_free = lade_load_acquire(&slot->state) == FREE;
        if (slot->memory && lade_memory_await(slot->memory, is_free, deadline) == LADE_TIMEOUT)
            return LADE_TIMEOUT;
    }
    return LADE_OK;
}
