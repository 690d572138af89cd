/* SPDX-License-Identifier: MIT */
/* Tensors of a batch for other libraries, by DLPack. */
#include "feeder.h"

#include <lade/dlpack.h>
#include <stdlib.h>

/* What a tensor needs beyond its batch, which may be gone before it. */
struct exported {
    struct DLManagedTensorVersioned managed;
    struct lade_feeder *feeder;
    struct lade_slot *slot;
    unsigned tensor;
    enum lade_feeder_done done;
    void *handle;
    int64_t shape[LADE_DIMS_MAX];
    int64_t strides[LADE_DIMS_MAX];
};

static const DLDataType dtypes[] = {
    [LADE_BOOL] = {kDLBool, 8, 1},    [LADE_U8] = {kDLUInt, 8, 1},        [LADE_I8] = {kDLInt, 8, 1},
    [LADE_U16] = {kDLUInt, 16, 1},    [LADE_I16] = {kDLInt, 16, 1},       [LADE_U32] = {kDLUInt, 32, 1},
    [LADE_I32] = {kDLInt, 32, 1},     [LADE_U64] = {kDLUInt, 64, 1},      [LADE_I64] = {kDLInt, 64, 1},
    [LADE_F16] = {kDLFloat, 16, 1},   [LADE_F32] = {kDLFloat, 32, 1},     [LADE_F64] = {kDLFloat, 64, 1},
    [LADE_C64] = {kDLComplex, 64, 1}, [LADE_C128] = {kDLComplex, 128, 1},
};

/* Any thread, any time. */
static void delete_exported(struct DLManagedTensorVersioned *managed)
{
    struct exported *e = managed->manager_ctx;
    struct lade_feeder *f = e->feeder;

    /* A failure of the device is kept by the feeder; there is nobody to tell it here. In a child only memory is freed. */
    (void)lade_feeder_let_go(f, e->slot, 1 + e->tensor, e->done, e->handle);
    free(e);
    lade_feeder_leave(f);
}

static void describe(struct exported *e, const struct lade_feeder_tensor *tensor, enum lade_feeder_side side)
{
    const struct lade_feeder *f = e->feeder;
    const struct lade_shape *shape = tensor->shape;
    DLTensor *t = &e->managed.dl_tensor;
    int64_t stride = 1;

    t->ndim = (int32_t)shape->dims;
    t->dtype = dtypes[shape->dtype];
    t->shape = e->shape;
    t->strides = e->strides;
    for (unsigned d = shape->dims; d-- > 0;) {
        e->shape[d] = (int64_t)shape->dim[d];
        e->strides[d] = stride;
        stride *= e->shape[d];
    }
    if (side == LADE_FEEDER_HOST_SIDE) {
        t->data = (char *)e->slot->staging + f->offset[e->tensor];
        t->byte_offset = 0;
        t->device.device_type = (DLDeviceType)f->backend->dlpack_staging;
        t->device.device_id = 0;
    } else {
        t->data = tensor->data;
        t->byte_offset = tensor->offset;
        t->device.device_type = (DLDeviceType)f->backend->dlpack_device;
        t->device.device_id = (int32_t)f->device_id;
    }
}

int lade_feeder_export(struct lade_feeder *f, const struct lade_feeder_batch *batch, unsigned tensor,
                       enum lade_feeder_side side, enum lade_feeder_done done, void *handle,
                       struct DLManagedTensorVersioned **managed)
{
    struct lade_slot *slot = &f->slot[batch->slot];

    if (!lade_feeder_is_here(f) || tensor >= f->tensors)
        return LADE_INVALID;
    if (slot->exported & 1u << tensor)
        return LADE_TOO_MANY;
    struct exported *e = malloc(sizeof *e);
    if (!e)
        return LADE_NO_MEMORY;
    e->feeder = f;
    e->slot = slot;
    e->tensor = tensor;
    e->done = done;
    e->handle = handle;
    e->managed.version.major = DLPACK_MAJOR_VERSION;
    e->managed.version.minor = DLPACK_MINOR_VERSION;
    e->managed.manager_ctx = e;
    e->managed.deleter = delete_exported;
    e->managed.flags = 0;
    describe(e, &batch->tensor[tensor], side);
    slot->exported |= 1u << tensor;
    lade_ref_get(&slot->holds);
    lade_ref_get(&f->users);
    *managed = &e->managed;
    return LADE_OK;
}
