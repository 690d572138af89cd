/* SPDX-License-Identifier: MIT */
/* lade._lade.Bag, on which lade.Bag builds. */
#include "container.h"

#include <lade/bag.h>

#include <stdlib.h>
#include <string.h>

struct bag {
    PyObject_HEAD struct lade_bag *bag;
    size_t record;           /* bytes; 0: words */
    PyObject *pack, *unpack; /* of a record, from and to an object; NULL: bytes as they are */
    unsigned handles;
    atomic_uint cancels;
};

/* An element on its way into the bag. */
struct item {
    uint64_t word;
    PyObject *packed;
    Py_buffer buffer;
    const void *data;
};

enum verb { PUT, DRAW, EXCHANGE, SAMPLE };
#define AT_ONCE (-2) /* a timeout: the form that does not wait */

struct operation {
    struct lade_bag_handle *handle;
    enum verb verb;
    const void *in;
    void *out;
    size_t size;
};

static int start(struct bag *b, const struct lade_bag_config *config)
{
    int status = lade_bag_create(&b->bag, config);

    b->record = config->record_size;
    b->handles = config->handles;
    if (status != LADE_OK)
        (void)container_raise(status, status == LADE_INVALID
                                          ? "a bag with these numbers is not possible: capacity is 1 "
                                            "to 2**30, handles 1 to 4096, a record 1 to 2**30 "
                                            "bytes; help(lade.Bag) names the other limits"
                                          : NULL);
    return status;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct lade_bag_config c = {0};
    unsigned long long capacity, seed;
    Py_ssize_t record;
    int full, random_seed;
    PyObject *pack, *unpack;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "KnIiIddKpOO:Bag", &capacity, &record, &c.handles, &full, &c.max_times_sampled,
                          &c.samples_per_insert, &c.ratio_slack, &seed, &random_seed, &pack, &unpack))
        return NULL;
    c.capacity = capacity;
    c.kind = record ? LADE_BAG_RECORDS : LADE_BAG_WORDS;
    c.record_size = record > 0 ? (size_t)record : 0;
    c.full = (enum lade_bag_full)full;
    c.seed = seed;
    c.random_seed = random_seed != 0;
    struct bag *b = (struct bag *)PyType_GenericAlloc(type, 0);
    if (!b)
        return NULL;
    b->pack = pack == Py_None ? NULL : Py_NewRef(pack);
    b->unpack = unpack == Py_None ? NULL : Py_NewRef(unpack);
    if (start(b, &c) != LADE_OK)
        Py_CLEAR(b);
    return (PyObject *)b;
}

static void dealloc(PyObject *self)
{
    struct bag *b = (struct bag *)self;

    lade_bag_destroy(b->bag);
    Py_XDECREF(b->pack);
    Py_XDECREF(b->unpack);
    container_free(self);
}

static struct lade_bag_handle *join(struct bag *b)
{
    struct lade_bag_handle *handle;

    int status = lade_bag_join(b->bag, &handle);
    if (status == LADE_OK)
        return handle;
    (void)container_raise(
        status, "more than %u threads are inside the bag at the same time: create it with more handles", b->handles);
    return NULL;
}

static void item_put(struct item *item)
{
    if (item->buffer.obj)
        PyBuffer_Release(&item->buffer);
    Py_XDECREF(item->packed);
}

static int word_get(struct item *item, PyObject *object)
{
    if (container_word(object, &item->word) != 0)
        return -1;
    if (item->word == 0 || item->word > LADE_BAG_WORD_MAX) {
        (void)container_raise(LADE_INVALID, "items are 1 to 2**48 - 1, not %llu", (unsigned long long)item->word);
        return -1;
    }
    item->data = &item->word;
    return 0;
}

static int item_get(const struct bag *b, struct item *item, PyObject *object)
{
    *item = (struct item){0};
    if (!b->record)
        return word_get(item, object);
    item->packed = b->pack ? PyObject_CallFunctionObjArgs(b->pack, object, NULL) : Py_NewRef(object);
    if (!item->packed || PyObject_GetBuffer(item->packed, &item->buffer, PyBUF_SIMPLE) != 0) {
        Py_XDECREF(item->packed);
        return -1;
    }
    item->data = item->buffer.buf;
    if ((size_t)item->buffer.len == b->record)
        return 0;
    (void)container_raise(LADE_INVALID, "a record of this bag has %zu bytes, not %zd", b->record, item->buffer.len);
    item_put(item);
    return -1;
}

static int sample(struct operation *o, int64_t timeout)
{
    struct lade_loan loan;
    int status =
        timeout == AT_ONCE ? lade_bag_sample(o->handle, &loan) : lade_bag_sample_wait(o->handle, &loan, timeout);

    if (status != LADE_OK)
        return status;
    memcpy(o->out, o->size ? loan.record : &loan.word, o->size ? o->size : sizeof loan.word);
    lade_bag_give_back(o->handle, &loan);
    return status;
}

static int attempt(void *context, int64_t timeout)
{
    struct operation *o = context;

    if (o->verb == SAMPLE)
        return sample(o, timeout);
    if (timeout == AT_ONCE)
        return o->verb == PUT    ? lade_bag_put(o->handle, o->in)
               : o->verb == DRAW ? lade_bag_draw(o->handle, o->out)
                                 : lade_bag_exchange(o->handle, o->in, o->out);
    return o->verb == PUT    ? lade_bag_put_wait(o->handle, o->in, timeout)
           : o->verb == DRAW ? lade_bag_draw_wait(o->handle, o->out, timeout)
                             : lade_bag_exchange_wait(o->handle, o->in, o->out, timeout);
}

/* 0, or -1 with an exception. */
static int operate(struct bag *b, enum verb verb, const void *in, void *out, int64_t timeout)
{
    struct operation o = {join(b), verb, in, out, b->record};

    if (!o.handle)
        return -1;
    int status = timeout == AT_ONCE ? attempt(&o, AT_ONCE) : container_wait(attempt, &o, timeout, &b->cancels);
    lade_bag_leave(o.handle);
    if (status == LADE_OK)
        return 0;
    if (status != PACKAGE_RAISED)
        (void)container_raise(status, verb == EXCHANGE && status == LADE_INVALID ? "not with full='oldest'" : NULL);
    return -1;
}

/* An operation with a result: memory for it comes first, so that no element is lost. */
static PyObject *take(struct bag *b, enum verb verb, const void *in, int64_t timeout)
{
    uint64_t word;

    if (!b->record)
        return operate(b, verb, in, &word, timeout) == 0 ? PyLong_FromUnsignedLongLong(word) : NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)b->record);
    if (bytes && operate(b, verb, in, PyBytes_AsString(bytes), timeout) != 0)
        Py_CLEAR(bytes);
    if (!bytes || !b->unpack)
        return bytes;
    PyObject *object = PyObject_CallFunctionObjArgs(b->unpack, bytes, NULL);
    Py_DECREF(bytes);
    return object;
}

static PyObject *give(PyObject *self, PyObject *object, enum verb verb, int64_t timeout)
{
    struct bag *b = (struct bag *)self;
    struct item item;
    PyObject *result;

    if (item_get(b, &item, object) != 0)
        return NULL;
    if (verb == EXCHANGE)
        result = take(b, EXCHANGE, item.data, timeout);
    else
        result = operate(b, PUT, item.data, NULL, timeout) == 0 ? Py_NewRef(Py_None) : NULL;
    item_put(&item);
    return result;
}

static PyObject *put(PyObject *self, PyObject *item)
{
    return give(self, item, PUT, AT_ONCE);
}

static PyObject *draw(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return take((struct bag *)self, DRAW, NULL, AT_ONCE);
}

static PyObject *exchange(PyObject *self, PyObject *item)
{
    return give(self, item, EXCHANGE, AT_ONCE);
}

static PyObject *sample_one(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return take((struct bag *)self, SAMPLE, NULL, AT_ONCE);
}

static PyObject *give_wait(PyObject *self, PyObject *args, PyObject *keywords, enum verb verb)
{
    static char *names[] = {"item", "timeout", NULL};
    PyObject *item, *seconds = Py_None;
    int64_t timeout;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", names, &item, &seconds) ||
        container_timeout(seconds, &timeout) != 0)
        return NULL;
    return give(self, item, verb, timeout);
}

static PyObject *take_wait(PyObject *self, PyObject *args, PyObject *keywords, enum verb verb)
{
    static char *names[] = {"timeout", NULL};
    PyObject *seconds = Py_None;
    int64_t timeout;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &seconds) ||
        container_timeout(seconds, &timeout) != 0)
        return NULL;
    return take((struct bag *)self, verb, NULL, timeout);
}

static PyObject *put_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    return give_wait(self, args, keywords, PUT);
}

static PyObject *draw_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    return take_wait(self, args, keywords, DRAW);
}

static PyObject *exchange_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    return give_wait(self, args, keywords, EXCHANGE);
}

static PyObject *sample_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    return take_wait(self, args, keywords, SAMPLE);
}

/* Many at once: the memory of an array. */
struct array {
    Py_buffer buffer;
    void *data;
    size_t count;
};

static int check_words(const uint64_t *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word[i] == 0 || word[i] > LADE_BAG_WORD_MAX) {
            (void)container_raise(LADE_INVALID, "item %zu is %llu; items are 1 to 2**48 - 1", i,
                                  (unsigned long long)word[i]);
            return -1;
        }
    return 0;
}

static int array_get(const struct bag *b, struct array *a, PyObject *object, bool writable)
{
    struct container_words words;
    const size_t size = b->record ? b->record : 8;

    if (!b->record) {
        if (container_words_get(&words, object, writable, "items") != 0)
            return -1;
        a->buffer = words.buffer;
    } else if (PyObject_GetBuffer(object, &a->buffer, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
        return -1;
    a->data = a->buffer.buf;
    a->count = (size_t)a->buffer.len / size;
    if ((size_t)a->buffer.len % size == 0)
        return 0;
    (void)container_raise(LADE_INVALID, "%zd bytes are not a whole number of records of %zu bytes", a->buffer.len,
                          size);
    PyBuffer_Release(&a->buffer);
    return -1;
}

static size_t sample_many(struct lade_bag_handle *handle, size_t size, char *out, size_t count)
{
    struct operation o = {handle, SAMPLE, NULL, out, size};
    size_t done = 0;

    while (done < count && attempt(&o, AT_ONCE) == LADE_OK)
        o.out = out + ++done * (size ? size : 8);
    return done;
}

static PyObject *many(PyObject *self, PyObject *object, enum verb verb)
{
    struct bag *b = (struct bag *)self;
    struct array a;
    size_t done = 0;

    if (array_get(b, &a, object, verb != PUT) != 0)
        return NULL;
    const bool is_wrong = verb == PUT && !b->record && check_words(a.data, a.count) != 0;
    struct lade_bag_handle *handle = is_wrong ? NULL : join(b);
    if (handle) {
        Py_BEGIN_ALLOW_THREADS;
        done = verb == PUT    ? lade_bag_put_many(handle, a.data, a.count)
               : verb == DRAW ? lade_bag_draw_many(handle, a.data, a.count)
                              : sample_many(handle, b->record, a.data, a.count);
        Py_END_ALLOW_THREADS;
        lade_bag_leave(handle);
    }
    PyBuffer_Release(&a.buffer);
    return handle ? PyLong_FromSize_t(done) : NULL;
}

static PyObject *put_many(PyObject *self, PyObject *items)
{
    return many(self, items, PUT);
}

static PyObject *draw_into(PyObject *self, PyObject *items)
{
    return many(self, items, DRAW);
}

static PyObject *sample_into(PyObject *self, PyObject *items)
{
    return many(self, items, SAMPLE);
}

static PyObject *clear(PyObject *self, PyObject *nothing)
{
    struct lade_bag_handle *handle = join((struct bag *)self);
    size_t dropped;

    (void)nothing;
    if (!handle)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    dropped = lade_bag_drain(handle);
    Py_END_ALLOW_THREADS;
    lade_bag_leave(handle);
    return PyLong_FromSize_t(dropped);
}

static PyObject *close_bag(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    lade_bag_close(((struct bag *)self)->bag);
    Py_RETURN_NONE;
}

static PyObject *cancel(PyObject *self, PyObject *nothing)
{
    struct bag *b = (struct bag *)self;

    (void)nothing;
    atomic_fetch_add(&b->cancels, 1);
    lade_bag_cancel(b->bag);
    Py_RETURN_NONE;
}

static PyObject *stats(PyObject *self, PyObject *nothing)
{
    struct lade_bag_stats s;

    (void)nothing;
    lade_bag_stats(((struct bag *)self)->bag, &s);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "put", (unsigned long long)s.put, "drawn",
                         (unsigned long long)s.drawn, "evicted", (unsigned long long)s.evicted, "held",
                         (unsigned long long)s.held, "sampled", (unsigned long long)s.sampled, "full",
                         (unsigned long long)s.full, "empty", (unsigned long long)s.empty, "scanned",
                         (unsigned long long)s.scanned, "seed", (unsigned long long)s.seed);
}

static Py_ssize_t length(PyObject *self)
{
    struct lade_bag_stats s;

    lade_bag_stats(((struct bag *)self)->bag, &s);
    return (Py_ssize_t)s.held;
}

struct text {
    char *bytes;
    size_t size, limit;
};

static bool append(void *context, const void *bytes, size_t size)
{
    struct text *t = context;

    if (t->limit - t->size < size) {
        const size_t limit = 2 * (t->size + size);
        char *grown = realloc(t->bytes, limit);
        if (!grown)
            return false;
        t->bytes = grown;
        t->limit = limit;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return true;
}

static PyObject *snapshot(PyObject *self, PyObject *nothing)
{
    struct lade_bag_handle *handle = join((struct bag *)self);
    struct text t = {0};
    int status;

    (void)nothing;
    if (!handle)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = lade_bag_snapshot(handle, append, &t, NULL);
    Py_END_ALLOW_THREADS;
    lade_bag_leave(handle);
    PyObject *bytes = status == LADE_OK ? PyBytes_FromStringAndSize(t.bytes, (Py_ssize_t)t.size) : PyErr_NoMemory();
    free(t.bytes);
    return bytes;
}

static bool fetch(void *context, void *bytes, size_t size)
{
    struct text *t = context;

    if (t->limit - t->size < size)
        return false;
    memcpy(bytes, t->bytes + t->size, size);
    t->size += size;
    return true;
}

static PyObject *restore(PyObject *self, PyObject *object)
{
    struct lade_error error = {0};
    Py_buffer buffer;
    int status;

    if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) != 0)
        return NULL;
    struct lade_bag_handle *handle = join((struct bag *)self);
    if (handle) {
        struct text t = {buffer.buf, 0, (size_t)buffer.len};
        Py_BEGIN_ALLOW_THREADS;
        status = lade_bag_restore(handle, fetch, &t, &error);
        Py_END_ALLOW_THREADS;
        lade_bag_leave(handle);
        if (status == LADE_IO) /* fetch ran out of bytes */
            status = LADE_DAMAGED;
    }
    PyBuffer_Release(&buffer);
    if (!handle)
        return NULL;
    return status == LADE_OK ? Py_NewRef(Py_None) : package_raise(status, &error);
}

#define KEYWORDS (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef methods[] = {
    {"put", put, METH_O, "put($self, item, /)\n--\n\nPuts an item. FullError, LimitedError, ClosedError."},
    {"put_wait", PACKAGE_FAST(put_wait), KEYWORDS,
     "put_wait($self, /, item, timeout=None)\n--\n\nPuts an item; waits up to timeout seconds until it fits."},
    {"draw", draw, METH_NOARGS,
     "draw($self, /)\n--\n\nRemoves an item, each equally likely, and returns it. EmptyError, ClosedError."},
    {"draw_wait", PACKAGE_FAST(draw_wait), KEYWORDS,
     "draw_wait($self, /, timeout=None)\n--\n\nDraws an item; waits up to timeout seconds until there is one."},
    {"exchange", exchange, METH_O,
     "exchange($self, item, /)\n--\n\nPuts an item and removes another in one step. EmptyError, ClosedError."},
    {"exchange_wait", PACKAGE_FAST(exchange_wait), KEYWORDS,
     "exchange_wait($self, /, item, timeout=None)\n--\n\nExchanges; waits up to timeout seconds until the bag holds "
     "one."},
    {"sample", sample_one, METH_NOARGS,
     "sample($self, /)\n--\n\nReturns a copy of an item, each equally likely, which stays in the bag. EmptyError, "
     "LimitedError, ClosedError."},
    {"sample_wait", PACKAGE_FAST(sample_wait), KEYWORDS,
     "sample_wait($self, /, timeout=None)\n--\n\nSamples; waits up to timeout seconds until that is possible."},
    {"_put_many", put_many, METH_O, NULL},
    {"_draw_into", draw_into, METH_O, NULL},
    {"_sample_into", sample_into, METH_O, NULL},
    {"clear", clear, METH_NOARGS, "clear($self, /)\n--\n\nDrops items until the bag is empty. Returns how many."},
    {"close", close_bag, METH_NOARGS,
     "close($self, /)\n--\n\nNo later put succeeds; what the bag holds can be drawn. Wakes all waiting threads."},
    {"cancel", cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nEvery waiting call raises CancelledError. Later calls wait as usual."},
    {"stats", stats, METH_NOARGS, "stats($self, /)\n--\n\nCounts since creation: put == drawn + evicted + held."},
    {"snapshot", snapshot, METH_NOARGS,
     "snapshot($self, /)\n--\n\nThe items as bytes with checksums, the same on every machine."},
    {"restore", restore, METH_O,
     "restore($self, snapshot, /)\n--\n\nPuts the items of a snapshot, as put would. DamagedError: the rest was not "
     "put."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, PACKAGE_SLOT(create)},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_methods, methods},
    {Py_sq_length, PACKAGE_SLOT(length)},
    {0, NULL},
};
PyType_Spec package_bag_spec = {
    .name = "lade._lade.Bag",
    .basicsize = sizeof(struct bag),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
