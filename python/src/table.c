/* SPDX-License-Identifier: MIT */
/* lade._lade.HashTable, on which lade.Table builds: keys are ints or bytes. */
#include "container.h"

#include <lade/table.h>

#include <stdlib.h>

struct table {
    PyObject_HEAD struct lade_table *table;
    bool has_bytes;
};

/* A key of either kind. */
struct key {
    uint64_t word;
    struct container_bytes bytes;
};

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct lade_table_config c = {0};
    unsigned long long reserve, max_bytes;
    int has_bytes;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "pKK:Table", &has_bytes, &reserve, &max_bytes) || container_enter() != 0)
        return NULL;
    c.kind = has_bytes ? LADE_TABLE_BYTES : LADE_TABLE_WORDS;
    c.reserve = reserve;
    c.max_bytes = max_bytes;
    struct table *t = (struct table *)PyType_GenericAlloc(type, 0);
    if (!t)
        return NULL;
    t->has_bytes = has_bytes != 0;
    int status = lade_table_create(&t->table, &c);
    if (status == LADE_OK)
        return (PyObject *)t;
    Py_DECREF(t);
    return container_raise(status, status == LADE_INVALID ? "reserve is too large" : NULL);
}

static void dealloc(PyObject *self)
{
    struct lade_table *table = ((struct table *)self)->table;

    if (table) {
        Py_BEGIN_ALLOW_THREADS; /* waits for readers */
        lade_table_destroy(table);
        Py_END_ALLOW_THREADS;
    }
    container_free(self);
}

static int key_get(const struct table *t, struct key *key, PyObject *object)
{
    *key = (struct key){0};
    if (container_enter() != 0)
        return -1;
    return t->has_bytes ? container_bytes_get(&key->bytes, object, false, "key") : container_word(object, &key->word);
}

static PyObject *refuse(int status, PyObject *key)
{
    if (status == LADE_ABSENT) {
        PyErr_SetObject(PyExc_KeyError, key);
        return NULL;
    }
    return container_raise(status, status == LADE_INVALID ? "values are 0 to 2**63 - 3" : NULL);
}

static int look_up(struct table *t, PyObject *object, uint64_t *value)
{
    struct key k;

    if (key_get(t, &k, object) != 0)
        return PACKAGE_RAISED;
    int status = t->has_bytes ? lade_table_get_bytes(t->table, k.bytes.data, k.bytes.size, value)
                              : lade_table_get(t->table, k.word, value);
    container_bytes_put(&k.bytes);
    return status;
}

static PyObject *item(PyObject *self, PyObject *key)
{
    uint64_t value;
    int status = look_up((struct table *)self, key, &value);

    if (status == PACKAGE_RAISED)
        return NULL;
    return status == LADE_OK ? PyLong_FromUnsignedLongLong(value) : refuse(status, key);
}

static PyObject *get(PyObject *self, PyObject *args)
{
    PyObject *key, *otherwise = Py_None;
    uint64_t value;

    if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise))
        return NULL;
    int status = look_up((struct table *)self, key, &value);
    if (status == PACKAGE_RAISED)
        return NULL;
    return status == LADE_OK ? PyLong_FromUnsignedLongLong(value) : Py_NewRef(otherwise);
}

static int contains(PyObject *self, PyObject *key)
{
    uint64_t value;
    int status = look_up((struct table *)self, key, &value);

    return status == PACKAGE_RAISED ? -1 : status == LADE_OK;
}

/* insert and replace: a key and a value, and the value that the function stores. */
static PyObject *store(PyObject *self, PyObject *args, bool is_insert)
{
    struct table *t = (struct table *)self;
    PyObject *key, *number;
    struct key k;
    uint64_t value, other;
    int status;

    if (!PyArg_ParseTuple(args, "OO", &key, &number) || container_word(number, &value) != 0 || key_get(t, &k, key) != 0)
        return NULL;
    if (t->has_bytes)
        status = (is_insert ? lade_table_insert_bytes : lade_table_replace_bytes)(t->table, k.bytes.data, k.bytes.size,
                                                                                  value, &other);
    else
        status = (is_insert ? lade_table_insert : lade_table_replace)(t->table, k.word, value, &other);
    container_bytes_put(&k.bytes);
    return status == LADE_OK || status == LADE_PRESENT ? PyLong_FromUnsignedLongLong(other) : refuse(status, key);
}

static PyObject *insert(PyObject *self, PyObject *args)
{
    return store(self, args, true);
}

static PyObject *replace(PyObject *self, PyObject *args)
{
    return store(self, args, false);
}

static PyObject *remove_key(PyObject *self, PyObject *key)
{
    struct table *t = (struct table *)self;
    struct key k;
    uint64_t old;

    if (key_get(t, &k, key) != 0)
        return NULL;
    int status = t->has_bytes ? lade_table_remove_bytes(t->table, k.bytes.data, k.bytes.size, &old)
                              : lade_table_remove(t->table, k.word, &old);
    container_bytes_put(&k.bytes);
    return status == LADE_OK ? PyLong_FromUnsignedLongLong(old) : refuse(status, key);
}

/* Arrays of keys, of values, and of results. */
struct arrays {
    struct container_words keys, values, out;
    int got;
};

static void arrays_put(struct arrays *a)
{
    struct container_words *each[] = {&a->keys, &a->values, &a->out};

    for (int i = 0; i < a->got; i++)
        container_words_put(each[i]);
}

static int check_arrays(const struct arrays *a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a->values.word[i] > LADE_TABLE_VALUE_MAX) {
            (void)container_raise(LADE_INVALID, "value %zu is %llu; values are 0 to 2**63 - 3", i,
                                  (unsigned long long)a->values.word[i]);
            return -1;
        }
    return 0;
}

static int arrays_get(const struct table *t, struct arrays *a, PyObject *keys, PyObject *values, PyObject *out)
{
    *a = (struct arrays){0};
    if (t->has_bytes) {
        PyErr_SetString(PyExc_TypeError, "arrays are for int keys; this table has bytes");
        return -1;
    }
    if (container_enter() != 0 || container_words_get(&a->keys, keys, false, "keys") != 0)
        return -1;
    a->got = 1;
    if (container_words_get(&a->values, values, out == NULL, "values") == 0)
        a->got = 2;
    if (a->got == 2 && out && container_words_get(&a->out, out, true, "winners") == 0)
        a->got = 3;
    const size_t count = a->keys.count;
    if (a->got != (out ? 3 : 2)) {
        arrays_put(a);
        return -1;
    }
    if (a->values.count == count && (!out || a->out.count == count) && (!out || check_arrays(a, count) == 0))
        return 0;
    if (!PyErr_Occurred())
        (void)container_raise(LADE_INVALID, "%zu keys and %zu values", count, a->values.count);
    arrays_put(a);
    return -1;
}

#define CHUNK 1024

static PyObject *get_many(PyObject *self, PyObject *args)
{
    struct table *t = (struct table *)self;
    PyObject *keys, *values, *found;
    struct arrays a;
    Py_buffer mask;
    int status[CHUNK];

    if (!PyArg_ParseTuple(args, "OOO", &keys, &values, &found) || arrays_get(t, &a, keys, values, NULL) != 0)
        return NULL;
    if (PyObject_GetBuffer(found, &mask, PyBUF_WRITABLE) != 0) {
        arrays_put(&a);
        return NULL;
    }
    const size_t count = (size_t)mask.len < a.keys.count ? (size_t)mask.len : a.keys.count;
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < count; i += CHUNK) {
        const size_t n = count - i < CHUNK ? count - i : CHUNK;
        (void)lade_table_get_many(t->table, a.keys.word + i, n, a.values.word + i, status);
        for (size_t j = 0; j < n; j++) {
            ((char *)mask.buf)[i + j] = status[j] == LADE_OK;
            if (status[j] != LADE_OK)
                a.values.word[i + j] = 0;
        }
    }
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&mask);
    arrays_put(&a);
    Py_RETURN_NONE;
}

/* The number inserted; *failed is the status of the first key that was neither inserted nor present. */
static size_t insert_arrays(struct lade_table *table, const struct arrays *a, int *failed)
{
    int status[CHUNK];
    size_t inserted = 0;

    for (size_t i = 0; i < a->keys.count && *failed == LADE_OK; i += CHUNK) {
        const size_t n = a->keys.count - i < CHUNK ? a->keys.count - i : CHUNK;
        inserted += lade_table_insert_many(table, a->keys.word + i, n, a->values.word + i, a->out.word + i, status);
        for (size_t j = 0; j < n; j++)
            if (status[j] != LADE_OK && status[j] != LADE_PRESENT)
                *failed = status[j];
    }
    return inserted;
}

static PyObject *insert_many(PyObject *self, PyObject *args)
{
    struct table *t = (struct table *)self;
    PyObject *keys, *values, *winners;
    struct arrays a;
    size_t inserted;
    int failed = LADE_OK;

    if (!PyArg_ParseTuple(args, "OOO", &keys, &values, &winners) || arrays_get(t, &a, keys, values, winners) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    inserted = insert_arrays(t->table, &a, &failed);
    Py_END_ALLOW_THREADS;
    arrays_put(&a);
    return failed == LADE_OK ? PyLong_FromSize_t(inserted) : container_raise(failed, NULL);
}

static bool add_entry(void *context, const struct lade_table_entry *e)
{
    PyObject *pair =
        e->bytes ? Py_BuildValue("y#K", (const char *)e->bytes, (Py_ssize_t)e->size, (unsigned long long)e->value)
                 : Py_BuildValue("KK", (unsigned long long)e->key, (unsigned long long)e->value);
    const bool done = pair && PyList_Append(context, pair) == 0;

    Py_XDECREF(pair);
    return done;
}

static PyObject *items(PyObject *self, PyObject *nothing)
{
    PyObject *list = container_enter() == 0 ? PyList_New(0) : NULL;

    (void)nothing;
    if (!list)
        return NULL;
    int status = lade_table_for_each(((struct table *)self)->table, add_entry, list, NULL);
    if (status == LADE_OK)
        return list;
    Py_DECREF(list);
    return PyErr_Occurred() ? NULL : container_raise(status, NULL);
}

static PyObject *stats(PyObject *self, PyObject *nothing)
{
    struct lade_table_stats s;
    int status;

    (void)nothing;
    if (container_enter() != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = lade_table_stats(((struct table *)self)->table, &s);
    Py_END_ALLOW_THREADS;
    if (status != LADE_OK)
        return container_raise(status, NULL);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:K,s:K}", "keys", (unsigned long long)s.keys, "removed",
                         (unsigned long long)s.removed, "cells", (unsigned long long)s.cells, "bytes",
                         (unsigned long long)s.bytes, "arrays_waiting", (unsigned long long)s.arrays_waiting,
                         "longest_probe", (unsigned long long)s.longest_probe, "mean_probe", s.mean_probe,
                         "moved_cells", (unsigned long long)s.moved_cells, "growths", (unsigned long long)s.growths);
}

static Py_ssize_t length(PyObject *self)
{
    PyObject *s = stats(self, NULL);
    PyObject *keys = s ? PyDict_GetItemString(s, "keys") : NULL;
    const Py_ssize_t count = keys ? PyLong_AsSsize_t(keys) : -1;

    Py_XDECREF(s);
    return count;
}

/* save and load. */
static PyObject *with_file(PyObject *self, PyObject *name, bool is_save)
{
    struct lade_table *t = ((struct table *)self)->table;
    struct lade_error error = {0};
    PyObject *path;
    int status;

    if (container_enter() != 0 || !PyUnicode_FSConverter(name, &path))
        return NULL;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = is_save ? lade_table_save(t, text, &error) : lade_table_load(t, text, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return status == LADE_OK ? Py_NewRef(Py_None) : package_raise(status, &error);
}

static PyObject *save(PyObject *self, PyObject *path)
{
    return with_file(self, path, true);
}

static PyObject *load(PyObject *self, PyObject *path)
{
    return with_file(self, path, false);
}

static PyMethodDef methods[] = {
    {"get", get, METH_VARARGS, "get($self, key, default=None, /)\n--\n\nThe value of a key, or default."},
    {"insert", insert, METH_VARARGS,
     "insert($self, key, value, /)\n--\n\nInserts a key if it is absent. Returns the value that the key has: of "
     "several "
     "inserts the first wins, for all threads."},
    {"replace", replace, METH_VARARGS,
     "replace($self, key, value, /)\n--\n\nChanges the value of a key that is present. Returns the old one. KeyError."},
    {"remove", remove_key, METH_O, "remove($self, key, /)\n--\n\nRemoves a key. Returns its value. KeyError."},
    {"_get_many", get_many, METH_VARARGS, NULL},
    {"_insert_many", insert_many, METH_VARARGS, NULL},
    {"items", items, METH_NOARGS,
     "items($self, /)\n--\n\nA list of all pairs (key, value). A key that is present all the time is in it once."},
    {"stats", stats, METH_NOARGS, "stats($self, /)\n--\n\nFigures of the table, which it scans for them."},
    {"save", save, METH_O,
     "save($self, path, /)\n--\n\nSaves the table. At every moment path is the complete old file or the complete new "
     "one."},
    {"load", load, METH_O,
     "load($self, path, /)\n--\n\nInserts the entries of a file of save(). Keys that are present keep their values."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, PACKAGE_SLOT(create)},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_methods, methods},
    {Py_mp_subscript, PACKAGE_SLOT(item)},
    {Py_mp_length, PACKAGE_SLOT(length)},
    {Py_sq_contains, PACKAGE_SLOT(contains)},
    {0, NULL},
};
PyType_Spec package_table_spec = {
    .name = "lade._lade.HashTable",
    .basicsize = sizeof(struct table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
