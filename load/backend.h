/* SPDX-License-Identifier: MIT */
/*
 * The one table of functions behind which a device lies. Internal.
 *
 * A backend opens a device and makes one stream of its own on it, in order, on which all copies run. Memory is copied to
 * the device there, and events say how far that stream, or a consumer's, has come. No function but open, the get and put
 * functions, unpin and close may wait for the device.
 *
 * Threads   copy, after and ready: one thread at a time. All others: any number. A backend that needs the calling thread
 *           to stand at a device (CUDA) sees to that itself, and leaves it as it found it.
 * Events    belong to one slot. Until it is recorded for the first time an event counts as complete. Recording again
 *           forgets what was recorded before; the feeder does that only with an event that is complete, or whose
 *           completion nobody waits for any more.
 * Failure   a function returns LADE_OK, or LADE_DEVICE and fills *failure (call, code and text, all three); open and the
 *           get functions also LADE_NO_MEMORY, open LADE_ABSENT (no driver, no such device) and LADE_INVALID. failure is
 *           never NULL. After a failure the feeder calls only query, the put functions, event_put, unpin and close.
 */
#ifndef LADE_LOAD_BACKEND_H
#define LADE_LOAD_BACKEND_H

#include <lade/device.h>
#include <lade/ref.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>

struct lade_backend_config {
    unsigned device;
    void *native[2];
    enum lade_device_priority priority;
};

struct lade_backend {
    const char *name;
    int dlpack_device;  /* DLDeviceType of device memory */
    int dlpack_staging; /* and of staging memory */
    bool copies;        /* device memory is other memory than staging; else device_get to copied are never called */
    bool addresses;     /* device memory is an address, to which offsets can be added; else a handle */

    /* self is what all others get. */
    int (*open)(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure);
    /* Nothing is in use any more. */
    void (*close)(void *self);

    /* Host memory that the device copies from without the processor, at a multiple of LADE_DEVICE_ALIGN. */
    int (*staging_get)(void *self, size_t bytes, void **memory, struct lade_device_failure *failure);
    void (*staging_put)(void *self, void *memory, size_t bytes);
    /* The same for memory of the user, which is at a multiple of the page size. */
    int (*pin)(void *self, void *memory, size_t bytes, struct lade_device_failure *failure);
    void (*unpin)(void *self, void *memory, size_t bytes);

    int (*device_get)(void *self, size_t bytes, void **memory, struct lade_device_failure *failure);
    void (*device_put)(void *self, void *memory, size_t bytes);

    int (*event_get)(void *self, void **event, struct lade_device_failure *failure);
    void (*event_put)(void *self, void *event);

    /* On the backend's stream: what follows runs after the event, as it is recorded at this call, is complete. */
    int (*after)(void *self, void *event, struct lade_device_failure *failure);
    /* On the backend's stream: bytes from staging to device memory, both from their beginnings; then ready is recorded. */
    int (*copy)(void *self, void *device, const void *staging, size_t bytes, void *ready,
                struct lade_device_failure *failure);
    /* Nanoseconds that the copy before the event took on the device, which is complete; -1: not known. May be NULL. */
    int64_t (*copied)(void *self, void *ready);

    /* Records the event behind what was put into the stream so far, or behind an event of the user (done says which). */
    int (*record)(void *self, void *event, enum lade_done done, void *handle, struct lade_device_failure *failure);
    /* What is put into the user's stream from here on runs after the event is complete. */
    int (*stream_wait)(void *self, void *stream, void *event, struct lade_device_failure *failure);
    /* 1 the event is complete, 0 not yet, or LADE_DEVICE. */
    int (*query)(void *self, void *event, struct lade_device_failure *failure);

    /* What the user knows the event as: cl_event, cudaEvent_t; NULL where there is nothing. */
    void *(*event_native)(void *self, void *event);
    /* See lade_feeder_native(). */
    void *(*native)(void *self, unsigned which);

    /*
     * This is a child of fork(), which does not have the driver's threads: the driver must not be called any more, nor a
     * lock be waited for. Behind it come only the put functions, unpin and close, which then free what malloc gave.
     * NULL: there is no driver.
     */
    void (*lose)(void *self);
};

/* An open device. Users are who opened it, and everything that has memory of it. */
struct lade_device {
    const struct lade_backend *backend;
    void *self;               /* of the backend */
    unsigned number;          /* as in the config */
    uint32_t generation;      /* of the process that opened it, see fork.h */
    _Atomic uint32_t is_used; /* by a loader */
    struct lade_ref users;
};

/* LADE_OK, or what the backend returned, with the failure. LADE_NO_MEMORY also without one. */
int lade_device_create(struct lade_device **device, const struct lade_backend *backend,
                       const struct lade_backend_config *config, struct lade_device_failure *failure);
/* Behind the last user the device is closed. */
void lade_device_leave(struct lade_device *device);

#endif
