/* SPDX-License-Identifier: MIT */
/*
 * The functions of a backend for conversion on its device. Internal; failures as in backend.h. self is one block of
 * heap.h from config.alloc, which the caller of create frees. In a child of fork(), where the driver must not be
 * called, that is all.
 */
#ifndef LADE_GPU_CONVERTER_H
#define LADE_GPU_CONVERTER_H

#include <lade/convert.h>

struct lade_converter_ops {
    const char *name;
    int (*create)(void **self, const struct lade_converter_config *config, struct lade_device_failure *failure);
    int (*run)(void *self, const struct lade_tensor *from, uint32_t images, void *to, void *stream,
               struct lade_device_failure *failure);
    void (*release)(void *self); /* what the driver holds; NULL: nothing */
};

extern const struct lade_converter_ops lade_converter_host;
extern const struct lade_converter_ops lade_converter_opencl; /* if the build has OpenCL */

#endif
