/* SPDX-License-Identifier: MIT */
/* States of loaders: those of all ranks joined. */
#include "package.h"

#include <stdlib.h>

/* The texts of a sequence of str, which must outlive them; the caller frees the array. NULL and an exception. */
static const char **texts_of(PyObject *sequence, Py_ssize_t n)
{
    const char **text = malloc(((size_t)n + 1) * sizeof *text);

    if (!text)
        return (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        text[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(sequence, i), NULL);
        if (!text[i]) {
            free((void *)text);
            return NULL;
        }
    }
    return text;
}

/* The joined text, which the caller frees; NULL and an exception. */
static char *merge(const char *const *text, unsigned n)
{
    struct lade_error error = {0};
    size_t limit = 4096, size;
    char *to = malloc(limit);

    while (to && (size = lade_loader_merge_states(text, n, to, limit, NULL, &error)) > limit) {
        free(to);
        limit = size;
        to = malloc(limit);
    }
    if (!to)
        return (char *)PyErr_NoMemory();
    if (size > 0)
        return to;
    free(to);
    return (char *)package_raise(error.status, &error);
}

PyObject *package_merge_states(PyObject *module, PyObject *args)
{
    const Py_ssize_t n = PyTuple_Size(args);

    (void)module;
    if (n < 1 || n > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "there is no state to join");
    const char **text = texts_of(args, n);
    if (!text)
        return NULL;
    char *merged = merge(text, (unsigned)n);
    free((void *)text);
    PyObject *result = merged ? PyUnicode_FromString(merged) : NULL;
    free(merged);
    return result;
}
