/* SPDX-License-Identifier: MIT */
/* lade.Tensor: rows of a batch, for other libraries without a copy, by DLPack and the buffer protocol. */
#include "package.h"

#include <stdlib.h>
#include <string.h>

struct tensor {
    PyObject_HEAD struct package_hold *hold;
    enum lade_dtype dtype;
    DLTensor t;
    struct lade_dims dims;
    Py_ssize_t steps[LADE_DIMS_MAX]; /* strides in bytes */
};

/* What __dlpack__ exports. It may be deleted by any thread, attached or not. */
struct exported {
    union {
        DLManagedTensorVersioned versioned;
        DLManagedTensor legacy;
    } managed;
    struct package_hold *hold;
    struct lade_dims dims;
};

PyTypeObject *package_tensor_type;

static const char *const formats[] = {
    [LADE_BOOL] = "?", [LADE_U8] = "B",  [LADE_I8] = "b",   [LADE_U16] = "H",   [LADE_I16] = "h",
    [LADE_U32] = "I",  [LADE_I32] = "i", [LADE_U64] = "Q",  [LADE_I64] = "q",   [LADE_F16] = "e",
    [LADE_F32] = "f",  [LADE_F64] = "d", [LADE_C64] = "Zf", [LADE_C128] = "Zd",
};
static const char *const names[] = {
    [LADE_BOOL] = "bool",     [LADE_U8] = "uint8",        [LADE_I8] = "int8",     [LADE_U16] = "uint16",
    [LADE_I16] = "int16",     [LADE_U32] = "uint32",      [LADE_I32] = "int32",   [LADE_U64] = "uint64",
    [LADE_I64] = "int64",     [LADE_F16] = "float16",     [LADE_F32] = "float32", [LADE_F64] = "float64",
    [LADE_C64] = "complex64", [LADE_C128] = "complex128",
};

int package_dtype(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return (int)i;
    return -1;
}

const char *package_dtype_name(enum lade_dtype dtype)
{
    return names[dtype];
}

PyObject *package_tensor(struct package_hold *hold, const void *data, const struct lade_shape *shape)
{
    struct tensor *self = (struct tensor *)PyType_GenericAlloc(package_tensor_type, 0);

    if (!self)
        return NULL;
    package_hold_get(hold);
    self->hold = hold;
    self->dtype = shape->dtype;
    lade_dlpack_describe(&self->t, &self->dims, shape);
    self->t.data = (void *)(uintptr_t)data; /* the consumer of a batch may write to it */
    self->t.device = (DLDevice){kDLCPU, 0};
    for (int d = 0; d < self->t.ndim; d++)
        self->steps[d] = (Py_ssize_t)(self->dims.strides[d] * (int64_t)lade_dtype_size(shape->dtype));
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct tensor *s = (struct tensor *)self;

    if (s->hold)
        package_hold_put(s->hold);
    PyObject_Free(self);
    Py_DECREF(type);
}

static Py_ssize_t elements(const struct tensor *s)
{
    Py_ssize_t n = 1;

    for (int d = 0; d < s->t.ndim; d++)
        n *= (Py_ssize_t)s->t.shape[d];
    return n;
}

static Py_ssize_t item_size(const struct tensor *s)
{
    return (Py_ssize_t)lade_dtype_size(s->dtype);
}

/* DLPack */

static void delete_exported(struct exported *e)
{
    package_hold_put(e->hold);
    free(e);
}

static void delete_versioned(DLManagedTensorVersioned *managed)
{
    delete_exported(managed->manager_ctx);
}

static void delete_legacy(DLManagedTensor *managed)
{
    delete_exported(managed->manager_ctx);
}

static const char versioned_name[] = "dltensor_versioned", legacy_name[] = "dltensor";

/* A consumer renames the capsule when it takes the tensor over. */
static void drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, versioned_name))
        delete_versioned(PyCapsule_GetPointer(capsule, versioned_name));
    else if (PyCapsule_IsValid(capsule, legacy_name))
        delete_legacy(PyCapsule_GetPointer(capsule, legacy_name));
}

static struct exported *export(const struct tensor *s)
{
    struct exported *e = malloc(sizeof *e);

    if (!e) {
        PyErr_NoMemory();
        return NULL;
    }
    package_hold_get(s->hold);
    e->hold = s->hold;
    for (int d = 0; d < s->t.ndim; d++) {
        e->dims.shape[d] = s->t.shape[d];
        e->dims.strides[d] = s->t.strides[d];
    }
    return e;
}

static void set_tensor(struct exported *e, DLTensor *t, const struct tensor *s)
{
    *t = s->t;
    t->shape = e->dims.shape;
    t->strides = e->dims.strides;
}

DLManagedTensorVersioned *package_tensor_export(PyObject *tensor)
{
    const struct tensor *s = (struct tensor *)tensor;
    struct exported *e = export(s);

    if (!e)
        return NULL;
    e->managed.versioned = (DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, .manager_ctx = e, .deleter = delete_versioned};
    set_tensor(e, &e->managed.versioned.dl_tensor, s);
    return &e->managed.versioned;
}

void package_tensor_view(PyObject *tensor, DLTensor *view)
{
    struct tensor *s = (struct tensor *)tensor;

    *view = s->t;
    view->shape = s->dims.shape;
    view->strides = s->dims.strides;
}

static PyObject *versioned_capsule(PyObject *tensor)
{
    DLManagedTensorVersioned *managed = package_tensor_export(tensor);
    PyObject *capsule = managed ? PyCapsule_New(managed, versioned_name, drop_capsule) : NULL;

    if (managed && !capsule)
        delete_versioned(managed);
    return capsule;
}

static PyObject *legacy_capsule(PyObject *tensor)
{
    const struct tensor *s = (struct tensor *)tensor;
    struct exported *e = export(s);

    if (!e)
        return NULL;
    e->managed.legacy = (DLManagedTensor){.manager_ctx = e, .deleter = delete_legacy};
    set_tensor(e, &e->managed.legacy.dl_tensor, s);
    PyObject *capsule = PyCapsule_New(&e->managed.legacy, legacy_name, drop_capsule);
    if (!capsule)
        delete_exported(e);
    return capsule;
}

static bool is_none(PyObject *object)
{
    return !object || object == Py_None;
}

/* Tensors are on the host: another device, or a stream, is refused. */
static int check_device(PyObject *device)
{
    int type, number;

    if (is_none(device))
        return 0;
    if (!PyArg_ParseTuple(device, "ii;dl_device is a pair of numbers", &type, &number))
        return -1;
    if (type == kDLCPU)
        return 0;
    PyErr_SetString(PyExc_BufferError,
                    "the tensor is in memory of the host: copy it with the library that consumes it");
    return -1;
}

static PyObject *dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names_of[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    int major = 0, minor = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names_of, &stream, &version, &device, &copy))
        return NULL;
    if (!is_none(stream)) {
        PyErr_SetString(PyExc_ValueError, "a tensor on the host has no stream: pass None");
        return NULL;
    }
    if (!is_none(version) && !PyArg_ParseTuple(version, "ii;max_version is a pair of numbers", &major, &minor))
        return NULL;
    if (check_device(device) != 0)
        return NULL;
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError,
                        "the tensor is exported without a copy: copy what the other library makes of it");
        return NULL;
    }
    return major >= DLPACK_MAJOR_VERSION ? versioned_capsule(self) : legacy_capsule(self);
}

static PyObject *dlpack_device(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return Py_BuildValue("(ii)", (int)kDLCPU, 0);
}

/* The buffer protocol */

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct tensor *s = (struct tensor *)self;

    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && s->t.ndim > 1) {
        PyErr_SetString(PyExc_BufferError, "a tensor is in C order");
        view->obj = NULL;
        return -1;
    }
    *view =
        (Py_buffer){.buf = s->t.data, .len = elements(s) * item_size(s), .itemsize = item_size(s), .ndim = s->t.ndim};
    if (flags & PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)formats[s->dtype]; /* no consumer writes to it */
    if ((flags & PyBUF_ND) == PyBUF_ND)
        view->shape = (Py_ssize_t *)s->dims.shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = s->steps;
    Py_INCREF(self);
    view->obj = self;
    return 0;
}

static PyObject *get_shape(PyObject *self, void *nothing)
{
    const struct tensor *s = (struct tensor *)self;
    PyObject *tuple = PyTuple_New(s->t.ndim);

    (void)nothing;
    for (int d = 0; tuple && d < s->t.ndim; d++) {
        PyObject *n = PyLong_FromLongLong(s->t.shape[d]);
        if (!n || PyTuple_SetItem(tuple, d, n) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_dtype(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyUnicode_FromString(names[((struct tensor *)self)->dtype]);
}

static PyObject *get_ndim(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromLong(((struct tensor *)self)->t.ndim);
}

static PyObject *get_nbytes(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromSsize_t(elements((struct tensor *)self) * item_size((struct tensor *)self));
}

/* Calls module.function(self), or function of self's memoryview. */
static PyObject *to_numpy(PyObject *self, PyObject *nothing)
{
    PyObject *module = PyImport_ImportModule("numpy");
    PyObject *array = module ? PyObject_CallMethod(module, "asarray", "O", self) : NULL;

    (void)nothing;
    Py_XDECREF(module);
    return array;
}

static PyObject *to_list(PyObject *self, PyObject *nothing)
{
    PyObject *view = PyMemoryView_FromObject(self);
    PyObject *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;

    (void)nothing;
    Py_XDECREF(view);
    return list;
}

static PyObject *item(PyObject *self, PyObject *key)
{
    PyObject *array = to_numpy(self, NULL);
    PyObject *value = array ? PyObject_GetItem(array, key) : NULL;

    Py_XDECREF(array);
    return value;
}

static Py_ssize_t length(PyObject *self)
{
    const struct tensor *s = (struct tensor *)self;

    if (s->t.ndim > 0)
        return (Py_ssize_t)s->t.shape[0];
    PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no length");
    return -1;
}

static PyObject *repr(PyObject *self)
{
    PyObject *shape = get_shape(self, NULL);
    PyObject *text =
        shape ? PyUnicode_FromFormat("<lade.Tensor %s %R>", names[((struct tensor *)self)->dtype], shape) : NULL;

    Py_XDECREF(shape);
    return text;
}

static PyMethodDef methods[] = {
    {"__dlpack__", PACKAGE_FAST(dlpack), METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule of the tensor's memory, without a copy. Called by from_dlpack() of other libraries."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nDevice type and number: (1, 0), memory of the host."},
    {"_exchange", package_exchange, METH_O,
     "_exchange($self, table, /)\n--\n\nThe tensor of the library whose __dlpack_c_exchange_api__ table is."},
    {"numpy", to_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nThe tensor as a NumPy array, without a copy."},
    {"tolist", to_list, METH_NOARGS, "tolist($self, /)\n--\n\nThe elements as nested lists."},
    {0},
};
static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "Its dimensions, a tuple.", NULL},
    {"dtype", get_dtype, NULL, "The name of its element type, as NumPy spells it: 'uint8', 'float32', ...", NULL},
    {"ndim", get_ndim, NULL, "The number of its dimensions.", NULL},
    {"nbytes", get_nbytes, NULL, "The bytes of its elements.", NULL},
    {0},
};

PyDoc_STRVAR(doc, "Rows of a batch in memory of the loader, for other libraries without a copy.\n\n"
                  "numpy.asarray(t), torch.from_dlpack(t), jax.dlpack.from_dlpack(t) and memoryview(t) use the same "
                  "memory. It stays\nvalid as long as one of them lives.");
static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)doc},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_repr, PACKAGE_SLOT(repr)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_mp_length, PACKAGE_SLOT(length)},
    {Py_mp_subscript, PACKAGE_SLOT(item)},
    {Py_bf_getbuffer, PACKAGE_SLOT(get_buffer)},
    {0, NULL},
};
PyType_Spec package_tensor_spec = {
    .name = "lade.Tensor",
    .basicsize = sizeof(struct tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, /* the module adds an attribute to the type */
    .slots = slots,
};
