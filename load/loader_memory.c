/* SPDX-License-Identifier: MIT */
/* The memory of batches: allocation, holders (batches and tensors), and release. */
#include "loader.h"

#include "alloc.h"
#include "heap.h"

#include <lade/fork.h>

static size_t round_up(size_t bytes, size_t align)
{
    return (bytes + align - 1) / align * align;
}

size_t lade_memory_labels(const struct lade_loader *l, uint64_t samples)
{
    return round_up((size_t)samples * l->sample_bytes, LADE_DEVICE_ALIGN);
}

size_t lade_memory_block(const struct lade_loader *l)
{
    if (l->fields)
        return round_up(lade_fields_block(l), l->config.align);
    return round_up(lade_memory_labels(l, l->config.batch) + (size_t)l->config.batch * sizeof(int64_t),
                    l->config.align);
}

static int device_error(const struct lade_loader *l, int status, const struct lade_device_failure *failure,
                        struct lade_error *error)
{
    if (!failure->call)
        return lade_fail(error, status, NULL, LADE_NO_OFFSET,
                         "out of memory for a batch; ask for fewer slots or a smaller batch");
    return lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s: %s returned %lld: %s", l->config.device->backend->name,
                     failure->call, (long long)failure->code, failure->text);
}

/* Allocates the block of host memory. */
static int get_host(struct lade_memory *m, struct lade_device_failure *failure)
{
    const struct lade_loader *l = m->loader;
    const struct lade_alloc *alloc = l->config.alloc ? l->config.alloc : &lade_default;
    const struct lade_device *device = l->config.device;
    const size_t bytes = lade_memory_block(l);

    if (device)
        return device->backend->staging_get(device->self, bytes, &m->block, failure);
    m->block = alloc->get(alloc->context, bytes, l->config.align);
    return m->block ? LADE_OK : LADE_NO_MEMORY;
}

/* Allocates the block of device memory, its events, and the parts that stay on the host. */
static int get_device(struct lade_memory *m, struct lade_device_failure *failure)
{
    const struct lade_loader *l = m->loader;
    const struct lade_device *device = l->config.device;
    const struct lade_backend *b = device->backend;

    int status = b->device_get(device->self, lade_memory_block(l), &m->block, failure);
    if (status == LADE_OK)
        status = b->event_get(device->self, &m->ready, failure);
    for (unsigned i = 0; i <= l->tensors && status == LADE_OK; i++)
        status = b->event_get(device->self, &m->done[i], failure);
    return status;
}

/* Whether the labels are not in the block. */
static bool has_own_labels(const struct lade_memory *m)
{
    return m->on_device || m->loader->fields;
}

int lade_memory_create(struct lade_loader *l, struct lade_memory **memory, uint64_t slot, bool on_device,
                       struct lade_error *error)
{
    struct lade_memory *m = lade_heap_get(l->config.alloc, 1, sizeof *m);
    struct lade_device_failure failure = {NULL, 0, ""};
    int status = LADE_NO_MEMORY;

    if (m) {
        m->loader = l;
        m->slot = slot;
        m->on_device = on_device;
        m->ids = lade_heap_get(l->config.alloc, (size_t)l->samples_max, sizeof *m->ids);
        for (unsigned i = 0; i < l->tensors; i++)
            m->shape[i] = l->shape[i];
        if (has_own_labels(m))
            m->labels = lade_heap_get(l->config.alloc, (size_t)l->samples_max, sizeof *m->labels);
        if (m->ids && (m->labels || !has_own_labels(m)))
            status = on_device ? get_device(m, &failure) : get_host(m, &failure);
    }
    if (status == LADE_OK) {
        *memory = m;
        return LADE_OK;
    }
    lade_memory_free(m);
    return device_error(l, status, &failure, error);
}

static void free_block(struct lade_memory *m)
{
    const struct lade_loader *l = m->loader;
    const struct lade_alloc *alloc = l->config.alloc ? l->config.alloc : &lade_default;
    const struct lade_device *device = l->config.device;

    if (!m->block)
        return;
    if (m->on_device)
        device->backend->device_put(device->self, m->block, lade_memory_block(l));
    else if (device)
        device->backend->staging_put(device->self, m->block, lade_memory_block(l));
    else
        alloc->put(alloc->context, m->block, lade_memory_block(l));
}

/* In a child of fork() there is no driver: only host memory is freed. */
void lade_memory_free(struct lade_memory *m)
{
    if (!m)
        return;
    const struct lade_alloc *alloc = m->loader->config.alloc;
    const struct lade_device *device = m->loader->config.device;
    if (device && device->backend->lose && device->generation != lade_fork_generation())
        device->backend->lose(device->self);
    free_block(m);
    if (m->ready)
        device->backend->event_put(device->self, m->ready);
    for (unsigned i = 0; i <= LADE_TENSORS_MAX; i++)
        if (m->done[i])
            device->backend->event_put(device->self, m->done[i]);
    if (has_own_labels(m))
        lade_heap_put(alloc, m->labels);
    lade_heap_put(alloc, m->ids);
    lade_heap_put(alloc, m);
}

void lade_batch_buffer_use(const struct lade_loader *l, struct lade_batch_buffer *slot, struct lade_memory *m,
                           uint64_t count)
{
    slot->memory = m;
    slot->planned = count;
    slot->samples = m->block;
    if (!l->fields)
        m->labels = (int64_t *)(void *)((char *)m->block + lade_memory_labels(l, count));
    slot->labels = m->labels;
    slot->ids = m->ids;
}

int lade_batch_buffer_init(struct lade_loader *l, uint64_t slot, struct lade_error *error)
{
    struct lade_memory *m;
    int status = lade_memory_create(l, &m, slot, false, error);

    if (status == LADE_OK)
        lade_batch_buffer_use(l, &l->slot[slot], m, l->config.batch);
    return status;
}

void lade_memory_show(struct lade_memory *m, const struct lade_batch_buffer *slot, struct lade_batch *batch)
{
    const struct lade_loader *l = m->loader;
    const size_t plain[LADE_BATCH_TENSORS] = {0, lade_memory_labels(l, slot->planned)};
    const size_t *offset = l->fields ? slot->offset : plain;
    const struct lade_backend *b = l->stage ? l->config.device->backend : NULL;

    lade_ref_init(&m->holds);
    m->exported = 0;
    m->count = slot->rows > slot->count ? slot->rows : slot->count;
    batch->memory = m;
    batch->count = slot->count;
    batch->rows = l->pack ? slot->rows : slot->count;
    batch->samples = b ? NULL : m->block;
    batch->sample_bytes = l->sample_bytes;
    batch->labels = m->labels;
    batch->ids = m->ids;
    batch->tensors = l->tensors;
    if (l->fields)
        lade_fields_show(m, slot);
    else
        for (unsigned i = 0; i < l->tensors; i++)
            m->shape[i].dim[0] = slot->count;
    for (unsigned i = 0; i < l->tensors; i++) {
        const bool adds = !b || b->addresses;
        batch->tensor[i] = (struct lade_tensor){.data = adds ? (char *)m->block + offset[i] : (char *)m->block,
                                                .offset = adds ? 0 : offset[i],
                                                .host = b ? NULL : (char *)m->block + offset[i],
                                                .shape = &m->shape[i]};
    }
    if (b && !l->fields)
        batch->tensor[LADE_LABELS].host = m->labels;
    batch->ready = b && m->count > 0 ? b->event_native(l->config.device->self, m->ready) : NULL;
}

/* Frees the slot for the next batch. */
static void give_slot(struct lade_loader *l, bool on_device, uint64_t slot)
{
    if (on_device)
        lade_stage_released(l, slot);
    else
        lade_batch_ring_give(&l->ring, slot);
    atomic_fetch_sub_explicit(&l->held, 1, memory_order_relaxed); /* only a count */
    if (!on_device)
        lade_loader_freed(l);
}

/* The last holder has let go of the memory. */
static void released(struct lade_ref *holds)
{
    struct lade_memory *m = (struct lade_memory *)(void *)((char *)holds - offsetof(struct lade_memory, holds));
    struct lade_loader *l = m->loader;

    lade_loader_note(l, LADE_STEP_RELEASED, m->number, m->slot);
    if (!m->detached) {
        give_slot(l, m->on_device, m->slot);
        return;
    }
    if (m->on_device && lade_loader_is_here(l))
        (void)lade_memory_await(m, true, -1);
    lade_memory_free(m);
    lade_loader_leave(l);
}

int lade_memory_let_go(struct lade_memory *m, unsigned mark, enum lade_done done, void *handle,
                       struct lade_error *error)
{
    struct lade_loader *l = m->loader;
    struct lade_device_failure failure = {NULL, 0, ""};

    if (m->on_device && !lade_loader_is_here(l)) {
        if (m->detached)
            lade_ref_put(&m->holds, released);
        return lade_loader_refuse_child(error);
    }
    int status = lade_stage_status(l, NULL);
    /* A batch without samples has no memory that a stream could use. */
    if (status == LADE_OK && m->on_device && done != LADE_DONE_NOW && m->count > 0) {
        const struct lade_device *device = l->config.device;
        /* Without an event the end of its use is unknown; but after a failure nothing is written. */
        if (device->backend->record(device->self, m->done[mark], done, handle, &failure) != LADE_OK)
            status = lade_stage_fail(l, &failure);
        else
            atomic_fetch_or_explicit(&m->marks, 1u << mark, memory_order_relaxed); /* the holds carry it */
    }
    status = lade_stage_error(l, status, error); /* before the last holder frees a loader that was destroyed */
    lade_ref_put(&m->holds, released);
    return status;
}

void lade_loader_release(struct lade_loader *l, const struct lade_batch *batch)
{
    (void)l;
    (void)lade_memory_let_go(batch->memory, 0, LADE_DONE_NOW, NULL, NULL);
}

int lade_loader_release_after(struct lade_loader *l, const struct lade_batch *batch, enum lade_done done, void *handle,
                              struct lade_error *error)
{
    (void)l;
    return lade_memory_let_go(batch->memory, 0, done, handle, error);
}

int lade_loader_detach(struct lade_loader *l, const struct lade_batch *batch, struct lade_error *error)
{
    struct lade_memory *m = batch->memory, *other;

    if (!lade_loader_is_here(l))
        return lade_loader_refuse_child(error);
    if (m->detached)
        return LADE_OK;
    int status = m->on_device ? lade_memory_await(m, false, -1) : LADE_OK;
    if (status != LADE_OK || lade_stage_status(l, NULL) != LADE_OK)
        return lade_stage_status(l, error);
    status = lade_memory_create(l, &other, m->slot, m->on_device, error);
    if (status != LADE_OK)
        return status;
    if (m->on_device)
        lade_stage_replace(l, m->slot, other);
    else
        lade_batch_buffer_use(l, &l->slot[m->slot], other, l->config.batch);
    m->detached = true;
    lade_ref_get(&l->users);
    give_slot(l, m->on_device, m->slot);
    return LADE_OK;
}
