/* SPDX-License-Identifier: MIT */
/* Conversion on an OpenCL device: the text of convert.inc, embedded by the build and compiled by the driver. */
#include "converter.h"
#include "heap.h"
#include "opencl.h"

const char *const lade_convert_text[] = {
#include "convert_text.h"
};
const cl_uint lade_convert_lines = sizeof lade_convert_text / sizeof *lade_convert_text;

/* Maximum work-items along the pixels; the kernels accept a grid of any size. */
enum { ACROSS = 65536, TOGETHER = 64 };

struct converter {
    cl_program program;
    cl_kernel kernel;
    cl_mem table;
    uint32_t pixels, channels;
};

static void converter_release(void *self)
{
    const struct converter *c = self;

    if (c->table)
        clReleaseMemObject(c->table);
    if (c->kernel)
        clReleaseKernel(c->kernel);
    if (c->program)
        clReleaseProgram(c->program);
}

static int converter_create(void **self, const struct lade_converter_config *config,
                            struct lade_device_failure *failure)
{
    cl_context context = config->native[0];
    cl_int code;

    if (!context || !config->native[1]) {
        (void)lade_opencl_fail(failure, "create", CL_INVALID_CONTEXT);
        return LADE_INVALID;
    }
    struct converter *c = lade_heap_get(config->alloc, 1, sizeof *c);
    if (!c)
        return LADE_NO_MEMORY;
    c->pixels = config->pixels;
    c->channels = config->channels;
    int status =
        lade_opencl_build(&c->program, context, config->native[1], lade_convert_lines, lade_convert_text, failure);
    if (status == LADE_OK) {
        c->kernel =
            clCreateKernel(c->program, config->dtype == LADE_F32 ? "lade_kernel_f32" : "lade_kernel_f16", &code);
        if (code != CL_SUCCESS)
            status = lade_opencl_fail(failure, "clCreateKernel", code);
    }
    if (status == LADE_OK) {
        c->table = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                  2 * (size_t)c->channels * sizeof(float), (void *)(uintptr_t)config->table, &code);
        if (code != CL_SUCCESS)
            status = lade_opencl_fail(failure, "clCreateBuffer", code);
    }
    if (status == LADE_OK) {
        *self = c;
    } else {
        converter_release(c);
        lade_heap_put(config->alloc, c);
    }
    return status;
}

static int converter_run(void *self, const struct lade_tensor *from, uint32_t images, void *to, void *stream,
                         struct lade_device_failure *failure)
{
    struct converter *c = self;
    cl_mem in = from->data, out = to;
    cl_ulong first = from->offset;
    const struct lade_opencl_argument arguments[] = {
        {&in, sizeof in},
        {&first, sizeof first},
        {&out, sizeof out},
        {&c->table, sizeof c->table},
        {&images, sizeof images},
        {&c->pixels, sizeof c->pixels},
        {&c->channels, sizeof c->channels},
    };
    size_t across = c->pixels < ACROSS ? c->pixels : ACROSS;
    size_t size[2] = {(across + TOGETHER - 1) / TOGETHER * TOGETHER, (size_t)images * c->channels};

    return lade_opencl_run(stream, c->kernel, 2, size, arguments, sizeof arguments / sizeof *arguments, failure);
}

const struct lade_converter_ops lade_converter_opencl = {"opencl", converter_create, converter_run, converter_release};
