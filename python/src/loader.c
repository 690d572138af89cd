/* SPDX-License-Identifier: MIT */
/* lade._lade.Loader, on which lade.Loader builds: a loader, its next batch, its state. */
#include "package.h"

#include <lade/fork.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Calls of the loader exclude each other by the lock, which is never held while Python code runs: a signal handler may
 * use the loader. engine is replaced under the lock.
 */
struct loader {
    PyObject_HEAD struct package_engine *engine; /* NULL: closed */
    PyThread_type_lock lock;
    struct package_options options;
    PyObject *source;
    PyObject *names; /* of the tensors */
    bool has_labels;
    struct package_measure measure;
    uint32_t generation; /* of fork */
    atomic_bool closing; /* by any thread; others then stop waiting */
    bool ended;          /* the last batch of an epoch was returned since iteration began */
};

#define SLICE INT64_C(50000000) /* nanoseconds that a thread waits until it checks for signals */

static bool is_here(const struct loader *l)
{
    return l->generation == lade_fork_generation();
}

/* Locks the loader and returns the engine, or NULL with an exception. */
static struct package_engine *lock_to(struct loader *l, bool closes)
{
    for (;;) {
        if (!l->engine) {
            PyErr_SetString(PyExc_ValueError, "the loader is closed");
            return NULL;
        }
        if (!is_here(l))
            return (struct package_engine *)package_raise(PACKAGE_FORKED, NULL);
        if (atomic_load_explicit(&l->closing, memory_order_relaxed) && !closes) { /* only ends the wait early */
            PyErr_SetString(PyExc_ValueError, "the loader is closed, or is being closed by another thread");
            return NULL;
        }
        PyLockStatus status = PyThread_acquire_lock_timed(l->lock, 0, 0);
        if (status != PY_LOCK_ACQUIRED) {
            Py_BEGIN_ALLOW_THREADS;
            status = PyThread_acquire_lock_timed(l->lock, SLICE / 1000, 0);
            Py_END_ALLOW_THREADS;
        }
        if (status == PY_LOCK_ACQUIRED && l->engine)
            return l->engine;
        if (status == PY_LOCK_ACQUIRED)
            PyThread_release_lock(l->lock);
        else if (PyErr_CheckSignals() != 0)
            return NULL;
    }
}

static struct package_engine *lock(struct loader *l)
{
    return lock_to(l, false);
}

static void unlock(struct loader *l)
{
    PyThread_release_lock(l->lock);
}

/* Stops the workers, and lets go of the engine when they have ended. LADE_OK, LADE_TIMEOUT, or PACKAGE_RAISED. */
static int try_close(struct loader *l)
{
    struct package_engine *e = l->engine;
    int status = LADE_OK;

    if (is_here(l)) {
        atomic_store_explicit(&l->closing, true, memory_order_relaxed);
        e = lock_to(l, true);
        if (!e)
            return PACKAGE_RAISED;
        Py_BEGIN_ALLOW_THREADS;
        status = lade_loader_stop(e->loader, SLICE);
        Py_END_ALLOW_THREADS;
        if (status != LADE_TIMEOUT)
            l->engine = NULL;
        unlock(l);
    } else
        l->engine = NULL;
    if (status == LADE_TIMEOUT)
        return PyErr_CheckSignals() == 0 ? LADE_TIMEOUT : PACKAGE_RAISED;
    package_engine_put(e);
    return LADE_OK;
}

static PyObject *close_loader(PyObject *self, PyObject *nothing)
{
    struct loader *l = (struct loader *)self;

    (void)nothing;
    while (l->engine)
        if (try_close(l) == PACKAGE_RAISED) {
            if (l->engine)
                return NULL;
            PyErr_Clear(); /* another thread has closed it */
        }
    Py_RETURN_NONE;
}

/* What batches are made of: the names of their tensors, and whether labels come along. */
static int describe(struct loader *l, struct lade_loader *loader)
{
    static const char *const suffix[] = {"", "_lengths", "_offsets"};
    static const char *const packed[] = {"segments", "positions", "rows"};
    const struct lade_source *source = ((struct package_source *)l->source)->source;
    unsigned n;
    const struct lade_tensor_info *t = lade_loader_tensors(loader, &n);

    l->has_labels = lade_source_info(source)->classes > 0 || lade_source_schema(source)->label != LADE_NO_FIELD;
    if (!lade_source_info(source)->schema && !l->has_labels)
        n = 1;
    PyObject *names = PyTuple_New(n);
    for (unsigned i = 0; names && i < n; i++) {
        PyObject *name = t[i].kind >= LADE_TENSOR_SEGMENTS
                             ? PyUnicode_FromString(packed[t[i].kind - LADE_TENSOR_SEGMENTS])
                             : PyUnicode_FromFormat("%s%s", t[i].name, suffix[t[i].kind]);
        if (name)
            PyUnicode_InternInPlace(&name);
        if (!name || PyTuple_SetItem(names, i, name) != 0)
            Py_CLEAR(names);
    }
    Py_XDECREF(l->names);
    l->names = names;
    return names ? 0 : -1;
}

static int start(struct loader *l, const char *state)
{
    struct lade_loader *loader;
    struct lade_error error = {0};
    int status;

    Py_BEGIN_ALLOW_THREADS;
    if (state)
        status = lade_loader_resume(&loader, &l->options.config, state, &error);
    else
        status = lade_loader_create(&loader, &l->options.config, &error);
    Py_END_ALLOW_THREADS;
    if (status != LADE_OK) {
        package_raise(status, &error);
        return -1;
    }
    struct package_engine *e = package_engine_create(loader, l->options.config.slots / 2);
    if (!e) {
        lade_loader_destroy(loader);
        PyErr_NoMemory();
        return -1;
    }
    l->engine = e;
    l->generation = e->generation;
    atomic_store_explicit(&l->closing, false, memory_order_relaxed);
    l->ended = false;
    l->measure = (struct package_measure){0};
    return describe(l, loader);
}

static int init(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct loader *l = (struct loader *)self;
    PyObject *source, *options;
    const char *state;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "OO!z:Loader", &source, &PyDict_Type, &options, &state))
        return -1;
    if (l->source) {
        PyErr_SetString(PyExc_TypeError, "a loader is initialised once");
        return -1;
    }
    const struct package_source *s = package_source(source);
    if (!s)
        return -1;
    l->source = Py_NewRef(source);
    l->options.config.source = s->source;
    l->lock = PyThread_allocate_lock();
    if (!l->lock) {
        PyErr_NoMemory();
        return -1;
    }
    return package_options_read(&l->options, options) == 0 ? start(l, state) : -1;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    struct loader *l = (struct loader *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(l->source);
    Py_VISIT(l->options.kept);
    return 0;
}

static int close_pending(void *self)
{
    PyObject *none = close_loader(self, NULL);

    if (!none)
        PyErr_WriteUnraisable(self);
    Py_XDECREF(none);
    Py_DECREF((PyObject *)self);
    return 0;
}

/*
 * Ends the workers while what they use is whole: before the collector clears anything. When the collector runs in a worker,
 * the object lives on until the main thread has closed it.
 */
static void finalize(PyObject *self)
{
    struct loader *l = (struct loader *)self;
    PyObject *type, *value, *traceback;

    if (!l->engine)
        return;
    if (package_is_worker()) {
        if (Py_AddPendingCall(close_pending, Py_NewRef(self)) != 0)
            Py_DECREF(self); /* the queue is full: workers and memory stay */
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *none = close_loader(self, NULL);
    if (!none)
        PyErr_WriteUnraisable(self);
    Py_XDECREF(none);
    PyErr_Restore(type, value, traceback);
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct loader *l = (struct loader *)self;

    PyObject_GC_UnTrack(self);
    if (!package_is_worker())
        finalize(self);
    if (!l->engine) { /* else a worker is inside the source: all that it uses stays */
        package_options_clear(&l->options);
        Py_XDECREF(l->source);
        if (l->lock)
            PyThread_free_lock(l->lock);
    }
    Py_XDECREF(l->names);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Next batch under the lock; waits one slice at most. */
static int try_next(struct loader *l, struct package_hold **hold, struct lade_error *error)
{
    struct package_engine *e = lock(l);

    if (!e)
        return PACKAGE_RAISED;
    package_measure_begin(&l->measure, e->loader);
    int status = package_engine_next(e, hold, 0, error);
    if (status == LADE_TIMEOUT) {
        Py_BEGIN_ALLOW_THREADS;
        status = package_engine_next(e, hold, SLICE, error);
        Py_END_ALLOW_THREADS;
    }
    if (status == LADE_OK)
        package_measure_batch(&l->measure, &(*hold)->batch);
    unlock(l);
    return status == LADE_TIMEOUT && PyErr_CheckSignals() != 0 ? PACKAGE_RAISED : status;
}

static PyObject *next(PyObject *self)
{
    struct loader *l = (struct loader *)self;
    struct package_hold *hold;
    struct lade_error error = {0};
    int status;

    while (!l->ended) {
        do
            status = try_next(l, &hold, &error);
        while (status == LADE_TIMEOUT);
        if (status == LADE_CLOSED || status == PACKAGE_RAISED)
            return NULL;
        if (status != LADE_OK)
            return package_raise(status, &error);
        l->ended = hold->batch.last && l->options.config.buffer == 0;
        if (hold->batch.count > 0)
            return package_batch(hold, l->names, l->has_labels);
        package_hold_put(hold); /* all its samples were skipped */
    }
    return NULL;
}

/* Begins the next epoch if one has ended, and continues the present one otherwise. */
static PyObject *iterate(PyObject *self)
{
    ((struct loader *)self)->ended = false;
    return Py_NewRef(self);
}

/* The text, which the caller frees; NULL if there is no memory. *size 0: a stream. */
static char *copy_state(const struct lade_loader *loader, size_t *size)
{
    size_t limit = 4096;
    char *text = malloc(limit);

    while (text && (*size = lade_loader_state(loader, text, limit)) > limit) {
        free(text);
        limit = *size;
        text = malloc(limit);
    }
    return text;
}

static PyObject *state(PyObject *self, PyObject *nothing)
{
    struct loader *l = (struct loader *)self;
    const struct package_engine *e = lock(l);
    size_t size = 0;

    (void)nothing;
    if (!e)
        return NULL;
    char *text = copy_state(e->loader, &size);
    unlock(l);
    PyObject *result = NULL;
    if (!text)
        PyErr_NoMemory();
    else if (size == 0)
        PyErr_SetString(PyExc_TypeError, "a stream has no state (buffer is set)");
    else
        result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)size - 1);
    free(text);
    return result;
}

static PyObject *resume(PyObject *self, PyObject *text)
{
    const char *state = PyUnicode_AsUTF8AndSize(text, NULL);

    if (!state)
        return NULL;
    PyObject *none = close_loader(self, NULL);
    if (!none)
        return NULL;
    if (start((struct loader *)self, state) == 0)
        return none;
    Py_DECREF(none);
    return NULL;
}

static PyObject *stats(PyObject *self, PyObject *nothing)
{
    struct loader *l = (struct loader *)self;
    const struct package_engine *e = lock(l);
    struct lade_loader_stats s;

    (void)nothing;
    if (!e)
        return NULL;
    lade_loader_stats(e->loader, &s);
    unlock(l);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "samples",
        (unsigned long long)s.samples, "batches", (unsigned long long)s.batches, "part", (unsigned long long)s.part,
        "delivered", (unsigned long long)s.delivered, "delivered_samples", (unsigned long long)s.delivered_samples,
        "faults", (unsigned long long)s.faults, "replaced", (unsigned long long)s.replaced, "slot_bytes",
        (unsigned long long)s.slot_bytes, "read_time", (unsigned long long)s.read_time, "transform_time",
        (unsigned long long)s.transform_time, "worker_wait_time", (unsigned long long)s.worker_wait_time,
        "running_time", (unsigned long long)s.running_time, "consumer_wait_time",
        (unsigned long long)s.consumer_wait_time, "guarantee", s.guarantee, "seed", (unsigned long long)s.seed,
        "packed_rows", (unsigned long long)s.packed_rows, "packed_steps", (unsigned long long)s.packed_steps,
        "packed_slots", (unsigned long long)s.packed_slots, "samples_cut", (unsigned long long)s.samples_cut,
        "samples_split", (unsigned long long)s.samples_split, "samples_dropped", (unsigned long long)s.samples_dropped);
}

static PyObject *report(PyObject *self, PyObject *args)
{
    struct loader *l = (struct loader *)self;
    const char *source, *order;

    if (!PyArg_ParseTuple(args, "ss", &source, &order))
        return NULL;
    const struct package_engine *e = lock(l);
    if (!e)
        return NULL;
    const struct package_measure measure = l->measure;
    PyObject *json = package_report(&measure, e->loader, &l->options.config, source, order, l->ended);
    unlock(l);
    return json;
}

static PyObject *get_names(PyObject *self, void *nothing)
{
    const struct loader *l = (struct loader *)self;

    (void)nothing;
    return Py_NewRef(l->names ? l->names : Py_None);
}

static PyObject *get_closed(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyBool_FromLong(((struct loader *)self)->engine == NULL);
}

static PyMethodDef methods[] = {
    {"close", close_loader, METH_NOARGS,
     "close($self, /)\n--\n\nEnds the workers and frees the memory, except that of batches that are still used."},
    {"_state", state, METH_NOARGS, NULL},
    {"_resume", resume, METH_O, NULL},
    {"_stats", stats, METH_NOARGS, NULL},
    {"_report", report, METH_VARARGS, NULL},
    {0},
};
static PyGetSetDef attributes[] = {
    {"names", get_names, NULL, "The names of the tensors of a batch.", NULL},
    {"closed", get_closed, NULL, "Whether close() was called.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_init, PACKAGE_SLOT(init)},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_finalize, PACKAGE_SLOT(finalize)},
    {Py_tp_traverse, PACKAGE_SLOT(traverse)},
    {Py_tp_iter, PACKAGE_SLOT(iterate)},
    {Py_tp_iternext, PACKAGE_SLOT(next)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};
PyType_Spec package_loader_spec = {
    .name = "lade._lade.Loader",
    .basicsize = sizeof(struct loader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
