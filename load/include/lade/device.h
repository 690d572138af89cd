/* SPDX-License-Identifier: MIT */
/*
 * device: types of batches in device memory, shared by loader and feeder. lade/gpu.h opens a device, which a loader
 * gets in its config. No driver is needed to include this header.
 */
#ifndef LADE_DEVICE_H
#define LADE_DEVICE_H

#include <lade/api.h>
#include <lade/source.h>

LADE_BEGIN

#define LADE_TENSORS_MAX 8u    /* of a batch */
#define LADE_DEVICE_ALIGN 256u /* bytes, of each tensor, on the host and on the device */

/* A device, see lade_device_open() in lade/gpu.h. */
struct lade_device;

/* One tensor of a batch. Frozen, because batches hold an array of it. */
struct lade_tensor {
    void *data;                     /* address on the device; opencl: a cl_mem */
    uint64_t offset;                /* in bytes from data */
    const void *host;               /* the same bytes on the host; NULL: only on the device */
    const struct lade_shape *shape; /* dim[0] is the number of rows of this batch */
};

/* When a consumer is done with a batch. */
enum lade_done {
    LADE_DONE_NOW,    /* at the call; the device has no pending work on the batch */
    LADE_DONE_STREAM, /* when this stream (cl_command_queue, cudaStream_t) has completed its work so far */
    LADE_DONE_EVENT,  /* when this event (cl_event, cudaEvent_t, already recorded) is complete */
};

/* Which memory of a batch. */
enum lade_side {
    LADE_ON_DEVICE, /* that on the device */
    LADE_ON_HOST,   /* the staging memory on the host */
};

/* Priority of a stream that copies, where the device has priorities. */
enum lade_device_priority {
    LADE_PRIORITY_NORMAL, /* the device's default */
    LADE_PRIORITY_LOW,    /* its lowest */
    LADE_PRIORITY_HIGH,   /* its highest */
};

/* The call of the driver that failed. Frozen. */
struct lade_device_failure {
    const char *call; /* "clEnqueueWriteBuffer", "cudaMemcpyAsync", ... */
    int64_t code;     /* what it returned */
    char text[256];   /* the driver's text for the code */
};

LADE_END

#endif
