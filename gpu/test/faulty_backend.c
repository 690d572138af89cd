/* SPDX-License-Identifier: MIT */
/* The faulty device as a backend. */
#include "faulty_device.h"

#include <stdlib.h>
#include <string.h>

#define COPY_STEPS 4 /* see copy_piece() */

static int get_memory(struct faulty *d, const char *call, size_t bytes, void **memory,
                      struct lade_device_failure *failure)
{
    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, call, failure);
    pthread_mutex_unlock(&d->lock);
    if (status != LADE_OK)
        return status;
    *memory = aligned_alloc(LADE_DEVICE_ALIGN, bytes);
    if (!*memory)
        return LADE_NO_MEMORY;
    memset(*memory, FAULTY_POISON, bytes);
    atomic_fetch_add(&faulty_all, 1);
    return LADE_OK;
}

/* No current or pending work of the device may use the memory; a lost device has none. */
static void check_unused(struct faulty *d, const void *memory)
{
    if (d->left)
        return;
    pthread_mutex_lock(&d->lock);
    while (d->lost && d->busy)
        pthread_cond_wait(&d->changed, &d->lock);
    for (unsigned i = 0; i < d->streams && !d->lost; i++)
        for (const struct operation *o = d->stream[i].first; o; o = o->next)
            if (o->memory == memory || (o->what == COPY && o->from == memory))
                faulty_die("memory is freed while it is in use");
    pthread_mutex_unlock(&d->lock);
}

static int faulty_staging_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    return get_memory(self, "staging_get", bytes, memory, failure);
}

static int faulty_device_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    return get_memory(self, "device_get", bytes, memory, failure);
}

static void faulty_put(void *self, void *memory, size_t bytes)
{
    check_unused(self, memory);
    memset(memory, FAULTY_POISON, bytes);
    free(memory);
    atomic_fetch_sub(&faulty_all, 1);
}

static int faulty_pin(void *self, void *memory, size_t bytes, struct lade_device_failure *failure)
{
    struct faulty *d = self;

    (void)memory;
    (void)bytes;
    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "pin", failure);
    pthread_mutex_unlock(&d->lock);
    atomic_fetch_add(&faulty_all, status == LADE_OK);
    return status;
}

static void faulty_unpin(void *self, void *memory, size_t bytes)
{
    (void)bytes;
    check_unused(self, memory);
    atomic_fetch_sub(&faulty_all, 1);
}

static int faulty_event_get(void *self, void **event, struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "event_get", failure);
    pthread_mutex_unlock(&d->lock);
    if (status != LADE_OK)
        return status;
    *event = calloc(1, sizeof(struct faulty_event));
    if (!*event)
        return LADE_NO_MEMORY;
    atomic_fetch_add(&faulty_all, 1);
    return LADE_OK;
}

static void faulty_event_put(void *self, void *event)
{
    faulty_free_event(self, event);
    atomic_fetch_sub(&faulty_all, 1);
}

static int faulty_after(void *self, void *event, struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "after", failure);
    if (status == LADE_OK)
        faulty_put_wait(d, &d->stream[0], event);
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int faulty_copy(void *self, void *device, const void *staging, size_t bytes, void *ready,
                       struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "copy", failure);
    if (status == LADE_OK) {
        faulty_put_operation(d, &d->stream[0],
                             &(struct operation){.what = COPY,
                                                 .steps = COPY_STEPS,
                                                 .memory = device,
                                                 .to = device,
                                                 .from = (char *)(uintptr_t)staging,
                                                 .bytes = bytes});
        faulty_put_record(d, &d->stream[0], ready);
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int faulty_record(void *self, void *event, enum lade_done done, void *handle,
                         struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "record", failure);
    if (status == LADE_OK && done == LADE_DONE_EVENT) {
        faulty_put_wait(d, &d->stream[1], handle);
        faulty_put_record(d, &d->stream[1], event);
    } else if (status == LADE_OK) {
        faulty_put_record(d, handle, event);
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int faulty_stream_wait(void *self, void *stream, void *event, struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "stream_wait", failure);
    if (status == LADE_OK)
        faulty_put_wait(d, stream, event);
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int faulty_query(void *self, void *event, struct lade_device_failure *failure)
{
    struct faulty *d = self;

    pthread_mutex_lock(&d->lock);
    int status = faulty_may_fail(d, "query", failure);
    if (status == LADE_OK)
        status = faulty_is_complete(event) && faulty_any(d, 256) >= d->config.late;
    pthread_mutex_unlock(&d->lock);
    return status;
}

static int64_t faulty_copied(void *self, void *ready)
{
    struct faulty *d = self;
    const struct faulty_event *event = ready;

    pthread_mutex_lock(&d->lock);
    const bool was_copied = event->record && event->record->complete;
    pthread_mutex_unlock(&d->lock);
    return was_copied ? 1000 : -1;
}

static void *faulty_event_native(void *self, void *event)
{
    (void)self;
    return event;
}

static void *faulty_native(void *self, unsigned which)
{
    return which == 0 ? self : NULL;
}

const struct lade_backend faulty_backend = {
    .name = "faulty",
    .dlpack_device = 12, /* kDLExtDev */
    .dlpack_staging = 1, /* kDLCPU */
    .copies = true,
    .addresses = true,
    .open = faulty_open,
    .close = faulty_close,
    .staging_get = faulty_staging_get,
    .staging_put = faulty_put,
    .pin = faulty_pin,
    .unpin = faulty_unpin,
    .device_get = faulty_device_get,
    .device_put = faulty_put,
    .event_get = faulty_event_get,
    .event_put = faulty_event_put,
    .after = faulty_after,
    .copy = faulty_copy,
    .record = faulty_record,
    .stream_wait = faulty_stream_wait,
    .copied = faulty_copied,
    .query = faulty_query,
    .event_native = faulty_event_native,
    .native = faulty_native,
    .lose = faulty_leave,
};
