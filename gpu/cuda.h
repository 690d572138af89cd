/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of liblade-gpu-cuda. Internal. */
#ifndef LADE_GPU_CUDA_H
#define LADE_GPU_CUDA_H

#include <cuda_runtime_api.h>
#include <lade/feeder.h>
#include <stdint.h>

LADE_BEGIN

/* Fills the failure and returns LADE_DEVICE. */
int lade_cuda_fail(struct lade_device_failure *failure, const char *call, cudaError_t code);

/* Whether there is a device of this number. LADE_ABSENT: no, or no driver; the failure names which. */
int lade_cuda_find(unsigned number, struct lade_device_failure *failure);

/* Sets the device of the calling thread; call leave only after cudaSuccess. */
cudaError_t lade_cuda_enter(int device, int *before);
void lade_cuda_leave(int device, int before);

/* Enqueues the kernels of convert.inc on a stream. All but first are addresses on the device. */
cudaError_t lade_cuda_convert_f32(cudaStream_t stream, const uint8_t *from, uint64_t first, float *to,
                                  const float *table, uint32_t images, uint32_t pixels, uint32_t channels);
cudaError_t lade_cuda_convert_f16(cudaStream_t stream, const uint8_t *from, uint64_t first, uint16_t *to,
                                  const float *table, uint32_t images, uint32_t pixels, uint32_t channels);

LADE_END

#endif
