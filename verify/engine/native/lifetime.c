/* SPDX-License-Identifier: MIT */
/*
 * What runs before main and after it, all in the program's own threads: constructors and destructors of static and of
 * thread-local objects, atexit. Constructors run in thread 0 before main, the rest when main returns, exit is called,
 * or a thread ends.
 */
#include "calls.h"

#include <stdlib.h>

struct stage {
    uint64_t priority; /* the lower the earlier; bit 32: after main */
    void (*function)(void);
};

static struct stage *stages;
static size_t stage_count;

static int by_priority(const void *a, const void *b)
{
    const struct stage *x = *(const struct stage *const *)a, *y = *(const struct stage *const *)b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x < y ? -1 : 1;
}

/* The wrapper's table of what gcc would have left to the loader. */
void lifetime_init(const void *from, const void *to)
{
    size_t n = from ? (size_t)((const char *)to - (const char *)from) / sizeof *stages : 0;
    const struct stage **sorted = malloc((n + 1) * sizeof *sorted);

    stages = malloc((n + 1) * sizeof *stages);
    if (!stages || !sorted)
        engine_bug("out of memory");
    for (size_t i = 0; i < n; i++)
        sorted[i] = (const struct stage *)from + i;
    qsort(sorted, n, sizeof *sorted, by_priority);
    for (size_t i = 0; i < n; i++)
        stages[i] = *sorted[i];
    stage_count = n;
    free(sorted);
}

/* ---- destructors ---- */

/*
 * The order in which threads run natively is not a function of the graph. So destructors of static objects run in
 * the reverse of an order that is one and that extends happens-before: by the sum of the clock at registration.
 */
struct ending {
    void (*function)(void *);
    void *arg;
    int thread, epoch, number;
    long when;
    bool local; /* at the end of its thread */
};

static struct ending *endings;
static int ending_count, ending_room;

void lifetime_begin_run(void)
{
    ending_count = 0;
}

static void add_ending(void (*function)(void *), void *arg, bool local)
{
    struct ending e = {.function = function, .arg = arg, .local = local, .thread = self->id, .epoch = self->done, .number = ending_count};

    if (guessing)
        guess_stop();
    for (int t = 0; t < MAX_THREADS; t++)
        e.when += self->now.n[t];
    if (ending_count == ending_room) {
        ending_room = ending_room ? ending_room * 2 : 16;
        endings = realloc(endings, (size_t)ending_room * sizeof *endings);
        if (!endings)
            engine_bug("out of memory");
    }
    endings[ending_count++] = e;
    self->effects++;
}

static bool later(const struct ending *a, const struct ending *b)
{
    if (a->when != b->when)
        return a->when > b->when;
    return a->thread != b->thread ? a->thread > b->thread : a->number > b->number;
}

/* The last one that is left and that happens before this point of the thread. */
static struct ending *last_ending(bool local)
{
    struct ending *best = NULL;

    for (int i = 0; i < ending_count; i++) {
        struct ending *e = &endings[i];
        bool mine = e->thread == self->id;
        if (e->function && e->local == local && (mine || (!local && self->now.n[e->thread] > e->epoch)) && (!best || later(e, best)))
            best = e;
    }
    return best;
}

static void run_endings(bool local)
{
    for (struct ending *e = last_ending(local); e; e = last_ending(local)) {
        void (*function)(void *) = e->function;
        e->function = NULL;
        function(e->arg);
    }
}

void lifetime_start(void)
{
    for (size_t i = 0; i < stage_count && stages[i].priority >> 32 == 0; i++)
        stages[i].function();
}

void lifetime_thread_ends(void)
{
    run_endings(true);
}

/* The process ends: main has returned, or the running thread has called exit. */
void lifetime_end(void)
{
    run_endings(true);
    run_endings(false);
    for (size_t i = stage_count; i-- > 0 && stages[i].priority >> 32;)
        stages[i].function();
}

#pragma GCC visibility push(default)

int X(__cxa_atexit)(void (*function)(void *), void *arg, void *object)
{
    (void)object;
    return add_ending(function, arg, false), 0;
}

int X(__cxa_thread_atexit)(void (*function)(void *), void *arg, void *object)
{
    (void)object;
    return add_ending(function, arg, true), 0;
}

int X(atexit)(void (*function)(void))
{
    return add_ending((void (*)(void *))(uintptr_t)function, NULL, false), 0; /* NOLINT */
}

#pragma GCC visibility pop
