/* SPDX-License-Identifier: MIT */
/* lade.Batch: the tensors of a batch by their names. */
#include "package.h"

struct batch {
    PyObject_HEAD struct package_hold *hold;
    PyObject *names; /* of the tensors, a tuple */
    bool has_labels;
    PyObject *tensor[LADE_TENSORS_MAX]; /* made when they are asked for */
};

PyTypeObject *package_batch_type;

PyObject *package_batch(struct package_hold *hold, PyObject *names, bool has_labels)
{
    struct batch *self = (struct batch *)PyType_GenericAlloc(package_batch_type, 0);

    if (!self) {
        package_hold_put(hold);
        return NULL;
    }
    self->hold = hold;
    self->names = Py_NewRef(names);
    self->has_labels = has_labels;
    return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct batch *b = (struct batch *)self;

    for (unsigned i = 0; i < LADE_TENSORS_MAX; i++)
        Py_XDECREF(b->tensor[i]);
    Py_XDECREF(b->names);
    if (b->hold)
        package_hold_put(b->hold);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *tensor(struct batch *b, unsigned i)
{
    PyObject *found;

    PACKAGE_BEGIN(b);
    if (!b->tensor[i]) {
        const struct lade_tensor *t = &b->hold->batch.tensor[i];
        b->tensor[i] = package_tensor(b->hold, t->host, t->shape);
    }
    found = Py_XNewRef(b->tensor[i]);
    PACKAGE_END();
    return found;
}

/* The number of the tensor with this name, or -1. */
static int find(const struct batch *b, PyObject *name)
{
    const Py_ssize_t n = PyTuple_Size(b->names);

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *other = PyTuple_GetItem(b->names, i);
        if (other == name || PyUnicode_Compare(other, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Whether batches have another attribute of this name; tensors called ids or labels take precedence over these. */
static bool is_taken(PyObject *name)
{
    return PyObject_HasAttr((PyObject *)package_batch_type, name) &&
           PyUnicode_CompareWithASCIIString(name, "labels") != 0 && PyUnicode_CompareWithASCIIString(name, "ids") != 0;
}

static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    int i = find((struct batch *)self, name);

    if (i >= 0 && !is_taken(name))
        return tensor((struct batch *)self, (unsigned)i);
    return PyObject_GenericGetAttr(self, name);
}

static PyObject *item(PyObject *self, PyObject *key)
{
    struct batch *b = (struct batch *)self;

    if (PyUnicode_Check(key)) {
        int i = find(b, key);
        if (i >= 0)
            return tensor(b, (unsigned)i);
        PyErr_Format(PyExc_KeyError, "no tensor %R; there are %R", key, b->names);
        return NULL;
    }
    Py_ssize_t n = PyTuple_Size(b->names), i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    if (i < 0)
        i += n;
    if (i >= 0 && i < n)
        return tensor(b, (unsigned)i);
    PyErr_Format(PyExc_IndexError, "a batch of %zd tensors", n);
    return NULL;
}

static Py_ssize_t length(PyObject *self)
{
    return PyTuple_Size(((struct batch *)self)->names);
}

static PyObject *keys(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return Py_NewRef(((struct batch *)self)->names);
}

static PyObject *all_tensors(struct batch *b)
{
    const Py_ssize_t n = PyTuple_Size(b->names);
    PyObject *all = PyTuple_New(n);

    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *t = tensor(b, (unsigned)i);
        if (!t || PyTuple_SetItem(all, i, t) != 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *values(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return all_tensors((struct batch *)self);
}

static PyObject *iterate(PyObject *self)
{
    PyObject *all = all_tensors((struct batch *)self);
    PyObject *iterator = all ? PyObject_GetIter(all) : NULL;

    Py_XDECREF(all);
    return iterator;
}

static PyObject *items(PyObject *self, PyObject *nothing)
{
    struct batch *b = (struct batch *)self;
    const Py_ssize_t n = PyTuple_Size(b->names);
    PyObject *all = PyTuple_New(n);

    (void)nothing;
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *t = tensor(b, (unsigned)i);
        PyObject *pair = t ? PyTuple_Pack(2, PyTuple_GetItem(b->names, i), t) : NULL;
        Py_XDECREF(t);
        if (!pair || PyTuple_SetItem(all, i, pair) != 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *rows(struct package_hold *hold, const void *data, enum lade_dtype dtype)
{
    const struct lade_shape shape = {.dtype = dtype, .dims = 1, .dim = {hold->batch.count}};

    return package_tensor(hold, data, &shape);
}

static PyObject *get_ids(PyObject *self, void *nothing)
{
    struct batch *b = (struct batch *)self;

    (void)nothing;
    return rows(b->hold, b->hold->batch.ids, LADE_U64);
}

static PyObject *get_labels(PyObject *self, void *nothing)
{
    struct batch *b = (struct batch *)self;

    (void)nothing;
    return b->has_labels ? rows(b->hold, b->hold->batch.labels, LADE_I64) : Py_NewRef(Py_None);
}

static PyObject *get_number(PyObject *self, void *which)
{
    const struct lade_batch *b = &((struct batch *)self)->hold->batch;

    return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)((const char *)b + (uintptr_t)which));
}

static PyObject *get_last(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyBool_FromLong(((struct batch *)self)->hold->batch.last);
}

static PyObject *repr(PyObject *self)
{
    struct batch *b = (struct batch *)self;
    PyObject *all = all_tensors(b);
    PyObject *text =
        all ? PyUnicode_FromFormat("<lade.Batch %llu of epoch %llu, %llu samples: %R>",
                                   (unsigned long long)b->hold->batch.number, (unsigned long long)b->hold->batch.epoch,
                                   (unsigned long long)b->hold->batch.count, b->names)
            : NULL;

    Py_XDECREF(all);
    return text;
}

static PyMethodDef methods[] = {
    {"keys", keys, METH_NOARGS, "keys($self, /)\n--\n\nThe names of the tensors."},
    {"values", values, METH_NOARGS, "values($self, /)\n--\n\nThe tensors."},
    {"items", items, METH_NOARGS, "items($self, /)\n--\n\nPairs of a name and a tensor; dict(batch) makes a dict."},
    {0},
};
#define NUMBER(field) (void *)offsetof(struct lade_batch, field)
static PyGetSetDef attributes[] = {
    {"ids", get_ids, NULL, "The numbers of the samples in the source; of an endless source their keys.", NULL},
    {"labels", get_labels, NULL, "The labels of the source as int64, or None if it has none.", NULL},
    {"number", get_number, NULL, "The number of the batch since the loader was created or resumed.", NUMBER(number)},
    {"epoch", get_number, NULL, "The epoch; of a stream, that of its earliest sample.", NUMBER(epoch)},
    {"count", get_number, NULL, "The number of samples.", NUMBER(count)},
    {"faults", get_number, NULL, "The number of samples that were skipped or substituted.", NUMBER(faults)},
    {"last", get_last, NULL, "Whether no further batch of its epoch follows.", NULL},
    {0},
};

PyDoc_STRVAR(doc,
             "The samples of one step of training: one tensor for each field, by name.\n\n"
             "batch.sample and batch['sample'] are the tensor with this name, batch[0] the first one; a name that is "
             "also an\nattribute of batches is reached by its item. x, y = batch unpacks the tensors. The loader gets "
             "the memory back when\nthe batch, its tensors, and all arrays made of them are gone.");
static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)doc},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_repr, PACKAGE_SLOT(repr)},
    {Py_tp_getattro, PACKAGE_SLOT(get_attribute)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_iter, PACKAGE_SLOT(iterate)},
    {Py_mp_length, PACKAGE_SLOT(length)},
    {Py_mp_subscript, PACKAGE_SLOT(item)},
    {0, NULL},
};
PyType_Spec package_batch_spec = {
    .name = "lade.Batch",
    .basicsize = sizeof(struct batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
