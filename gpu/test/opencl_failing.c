/* SPDX-License-Identifier: MIT */
/*
 * The OpenCL backend with failing calls: the linker puts functions of this file in front of the driver's. They fail on
 * request, and count created and freed objects.
 */
#include "backends.h"
#include "batches.h"
#include "opencl.h"
#include "test/forked.h"

#include <criterion/criterion.h>

static const char *fail_call = ""; /* set while no feeder runs */
static atomic_int fail_n, left;    /* the call that fails, counted down; objects that were not given back */
static atomic_ullong made_calls;

static bool fails(const char *call)
{
    atomic_fetch_add(&made_calls, 1);
    return strcmp(call, fail_call) == 0 && atomic_fetch_sub(&fail_n, 1) == 1;
}

/* A function that creates an object, with its code as last argument. */
#define MAKES(TYPE, NAME, PARAMETERS, ARGUMENTS, CODE)                                                                 \
    TYPE __real_##NAME PARAMETERS;                                                                                     \
    TYPE __wrap_##NAME PARAMETERS;                                                                                     \
    TYPE __wrap_##NAME PARAMETERS                                                                                      \
    {                                                                                                                  \
        if (fails(#NAME)) {                                                                                            \
            *(CODE) = CL_OUT_OF_RESOURCES;                                                                             \
            return NULL;                                                                                               \
        }                                                                                                              \
        TYPE made = __real_##NAME ARGUMENTS;                                                                           \
        atomic_fetch_add(&left, made != NULL);                                                                         \
        return made;                                                                                                   \
    }

/* One that returns a code; on success it changes the number of objects by CHANGE. */
#define ANSWERS(NAME, PARAMETERS, ARGUMENTS, CHANGE)                                                                   \
    cl_int __real_##NAME PARAMETERS;                                                                                   \
    cl_int __wrap_##NAME PARAMETERS;                                                                                   \
    cl_int __wrap_##NAME PARAMETERS                                                                                    \
    {                                                                                                                  \
        if (fails(#NAME))                                                                                              \
            return CL_OUT_OF_RESOURCES;                                                                                \
        cl_int code = __real_##NAME ARGUMENTS;                                                                         \
        if (code == CL_SUCCESS)                                                                                        \
            atomic_fetch_add(&left, (CHANGE));                                                                         \
        return code;                                                                                                   \
    }

typedef void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);

MAKES(cl_context, clCreateContext,
      (const cl_context_properties *p, cl_uint n, const cl_device_id *d, notify f, void *u, cl_int *code),
      (p, n, d, f, u, code), code)
MAKES(cl_command_queue, clCreateCommandQueue,
      (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *code), (c, d, p, code), code)
MAKES(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t n, void *h, cl_int *code), (c, f, n, h, code), code)
ANSWERS(clRetainContext, (cl_context c), (c), 1)
ANSWERS(clReleaseContext, (cl_context c), (c), -1)
ANSWERS(clReleaseCommandQueue, (cl_command_queue q), (q), -1)
ANSWERS(clReleaseMemObject, (cl_mem m), (m), -1)
ANSWERS(clRetainEvent, (cl_event e), (e), 1)
ANSWERS(clReleaseEvent, (cl_event e), (e), -1)
ANSWERS(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *m), (n, p, m), 0)
ANSWERS(clFlush, (cl_command_queue q), (q), 0)
ANSWERS(clGetEventInfo, (cl_event e, cl_event_info i, size_t n, void *v, size_t *m), (e, i, n, v, m), 0)
ANSWERS(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *p, cl_uint w, const cl_event *l,
         cl_event *e),
        (q, m, b, o, n, p, w, l, e), e != NULL)
ANSWERS(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint w, const cl_event *l, cl_event *e), (q, w, l, e),
        e != NULL)
ANSWERS(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint w, const cl_event *l, cl_event *e), (q, w, l, e),
        e != NULL)

void *__real_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t n, cl_uint w,
                                const cl_event *l, cl_event *e, cl_int *code);
void *__wrap_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t n, cl_uint w,
                                const cl_event *l, cl_event *e, cl_int *code);
void *__wrap_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t n, cl_uint w,
                                const cl_event *l, cl_event *e, cl_int *code)
{
    if (!fails("clEnqueueMapBuffer"))
        return __real_clEnqueueMapBuffer(q, m, b, f, o, n, w, l, e, code);
    *code = CL_OUT_OF_RESOURCES;
    return NULL;
}

enum { BATCHES = 40, NEVER = 0 };

static struct lade_error error;
static struct lade_device_failure failure;

/* Feeds all batches, with one call failing. The status of creation or next. */
static int feed(const char *call, int n, enum lade_done done)
{
    struct producer p = {.batches = BATCHES};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder *feeder;
    struct lade_feeder_batch batch;
    cl_int code;

    c.backend = "opencl";
    fail_call = call;
    atomic_store(&fail_n, n);
    failure.call = "";
    int status = lade_feeder_create(&feeder, &c, &error);
    if (status != LADE_OK)
        return status;
    cl_command_queue queue =
        clCreateCommandQueue(lade_feeder_native(feeder, 0), lade_feeder_native(feeder, 1), 0, &code);
    while ((status = lade_feeder_next(feeder, &batch, LADE_FOREVER, &error)) == LADE_OK) {
        int waited = lade_feeder_stream_wait(feeder, &batch, queue, NULL);
        cr_assert(waited == LADE_OK || waited == LADE_DEVICE, "%d", waited);
        (void)lade_feeder_release(feeder, &batch, done, queue, NULL);
    }
    (void)lade_feeder_failed(feeder, &failure);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    clFinish(queue);
    clReleaseCommandQueue(queue);
    lade_feeder_destroy(feeder);
    return status;
}

/* Two feeders, one after the other, so that the first leaves nothing that affects the second. */
Test(opencl, nothing_is_left)
{
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(feed("", NEVER, LADE_DONE_STREAM), LADE_CLOSED, "%s", error.text);
        cr_assert_eq(atomic_load(&left), 0);
    }
}

Test(opencl, a_device_that_cannot_be_opened_is_reported)
{
    static const struct {
        const char *call;
        int n, status;
    } cases[] = {
        {"clGetPlatformIDs", 1, LADE_ABSENT},     {"clCreateContext", 1, LADE_DEVICE},
        {"clCreateCommandQueue", 1, LADE_DEVICE}, {"clCreateBuffer", 1, LADE_DEVICE},
        {"clCreateBuffer", 2, LADE_DEVICE},       {"clCreateBuffer", 6, LADE_DEVICE},
        {"clEnqueueMapBuffer", 1, LADE_DEVICE},   {"clEnqueueMapBuffer", 3, LADE_DEVICE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(feed(cases[i].call, cases[i].n, LADE_DONE_STREAM), cases[i].status, "%s", cases[i].call);
        cr_assert_not_null(strstr(error.text, cases[i].call), "%s", error.text);
        cr_assert_not_null(strstr(error.text, "CL_OUT_OF_RESOURCES"), "%s", error.text);
        cr_assert_eq(atomic_load(&left), 0, "%s", cases[i].call);
    }
}

Test(opencl, a_call_that_fails_ends_the_feeder)
{
    static const char *const calls[] = {"clEnqueueWriteBuffer", "clEnqueueMarkerWithWaitList", "clFlush",
                                        "clGetEventInfo"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int n = 1; n < 20; n += 6) {
            cr_assert_eq(feed(calls[i], n, LADE_DONE_STREAM), LADE_DEVICE, "%s", calls[i]);
            cr_assert_str_eq(failure.call, calls[i]);
            cr_assert_eq(failure.code, CL_OUT_OF_RESOURCES);
            cr_assert_eq(atomic_load(&left), 0, "%s %d: %d left", calls[i], n, atomic_load(&left));
        }
}

static void free_in_child(void *feeder)
{
    atomic_store(&made_calls, 0);
    lade_feeder_destroy(feeder);
    child_check(atomic_load(&made_calls) == 0);
}

/* A child of fork() frees a feeder without the driver, whose threads it does not have. */
Test(opencl, a_child_calls_nothing)
{
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_batch batch;
    struct lade_feeder *feeder;

    c.backend = "opencl";
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK);
    cr_assert(child_runs(free_in_child, feeder));
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    lade_feeder_destroy(feeder);
    cr_assert(atomic_load(&made_calls) > 0 && atomic_load(&left) == 0);
}
