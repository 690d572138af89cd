/* SPDX-License-Identifier: MIT */
/*
 * The host as device: batches are used where they were written, and no copy is ever pending. self is the allocator,
 * which is only read.
 */
#include "alloc.h"
#include "backends.h"

#include <lade/dlpack.h>
#include <string.h>

static int host_open(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure)
{
    if (config->device != 0 || config->native[0] || config->native[1]) {
        failure->call = "open";
        failure->code = config->device;
        strcpy(failure->text, "this backend has only device 0, and takes no native handle");
        return LADE_INVALID;
    }
    *self = (void *)(uintptr_t)(config->alloc ? config->alloc : &lade_default);
    return LADE_OK;
}

static void host_close(void *self)
{
    (void)self;
}

static int host_staging_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    const struct lade_alloc *a = self;

    (void)failure;
    *memory = a->get(a->context, bytes, LADE_DEVICE_ALIGN);
    if (!*memory)
        return LADE_NO_MEMORY;
    memset(*memory, 0, bytes); /* maps the pages before the first batch */
    return LADE_OK;
}

static void host_staging_put(void *self, void *memory, size_t bytes)
{
    const struct lade_alloc *a = self;

    a->put(a->context, memory, bytes);
}

static int host_pin(void *self, void *memory, size_t bytes, struct lade_device_failure *failure)
{
    (void)self;
    (void)memory;
    (void)bytes;
    (void)failure;
    return LADE_OK;
}

static void host_unpin(void *self, void *memory, size_t bytes)
{
    (void)self;
    (void)memory;
    (void)bytes;
}

/* Events: work on host streams is always complete. */
static int host_event_get(void *self, void **event, struct lade_device_failure *failure)
{
    (void)failure;
    *event = self;
    return LADE_OK;
}

static void host_event_put(void *self, void *event)
{
    (void)self;
    (void)event;
}

static int host_record(void *self, void *event, enum lade_done done, void *handle, struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)done;
    (void)handle;
    (void)failure;
    return LADE_OK;
}

static int host_query(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)failure;
    return 1;
}

static void *host_native(void *self, unsigned which)
{
    (void)self;
    (void)which;
    return NULL;
}

const struct lade_backend lade_backend_host = {
    .name = "host",
    .dlpack_device = kDLCPU,
    .dlpack_staging = kDLCPU,
    .copies = false,
    .addresses = true,
    .open = host_open,
    .close = host_close,
    .staging_get = host_staging_get,
    .staging_put = host_staging_put,
    .pin = host_pin,
    .unpin = host_unpin,
    .event_get = host_event_get,
    .event_put = host_event_put,
    .record = host_record,
    .query = host_query,
    .native = host_native,
};
