/* SPDX-License-Identifier: MIT */
/*
 * Threads, memory and output as the program sees them. The wrapper renames the program's calls, malloc to
 * lade_x_malloc and so on, so that the C library itself stays untouched.
 */
#include "calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#pragma GCC visibility push(default)

/* ---- threads ---- */

/* A handle is the thread's number plus one, so that 0 is never valid. */
int thread_spawn(unsigned long *handle, void *(*start)(void *), int (*start11)(void *), void *arg, uint64_t pc)
{
    if (guessing)
        guess_stop();
    int t = run_child(self->id, self->spawned++);

    if (t < 0)
        fail(ERR_UNSUPPORTED, pc, 0, "more than %d threads in one execution, those that have ended included", MAX_THREADS);
    if (program_private((uintptr_t)arg))
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

void *thread_join(unsigned long handle, uint64_t pc)
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
    return thread_spawn(handle, start, NULL, arg, PC);
}

int X(pthread_join)(pthread_t handle, void **result)
{
    void *r = thread_join(handle, PC);
    if (result) {
        plain((uintptr_t)result, sizeof *result, true, false, PC);
        *result = r;
    }
    return 0;
}

void thread_detach(unsigned long handle, uint64_t pc)
{
    thread_of(handle, pc)->detached = true;
    self->effects++; /* a loop that does it twice does not only wait */
}

int X(pthread_detach)(pthread_t handle)
{
    return thread_detach(handle, PC), 0;
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
    thread_spawn(handle, NULL, start, arg, PC);
    return thrd_success;
}

int X(thrd_join)(thrd_t handle, int *result)
{
    int r = (int)(intptr_t)thread_join(handle, PC);
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
    return thread_detach(handle, PC), thrd_success;
}

_Noreturn void X(thrd_exit)(int result)
{
    self->result = (void *)(intptr_t)result; /* NOLINT */
    thread_exit();
}

/* ---- thread-specific data ---- */

/* A key is its creator's number and how many that thread had created before: the same in every run. */
enum { KEYS = 16, ROUNDS = 4 };

static struct key {
    void (*destructor)(void *);
    uint64_t run; /* in which it was created, plus one; 0: deleted */
} key[MAX_THREADS * KEYS];

static struct key *key_of(unsigned k, uint64_t pc)
{
    if (k >= MAX_THREADS * KEYS || key[k].run != statistics.runs + 1)
        fail(ERR_THREAD, pc, 0, "no such key of thread-specific data");
    return &key[k];
}

static void key_create(unsigned *out, void (*destructor)(void *), uint64_t pc)
{
    if (guessing)
        guess_stop();
    if (self->keys_created == KEYS)
        fail(ERR_UNSUPPORTED, pc, 0, "more than %d keys created by one thread", KEYS);
    unsigned k = (unsigned)(self->id * KEYS + self->keys_created++);
    self->effects++;
    key[k] = (struct key){destructor, statistics.runs + 1};
    plain((uintptr_t)out, sizeof *out, true, false, pc);
    *out = k;
}

static struct specific *specific_of(unsigned k)
{
    for (int i = 0; i < self->specifics; i++)
        if (self->specific[i].key == k)
            return &self->specific[i];
    return NULL;
}

static void *get_specific(unsigned k, uint64_t pc)
{
    key_of(k, pc);
    const struct specific *s = specific_of(k);
    return s ? s->value : NULL;
}

static void set_specific(unsigned k, const void *value, uint64_t pc)
{
    if (guessing)
        guess_stop();
    key_of(k, pc);
    struct specific *s = specific_of(k);
    if (!s && self->specifics == SPECIFICS)
        fail(ERR_UNSUPPORTED, pc, 0, "values for more than %d keys in one thread", SPECIFICS);
    if (!s)
        s = &self->specific[self->specifics++];
    self->effects++; /* a loop that stores another value each time does not only wait */
    *s = (struct specific){k, (void *)(uintptr_t)value}; /* NOLINT */
}

/* The thread ends: its values go to the destructors of their keys, which may set new ones. */
void keys_end(void)
{
    bool left = true;

    for (int round = 0; round < ROUNDS && left; round++) {
        left = false;
        for (int i = 0; i < self->specifics; i++) {
            const struct key *k = &key[self->specific[i].key];
            void *value = self->specific[i].value;
            self->specific[i].value = NULL;
            if (!value || !k->destructor || k->run != statistics.runs + 1)
                continue;
            left = true;
            k->destructor(value);
        }
    }
}

static void key_delete(unsigned k, uint64_t pc)
{
    if (guessing)
        guess_stop();
    key_of(k, pc)->run = 0;
    self->effects++;
}

int X(pthread_key_create)(pthread_key_t *k, void (*destructor)(void *)) { return key_create(k, destructor, PC), 0; }
int X(pthread_key_delete)(pthread_key_t k) { return key_delete(k, PC), 0; }
void *X(pthread_getspecific)(pthread_key_t k) { return get_specific(k, PC); }
int X(pthread_setspecific)(pthread_key_t k, const void *value) { return set_specific(k, value, PC), 0; }
int X(tss_create)(tss_t *k, tss_dtor_t destructor) { return key_create(k, destructor, PC), thrd_success; }
void X(tss_delete)(tss_t k) { key_delete(k, PC); }
void *X(tss_get)(tss_t k) { return get_specific(k, PC); }
int X(tss_set)(tss_t k, void *value) { return set_specific(k, value, PC), thrd_success; }

/* Scheduling hints have no effect here. */
int X(sched_yield)(void) { return 0; }
void X(thrd_yield)(void) {}
int X(usleep)(unsigned us) { (void)us; return 0; }
unsigned X(sleep)(unsigned s) { (void)s; return 0; }
int X(nanosleep)(const void *a, void *b) { (void)a, (void)b; return 0; }
int X(thrd_sleep)(const void *a, void *b) { (void)a, (void)b; return 0; }

/* The clock stands still: a wait with a deadline may time out at any point, whatever the deadline. */
static void clock_read(struct timespec *out, uint64_t pc)
{
    statistics.clock = true;
    plain((uintptr_t)out, sizeof *out, true, false, pc);
    *out = (struct timespec){.tv_sec = 1};
}

int X(clock_gettime)(clockid_t id, struct timespec *out) { (void)id; return clock_read(out, PC), 0; }
int X(timespec_get)(struct timespec *out, int base) { return clock_read(out, PC), base; }

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

/* ---- functions that are not modelled ---- */

/* The wrapper makes the program call this instead, with the function's name. */
_Noreturn void lade_explore_refused(const char *name, const char *shown);
_Noreturn void lade_explore_refused(const char *name, const char *shown)
{
    fail(ERR_UNSUPPORTED, PC, 0, "%s is not modelled (--allow %s runs it natively)", shown, name);
    abort();
}

/* And this one at the start of a function that does what is not modelled. */
_Noreturn void lade_explore_unseen(const char *what);
_Noreturn void lade_explore_unseen(const char *what)
{
    fail(ERR_UNSUPPORTED, PC, 0, "%s", what);
    abort();
}

/* How programs describe their fences to the sanitizer, which are modelled here. */
void X(AnnotateHappensBefore)(const char *file, int line, const volatile void *p) { (void)file, (void)line, (void)p; }
void X(AnnotateHappensAfter)(const char *file, int line, const volatile void *p) { (void)file, (void)line, (void)p; }
void __tsan_acquire(void *p) { (void)p; }
void __tsan_release(void *p) { (void)p; }

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
    lifetime_end();
    ask(OP_EXIT, NULL, 0, 0, RELAXED, 0, PC);
    abort();
}

void X(__VERIFIER_assume)(int c)
{
    if (c) /* gcc extends a _Bool that it passes */
        return;
    ask(OP_ASSUME, NULL, 0, 0, RELAXED, 0, PC);
}

/* ---- choices ---- */

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
