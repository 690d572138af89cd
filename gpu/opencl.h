/* SPDX-License-Identifier: MIT */
/* What the parts that speak OpenCL share. Internal. */
#ifndef LADE_GPU_OPENCL_H
#define LADE_GPU_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: all that OpenCL 1.2 knows */
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <lade/feeder.h>

/* Fills the failure and returns LADE_DEVICE. */
int lade_opencl_fail(struct lade_device_failure *failure, const char *call, cl_int code);

/* The name of a code, as in CL/cl.h. */
const char *lade_opencl_text(cl_int code);

/*
 * The device of this number, counted over all platforms, in their order; or where native[0] is a cl_context, it and its
 * device native[1] (NULL: its first). The context is to be released. LADE_ABSENT: there is none.
 * LADE_INVALID: a device without its context, or OpenCL was used before fork().
 */
int lade_opencl_open(cl_context *context, cl_device_id *device, unsigned number, void *const native[2],
                     struct lade_device_failure *failure);

/* Compiles lines of OpenCL C; where that fails the failure's text is what the compiler said. */
int lade_opencl_build(cl_program *program, cl_context context, cl_device_id device, cl_uint lines,
                      const char *const *line, struct lade_device_failure *failure);

/* convert.inc. */
extern const char *const lade_convert_text[];
extern const cl_uint lade_convert_lines;

struct lade_opencl_argument {
    const void *value;
    size_t bytes;
};

/* Puts a kernel into the queue, with all its arguments. One thread at a time for each kernel. */
int lade_opencl_run(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *size,
                    const struct lade_opencl_argument *argument, cl_uint arguments,
                    struct lade_device_failure *failure);

#endif
