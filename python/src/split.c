/* SPDX-License-Identifier: MIT */
/* lade._lade.Split, on which lade.Split builds. */
#include "container.h"

#include <lade/split.h>

#include <pthread.h>
#include <stdlib.h>

/*
 * save and merge have the split alone: they take the lock for writing. Nothing waits for the lock, so a child of fork()
 * gets an exception where it was held. A loader does not take it.
 */
struct split {
    PyObject_HEAD struct lade_split *split;
    pthread_rwlock_t lock;
};

static PyTypeObject *split_type;

/* What an item is made of. */
struct names {
    struct container_bytes key, group, content;
    struct lade_split_item item;
};

static struct lade_split *begin(PyObject *self, bool alone)
{
    struct split *s = (struct split *)self;

    if (container_enter() != 0)
        return NULL;
    if ((alone ? pthread_rwlock_trywrlock(&s->lock) : pthread_rwlock_tryrdlock(&s->lock)) == 0)
        return s->split;
    (void)container_raise(LADE_CONFLICT, alone ? "another thread uses the split; save and merge need it alone"
                                               : "another thread saves or merges the split");
    return NULL;
}

static void end(PyObject *self)
{
    (void)pthread_rwlock_unlock(&((struct split *)self)->lock);
}

static PyObject *own(PyTypeObject *type, struct lade_split *split)
{
    struct split *s = (struct split *)PyType_GenericAlloc(type, 0);

    if (!s || pthread_rwlock_init(&s->lock, NULL) != 0) {
        lade_split_destroy(split);
        Py_XDECREF((PyObject *)s);
        return PyErr_NoMemory();
    }
    s->split = split;
    return (PyObject *)s;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct lade_split_config c = {0};
    struct lade_error error = {0};
    struct lade_split *split;
    Py_buffer weights = {0}, quota = {0};
    unsigned long long seed, capacity;
    int rule, store, random_seed, content, conflict;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "y*iiKpiiKIy*II:Split", &weights, &rule, &store, &seed, &random_seed, &content,
                          &conflict, &capacity, &c.bits_per_item, &quota, &c.classes, &c.threads))
        return NULL;
    c.parts = (unsigned)(weights.len / (Py_ssize_t)sizeof *c.weights);
    c.weights = weights.buf;
    c.rule = (enum lade_split_rule)rule;
    c.store = (enum lade_split_store)store;
    c.seed = seed;
    c.random_seed = random_seed != 0;
    c.content = (enum lade_split_content)content;
    c.conflict = (enum lade_split_conflict)conflict;
    c.capacity = capacity;
    c.quota = quota.len ? quota.buf : NULL;
    int status = container_enter() == 0 ? lade_split_create(&split, &c, &error) : PACKAGE_RAISED;
    PyBuffer_Release(&weights);
    PyBuffer_Release(&quota);
    if (status == PACKAGE_RAISED)
        return NULL;
    return status == LADE_OK ? own(type, split) : package_raise(status, &error);
}

static void dealloc(PyObject *self)
{
    struct split *s = (struct split *)self;

    if (s->split) {
        Py_BEGIN_ALLOW_THREADS; /* waits for readers */
        lade_split_destroy(s->split);
        Py_END_ALLOW_THREADS;
        (void)pthread_rwlock_destroy(&s->lock);
    }
    container_free(self);
}

static void names_put(struct names *n)
{
    container_bytes_put(&n->key);
    container_bytes_put(&n->group);
    container_bytes_put(&n->content);
}

static int names_get(struct names *n, PyObject *key, PyObject *group, PyObject *content, unsigned class_number)
{
    *n = (struct names){0};
    if (container_bytes_get(&n->key, key, true, "key") != 0)
        return -1;
    if ((group != Py_None && container_bytes_get(&n->group, group, true, "group") != 0) ||
        (content != Py_None && container_bytes_get(&n->content, content, true, "content") != 0)) {
        names_put(n);
        return -1;
    }
    n->item = (struct lade_split_item){n->key.data,     n->key.size,     n->group.data, n->group.size,
                                       n->content.data, n->content.size, class_number};
    return 0;
}

static PyObject *refuse(int status)
{
    switch (status) {
    case LADE_CONFLICT:
        return container_raise(status, "key, group or content of the item are recorded with different parts");
    case LADE_FULL:
        return container_raise(status, "the split has no slot or no item of the quota left for this item");
    case LADE_INVALID:
        return container_raise(status,
                               "the split has no such class, part or kind of name: group and content exclude each "
                               "other without store='exact'");
    case LADE_TOO_MANY:
        return container_raise(status,
                               "more threads route than the split was created for: create it with more threads");
    default:
        return container_raise(status, NULL);
    }
}

static int read_names(PyObject *args, PyObject *keywords, struct names *n, const char *format, unsigned *number)
{
    static char *names[] = {"key", "group", "content", "class_number", NULL};
    PyObject *key, *group = Py_None, *content = Py_None;

    *number = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &key, &group, &content, number))
        return -1;
    return names_get(n, key, group, content, *number);
}

static PyObject *route(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct names n;
    unsigned part, number;

    if (read_names(args, keywords, &n, "O|OOI", &number) != 0)
        return NULL;
    struct lade_split *s = begin(self, false);
    int status = s ? lade_split_route(s, &n.item, &part) : PACKAGE_RAISED;
    if (s)
        end(self);
    names_put(&n);
    if (status == LADE_OK)
        return PyLong_FromUnsignedLong(part);
    if (status == LADE_PRESENT)
        Py_RETURN_NONE;
    return status == PACKAGE_RAISED ? NULL : refuse(status);
}

static PyObject *find(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct names n;
    struct lade_split_found found;
    unsigned number;

    if (read_names(args, keywords, &n, "O|OO", &number) != 0)
        return NULL;
    struct lade_split *s = begin(self, false);
    int status = s ? lade_split_find(s, &n.item, &found) : PACKAGE_RAISED;
    if (s)
        end(self);
    names_put(&n);
    if (status == LADE_OK)
        return PyLong_FromUnsignedLong(found.key);
    if (status == LADE_ABSENT)
        Py_RETURN_NONE;
    return status == PACKAGE_RAISED
               ? NULL
               : container_raise(status, status == LADE_INVALID ? "find needs store='exact'" : NULL);
}

/* pin and fold: a number, and an item. */
static PyObject *numbered(PyObject *self, PyObject *args, PyObject *keywords, bool is_pin)
{
    static char *names[2][5] = {{"key", "folds", "group", "content", NULL}, {"key", "part", "group", "content", NULL}};
    PyObject *key, *group = Py_None, *content = Py_None;
    struct names n;
    unsigned number, fold = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OI|OO", names[is_pin], &key, &number, &group, &content) ||
        names_get(&n, key, group, content, 0) != 0)
        return NULL;
    struct lade_split *s = begin(self, false);
    int status = PACKAGE_RAISED;
    if (s) {
        status = is_pin ? lade_split_pin(s, &n.item, number) : lade_split_fold(s, &n.item, number, &fold);
        end(self);
    }
    names_put(&n);
    if (status != LADE_OK)
        return status == PACKAGE_RAISED ? NULL : refuse(status);
    return is_pin ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(fold);
}

static PyObject *pin(PyObject *self, PyObject *args, PyObject *keywords)
{
    return numbered(self, args, keywords, true);
}

static PyObject *fold(PyObject *self, PyObject *args, PyObject *keywords)
{
    return numbered(self, args, keywords, false);
}

/* Routes words; part[i] is -1 for an item that belongs to no part. *done: how many. */
static int route_words(struct lade_split *s, const struct container_words *keys, int32_t *part, size_t *done)
{
    for (*done = 0; *done < keys->count; ++*done) {
        unsigned p;
        int status = lade_split_route_word(s, keys->word[*done], &p);
        if (status != LADE_OK && status != LADE_PRESENT)
            return status;
        part[*done] = status == LADE_OK ? (int32_t)p : -1;
    }
    return LADE_OK;
}

/* Stores the parts of an array of ints in an array of int32. */
static PyObject *route_into(PyObject *self, PyObject *args)
{
    PyObject *object, *parts;
    struct container_words keys;
    Py_buffer out;
    size_t done = 0;
    int status = PACKAGE_RAISED;

    if (!PyArg_ParseTuple(args, "OO", &object, &parts) || container_words_get(&keys, object, false, "keys") != 0)
        return NULL;
    if (PyObject_GetBuffer(parts, &out, PyBUF_WRITABLE) != 0) {
        container_words_put(&keys);
        return NULL;
    }
    if ((size_t)out.len < keys.count * sizeof(int32_t))
        PyErr_SetString(PyExc_ValueError, "the array of parts is too short");
    struct lade_split *s = PyErr_Occurred() ? NULL : begin(self, false);
    if (s) {
        Py_BEGIN_ALLOW_THREADS;
        status = route_words(s, &keys, out.buf, &done);
        Py_END_ALLOW_THREADS;
        end(self);
    }
    PyBuffer_Release(&out);
    container_words_put(&keys);
    if (status == PACKAGE_RAISED)
        return NULL;
    return status == LADE_OK ? Py_NewRef(Py_None) : refuse(status);
}

static PyObject *stats(PyObject *self, PyObject *nothing)
{
    uint64_t keys[LADE_SPLIT_PARTS_MAX] = {0};
    struct lade_split_config c;
    struct lade_split_stats t;
    struct lade_split *s = begin(self, false);
    int status;

    (void)nothing;
    if (!s)
        return NULL;
    lade_split_get_config(s, &c);
    Py_BEGIN_ALLOW_THREADS;
    status = lade_split_stats(s, &t, keys);
    Py_END_ALLOW_THREADS;
    end(self);
    PyObject *parts = status == LADE_OK ? PyTuple_New((Py_ssize_t)c.parts) : container_raise(status, NULL);
    for (unsigned i = 0; parts && i < c.parts; i++)
        if (PyTuple_SetItem(parts, i, PyLong_FromUnsignedLongLong(keys[i])) != 0)
            Py_CLEAR(parts);
    if (!parts)
        return NULL;
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:N}", "keys", (unsigned long long)t.keys, "groups",
                         (unsigned long long)t.groups, "contents", (unsigned long long)t.contents, "entries",
                         (unsigned long long)t.entries, "conflicts", (unsigned long long)t.conflicts, "dropped",
                         (unsigned long long)t.dropped, "bytes", (unsigned long long)t.bytes, "collision", t.collision,
                         "misassigned", t.misassigned, "share", t.share, "part_keys", parts);
}

static PyObject *save(PyObject *self, PyObject *name)
{
    struct lade_error error = {0};
    PyObject *path;
    int status;

    if (!PyUnicode_FSConverter(name, &path))
        return NULL;
    struct lade_split *s = begin(self, true);
    if (!s) {
        Py_DECREF(path);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = lade_split_save(s, PyBytes_AsString(path), &error);
    Py_END_ALLOW_THREADS;
    end(self);
    Py_DECREF(path);
    return status == LADE_OK ? Py_NewRef(Py_None) : package_raise(status, &error);
}

static PyObject *load(PyObject *type, PyObject *name)
{
    struct lade_error error = {0};
    struct lade_split *split;
    PyObject *path;
    int status;

    if (container_enter() != 0 || !PyUnicode_FSConverter(name, &path))
        return NULL;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = lade_split_load(&split, text, NULL, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return status == LADE_OK ? own((PyTypeObject *)type, split) : package_raise(status, &error);
}

static void report_difference(void *context, const struct lade_split_difference *d)
{
    static const char *const kinds[] = {
        [LADE_SPLIT_KEY] = "key", [LADE_SPLIT_GROUP] = "group", [LADE_SPLIT_CONTENT] = "content"};
    if (PyErr_Occurred())
        return;
    PyObject *entry = Py_BuildValue("KsIII", (unsigned long long)d->hash, kinds[d->kind], d->part, d->other, d->chosen);

    if (entry)
        (void)PyList_Append(context, entry);
    Py_XDECREF(entry);
}

/* Attached all the time: report_difference() makes objects. */
static PyObject *merge(PyObject *self, PyObject *args)
{
    struct lade_error error = {0};
    PyObject *other, *differences;
    unsigned long long salt;
    int resolve, status = PACKAGE_RAISED;

    if (!PyArg_ParseTuple(args, "O!Kp", split_type, &other, &salt, &resolve))
        return NULL;
    if (other == self)
        return PyList_New(0);
    differences = PyList_New(0);
    struct lade_split *into = differences ? begin(self, true) : NULL;
    struct lade_split *from = into ? begin(other, true) : NULL;
    if (from)
        status = lade_split_merge(into, from, salt, resolve != 0, report_difference, differences, NULL, &error);
    if (from)
        end(other);
    if (into)
        end(self);
    if (status == LADE_OK && !PyErr_Occurred())
        return differences;
    Py_XDECREF(differences);
    return status == PACKAGE_RAISED || PyErr_Occurred() ? NULL : package_raise(status, &error);
}

static PyObject *shares(PyObject *nothing, PyObject *args)
{
    Py_buffer weights;
    unsigned long long n;
    uint64_t count[LADE_SPLIT_PARTS_MAX];

    (void)nothing;
    if (!PyArg_ParseTuple(args, "y*K", &weights, &n))
        return NULL;
    const unsigned parts = (unsigned)(weights.len / 4);
    int status = parts > LADE_SPLIT_PARTS_MAX ? LADE_INVALID : lade_split_shares(weights.buf, parts, n, count);
    PyBuffer_Release(&weights);
    if (status != LADE_OK)
        return container_raise(status, "1 to 255 weights, not all 0");
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < parts; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(count[i]);
        if (!number || PyList_Append(list, number) != 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *audit(PyObject *nothing, PyObject *args)
{
    Py_buffer counts, weights;
    unsigned classes, parts;
    struct lade_split_tests t;

    (void)nothing;
    if (!PyArg_ParseTuple(args, "y*IIy*", &counts, &classes, &parts, &weights))
        return NULL;
    const bool fits =
        (uint64_t)counts.len == (uint64_t)classes * parts * 8 && (uint64_t)weights.len == (uint64_t)parts * 4;
    int status = fits ? lade_split_audit(counts.buf, classes, parts, weights.buf, &t) : LADE_INVALID;
    PyBuffer_Release(&counts);
    PyBuffer_Release(&weights);
    if (status != LADE_OK)
        return container_raise(status, "counts are one row for each class, with one number for each weight");
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "classes", t.classes, "classes_df", t.classes_df, "classes_p",
                         t.classes_p, "shares", t.shares, "shares_df", t.shares_df, "shares_p", t.shares_p, "least",
                         t.least);
}

static void let_go(PyObject *capsule)
{
    Py_DECREF((PyObject *)PyCapsule_GetContext(capsule));
}

/* What a loader takes: it keeps the split. */
static PyObject *get_capsule(PyObject *self, void *nothing)
{
    PyObject *capsule = PyCapsule_New(((struct split *)self)->split, "lade_split", NULL);

    (void)nothing;
    if (!capsule)
        return NULL;
    (void)PyCapsule_SetContext(capsule, Py_NewRef(self));
    (void)PyCapsule_SetDestructor(capsule, let_go);
    return capsule;
}

static PyObject *get_seed(PyObject *self, void *nothing)
{
    struct lade_split_config c;

    (void)nothing;
    lade_split_get_config(((struct split *)self)->split, &c);
    return PyLong_FromUnsignedLongLong(c.seed);
}

static PyObject *get_weights(PyObject *self, void *nothing)
{
    struct lade_split_config c;

    (void)nothing;
    lade_split_get_config(((struct split *)self)->split, &c);
    PyObject *weights = PyTuple_New((Py_ssize_t)c.parts);
    for (unsigned i = 0; weights && i < c.parts; i++)
        if (PyTuple_SetItem(weights, i, PyLong_FromUnsignedLong(c.weights ? c.weights[i] : 1)) != 0)
            Py_CLEAR(weights);
    return weights;
}

#define KEYWORDS (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef methods[] = {
    {"route", PACKAGE_FAST(route), KEYWORDS,
     "route($self, /, key, group=None, content=None, class_number=0)\n--\n\nThe part of an item: decided if it is "
     "not "
     "recorded. None: a duplicate that content='drop' leaves out. ConflictError, FullError."},
    {"_route_into", route_into, METH_VARARGS, NULL},
    {"find", PACKAGE_FAST(find), KEYWORDS,
     "find($self, /, key, group=None, content=None)\n--\n\nThe recorded part of a key, or None. Decides nothing."},
    {"pin", PACKAGE_FAST(pin), KEYWORDS,
     "pin($self, /, key, part, group=None, content=None)\n--\n\nRecords a part that was chosen elsewhere. "
     "ConflictError."},
    {"fold", PACKAGE_FAST(fold), KEYWORDS,
     "fold($self, /, key, folds, group=None, content=None)\n--\n\nA fold below folds, a function of seed and item."},
    {"stats", stats, METH_NOARGS, "stats($self, /)\n--\n\nWhat is recorded, and the keys of each part."},
    {"save", save, METH_O,
     "save($self, path, /)\n--\n\nSaves parameters and decisions. ConflictError while another thread routes."},
    {"load", load, METH_O | METH_CLASS, "load($type, path, /)\n--\n\nThe split of a file of save()."},
    {"_merge", merge, METH_VARARGS, NULL},
    {"_shares", shares, METH_VARARGS | METH_STATIC, NULL},
    {"_audit", audit, METH_VARARGS | METH_STATIC, NULL},
    {0},
};
static PyGetSetDef attributes[] = {
    {"_lade_split", get_capsule, NULL, NULL, NULL},
    {"seed", get_seed, NULL, "The seed in use.", NULL},
    {"weights", get_weights, NULL, "The weight of each part.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, PACKAGE_SLOT(create)},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};
PyType_Spec package_split_spec = {
    .name = "lade._lade.Split",
    .basicsize = sizeof(struct split),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int container_add_types(PyObject *module)
{
    PyType_Spec *spec[] = {&package_bag_spec, &package_ring_spec, &package_table_spec, &package_split_spec};

    for (int i = 0; i < 4; i++) {
        PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec[i], NULL);
        if (!type || PyModule_AddType(module, type) != 0)
            return -1;
        split_type = type; /* the last; it is kept for merge() */
    }
    return 0;
}
