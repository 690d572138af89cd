/* SPDX-License-Identifier: MIT */
/* Shapes as DLPack has them. Internal. */
#ifndef LADE_LOAD_DLPACK_H
#define LADE_LOAD_DLPACK_H

#include <lade/dlpack.h>
#include <lade/source.h>

/* What a DLTensor points to. */
struct lade_dims {
    int64_t shape[LADE_DIMS_MAX], strides[LADE_DIMS_MAX];
};

/* Type, shape and strides of a tensor without gaps. dims must live as long as it. */
void lade_dlpack_describe(DLTensor *tensor, struct lade_dims *dims, const struct lade_shape *shape);

#endif
