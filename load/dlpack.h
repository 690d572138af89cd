/* SPDX-License-Identifier: MIT */
/* Shapes in DLPack's form. Internal. */
#ifndef LADE_LOAD_DLPACK_H
#define LADE_LOAD_DLPACK_H

#include <lade/dlpack.h>
#include <lade/source.h>

/* The arrays that a DLTensor points to. */
struct lade_dims {
    int64_t shape[LADE_DIMS_MAX], strides[LADE_DIMS_MAX];
};

/* Type, shape and strides of a tensor without gaps. dims must live as long as the tensor. */
void lade_dlpack_describe(DLTensor *tensor, struct lade_dims *dims, const struct lade_shape *shape);

#endif
