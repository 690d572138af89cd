/* SPDX-License-Identifier: MIT */
/*
 * The table of functions that hides a device. Internal.
 *
 * A backend opens a device and creates one in-order stream on it, on which all copies to the device run. Events mark
 * progress on that stream or on a consumer's. Only open, the get and put functions, unpin and close may wait for the
 * device.
 *
 * Threads   copy, after and ready: one thread at a time. All others: any number. A backend that needs a current device
 *           in the calling thread (CUDA) sets it, and restores the previous one.
 * Events    belong to one slot. An event counts as complete until it is recorded for the first time. Recording again
 *           discards the earlier record; the feeder records only an event that is complete, or on whose completion no
 *           thread waits.
 * Failure   a function returns LADE_OK, or LADE_DEVICE and fills *failure (call, code and text, all three); open and
 *           the get functions also LADE_NO_MEMORY, open LADE_ABSENT (no driver, no such device) and LADE_INVALID.
 *           failure is never NULL. After a failure the feeder calls only query, the put functions, event_put, unpin and
 *           close.
 */
#ifndef LADE_LOAD_BACKEND_H
#define LADE_LOAD_BACKEND_H

#include <lade/alloc.h>
#include <lade/device.h>
#include <lade/ref.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>

struct lade_backend_config {
    unsigned device;
    void *native[2];
    enum lade_device_priority priority;
    const struct lade_alloc *alloc; /* of all host memory that is not from the driver; NULL: the C library's */
};

struct lade_backend {
    const char *name;
    int dlpack_device;  /* DLDeviceType of device memory */
    int dlpack_staging; /* and of staging memory */
    bool copies;        /* device memory differs from staging; else device_get to copied are never called */
    bool addresses;     /* device memory is an address that offsets can be added to; else a handle */

    /* self is the first argument of all others. */
    int (*open)(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure);
    /* Nothing may be in use. */
    void (*close)(void *self);

    /* Host memory that the device copies from without the processor, aligned to LADE_DEVICE_ALIGN. */
    int (*staging_get)(void *self, size_t bytes, void **memory, struct lade_device_failure *failure);
    void (*staging_put)(void *self, void *memory, size_t bytes);
    /* The same for memory of the user, aligned to the page size. */
    int (*pin)(void *self, void *memory, size_t bytes, struct lade_device_failure *failure);
    void (*unpin)(void *self, void *memory, size_t bytes);

    int (*device_get)(void *self, size_t bytes, void **memory, struct lade_device_failure *failure);
    void (*device_put)(void *self, void *memory, size_t bytes);

    int (*event_get)(void *self, void **event, struct lade_device_failure *failure);
    void (*event_put)(void *self, void *event);

    /* On the backend's stream: later work runs after the event, as recorded at this call, is complete. */
    int (*after)(void *self, void *event, struct lade_device_failure *failure);
    /*
     * On the backend's stream: bytes from staging to device memory, both from their beginnings; then ready is recorded.
     */
    int (*copy)(void *self, void *device, const void *staging, size_t bytes, void *ready,
                struct lade_device_failure *failure);
    /* Duration on the device of the completed copy before the event, in nanoseconds; -1: unknown. May be NULL. */
    int64_t (*copied)(void *self, void *ready);

    /* Records the event after the work enqueued on the stream so far, or after a user's event, depending on done. */
    int (*record)(void *self, void *event, enum lade_done done, void *handle, struct lade_device_failure *failure);
    /* Work enqueued on the user's stream after this call runs after the event is complete. */
    int (*stream_wait)(void *self, void *stream, void *event, struct lade_device_failure *failure);
    /* 1: the event is complete; 0: not yet; or LADE_DEVICE. */
    int (*query)(void *self, void *event, struct lade_device_failure *failure);

    /* The native event: cl_event, cudaEvent_t; NULL if there is none. */
    void *(*event_native)(void *self, void *event);
    /* See lade_feeder_native(). */
    void *(*native)(void *self, unsigned which);

    /*
     * Called in a child of fork(), which does not have the driver's threads: the driver must not be called, and no lock
     * awaited. After it only the put functions, unpin and close are called, which then free only
     * memory from the allocator.
     * NULL: there is no driver.
     */
    void (*lose)(void *self);
};

/* An open device. Users are the caller that opened it, and each object that holds memory of it. */
struct lade_device {
    const struct lade_backend *backend;
    void *self;               /* of the backend */
    unsigned number;          /* as in the config */
    uint32_t generation;      /* of the process that opened it, see fork.h */
    _Atomic uint32_t is_used; /* by a loader */
    struct lade_ref users;
    const struct lade_alloc *alloc;
};

/* LADE_OK, or what the backend returned, with the failure. LADE_NO_MEMORY also without one. */
int lade_device_create(struct lade_device **device, const struct lade_backend *backend,
                       const struct lade_backend_config *config, struct lade_device_failure *failure);
/* The last user closes the device. */
void lade_device_leave(struct lade_device *device);

#endif
