/* SPDX-License-Identifier: MIT */
/*
 * gpu: devices for loaders.
 *
 *     struct lade_device *device;
 *     lade_device_open(&device, &(struct lade_device_config){.backend = "opencl"}, &error);
 *     struct lade_loader_config config = {.source = source, .batch = 128, .device = device};
 *     lade_loader_create(&loader, &config, &error);
 *
 * Workers of that loader write their samples directly into memory that the device copies from. lade_loader_next()
 * starts the copies and returns batches in device memory.
 *
 * Threads      a device serves one loader at a time. open and close: any thread.
 * Fork         as for loaders: the driver stays in the process that opened the device. Open one in each process.
 */
#ifndef LADE_GPU_H
#define LADE_GPU_H

#include <lade/alloc.h>
#include <lade/device.h>
#include <lade/error.h>

LADE_BEGIN

/* Zero means the default where one is named. */
struct lade_device_config {
    const char *backend; /* "host" (default), "opencl", "cuda"; see lade_feeder_backend() */
    unsigned device;     /* which device of the backend, from 0 */
    /* opencl: the consumer's cl_context and cl_device_id; default: created by open. Others: NULL. */
    void *native[2];
    enum lade_device_priority priority; /* of the stream that copies, where the device has priorities */
    /*
     * Of the host memory of the device: batches that the device copies from, unless the driver has to allocate them
     * (cuda), and its structures; default the C library's. Called by several threads concurrently. Must outlive the
     * loaders of the device, detached batches and exported tensors.
     */
    const struct lade_alloc *alloc;
};

/*
 * Opens a device. *device is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     a device or native handle that the backend does not have, or a driver used before fork().
 * LADE_ABSENT      no such backend in this build or on this machine.
 * LADE_DEVICE      the driver failed; the error names the call.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_device_open_sized(struct lade_device **device,
                                                    const struct lade_device_config *config, size_t size,
                                                    struct lade_error *error);
static inline LADE_MUST_CHECK int lade_device_open(struct lade_device **device, const struct lade_device_config *config,
                                                   struct lade_error *error)
{
    return lade_device_open_sized(device, config, sizeof *config, error);
}

/*
 * The loaders of the device must be destroyed; detached batches and exported tensors may outlive it. NULL is allowed.
 */
LADE_API void lade_device_close(struct lade_device *device);

/* For the consumer's own objects. opencl: 0 the cl_context, 1 the cl_device_id. Others: NULL. */
LADE_API void *lade_device_native(const struct lade_device *device, unsigned which);

LADE_END

#endif
