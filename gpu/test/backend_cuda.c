/* SPDX-License-Identifier: MIT */
/* The CUDA backend's code on a stand-in for the runtime: its calls, their order, and its handling of errors. */
#include "../../lib/test/allocator.h"
#include "backends.h"
#include "batches.h"
#include "converter.h"
#include "cuda_standin.h"
#include "object_cuda.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct lade_backend *const cuda = &lade_backend_cuda;
static struct lade_device_failure failure;
static struct lade_feeder_batch batch;
static struct lade_error error;

/* Nothing was leaked, no rule was broken, and the thread has the same device as before. */
static void all_clean(void)
{
    const char *first;
    int device = -1;

    cr_assert_eq(standin_broken(&first), 0, "%s", first);
    cr_assert_eq(standin_left(), 0);
    cr_assert_eq(cudaGetDevice(&device), cudaSuccess);
    cr_assert_eq(device, 0);
    cr_assert_eq(cudaGetLastError(), cudaSuccess, "the consumer's own checks find nothing");
}

static void *opened(unsigned device)
{
    void *self = NULL;

    cr_assert_eq(cuda->open(&self, &(struct lade_backend_config){.device = device}, &failure), LADE_OK);
    return self;
}

static cudaStream_t stream_at(int device)
{
    cudaStream_t stream;

    cr_assert_eq(cudaSetDevice(device), cudaSuccess);
    cr_assert_eq(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0), cudaSuccess);
    cr_assert_eq(cudaSetDevice(0), cudaSuccess);
    return stream;
}

/* As in a child of fork(): memory of the runtime is left to it, the rest is freed. */
Test(cuda, after_lose_the_runtime_is_not_called)
{
    enum { BYTES = 8192 };
    void *self = opened(1), *staging, *device, *event;
    static char pinned[BYTES] __attribute__((aligned(4096)));

    cr_assert_eq(cuda->staging_get(self, BYTES, &staging, &failure), LADE_OK);
    cr_assert_eq(cuda->device_get(self, BYTES, &device, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &event, &failure), LADE_OK);
    cr_assert_eq(cuda->pin(self, pinned, BYTES, &failure), LADE_OK);
    unsigned left = standin_left();
    cr_assert(left > 0);
    cuda->lose(self);
    cuda->event_put(self, event);
    cuda->device_put(self, device, BYTES);
    cuda->unpin(self, pinned, BYTES);
    cuda->staging_put(self, staging, BYTES);
    cuda->close(self);
    cr_assert_eq(standin_left(), left);
}

Test(cuda, a_copy_arrives_and_reports_it)
{
    enum { BYTES = 8192 };
    void *self = opened(1), *staging, *device, *ready;

    cr_assert_eq(cuda->staging_get(self, BYTES, &staging, &failure), LADE_OK);
    cr_assert_eq(cuda->device_get(self, BYTES, &device, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &ready, &failure), LADE_OK);
    cr_assert_eq(cuda->query(self, ready, &failure), 1, "not recorded is complete");
    cr_assert_eq(cuda->copied(self, ready), -1);
    cr_assert_eq((uintptr_t)staging % LADE_DEVICE_ALIGN, 0);
    memset(staging, 7, BYTES);
    standin_gate(false);
    cr_assert_eq(cuda->copy(self, device, staging, BYTES, ready, &failure), LADE_OK);
    cr_assert_eq(cuda->query(self, ready, &failure), 0);
    cr_assert_eq(cudaGetLastError(), cudaSuccess, "that it is not ready is no error");
    standin_gate(true);
    while (cuda->query(self, ready, &failure) == 0)
        ;
    cr_assert_eq(memcmp(staging, device, BYTES), 0);
    cr_assert_geq(cuda->copied(self, ready), 0);
    cuda->event_put(self, ready);
    cuda->device_put(self, device, BYTES);
    cuda->staging_put(self, staging, BYTES);
    cuda->close(self);
    all_clean();
}

/* The consumer's queue as the feeder uses it: marks after a stream or an event, and copies that wait for them. */
static void copies_wait(enum lade_done done)
{
    void *self = opened(1), *staging, *device, *ready, *mark;
    cudaStream_t mine = stream_at(1);
    cudaEvent_t event;

    cr_assert_eq(cudaSetDevice(1), cudaSuccess);
    cr_assert_eq(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    cr_assert_eq(cuda->staging_get(self, 64, &staging, &failure), LADE_OK);
    cr_assert_eq(cuda->device_get(self, 64, &device, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &ready, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &mark, &failure), LADE_OK);
    standin_hold(mine, true);
    if (done == LADE_DONE_EVENT)
        cr_assert_eq(cudaEventRecord(event, mine), cudaSuccess);
    cr_assert_eq(cudaSetDevice(0), cudaSuccess);
    cr_assert_eq(cuda->record(self, mark, done, done == LADE_DONE_EVENT ? (void *)event : (void *)mine, &failure),
                 LADE_OK);
    cr_assert_eq(cuda->after(self, mark, &failure), LADE_OK);
    cr_assert_eq(cuda->copy(self, device, staging, 64, ready, &failure), LADE_OK);
    standin_settle();
    cr_assert_eq(cuda->query(self, mark, &failure), 0);
    cr_assert_eq(cuda->query(self, ready, &failure), 0, "the copy waits for the mark");
    standin_hold(mine, false);
    standin_settle();
    cr_assert(cuda->query(self, mark, &failure) == 1 && cuda->query(self, ready, &failure) == 1);
    cr_assert(cuda->event_native(self, ready) && !cuda->native(self, 0));
    cr_assert_eq(cuda->copied(self, mark), -1);
    cr_assert_eq(cudaSetDevice(1), cudaSuccess);
    cr_assert(cudaStreamDestroy(mine) == cudaSuccess && cudaEventDestroy(event) == cudaSuccess);
    cr_assert_eq(cudaSetDevice(0), cudaSuccess);
    cuda->event_put(self, mark);
    cuda->event_put(self, ready);
    cuda->device_put(self, device, 64);
    cuda->staging_put(self, staging, 64);
    cuda->close(self);
    all_clean();
}

Test(cuda, copies_wait_for_streams)
{
    copies_wait(LADE_DONE_STREAM);
}

Test(cuda, copies_wait_for_events)
{
    copies_wait(LADE_DONE_EVENT);
}

Test(cuda, streams_of_the_consumer_wait_for_copies)
{
    void *self = opened(0), *staging, *device, *ready, *mark;
    cudaStream_t mine = stream_at(0), other = stream_at(0);
    cudaEvent_t behind;

    cr_assert_eq(cudaEventCreateWithFlags(&behind, cudaEventDisableTiming), cudaSuccess);
    cr_assert_eq(cuda->staging_get(self, 64, &staging, &failure), LADE_OK);
    cr_assert_eq(cuda->device_get(self, 64, &device, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &ready, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &mark, &failure), LADE_OK);
    standin_hold(other, true); /* and with it the copy */
    cr_assert_eq(cuda->record(self, mark, LADE_DONE_STREAM, other, &failure), LADE_OK);
    cr_assert_eq(cuda->after(self, mark, &failure), LADE_OK);
    cr_assert_eq(cuda->copy(self, device, staging, 64, ready, &failure), LADE_OK);
    cr_assert_eq(cuda->stream_wait(self, mine, ready, &failure), LADE_OK);
    cr_assert_eq(cudaEventRecord(behind, mine), cudaSuccess);
    standin_settle();
    cr_assert_eq(cudaEventQuery(behind), cudaErrorNotReady);
    (void)cudaGetLastError();
    standin_hold(other, false);
    standin_settle();
    cr_assert_eq(cudaEventQuery(behind), cudaSuccess);
    cr_assert(cudaEventDestroy(behind) == cudaSuccess && cudaStreamDestroy(mine) == cudaSuccess &&
              cudaStreamDestroy(other) == cudaSuccess);
    cuda->event_put(self, mark);
    cuda->event_put(self, ready);
    cuda->device_put(self, device, 64);
    cuda->staging_put(self, staging, 64);
    cuda->close(self);
    all_clean();
}

Test(cuda, no_device_and_no_driver_are_reported)
{
    void *self = NULL;

    cr_assert_eq(cuda->open(&self, &(struct lade_backend_config){.device = STANDIN_DEVICES}, &failure), LADE_ABSENT);
    cr_assert_eq(failure.code, cudaErrorInvalidDevice);
    standin_fail("cudaGetDeviceCount", 1, cudaErrorInsufficientDriver);
    cr_assert_eq(cuda->open(&self, &(struct lade_backend_config){.device = 0}, &failure), LADE_ABSENT);
    cr_assert_str_eq(failure.call, "cudaGetDeviceCount");
    cr_assert_eq(failure.code, cudaErrorInsufficientDriver);
    cr_assert_null(self);
    all_clean();
}

/* Everything from open to close, with one call failing. The status. */
static int life(const char **call)
{
    void *self = NULL, *staging = NULL, *device = NULL, *ready = NULL, *mine = NULL;
    int status =
        cuda->open(&self, &(struct lade_backend_config){.device = 1, .priority = LADE_PRIORITY_HIGH}, &failure);

    *call = failure.call;
    if (status != LADE_OK)
        return status;
    void *user = aligned_alloc(4096, 4096);
    status = cuda->staging_get(self, 64, &staging, &failure);
    if (status == LADE_OK)
        status = cuda->device_get(self, 64, &device, &failure);
    if (status == LADE_OK)
        status = cuda->event_get(self, &ready, &failure);
    int pinned = status == LADE_OK ? status = cuda->pin(self, user, 4096, &failure) : LADE_INVALID;
    if (status == LADE_OK) {
        mine = stream_at(1);
        status = cuda->after(self, ready, &failure);
    }
    if (status == LADE_OK)
        status = cuda->copy(self, device, staging, 64, ready, &failure);
    if (status == LADE_OK)
        status = cuda->stream_wait(self, mine, ready, &failure);
    if (status == LADE_OK)
        status = cuda->record(self, ready, LADE_DONE_STREAM, mine, &failure);
    while (status >= 0 && (status = cuda->query(self, ready, &failure)) == 0)
        ;
    *call = failure.call;
    if (mine)
        (void)cudaStreamDestroy(mine);
    if (pinned == LADE_OK)
        cuda->unpin(self, user, 4096);
    if (ready)
        cuda->event_put(self, ready);
    if (device)
        cuda->device_put(self, device, 64);
    if (staging)
        cuda->staging_put(self, staging, 64);
    cuda->close(self);
    free(user);
    return status;
}

Test(cuda, each_call_that_fails_is_named_and_nothing_is_left)
{
    static const struct {
        const char *call;
        unsigned n;
        int status;
    } cases[] = {
        {"cudaDeviceGetStreamPriorityRange", 1, LADE_DEVICE},
        {"cudaStreamCreateWithPriority", 1, LADE_DEVICE},
        {"cudaStreamCreateWithPriority", 2, LADE_DEVICE},
        {"cudaHostAlloc", 1, LADE_DEVICE},
        {"cudaMalloc", 1, LADE_DEVICE},
        {"cudaEventCreateWithFlags", 1, LADE_DEVICE},
        {"cudaEventCreateWithFlags", 2, LADE_DEVICE},
        {"cudaHostRegister", 1, LADE_DEVICE},
        {"cudaStreamWaitEvent", 1, LADE_DEVICE},
        {"cudaStreamWaitEvent", 2, LADE_DEVICE},
        {"cudaEventRecord", 1, LADE_DEVICE},
        {"cudaMemcpyAsync", 1, LADE_DEVICE},
        {"cudaEventRecord", 2, LADE_DEVICE},
        {"cudaEventRecord", 3, LADE_DEVICE},
        {"cudaEventQuery", 1, LADE_DEVICE},
        {"cudaSetDevice", 1, LADE_DEVICE}, /* open; the even ones restore the device */
        {"cudaSetDevice", 3, LADE_DEVICE}, /* staging_get */
        {"cudaSetDevice", 5, LADE_DEVICE},
        {"cudaSetDevice", 7, LADE_DEVICE},
        {"cudaSetDevice", 9, LADE_DEVICE}, /* pin */
        {"cudaFree", 1, 1},                /* a failure to free is ignored */
    };
    const char *call = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        standin_fail(cases[i].call, cases[i].n, cudaErrorLaunchFailure);
        cr_assert_eq(life(&call), cases[i].status, "%s", cases[i].call);
        if (cases[i].status == LADE_DEVICE) {
            cr_assert_str_eq(call, cases[i].call);
            cr_assert_eq(failure.code, cudaErrorLaunchFailure);
            cr_assert_not_null(strstr(failure.text, "unspecified launch failure"));
        }
        (void)cudaGetLastError();
        all_clean();
    }
    standin_fail("cudaHostAlloc", 1, cudaErrorMemoryAllocation);
    cr_assert_eq(life(&call), LADE_NO_MEMORY);
    all_clean();
    cr_assert_eq(life(&call), 1, "without a failure all goes well");
}

/* The complete feeder on it; kernels on the consumer's stream check the batches. */
static void feed(unsigned depth, unsigned fillers, enum lade_done done)
{
    enum { BATCHES = 200 };
    static const float table[6] = {1, 1, 1, 0, 0, 0};
    struct producer p = {.batches = BATCHES};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder *feeder;
    struct lade_converter_config convert = {
        .device = 1, .pixels = 15, .channels = 3, .dtype = LADE_F32, .table = table};
    void *converter = NULL, *numbers = NULL;
    float *seen;
    struct failing f = {0};
    const struct lade_alloc alloc = {failing_get, failing_put, &f};
    int status;

    c.device = 1;
    c.depth = depth;
    c.fillers = fillers;
    c.alloc = &alloc;
    cr_assert_eq(lade_feeder_create_on(&feeder, cuda, &c, &error), LADE_OK, "%s", error.text);
    cr_assert_geq((unsigned)f.live, 4 + depth * 2, "the feeder, turns, slots, the device, events");
    cr_assert_eq(lade_converter_cuda.create(&converter, &convert, &failure), LADE_OK);
    cudaStream_t stream = stream_at(1);
    cudaEvent_t event;
    cr_assert_eq(cudaSetDevice(1), cudaSuccess);
    cr_assert_eq(cudaMalloc(&numbers, sizeof(float) * BATCHES * ROWS * PIXELS), cudaSuccess);
    cr_assert_eq(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    seen = numbers;
    while ((status = lade_feeder_next(feeder, &batch, LADE_FOREVER, &error)) == LADE_OK) {
        cr_assert_eq(lade_feeder_stream_wait(feeder, &batch, stream, NULL), LADE_OK);
        cr_assert_eq(lade_converter_cuda.run(converter, &batch.tensor[IMAGES], (uint32_t)batch.rows,
                                             seen + batch.number * ROWS * PIXELS, stream, &failure),
                     LADE_OK);
        if (done == LADE_DONE_EVENT)
            cr_assert_eq(cudaEventRecord(event, stream), cudaSuccess);
        cr_assert_eq(
            lade_feeder_release(feeder, &batch, done, done == LADE_DONE_EVENT ? (void *)event : (void *)stream, NULL),
            LADE_OK);
    }
    cr_assert_eq(status, LADE_CLOSED);
    cr_assert_eq(cudaStreamSynchronize(stream), cudaSuccess);
    for (uint64_t b = 0; b < BATCHES; b++)
        for (size_t i = 0; i < ROWS * PIXELS; i++) { /* planes of 15 pixels, 3 for each row */
            size_t row = i / PIXELS, plane = i % PIXELS / 15, pixel = i % 15;
            cr_assert_eq(seen[b * ROWS * PIXELS + i], pixel_of(b, row * PIXELS + pixel * 3 + plane));
        }
    lade_feeder_destroy(feeder);
    lade_converter_cuda.release(converter);
    free(converter);
    cr_assert_eq(f.live, 0);
    cr_assert(cudaFree(numbers) == cudaSuccess && cudaEventDestroy(event) == cudaSuccess &&
              cudaStreamDestroy(stream) == cudaSuccess);
    cr_assert_eq(cudaSetDevice(0), cudaSuccess);
    all_clean();
}

Test(cuda, feeder_on_a_slow_device)
{
    for (unsigned depth = 1; depth <= 4; depth++) {
        standin_delay(20000, depth);
        feed(depth, 1, LADE_DONE_STREAM);
        feed(depth, 2, LADE_DONE_EVENT);
    }
}

Test(cuda, a_lost_device_ends_the_feeder)
{
    for (unsigned n = 1; n < 60; n += 7) {
        struct producer p = {.batches = UINT64_MAX};
        struct lade_feeder_config c = config_of(&p);
        struct lade_feeder *feeder;
        int status;
        cr_assert_eq(lade_feeder_create_on(&feeder, cuda, &c, &error), LADE_OK);
        standin_lose(n, cudaErrorLaunchFailure);
        while ((status = lade_feeder_next(feeder, &batch, LADE_FOREVER, &error)) == LADE_OK)
            (void)lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL);
        cr_assert_eq(status, LADE_DEVICE);
        cr_assert(lade_feeder_failed(feeder, &failure));
        cr_assert_eq(failure.code, cudaErrorLaunchFailure);
        cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
        lade_feeder_destroy(feeder);
        standin_lose(0, cudaSuccess);
        (void)cudaGetLastError();
        all_clean();
    }
}

/* The stand-in detects broken rules. */
Test(standin, notices_broken_rules)
{
    void *self = opened(0), *staging, *device, *ready;
    const char *first;
    char plain[64];

    cr_assert_eq(cuda->staging_get(self, 64, &staging, &failure), LADE_OK);
    cr_assert_eq(cuda->device_get(self, 64, &device, &failure), LADE_OK);
    cr_assert_eq(cuda->event_get(self, &ready, &failure), LADE_OK);
    memset(plain, 1, sizeof plain);
    (void)cuda->copy(self, device, plain, 64, ready, &failure);
    cr_assert_gt(standin_broken(&first), 0);
    cr_assert_not_null(strstr(first, "not pinned"), "%s", first);
    while (cuda->query(self, ready, &failure) == 0)
        ;
    unsigned before = standin_broken(&first);
    standin_gate(false);
    (void)cuda->copy(self, device, staging, 64, ready, &failure);
    memset(staging, 2, 64); /* while the copy is in progress */
    standin_gate(true);
    while (cuda->query(self, ready, &failure) == 0)
        ;
    cr_assert_eq(standin_broken(&first), before + 1);
    (void)cudaSetDevice(1);
    (void)cudaEventQuery(cuda->event_native(self, ready));
    (void)cudaSetDevice(0);
    cr_assert_eq(standin_broken(&first), before + 2);
    cr_assert_gt(standin_left(), 0);
    cuda->event_put(self, ready);
    cuda->device_put(self, device, 64);
    cuda->staging_put(self, staging, 64);
    cuda->close(self);
    cr_assert_eq(standin_left(), 0);
}
