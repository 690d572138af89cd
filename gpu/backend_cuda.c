/* SPDX-License-Identifier: MIT */
/*
 * The feeder on CUDA, by the runtime API. Staging memory is pinned. Copies run on a separate stream that does not wait
 * for the default stream. Every function sets its device for its calls, and restores the device of the thread.
 */
#include "cuda.h"

#include "backends.h"
#include "heap.h"
#include "object_cuda.h"

#include <lade/dlpack.h>
#include <stdio.h>

struct cuda {
    const struct lade_alloc *alloc; /* NULL: the C library's */
    int device;
    cudaStream_t copies;
    cudaStream_t side; /* waits for events of the consumer, so that the copies do not */
    bool lost;         /* see lose in backend.h */
};

struct event {
    cudaEvent_t begin; /* recorded before a copy, for its duration */
    cudaEvent_t done;
    bool timed;
};

int lade_cuda_fail(struct lade_device_failure *failure, const char *call, cudaError_t code)
{
    failure->call = call;
    failure->code = code;
    (void)snprintf(failure->text, sizeof failure->text, "%s: %s", cudaGetErrorName(code), cudaGetErrorString(code));
    (void)cudaGetLastError(); /* reported here; the consumer's own checks must not find it again */
    return LADE_DEVICE;
}

cudaError_t lade_cuda_enter(int device, int *before)
{
    cudaError_t code = cudaGetDevice(before);

    return code == cudaSuccess && *before != device ? cudaSetDevice(device) : code;
}

void lade_cuda_leave(int device, int before)
{
    if (before != device)
        (void)cudaSetDevice(before);
}

/* The priorities of a device: a lower number is more urgent. */
static cudaError_t make_streams(struct cuda *c, enum lade_device_priority priority, const char **call)
{
    int least = 0, greatest = 0;
    cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    *call = "cudaDeviceGetStreamPriorityRange";
    if (code != cudaSuccess)
        return code;
    int level = priority == LADE_PRIORITY_HIGH ? greatest : priority == LADE_PRIORITY_LOW ? least : 0;
    *call = "cudaStreamCreateWithPriority";
    code = cudaStreamCreateWithPriority(&c->copies, cudaStreamNonBlocking, level);
    if (code != cudaSuccess)
        return code;
    code = cudaStreamCreateWithPriority(&c->side, cudaStreamNonBlocking, level);
    if (code != cudaSuccess)
        (void)cudaStreamDestroy(c->copies);
    return code;
}

int lade_cuda_find(unsigned number, struct lade_device_failure *failure)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);

    if (code == cudaSuccess && number < (unsigned)count)
        return LADE_OK;
    (void)lade_cuda_fail(failure, "cudaGetDeviceCount", code == cudaSuccess ? cudaErrorInvalidDevice : code);
    return LADE_ABSENT;
}

static int cuda_open(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure)
{
    const char *call = "cudaSetDevice";
    int before = 0, status = lade_cuda_find(config->device, failure);
    struct cuda *c;

    if (status != LADE_OK)
        return status;
    c = lade_heap_get(config->alloc, 1, sizeof *c);
    if (!c)
        return LADE_NO_MEMORY;
    c->alloc = config->alloc;
    c->device = (int)config->device;
    cudaError_t code = lade_cuda_enter(c->device, &before);
    if (code == cudaSuccess) {
        code = make_streams(c, config->priority, &call);
        lade_cuda_leave(c->device, before);
    }
    if (code != cudaSuccess) {
        lade_heap_put(c->alloc, c);
        return lade_cuda_fail(failure, call, code);
    }
    *self = c;
    return LADE_OK;
}

/* Runs one call at the device of c; CODE is its result. NAME is its name, or that of the call that failed before it. */
#define AT_DEVICE(C, CODE, NAME, CALL)                                                                                 \
    do {                                                                                                               \
        int before_ = 0;                                                                                               \
        (CODE) = lade_cuda_enter((C)->device, &before_);                                                               \
        if ((CODE) == cudaSuccess) {                                                                                   \
            (CODE) = (CALL);                                                                                           \
            lade_cuda_leave((C)->device, before_);                                                                     \
        } else {                                                                                                       \
            (NAME) = "cudaSetDevice";                                                                                  \
        }                                                                                                              \
    } while (0)

/* The same for calls that free: tried even if the device is lost; the result is ignored. */
#define GIVE_BACK(C, CALL)                                                                                             \
    do {                                                                                                               \
        int before_ = (C)->device;                                                                                     \
        if ((C)->lost)                                                                                                 \
            break;                                                                                                     \
        (void)lade_cuda_enter((C)->device, &before_);                                                                  \
        if ((CALL) != cudaSuccess)                                                                                     \
            (void)cudaGetLastError();                                                                                  \
        lade_cuda_leave((C)->device, before_);                                                                         \
    } while (0)

static void cuda_close(void *self)
{
    struct cuda *c = self;

    GIVE_BACK(c, cudaStreamDestroy(c->copies));
    GIVE_BACK(c, cudaStreamDestroy(c->side));
    lade_heap_put(c->alloc, c);
}

static void cuda_lose(void *self)
{
    struct cuda *c = self;

    c->lost = true;
}

static int out_of_memory_or(struct lade_device_failure *failure, const char *call, cudaError_t code)
{
    if (code == cudaSuccess)
        return LADE_OK;
    int status = lade_cuda_fail(failure, call, code);
    return code == cudaErrorMemoryAllocation ? LADE_NO_MEMORY : status;
}

static int cuda_staging_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    void *made = NULL;
    const char *call = "cudaHostAlloc";
    cudaError_t code;

    /* Pages are aligned to more than LADE_DEVICE_ALIGN. Portable: pinned for the contexts of all devices. */
    AT_DEVICE(c, code, call, cudaHostAlloc(&made, bytes, cudaHostAllocPortable));
    if (code == cudaSuccess)
        *memory = made;
    return out_of_memory_or(failure, call, code);
}

/* After a failure copies may still be in progress. */
static void cuda_staging_put(void *self, void *memory, size_t bytes)
{
    const struct cuda *c = self;

    (void)bytes;
    GIVE_BACK(c, cudaStreamSynchronize(c->copies));
    GIVE_BACK(c, cudaFreeHost(memory));
}

static int cuda_pin(void *self, void *memory, size_t bytes, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    const char *call = "cudaHostRegister";
    cudaError_t code;

    AT_DEVICE(c, code, call, cudaHostRegister(memory, bytes, cudaHostRegisterPortable));
    return out_of_memory_or(failure, call, code);
}

static void cuda_unpin(void *self, void *memory, size_t bytes)
{
    const struct cuda *c = self;

    (void)bytes;
    GIVE_BACK(c, cudaStreamSynchronize(c->copies));
    GIVE_BACK(c, cudaHostUnregister(memory));
}

static int cuda_device_get(void *self, size_t bytes, void **memory, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    void *made = NULL;
    const char *call = "cudaMalloc";
    cudaError_t code;

    AT_DEVICE(c, code, call, cudaMalloc(&made, bytes));
    if (code == cudaSuccess)
        *memory = made;
    return out_of_memory_or(failure, call, code);
}

static void cuda_device_put(void *self, void *memory, size_t bytes)
{
    const struct cuda *c = self;

    (void)bytes;
    GIVE_BACK(c, cudaStreamSynchronize(c->copies));
    GIVE_BACK(c, cudaFree(memory));
}

static cudaError_t make_events(struct event *e)
{
    cudaError_t code = cudaEventCreateWithFlags(&e->begin, cudaEventDefault);

    if (code != cudaSuccess)
        return code;
    code = cudaEventCreateWithFlags(&e->done, cudaEventDefault);
    if (code != cudaSuccess)
        (void)cudaEventDestroy(e->begin);
    return code;
}

static int cuda_event_get(void *self, void **event, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    const char *call = "cudaEventCreateWithFlags";
    cudaError_t code;
    struct event *e = lade_heap_get(c->alloc, 1, sizeof *e);

    if (!e)
        return LADE_NO_MEMORY;
    AT_DEVICE(c, code, call, make_events(e));
    if (code != cudaSuccess) {
        lade_heap_put(c->alloc, e);
        return out_of_memory_or(failure, call, code);
    }
    *event = e;
    return LADE_OK;
}

static void cuda_event_put(void *self, void *event)
{
    const struct cuda *c = self;
    const struct event *e = event;

    GIVE_BACK(c, cudaEventDestroy(e->begin));
    GIVE_BACK(c, cudaEventDestroy(e->done));
    lade_heap_put(c->alloc, event);
}

/* An event that was never recorded counts as complete, to CUDA as well. */
static int hold(const struct cuda *c, cudaStream_t stream, const struct event *e, struct lade_device_failure *failure)
{
    const char *call = "cudaStreamWaitEvent";
    cudaError_t code;

    AT_DEVICE(c, code, call, cudaStreamWaitEvent(stream, e->done, 0));
    return code == cudaSuccess ? LADE_OK : lade_cuda_fail(failure, call, code);
}

static int cuda_after(void *self, void *event, struct lade_device_failure *failure)
{
    const struct cuda *c = self;

    return hold(c, c->copies, event, failure);
}

static int cuda_stream_wait(void *self, void *stream, void *event, struct lade_device_failure *failure)
{
    return hold(self, stream, event, failure);
}

static cudaError_t copy_between(const struct cuda *c, void *device, const void *staging, size_t bytes,
                                const struct event *e, const char **call)
{
    *call = "cudaEventRecord";
    cudaError_t code = cudaEventRecord(e->begin, c->copies);

    if (code != cudaSuccess)
        return code;
    *call = "cudaMemcpyAsync";
    code = cudaMemcpyAsync(device, staging, bytes, cudaMemcpyHostToDevice, c->copies);
    if (code != cudaSuccess)
        return code;
    *call = "cudaEventRecord";
    return cudaEventRecord(e->done, c->copies);
}

static int cuda_copy(void *self, void *device, const void *staging, size_t bytes, void *ready,
                     struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    struct event *e = ready;
    const char *call = "";
    cudaError_t code;

    AT_DEVICE(c, code, call, copy_between(c, device, staging, bytes, e, &call));
    e->timed = code == cudaSuccess;
    return code == cudaSuccess ? LADE_OK : lade_cuda_fail(failure, call, code);
}

static int64_t cuda_copied(void *self, void *ready)
{
    const struct cuda *c = self;
    const struct event *e = ready;
    float milliseconds = -1;
    const char *call;
    cudaError_t code;

    if (!e->timed)
        return -1;
    AT_DEVICE(c, code, call, cudaEventElapsedTime(&milliseconds, e->begin, e->done));
    (void)call;
    return code == cudaSuccess && milliseconds >= 0 ? (int64_t)((double)milliseconds * 1e6) : -1;
}

static cudaError_t record_behind(const struct cuda *c, const struct event *e, enum lade_done done, void *handle,
                                 const char **call)
{
    cudaStream_t stream = handle;

    if (done == LADE_DONE_EVENT) {
        *call = "cudaStreamWaitEvent";
        cudaError_t code = cudaStreamWaitEvent(c->side, handle, 0);
        if (code != cudaSuccess)
            return code;
        stream = c->side;
    }
    *call = "cudaEventRecord";
    return cudaEventRecord(e->done, stream);
}

static int cuda_record(void *self, void *event, enum lade_done done, void *handle, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    struct event *e = event;
    const char *call = "";
    cudaError_t code;

    AT_DEVICE(c, code, call, record_behind(c, e, done, handle, &call));
    e->timed = false;
    return code == cudaSuccess ? LADE_OK : lade_cuda_fail(failure, call, code);
}

static int cuda_query(void *self, void *event, struct lade_device_failure *failure)
{
    const struct cuda *c = self;
    const struct event *e = event;
    const char *call = "cudaEventQuery";
    cudaError_t code;

    AT_DEVICE(c, code, call, cudaEventQuery(e->done));
    if (code == cudaSuccess)
        return 1;
    if (code != cudaErrorNotReady)
        return lade_cuda_fail(failure, call, code);
    (void)cudaGetLastError(); /* "not ready" is no error, but the runtime records it as one */
    return 0;
}

static void *cuda_event_native(void *self, void *event)
{
    (void)self;
    return ((struct event *)event)->done;
}

static void *cuda_native(void *self, unsigned which)
{
    (void)self;
    (void)which;
    return NULL;
}

const struct lade_backend lade_backend_cuda = {
    .name = "cuda",
    .dlpack_device = kDLCUDA,
    .dlpack_staging = kDLCUDAHost,
    .copies = true,
    .addresses = true,
    .open = cuda_open,
    .close = cuda_close,
    .staging_get = cuda_staging_get,
    .staging_put = cuda_staging_put,
    .pin = cuda_pin,
    .unpin = cuda_unpin,
    .device_get = cuda_device_get,
    .device_put = cuda_device_put,
    .event_get = cuda_event_get,
    .event_put = cuda_event_put,
    .after = cuda_after,
    .copy = cuda_copy,
    .copied = cuda_copied,
    .record = cuda_record,
    .stream_wait = cuda_stream_wait,
    .query = cuda_query,
    .event_native = cuda_event_native,
    .native = cuda_native,
    .lose = cuda_lose,
};
