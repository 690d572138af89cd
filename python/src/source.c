/* SPDX-License-Identifier: MIT */
/* Sources: from text, and of arrays in memory, which they keep alive. */
#include "package.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *package_source_type;

/* Takes over source and array, and a new reference to custom. */
PyObject *package_source_of(struct lade_source *source, struct package_array *array, unsigned arrays, PyObject *custom)
{
    struct package_source *self = (struct package_source *)PyType_GenericAlloc(package_source_type, 0);

    if (self) {
        self->source = source;
        self->array = array;
        self->arrays = arrays;
        self->custom = Py_XNewRef(custom);
        return (PyObject *)self;
    }
    lade_source_close(source);
    for (unsigned i = 0; i < arrays; i++)
        package_array_put(&array[i]);
    free(array);
    return NULL;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    struct package_source *s = (struct package_source *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->custom);
    for (unsigned i = 0; i < s->arrays; i++)
        Py_VISIT(s->array[i].buffer.obj);
    return 0;
}

/* A loader that reads the source keeps it alive, so no worker is reading. */
static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct package_source *s = (struct package_source *)self;

    PyObject_GC_UnTrack(self);
    lade_source_close(s->source);
    for (unsigned i = 0; i < s->arrays; i++)
        package_array_put(&s->array[i]);
    free(s->array);
    Py_XDECREF(s->custom);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

struct package_source *package_source(PyObject *object)
{
    if (Py_TYPE(object) == package_source_type)
        return (struct package_source *)object;
    PyErr_Format(PyExc_TypeError, "not a source: %R", object);
    return NULL;
}

PyObject *package_open_source(PyObject *module, PyObject *args)
{
    struct lade_source *source;
    struct lade_error error = {0};
    const char *text;
    int status;

    (void)module;
    if (!PyArg_ParseTuple(args, "s:open_source", &text))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = lade_source_open(&source, text, NULL, &error);
    Py_END_ALLOW_THREADS;
    return status == LADE_OK ? package_source_of(source, NULL, 0, NULL) : package_raise(status, &error);
}

static PyObject *drop_arrays(struct package_array *array, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        package_array_put(&array[i]);
    free(array);
    return NULL;
}

/* The first dimension is that of the samples. */
static int take_samples(struct package_array *a, const char *name, uint64_t *count)
{
    if (a->shape.dims == 0) {
        PyErr_Format(PyExc_ValueError, "%s: one number; the first dimension of an array is that of the samples", name);
        return -1;
    }
    const uint64_t samples = a->shape.dim[0];
    if (*count != UINT64_MAX && samples != *count) {
        PyErr_Format(PyExc_ValueError, "%s: %llu samples, where other arrays have %llu", name,
                     (unsigned long long)samples, (unsigned long long)*count);
        return -1;
    }
    *count = samples;
    a->shape.dims--;
    memmove(a->shape.dim, a->shape.dim + 1, a->shape.dims * sizeof *a->shape.dim);
    return 0;
}

static PyObject *open_array(struct package_array *array, unsigned arrays, uint64_t count, uint64_t classes)
{
    struct lade_source *source;
    struct lade_error error = {0};
    const struct lade_source_array config = {.samples = array[0].data,
                                             .count = count,
                                             .shape = array[0].shape,
                                             .labels = arrays > 1 ? array[1].data : NULL,
                                             .label_dtype = arrays > 1 ? array[1].shape.dtype : LADE_BOOL,
                                             .classes = classes};
    int status = lade_source_open_array(&source, &config, &error);

    if (status == LADE_OK)
        return package_source_of(source, array, arrays, NULL);
    drop_arrays(array, arrays);
    return package_raise(status, &error);
}

PyObject *package_array_source(PyObject *module, PyObject *args)
{
    PyObject *samples, *labels;
    unsigned long long classes;
    uint64_t count = UINT64_MAX;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOK:array_source", &samples, &labels, &classes))
        return NULL;
    struct package_array *array = calloc(2, sizeof *array);
    if (!array)
        return PyErr_NoMemory();
    if (package_array_get(&array[0], samples, "samples") != 0 || take_samples(&array[0], "samples", &count) != 0)
        return drop_arrays(array, 1);
    if (labels == Py_None)
        return open_array(array, 1, count, classes);
    if (package_array_get(&array[1], labels, "labels") != 0 || take_samples(&array[1], "labels", &count) != 0)
        return drop_arrays(array, 2);
    return open_array(array, 2, count, classes);
}

/* A column from (name, values, offsets or None). */
static int take_column(struct lade_source_column *c, struct package_array *array, PyObject *triple, uint64_t *count)
{
    PyObject *values, *offsets;

    if (!PyArg_ParseTuple(triple, "sOO", &c->field.name, &values, &offsets) ||
        package_array_get(&array[0], values, c->field.name) != 0)
        return -1;
    c->values = array[0].data;
    if (offsets == Py_None) {
        if (take_samples(&array[0], c->field.name, count) != 0)
            return -1;
    } else {
        uint64_t steps = UINT64_MAX, bounds = UINT64_MAX;
        if (package_array_get(&array[1], offsets, c->field.name) != 0 ||
            take_samples(&array[0], c->field.name, &steps) != 0 || take_samples(&array[1], c->field.name, &bounds) != 0)
            return -1;
        if (bounds == 0 || (*count != UINT64_MAX && bounds - 1 != *count)) {
            PyErr_Format(PyExc_ValueError, "%s: %llu offsets; there is one more than there are samples", c->field.name,
                         (unsigned long long)bounds);
            return -1;
        }
        *count = bounds - 1;
        c->offsets = array[1].data;
        c->offset_dtype = array[1].shape.dtype;
        c->steps = steps;
    }
    c->field.dtype = array[0].shape.dtype;
    c->field.dims = array[0].shape.dims;
    if (c->field.dims > LADE_FIELD_DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: a sample has at most %d dimensions", c->field.name, LADE_FIELD_DIMS_MAX);
        return -1;
    }
    memcpy(c->field.dim, array[0].shape.dim, c->field.dims * sizeof *c->field.dim);
    return 0;
}

PyObject *package_arrays_source(PyObject *module, PyObject *args)
{
    struct lade_source_column column[LADE_FIELDS_MAX] = {0};
    struct lade_source_arrays config = {.count = UINT64_MAX, .column = column};
    struct lade_source *source;
    struct lade_error error = {0};
    PyObject *columns;
    unsigned long long classes;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!zzzK:arrays_source", &PyTuple_Type, &columns, &config.label, &config.key,
                          &config.group, &classes))
        return NULL;
    const Py_ssize_t n = PyTuple_Size(columns);
    if (n < 1 || n > LADE_FIELDS_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd fields; a source has 1 to %d", n, LADE_FIELDS_MAX);
        return NULL;
    }
    config.columns = (unsigned)n;
    config.classes = classes;
    const unsigned arrays = 2 * (unsigned)n;
    struct package_array *array = calloc(arrays, sizeof *array);
    if (!array)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++)
        if (take_column(&column[i], &array[2 * i], PyTuple_GetItem(columns, i), &config.count) != 0)
            return drop_arrays(array, arrays);
    int status = lade_source_open_arrays(&source, &config, &error);
    if (status == LADE_OK)
        return package_source_of(source, array, arrays, NULL);
    drop_arrays(array, arrays);
    return package_raise(status, &error);
}

static PyObject *get_count(PyObject *self, void *nothing)
{
    const uint64_t count = lade_source_info(((struct package_source *)self)->source)->count;

    (void)nothing;
    return count == LADE_ENDLESS ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(count);
}

static PyObject *get_classes(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromUnsignedLongLong(lade_source_info(((struct package_source *)self)->source)->classes);
}

static PyObject *get_class_names(PyObject *self, void *nothing)
{
    const struct lade_source_info *info = lade_source_info(((struct package_source *)self)->source);

    (void)nothing;
    if (!info->class_names)
        return Py_NewRef(Py_None);
    PyObject *tuple = PyTuple_New((Py_ssize_t)info->classes);
    for (uint64_t i = 0; tuple && i < info->classes; i++) {
        const char *name = info->class_names[i];
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
        if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)i, text) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* (name, dtype, dims, ragged_max) of each. */
static PyObject *get_fields(PyObject *self, void *nothing)
{
    const struct lade_schema *schema = lade_source_schema(((struct package_source *)self)->source);
    PyObject *tuple = PyTuple_New(schema->fields);

    (void)nothing;
    for (unsigned i = 0; tuple && i < schema->fields; i++) {
        const struct lade_field *f = &schema->field[i];
        PyObject *dims = PyTuple_New(f->dims);
        for (unsigned d = 0; dims && d < f->dims; d++) {
            PyObject *n = PyLong_FromUnsignedLongLong(f->dim[d]);
            if (!n || PyTuple_SetItem(dims, d, n) != 0)
                Py_CLEAR(dims);
        }
        PyObject *field = dims ? Py_BuildValue("(ssNK)", f->name, package_dtype_name(f->dtype), dims,
                                               (unsigned long long)f->ragged_max)
                               : NULL;
        if (!field || PyTuple_SetItem(tuple, i, field) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_kind(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyUnicode_FromString(lade_source_info(((struct package_source *)self)->source)->kind);
}

static PyGetSetDef attributes[] = {
    {"count", get_count, NULL, "The number of samples; None: endless.", NULL},
    {"classes", get_classes, NULL, "Labels are less than this; 0: there are none.", NULL},
    {"class_names", get_class_names, NULL, "A tuple, or None.", NULL},
    {"fields", get_fields, NULL, "A tuple (name, dtype, dims, ragged_max) for each field.", NULL},
    {"kind", get_kind, NULL, "'cifar10', 'npy', ...", NULL},
    {0},
};

PyDoc_STRVAR(doc, "A data set that is open.");
static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)doc},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_traverse, PACKAGE_SLOT(traverse)},
    {Py_tp_getset, attributes},
    {0, NULL},
};
PyType_Spec package_source_spec = {
    .name = "lade._lade.Source",
    .basicsize = sizeof(struct package_source),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
