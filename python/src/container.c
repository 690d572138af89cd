/* SPDX-License-Identifier: MIT */
/* Arguments, waits and threads of the containers. */
#include "container.h"

#include <lade/thread.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SLICE INT64_C(50000000) /* nanoseconds that a thread waits until it checks for signals */

PyObject *container_raise(int status, const char *format, ...)
{
    struct lade_error error = {.status = status, .offset = LADE_NO_OFFSET};
    va_list values;

    va_start(values, format);
    if (format)
        (void)vsnprintf(error.text, sizeof error.text, format, values);
    va_end(values);
    return package_raise(status, &error);
}

int container_word(PyObject *object, uint64_t *word)
{
    PyObject *number = PyNumber_Index(object);

    if (!number)
        return -1;
    *word = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return *word == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

int container_timeout(PyObject *seconds, int64_t *timeout)
{
    *timeout = LADE_FOREVER;
    if (seconds == Py_None)
        return 0;
    const double value = PyFloat_AsDouble(seconds);
    if (PyErr_Occurred())
        return -1;
    if (!(value >= 0)) {
        PyErr_SetString(PyExc_ValueError, "timeout is a number of seconds, at least 0, or None: wait forever");
        return -1;
    }
    if (value < 9e9)
        *timeout = (int64_t)(value * 1e9);
    return 0;
}

/* Whether the format of the buffer protocol is that of 64-bit integers in the byte order of the machine. */
static bool is_words(const Py_buffer *b, bool *is_signed)
{
    const char *format = b->format ? b->format : "B";

    if (strchr("@=<", *format))
        format++;
    *is_signed = *format && strchr("qln", *format);
    return b->itemsize == 8 && (*is_signed || (*format && strchr("QLN", *format))) && !format[1];
}

int container_words_get(struct container_words *words, PyObject *object, bool writable, const char *name)
{
    bool is_signed;

    if (PyObject_GetBuffer(object, &words->buffer, PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) != 0)
        return -1;
    if (!is_words(&words->buffer, &is_signed)) {
        PyBuffer_Release(&words->buffer);
        PyErr_Format(PyExc_TypeError, "%s: not an array of 64-bit integers; convert it, as with x.astype('uint64')",
                     name);
        return -1;
    }
    words->word = words->buffer.buf;
    words->count = (size_t)words->buffer.len / 8;
    for (size_t i = 0; is_signed && i < words->count; i++)
        if (words->word[i] > INT64_MAX) {
            PyBuffer_Release(&words->buffer);
            (void)container_raise(LADE_INVALID, "%s: element %zu is negative", name, i);
            return -1;
        }
    return 0;
}

void container_words_put(struct container_words *words)
{
    PyBuffer_Release(&words->buffer);
}

static int64_t now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int container_wait(container_attempt *attempt, void *context, int64_t timeout, const atomic_uint *cancels)
{
    const unsigned before = atomic_load(cancels);
    const int64_t begin = now();
    int status = attempt(context, 0);

    while (status == LADE_TIMEOUT) {
        const int64_t left = timeout == LADE_FOREVER ? SLICE : timeout - (now() - begin);
        if (left <= 0)
            break;
        Py_BEGIN_ALLOW_THREADS;
        status = attempt(context, left < SLICE ? left : SLICE);
        Py_END_ALLOW_THREADS;
        if (status == LADE_TIMEOUT && PyErr_CheckSignals() != 0)
            return PACKAGE_RAISED;
        if (status == LADE_TIMEOUT && atomic_load(cancels) != before)
            return LADE_CANCELLED;
    }
    return status;
}

static pthread_key_t entered;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int no_key;

static void leave(void *value)
{
    (void)value;
    lade_thread_leave();
}

static void make_key(void)
{
    no_key = pthread_key_create(&entered, leave);
}

int container_enter(void)
{
    static const char yes;

    (void)pthread_once(&once, make_key);
    if (!no_key && pthread_getspecific(entered))
        return 0;
    if (no_key || lade_thread_enter() != LADE_OK) {
        PyErr_NoMemory();
        return -1;
    }
    if (pthread_setspecific(entered, &yes) == 0)
        return 0;
    lade_thread_leave();
    PyErr_NoMemory();
    return -1;
}

static int get_text(struct container_bytes *bytes, PyObject *text)
{
    Py_ssize_t size;

    bytes->data = PyUnicode_AsUTF8AndSize(text, &size);
    bytes->size = (size_t)size;
    return bytes->data ? 0 : -1;
}

static int get_number(struct container_bytes *bytes, PyObject *number)
{
    uint64_t word;

    if (container_word(number, &word) != 0)
        return -1;
    for (unsigned i = 0; i < 8; i++)
        ((unsigned char *)&bytes->word)[i] = (unsigned char)(word >> (8 * i));
    bytes->data = &bytes->word;
    bytes->size = 8;
    return 0;
}

int container_bytes_get(struct container_bytes *bytes, PyObject *object, bool words, const char *name)
{
    *bytes = (struct container_bytes){0};
    if (PyUnicode_Check(object))
        return get_text(bytes, object);
    if (words && PyIndex_Check(object)) /* numbers of NumPy are buffers too */
        return get_number(bytes, object);
    if (!PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "%s: %s str or bytes, not %R", name, words ? "int," : "", Py_TYPE(object));
        return -1;
    }
    if (PyObject_GetBuffer(object, &bytes->buffer, PyBUF_SIMPLE) != 0)
        return -1;
    bytes->data = bytes->buffer.buf ? bytes->buffer.buf : "";
    bytes->size = (size_t)bytes->buffer.len;
    return 0;
}

void container_bytes_put(struct container_bytes *bytes)
{
    if (bytes->buffer.obj)
        PyBuffer_Release(&bytes->buffer);
}

void container_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}
