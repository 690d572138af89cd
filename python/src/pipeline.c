/* SPDX-License-Identifier: MIT */
/* Transforms: a pipeline of the library's steps, Python functions and compiled ones. */
#include "package.h"

#include <stdlib.h>
#include <string.h>

struct call {
    PyObject *function; /* takes a bytearray, or that and a seed; returns a buffer */
    bool random;
};

struct pipeline {
    PyObject_HEAD struct lade_pipeline *pipeline;
    PyObject *steps; /* keeps the functions */
    struct call *call;
};

PyTypeObject *package_pipeline_type;

const struct lade_pipeline *package_pipeline(PyObject *object)
{
    if (Py_TYPE(object) == package_pipeline_type)
        return ((struct pipeline *)object)->pipeline;
    PyErr_Format(PyExc_TypeError, "not a pipeline: %R", object);
    return NULL;
}

static int copy_out(PyObject *result, void *to, size_t bytes)
{
    Py_buffer buffer;

    if (PyObject_GetBuffer(result, &buffer, PyBUF_SIMPLE) != 0)
        return -1;
    if ((size_t)buffer.len == bytes)
        memcpy(to, buffer.buf, bytes);
    else
        PyErr_Format(PyExc_ValueError, "a transform returned %zd bytes instead of %zu", buffer.len, bytes);
    PyBuffer_Release(&buffer);
    return PyErr_Occurred() ? -1 : 0;
}

/* The function gets a copy, which it may keep. */
static int call_function(void *context, const struct lade_image *input, const void *from,
                         const struct lade_image *output, void *to, struct lade_random *random,
                         struct lade_error *error)
{
    const struct call *c = context;
    PyGILState_STATE attached = package_attach();
    PyObject *image = PyByteArray_FromStringAndSize(from, (Py_ssize_t)lade_image_bytes(input));
    PyObject *result = NULL;
    int status = LADE_OK;

    if (image && c->random)
        result = PyObject_CallFunction(c->function, "OK", image, (unsigned long long)lade_random_word(random));
    else if (image)
        result = PyObject_CallFunction(c->function, "O", image);
    if (!result || copy_out(result, to, lade_image_bytes(output)) != 0)
        status = package_keep_exception(error);
    Py_XDECREF(image);
    Py_XDECREF(result);
    package_detach(attached);
    return status;
}

/* (dtype, layout, height, width, channels). */
static int take_image(struct lade_image *image, PyObject *tuple)
{
    const char *dtype;
    int layout;

    if (!PyArg_ParseTuple(tuple, "siIII", &dtype, &layout, &image->height, &image->width, &image->channels))
        return -1;
    image->layout = (enum lade_layout)layout;
    image->dtype = (enum lade_dtype)package_dtype(dtype);
    return 0;
}

static int add_normalise(struct lade_pipeline *p, PyObject *step)
{
    double mean[LADE_CHANNELS_MAX], deviation[LADE_CHANNELS_MAX], scale;
    PyObject *means, *deviations;
    const uint32_t channels = lade_pipeline_output(p)->channels;

    if (!PyArg_ParseTuple(step, "sdO!O!", &(const char *){0}, &scale, &PyTuple_Type, &means, &PyTuple_Type,
                          &deviations))
        return PACKAGE_RAISED;
    if (PyTuple_Size(means) != (Py_ssize_t)channels || PyTuple_Size(deviations) != (Py_ssize_t)channels) {
        PyErr_Format(PyExc_ValueError, "normalise: one mean and deviation for each of the %u channels", channels);
        return PACKAGE_RAISED;
    }
    for (uint32_t i = 0; i < channels; i++) {
        mean[i] = PyFloat_AsDouble(PyTuple_GetItem(means, (Py_ssize_t)i));
        deviation[i] = PyFloat_AsDouble(PyTuple_GetItem(deviations, (Py_ssize_t)i));
    }
    return PyErr_Occurred() ? PACKAGE_RAISED : lade_pipeline_normalise(p, scale, mean, deviation);
}

static int add_call(struct lade_pipeline *p, PyObject *step, struct call *call)
{
    PyObject *form;
    struct lade_image output;
    int random;

    if (!PyArg_ParseTuple(step, "sOOp", &(const char *){0}, &call->function, &form, &random))
        return PACKAGE_RAISED;
    call->random = random;
    output = *lade_pipeline_output(p);
    if (form != Py_None && take_image(&output, form) != 0)
        return PACKAGE_RAISED;
    return lade_pipeline_call(p, call_function, call, &output);
}

static int add_compiled(struct lade_pipeline *p, PyObject *step)
{
    unsigned long long function, context;
    PyObject *form, *kept;
    struct lade_image output;

    if (!PyArg_ParseTuple(step, "sKKOO", &(const char *){0}, &function, &context, &form, &kept))
        return PACKAGE_RAISED;
    output = *lade_pipeline_output(p);
    if (form != Py_None && take_image(&output, form) != 0)
        return PACKAGE_RAISED;
    return lade_pipeline_call(p, (lade_transform *)(uintptr_t)function, (void *)(uintptr_t)context, &output);
}

static int add_step(struct lade_pipeline *p, PyObject *step, struct call *call)
{
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(step, 0), NULL), *text;
    unsigned a, b, c, d;
    float scale;

    if (!name)
        return PACKAGE_RAISED;
    if (!strcmp(name, "resize"))
        return PyArg_ParseTuple(step, "sII", &text, &a, &b) ? lade_pipeline_resize(p, a, b) : PACKAGE_RAISED;
    if (!strcmp(name, "crop"))
        return PyArg_ParseTuple(step, "sIIII", &text, &a, &b, &c, &d) ? lade_pipeline_crop(p, a, b, c, d)
                                                                      : PACKAGE_RAISED;
    if (!strcmp(name, "crop_centre"))
        return PyArg_ParseTuple(step, "sII", &text, &a, &b) ? lade_pipeline_crop_centre(p, a, b) : PACKAGE_RAISED;
    if (!strcmp(name, "crop_random"))
        return PyArg_ParseTuple(step, "sIII", &text, &a, &b, &c) ? lade_pipeline_crop_random(p, a, b, c)
                                                                 : PACKAGE_RAISED;
    if (!strcmp(name, "flip"))
        return lade_pipeline_flip(p);
    if (!strcmp(name, "cast"))
        return PyArg_ParseTuple(step, "ssf", &text, &text, &scale)
                   ? lade_pipeline_cast(p, (enum lade_dtype)package_dtype(text), scale)
                   : PACKAGE_RAISED;
    if (!strcmp(name, "layout"))
        return PyArg_ParseTuple(step, "sI", &text, &a) ? lade_pipeline_layout(p, (enum lade_layout)a) : PACKAGE_RAISED;
    if (!strcmp(name, "normalise"))
        return add_normalise(p, step);
    if (!strcmp(name, "call"))
        return add_call(p, step, call);
    if (!strcmp(name, "compiled"))
        return add_compiled(p, step);
    PyErr_Format(PyExc_ValueError, "no transform %s", name);
    return PACKAGE_RAISED;
}

static int add_steps(struct pipeline *self)
{
    const Py_ssize_t n = PyTuple_Size(self->steps);

    self->call = calloc((size_t)n + 1, sizeof *self->call);
    if (!self->call) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *step = PyTuple_GetItem(self->steps, i);
        int status = add_step(self->pipeline, step, &self->call[i]);
        if (status == LADE_OK)
            continue;
        if (status == LADE_INVALID)
            PyErr_Format(PyExc_ValueError, "transform %zd, %R: out of range for its input, or more than 32 transforms",
                         i, step);
        else if (status != PACKAGE_RAISED)
            package_raise(status, NULL);
        return -1;
    }
    return 0;
}

PyObject *package_make_pipeline(PyObject *module, PyObject *args)
{
    PyObject *form, *steps;
    struct lade_image input;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!:make_pipeline", &form, &PyTuple_Type, &steps) || take_image(&input, form) != 0)
        return NULL;
    struct pipeline *self = (struct pipeline *)PyType_GenericAlloc(package_pipeline_type, 0);
    if (!self)
        return NULL;
    self->steps = Py_NewRef(steps);
    int status = lade_pipeline_create(&self->pipeline, &input, NULL);
    if (status == LADE_OK && add_steps(self) == 0)
        return (PyObject *)self;
    Py_DECREF(self);
    if (status == LADE_INVALID)
        PyErr_SetString(PyExc_ValueError, "transforms take images of uint8 or float32, up to 16384 x 16384 x 1024");
    return status == LADE_OK || status == LADE_INVALID ? NULL : package_raise(status, NULL);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct pipeline *)self)->steps);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct pipeline *p = (struct pipeline *)self;

    PyObject_GC_UnTrack(self);
    lade_pipeline_destroy(p->pipeline);
    free(p->call);
    Py_XDECREF(p->steps);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_traverse, PACKAGE_SLOT(traverse)},
    {0, NULL},
};
PyType_Spec package_pipeline_spec = {
    .name = "lade._lade.Pipeline",
    .basicsize = sizeof(struct pipeline),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
