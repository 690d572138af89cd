/* SPDX-License-Identifier: MIT */
/* Export of a batch's tensors to other libraries by DLPack. */
#include "dlpack.h"
#include "feeder.h"
#include "heap.h"

/* State of a tensor that may outlive its batch. */
struct exported {
    struct DLManagedTensorVersioned managed;
    struct lade_feeder *feeder;
    struct lade_staging_slot *slot;
    unsigned tensor;
    enum lade_done done;
    void *handle;
    struct lade_dims dims;
};

/* Any thread, any time. */
static void delete_exported(struct DLManagedTensorVersioned *managed)
{
    struct exported *e = managed->manager_ctx;
    struct lade_feeder *f = e->feeder;

    /* The feeder keeps a device failure; a deleter cannot report it. In a child only memory is freed. */
    (void)lade_feeder_let_go(f, e->slot, 1 + e->tensor, e->done, e->handle);
    lade_heap_put(f->alloc, e);
    lade_feeder_leave(f);
}

static void describe(struct exported *e, const struct lade_tensor *tensor, enum lade_side side)
{
    const struct lade_feeder *f = e->feeder;
    DLTensor *t = &e->managed.dl_tensor;

    lade_dlpack_describe(t, &e->dims, tensor->shape);
    if (side == LADE_ON_HOST) {
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
                       enum lade_side side, enum lade_done done, void *handle,
                       struct DLManagedTensorVersioned **managed, struct lade_error *error)
{
    struct lade_staging_slot *slot = &f->slot[batch->slot];

    if (!lade_feeder_is_here(f))
        return lade_feeder_refuse_child(error);
    if (tensor >= f->tensors)
        return lade_feeder_refuse(error, LADE_INVALID, "there is no tensor %u", tensor);
    if (slot->exported & 1u << tensor)
        return lade_feeder_refuse(error, LADE_TOO_MANY, "tensor %u of this batch was exported already", tensor);
    struct exported *e = lade_heap_get(f->alloc, 1, sizeof *e);
    if (!e)
        return lade_feeder_refuse(error, LADE_NO_MEMORY, "out of memory");
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
