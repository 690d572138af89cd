/* SPDX-License-Identifier: MIT */
#include "faulty_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

atomic_long faulty_all;
static atomic_ullong calls;

long faulty_things(void)
{
    return atomic_load(&faulty_all);
}

uint64_t faulty_calls(void)
{
    return atomic_load(&calls);
}

void faulty_die(const char *text)
{
    fprintf(stderr, "faulty: %s\n", text);
    abort();
}

/* Without the thread no lock is needed. */
static void faulty_lock(struct faulty *d)
{
    if (d->left)
        return;
    if (d->process != getpid())
        faulty_die("a call in a child of fork()");
    pthread_mutex_lock(&d->lock);
}

/* Marsaglia 2003. */
unsigned faulty_any(struct faulty *d, unsigned below)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return (unsigned)(d->random >> 11) % below;
}

int faulty_may_fail(struct faulty *d, const char *call, struct lade_device_failure *failure)
{
    if (d->process != getpid())
        faulty_die("a call in a child of fork()");
    bool counts = !d->config.fail_name || strcmp(d->config.fail_name, call) == 0;

    atomic_fetch_add(&calls, 1);
    d->fails += counts;
    if (!d->lost && !(counts && d->fails == d->config.fail_call))
        return LADE_OK;
    /* A failing query reports an earlier failure; the device does nothing after that. */
    d->lost = d->lost || strcmp(call, "query") == 0;
    failure->call = call;
    failure->code = FAULTY_CODE;
    strcpy(failure->text, d->lost ? "the device is lost" : "failed as it was told to");
    return LADE_DEVICE;
}

void faulty_put_operation(struct faulty *d, struct faulty_stream *stream, const struct operation *what)
{
    struct operation *o = malloc(sizeof *o);

    if (!o)
        faulty_die("out of memory");
    *o = *what;
    o->next = NULL;
    if (stream->last)
        stream->last->next = o;
    else
        stream->first = o;
    stream->last = o;
    pthread_cond_broadcast(&d->changed);
}

static void let_go(struct faulty_record *record)
{
    if (record && --record->holds == 0)
        free(record);
}

void faulty_put_record(struct faulty *d, struct faulty_stream *stream, struct faulty_event *event)
{
    struct faulty_record *record = malloc(sizeof *record);

    if (!record)
        faulty_die("out of memory");
    record->holds = 2; /* the event and the stream */
    record->complete = false;
    let_go(event->record);
    event->record = record;
    faulty_put_operation(d, stream, &(struct operation){.what = RECORD, .steps = 1, .record = record});
}

void faulty_put_wait(struct faulty *d, struct faulty_stream *stream, struct faulty_event *event)
{
    if (!event->record)
        return;
    event->record->holds++;
    faulty_put_operation(d, stream, &(struct operation){.what = WAIT, .steps = 1, .record = event->record});
}

bool faulty_is_complete(const struct faulty_event *event)
{
    return !event->record || event->record->complete;
}

void faulty_free_event(struct faulty *d, struct faulty_event *event)
{
    faulty_lock(d);
    let_go(event->record);
    if (!d->left)
        pthread_mutex_unlock(&d->lock);
    free(event);
}

static bool can_run(const struct operation *o)
{
    return o && (o->what != WAIT || o->record->complete);
}

static void free_operation(struct operation *o)
{
    let_go(o->record);
    free(o->argument);
    free(o);
}

/* A random stream that can continue; NULL: none. Locked. */
static struct faulty_stream *choose(struct faulty *d)
{
    unsigned first = faulty_any(d, d->streams);

    for (unsigned i = 0; i < d->streams && !d->hangs && !d->lost; i++) {
        struct faulty_stream *stream = &d->stream[(first + i) % d->streams];
        if (can_run(stream->first))
            return stream;
    }
    return NULL;
}

static void copy_piece(const struct faulty *d, const struct operation *o)
{
    size_t half = o->bytes / 2;

    if (o->step == 0)
        memset(o->to, FAULTY_POISON, o->bytes);
    else if (o->step == 1)
        memcpy(o->to + half, o->from + half, o->bytes - half);
    else if (o->step == 2)
        memcpy(o->to, o->from, half);
    else if (d->config.poison_staging)
        memset(o->from, FAULTY_POISON, o->bytes);
}

static void run_step(struct faulty *d, struct faulty_stream *stream)
{
    struct operation *o = stream->first;

    /* Memory is accessed without the lock, so that a thread sanitizer detects concurrent accesses. */
    d->busy = true;
    pthread_mutex_unlock(&d->lock);
    if (o->what == COPY)
        copy_piece(d, o);
    else if (o->what == KERNEL)
        o->kernel(o->argument, o->step);
    pthread_mutex_lock(&d->lock);
    d->busy = false;
    pthread_cond_broadcast(&d->changed);
    if (++o->step < o->steps)
        return;
    if (o->what == RECORD)
        o->record->complete = true;
    stream->first = o->next;
    if (!stream->first)
        stream->last = NULL;
    free_operation(o);
}

static void *work(void *argument)
{
    struct faulty *d = argument;

    pthread_mutex_lock(&d->lock);
    while (!d->ends) {
        struct faulty_stream *stream = choose(d);
        if (!stream) {
            pthread_cond_wait(&d->changed, &d->lock);
        } else if (faulty_any(d, 256) < d->config.rest) {
            struct timespec rest = {0, (long)faulty_any(d, 20000)};
            pthread_mutex_unlock(&d->lock);
            nanosleep(&rest, NULL);
            pthread_mutex_lock(&d->lock);
        } else {
            run_step(d, stream);
        }
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

int faulty_open(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure)
{
    const struct faulty_config *c = config->native[0];
    struct faulty *d = calloc(1, sizeof *d);

    if (!d || !c)
        faulty_die("no config, or out of memory");
    d->config = *c;
    d->process = getpid();
    d->random = c->seed * 2 + 1;
    d->streams = 2;
    atomic_store(&calls, 0);
    if (c->absent) {
        free(d);
        failure->call = "open";
        failure->code = 100;
        strcpy(failure->text, "no device");
        return LADE_ABSENT;
    }
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    if (pthread_create(&d->thread, NULL, work, d) != 0)
        faulty_die("no thread");
    atomic_fetch_add(&faulty_all, 1);
    *self = d;
    return LADE_OK;
}

static void drop_operations(struct faulty *d)
{
    for (unsigned i = 0; i < d->streams; i++)
        while (d->stream[i].first) {
            struct operation *o = d->stream[i].first;
            d->stream[i].first = o->next;
            free_operation(o);
        }
}

void faulty_close(void *self)
{
    struct faulty *d = self;

    if (!d->left) {
        faulty_lock(d);
        d->ends = true;
        pthread_cond_broadcast(&d->changed);
        pthread_mutex_unlock(&d->lock);
        pthread_join(d->thread, NULL);
    }
    drop_operations(d);
    while (d->user_events) {
        struct faulty_event *event = d->user_events;
        d->user_events = event->next;
        faulty_free_event(d, event);
    }
    if (!d->left) {
        pthread_cond_destroy(&d->changed);
        pthread_mutex_destroy(&d->lock);
    }
    free(d);
    atomic_fetch_sub(&faulty_all, 1);
}

void faulty_leave(void *self)
{
    struct faulty *d = self;

    if (d->process == getpid())
        faulty_die("left where its thread is");
    d->left = true;
}

struct faulty *faulty_of(struct lade_feeder *feeder)
{
    return lade_feeder_native(feeder, 0);
}

struct faulty_stream *faulty_stream(struct faulty *d)
{
    pthread_mutex_lock(&d->lock);
    if (d->streams == STREAMS_MAX)
        faulty_die("too many streams");
    struct faulty_stream *stream = &d->stream[d->streams++];
    pthread_mutex_unlock(&d->lock);
    return stream;
}

struct faulty_event *faulty_event(struct faulty *d)
{
    struct faulty_event *event = calloc(1, sizeof *event);

    if (!event)
        faulty_die("out of memory");
    pthread_mutex_lock(&d->lock);
    event->next = d->user_events;
    d->user_events = event;
    pthread_mutex_unlock(&d->lock);
    return event;
}

void faulty_event_record(struct faulty *d, struct faulty_event *event, struct faulty_stream *stream)
{
    pthread_mutex_lock(&d->lock);
    faulty_put_record(d, stream, event);
    pthread_mutex_unlock(&d->lock);
}

void faulty_launch(struct faulty *d, struct faulty_stream *stream, void (*kernel)(void *argument, unsigned step),
                   void *argument, unsigned steps, const void *memory)
{
    pthread_mutex_lock(&d->lock);
    faulty_put_operation(
        d, stream,
        &(struct operation){.what = KERNEL, .steps = steps, .kernel = kernel, .argument = argument, .memory = memory});
    pthread_mutex_unlock(&d->lock);
}

void faulty_finish(struct faulty *d)
{
    pthread_mutex_lock(&d->lock);
    for (unsigned i = 0; i < d->streams; i++)
        while (d->stream[i].first && !d->lost) {
            pthread_cond_wait(&d->changed, &d->lock);
            i = 0;
        }
    pthread_mutex_unlock(&d->lock);
}

void faulty_hang(struct faulty *d, bool hangs)
{
    pthread_mutex_lock(&d->lock);
    d->hangs = hangs;
    pthread_cond_broadcast(&d->changed);
    while (hangs && d->busy)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

void faulty_lose(struct faulty *d)
{
    pthread_mutex_lock(&d->lock);
    d->lost = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}
