/* SPDX-License-Identifier: MIT */
/* The first OpenCL device of the machine, for tests. */
#ifndef LADE_TEST_OPENCL_DEVICE_H
#define LADE_TEST_OPENCL_DEVICE_H

#include "opencl.h"

#include <criterion/criterion.h>

struct device {
    cl_context context;
    cl_device_id id;
    cl_command_queue queue;
};

static inline void device_open(struct device *d)
{
    struct lade_device_failure failure = {.text = ""};
    cl_int code;

    cr_assert_eq(lade_opencl_open(&d->context, &d->id, 0, (void *[2]){NULL, NULL}, &failure), LADE_OK, "%s: %s",
                 failure.call, failure.text);
    d->queue = clCreateCommandQueue(d->context, d->id, 0, &code);
    cr_assert_eq(code, CL_SUCCESS);
}

static inline void device_close(struct device *d)
{
    clReleaseCommandQueue(d->queue);
    clReleaseContext(d->context);
}

static inline cl_mem device_memory(const struct device *d, size_t bytes)
{
    cl_int code;
    cl_mem memory = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &code);

    cr_assert_eq(code, CL_SUCCESS);
    return memory;
}

#endif
