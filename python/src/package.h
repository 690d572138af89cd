/* SPDX-License-Identifier: MIT */
/*
 * What the files of the extension share. One file for each class. Internal.
 *
 * Objects of Python are used by threads that are attached to the interpreter (they hold the GIL, where there is one).
 * Workers attach only to call a Python function. Memory of batches is released by any thread, attached or not.
 */
#ifndef LADE_PYTHON_PACKAGE_H
#define LADE_PYTHON_PACKAGE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dlpack.h"

#include <lade/loader.h>
#include <lade/ref.h>
#include <lade/source.h>
#include <lade/transform.h>

/* A function that takes positional arguments as an array, as the table of methods wants it. */
#define PACKAGE_FAST(function) ((PyCFunction)(void (*)(void))(function))
/* Excludes other threads from an object where there is no GIL. */
#ifdef Py_GIL_DISABLED
#define PACKAGE_BEGIN(object) Py_BEGIN_CRITICAL_SECTION(object)
#define PACKAGE_END() Py_END_CRITICAL_SECTION()
#else
#define PACKAGE_BEGIN(object) ((void)(object))
#define PACKAGE_END() ((void)0)
#endif
#define PACKAGE_SLOT(function) ((void *)(function))

/* Statuses beside those of the library: an exception is set; the process is a child of the one that made the object. */
enum { PACKAGE_RAISED = -100, PACKAGE_FORKED = -101 };

/* error.c */

/* Raises the exception of a status. error may be NULL. Returns NULL. */
PyObject *package_raise(int status, const struct lade_error *error);

/*
 * In a worker, attached: keeps the exception that is set, clears it, and returns a status from which package_raise()
 * raises it again. Its text goes to error.
 */
int package_keep_exception(struct lade_error *error);

/*
 * Around each call of a Python function by a worker: attaches the thread to the interpreter. The collector may run inside, and
 * must not wait there for the end of workers, of which this may be one.
 */
PyGILState_STATE package_attach(void);
void package_detach(PyGILState_STATE state);
bool package_is_worker(void);

/* array.c: arrays of other objects, by the buffer protocol or DLPack, without a copy. */
struct package_array {
    const void *data;
    struct lade_shape shape;
    uint64_t elements;
    Py_buffer buffer;  /* buffer.obj NULL: it is not in use */
    PyObject *capsule; /* of DLPack, or NULL */
};

/* Whether the object has one of the protocols. */
bool package_is_array(PyObject *object);

/* 0, or -1 with an exception that names the array. */
int package_array_get(struct package_array *array, PyObject *object, const char *name);
void package_array_put(struct package_array *array);

/* engine.c: a loader with everything that its batches need, counted, because these outlive the loader's object. */
struct package_engine {
    struct lade_ref users;    /* the loader's object, and each attached batch */
    struct lade_ref attached; /* 1, and one for each batch that has memory of the loader */
    struct lade_loader *loader;
    uint32_t generation; /* of fork */
    uint32_t limit;      /* of attached batches: more are detached */
};

/* The memory of one batch. */
struct package_hold {
    struct lade_ref users; /* the batch's object, its tensors, and what was exported */
    struct package_engine *engine;
    bool detached;
    struct lade_batch batch;
};

struct package_engine *package_engine_create(struct lade_loader *loader, uint32_t limit);
void package_engine_put(struct package_engine *engine);

/* Next batch, with one reference. The loader's status. */
int package_engine_next(struct package_engine *engine, struct package_hold **hold, int64_t timeout,
                        struct lade_error *error);
void package_hold_get(struct package_hold *hold);
void package_hold_put(struct package_hold *hold);

/* tensor.c: rows of a batch. Takes a reference to hold. */
PyObject *package_tensor(struct package_hold *hold, const void *data, const struct lade_shape *shape);

/* What __dlpack__ exports, with a reference to the batch; NULL and an exception. The view has none. */
DLManagedTensorVersioned *package_tensor_export(PyObject *tensor);
void package_tensor_view(PyObject *tensor, DLTensor *view);

/* exchange.c: the capsule of lade.Tensor's table; the tensor that the table of another library makes of one. */
PyObject *package_exchange_table(void);
PyObject *package_exchange(PyObject *tensor, PyObject *capsule);

/* The number type with this name, as NumPy spells it; -1: there is none. */
int package_dtype(const char *name);
const char *package_dtype_name(enum lade_dtype dtype);

/* batch.c: takes over the reference to hold. names: a tuple with the name of each tensor. */
PyObject *package_batch(struct package_hold *hold, PyObject *names, bool has_labels);

/* source.c */
struct package_source {
    PyObject_HEAD struct lade_source *source;
    struct package_array *array; /* what the source reads */
    unsigned arrays;
    PyObject *custom; /* the object whose functions the source calls, or NULL */
};
PyObject *package_source_of(struct lade_source *source, struct package_array *array, unsigned arrays, PyObject *custom);

/* NULL and an exception if it is none, or closed. */
struct package_source *package_source(PyObject *object);
PyObject *package_open_source(PyObject *module, PyObject *args);
PyObject *package_array_source(PyObject *module, PyObject *args);
PyObject *package_arrays_source(PyObject *module, PyObject *args);

/* source_arrow.c */
PyObject *package_arrow_source(PyObject *module, PyObject *args);

/* source_custom.c */
PyObject *package_custom_source(PyObject *module, PyObject *args);

/* pipeline.c. NULL and an exception if it is none. */
const struct lade_pipeline *package_pipeline(PyObject *object);
PyObject *package_make_pipeline(PyObject *module, PyObject *args);

/* state.c */
PyObject *package_merge_states(PyObject *module, PyObject *args);

/* report.c: what the consumer got since its first call of next. */
struct package_measure {
    int64_t begin, end; /* begin 0: not begun */
    uint64_t batches, samples, bytes, first_epoch, last_epoch;
    struct lade_loader_stats stats; /* at begin */
};
void package_measure_begin(struct package_measure *measure, const struct lade_loader *loader);
void package_measure_batch(struct package_measure *measure, const struct lade_batch *batch);

/* JSON as text. */
PyObject *package_report(const struct package_measure *measure, const struct lade_loader *loader,
                         const struct lade_loader_config *config, const char *source, const char *order, bool ended);

/* loader_options.c: what a configuration points to. */
struct package_options {
    struct lade_loader_config config;
    struct lade_loader_field field[LADE_FIELDS_MAX];
    PyObject *kept; /* the dict, which holds the objects that fields, pipeline and split point into */
    struct package_array weight;
};

/* Reads the dict. 0, or -1 with an exception. */
int package_options_read(struct package_options *options, PyObject *dict);
void package_options_clear(struct package_options *options);

/* The types; each file has one, and module.c adds it to the module. Set once, at import. */
extern PyType_Spec package_source_spec, package_loader_spec, package_batch_spec, package_tensor_spec,
    package_pipeline_spec;
extern PyTypeObject *package_source_type, *package_batch_type, *package_tensor_type, *package_pipeline_type;

#endif
