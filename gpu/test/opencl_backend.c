/* SPDX-License-Identifier: MIT */
/* The feeder on the first OpenCL device of this machine. */
#include "../../lib/test/allocator.h"
#include "backends.h"
#include "batches.h"
#include "opencl_device.h"
#include "test/forked.h"

#include <lade/convert.h>
#include <stdlib.h>

enum { BATCHES = 60, LATE = 8 };

/* A batch as observed on the device, read back on the consumer's queue. */
struct seen {
    uint64_t rows;
    uint8_t images[ROWS * PIXELS];
    int32_t labels[ROWS];
    uint64_t ids[ROWS];
};

static struct lade_error error;
static struct lade_feeder_batch batch;

static struct lade_feeder *made(struct lade_feeder_config *c)
{
    struct lade_feeder *feeder = NULL;

    c->backend = "opencl";
    cr_assert_eq(lade_feeder_create(&feeder, c, &error), LADE_OK, "%s", error.text);
    return feeder;
}

static cl_command_queue queue_of(struct lade_feeder *feeder)
{
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueue(lade_feeder_native(feeder, 0), lade_feeder_native(feeder, 1), 0, &code);

    cr_assert_eq(code, CL_SUCCESS);
    return queue;
}

/* Enqueues the reads of all tensors after the batch's arrival. */
static void look(struct lade_feeder *feeder, cl_command_queue queue, struct seen *seen, cl_event *last)
{
    void *to[TENSORS] = {seen->images, seen->labels, seen->ids};

    cr_assert_eq(lade_feeder_stream_wait(feeder, &batch, queue, NULL), LADE_OK);
    seen->rows = batch.rows;
    for (unsigned t = 0; t < TENSORS; t++) {
        size_t bytes = lade_shape_bytes(batch.tensor[t].shape);
        cr_assert_eq(clEnqueueReadBuffer(queue, batch.tensor[t].data, CL_FALSE, batch.tensor[t].offset, bytes, to[t], 0,
                                         NULL, t + 1 == TENSORS ? last : NULL),
                     CL_SUCCESS);
    }
}

static void feed(struct lade_feeder_config *c, enum lade_done done, unsigned depth)
{
    struct producer p = {.batches = BATCHES, .last_rows = 3};
    struct seen *seen = calloc(BATCHES, sizeof *seen);
    struct lade_feeder_stats stats;
    int status;

    c->self = &p;
    c->depth = depth;
    struct lade_feeder *feeder = made(c);
    cl_command_queue queue[2] = {queue_of(feeder), queue_of(feeder)};
    while ((status = lade_feeder_next(feeder, &batch, LADE_FOREVER, &error)) == LADE_OK) {
        cl_command_queue mine = queue[batch.number % 2];
        cl_event last = NULL;
        look(feeder, mine, &seen[batch.number], done == LADE_DONE_STREAM ? NULL : &last);
        if (done == LADE_DONE_NOW)
            cr_assert_eq(clWaitForEvents(1, &last), CL_SUCCESS);
        if (done == LADE_DONE_EVENT)
            cr_assert_eq(clFlush(mine), CL_SUCCESS);
        void *handle = done == LADE_DONE_STREAM ? (void *)mine : (void *)last;
        cr_assert_eq(lade_feeder_release(feeder, &batch, done, handle, NULL), LADE_OK);
        if (last)
            clReleaseEvent(last);
    }
    cr_assert_eq(status, LADE_CLOSED, "%s", error.text);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    cr_assert(clFinish(queue[0]) == CL_SUCCESS && clFinish(queue[1]) == CL_SUCCESS);
    for (uint64_t i = 0; i < BATCHES; i++) {
        cr_assert_eq(seen[i].rows, i + 1 == BATCHES ? 3 : ROWS);
        cr_assert_eq(wrong_in(i, seen[i].rows, seen[i].images, seen[i].labels, seen[i].ids), 0);
    }
    lade_feeder_stats(feeder, &stats);
    cr_assert(stats.taken == BATCHES && stats.consumer_waits == 0);
    cr_assert_gt(stats.copies_timed, 0, "the device says how long its copies took");
    clReleaseCommandQueue(queue[0]);
    clReleaseCommandQueue(queue[1]);
    lade_feeder_destroy(feeder);
    free(seen);
}

Test(opencl, all_batches_arrive_whole)
{
    for (unsigned depth = 1; depth <= 4; depth++) {
        struct lade_feeder_config c = config_of(NULL);
        c.fillers = 1 + depth % 2;
        c.consumer_assists = depth > 2;
        c.priority = LADE_PRIORITY_HIGH;
        feed(&c, LADE_DONE_STREAM, depth);
        feed(&c, LADE_DONE_EVENT, depth);
        feed(&c, LADE_DONE_NOW, depth);
    }
}

Test(opencl, in_a_context_of_the_consumer)
{
    struct lade_feeder_config c = config_of(NULL);
    struct device d;

    device_open(&d);
    c.native[0] = d.context;
    feed(&c, LADE_DONE_STREAM, 3);
    c.native[1] = d.id;
    feed(&c, LADE_DONE_STREAM, 3);
    device_close(&d);
}

/* Structures, staging memory and events are from the allocator; each allocation fails once. */
Test(opencl, memory_of_an_allocator)
{
    struct producer p = {.batches = 1};
    struct lade_feeder_config c = config_of(&p);
    struct failing f = {0};
    const struct lade_alloc alloc = {failing_get, failing_put, &f};

    c.backend = "opencl";
    c.priority = LADE_PRIORITY_HIGH;
    c.depth = 2;
    c.alloc = &alloc;
    for (int n = 1; f.calls + 1 >= n; n++) {
        struct lade_feeder *feeder = NULL;
        f.calls = 0;
        f.fail_at = n;
        int status = lade_feeder_create(&feeder, &c, &error);
        cr_assert(status == LADE_NO_MEMORY || status == LADE_OK, "%s", error.text);
        /* The feeder, turns, slots, the device; for each slot memory, its registration, and events. */
        cr_assert_eq(f.live, status == LADE_OK ? 4 + 2 * (2 + 2 + TENSORS) : 0);
        lade_feeder_destroy(feeder);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
    }
    cr_assert_geq(f.calls, 4 + 2 * (2 + 2 + TENSORS));
    f.fail_at = 0;
    feed(&c, LADE_DONE_STREAM, 3);
    cr_assert_eq(f.live, 0);
}

Test(opencl, out_of_memory_of_the_user)
{
    enum { DEPTH = 3, PAGE = 4096 };
    struct lade_feeder_config c = config_of(NULL);
    void *staging[DEPTH];

    for (int i = 0; i < DEPTH; i++)
        staging[i] = aligned_alloc(PAGE, (lade_feeder_bytes(shapes, TENSORS) + PAGE - 1) / PAGE * PAGE);
    c.staging = staging;
    feed(&c, LADE_DONE_STREAM, DEPTH);
    for (int i = 0; i < DEPTH; i++)
        free(staging[i]);
}

Test(opencl, no_such_device)
{
    struct producer p = {.batches = 1};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder *feeder;

    c.backend = "opencl";
    c.device = 1000;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_ABSENT);
    cr_assert_not_null(strstr(error.text, "clGetDeviceIDs"), "%s", error.text);
    c.device = 0;
    c.native[1] = &p;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_INVALID, "a device without its context");
}

/* A slot is not written while the consumer's event is incomplete: the next batch of that slot does not arrive. */
Test(opencl, a_slot_waits_for_its_event)
{
    struct producer p = {.batches = 4};
    struct lade_feeder_config c = config_of(&p);
    cl_int code;

    c.depth = 1;
    struct lade_feeder *feeder = made(&c);
    cl_event open = clCreateUserEvent(lade_feeder_native(feeder, 0), &code);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    cl_mem memory = batch.tensor[0].data;
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_EVENT, open, NULL), LADE_OK);
    /* The next batch may be enqueued, but its copy waits; device memory still holds this one. */
    int status = lade_feeder_next(feeder, &batch, 20000000, &error);
    cr_assert(status == LADE_OK || status == LADE_TIMEOUT, "%d", status);
    cl_command_queue queue = queue_of(feeder);
    uint8_t images[ROWS * PIXELS];
    cr_assert_eq(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof images, images, 0, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < sizeof images; i++)
        cr_assert_eq(images[i], pixel_of(0, i));
    cr_assert_eq(clSetUserEventStatus(open, CL_COMPLETE), CL_SUCCESS);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    clReleaseCommandQueue(queue);
    clReleaseEvent(open);
    lade_feeder_destroy(feeder);
}

/* The status of next after a device failure, and the feeder's error. */
static void lost(struct lade_feeder *feeder, const char *call, int64_t code)
{
    struct lade_device_failure failure;
    int status;

    while ((status = lade_feeder_next(feeder, &batch, LADE_FOREVER, &error)) == LADE_OK)
        (void)lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL);
    cr_assert_eq(status, LADE_DEVICE);
    cr_assert(lade_feeder_failed(feeder, &failure));
    cr_assert(!call || strcmp(failure.call, call) == 0, "%s %lld", failure.call, (long long)failure.code);
    cr_assert_eq(failure.code, code, "%s %lld", failure.call, (long long)failure.code);
    cr_assert_not_null(strstr(error.text, failure.call));
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    lade_feeder_destroy(feeder);
}

/* Work of the consumer that ends with an error: waiting threads get the error. */
Test(opencl, work_that_fails_ends_the_feeder)
{
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    cl_int code;

    struct lade_feeder *feeder = made(&c);
    cl_event work = clCreateUserEvent(lade_feeder_native(feeder, 0), &code);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    /* Failed before any thread waits: PoCL 3.1 ends the process if an event fails that others wait for. */
    cr_assert_eq(clSetUserEventStatus(work, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_EVENT, work, NULL), LADE_OK);
    clReleaseEvent(work);
    lost(feeder, "the consumer's command", CL_OUT_OF_RESOURCES);
}

Test(opencl, a_queue_of_another_context_is_refused)
{
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    struct device other;
    cl_int code;

    device_open(&other);
    c.depth = 1;
    struct lade_feeder *feeder = made(&c);
    cl_event open = clCreateUserEvent(lade_feeder_native(feeder, 0), &code);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_EVENT, open, NULL), LADE_OK);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK); /* its copy waits */
    cr_assert_eq(lade_feeder_stream_wait(feeder, &batch, other.queue, &error), LADE_DEVICE);
    cr_assert(error.status == LADE_DEVICE && strstr(error.text, "opencl: cl"), "%s", error.text);
    (void)lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL);
    cr_assert_eq(clSetUserEventStatus(open, CL_COMPLETE), CL_SUCCESS);
    clReleaseEvent(open);
    lost(feeder, "clEnqueueBarrierWithWaitList", CL_INVALID_CONTEXT);
    device_close(&other);
}

struct inherited {
    struct lade_feeder *feeder;
    struct lade_converter *converter;
    struct lade_feeder_config *config;
    void *queue;
};

static void use_in_child(void *context)
{
    struct inherited *i = context;
    struct lade_feeder *another = NULL;

    child_check(lade_feeder_next(i->feeder, &batch, LADE_FOREVER, &error) == LADE_INVALID);
    child_check(strstr(error.text, "fork()") != NULL);
    child_check(lade_feeder_stream_wait(i->feeder, &batch, i->queue, NULL) == LADE_INVALID);
    child_check(lade_feeder_host_wait(i->feeder, &batch, LADE_FOREVER, NULL) == LADE_INVALID);
    child_check(lade_feeder_release(i->feeder, &batch, LADE_DONE_STREAM, i->queue, NULL) == LADE_INVALID);
    child_check(lade_converter_run(i->converter, &batch.tensor[IMAGES], NULL, i->queue, &error) == LADE_INVALID);
    lade_converter_destroy(i->converter);
    lade_feeder_destroy(i->feeder);
    child_check(lade_feeder_create(&another, i->config, &error) == LADE_INVALID && !another);
    child_check(strstr(error.text, "fork()") != NULL);
}

/* The driver's threads are not in a child, and a call could wait for them forever. */
Test(opencl, a_child_gets_an_error_at_once, .timeout = 60)
{
    static const float table[6] = {1, 1, 1, 0, 0, 0};
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    struct inherited i = {.config = &c};

    i.feeder = made(&c);
    const struct lade_converter_config convert = {
        .backend = "opencl",
        .native = {lade_feeder_native(i.feeder, 0), lade_feeder_native(i.feeder, 1)},
        .pixels = PIXELS / 3,
        .channels = 3,
        .dtype = LADE_F32,
        .table = table,
    };
    cr_assert_eq(lade_converter_create(&i.converter, &convert, &error), LADE_OK, "%s", error.text);
    i.queue = queue_of(i.feeder);
    cr_assert_eq(lade_feeder_next(i.feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    cr_assert(child_runs(use_in_child, &i));
    cr_assert_eq(lade_feeder_stream_wait(i.feeder, &batch, i.queue, NULL), LADE_OK, "here all is as it was");
    cr_assert_eq(lade_feeder_release(i.feeder, &batch, LADE_DONE_STREAM, i.queue, NULL), LADE_OK);
    cr_assert_eq(lade_feeder_next(i.feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    lade_converter_destroy(i.converter);
    clReleaseCommandQueue(i.queue);
    lade_feeder_destroy(i.feeder);
}
