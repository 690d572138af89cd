/* SPDX-License-Identifier: MIT */
/* Tables of other libraries by the Arrow C stream interface, without a copy. */
#include "package.h"

#include <lade/arrow.h>

#include <stdlib.h>

/* Moves the stream out of the capsule that the object makes. 0, or -1 with an exception. */
static int take_stream(PyObject *object, struct ArrowArrayStream *stream)
{
    PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
    struct ArrowArrayStream *from = capsule ? PyCapsule_GetPointer(capsule, "arrow_array_stream") : NULL;

    if (from) {
        *stream = *from;
        from->release = NULL; /* so the destructor of the capsule leaves it alone */
    }
    Py_XDECREF(capsule);
    return from ? 0 : -1;
}

/* Called by workers. context: the object, which the source keeps alive. */
static int reopen(void *context, struct ArrowArrayStream *stream)
{
    struct lade_error error;
    PyGILState_STATE attached = package_attach();
    int status = take_stream(context, stream) == 0 ? LADE_OK : package_keep_exception(&error);

    package_detach(attached);
    return status;
}

/* Names, each with whether it holds images. */
static int take_columns(struct lade_arrow_column *column, PyObject *columns, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        int image;
        if (!PyArg_ParseTuple(PyTuple_GetItem(columns, i), "sp", &column[i].name, &image))
            return -1;
        column[i].image = image;
    }
    return 0;
}

static PyObject *open_stream(PyObject *object, struct lade_source_arrow *config)
{
    struct ArrowArrayStream stream;
    struct lade_source *source;
    struct lade_error error = {0};
    int status;

    if (take_stream(object, &stream) != 0)
        return NULL;
    config->stream = &stream;
    config->context = object;
    Py_BEGIN_ALLOW_THREADS;
    status = lade_source_open_arrow(&source, config, &error);
    Py_END_ALLOW_THREADS;
    return status == LADE_OK ? package_source_of(source, NULL, 0, object) : package_raise(status, &error);
}

PyObject *package_arrow_source(PyObject *module, PyObject *args)
{
    struct lade_source_arrow config = {0};
    PyObject *object, *columns;
    unsigned long long classes, memory, pixels;
    unsigned height, width;
    int nulls;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!zzzKidKIIK:arrow_source", &object, &PyTuple_Type, &columns, &config.label,
                          &config.key, &config.group, &classes, &nulls, &config.fill, &memory, &height, &width,
                          &pixels))
        return NULL;
    const Py_ssize_t n = PyTuple_Size(columns);
    struct lade_arrow_column *column = calloc((size_t)n + 1, sizeof *column);
    if (!column)
        return PyErr_NoMemory();
    config.column = n > 0 ? column : NULL;
    config.columns = (unsigned)n;
    config.classes = classes;
    config.nulls = (enum lade_nulls)nulls;
    config.memory = memory > 0 ? memory : UINT64_MAX / 2; /* the producer has it in memory */
    config.reopen = memory > 0 ? reopen : NULL;
    config.height = height;
    config.width = width;
    config.pixels = pixels;
    PyObject *source = take_columns(column, columns, n) == 0 ? open_stream(object, &config) : NULL;
    free(column);
    return source;
}
