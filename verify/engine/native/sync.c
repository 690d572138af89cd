/* SPDX-License-Identifier: MIT */
/*
 * Locks, condition variables, semaphores, barriers and one-time initialisation as the program sees them.
 *
 * Each object is one location that only the engine uses, with value 0 at first. A waiting call is a read that blocks
 * its thread until another write is there to be read (model_waits). A call with a deadline may time out wherever it
 * would wait; a wait on a condition variable may end there for no reason. Both are alternatives of that read, like the
 * spurious failure of a weak compare-exchange. What wakes or lets in is a release, what waits or tries an acquire,
 * except where it fails, times out or ends for no reason.
 */
#include "calls.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum { WORD = 4 };

/* Initialising an object is a store to all of it. */
static void set_up(void *object, size_t all, int size, word value, uint64_t pc)
{
    flush_plain();
    shadow_plain((uintptr_t)object, all, true, false, pc);
    ask(OP_UNLOCK, object, size, value, RELAXED, 0, pc);
}

/*
 * The object is destroyed. The graph determines its earlier value: in a run that replays the graph, the object has later
 * events too.
 */
static word tear_down(const void *object, int size, const char *what, uint64_t pc)
{
    ask(OP_UNLOCK, object, size, destroyed(size), RELAXED, 0, pc);
    const struct event *e = ev(G->thread[self->id].at[self->done - 1]);
    int before = G->place[e->loc].mo[e->pos - 1];
    word value = before == INIT ? 0 : ev(before)->value;

    if (value == destroyed(size))
        fail(ERR_MUTEX, pc, (uintptr_t)object, "a %s is destroyed twice", what);
    return value;
}

/* A request that may end for no reason where it would wait; `timed`: and does, some time. True when it did not. */
static bool ask_weak(int op, const void *addr, int size, word operand, int order, bool timed, uint64_t pc)
{
    self->req = (struct request){.op = (uint8_t)op, .size = (uint8_t)size, .order = (uint8_t)order, .extra = timed,
                                 .weak = true, .addr = (uintptr_t)addr, .operand = operand, .pc = pc};
    return step() != 0;
}

#pragma GCC visibility push(default)

/* ---- mutexes: an acquiring exchange that waits, and a releasing store ---- */

/* The holder, as far as this thread knows: its own last operation on it is the newest that it can have seen. */
static bool holds(const void *m)
{
    int loc = shadow_owner((uintptr_t)m);
    if (loc < 0)
        return false;
    for (int i = self->done - 1; i >= 0; i--) {
        const struct event *e = ev(G->thread[self->id].at[i]);
        if (e->loc == loc && e->kind == E_WRITE)
            return e->op != OP_UNLOCK;
    }
    return false;
}

static void lock(void *m, uint64_t pc)
{
    if (holds(m))
        fail(ERR_MUTEX, pc, (uintptr_t)m, "the thread locks a mutex that it holds already");
    ask(OP_LOCK, m, 1, 0, ACQUIRE, 0, pc);
}

static void look_at(const struct timespec *end, uint64_t pc)
{
    plain((uintptr_t)end, sizeof *end, false, false, pc);
}

static bool timed_lock(void *m, const struct timespec *end, uint64_t pc)
{
    look_at(end, pc);
    if (holds(m))
        fail(ERR_MUTEX, pc, (uintptr_t)m, "the thread locks a mutex that it holds already");
    return ask_weak(OP_LOCK, m, 1, 0, ACQUIRE, true, pc);
}

static bool trylock(void *m, uint64_t pc)
{
    return ask(OP_TRYLOCK, m, 1, 0, ACQUIRE, 0, pc) != 0;
}

static void unlock(void *m, uint64_t pc)
{
    if (!holds(m))
        fail(ERR_MUTEX, pc, (uintptr_t)m, "unlock of a mutex that the thread does not hold");
    ask(OP_UNLOCK, m, 1, 0, RELEASE, 0, pc);
}

static void destroy(void *m, uint64_t pc)
{
    if (tear_down(m, 1, "mutex", pc))
        fail(ERR_MUTEX, pc, (uintptr_t)m, "a mutex is destroyed while it is held");
}

int X(pthread_mutex_init)(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    if (a)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)m, "mutex attributes");
    set_up(m, sizeof *m, 1, 0, PC);
    m->__data.__kind = PTHREAD_MUTEX_TIMED_NP;
    return 0;
}

/* A static initialiser may select another kind. Checked once the address is known to be valid. */
static void check_kind(const pthread_mutex_t *m, uint64_t pc)
{
    if (m->__data.__kind != PTHREAD_MUTEX_TIMED_NP)
        fail(ERR_UNSUPPORTED, pc, (uintptr_t)m, "a mutex that is recursive, or of another special kind");
}

int X(pthread_mutex_lock)(pthread_mutex_t *m) { return lock(m, PC), check_kind(m, PC), 0; }
int X(pthread_mutex_trylock)(pthread_mutex_t *m)
{
    bool taken = trylock(m, PC);
    check_kind(m, PC);
    return taken ? 0 : EBUSY;
}
int X(pthread_mutex_timedlock)(pthread_mutex_t *m, const struct timespec *end)
{
    bool taken = timed_lock(m, end, PC);
    check_kind(m, PC);
    return taken ? 0 : ETIMEDOUT;
}
int X(pthread_mutex_clocklock)(pthread_mutex_t *m, clockid_t id, const struct timespec *end)
{
    (void)id;
    bool taken = timed_lock(m, end, PC);
    check_kind(m, PC);
    return taken ? 0 : ETIMEDOUT;
}
int X(pthread_mutex_unlock)(pthread_mutex_t *m) { return unlock(m, PC), 0; }
int X(pthread_mutex_destroy)(pthread_mutex_t *m) { return destroy(m, PC), 0; }

int X(mtx_init)(mtx_t *m, int type)
{
    if (type != mtx_plain && type != mtx_timed)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)m, "a recursive mutex");
    set_up(m, sizeof *m, 1, 0, PC);
    return thrd_success;
}

int X(mtx_lock)(mtx_t *m) { return lock(m, PC), thrd_success; }
int X(mtx_trylock)(mtx_t *m) { return trylock(m, PC) ? thrd_success : thrd_busy; }
int X(mtx_timedlock)(mtx_t *m, const struct timespec *end) { return timed_lock(m, end, PC) ? thrd_success : thrd_timedout; }
int X(mtx_unlock)(mtx_t *m) { return unlock(m, PC), thrd_success; }
void X(mtx_destroy)(mtx_t *m) { destroy(m, PC); }

int X(pthread_spin_init)(pthread_spinlock_t *m, int shared)
{
    (void)shared;
    return set_up((void *)(uintptr_t)m, sizeof *m, 1, 0, PC), 0;
}

int X(pthread_spin_lock)(pthread_spinlock_t *m) { return lock((void *)(uintptr_t)m, PC), 0; }
int X(pthread_spin_trylock)(pthread_spinlock_t *m) { return trylock((void *)(uintptr_t)m, PC) ? 0 : EBUSY; }
int X(pthread_spin_unlock)(pthread_spinlock_t *m) { return unlock((void *)(uintptr_t)m, PC), 0; }
int X(pthread_spin_destroy)(pthread_spinlock_t *m) { return destroy((void *)(uintptr_t)m, PC), 0; }

/* ---- barriers: arrivals are counted; an early thread waits for the count that completes its round ---- */

/* The count of arrivals is at the start of the barrier and continues when it is initialised again. After the count: */
struct rounds {
    unsigned size; /* 0: not initialised, or destroyed */
    unsigned first; /* the count at which it was initialised */
};

static struct rounds *rounds_of(pthread_barrier_t *b, bool write, uint64_t pc)
{
    plain((uintptr_t)b + 8, sizeof(struct rounds), write, false, pc);
    return (struct rounds *)(void *)((char *)b + 8);
}

int X(pthread_barrier_init)(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n)
{
    /* Bytes on a stack may be left over from another call. */
    bool stack = shadow_on_stack((uintptr_t)b);

    if (a || !n)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)b, "barrier attributes, or a barrier for no thread");
    if (!stack && shadow_owner((uintptr_t)b) >= 0 && rounds_of(b, false, PC)->size)
        fail(ERR_MUTEX, PC, (uintptr_t)b, "a barrier is initialised twice");
    unsigned first = (unsigned)ask(OP_ARRIVE, b, 4, 0, RELAXED, 0, PC);
    *rounds_of(b, true, PC) = (struct rounds){n, first};
    return 0;
}

int X(pthread_barrier_wait)(pthread_barrier_t *b)
{
    struct rounds r = *rounds_of(b, false, PC);
    if (!r.size || shadow_owner((uintptr_t)b) < 0)
        fail(ERR_MUTEX, PC, (uintptr_t)b, "the barrier has not been initialised, or has been destroyed");
    unsigned mine = (unsigned)ask(OP_ARRIVE, b, 4, 1, ACQ_REL, 0, PC) + 1 - r.first;
    unsigned whole = (mine + r.size - 1) / r.size * r.size;
    if (mine == whole)
        return PTHREAD_BARRIER_SERIAL_THREAD;
    ask(OP_AWAIT, b, 4, r.first + whole, ACQUIRE, 0, PC);
    return 0;
}

int X(pthread_barrier_destroy)(pthread_barrier_t *b)
{
    rounds_of(b, true, PC)->size = 0;
    return 0;
}

/* ---- condition variables: the value is the set of threads that wait, as bits; a signal clears one, any of them ---- */

enum wake { WOKEN, SPURIOUS, TIMED_OUT };

static enum wake wait_on(void *c, void *m, const struct timespec *end, uint64_t pc)
{
    word me = (word)1 << self->id;

    if (end)
        look_at(end, pc);
    if (!holds(m))
        fail(ERR_MUTEX, pc, (uintptr_t)m, "a wait on a condition variable with a mutex that the thread does not hold");
    ask(OP_ENTER, c, WORD, me, RELAXED, 0, pc);
    ask(OP_UNLOCK, m, 1, 0, RELEASE, 0, pc);
    enum wake how = ask_weak(OP_SLEEP, c, WORD, me, ACQUIRE, end != NULL, pc) ? WOKEN : SPURIOUS;
    if (how == SPURIOUS && end && (!options.spurious || !choose(2, pc)))
        how = TIMED_OUT;
    ask(OP_LOCK, m, 1, 0, ACQUIRE, 0, pc);
    return how;
}

void cond_wait(void *c, void *m, uint64_t pc)
{
    (void)wait_on(c, m, NULL, pc);
}

void cond_wake(void *c, bool all, uint64_t pc)
{
    ask(OP_SIGNAL, c, WORD, all ? 0 : 1, RELEASE, 0, pc);
}

void cond_destroy(void *c, uint64_t pc)
{
    if (tear_down(c, WORD, "condition variable", pc))
        fail(ERR_MUTEX, pc, (uintptr_t)c, "a condition variable is destroyed while a thread waits on it");
}

int X(pthread_cond_init)(pthread_cond_t *c, const pthread_condattr_t *a)
{
    (void)a; /* a clock, or sharing between processes */
    return set_up(c, sizeof *c, WORD, 0, PC), 0;
}

int X(pthread_condattr_init)(pthread_condattr_t *a) { return plain((uintptr_t)a, sizeof *a, true, false, PC), 0; }
int X(pthread_condattr_destroy)(pthread_condattr_t *a) { return plain((uintptr_t)a, sizeof *a, true, false, PC), 0; }
int X(pthread_condattr_setclock)(pthread_condattr_t *a, clockid_t id) { (void)id; return plain((uintptr_t)a, sizeof *a, true, false, PC), 0; }
int X(pthread_cond_wait)(pthread_cond_t *c, pthread_mutex_t *m) { return wait_on(c, m, NULL, PC), 0; }
int X(pthread_cond_timedwait)(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *end)
{
    return wait_on(c, m, end, PC) == TIMED_OUT ? ETIMEDOUT : 0;
}

int X(pthread_cond_clockwait)(pthread_cond_t *c, pthread_mutex_t *m, clockid_t id, const struct timespec *end)
{
    (void)id;
    return wait_on(c, m, end, PC) == TIMED_OUT ? ETIMEDOUT : 0;
}

int X(pthread_cond_signal)(pthread_cond_t *c) { return cond_wake(c, false, PC), 0; }
int X(pthread_cond_broadcast)(pthread_cond_t *c) { return cond_wake(c, true, PC), 0; }
int X(pthread_cond_destroy)(pthread_cond_t *c) { return cond_destroy(c, PC), 0; }

int X(cnd_init)(cnd_t *c) { return set_up(c, sizeof *c, WORD, 0, PC), thrd_success; }
int X(cnd_wait)(cnd_t *c, mtx_t *m) { return wait_on(c, m, NULL, PC), thrd_success; }
int X(cnd_timedwait)(cnd_t *c, mtx_t *m, const struct timespec *end)
{
    return wait_on(c, m, end, PC) == TIMED_OUT ? thrd_timedout : thrd_success;
}

int X(cnd_signal)(cnd_t *c) { return cond_wake(c, false, PC), thrd_success; }
int X(cnd_broadcast)(cnd_t *c) { return cond_wake(c, true, PC), thrd_success; }
void X(cnd_destroy)(cnd_t *c) { cond_destroy(c, PC); }

/* ---- semaphores: the value is the count ---- */

static int failed(int error)
{
    errno = error;
    return -1;
}

int X(sem_init)(sem_t *s, int shared, unsigned value)
{
    (void)shared;
    return set_up(s, sizeof *s, WORD, value, PC), 0;
}

int X(sem_wait)(sem_t *s) { return ask(OP_TAKE, s, WORD, 0, ACQUIRE, 0, PC), 0; }
int X(sem_trywait)(sem_t *s) { return ask(OP_TRYTAKE, s, WORD, 0, ACQUIRE, 0, PC) ? 0 : failed(EAGAIN); }
int X(sem_timedwait)(sem_t *s, const struct timespec *end)
{
    look_at(end, PC);
    return ask_weak(OP_TAKE, s, WORD, 0, ACQUIRE, true, PC) ? 0 : failed(ETIMEDOUT);
}

int X(sem_clockwait)(sem_t *s, clockid_t id, const struct timespec *end)
{
    (void)id;
    look_at(end, PC);
    return ask_weak(OP_TAKE, s, WORD, 0, ACQUIRE, true, PC) ? 0 : failed(ETIMEDOUT);
}

int X(sem_post)(sem_t *s) { return ask(OP_POST, s, WORD, 1, RELEASE, 0, PC), 0; }
int X(sem_getvalue)(sem_t *s, int *out)
{
    int value = (int)ask(OP_PEEK, s, WORD, 0, RELAXED, 0, PC);
    plain((uintptr_t)out, sizeof *out, true, false, PC);
    *out = value;
    return 0;
}

int X(sem_destroy)(sem_t *s) { return (void)tear_down(s, WORD, "semaphore", PC), 0; }

/* ---- read-write locks: the writer's number in the lowest byte, the number of readers above ---- */

enum { READER = 256 };

/* What the thread holds. A thread may hold several read locks. */
static struct held {
    int readers;
    bool writer;
} held(const void *lock)
{
    struct held h = {0, false};
    int loc = shadow_owner((uintptr_t)lock);

    for (int i = 0; i < self->done && loc >= 0; i++) {
        const struct event *e = ev(G->thread[self->id].at[i]);
        if (e->loc != loc || e->kind != E_WRITE)
            continue;
        h.readers += e->op == OP_RLOCK || e->op == OP_TRYRLOCK ? 1 : e->op == OP_RUNLOCK ? -1 : 0;
        h.writer = e->op == OP_LOCK || e->op == OP_TRYLOCK;
    }
    return h;
}

static bool write_lock(void *l, const struct timespec *end, uint64_t pc)
{
    struct held h = held(l);

    if (end)
        look_at(end, pc);
    if (h.writer)
        fail(ERR_MUTEX, pc, (uintptr_t)l, "the thread write-locks a lock that it holds already");
    if (h.readers && !end)
        fail(ERR_DEADLOCK, pc, (uintptr_t)l, "the thread waits to write while it holds the lock for reading: it waits for itself");
    return end ? ask_weak(OP_LOCK, l, WORD, 0, ACQUIRE, true, pc) : ask(OP_LOCK, l, WORD, 0, ACQUIRE, 0, pc) != 0;
}

static bool read_lock(void *l, const struct timespec *end, uint64_t pc)
{
    if (end)
        look_at(end, pc);
    if (held(l).writer)
        fail(ERR_MUTEX, pc, (uintptr_t)l, "the thread read-locks a lock that it holds for writing");
    return end ? ask_weak(OP_RLOCK, l, WORD, READER, ACQUIRE, true, pc) : ask(OP_RLOCK, l, WORD, READER, ACQUIRE, 0, pc) != 0;
}

static void unlock_either(void *l, uint64_t pc)
{
    struct held h = held(l);

    if (h.writer)
        ask(OP_UNLOCK, l, WORD, 0, RELEASE, 0, pc);
    else if (h.readers > 0)
        ask(OP_RUNLOCK, l, WORD, (word)-READER, RELEASE, 0, pc);
    else
        fail(ERR_MUTEX, pc, (uintptr_t)l, "unlock of a read-write lock that the thread does not hold");
}

int X(pthread_rwlock_init)(pthread_rwlock_t *l, const pthread_rwlockattr_t *a)
{
    if (a)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)l, "attributes of a read-write lock");
    return set_up(l, sizeof *l, WORD, 0, PC), 0;
}

int X(pthread_rwlock_rdlock)(pthread_rwlock_t *l) { return read_lock(l, NULL, PC), 0; }
int X(pthread_rwlock_wrlock)(pthread_rwlock_t *l) { return write_lock(l, NULL, PC), 0; }
int X(pthread_rwlock_tryrdlock)(pthread_rwlock_t *l) { return ask(OP_TRYRLOCK, l, WORD, READER, ACQUIRE, 0, PC) ? 0 : EBUSY; }
int X(pthread_rwlock_trywrlock)(pthread_rwlock_t *l) { return ask(OP_TRYLOCK, l, WORD, 0, ACQUIRE, 0, PC) ? 0 : EBUSY; }
int X(pthread_rwlock_timedrdlock)(pthread_rwlock_t *l, const struct timespec *end)
{
    return read_lock(l, end, PC) ? 0 : ETIMEDOUT;
}

int X(pthread_rwlock_timedwrlock)(pthread_rwlock_t *l, const struct timespec *end)
{
    return write_lock(l, end, PC) ? 0 : ETIMEDOUT;
}

int X(pthread_rwlock_clockrdlock)(pthread_rwlock_t *l, clockid_t id, const struct timespec *end)
{
    (void)id;
    return read_lock(l, end, PC) ? 0 : ETIMEDOUT;
}

int X(pthread_rwlock_clockwrlock)(pthread_rwlock_t *l, clockid_t id, const struct timespec *end)
{
    (void)id;
    return write_lock(l, end, PC) ? 0 : ETIMEDOUT;
}

int X(pthread_rwlock_unlock)(pthread_rwlock_t *l) { return unlock_either(l, PC), 0; }
int X(pthread_rwlock_destroy)(pthread_rwlock_t *l)
{
    if (tear_down(l, WORD, "read-write lock", PC))
        fail(ERR_MUTEX, PC, (uintptr_t)l, "a read-write lock is destroyed while it is held");
    return 0;
}

/* ---- one-time initialisation: 0 not yet, 1 a thread does it and others wait, 2 done ---- */

static void once(const void *o, void (*function)(void), uint64_t pc)
{
    if (ask(OP_ONCE, o, WORD, 0, ACQUIRE, 0, pc))
        return;
    function();
    ask(OP_UNLOCK, o, WORD, ONCE_DONE, RELEASE, 0, pc);
}

int X(pthread_once)(pthread_once_t *o, void (*function)(void)) { return once(o, function, PC), 0; }
void X(call_once)(once_flag *o, void (*function)(void)) { once(o, function, PC); }

#pragma GCC visibility pop
