/* SPDX-License-Identifier: MIT */
/*
 * What the programs that feed a device share: batches that are copied out of a pool, and an OpenCL device with one core
 * for copies and one to compute.
 */
#ifndef LADE_BENCH_FEED_DEVICE_H
#define LADE_BENCH_FEED_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <lade/feeder.h>

struct device {
    cl_context context;
    cl_device_id copies, compute; /* sub-devices of one core each; the same device where it cannot be divided */
    cl_command_queue copy_queue, compute_queue;
    cl_kernel kernel;
    cl_mem sink;
};

void device_open(struct device *d);
void device_close(struct device *d);

/* Puts arithmetic of the given number of steps into the compute queue, behind the event and up to done, either of which may be NULL. */
void device_compute(struct device *d, uint64_t steps, const cl_event *after, cl_event *done);

/* Ends the program when a call failed. */
void must(cl_int code, const char *call);

/* Where batches come from. fill copies one out of the pool, or only reports that it is there. */
struct pool {
    char *bytes;
    size_t batch, batches; /* bytes of one; how many */
    bool untouched;
};
void pool_open(struct pool *pool, size_t batch, bool untouched);
void pool_copy(const struct pool *pool, uint64_t number, void *to);
lade_feeder_fill pool_fill;

/* A feeder of one tensor, to the host when device is NULL; ends the program when there is none. */
struct lade_feeder *feeder_made(struct pool *pool, unsigned depth, bool help, const struct device *device);

#endif
