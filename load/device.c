/* SPDX-License-Identifier: MIT */
/* An open device and its users, the last of which closes it. */
#include "backend.h"
#include "heap.h"

#include <lade/fork.h>

int lade_device_create(struct lade_device **device, const struct lade_backend *backend,
                       const struct lade_backend_config *config, struct lade_device_failure *failure)
{
    struct lade_device *d = lade_fork_is_counted() ? lade_heap_get(config->alloc, 1, sizeof *d) : NULL;

    if (!d)
        return LADE_NO_MEMORY;
    d->backend = backend;
    d->alloc = config->alloc;
    d->number = config->device;
    d->generation = lade_fork_generation();
    lade_ref_init(&d->users);
    int status = backend->open(&d->self, config, failure);
    if (status == LADE_OK)
        *device = d;
    else
        lade_heap_put(config->alloc, d);
    return status;
}

static void close_device(struct lade_ref *users)
{
    struct lade_device *d = (struct lade_device *)(void *)((char *)users - offsetof(struct lade_device, users));

    if (d->backend->lose && d->generation != lade_fork_generation())
        d->backend->lose(d->self);
    d->backend->close(d->self);
    lade_heap_put(d->alloc, d);
}

void lade_device_leave(struct lade_device *device)
{
    lade_ref_put(&device->users, close_device);
}
