/* SPDX-License-Identifier: MIT */
/* Statuses as exceptions; calls of Python functions by workers, and their exceptions as statuses. */
#include "package.h"

#include "fail.h"

#include <lade/error.h>

#include <pthread.h>

#include <string.h>

/* Statuses below this are exceptions of Python functions; the last KEPT are kept. */
#define FIRST (-1000000)
#define KEPT 256

/* A slot is overwritten after KEPT further exceptions. The mutex is for builds without a GIL. */
static PyObject *kept[KEPT];
static int next_kept;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static PyObject *set(PyObject *exception)
{
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

/* A new reference. */
static PyObject *find(int status)
{
    (void)pthread_mutex_lock(&mutex);
    PyObject *exception = Py_NewRef(kept[(FIRST - status) % KEPT]);
    (void)pthread_mutex_unlock(&mutex);
    return exception;
}

PyObject *package_raise(int status, const struct lade_error *error)
{
    if (status <= FIRST)
        return set(find(status));
    PyObject *module = PyImport_ImportModule("lade._errors");
    if (!module)
        return NULL;
    const bool has_offset = error && error->offset != LADE_NO_OFFSET;
    const char *utf8 = error && error->text[0] ? error->text : lade_status_text(status);
    PyObject *text = PyUnicode_DecodeUTF8(utf8, (Py_ssize_t)strlen(utf8), "replace");
    PyObject *offset = has_offset ? PyLong_FromUnsignedLongLong(error->offset) : Py_NewRef(Py_None);
    PyObject *exception = text && offset ? PyObject_CallMethod(module, "of_status", "iOO", status, text, offset) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(offset);
    Py_DECREF(module);
    return exception ? set(exception) : NULL;
}

/* "ValueError: text" of the exception, as far as that succeeds. */
static void describe(PyObject *exception, struct lade_error *error, int status)
{
    PyObject *type = PyType_GetName(Py_TYPE(exception)), *text = PyObject_Str(exception);
    PyObject *both = type && text ? PyUnicode_FromFormat("%U: %U", type, text) : NULL;
    const char *utf8 = both ? PyUnicode_AsUTF8AndSize(both, NULL) : NULL;

    (void)lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", utf8 ? utf8 : "a Python function raised an exception");
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(text);
    Py_XDECREF(both);
}

int package_keep_exception(struct lade_error *error)
{
    PyObject *type, *exception, *traceback;

    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    if (!exception) {
        Py_XDECREF(type);
        return lade_fail(error, LADE_IO, NULL, LADE_NO_OFFSET, "a Python function failed without an exception");
    }
    if (traceback)
        (void)PyException_SetTraceback(exception, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_INCREF(exception); /* another thread may drop the kept one */
    (void)pthread_mutex_lock(&mutex);
    const int number = next_kept;
    next_kept = (next_kept + 1) % KEPT;
    PyObject *old = kept[number];
    kept[number] = exception;
    (void)pthread_mutex_unlock(&mutex);
    describe(exception, error, FIRST - number);
    Py_DECREF(exception);
    Py_XDECREF(old);
    return FIRST - number;
}

static _Thread_local unsigned calls; /* of Python functions that this thread is inside of, as a worker */

PyGILState_STATE package_attach(void)
{
    PyGILState_STATE state = PyGILState_Ensure();

    calls++;
    return state;
}

void package_detach(PyGILState_STATE state)
{
    calls--;
    PyGILState_Release(state);
}

bool package_is_worker(void)
{
    return calls > 0;
}
