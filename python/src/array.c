/* SPDX-License-Identifier: MIT */
/* Arrays of other objects, read in place: the buffer protocol (NumPy, array, bytes) or DLPack (torch, JAX, CuPy). */
#include "package.h"

#include <string.h>

static const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* The number type of a format of the buffer protocol; -1: none of ours. */
static int dtype_of_format(const char *format, Py_ssize_t size)
{
    static const enum lade_dtype unsigned_of[] = {[1] = LADE_U8, [2] = LADE_U16, [4] = LADE_U32, [8] = LADE_U64};
    static const enum lade_dtype signed_of[] = {[1] = LADE_I8, [2] = LADE_I16, [4] = LADE_I32, [8] = LADE_I64};

    if (!format)
        format = "B";
    if ((*format == '<' && !is_little && size > 1) || ((*format == '>' || *format == '!') && is_little && size > 1))
        return -1;
    if (strchr("@=<>!", *format))
        format++;
    if (!strcmp(format, "?"))
        return LADE_BOOL;
    if (!strcmp(format, "e"))
        return LADE_F16;
    if (!strcmp(format, "f"))
        return LADE_F32;
    if (!strcmp(format, "d"))
        return LADE_F64;
    if (!strcmp(format, "Zf"))
        return LADE_C64;
    if (!strcmp(format, "Zd"))
        return LADE_C128;
    const bool is_whole = format[0] && !format[1] && (size == 1 || size == 2 || size == 4 || size == 8);
    if (is_whole && strchr("BHILQNc", *format))
        return (int)unsigned_of[size];
    if (is_whole && strchr("bhilqn", *format))
        return (int)signed_of[size];
    return -1;
}

static int set_shape(struct package_array *a, int dtype, int dims, const int64_t *dim, const char *name)
{
    if (dtype < 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s: elements of this type cannot be read; there are bool, integers, float16 to float64 and "
                     "complex, in the byte order of the machine: convert it, as with x.astype('float32')",
                     name);
        return -1;
    }
    if (dims > LADE_DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: %d dimensions are too many", name, dims);
        return -1;
    }
    a->shape = (struct lade_shape){.dtype = (enum lade_dtype)dtype, .dims = (unsigned)dims};
    a->elements = 1;
    for (int d = 0; d < dims; d++) {
        a->shape.dim[d] = (uint64_t)dim[d];
        a->elements *= (uint64_t)dim[d];
    }
    return 0;
}

static int refuse_gaps(const char *name)
{
    PyErr_Format(
        PyExc_ValueError,
        "%s: not contiguous in memory; pass a contiguous copy, as numpy.ascontiguousarray(x) or x.contiguous() "
        "make it",
        name);
    return -1;
}

static int get_buffer(struct package_array *a, PyObject *object, const char *name)
{
    int64_t dim[LADE_DIMS_MAX];

    if (PyObject_GetBuffer(object, &a->buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return set_shape(a, -1, 0, dim, name);
    }
    if (!PyBuffer_IsContiguous(&a->buffer, 'C'))
        return refuse_gaps(name);
    for (int d = 0; d < a->buffer.ndim && d < LADE_DIMS_MAX; d++)
        dim[d] = a->buffer.shape[d];
    a->data = a->buffer.buf;
    return set_shape(a, dtype_of_format(a->buffer.format, a->buffer.itemsize), a->buffer.ndim, dim, name);
}

static int dtype_of_dlpack(DLDataType t)
{
    static const struct {
        uint8_t code, bits;
        enum lade_dtype dtype;
    } known[] = {
        {kDLBool, 8, LADE_BOOL},    {kDLUInt, 8, LADE_U8},        {kDLInt, 8, LADE_I8},     {kDLUInt, 16, LADE_U16},
        {kDLInt, 16, LADE_I16},     {kDLUInt, 32, LADE_U32},      {kDLInt, 32, LADE_I32},   {kDLUInt, 64, LADE_U64},
        {kDLInt, 64, LADE_I64},     {kDLFloat, 16, LADE_F16},     {kDLFloat, 32, LADE_F32}, {kDLFloat, 64, LADE_F64},
        {kDLComplex, 64, LADE_C64}, {kDLComplex, 128, LADE_C128},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (t.code == known[i].code && t.bits == known[i].bits && t.lanes == 1)
            return (int)known[i].dtype;
    return -1;
}

static bool has_gaps(const DLTensor *t)
{
    int64_t stride = 1;

    for (int d = t->ndim - 1; t->strides && d >= 0; d--) {
        if (t->shape[d] != 1 && t->strides[d] != stride)
            return true;
        stride *= t->shape[d];
    }
    return false;
}

/* The tensor of a capsule that stays unused: its destructor frees the tensor when the source lets go of it. */
static const DLTensor *tensor_of(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const DLManagedTensorVersioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        return m->version.major == DLPACK_MAJOR_VERSION ? &m->dl_tensor : NULL;
    }
    if (PyCapsule_IsValid(capsule, "dltensor"))
        return &((const DLManagedTensor *)PyCapsule_GetPointer(capsule, "dltensor"))->dl_tensor;
    return NULL;
}

static int get_dlpack(struct package_array *a, PyObject *object, const char *name)
{
    a->capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
    if (!a->capsule)
        return -1;
    const DLTensor *t = tensor_of(a->capsule);
    if (!t) {
        PyErr_Format(PyExc_TypeError, "%s: __dlpack__ returned another object than a DLPack 1 capsule", name);
        return -1;
    }
    if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDAHost) {
        PyErr_Format(PyExc_ValueError, "%s: on a device; the loader reads memory of the host: pass x.cpu()", name);
        return -1;
    }
    if (has_gaps(t))
        return refuse_gaps(name);
    a->data = (const char *)t->data + t->byte_offset;
    return set_shape(a, dtype_of_dlpack(t->dtype), t->ndim, t->shape, name);
}

bool package_is_array(PyObject *object)
{
    return PyObject_CheckBuffer(object) || PyObject_HasAttrString(object, "__dlpack__");
}

int package_array_get(struct package_array *array, PyObject *object, const char *name)
{
    *array = (struct package_array){0};
    int status = -1;
    if (PyObject_CheckBuffer(object))
        status = get_buffer(array, object, name);
    else if (PyObject_HasAttrString(object, "__dlpack__"))
        status = get_dlpack(array, object, name);
    else
        PyErr_Format(PyExc_TypeError, "%s: not an array: it has neither the buffer protocol nor __dlpack__", name);
    if (status != 0)
        package_array_put(array);
    return status;
}

void package_array_put(struct package_array *array)
{
    if (array->buffer.obj)
        PyBuffer_Release(&array->buffer);
    Py_CLEAR(array->capsule);
}
