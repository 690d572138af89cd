/* SPDX-License-Identifier: MIT */
/*
 * Work of lade feed on a batch on an OpenCL device: conversion to normalised numbers, and softmax regression on them.
 */
#include "feed_device.h"

#include "opencl.h"
#include "softmax.h"

#include <lade/convert.h>

#include <stdlib.h>

enum { PENDING = 64 };

struct work {
    struct lade_converter *converter;
    struct lade_softmax *softmax; /* NULL: there are no labels */
    cl_command_queue queue;
    cl_mem numbers;
    cl_event pending[PENDING][2]; /* markers before and after the work on batches */
    unsigned first, count;
    double busy;
};

static int fail(struct lade_error *error, const char *call, cl_int code)
{
    *error = (struct lade_error){.status = LADE_DEVICE, .offset = LADE_NO_OFFSET};
    (void)snprintf(error->text, sizeof error->text, "%s: %s", call, lade_opencl_text(code));
    return LADE_DEVICE;
}

/* Adds the duration of the oldest work not yet counted. */
static void account(struct work *w)
{
    cl_event *pair = w->pending[w->first];
    cl_ulong begin = 0, end = 0;

    if (clWaitForEvents(1, &pair[1]) == CL_SUCCESS &&
        clGetEventProfilingInfo(pair[0], CL_PROFILING_COMMAND_END, sizeof begin, &begin, NULL) == CL_SUCCESS &&
        clGetEventProfilingInfo(pair[1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS && end > begin)
        w->busy += (double)(end - begin) * 1e-9;
    clReleaseEvent(pair[0]);
    clReleaseEvent(pair[1]);
    w->first = (w->first + 1) % PENDING;
    w->count--;
}

static void work_close(void *self)
{
    struct work *w = self;

    while (w->count > 0)
        account(w);
    if (w->queue)
        clFinish(w->queue);
    lade_softmax_destroy(w->softmax);
    lade_converter_destroy(w->converter);
    if (w->numbers)
        clReleaseMemObject(w->numbers);
    if (w->queue)
        clReleaseCommandQueue(w->queue);
    free(w);
}

static int prepare(struct work *w, struct lade_device *gpu, const struct feed *f, struct lade_error *error)
{
    void *context = lade_device_native(gpu, 0), *device = lade_device_native(gpu, 1);
    float table[2];
    struct lade_converter_config convert = {
        .backend = "opencl", .native = {context, device}, .dtype = LADE_F32, .table = table};
    cl_int code;

    if (!device_table(f, table, &convert.pixels, &convert.channels))
        return fail(error, "lade_convert_table", LADE_INVALID);
    const struct lade_softmax_config learn = {.native = {context, device},
                                              .rows = (uint32_t)f->o.batch,
                                              .inputs = convert.pixels,
                                              .classes = f->classes,
                                              .rate = f->o.rate > 0 ? (float)f->o.rate : 20.0f / (float)convert.pixels};
    w->queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS)
        return fail(error, "clCreateCommandQueue", code);
    w->numbers =
        clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)f->o.batch * convert.pixels * sizeof(float), NULL, &code);
    if (code != CL_SUCCESS)
        return fail(error, "clCreateBuffer", code);
    int status = lade_converter_create(&w->converter, &convert, error);
    if (status == LADE_OK && f->info->classes >= 2)
        status = lade_softmax_create(&w->softmax, &learn, error);
    return status;
}

static int work_open(void **self, struct lade_device *gpu, const struct feed *f, struct lade_error *error)
{
    struct work *w = calloc(1, sizeof *w);
    int status = w ? prepare(w, gpu, f, error) : LADE_NO_MEMORY;

    if (status == LADE_OK)
        *self = w;
    else if (w)
        work_close(w);
    return status;
}

static int put(struct work *w, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    cl_event *pair = w->pending[(w->first + w->count) % PENDING];
    int status = lade_loader_stream_wait(loader, batch, w->queue, error);

    cl_int code = clEnqueueMarkerWithWaitList(w->queue, 0, NULL, &pair[0]);
    if (code != CL_SUCCESS)
        return fail(error, "clEnqueueMarkerWithWaitList", code);
    if (status == LADE_OK)
        status = lade_converter_run(w->converter, &batch->tensor[LADE_SAMPLES], w->numbers, w->queue, error);
    if (status == LADE_OK && w->softmax)
        status = lade_softmax_step(w->softmax, w->queue, w->numbers, &batch->tensor[LADE_LABELS], error);
    code = clEnqueueMarkerWithWaitList(w->queue, 0, NULL, &pair[1]);
    if (code != CL_SUCCESS) {
        clReleaseEvent(pair[0]);
        return fail(error, "clEnqueueMarkerWithWaitList", code);
    }
    w->count++;
    return status;
}

static int work_step(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    struct work *w = self;

    /* Limits the work enqueued ahead; the number of slots limits it far sooner. */
    if (w->count == PENDING)
        account(w);
    int status = put(w, loader, batch, error);
    int released =
        lade_loader_release_after(loader, batch, LADE_DONE_STREAM, w->queue, status == LADE_OK ? error : NULL);
    clFlush(w->queue);
    return status != LADE_OK ? status : released;
}

static bool work_loss(void *self, double *loss)
{
    struct work *w = self;
    struct lade_softmax_report report;
    struct lade_error error;

    if (!w->softmax || lade_softmax_read(w->softmax, w->queue, &report, &error) != LADE_OK || report.rows == 0)
        return false;
    *loss = report.loss;
    return true;
}

static double work_busy(void *self)
{
    struct work *w = self;

    while (w->count > 0)
        account(w);
    return w->busy;
}

const struct device_work work_opencl = {work_open, work_step, work_loss, work_busy, work_close};
