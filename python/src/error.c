/* SPDX-License-Identifier: MIT */
/* Statuses as exceptions; exceptions of Python functions that workers call as statuses. */
#include "package.h"

#include "fail.h"

#include <lade/error.h>

#include <string.h>

/* Statuses below this are exceptions of Python functions; the last KEPT are kept. */
#define FIRST (-1000000)
#define KEPT 256

/* Used by attached threads. A slot is overwritten when its exception was superseded by later ones. */
static PyObject *kept[KEPT];
static int next_kept;

static PyObject *set(PyObject *exception)
{
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

PyObject *package_raise(int status, const struct lade_error *error)
{
    if (status <= FIRST && kept[(FIRST - status) % KEPT]) {
        PyObject *exception = kept[(FIRST - status) % KEPT];
        Py_INCREF(exception);
        return set(exception);
    }
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
    const int number = next_kept;
    next_kept = (next_kept + 1) % KEPT;
    PyObject *old = kept[number];
    kept[number] = exception;
    describe(exception, error, FIRST - number);
    Py_XDECREF(old);
    return FIRST - number;
}
