/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts that use OpenCL. Internal. */
#ifndef LADE_GPU_OPENCL_H
#define LADE_GPU_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: the only call in OpenCL 1.2 */
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <lade/feeder.h>

/* Fills the failure and returns LADE_DEVICE. */
int lade_opencl_fail(struct lade_device_failure *failure, const char *call, cl_int code);

/* The name of a code, as in CL/cl.h. */
const char *lade_opencl_text(cl_int code);

/*
 * The device of this number, counted over all platforms, in their order; or, if native[0] is a cl_context, that context
 * and its device native[1] (NULL: its first). The caller releases the context.
 * LADE_OK
 * LADE_ABSENT      there is no such device.
 * LADE_INVALID     a device without its context, or OpenCL was used before fork().
 */
int lade_opencl_open(cl_context *context, cl_device_id *device, unsigned number, void *const native[2],
                     struct lade_device_failure *failure);

/* Compiles lines of OpenCL C; on failure its text is the output of the compiler. */
int lade_opencl_build(cl_program *program, cl_context context, cl_device_id device, cl_uint lines,
                      const char *const *line, struct lade_device_failure *failure);

/* convert.inc. */
extern const char *const lade_convert_text[];
extern const cl_uint lade_convert_lines;

struct lade_opencl_argument {
    const void *value;
    size_t bytes;
};

/* Enqueues a kernel with all its arguments. One thread at a time for each kernel. */
int lade_opencl_run(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *size,
                    const struct lade_opencl_argument *argument, cl_uint arguments,
                    struct lade_device_failure *failure);

#endif
