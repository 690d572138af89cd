/* SPDX-License-Identifier: MIT */
/* The configuration of a loader from a dict. */
#include "package.h"

#include <string.h>

enum kind { NUMBER, SHORT_NUMBER, SIZE, TIME, TRUTH, CHOICE };

static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} known[] = {
#define OPTION(name, kind)                                                                                             \
    {                                                                                                                  \
#name, kind, offsetof(struct lade_loader_config, name)                                                         \
    }
    OPTION(part, SHORT_NUMBER),
    OPTION(seed, NUMBER),
    OPTION(random_seed, TRUTH),
    OPTION(pack_row, NUMBER),
    OPTION(pack_window, NUMBER),
    OPTION(pack_samples, NUMBER),
    OPTION(pack_longer, CHOICE),
    OPTION(batch, NUMBER),
    OPTION(drop_last, TRUTH),
    OPTION(in_order, TRUTH),
    OPTION(sequential, TRUTH),
    OPTION(threads, SHORT_NUMBER),
    OPTION(consumer_assists, TRUTH),
    OPTION(slots, SHORT_NUMBER),
    OPTION(epochs, NUMBER),
    OPTION(shard, SHORT_NUMBER),
    OPTION(shards, SHORT_NUMBER),
    OPTION(pad, TRUTH),
    OPTION(draw, CHOICE),
    OPTION(buffer, NUMBER),
    OPTION(fault, CHOICE),
    OPTION(faults_max, NUMBER),
    OPTION(worker_timeout, TIME),
    OPTION(replaced_max, SHORT_NUMBER),
    OPTION(align, SIZE),
    OPTION(pipeline_field, SHORT_NUMBER),
#undef OPTION
};

static int store_number(void *to, size_t size, PyObject *value, const char *name)
{
    PyObject *whole = PyNumber_Index(value);
    const unsigned long long number = whole ? PyLong_AsUnsignedLongLong(whole) : 0;

    Py_XDECREF(whole);
    if (PyErr_Occurred() || (size == sizeof(unsigned) && number > UINT32_MAX)) {
        const bool is_range = PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_OverflowError);
        PyErr_Format(is_range ? PyExc_ValueError : PyExc_TypeError, "%s is %R; it is a whole number from 0 to %llu",
                     name, value, size == sizeof(unsigned) ? (unsigned long long)UINT32_MAX : UINT64_MAX);
        return -1;
    }
    const unsigned shorter = (unsigned)number;
    memcpy(to, size == sizeof shorter ? (const void *)&shorter : (const void *)&number, size);
    return 0;
}

static int store(struct lade_loader_config *config, size_t i, PyObject *value)
{
    void *to = (char *)config + known[i].offset;
    int64_t time;
    int truth;

    switch (known[i].kind) {
    case NUMBER:
        return store_number(to, sizeof(uint64_t), value, known[i].name);
    case SIZE:
        return store_number(to, sizeof(size_t), value, known[i].name);
    case SHORT_NUMBER:
        return store_number(to, sizeof(unsigned), value, known[i].name);
    case CHOICE:
        return store_number(to, sizeof(unsigned), value, known[i].name);
    case TIME:
        time = PyLong_AsLongLong(value);
        memcpy(to, &time, sizeof time);
        return PyErr_Occurred() ? -1 : 0;
    case TRUTH:
        truth = PyObject_IsTrue(value);
        *(bool *)to = truth > 0;
        return truth < 0 ? -1 : 0;
    }
    return -1;
}

static int find(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            return (int)i;
    return -1;
}

/* (name, ragged, wide, cut, max, total, multiple, buckets, padding), the last two as bytes. */
static int read_field(struct lade_loader_field *f, PyObject *tuple)
{
    const char *bucket, *padding;
    Py_ssize_t bucket_bytes, padding_bytes;
    unsigned long long max, total, multiple;
    int ragged, wide, cut;

    if (!PyArg_ParseTuple(tuple, "sippKKKz#z#", &f->name, &ragged, &wide, &cut, &max, &total, &multiple, &bucket,
                          &bucket_bytes, &padding, &padding_bytes))
        return -1;
    f->ragged = (enum lade_ragged)ragged;
    f->wide = wide;
    f->cut = cut;
    f->max = max;
    f->total = total;
    f->multiple = multiple;
    f->bucket = (const uint64_t *)(const void *)bucket;
    f->buckets = (unsigned)((size_t)bucket_bytes / sizeof(uint64_t));
    f->padding = padding;
    return 0;
}

/* Names, buckets and paddings stay in the objects of the tuple. */
static int read_fields(struct package_options *o, PyObject *tuple)
{
    const Py_ssize_t n = PyTuple_Size(tuple);

    if (n < 1 || n > LADE_FIELDS_MAX) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "fields has %zd entries; there are 1 to %d", n, LADE_FIELDS_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_field(&o->field[i], PyTuple_GetItem(tuple, i)) != 0)
            return -1;
    o->config.field = o->field;
    o->config.fields = (unsigned)n;
    return 0;
}

static int read_weight(struct package_options *o, PyObject *weight)
{
    if (package_array_get(&o->weight, weight, "weights") != 0)
        return -1;
    const struct lade_source_info *info = lade_source_info(o->config.source);
    if (o->weight.shape.dtype != LADE_F64 || o->weight.elements != info->count) {
        PyErr_Format(PyExc_ValueError, "weights: one float64 for each of the %llu samples of the source",
                     (unsigned long long)info->count);
        return -1;
    }
    o->config.weight = o->weight.data;
    return 0;
}

static int read_one(struct package_options *o, const char *name, PyObject *value)
{
    if (!strcmp(name, "fields"))
        return read_fields(o, value);
    if (!strcmp(name, "weights"))
        return read_weight(o, value);
    if (!strcmp(name, "pipeline"))
        return (o->config.pipeline = package_pipeline(value)) ? 0 : -1;
    if (!strcmp(name, "split"))
        return (o->config.split = PyCapsule_GetPointer(value, "lade_split")) ? 0 : -1;
    const int i = find(name);
    if (i >= 0)
        return store(&o->config, (size_t)i, value);
    PyErr_Format(PyExc_TypeError, "a loader has no option %s", name);
    return -1;
}

int package_options_read(struct package_options *o, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    o->kept = Py_NewRef(dict);
    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name || read_one(o, name, value) != 0)
            return -1;
    }
    return 0;
}

void package_options_clear(struct package_options *o)
{
    package_array_put(&o->weight);
    Py_CLEAR(o->kept);
}
