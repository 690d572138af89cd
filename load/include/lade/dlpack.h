/* SPDX-License-Identifier: MIT */
/*
 * DLPack 1: the structs for exchanging tensors between libraries (Data API and DMLC, dlpack 1.1, 2025). Names and
 * layout are those of the public standard, for programs that do not have its header. If that header was included
 * before, it takes precedence.
 */
#ifndef LADE_DLPACK_H
#define LADE_DLPACK_H

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the standard whose structs these are. */
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

/* The version of a tensor's structs. */
typedef struct {
    uint32_t major; /* a different major version may change the layout, except the deleter */
    uint32_t minor;
} DLPackVersion;

/* The device types that lade uses. */
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLOpenCL = 4 } DLDeviceType;

/* Where the bytes of a tensor are. */
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

/* The kind of an element. */
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLComplex = 5, kDLBool = 6 } DLDataTypeCode;

/* The type of an element: kind, bits, and lanes of a vector. */
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/* A tensor: address, device, shape and type. The standard describes the fields. */
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements */
    uint64_t byte_offset;
} DLTensor;

/* Bits of DLManagedTensorVersioned.flags: the consumer must not write; the bytes are a copy. */
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

/* A tensor that keeps its memory until the consumer calls deleter. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* The form before version 1. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#ifdef __cplusplus
}
#endif

#endif
#endif
