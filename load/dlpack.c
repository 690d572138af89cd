/* SPDX-License-Identifier: MIT */
#include "dlpack.h"

static const DLDataType dtypes[] = {
    [LADE_BOOL] = {kDLBool, 8, 1},    [LADE_U8] = {kDLUInt, 8, 1},        [LADE_I8] = {kDLInt, 8, 1},
    [LADE_U16] = {kDLUInt, 16, 1},    [LADE_I16] = {kDLInt, 16, 1},       [LADE_U32] = {kDLUInt, 32, 1},
    [LADE_I32] = {kDLInt, 32, 1},     [LADE_U64] = {kDLUInt, 64, 1},      [LADE_I64] = {kDLInt, 64, 1},
    [LADE_F16] = {kDLFloat, 16, 1},   [LADE_F32] = {kDLFloat, 32, 1},     [LADE_F64] = {kDLFloat, 64, 1},
    [LADE_C64] = {kDLComplex, 64, 1}, [LADE_C128] = {kDLComplex, 128, 1},
};

void lade_dlpack_describe(DLTensor *tensor, struct lade_dims *dims, const struct lade_shape *shape)
{
    int64_t stride = 1;

    tensor->ndim = (int32_t)shape->dims;
    tensor->dtype = dtypes[shape->dtype];
    tensor->shape = dims->shape;
    tensor->strides = dims->strides;
    for (unsigned d = shape->dims; d-- > 0;) {
        dims->shape[d] = (int64_t)shape->dim[d];
        dims->strides[d] = stride;
        stride *= dims->shape[d];
    }
}
