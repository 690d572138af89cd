/* SPDX-License-Identifier: MIT */
/*
 * Threads, locks, memory and output as the program sees them. The wrapper renames the program's calls, malloc to
 * lade_x_malloc and so on, so that the C library itself stays untouched.
 */
#include "engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define X(NAME) lade_x_##NAME
/* Address of the call; also records where the program's own part of the stack ends. */
#define PC (self->top = (char *)__builtin_frame_address(0) + 16, (uint64_t)(uintptr_t)__builtin_return_address(0))

#pragma GCC visibility push(default)

static word ask(int op, const void *addr, int size, word operand, int order, uint32_t extra, uint64_t pc)
{
    self->req = (struct request){.op = (uint8_t)op, .size = (uint8_t)size, .order = (uint8_t)order, .extra = extra,
                                 .addr = (uintptr_t)addr, .operand = operand, .pc = pc};
    return step();
}

/* ---- threads ---- */

/* A handle is the thread's number plus one, so that 0 is never valid. */
static int spawn(unsigned long *handle, void *(*start)(void *), int (*start11)(void *), void *arg, uint64_t pc)
{
    if (guessing)
        guess_stop();
    int t = run_child(self->id, self->spawned++);

    if (t < 0)
        fail(ERR_UNSUPPORTED, pc, 0, "more than %d threads in one execution, those that have ended included", MAX_THREADS);
    if (run_is_thread_local((uintptr_t)arg))
        fail(ERR_UNSUPPORTED, pc, 0, "the address of a thread-local variable goes to other threads");
    thread[t].start = start;
    thread[t].start11 = start11;
    thread[t].arg = arg;
    ask(OP_CREATE, NULL, 0, 0, RELAXED, (uint32_t)t, pc);
    plain((uintptr_t)handle, sizeof *handle, true, false, pc);
    *handle = (unsigned long)t + 1;
    return 0;
}

static struct thread *thread_of(unsigned long handle, uint64_t pc)
{
    if (guessing)
        guess_stop();
    if (handle < 1 || handle > MAX_THREADS || thread[handle - 1].state == T_NONE)
        fail(ERR_THREAD, pc, 0, "no such thread");
    struct thread *t = &thread[handle - 1];
    if ((t->joined || t->detached) && !options.genmc)
        fail(ERR_THREAD, pc, 0, "the thread has been joined or detached already");
    return t;
}

static void *join(unsigned long handle, uint64_t pc)
{
    struct thread *t = thread_of(handle, pc);

    if (t == self)
        fail(ERR_THREAD, pc, 0, "the thread joins itself");
    t->joined = true;
    return (void *)(uintptr_t)ask(OP_JOIN, NULL, 0, 0, RELAXED, (uint32_t)t->id, pc); /* NOLINT */
}

int X(pthread_create)(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    (void)attr;
    return spawn(handle, start, NULL, arg, PC);
}

int X(pthread_join)(pthread_t handle, void **result)
{
    void *r = join(handle, PC);
    if (result) {
        plain((uintptr_t)result, sizeof *result, true, false, PC);
        *result = r;
    }
    return 0;
}

int X(pthread_detach)(pthread_t handle)
{
    thread_of(handle, PC)->detached = true;
    self->effects++; /* a loop that does it twice does not only wait */
    return 0;
}

pthread_t X(pthread_self)(void)
{
    return (pthread_t)self->id + 1;
}

int X(pthread_equal)(pthread_t a, pthread_t b)
{
    return a == b;
}

_Noreturn void X(pthread_exit)(void *result)
{
    self->result = result;
    thread_exit();
}

int X(thrd_create)(thrd_t *handle, thrd_start_t start, void *arg)
{
    spawn(handle, NULL, start, arg, PC);
    return thrd_success;
}

int X(thrd_join)(thrd_t handle, int *result)
{
    int r = (int)(intptr_t)join(handle, PC);
    if (result) {
        plain((uintptr_t)result, sizeof *result, true, false, PC);
        *result = r;
    }
    return thrd_success;
}

thrd_t X(thrd_current)(void)
{
    return (thrd_t)self->id + 1;
}

int X(thrd_equal)(thrd_t a, thrd_t b)
{
    return a == b;
}

int X(thrd_detach)(thrd_t handle)
{
    thread_of(handle, PC)->detached = true;
    self->effects++; /* a loop that does it twice does not only wait */
    return thrd_success;
}

_Noreturn void X(thrd_exit)(int result)
{
    self->result = (void *)(intptr_t)result; /* NOLINT */
    thread_exit();
}

/* Scheduling hints have no effect here. */
int X(sched_yield)(void) { return 0; }
void X(thrd_yield)(void) {}
int X(usleep)(unsigned us) { (void)us; return 0; }
unsigned X(sleep)(unsigned s) { (void)s; return 0; }
int X(nanosleep)(const void *a, void *b) { (void)a, (void)b; return 0; }
int X(thrd_sleep)(const void *a, void *b) { (void)a, (void)b; return 0; }

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

/* Initialising and destroying a mutex are stores to it; the checks are about their order. */
static void set_up(void *m, size_t size, uint64_t pc)
{
    flush_plain();
    shadow_plain((uintptr_t)m, size, true, false, pc);
    ask(OP_UNLOCK, m, 1, 0, RELAXED, 0, pc);
}

/*
 * The graph determines the earlier state of the mutex: in a run that replays the graph, the mutex has later events too.
 */
static void destroy(void *m, uint64_t pc)
{
    ask(OP_UNLOCK, m, 1, DESTROYED, RELAXED, 0, pc);
    const struct event *e = ev(G->thread[self->id].at[self->done - 1]);
    int before = G->place[e->loc].mo[e->pos - 1];
    if (before != INIT && ev(before)->op != OP_UNLOCK)
        fail(ERR_MUTEX, pc, (uintptr_t)m, "a mutex is destroyed while it is held");
    if (before != INIT && ev(before)->value == DESTROYED)
        fail(ERR_MUTEX, pc, (uintptr_t)m, "a mutex is destroyed twice");
}

int X(pthread_mutex_init)(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    if (a)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)m, "mutex attributes");
    set_up(m, sizeof *m, PC);
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
int X(pthread_mutex_unlock)(pthread_mutex_t *m) { return unlock(m, PC), 0; }
int X(pthread_mutex_destroy)(pthread_mutex_t *m) { return destroy(m, PC), 0; }

int X(mtx_init)(mtx_t *m, int type)
{
    if (type != mtx_plain)
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)m, "mutexes other than mtx_plain");
    set_up(m, sizeof *m, PC);
    return thrd_success;
}

int X(mtx_lock)(mtx_t *m) { return lock(m, PC), thrd_success; }
int X(mtx_trylock)(mtx_t *m) { return trylock(m, PC) ? thrd_success : thrd_busy; }
int X(mtx_unlock)(mtx_t *m) { return unlock(m, PC), thrd_success; }
void X(mtx_destroy)(mtx_t *m) { destroy(m, PC); }

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
        fail(ERR_UNSUPPORTED, PC, (uintptr_t)b, "barrier attributes, or a barrier for nobody");
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

/* ---- memory ---- */

void *X(malloc)(size_t n) { return flush_plain(), shadow_alloc(n, 16, false, PC); }
void *X(aligned_alloc)(size_t align, size_t n) { return flush_plain(), shadow_alloc(n, align, false, PC); }
void X(free)(void *p) { flush_plain(), shadow_free(p, PC); }

void *X(calloc)(size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all))
        return NULL;
    flush_plain();
    return shadow_alloc(all, 16, true, PC);
}

int X(posix_memalign)(void **out, size_t align, size_t n)
{
    plain((uintptr_t)out, sizeof *out, true, false, PC);
    *out = shadow_alloc(n, align, false, PC);
    return 0;
}

void *X(realloc)(void *p, size_t n)
{
    flush_plain();
    void *q = shadow_alloc(n, 16, false, PC);
    if (p) {
        size_t old = shadow_usable(p), m = old < n ? old : n;
        plain((uintptr_t)p, m, false, true, PC);
        plain((uintptr_t)q, m, true, true, PC);
        shadow_copy((uintptr_t)q, (uintptr_t)p, m);
        memcpy(q, p, m);
        shadow_free(p, PC);
    }
    return q;
}

void *X(memcpy)(void *to, const void *from, size_t n)
{
    plain((uintptr_t)from, n, false, true, PC);
    plain((uintptr_t)to, n, true, true, PC);
    shadow_copy((uintptr_t)to, (uintptr_t)from, n);
    return memcpy(to, from, n);
}

void *X(memmove)(void *to, const void *from, size_t n)
{
    plain((uintptr_t)from, n, false, true, PC);
    plain((uintptr_t)to, n, true, true, PC);
    if ((const char *)to + n <= (const char *)from || (const char *)from + n <= (const char *)to)
        shadow_copy((uintptr_t)to, (uintptr_t)from, n);
    return memmove(to, from, n);
}

void *X(memset)(void *to, int c, size_t n)
{
    plain((uintptr_t)to, n, true, false, PC);
    return memset(to, c, n);
}

int X(memcmp)(const void *a, const void *b, size_t n)
{
    plain((uintptr_t)a, n, false, false, PC);
    plain((uintptr_t)b, n, false, false, PC);
    return memcmp(a, b, n);
}

size_t X(strlen)(const char *s)
{
    size_t n = strlen(s);
    plain((uintptr_t)s, n + 1, false, false, PC);
    return n;
}

int X(strcmp)(const char *a, const char *b)
{
    plain((uintptr_t)a, strlen(a) + 1, false, false, PC);
    plain((uintptr_t)b, strlen(b) + 1, false, false, PC);
    return strcmp(a, b);
}

char *X(strcpy)(char *to, const char *from)
{
    size_t n = strlen(from) + 1;
    plain((uintptr_t)from, n, false, false, PC);
    plain((uintptr_t)to, n, true, false, PC);
    return memcpy(to, from, n);
}

/* The bytes that a function reads of a string, at most n. */
static size_t look(const char *s, size_t n, uint64_t pc)
{
    size_t m = strnlen(s, n);
    plain((uintptr_t)s, m < n ? m + 1 : n, false, false, pc);
    return m;
}

int X(strncmp)(const char *a, const char *b, size_t n)
{
    size_t same = 0;
    while (same < n && a[same] && a[same] == b[same])
        same++;
    plain((uintptr_t)a, same < n ? same + 1 : n, false, false, PC);
    plain((uintptr_t)b, same < n ? same + 1 : n, false, false, PC);
    return strncmp(a, b, n);
}

size_t X(strnlen)(const char *s, size_t n) { return look(s, n, PC); }
char *X(strchr)(const char *s, int c) { return look(s, SIZE_MAX, PC), strchr(s, c); }
char *X(strrchr)(const char *s, int c) { return look(s, SIZE_MAX, PC), strrchr(s, c); }
char *X(strstr)(const char *s, const char *t) { return look(s, SIZE_MAX, PC), look(t, SIZE_MAX, PC), strstr(s, t); }

void *X(memchr)(const void *s, int c, size_t n)
{
    char *p = memchr(s, c, n);
    plain((uintptr_t)s, p ? (size_t)(p - (const char *)s) + 1 : n, false, false, PC);
    return p;
}

char *X(strcat)(char *to, const char *from)
{
    size_t old = look(to, SIZE_MAX, PC), n = look(from, SIZE_MAX, PC) + 1;
    plain((uintptr_t)to + old, n, true, false, PC);
    memcpy(to + old, from, n);
    return to;
}

char *X(strncpy)(char *to, const char *from, size_t n)
{
    look(from, n, PC);
    plain((uintptr_t)to, n, true, false, PC);
    return strncpy(to, from, n);
}

int X(atoi)(const char *s) { return look(s, SIZE_MAX, PC), atoi(s); }
long X(atol)(const char *s) { return look(s, SIZE_MAX, PC), atol(s); }

#define NUMBER(RENAMED, NAME, T)                                      \
    T RENAMED(const char *s, char **end, int base)                    \
    {                                                                 \
        look(s, SIZE_MAX, PC);                                        \
        if (end)                                                      \
            plain((uintptr_t)end, sizeof *end, true, false, PC);      \
        return NAME(s, end, base);                                    \
    }
NUMBER(X(strtol), strtol, long)
NUMBER(X(strtoul), strtoul, unsigned long)
NUMBER(X(strtoll), strtoll, long long)
NUMBER(X(strtoull), strtoull, unsigned long long)

/* ---- termination ---- */

_Noreturn void X(__assert_fail)(const char *text, const char *file, unsigned line, const char *function)
{
    (void)file, (void)line, (void)function;
    fail(ERR_ASSERT, PC, 0, "%s", text);
    abort();
}

_Noreturn void X(abort)(void)
{
    fail(ERR_ASSERT, PC, 0, "abort() was called");
    abort();
}

/*
 * The process ends. What the other threads can still do they could have done before, so they continue; no thread joins
 * this one.
 */
_Noreturn void X(exit)(int code)
{
    if (code)
        fail(ERR_ASSERT, PC, 0, "exit(%d) was called", code);
    ask(OP_EXIT, NULL, 0, 0, RELAXED, 0, PC);
    abort();
}

void X(__VERIFIER_assume)(int c)
{
    if (c) /* gcc extends a _Bool that it passes */
        return;
    ask(OP_ASSUME, NULL, 0, 0, RELAXED, 0, PC);
}

/* ---- choices: every value is tried ---- */

static long choose(long n, uint64_t pc)
{
    if (n < 1)
        fail(ERR_UNSUPPORTED, pc, 0, "a choice among %ld values", n);
    return n == 1 ? 0 : (long)ask(OP_CHOOSE, NULL, 0, (word)n, RELAXED, 0, pc);
}

static long any_integer(uint64_t pc)
{
    statistics.ranges = true;
    return options.low + choose(options.high - options.low + 1, pc);
}

int X(explore_choose)(int n) { return (int)choose(n, PC); }
_Bool X(__VERIFIER_nondet_bool)(void) { return choose(2, PC) != 0; }

#define NONDET(RENAMED, T) T RENAMED(void) { return (T)any_integer(PC); }
NONDET(X(__VERIFIER_nondet_char), char)
NONDET(X(__VERIFIER_nondet_uchar), unsigned char)
NONDET(X(__VERIFIER_nondet_short), short)
NONDET(X(__VERIFIER_nondet_ushort), unsigned short)
NONDET(X(__VERIFIER_nondet_int), int)
NONDET(X(__VERIFIER_nondet_uint), unsigned)
NONDET(X(__VERIFIER_nondet_long), long)
NONDET(X(__VERIFIER_nondet_ulong), unsigned long)
NONDET(X(__VERIFIER_nondet_longlong), long long)
NONDET(X(__VERIFIER_nondet_ulonglong), unsigned long long)
NONDET(X(__VERIFIER_nondet_size_t), size_t)

/* ---- points that must be reached ---- */

bool cover_add(const char *name)
{
    int i = 0;

    while (i < COVER_NAMES && statistics.covered[i][0] && strcmp(statistics.covered[i], name) != 0)
        i++;
    if (i == COVER_NAMES || !name[0] || strlen(name) >= COVER_LENGTH)
        return false;
    strcpy(statistics.covered[i], name);
    return true;
}

void X(explore_cover)(const char *name)
{
    if (!guessing && !cover_add(name))
        fail(ERR_UNSUPPORTED, PC, 0, "explore_cover takes %d names of 1 to %d characters", COVER_NAMES, COVER_LENGTH - 1);
}

/* ---- output: kept for --outcomes ---- */

static void print(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    outcome_text(format, list);
    va_end(list);
}

/* The strings that a format prints are loaded. */
static void check_strings(const char *format, va_list from, uint64_t pc)
{
    va_list list;

    va_copy(list, from);
    for (const char *f = format; *f; f++) {
        int longs = 0, most = -1;
        bool big = false;
        if (*f != '%')
            continue;
        for (f++; *f && strchr("-+ #0123456789.*hlzjtqL'", *f); f++) {
            int n = *f == '*' ? va_arg(list, int) : 0;
            if (*f == '.')
                most = 0;
            else if (*f == '*' && f[-1] == '.')
                most = n;
            else if (most >= 0 && *f >= '0' && *f <= '9')
                most = most * 10 + (*f - '0');
            longs += *f == 'l' || *f == 'z' || *f == 'j' || *f == 't' || *f == 'q';
            big |= *f == 'L';
        }
        if (!*f)
            break;
        if (*f == 's' && !longs) {
            const char *s = va_arg(list, const char *);
            if (s)
                look(s, most < 0 ? SIZE_MAX : (size_t)most, pc);
        } else if (strchr("aAeEfFgG", *f)) {
            if (big)
                (void)va_arg(list, long double);
            else
                (void)va_arg(list, double);
        } else if (*f == 'n' || *f == 's' || *f == 'm') {
            fail(ERR_UNSUPPORTED, pc, 0, "%%%c in a format", *f);
        } else if (*f == 'p' || longs || big) {
            (void)va_arg(list, long);
        } else if (*f != '%') {
            (void)va_arg(list, int);
        }
    }
    va_end(list);
}

int X(printf)(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    check_strings(format, list, PC);
    outcome_text(format, list);
    va_end(list);
    return 0;
}

int X(snprintf)(char *to, size_t n, const char *format, ...)
{
    va_list list;
    va_list again;
    va_start(list, format);
    check_strings(format, list, PC);
    va_copy(again, list);
    int r = vsnprintf(NULL, 0, format, list);
    if (n) /* only the bytes that it stores */
        plain((uintptr_t)to, (size_t)r < n ? (size_t)r + 1 : n, true, false, PC);
    vsnprintf(to, n, format, again);
    va_end(again);
    va_end(list);
    return r;
}

int X(puts)(const char *s) { return look(s, SIZE_MAX, PC), print("%s\n", s), 0; }

int X(fprintf)(FILE *o, const char *format, ...)
{
    va_list list;
    (void)o;
    va_start(list, format);
    check_strings(format, list, PC);
    va_end(list);
    return 0;
}

int X(putchar)(int c) { return print("%c", c), c; }
int X(fputs)(const char *s, FILE *o) { (void)o; return look(s, SIZE_MAX, PC), 0; }
int X(fputc)(int c, FILE *o) { (void)o; return c; }
int X(fflush)(FILE *o) { (void)o; return 0; }
size_t X(fwrite)(const void *p, size_t n, size_t m, FILE *o) { (void)o; return plain((uintptr_t)p, n * m, false, false, PC), m; }
void X(perror)(const char *s) { look(s, SIZE_MAX, PC); }

#pragma GCC visibility pop
