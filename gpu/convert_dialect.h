/* SPDX-License-Identifier: MIT */
/*
 * The dialect of convert.inc in CUDA, in OpenCL C and in C: the names that differ between the three. In all three the
 * product is rounded, then the sum; they are never fused.
 */
#ifndef LADE_CONVERT_DIALECT_H
#define LADE_CONVERT_DIALECT_H

#if defined __OPENCL_VERSION__

#pragma OPENCL FP_CONTRACT OFF
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define LADE_KERNEL __kernel void
#define LADE_FUNCTION static
#define LADE_GLOBAL __global
#define LADE_RESTRICT restrict
#define LADE_BITS(X) as_uint(X)
#define LADE_TIMES(X, Y) ((X) * (Y))
#define LADE_PLUS(X, Y) ((X) + (Y))
#define LADE_EACH(I, AXIS, COUNT) for (uint64_t I = get_global_id(AXIS); I < (COUNT); I += get_global_size(AXIS))

#elif defined __CUDACC__

#include <stdint.h>
#define LADE_KERNEL extern "C" __global__ void
#define LADE_FUNCTION static __device__
#define LADE_GLOBAL
#define LADE_RESTRICT __restrict__
#define LADE_BITS(X) __float_as_uint(X)
#define LADE_TIMES(X, Y) __fmul_rn(X, Y)
#define LADE_PLUS(X, Y) __fadd_rn(X, Y)
#define LADE_AXIS_0(WHAT) WHAT.x
#define LADE_AXIS_1(WHAT) WHAT.y
#define LADE_EACH(I, AXIS, COUNT)                                                                                      \
    for (uint64_t I = (uint64_t)LADE_AXIS_##AXIS(blockIdx) * LADE_AXIS_##AXIS(blockDim) + LADE_AXIS_##AXIS(threadIdx); \
         I < (COUNT); I += (uint64_t)LADE_AXIS_##AXIS(gridDim) * LADE_AXIS_##AXIS(blockDim))

#else /* C, compiled with -ffp-contract=off */

#include <stdint.h>
#include <string.h>
#define LADE_KERNEL static inline void
#define LADE_FUNCTION static inline
#define LADE_GLOBAL
#define LADE_RESTRICT restrict
#define LADE_BITS(X) lade_bits(X)
#define LADE_TIMES(X, Y) ((X) * (Y))
#define LADE_PLUS(X, Y) ((X) + (Y))
#define LADE_EACH(I, AXIS, COUNT) for (uint64_t I = 0; I < (COUNT); I++)

static inline uint32_t lade_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif

#endif
