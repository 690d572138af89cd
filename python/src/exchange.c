/* SPDX-License-Identifier: MIT */
/*
 * DLPack's table of C functions (1.3, type.__dlpack_c_exchange_api__): that of lade.Tensor for consumers, and the use of
 * another library's. Tensors are on the host, so there is nothing to wait for.
 */
#include "package.h"

struct table {
    DLPackVersion version;
    void *previous; /* table of an older version */
    int (*allocate)(DLTensor *like, DLManagedTensorVersioned **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*from_object)(void *object, DLManagedTensorVersioned **out);
    int (*to_object)(DLManagedTensorVersioned *tensor, void **object); /* takes tensor over */
    int (*view)(void *object, DLTensor *out);
    int (*stream)(DLDeviceType device, int32_t number, void **out);
};

static const char capsule_name[] = "dlpack_exchange_api";

/* The standard wants these two from every library, but the memory of tensors is the loader's only. */
static const char no_other[] = "a lade.Tensor is a part of a batch: it is not made of another tensor";

static int allocate(DLTensor *like, DLManagedTensorVersioned **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message))
{
    (void)like;
    *out = NULL;
    set_error(context, "BufferError", no_other);
    return -1;
}

static int to_object(DLManagedTensorVersioned *tensor, void **object)
{
    *object = NULL;
    if (tensor->deleter)
        tensor->deleter(tensor);
    PyErr_SetString(PyExc_BufferError, no_other);
    return -1;
}

static int from_object(void *object, DLManagedTensorVersioned **out)
{
    *out = package_tensor_export(object);
    return *out ? 0 : -1;
}

static int view(void *object, DLTensor *out)
{
    package_tensor_view(object, out);
    return 0;
}

static int stream(DLDeviceType device, int32_t number, void **out)
{
    (void)device;
    (void)number;
    *out = NULL;
    return 0;
}

PyObject *package_exchange_table(void)
{
    static struct table table = {.version = {1, 3},
                                 .allocate = allocate,
                                 .from_object = from_object,
                                 .to_object = to_object,
                                 .view = view,
                                 .stream = stream};

    return PyCapsule_New(&table, capsule_name, NULL);
}

PyObject *package_exchange(PyObject *tensor, PyObject *capsule)
{
    const struct table *table = PyCapsule_GetPointer(capsule, capsule_name);
    void *object = NULL;

    if (!table)
        return NULL;
    if (table->version.major != DLPACK_MAJOR_VERSION || !table->to_object) {
        PyErr_SetString(PyExc_BufferError, "the library exchanges tensors by another version of DLPack");
        return NULL;
    }
    DLManagedTensorVersioned *managed = package_tensor_export(tensor);
    if (!managed || table->to_object(managed, &object) != 0)
        return NULL;
    return object;
}
