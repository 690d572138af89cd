/* SPDX-License-Identifier: MIT */
/* Conversion on a CUDA device: convert_cuda.cu has the kernels. */
#include "cuda.h"

#include "converter.h"
#include "heap.h"

struct converter {
    int device;
    enum lade_dtype dtype;
    uint32_t pixels, channels;
    float *table; /* on the device */
};

static cudaError_t upload(struct converter *c, const float *table, const char **call)
{
    size_t bytes = 2 * (size_t)c->channels * sizeof *table;
    void *memory = NULL;
    cudaError_t code = cudaMalloc(&memory, bytes);

    *call = "cudaMalloc";
    if (code != cudaSuccess)
        return code;
    *call = "cudaMemcpy";
    code = cudaMemcpy(memory, table, bytes, cudaMemcpyHostToDevice);
    if (code == cudaSuccess)
        c->table = memory;
    else
        (void)cudaFree(memory);
    return code;
}

static int converter_create(void **self, const struct lade_converter_config *config,
                            struct lade_device_failure *failure)
{
    const char *call = "cudaSetDevice";
    int before = 0, status = lade_cuda_find(config->device, failure);
    struct converter *c;

    if (status != LADE_OK)
        return status;
    c = lade_heap_get(config->alloc, 1, sizeof *c);
    if (!c)
        return LADE_NO_MEMORY;
    c->device = (int)config->device;
    c->dtype = config->dtype;
    c->pixels = config->pixels;
    c->channels = config->channels;
    cudaError_t code = lade_cuda_enter(c->device, &before);
    if (code == cudaSuccess) {
        code = upload(c, config->table, &call);
        lade_cuda_leave(c->device, before);
    }
    if (code != cudaSuccess) {
        lade_heap_put(config->alloc, c);
        return lade_cuda_fail(failure, call, code);
    }
    *self = c;
    return LADE_OK;
}

static int converter_run(void *self, const struct lade_tensor *from, uint32_t images, void *to, void *stream,
                         struct lade_device_failure *failure)
{
    const struct converter *c = self;
    const char *call = "cudaSetDevice";
    int before = 0;
    cudaError_t code = lade_cuda_enter(c->device, &before);

    if (code == cudaSuccess) {
        call = c->dtype == LADE_F32 ? "lade_kernel_f32" : "lade_kernel_f16";
        code =
            c->dtype == LADE_F32
                ? lade_cuda_convert_f32(stream, from->data, from->offset, to, c->table, images, c->pixels, c->channels)
                : lade_cuda_convert_f16(stream, from->data, from->offset, to, c->table, images, c->pixels, c->channels);
        lade_cuda_leave(c->device, before);
    }
    return code == cudaSuccess ? LADE_OK : lade_cuda_fail(failure, call, code);
}

static void converter_release(void *self)
{
    const struct converter *c = self;
    int before = c->device;

    (void)lade_cuda_enter(c->device, &before);
    if (cudaFree(c->table) != cudaSuccess)
        (void)cudaGetLastError();
    lade_cuda_leave(c->device, before);
}

const struct lade_converter_ops lade_converter_cuda = {"cuda", converter_create, converter_run, converter_release};
