/* SPDX-License-Identifier: MIT */
/*
 * The functions of a backend for conversion on its device. Internal; failures as in backend.h. self is one block from
 * malloc: in a child of fork(), where the driver must not be called, only that block is freed.
 */
#ifndef LADE_GPU_CONVERTER_H
#define LADE_GPU_CONVERTER_H

#include <lade/convert.h>

struct lade_converter_ops {
    const char *name;
    int (*create)(void **self, const struct lade_converter_config *config, struct lade_device_failure *failure);
    int (*run)(void *self, const struct lade_tensor *from, uint32_t images, void *to, void *stream,
               struct lade_device_failure *failure);
    void (*destroy)(void *self);
};

extern const struct lade_converter_ops lade_converter_host;
extern const struct lade_converter_ops lade_converter_opencl; /* if the build has OpenCL */

#endif
