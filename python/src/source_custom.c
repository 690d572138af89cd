/* SPDX-License-Identifier: MIT */
/*
 * Sources whose samples come from Python functions. Workers call them attached to the interpreter, one at a time where
 * there is a GIL.
 */
#include "package.h"

#include "fail.h"

#include <stdlib.h>
#include <string.h>

struct custom {
    PyObject *read;   /* read(i): a tuple with one buffer for each field; of a stream read(): a buffer, label and key */
    PyObject *length; /* length(i, field) */
    unsigned fields;
    struct lade_field field[LADE_FIELDS_MAX];
    struct lade_schema schema;
    size_t bytes; /* of a stream's sample */
};

/* Copies a part of the bytes of a field. */
static int copy_view(const struct lade_field *field, const struct lade_view *view, PyObject *object, uint64_t i,
                     struct lade_error *error)
{
    const size_t step = lade_field_bytes(field);
    Py_buffer buffer;

    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) != 0)
        return package_keep_exception(error);
    int status = LADE_OK;
    if ((uint64_t)buffer.len < (view->from + view->length) * step)
        status = lade_fail(error, LADE_DAMAGED, NULL, LADE_NO_OFFSET,
                           "sample %llu: field '%s' has %zd bytes instead of %llu", (unsigned long long)i, field->name,
                           buffer.len, (unsigned long long)((view->from + view->length) * step));
    else if (view->length > 0)
        memcpy(view->data, (const char *)buffer.buf + view->from * step, (size_t)view->length * step);
    PyBuffer_Release(&buffer);
    return status;
}

static int copy_sample(const struct custom *c, PyObject *sample, uint64_t i, const struct lade_view *views,
                       struct lade_error *error)
{
    if (!PyTuple_Check(sample) || PyTuple_Size(sample) != (Py_ssize_t)c->fields)
        return lade_fail(error, LADE_DAMAGED, NULL, LADE_NO_OFFSET, "sample %llu does not have %u fields",
                         (unsigned long long)i, c->fields);
    for (unsigned f = 0; f < c->fields; f++) {
        int status = views[f].data
                         ? copy_view(&c->field[f], &views[f], PyTuple_GetItem(sample, (Py_ssize_t)f), i, error)
                         : LADE_OK;
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

static int read_fields(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct custom *c = self;
    PyGILState_STATE attached = package_attach();
    PyObject *sample = PyObject_CallFunction(c->read, "K", (unsigned long long)i);
    int status = sample ? copy_sample(c, sample, i, views, error) : package_keep_exception(error);

    Py_XDECREF(sample);
    package_detach(attached);
    return status;
}

static int length(void *self, uint64_t i, unsigned field, uint64_t *steps, struct lade_error *error)
{
    const struct custom *c = self;
    PyGILState_STATE attached = package_attach();
    PyObject *result = PyObject_CallFunction(c->length, "KI", (unsigned long long)i, field);
    int status = LADE_OK;

    *steps = result ? PyLong_AsUnsignedLongLong(result) : 0;
    if (PyErr_Occurred())
        status = package_keep_exception(error);
    Py_XDECREF(result);
    package_detach(attached);
    return status;
}

static int take_next(const struct custom *c, PyObject *sample, void *to, int64_t *label, uint64_t *key,
                     struct lade_error *error)
{
    static const struct lade_field field = {.name = "sample", .dtype = LADE_U8};
    const struct lade_view view = {to, 0, c->bytes};
    PyObject *bytes;
    long long its_label;
    unsigned long long its_key;

    if (!PyArg_ParseTuple(sample, "OLK", &bytes, &its_label, &its_key))
        return package_keep_exception(error);
    if (label)
        *label = its_label;
    *key = its_key;
    return copy_view(&field, &view, bytes, its_key, error);
}

static int next(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    const struct custom *c = self;
    PyGILState_STATE attached = package_attach();
    PyObject *sample = PyObject_CallNoArgs(c->read);
    int status;

    if (sample)
        status = take_next(c, sample, to, label, key, error);
    else if (PyErr_ExceptionMatches(PyExc_StopIteration)) {
        PyErr_Clear();
        status = LADE_EMPTY;
    } else
        status = package_keep_exception(error);
    Py_XDECREF(sample);
    package_detach(attached);
    return status;
}

/* By dealloc of the source's object: attached. */
static void close_custom(void *self)
{
    struct custom *c = self;

    Py_XDECREF(c->read);
    Py_XDECREF(c->length);
    free(c);
}

/* (name, dtype, dims, ragged_max). */
static int take_field(struct lade_field *f, PyObject *tuple)
{
    const char *dtype;
    unsigned long long ragged_max;
    PyObject *dims;

    if (!PyArg_ParseTuple(tuple, "ssO!K", &f->name, &dtype, &PyTuple_Type, &dims, &ragged_max))
        return -1;
    const int number = package_dtype(dtype);
    const Py_ssize_t n = PyTuple_Size(dims);
    if (number < 0 || n > LADE_FIELD_DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "field '%s': dtype %s, %zd dimensions; a sample has at most %d", f->name, dtype,
                     n, LADE_FIELD_DIMS_MAX);
        return -1;
    }
    f->dtype = (enum lade_dtype)number;
    f->dims = (unsigned)n;
    f->ragged_max = ragged_max;
    for (Py_ssize_t d = 0; d < n; d++)
        f->dim[d] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(dims, d));
    return PyErr_Occurred() ? -1 : 0;
}

static int find_field(const struct custom *c, const char *name, int *number)
{
    *number = name ? lade_schema_find(&c->schema, name) : LADE_NO_FIELD;
    if (name && *number == LADE_NO_FIELD) {
        PyErr_Format(PyExc_ValueError, "no field '%s'", name);
        return -1;
    }
    return 0;
}

static int take_fields(struct custom *c, PyObject *fields)
{
    const Py_ssize_t n = PyTuple_Size(fields);

    if (n < 1 || n > LADE_FIELDS_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd fields; a source has 1 to %d", n, LADE_FIELDS_MAX);
        return -1;
    }
    for (Py_ssize_t f = 0; f < n; f++)
        if (take_field(&c->field[f], PyTuple_GetItem(fields, f)) != 0)
            return -1;
    c->fields = (unsigned)n;
    c->schema = (struct lade_schema){.fields = c->fields, .field = c->field};
    return 0;
}

/* A stream has one field without a schema. */
static struct lade_source_info stream_info(struct custom *c, uint64_t classes)
{
    struct lade_source_info info = {.kind = "python", .count = LADE_ENDLESS, .classes = classes};

    info.shape.dtype = c->field[0].dtype;
    info.shape.dims = c->field[0].dims;
    memcpy(info.shape.dim, c->field[0].dim, sizeof c->field[0].dim);
    info.bytes = c->bytes = lade_shape_bytes(&info.shape);
    return info;
}

static int open_custom(struct lade_source **source, struct custom *c, uint64_t count, uint64_t classes,
                       struct lade_error *error)
{
    if (count == LADE_ENDLESS) {
        const struct lade_source_info info = stream_info(c, classes);
        const struct lade_source_ops ops = {.next = next, .close = close_custom};
        return lade_source_open_custom(source, &ops, c, &info, NULL, error);
    }
    const struct lade_source_info info = {.kind = "python", .count = count, .classes = classes, .schema = &c->schema};
    const struct lade_source_ops ops = {.read_fields = read_fields, .length = length, .close = close_custom};
    return lade_source_open_custom(source, &ops, c, &info, NULL, error);
}

PyObject *package_custom_source(PyObject *module, PyObject *args)
{
    PyObject *read, *of_length, *fields;
    unsigned long long count, classes;
    const char *label, *key, *group;
    struct lade_source *source;
    struct lade_error error = {0};

    (void)module;
    if (!PyArg_ParseTuple(args, "OOKO!zzzK:custom_source", &read, &of_length, &count, &PyTuple_Type, &fields, &label,
                          &key, &group, &classes))
        return NULL;
    struct custom *c = calloc(1, sizeof *c);
    if (!c)
        return PyErr_NoMemory();
    if (take_fields(c, fields) != 0 || find_field(c, label, &c->schema.label) != 0 ||
        find_field(c, key, &c->schema.key) != 0 || find_field(c, group, &c->schema.group) != 0) {
        free(c);
        return NULL;
    }
    c->read = Py_NewRef(read);
    c->length = Py_NewRef(of_length);
    int status = open_custom(&source, c, count, classes, &error);
    /* The names of the fields, and the functions, live as long as the object. */
    if (status == LADE_OK)
        return package_source_of(source, NULL, 0, args);
    close_custom(c);
    return package_raise(status, &error);
}
