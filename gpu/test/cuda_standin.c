/* SPDX-License-Identifier: MIT */
/* Streams as threads, and their control by a test. */
#include "cuda_standin_inside.h"

#include "cuda.h"

#include <lade/convert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct standin standin = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local int standin_current;
static _Thread_local cudaError_t last_error;

enum kind { COPY, BACK, RECORD, WAIT, F32, F16 };

struct work {
    struct work *next;
    enum kind kind;
    void *to;
    const void *from;
    const float *table;
    uint64_t bytes, sum; /* of from; sum when the copy was enqueued */
    uint64_t to_bytes;
    uint32_t images, pixels, channels;
    struct CUevent_st *event;
    uint64_t ticket;
};

struct CUstream_st {
    struct CUstream_st *next;
    int device;
    pthread_t thread;
    struct work *first, **last; /* the first is in progress, unless the stream is held */
    bool held, ends;
};

unsigned standin_broken(const char **first)
{
    pthread_mutex_lock(&standin.lock);
    unsigned n = standin.broken;
    pthread_mutex_unlock(&standin.lock);
    *first = standin.broken_first;
    return n;
}

void standin_breaks(const char *rule, const char *call)
{
    if (standin.broken++ == 0)
        (void)snprintf(standin.broken_first, sizeof standin.broken_first, "%s: %s", call, rule);
}

#define COUNT(LIST, TYPE)                                                                                              \
    for (const struct TYPE *each = (LIST); each; each = each->next)                                                    \
    n++

unsigned standin_left(void)
{
    unsigned n = 0;

    pthread_mutex_lock(&standin.lock);
    COUNT(standin.streams, CUstream_st);
    COUNT(standin.events, CUevent_st);
    COUNT(standin.pieces, standin_piece);
    pthread_mutex_unlock(&standin.lock);
    return n;
}

void standin_gate(bool open)
{
    pthread_mutex_lock(&standin.lock);
    standin.gate_closed = !open;
    pthread_cond_broadcast(&standin.changed);
    pthread_mutex_unlock(&standin.lock);
}

void standin_hold(cudaStream_t stream, bool held)
{
    pthread_mutex_lock(&standin.lock);
    stream->held = held;
    pthread_cond_broadcast(&standin.changed);
    pthread_mutex_unlock(&standin.lock);
}

/* Whether it is idle or blocked. */
static bool rests(const struct CUstream_st *s)
{
    const struct work *w = s->first;

    return !w || s->held || (w->kind == WAIT && w->event->complete < w->ticket);
}

void standin_settle(void)
{
    pthread_mutex_lock(&standin.lock);
    const struct CUstream_st *s = standin.streams;
    while (s) {
        if (rests(s)) {
            s = s->next;
            continue;
        }
        pthread_cond_wait(&standin.changed, &standin.lock);
        s = standin.streams;
    }
    pthread_mutex_unlock(&standin.lock);
}

void standin_delay(int64_t most, uint64_t seed)
{
    pthread_mutex_lock(&standin.lock);
    standin.delay_most = most;
    standin.delay_state = seed;
    pthread_mutex_unlock(&standin.lock);
}

void standin_fail(const char *call, unsigned n, cudaError_t code)
{
    pthread_mutex_lock(&standin.lock);
    (void)snprintf(standin.fail_call, sizeof standin.fail_call, "%s", call);
    standin.fail_n = n;
    standin.fail_code = code;
    pthread_mutex_unlock(&standin.lock);
}

void standin_lose(unsigned n, cudaError_t code)
{
    pthread_mutex_lock(&standin.lock);
    standin.lose_n = n;
    standin.lose_code = code;
    if (n == 0)
        standin.lost = cudaSuccess;
    pthread_mutex_unlock(&standin.lock);
}

cudaError_t standin_begin(const char *call)
{
    pthread_mutex_lock(&standin.lock);
    if (standin.fail_n > 0 && strcmp(standin.fail_call, call) == 0 && --standin.fail_n == 0)
        return standin.fail_code;
    return standin.lost;
}

cudaError_t standin_end(cudaError_t code)
{
    pthread_cond_broadcast(&standin.changed);
    pthread_mutex_unlock(&standin.lock);
    if (code != cudaSuccess)
        last_error = code;
    return code;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t code = last_error;

    last_error = cudaSuccess;
    return code;
}

bool standin_lies_in(bool on_device, const void *begins, uint64_t bytes)
{
    const char *b = begins;

    for (const struct standin_piece *p = standin.pieces; p; p = p->next)
        if (p->on_device == on_device && b >= p->begin && b + bytes <= p->begin + p->bytes)
            return true;
    return false;
}

static uint64_t sum_of(const void *memory, uint64_t bytes)
{
    const unsigned char *b = memory;
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* Fowler, Noll and Vo */

    for (uint64_t i = 0; i < bytes; i++)
        sum = (sum ^ b[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A device that is slow. */
static void dawdle(void)
{
    if (standin.delay_most <= 0)
        return;
    standin.delay_state = standin.delay_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    int64_t time = (int64_t)((standin.delay_state >> 33) % (uint64_t)standin.delay_most);
    pthread_mutex_unlock(&standin.lock);
    nanosleep(&(struct timespec){time / 1000000000, time % 1000000000}, NULL);
    pthread_mutex_lock(&standin.lock);
}

/* The rules for memory hold from the call to the end of the work. */
static void check_memory(const struct work *w, const char *when)
{
    if (w->kind == BACK) {
        if (!standin_lies_in(true, w->from, w->bytes) || !standin_lies_in(false, w->to, w->bytes))
            standin_breaks("memory is copied back that is not of the device, or to what is not pinned", when);
        return;
    }
    if (w->kind == COPY && !standin_lies_in(false, w->from, w->bytes))
        standin_breaks("memory is copied from that is not pinned", when);
    if (w->kind != COPY && w->bytes > 0 && !standin_lies_in(true, w->from, w->bytes))
        standin_breaks("a kernel reads what is no memory of the device", when);
    if (w->to_bytes > 0 && !standin_lies_in(true, w->to, w->to_bytes))
        standin_breaks("what is written is no memory of the device", when);
}

/* Without the lock: the stream owns the bytes. */
static void do_work(const struct work *w)
{
    switch (w->kind) {
    case COPY:
    case BACK:
        memcpy(w->to, w->from, w->bytes);
        break;
    case F32:
        lade_convert_f32(w->from, w->to, w->table, w->images, w->pixels, w->channels);
        break;
    case F16:
        lade_convert_f16(w->from, w->to, w->table, w->images, w->pixels, w->channels);
        break;
    case RECORD:
    case WAIT:
        break;
    }
}

static void carry_out(struct work *w)
{
    dawdle();
    if (w->kind == WAIT)
        while (w->event->complete < w->ticket && !standin.lost)
            pthread_cond_wait(&standin.changed, &standin.lock);
    if (standin.lose_n > 0 && --standin.lose_n == 0)
        standin.lost = standin.lose_code;
    if (standin.lost)
        return;
    if (w->to_bytes > 0) {
        check_memory(w, "while a stream works");
        pthread_mutex_unlock(&standin.lock);
        do_work(w);
        uint64_t sum = w->kind == COPY ? sum_of(w->from, w->bytes) : w->sum;
        pthread_mutex_lock(&standin.lock);
        check_memory(w, "at the end of the work");
        if (sum != w->sum)
            standin_breaks("memory changed while it was copied from", "cudaMemcpyAsync");
    }
    if (w->kind == RECORD && w->ticket > w->event->complete) {
        w->event->complete = w->ticket;
        w->event->at = now();
    }
}

void standin_drop(struct CUevent_st *event)
{
    if (event && --event->users == 0)
        free(event);
}

static void *run(void *argument)
{
    struct CUstream_st *s = argument;

    pthread_mutex_lock(&standin.lock);
    while (s->first || !s->ends) {
        struct work *w = s->first;
        if (!w || standin.gate_closed || s->held) {
            pthread_cond_wait(&standin.changed, &standin.lock);
            continue;
        }
        carry_out(w);
        s->first = w->next;
        if (!s->first)
            s->last = &s->first;
        standin_drop(w->event);
        free(w);
        pthread_cond_broadcast(&standin.changed);
    }
    pthread_mutex_unlock(&standin.lock);
    return NULL;
}

static void put(struct CUstream_st *s, const struct work *work)
{
    struct work *w = malloc(sizeof *w);

    if (!w)
        abort();
    *w = *work;
    w->next = NULL;
    if (w->event)
        w->event->users++;
    *s->last = w;
    s->last = &w->next;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    cudaError_t code = standin_begin("cudaStreamCreateWithPriority");
    struct CUstream_st *s;

    if (code != cudaSuccess)
        return standin_end(code);
    if (flags != cudaStreamNonBlocking || priority > 0 || priority < -5)
        standin_breaks("flags or priority", "cudaStreamCreateWithPriority");
    s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->device = standin_current;
    s->last = &s->first;
    s->next = standin.streams;
    standin.streams = s;
    *stream = s;
    if (pthread_create(&s->thread, NULL, run, s) != 0)
        abort();
    return standin_end(code);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t code = standin_begin("cudaStreamDestroy");
    struct CUstream_st *s = NULL;

    STANDIN_UNLINK(standin.streams, CUstream_st, *link_ == stream, s);
    if (!s) {
        standin_breaks("no such stream", "cudaStreamDestroy");
        return standin_end(cudaErrorInvalidResourceHandle);
    }
    s->ends = true;
    pthread_cond_broadcast(&standin.changed);
    pthread_mutex_unlock(&standin.lock);
    pthread_join(s->thread, NULL);
    free(s);
    pthread_mutex_lock(&standin.lock);
    return standin_end(code);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t code = standin_begin("cudaStreamSynchronize");

    STANDIN_LIVES(standin.streams, CUstream_st, stream, "cudaStreamSynchronize");
    while (stream->first)
        pthread_cond_wait(&standin.changed, &standin.lock);
    return standin_end(code == cudaSuccess ? standin.lost : code);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t code = standin_begin("cudaStreamWaitEvent");

    (void)flags;
    if (code != cudaSuccess)
        return standin_end(code);
    STANDIN_LIVES(standin.streams, CUstream_st, stream, "cudaStreamWaitEvent");
    STANDIN_LIVES(standin.events, CUevent_st, event, "cudaStreamWaitEvent");
    put(stream, &(struct work){.kind = WAIT, .event = event, .ticket = event->recorded});
    return standin_end(code);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t code = standin_begin("cudaEventRecord");

    if (code != cudaSuccess)
        return standin_end(code);
    STANDIN_LIVES(standin.streams, CUstream_st, stream, "cudaEventRecord");
    STANDIN_LIVES(standin.events, CUevent_st, event, "cudaEventRecord");
    put(stream, &(struct work){.kind = RECORD, .event = event, .ticket = ++event->recorded});
    return standin_end(code);
}

/* Work on memory. */
static cudaError_t ask(const char *call, struct CUstream_st *stream, struct work *w)
{
    cudaError_t code = standin_begin(call);

    if (code != cudaSuccess)
        return standin_end(code);
    STANDIN_LIVES(standin.streams, CUstream_st, stream, call);
    check_memory(w, call);
    if (w->kind == COPY)
        w->sum = sum_of(w->from, w->bytes);
    put(stream, w);
    return standin_end(code);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct work w = {.kind = kind == cudaMemcpyHostToDevice ? COPY : BACK,
                     .to = to,
                     .to_bytes = bytes,
                     .from = from,
                     .bytes = bytes};

    return ask("cudaMemcpyAsync", stream, &w);
}

/* The kernels: the same text, as C. */
cudaError_t lade_cuda_convert_f32(cudaStream_t stream, const uint8_t *from, uint64_t first, float *to,
                                  const float *table, uint32_t images, uint32_t pixels, uint32_t channels)
{
    uint64_t numbers = (uint64_t)images * pixels * channels;

    return ask("lade_kernel_f32", stream,
               &(struct work){.kind = F32,
                              .to = to,
                              .to_bytes = numbers * sizeof *to,
                              .from = from + first,
                              .bytes = numbers,
                              .table = table,
                              .images = images,
                              .pixels = pixels,
                              .channels = channels});
}

cudaError_t lade_cuda_convert_f16(cudaStream_t stream, const uint8_t *from, uint64_t first, uint16_t *to,
                                  const float *table, uint32_t images, uint32_t pixels, uint32_t channels)
{
    uint64_t numbers = (uint64_t)images * pixels * channels;

    return ask("lade_kernel_f16", stream,
               &(struct work){.kind = F16,
                              .to = to,
                              .to_bytes = numbers * sizeof *to,
                              .from = from + first,
                              .bytes = numbers,
                              .table = table,
                              .images = images,
                              .pixels = pixels,
                              .channels = channels});
}
