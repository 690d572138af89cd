/* SPDX-License-Identifier: MIT */
/* Creation and destruction of a feeder: memory and threads. */
#define _POSIX_C_SOURCE 200809L
#include "feeder.h"

#include "alloc.h"
#include "heap.h"
#include "ignore.h"
#include "thread.h"

#include <inttypes.h>
#include <lade/fork.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

size_t lade_feeder_bytes(const struct lade_shape *shape, unsigned tensors)
{
    size_t sum = 0;

    if (!shape || tensors == 0 || tensors > LADE_TENSORS_MAX)
        return 0;
    for (unsigned i = 0; i < tensors; i++) {
        size_t bytes = lade_shape_bytes(&shape[i]);
        if (bytes == 0 || shape[i].dims == 0 || shape[i].dim[0] != shape[0].dim[0] ||
            bytes > SIZE_MAX / 4 - LADE_DEVICE_ALIGN - sum)
            return 0;
        sum += (bytes + LADE_DEVICE_ALIGN - 1) / LADE_DEVICE_ALIGN * LADE_DEVICE_ALIGN;
    }
    return sum;
}

static void *filler(void *argument)
{
    struct lade_feeder *f = argument;

    while (lade_feeder_fill_one(f))
        ;
    lade_feeder_gone(f);
    return NULL;
}

int lade_feeder_set_slack(int slack)
{
    int old = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

    if (slack > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0, 0, 0);
    return old;
}

bool lade_feeder_is_here(const struct lade_feeder *f)
{
    return f->generation == lade_fork_generation();
}

/* Waits until the device has passed all enqueued work. A failed device does no work. */
static int await_device(struct lade_feeder *f, int64_t deadline)
{
    for (unsigned i = 0; i < f->slots.depth; i++) {
        struct lade_staging_slot *slot = &f->slot[i];
        if (f->backend->copies && lade_feeder_await(f, slot->ready, deadline, false, NULL) == LADE_TIMEOUT)
            return LADE_TIMEOUT;
        unsigned marks =
            atomic_load_explicit(&slot->marks, memory_order_relaxed); /* destroy finds one that is set later */
        for (unsigned k = 0; k < LADE_FEEDER_MARKS; k++)
            if (marks & 1u << k && lade_feeder_await(f, slot->done[k], deadline, false, NULL) == LADE_TIMEOUT)
                return LADE_TIMEOUT;
    }
    return LADE_OK;
}

int lade_feeder_stop(struct lade_feeder *f, int64_t timeout)
{
    int64_t deadline = lade_deadline(lade_now(), timeout);

    if (!lade_feeder_is_here(f))
        return LADE_INVALID;
    lade_slots_stop(&f->slots, LADE_CLOSED);
    int status = lade_feeder_await_alone(f, deadline);
    return status == LADE_OK ? await_device(f, deadline) : status;
}

static void free_device(struct lade_feeder *f, void *memory)
{
    if (!memory || (f->device_alloc && !lade_feeder_is_here(f)))
        return;
    if (f->device_alloc)
        f->device_alloc->put(f->device_alloc->context, memory, f->bytes);
    else
        f->backend->device_put(f->device, memory, f->bytes);
}

static void free_slot(struct lade_feeder *f, struct lade_staging_slot *slot)
{
    if (slot->ready)
        f->backend->event_put(f->device, slot->ready);
    for (unsigned i = 0; i < LADE_FEEDER_MARKS; i++)
        if (slot->done[i])
            f->backend->event_put(f->device, slot->done[i]);
    free_device(f, slot->device);
    if (slot->staging && f->user_staging)
        f->backend->unpin(f->device, slot->staging, f->bytes);
    else if (slot->staging)
        f->backend->staging_put(f->device, slot->staging, f->bytes);
}

static const struct lade_alloc *alloc_of(const struct lade_feeder *f)
{
    return f->alloc ? f->alloc : &lade_default;
}

/* Frees what exists, so it also undoes a partial creation. */
static void free_feeder(struct lade_feeder *f)
{
    if (f->device && f->backend->lose && !lade_feeder_is_here(f))
        f->backend->lose(f->device);
    for (unsigned i = 0; f->slot && i < f->slots.depth; i++)
        free_slot(f, &f->slot[i]);
    if (f->device)
        f->backend->close(f->device);
    lade_heap_put(f->alloc, f->slot);
    lade_array_put(alloc_of(f), f->memory, f->memory_depth, sizeof(struct lade_turn));
    lade_array_put(alloc_of(f), f, 1, sizeof *f);
}

static void last_left(struct lade_ref *users)
{
    struct lade_feeder *f = (struct lade_feeder *)(void *)((char *)users - offsetof(struct lade_feeder, users));

    if (lade_feeder_is_here(f))
        (void)await_device(f, -1);
    free_feeder(f);
}

void lade_feeder_leave(struct lade_feeder *f)
{
    lade_ref_put(&f->users, last_left);
}

static void end_threads(struct lade_feeder *f)
{
    lade_ignore(lade_feeder_stop(f, LADE_FOREVER)); /* no timeout: it is stopped then, or the device is lost */
    for (unsigned i = 0; i < f->threads; i++)
        pthread_join(f->thread[i], NULL);
}

void lade_feeder_destroy(struct lade_feeder *f)
{
    if (!f)
        return;
    if (lade_feeder_is_here(f))
        end_threads(f);
    lade_feeder_leave(f);
}

static int make_slot(struct lade_feeder *f, struct lade_staging_slot *slot, void *staging,
                     struct lade_device_failure *failure)
{
    const struct lade_backend *b = f->backend;
    int status = LADE_OK;

    slot->feeder = f;
    memcpy(slot->shape, f->shape, sizeof slot->shape);
    atomic_init(&slot->marks, 0);
    if (staging) {
        status = b->pin(f->device, staging, f->bytes, failure);
        slot->staging = status == LADE_OK ? staging : NULL;
    } else {
        status = b->staging_get(f->device, f->bytes, &slot->staging, failure);
    }
    if (status == LADE_OK && b->copies && f->device_alloc) {
        slot->device = f->device_alloc->get(f->device_alloc->context, f->bytes, LADE_DEVICE_ALIGN);
        status = slot->device ? LADE_OK : LADE_NO_MEMORY;
    } else if (status == LADE_OK && b->copies) {
        status = b->device_get(f->device, f->bytes, &slot->device, failure);
    }
    if (status == LADE_OK && b->copies)
        status = b->event_get(f->device, &slot->ready, failure);
    for (unsigned i = 0; i <= f->tensors && status == LADE_OK; i++)
        status = b->event_get(f->device, &slot->done[i], failure);
    return status;
}

/* The number of slots, as requested or as allowed. */
static int choose_depth(const struct lade_feeder_config *c, size_t bytes, unsigned *depth, struct lade_error *error)
{
    uint64_t most = c->pinned_limit ? c->pinned_limit / bytes : LADE_FEEDER_DEPTH_MAX;

    *depth = c->depth;
    if (!c->depth)
        *depth = most < LADE_FEEDER_DEPTH ? (unsigned)most : LADE_FEEDER_DEPTH;
    if (*depth == 0 || *depth > most)
        return lade_feeder_refuse(error, LADE_LIMITED, "pinned_limit allows a depth of at most %" PRIu64, most);
    return LADE_OK;
}

static int check_config(const struct lade_feeder_config *c, size_t bytes, struct lade_error *error)
{
    if (!c->fill || c->fillers > LADE_FEEDER_FILLERS_MAX || c->depth > LADE_FEEDER_DEPTH_MAX)
        return lade_feeder_refuse(error, LADE_INVALID, "fill is NULL, or fillers or depth is above its maximum");
    if (bytes == 0)
        return lade_feeder_refuse(
            error, LADE_INVALID,
            "the number of tensors or a shape is out of range; dim[0] is the number of rows, the same for all tensors");
    if (c->priority < LADE_PRIORITY_NORMAL || c->priority > LADE_PRIORITY_HIGH)
        return lade_feeder_refuse(error, LADE_INVALID, "unknown priority");
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (c->staging && !c->depth)
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "with custom staging memory, depth must be the number of buffers");
    for (unsigned i = 0; c->staging && i < c->depth; i++)
        if (!c->staging[i] || (uintptr_t)c->staging[i] % page != 0)
            return lade_feeder_refuse(error, LADE_INVALID, "staging buffer %u is NULL or not aligned to the page size",
                                      i);
    return LADE_OK;
}

static void take_config(struct lade_feeder *f, const struct lade_feeder_config *c)
{
    size_t offset = 0;

    f->fill = c->fill;
    f->self = c->self;
    f->consumer_assists = c->consumer_assists;
    f->trace = c->trace;
    f->trace_context = c->trace_context;
    f->tensors = c->tensors;
    f->device_alloc = c->device_alloc;
    f->device_id = c->device;
    f->user_staging = c->staging != NULL;
    for (unsigned i = 0; i < c->tensors; i++) {
        f->shape[i] = c->shape[i];
        f->offset[i] = offset;
        offset += lade_feeder_bytes(&c->shape[i], 1);
    }
    f->bytes = offset;
    lade_ref_init(&f->users);
    atomic_init(&f->failing, false);
    atomic_init(&f->running, 0);
    atomic_init(&f->gone.number, 0);
    atomic_init(&f->gone.waiters, 0);
}

static int make_slots(struct lade_feeder *f, const struct lade_feeder_config *c, unsigned depth,
                      struct lade_device_failure *failure)
{
    f->memory = lade_array_get(alloc_of(f), depth, sizeof(struct lade_turn));
    f->memory_depth = depth;
    f->slot = lade_heap_get(f->alloc, depth, sizeof *f->slot);
    if (!f->memory || !f->slot) {
        lade_heap_put(f->alloc, f->slot);
        f->slot = NULL;
        return LADE_NO_MEMORY;
    }
    lade_slots_init(&f->slots, f->memory, depth);
    for (unsigned i = 0; i < depth; i++) {
        int status = make_slot(f, &f->slot[i], c->staging ? c->staging[i] : NULL, failure);
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

static int start(struct lade_feeder *f, unsigned fillers)
{
    atomic_store_explicit(&f->running, 2 * fillers, memory_order_relaxed); /* no thread yet */
    while (f->threads < fillers) {
        if (!lade_thread_start(&f->thread[f->threads], filler, f))
            break;
        f->threads++;
    }
    if (f->threads == fillers)
        return LADE_OK;
    atomic_fetch_sub_explicit(&f->running, 2 * (fillers - f->threads),
                              memory_order_relaxed); /* those that were not started */
    end_threads(f);
    return LADE_NO_MEMORY;
}

static struct lade_feeder *new_feeder(const struct lade_alloc *alloc)
{
    struct lade_feeder *f = lade_fork_is_counted() ? lade_array_get(alloc ? alloc : &lade_default, 1, sizeof *f) : NULL;

    if (f) {
        memset(f, 0, sizeof *f);
        f->alloc = alloc;
        f->generation = lade_fork_generation();
    }
    return f;
}

int lade_feeder_create_on(struct lade_feeder **feeder, const struct lade_backend *backend,
                          const struct lade_feeder_config *c, struct lade_error *error)
{
    struct lade_backend_config config = {c->device, {c->native[0], c->native[1]}, c->priority, c->alloc};
    struct lade_device_failure failure = {NULL, 0, ""};
    size_t bytes = lade_feeder_bytes(c->shape, c->tensors);
    unsigned depth = 0;

    int status = check_config(c, bytes, error);
    if (status == LADE_OK)
        status = choose_depth(c, bytes, &depth, error);
    if (status != LADE_OK)
        return status;
    struct lade_feeder *f = new_feeder(c->alloc);
    if (!f)
        return lade_feeder_refuse(error, LADE_NO_MEMORY, "out of memory");
    f->backend = backend;
    take_config(f, c);
    status = backend->open(&f->device, &config, &failure);
    if (status == LADE_OK)
        status = make_slots(f, c, depth, &failure);
    if (status == LADE_OK)
        status = start(f, (c->fillers ? c->fillers : 1) - (c->consumer_assists ? 1 : 0));
    if (status == LADE_OK) {
        *feeder = f;
        return LADE_OK;
    }
    free_feeder(f);
    if (failure.call)
        return lade_feeder_error(error, status, backend->name, &failure);
    return lade_feeder_refuse(error, status, "out of memory, or too many threads");
}
