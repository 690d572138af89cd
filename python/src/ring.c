/* SPDX-License-Identifier: MIT */
/* lade._lade.Ring, on which lade.Ring builds: a ring for many threads, or for one producer and one consumer. */
#include "container.h"

#include <lade/ring.h>

struct ring {
    PyObject_HEAD struct lade_mpmc *mpmc; /* one of the two is NULL */
    struct lade_spsc *spsc;
    PyThread_type_lock side[2]; /* spsc: held by the thread that pops, and by the one that pushes */
    unsigned handles;
    atomic_uint cancels;
};

#define AT_ONCE (-2) /* a timeout: the form that does not wait */

/* A use of the ring by one thread. */
struct use {
    struct ring *ring;
    struct lade_mpmc_handle *handle;
    bool is_push;
    uint64_t word;
};

static int start(struct ring *r, struct lade_ring_config *config, bool spsc)
{
    r->handles = config->handles;
    if (spsc) {
        config->handles = 0;
        for (int i = 0; i < 2; i++)
            r->side[i] = PyThread_allocate_lock();
        if (!r->side[0] || !r->side[1])
            return LADE_NO_MEMORY;
    }
    return spsc ? lade_spsc_create(&r->spsc, config) : lade_mpmc_create(&r->mpmc, config);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct lade_ring_config c = {.waits = true};
    unsigned long long capacity;
    int spsc;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "KIp:Ring", &capacity, &c.handles, &spsc))
        return NULL;
    c.capacity = capacity;
    struct ring *r = (struct ring *)PyType_GenericAlloc(type, 0);
    if (!r)
        return NULL;
    int status = start(r, &c, spsc != 0);
    if (status == LADE_OK)
        return (PyObject *)r;
    Py_DECREF(r);
    return container_raise(status, status == LADE_INVALID ? "capacity is 1 to 2**31, and handles 1 to 65536" : NULL);
}

static void dealloc(PyObject *self)
{
    struct ring *r = (struct ring *)self;

    lade_mpmc_destroy(r->mpmc);
    lade_spsc_destroy(r->spsc);
    for (int i = 0; i < 2; i++)
        if (r->side[i])
            PyThread_free_lock(r->side[i]);
    container_free(self);
}

/* 0, or -1 with an exception. */
static int use_begin(struct use *u, PyObject *self, bool is_push)
{
    struct ring *r = (struct ring *)self;

    *u = (struct use){.ring = r, .is_push = is_push};
    if (r->spsc && PyThread_acquire_lock(r->side[is_push], NOWAIT_LOCK) == 0)
        (void)container_raise(LADE_CONFLICT,
                              "another thread %s: a ring with kind='spsc' has one producer and one consumer",
                              is_push ? "pushes" : "pops");
    else if (r->mpmc && lade_mpmc_join(r->mpmc, &u->handle) != LADE_OK)
        (void)container_raise(LADE_TOO_MANY,
                              "more than %u threads are inside the ring at the same time: create it with more handles",
                              r->handles);
    else
        return 0;
    return -1;
}

static void use_end(struct use *u)
{
    lade_mpmc_leave(u->handle);
    if (u->ring->spsc)
        PyThread_release_lock(u->ring->side[u->is_push]);
}

static int attempt(void *context, int64_t timeout)
{
    struct use *u = context;
    struct lade_spsc *spsc = u->ring->spsc;

    if (timeout == AT_ONCE && u->is_push)
        return spsc ? lade_spsc_push(spsc, u->word) : lade_mpmc_push(u->handle, u->word);
    if (timeout == AT_ONCE)
        return spsc ? lade_spsc_pop(spsc, &u->word) : lade_mpmc_pop(u->handle, &u->word);
    if (u->is_push)
        return spsc ? lade_spsc_push_wait(spsc, u->word, timeout) : lade_mpmc_push_wait(u->handle, u->word, timeout);
    return spsc ? lade_spsc_pop_wait(spsc, &u->word, timeout) : lade_mpmc_pop_wait(u->handle, &u->word, timeout);
}

static PyObject *operate(PyObject *self, PyObject *number, int64_t timeout)
{
    struct use u;
    uint64_t word = 0;

    if ((number && container_word(number, &word) != 0) || use_begin(&u, self, number != NULL) != 0)
        return NULL;
    u.word = word;
    int status = timeout == AT_ONCE ? attempt(&u, AT_ONCE) : container_wait(attempt, &u, timeout, &u.ring->cancels);
    use_end(&u);
    if (status != LADE_OK)
        return status == PACKAGE_RAISED ? NULL : container_raise(status, NULL);
    return number ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(u.word);
}

static PyObject *push(PyObject *self, PyObject *number)
{
    return operate(self, number, AT_ONCE);
}

static PyObject *pop(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return operate(self, NULL, AT_ONCE);
}

static PyObject *push_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"number", "timeout", NULL};
    PyObject *number, *seconds = Py_None;
    int64_t timeout;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", names, &number, &seconds) ||
        container_timeout(seconds, &timeout) != 0)
        return NULL;
    return operate(self, number, timeout);
}

static PyObject *pop_wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"timeout", NULL};
    PyObject *seconds = Py_None;
    int64_t timeout;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &seconds) ||
        container_timeout(seconds, &timeout) != 0)
        return NULL;
    return operate(self, NULL, timeout);
}

static PyObject *many(PyObject *self, PyObject *object, bool is_push)
{
    struct container_words w;
    struct use u;
    size_t done;

    if (container_words_get(&w, object, !is_push, "numbers") != 0)
        return NULL;
    if (use_begin(&u, self, is_push) != 0) {
        container_words_put(&w);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    if (is_push)
        done = u.handle ? lade_mpmc_push_many(u.handle, w.word, w.count)
                        : lade_spsc_push_many(u.ring->spsc, w.word, w.count);
    else
        done = u.handle ? lade_mpmc_pop_many(u.handle, w.word, w.count)
                        : lade_spsc_pop_many(u.ring->spsc, w.word, w.count);
    Py_END_ALLOW_THREADS;
    use_end(&u);
    container_words_put(&w);
    return PyLong_FromSize_t(done);
}

static PyObject *push_many(PyObject *self, PyObject *numbers)
{
    return many(self, numbers, true);
}

static PyObject *pop_into(PyObject *self, PyObject *numbers)
{
    return many(self, numbers, false);
}

static PyObject *close_ring(PyObject *self, PyObject *nothing)
{
    const struct ring *r = (struct ring *)self;

    (void)nothing;
    int status = r->spsc ? lade_spsc_close(r->spsc) : lade_mpmc_close(r->mpmc);
    return status == LADE_OK ? Py_NewRef(Py_None) : container_raise(status, NULL);
}

static PyObject *cancel(PyObject *self, PyObject *nothing)
{
    struct ring *r = (struct ring *)self;

    (void)nothing;
    atomic_fetch_add(&r->cancels, 1);
    int status = r->spsc ? lade_spsc_cancel(r->spsc) : lade_mpmc_cancel(r->mpmc);
    return status == LADE_OK ? Py_NewRef(Py_None) : container_raise(status, NULL);
}

static Py_ssize_t length(PyObject *self)
{
    const struct ring *r = (struct ring *)self;

    return (Py_ssize_t)(r->spsc ? lade_spsc_count(r->spsc) : lade_mpmc_count(r->mpmc));
}

#define KEYWORDS (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef methods[] = {
    {"push", push, METH_O, "push($self, number, /)\n--\n\nPushes a number. FullError, ClosedError."},
    {"pop", pop, METH_NOARGS,
     "pop($self, /)\n--\n\nRemoves the oldest number and returns it. EmptyError, ClosedError."},
    {"push_wait", PACKAGE_FAST(push_wait), KEYWORDS,
     "push_wait($self, /, number, timeout=None)\n--\n\nPushes; waits up to timeout seconds for a free slot."},
    {"pop_wait", PACKAGE_FAST(pop_wait), KEYWORDS,
     "pop_wait($self, /, timeout=None)\n--\n\nPops; waits up to timeout seconds for a number."},
    {"_push_many", push_many, METH_O, NULL},
    {"_pop_into", pop_into, METH_O, NULL},
    {"close", close_ring, METH_NOARGS,
     "close($self, /)\n--\n\nNo later push succeeds; what the ring holds can be popped. Wakes all waiting threads."},
    {"cancel", cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nEvery waiting call raises CancelledError. Later calls wait as usual."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, PACKAGE_SLOT(create)},
    {Py_tp_dealloc, PACKAGE_SLOT(dealloc)},
    {Py_tp_methods, methods},
    {Py_sq_length, PACKAGE_SLOT(length)},
    {0, NULL},
};
PyType_Spec package_ring_spec = {
    .name = "lade._lade.Ring",
    .basicsize = sizeof(struct ring),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
