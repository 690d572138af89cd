/* SPDX-License-Identifier: MIT */
/*
 * What bag.c, table.c, ring.c and split.c share. Internal. Their objects own no thread. Every method acquires the handle
 * that it needs and releases it before it returns, so threads that end leave nothing behind.
 */
#ifndef LADE_PYTHON_CONTAINER_H
#define LADE_PYTHON_CONTAINER_H

#include "package.h"

#include <stdatomic.h>

/* Raises the exception of a status with a text (NULL: the status's own). Returns NULL. */
PyObject *container_raise(int status, const char *format, ...);

/* An object with __index__ as a word. 0, or -1 with an exception. */
int container_word(PyObject *object, uint64_t *word);

/* Seconds, or None: forever, as nanoseconds. 0, or -1 with an exception. */
int container_timeout(PyObject *seconds, int64_t *timeout);

/* An array of 64-bit integers, in place. Signed ones hold no negative number. */
struct container_words {
    Py_buffer buffer;
    uint64_t *word;
    size_t count;
};

/* 0, or -1 with an exception that names the array. */
int container_words_get(struct container_words *words, PyObject *object, bool writable, const char *name);
void container_words_put(struct container_words *words);

/*
 * Calls attempt with timeouts of at most 50 ms until its status is another than LADE_TIMEOUT, or timeout has passed:
 * first attached with timeout 0, then detached. Checks for signals in between: PACKAGE_RAISED. cancels: incremented by
 * each cancel, so that one between two attempts is not missed.
 */
typedef int container_attempt(void *context, int64_t timeout);
int container_wait(container_attempt *attempt, void *context, int64_t timeout, const atomic_uint *cancels);

/* Registers the thread for tables and splits, until it ends. 0, or -1 with an exception. */
int container_enter(void);

/* A key: the bytes of a str (UTF-8) or of an object with the buffer protocol. 0, or -1 with an exception. */
struct container_bytes {
    Py_buffer buffer;
    const void *data;
    size_t size;
    uint64_t word; /* of an int, its eight bytes, little endian */
};

int container_bytes_get(struct container_bytes *bytes, PyObject *object, bool words, const char *name);
void container_bytes_put(struct container_bytes *bytes);

/* Frees an object of ours after its fields. */
void container_free(PyObject *self);

extern PyType_Spec package_bag_spec, package_table_spec, package_ring_spec, package_split_spec;

/* Adds their types to the module. 0, or -1 with an exception. */
int container_add_types(PyObject *module);

#endif
