/* SPDX-License-Identifier: MIT */
#include "convert_dialect.h"
#include "convert.inc"

#include "cuda.h"

/* The kernels take a grid of any size; these fill a device and keep to the limit of its second axis. */
enum { BLOCK = 256, BLOCKS_MAX = 1024, PLANES_MAX = 32768 };

static unsigned least(uint64_t a, unsigned b)
{
    return a < b ? (unsigned)a : b;
}

static dim3 grid(uint64_t pixels, uint64_t planes)
{
    return dim3(least((pixels + BLOCK - 1) / BLOCK, BLOCKS_MAX), least(planes, PLANES_MAX));
}

cudaError_t lade_cuda_convert_f32(cudaStream_t stream, const uint8_t *from, uint64_t first, float *to, const float *table,
                                  uint32_t images, uint32_t pixels, uint32_t channels)
{
    lade_kernel_f32<<<grid(pixels, (uint64_t)images * channels), BLOCK, 0, stream>>>(from, first, to, table, images,
                                                                                     pixels, channels);
    return cudaGetLastError();
}

cudaError_t lade_cuda_convert_f16(cudaStream_t stream, const uint8_t *from, uint64_t first, uint16_t *to,
                                  const float *table, uint32_t images, uint32_t pixels, uint32_t channels)
{
    lade_kernel_f16<<<grid(pixels, (uint64_t)images * channels), BLOCK, 0, stream>>>(from, first, to, table, images,
                                                                                     pixels, channels);
    return cudaGetLastError();
}
