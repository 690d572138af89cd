/* SPDX-License-Identifier: MIT */
/*
 * The feeder on OpenCL 1.2 and above. Staging memory is host memory behind a mapped buffer object, so that the driver
 * knows it and may pin it. Copies run on a separate in-order queue. An event of the feeder is the cl_event of the
 * command that was recorded last.
 */
#include "alloc.h"
#include "backends.h"
#include "heap.h"
#include "opencl.h"

#include <lade/dlpack.h>
#include <pthread.h>
#include <string.h>

enum { PAGE = 4096, WAITS_MAX = 16 };

/* Host memory that the driver knows. */
struct staging {
    struct staging *next;
    void *memory;
    cl_mem buffer;
};

struct opencl {
    const struct lade_alloc *alloc; /* NULL: the C library's */
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    pthread_mutex_t lock; /* of the list, which changes when a feeder is created and freed */
    struct staging *staging;
    bool lost;     /* see lose in backend.h */
    cl_uint waits; /* of the next copy */
    cl_event wait[WAITS_MAX];
};

struct event {
    cl_event now;     /* NULL: complete */
    const char *call; /* the command that it belongs to */
};

/* Whether the device has this extension. */
static bool has_extension(const struct opencl *o, const char *word)
{
    size_t size = 0;
    bool found = false;

    if (clGetDeviceInfo(o->device, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return false;
    char *names = lade_heap_raw(o->alloc, size, 1);
    if (names && clGetDeviceInfo(o->device, CL_DEVICE_EXTENSIONS, size, names, NULL) == CL_SUCCESS)
        found = strstr(names, word) != NULL;
    lade_heap_put(o->alloc, names);
    return found;
}

/* With the priority if the device supports priorities, else without. */
static cl_command_queue make_queue(const struct opencl *o, enum lade_device_priority priority, cl_int *code)
{
    if (priority == LADE_PRIORITY_NORMAL || !has_extension(o, "cl_khr_priority_hints"))
        return clCreateCommandQueue(o->context, o->device, CL_QUEUE_PROFILING_ENABLE, code);
    cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PRIORITY_KHR,
        priority == LADE_PRIORITY_HIGH ? CL_QUEUE_PRIORITY_HIGH_KHR : CL_QUEUE_PRIORITY_LOW_KHR, 0};
    return clCreateCommandQueueWithProperties(o->context, o->device, properties, code);
}

static int opencl_open(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure)
{
    cl_int code;
    struct opencl *o = lade_heap_get(config->alloc, 1, sizeof *o);

    if (!o || pthread_mutex_init(&o->lock, NULL) != 0) {
        lade_heap_put(config->alloc, o);
        return LADE_NO_MEMORY;
    }
    o->alloc = config->alloc;
    int status = lade_opencl_open(&o->context, &o->device, config->device, config->native, failure);
    if (status == LADE_OK) {
        o->queue = make_queue(o, config->priority, &code);
        if (code == CL_SUCCESS) {
            *self = o;
            return LADE_OK;
        }
        clReleaseContext(o->context);
        status = lade_opencl_fail(failure, "clCreateCommandQueue", code);
    }
    pthread_mutex_destroy(&o->lock);
    lade_heap_put(o->alloc, o);
    return status;
}

static void forget_waits(struct opencl *o)
{
    while (o->waits > 0)
        clReleaseEvent(o->wait[--o->waits]);
}

static void opencl_close(void *self)
{
    struct opencl *o = self;

    if (!o->lost) {
        forget_waits(o);
        clReleaseCommandQueue(o->queue);
        clReleaseContext(o->context);
        pthread_mutex_destroy(&o->lock);
    }
    lade_heap_put(o->alloc, o);
}

/* The lock may be held by a thread of the other process. */
static void opencl_lose(void *self)
{
    struct opencl *o = self;

    o->lost = true;
    while (o->staging) {
        struct staging *s = o->staging;
        o->staging = s->next;
        lade_heap_put(o->alloc, s);
    }
}

static int opencl_pin(void *self, void *memory, size_t bytes, struct lade_device_failure *failure)
{
    struct opencl *o = self;
    cl_int code;
    struct staging *s = lade_heap_raw(o->alloc, 1, sizeof *s);

    if (!s)
        return LADE_NO_MEMORY;
    s->memory = memory;
    s->buffer = clCreateBuffer(o->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes, memory, &code);
    if (code != CL_SUCCESS) {
        lade_heap_put(o->alloc, s);
        return lade_opencl_fail(failure, "clCreateBuffer", code);
    }
    /* While it is mapped the host may write it, and its address does not change. */
    (void)clEnqueueMapBuffer(o->queue, s->buffer, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        clReleaseMemObject(s->buffer);
        lade_heap_put(o->alloc, s);
        return lade_opencl_fail(failure, "clEnqueueMapBuffer", code);
    }
    pthread_mutex_lock(&o->lock);
    s->next = o->staging;
    o->staging = s;
    pthread_mutex_unlock(&o->lock);
    return LADE_OK;
}

static void opencl_unpin(void *self, void *memory, size_t bytes)
{
    struct opencl *o = self;
    struct staging **link = &o->staging, *s;

    (void)bytes;
    if (o->lost)
        return;
    pthread_mutex_lock(&o->lock);
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    s = *link;
    if (s)
        *link = s->next;
    pthread_mutex_unlock(&o->lock);
    if (!s)
        return;
    (void)clEnqueueUnmapMemObject(o->queue, s->buffer, memory, 0, NULL, NULL);
    (void)clFinish(o->queue);
    clReleaseMemObject(s->buffer);
    lade_heap_put(o->alloc, s);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static const struct lade_alloc *pages_of(const struct opencl *o)
{
    return o->alloc ? o->alloc : &lade_default;
}

static int opencl_staging_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    const struct lade_alloc *a = pages_of(self);
    size_t whole = whole_pages(bytes);
    void *pages = a->get(a->context, whole, PAGE);

    if (!pages)
        return LADE_NO_MEMORY;
    memset(pages, 0, whole); /* maps the pages before the first batch */
    int status = opencl_pin(self, pages, whole, failure);
    if (status == LADE_OK)
        *memory = pages;
    else
        a->put(a->context, pages, whole);
    return status;
}

static void opencl_staging_put(void *self, void *memory, size_t bytes)
{
    const struct lade_alloc *a = pages_of(self);

    opencl_unpin(self, memory, bytes);
    a->put(a->context, memory, whole_pages(bytes));
}

static int opencl_device_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    const struct opencl *o = self;
    cl_int code;

    *memory = clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clCreateBuffer", code);
}

static void opencl_device_put(void *self, void *memory, size_t bytes)
{
    (void)bytes;
    if (!((const struct opencl *)self)->lost)
        clReleaseMemObject(memory);
}

static int opencl_event_get(void *self, void **event, struct lade_device_failure *failure)
{
    const struct opencl *o = self;

    (void)failure;
    *event = lade_heap_get(o->alloc, 1, sizeof(struct event));
    return *event ? LADE_OK : LADE_NO_MEMORY;
}

static void replace(struct event *e, cl_event next, const char *call)
{
    if (e->now)
        clReleaseEvent(e->now);
    e->now = next;
    e->call = call;
}

static void opencl_event_put(void *self, void *event)
{
    const struct opencl *o = self;

    if (!o->lost)
        replace(event, NULL, NULL);
    lade_heap_put(o->alloc, event);
}

/* 1: complete; 0: not yet; LADE_DEVICE: the command of the event failed. */
static int state_of(const struct event *e, struct lade_device_failure *failure)
{
    cl_int state = CL_COMPLETE, code;

    if (!e->now)
        return 1;
    code = clGetEventInfo(e->now, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clGetEventInfo", code);
    return state == CL_COMPLETE ? 1 : state > 0 ? 0 : lade_opencl_fail(failure, e->call, state);
}

static int opencl_query(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    return state_of(event, failure);
}

/*
 * The next copy runs after the event. An event that failed is reported here, because not every driver passes the
 * failure on to commands that wait for it. A complete event needs no waiting.
 */
static int opencl_after(void *self, void *event, struct lade_device_failure *failure)
{
    struct opencl *o = self;
    const struct event *e = event;
    int state = state_of(e, failure);

    if (state != 0)
        return state < 0 ? state : LADE_OK;
    if (o->waits == WAITS_MAX) { /* one barrier replaces all of them */
        cl_int code = clEnqueueBarrierWithWaitList(o->queue, o->waits, o->wait, NULL);
        forget_waits(o);
        if (code != CL_SUCCESS)
            return lade_opencl_fail(failure, "clEnqueueBarrierWithWaitList", code);
    }
    cl_int code = clRetainEvent(e->now);
    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clRetainEvent", code);
    o->wait[o->waits++] = e->now;
    return LADE_OK;
}

static int opencl_stream_wait(void *self, void *stream, void *event, struct lade_device_failure *failure)
{
    const struct event *e = event;
    int state = state_of(e, failure);

    (void)self;
    if (state != 0)
        return state < 0 ? state : LADE_OK;
    cl_int code = clEnqueueBarrierWithWaitList(stream, 1, &e->now, NULL);
    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clEnqueueBarrierWithWaitList", code);
}

/* A driver need not start a queue that is not flushed, and other queues wait for its commands. */
static int flush(cl_command_queue queue, struct lade_device_failure *failure)
{
    cl_int code = clFlush(queue);

    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clFlush", code);
}

static int opencl_copy(void *self, void *device, const void *staging, size_t bytes, void *ready,
                       struct lade_device_failure *failure)
{
    struct opencl *o = self;
    cl_event event;
    cl_int code = clEnqueueWriteBuffer(o->queue, device, CL_FALSE, 0, bytes, staging, o->waits,
                                       o->waits ? o->wait : NULL, &event);

    forget_waits(o);
    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clEnqueueWriteBuffer", code);
    replace(ready, event, "clEnqueueWriteBuffer");
    return flush(o->queue, failure);
}

static int64_t opencl_copied(void *self, void *ready)
{
    const struct event *e = ready;
    cl_ulong begin = 0, end = 0;

    (void)self;
    if (!e->now ||
        clGetEventProfilingInfo(e->now, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) != CL_SUCCESS ||
        clGetEventProfilingInfo(e->now, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS || end < begin)
        return -1;
    return (int64_t)(end - begin);
}

static int opencl_record(void *self, void *event, enum lade_done done, void *handle,
                         struct lade_device_failure *failure)
{
    cl_event next = NULL;
    cl_int code;

    (void)self;
    switch (done) {
    case LADE_DONE_NOW:
        replace(event, NULL, NULL);
        return LADE_OK;
    case LADE_DONE_STREAM:
        code = clEnqueueMarkerWithWaitList(handle, 0, NULL, &next);
        if (code != CL_SUCCESS)
            return lade_opencl_fail(failure, "clEnqueueMarkerWithWaitList", code);
        replace(event, next, "clEnqueueMarkerWithWaitList");
        return flush(handle, failure);
    case LADE_DONE_EVENT:
        code = clRetainEvent(handle);
        if (code != CL_SUCCESS)
            return lade_opencl_fail(failure, "clRetainEvent", code);
        replace(event, handle, "the consumer's command");
        return LADE_OK;
    }
    return lade_opencl_fail(failure, "record", CL_INVALID_VALUE);
}

static void *opencl_event_native(void *self, void *event)
{
    (void)self;
    return ((struct event *)event)->now;
}

static void *opencl_native(void *self, unsigned which)
{
    const struct opencl *o = self;

    return which == 0 ? (void *)o->context : which == 1 ? (void *)o->device : NULL;
}

const struct lade_backend lade_backend_opencl = {
    .name = "opencl",
    .dlpack_device = kDLOpenCL,
    .dlpack_staging = kDLCPU,
    .copies = true,
    .addresses = false,
    .open = opencl_open,
    .close = opencl_close,
    .staging_get = opencl_staging_get,
    .staging_put = opencl_staging_put,
    .pin = opencl_pin,
    .unpin = opencl_unpin,
    .device_get = opencl_device_get,
    .device_put = opencl_device_put,
    .event_get = opencl_event_get,
    .event_put = opencl_event_put,
    .after = opencl_after,
    .copy = opencl_copy,
    .copied = opencl_copied,
    .record = opencl_record,
    .stream_wait = opencl_stream_wait,
    .query = opencl_query,
    .event_native = opencl_event_native,
    .native = opencl_native,
    .lose = opencl_lose,
};
