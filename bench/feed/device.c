/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 64 << 20, GROUPS = 16, GROUP = 4 };

static const char *const text = "__kernel void compute(__global ulong *sink, ulong steps) {\n"
                                "    ulong x = get_global_id(0);\n"
                                "    for (ulong i = 0; i < steps; i++) x = x * 6364136223846793005UL + i;\n"
                                "    sink[get_global_id(0)] = x;\n"
                                "}\n";

void must(cl_int code, const char *call)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "%s returned %d\n", call, (int)code);
    exit(1);
}

/* Two of one core each, so that computing does not take the copies' core; else the device itself, twice. */
static void divide(struct device *d, cl_device_id whole)
{
    const cl_device_partition_property plan[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
                                                 CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id part[2] = {whole, whole};

    if (clCreateSubDevices(whole, plan, 2, part, NULL) != CL_SUCCESS)
        fprintf(stderr, "the device cannot be divided\n");
    d->copies = part[0];
    d->compute = part[1];
}

void device_open(struct device *d)
{
    cl_platform_id platform;
    cl_device_id whole;
    cl_int code;

    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &whole, NULL), "clGetDeviceIDs");
    divide(d, whole);
    d->context = clCreateContext(NULL, d->copies == d->compute ? 1 : 2, (cl_device_id[]){d->copies, d->compute}, NULL,
                                 NULL, &code);
    must(code, "clCreateContext");
    d->copy_queue = clCreateCommandQueue(d->context, d->copies, 0, &code);
    must(code, "clCreateCommandQueue");
    d->compute_queue = clCreateCommandQueue(d->context, d->compute, 0, &code);
    must(code, "clCreateCommandQueue");
    const char *line = text;
    cl_program program = clCreateProgramWithSource(d->context, 1, &line, NULL, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    d->kernel = clCreateKernel(program, "compute", &code);
    must(code, "clCreateKernel");
    clReleaseProgram(program);
    d->sink = clCreateBuffer(d->context, CL_MEM_READ_WRITE, GROUPS * GROUP * sizeof(cl_ulong), NULL, &code);
    must(code, "clCreateBuffer");
    must(clSetKernelArg(d->kernel, 0, sizeof d->sink, &d->sink), "clSetKernelArg");
}

void device_close(struct device *d)
{
    clReleaseMemObject(d->sink);
    clReleaseKernel(d->kernel);
    clReleaseCommandQueue(d->copy_queue);
    clReleaseCommandQueue(d->compute_queue);
    clReleaseContext(d->context);
}

/* Several work-groups, which would fill all cores of a device that has more. */
void device_compute(struct device *d, uint64_t steps, const cl_event *after, cl_event *done)
{
    cl_ulong each = steps;

    must(clSetKernelArg(d->kernel, 1, sizeof each, &each), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(d->compute_queue, d->kernel, 1, NULL, (size_t[]){GROUPS * GROUP}, (size_t[]){GROUP},
                                after ? 1 : 0, after, done),
         "clEnqueueNDRangeKernel");
}

void pool_open(struct pool *pool, size_t batch, bool untouched)
{
    pool->batch = batch;
    pool->batches = batch > POOL ? 1 : POOL / batch;
    pool->untouched = untouched;
    pool->bytes = malloc(pool->batches * batch);
    if (!pool->bytes)
        exit(1);
    for (size_t i = 0; i < pool->batches * batch; i++)
        pool->bytes[i] = (char)(i * 31 + i / 4096);
}

void pool_copy(const struct pool *pool, uint64_t number, void *to)
{
    if (!pool->untouched)
        memcpy(to, pool->bytes + number % pool->batches * pool->batch, pool->batch);
}

int pool_fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    (void)error;
    pool_copy(self, slot->number, slot->data[0]);
    return LADE_OK;
}

struct lade_feeder *feeder_made(struct pool *pool, unsigned depth, bool help, const struct device *device)
{
    struct lade_shape shape = {LADE_U8, 2, {1, pool->batch}};
    struct lade_feeder_config config = {
        .fill = pool_fill, .self = pool, .tensors = 1, .shape = &shape, .depth = depth, .consumer_assists = help};
    struct lade_feeder *feeder;
    struct lade_error error;

    if (device) {
        config.backend = "opencl";
        config.native[0] = device->context;
        config.native[1] = device->copies;
    }
    if (lade_feeder_create(&feeder, &config, &error) == LADE_OK)
        return feeder;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}
