/* SPDX-License-Identifier: MIT */
/* Export of a batch's tensors to other libraries by DLPack. */
#include "dlpack.h"
#include "loader.h"

#include "heap.h"

#include <stdlib.h>

/* State of a tensor that may outlive its batch. */
struct exported {
    union {
        struct DLManagedTensorVersioned versioned;
        struct DLManagedTensor legacy;
    } managed;
    struct lade_memory *memory;
    unsigned tensor;
    enum lade_done done;
    void *handle;
    struct lade_dims dims;
};

/* Any thread, any time. */
static void delete_exported(struct exported *e)
{
    struct lade_loader *l = e->memory->loader;

    /* The loader keeps a failure of the device. */
    (void)lade_memory_let_go(e->memory, 1 + e->tensor, e->done, e->handle, NULL);
    lade_heap_put(l->config.alloc, e);
    lade_loader_leave(l);
}

static void delete_versioned(struct DLManagedTensorVersioned *managed)
{
    delete_exported(managed->manager_ctx);
}

static void delete_legacy(struct DLManagedTensor *managed)
{
    delete_exported(managed->manager_ctx);
}

static void describe(DLTensor *t, struct exported *e, const struct lade_tensor *tensor)
{
    const struct lade_device *device = e->memory->loader->config.device;

    lade_dlpack_describe(t, &e->dims, tensor->shape);
    t->data = tensor->data;
    t->byte_offset = tensor->offset;
    t->device.device_type = kDLCPU;
    t->device.device_id = 0;
    if (e->memory->on_device) {
        t->device.device_type = (DLDeviceType)device->backend->dlpack_device;
        t->device.device_id = (int32_t)device->number;
    } else if (device) {
        t->device.device_type = (DLDeviceType)device->backend->dlpack_staging;
    }
}

static int export(struct lade_loader *l, const struct lade_batch *batch, unsigned tensor, enum lade_done done,
                  void *handle, struct exported **exported, struct lade_error *error)
{
    struct lade_memory *m = batch->memory;

    if (!lade_loader_is_here(l))
        return lade_loader_refuse_child(error);
    if (tensor >= l->tensors)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "there is no tensor %u", tensor);
    if (m->count == 0)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "the batch has no samples");
    if (m->exported & 1u << tensor)
        return lade_fail(error, LADE_TOO_MANY, NULL, LADE_NO_OFFSET, "tensor %u of this batch was exported already",
                         tensor);
    struct exported *e = lade_heap_get(l->config.alloc, 1, sizeof *e);
    if (!e)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    *e = (struct exported){.memory = m, .tensor = tensor, .done = done, .handle = handle};
    m->exported |= 1u << tensor;
    lade_ref_get(&m->holds);
    lade_ref_get(&l->users);
    *exported = e;
    return LADE_OK;
}

int lade_loader_export(struct lade_loader *l, const struct lade_batch *batch, unsigned tensor, enum lade_done done,
                       void *handle, struct DLManagedTensorVersioned **managed, struct lade_error *error)
{
    struct exported *e = NULL;
    int status = export(l, batch, tensor, done, handle, &e, error);

    if (!e)
        return status;
    *managed = &e->managed.versioned;
    (*managed)->version.major = DLPACK_MAJOR_VERSION;
    (*managed)->version.minor = DLPACK_MINOR_VERSION;
    (*managed)->manager_ctx = e;
    (*managed)->deleter = delete_versioned;
    describe(&(*managed)->dl_tensor, e, &batch->tensor[tensor]);
    return LADE_OK;
}

int lade_loader_export_legacy(struct lade_loader *l, const struct lade_batch *batch, unsigned tensor,
                              enum lade_done done, void *handle, struct DLManagedTensor **managed,
                              struct lade_error *error)
{
    struct exported *e = NULL;
    int status = export(l, batch, tensor, done, handle, &e, error);

    if (!e)
        return status;
    *managed = &e->managed.legacy;
    (*managed)->manager_ctx = e;
    (*managed)->deleter = delete_legacy;
    describe(&(*managed)->dl_tensor, e, &batch->tensor[tensor]);
    return LADE_OK;
}
