/* SPDX-License-Identifier: MIT */
#include "softmax.h"

#include "feeder.h"
#include "opencl.h"

#include <stdlib.h>

static const char *const text[] = {
#include "softmax_text.h"
};

enum kernel { SCORE, JUDGE, LEARN, COUNT, KERNELS };
enum memory { WEIGHT, SCORES, LOSSES, RIGHTS, SUMS, MEMORIES };
enum { SUMS_KEPT = 3 }; /* losses, rights, rows */

struct lade_softmax {
    struct lade_softmax_config config;
    cl_program program;
    cl_kernel kernel[KERNELS];
    cl_mem memory[MEMORIES];
};

void lade_softmax_destroy(struct lade_softmax *s)
{
    if (!s)
        return;
    for (int m = 0; m < MEMORIES; m++)
        if (s->memory[m])
            clReleaseMemObject(s->memory[m]);
    for (int k = 0; k < KERNELS; k++)
        if (s->kernel[k])
            clReleaseKernel(s->kernel[k]);
    if (s->program)
        clReleaseProgram(s->program);
    free(s);
}

/* Allocates device memory for this many numbers, all zero. */
static int get(struct lade_softmax *s, enum memory which, size_t numbers, struct lade_device_failure *failure)
{
    cl_int code;
    float *zeros = calloc(numbers, sizeof *zeros);

    if (!zeros)
        return LADE_NO_MEMORY;
    s->memory[which] = clCreateBuffer(s->config.native[0], CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      numbers * sizeof *zeros, zeros, &code);
    free(zeros);
    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clCreateBuffer", code);
}

static int prepare(struct lade_softmax *s, struct lade_device_failure *failure)
{
    static const char *const names[KERNELS] = {"score", "judge", "learn", "count"};
    const struct lade_softmax_config *c = &s->config;
    const size_t numbers[MEMORIES] = {((size_t)c->inputs + 1) * c->classes, (size_t)c->rows * c->classes, c->rows,
                                      c->rows, SUMS_KEPT};
    int status = lade_opencl_build(&s->program, c->native[0], c->native[1], sizeof text / sizeof *text, text, failure);

    for (int k = 0; status == LADE_OK && k < KERNELS; k++) {
        cl_int code;
        s->kernel[k] = clCreateKernel(s->program, names[k], &code);
        if (code != CL_SUCCESS)
            status = lade_opencl_fail(failure, "clCreateKernel", code);
    }
    for (int m = 0; status == LADE_OK && m < MEMORIES; m++)
        status = get(s, (enum memory)m, numbers[m], failure);
    return status;
}

int lade_softmax_create(struct lade_softmax **softmax, const struct lade_softmax_config *config,
                        struct lade_error *error)
{
    struct lade_device_failure failure = {.call = NULL};

    if (!config->native[0] || !config->native[1] || config->rows == 0 || config->inputs == 0 || config->classes < 2)
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "a training step needs a device, rows, inputs and at least 2 classes");
    struct lade_softmax *s = calloc(1, sizeof *s);
    if (!s)
        return lade_feeder_refuse(error, LADE_NO_MEMORY, "no memory for a training step");
    s->config = *config;
    int status = prepare(s, &failure);
    if (status == LADE_OK) {
        *softmax = s;
        return LADE_OK;
    }
    lade_softmax_destroy(s);
    return lade_feeder_error(error, status, "opencl", &failure);
}

static int step(struct lade_softmax *s, cl_command_queue queue, cl_mem numbers, const struct lade_tensor *labels,
                struct lade_device_failure *failure)
{
    const struct lade_softmax_config *c = &s->config;
    cl_mem label = labels->data;
    cl_ulong first = labels->offset;
    cl_uint rows = (cl_uint)labels->shape->dim[0], bytes = labels->shape->dtype == LADE_I64 ? 8 : 4;
#define IS(X)                                                                                                          \
    {                                                                                                                  \
        &(X), sizeof(X)                                                                                                \
    }
    const struct lade_opencl_argument score[] = {IS(numbers), IS(s->memory[WEIGHT]), IS(s->memory[SCORES]),
                                                 IS(c->inputs)};
    const struct lade_opencl_argument judge[] = {
        IS(s->memory[SCORES]), IS(label), IS(first), IS(bytes), IS(c->classes), IS(s->memory[LOSSES]),
        IS(s->memory[RIGHTS])};
    const struct lade_opencl_argument learn[] = {IS(numbers), IS(s->memory[SCORES]), IS(s->memory[WEIGHT]),
                                                 IS(rows),    IS(c->inputs),         IS(c->rate)};
    const struct lade_opencl_argument count[] = {IS(s->memory[LOSSES]), IS(s->memory[RIGHTS]), IS(rows),
                                                 IS(s->memory[SUMS])};
#undef IS
    const struct {
        cl_uint axes;
        size_t size[2];
        const struct lade_opencl_argument *argument;
        cl_uint arguments;
    } work[KERNELS] = {
        {2, {c->classes, rows}, score, sizeof score / sizeof *score},
        {1, {rows, 1}, judge, sizeof judge / sizeof *judge},
        {2, {(size_t)c->inputs + 1, c->classes}, learn, sizeof learn / sizeof *learn},
        {1, {1, 1}, count, sizeof count / sizeof *count},
    };
    int status = LADE_OK;

    for (int k = 0; status == LADE_OK && k < KERNELS; k++)
        status = lade_opencl_run(queue, s->kernel[k], work[k].axes, work[k].size, work[k].argument, work[k].arguments,
                                 failure);
    return status;
}

int lade_softmax_step(struct lade_softmax *s, void *queue, void *numbers, const struct lade_tensor *labels,
                      struct lade_error *error)
{
    struct lade_device_failure failure = {.call = NULL};
    const struct lade_shape *shape = labels->shape;

    if ((shape->dtype != LADE_I32 && shape->dtype != LADE_I64) || shape->dims != 1 || shape->dim[0] == 0 ||
        shape->dim[0] > s->config.rows)
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "labels must be one i32 or i64 per row, with at most config.rows rows");
    int status = step(s, queue, numbers, labels, &failure);
    return status == LADE_OK ? LADE_OK : lade_feeder_error(error, status, "opencl", &failure);
}

int lade_softmax_read(struct lade_softmax *s, void *queue, struct lade_softmax_report *report, struct lade_error *error)
{
    static const float zeros[SUMS_KEPT] = {0};
    struct lade_device_failure failure = {.call = NULL};
    float sums[SUMS_KEPT];
    cl_int code = clEnqueueReadBuffer(queue, s->memory[SUMS], CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL);

    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(queue, s->memory[SUMS], CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        int status = lade_opencl_fail(&failure, "clEnqueueReadBuffer", code);
        return lade_feeder_error(error, status, "opencl", &failure);
    }
    double rows = sums[2] > 0 ? (double)sums[2] : 1;
    *report = (struct lade_softmax_report){(double)sums[2], (double)sums[0] / rows, (double)sums[1] / rows};
    return LADE_OK;
}
