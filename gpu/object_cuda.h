/* SPDX-License-Identifier: MIT */
/*
 * The shared object for CUDA, loaded on the first use of cuda. It exports one name, a struct with the version of the
 * sources it was compiled from: the library accepts only an object of the same version. Internal.
 */
#ifndef LADE_GPU_OBJECT_CUDA_H
#define LADE_GPU_OBJECT_CUDA_H

#include "backend.h"
#include "converter.h"

#include <lade/error.h>

#define LADE_CUDA_OBJECT "liblade-gpu-cuda.so"
#define LADE_CUDA_OBJECT_SYMBOL "lade_cuda_object"

/* The offsets of the first three fields are the same in all versions. */
struct lade_cuda_object {
    uint32_t version;        /* LADE_VERSION_NUMBER */
    uint32_t backend_size;   /* of struct lade_backend */
    uint32_t converter_size; /* of struct lade_converter_ops */
    const struct lade_backend *backend;
    const struct lade_converter_ops *converter;
};

/* Inside the object. */
extern LADE_API const struct lade_cuda_object lade_cuda_object;
extern const struct lade_backend lade_backend_cuda;
extern const struct lade_converter_ops lade_converter_cuda;

/*
 * Loads the object, once.
 * LADE_OK
 * LADE_ABSENT      there is none, or it is of another version; the error names which.
 */
int lade_cuda_load(const struct lade_cuda_object **object, struct lade_error *error);

#endif
