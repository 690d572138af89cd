/* SPDX-License-Identifier: MIT */
/* End to end: the synthetic set, through the feeder, converted and used for training on the device. */
#include "softmax.h"

#include "opencl_device.h"

#include <lade/convert.h>
#include <lade/random.h>

#include <math.h>
#include <stdlib.h>

enum {
    COUNT = 2000,
    BATCH = 100,
    EPOCHS = 6,
    CLASSES = 10,
    PIXELS = 16 * 16,
    CHANNELS = 3,
    INPUTS = PIXELS * CHANNELS
};

struct set {
    struct lade_source *source;
};

/* Batch n holds the samples of one epoch in a keyed order. */
static int fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    const struct set *set = self;
    uint64_t epoch = slot->number / (COUNT / BATCH), first = slot->number % (COUNT / BATCH) * BATCH;
    struct lade_permutation order;
    int status = LADE_OK;

    if (epoch == EPOCHS)
        return LADE_EMPTY;
    status = lade_permutation_init(&order, lade_key_make(1, epoch, 1), COUNT);
    for (uint64_t row = 0; row < BATCH && status == LADE_OK; row++)
        status = lade_source_read(set->source, lade_permutation_at(&order, first + row),
                                  (uint8_t *)slot->data[0] + row * INPUTS, (int64_t *)slot->data[1] + row, error);
    return status;
}

static struct lade_error error;

/* Trains one epoch. The measured result. */
static void epoch(struct lade_feeder *feeder, struct lade_converter *converter, struct lade_softmax *softmax,
                  cl_command_queue queue, cl_mem numbers, struct lade_softmax_report *report)
{
    struct lade_feeder_batch batch;

    for (int i = 0; i < COUNT / BATCH; i++) {
        cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER, &error), LADE_OK, "%s", error.text);
        cr_assert_eq(lade_feeder_stream_wait(feeder, &batch, queue, NULL), LADE_OK);
        cr_assert_eq(lade_converter_run(converter, &batch.tensor[0], numbers, queue, &error), LADE_OK);
        cr_assert_eq(lade_softmax_step(softmax, queue, numbers, &batch.tensor[1], &error), LADE_OK, "%s", error.text);
        cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_STREAM, queue, NULL), LADE_OK);
    }
    cr_assert_eq(lade_softmax_read(softmax, queue, report, &error), LADE_OK);
    cr_assert_eq(report->rows, COUNT);
}

Test(softmax, learns_the_synthetic_set)
{
    static const double mean[] = {0.5, 0.5, 0.5}, deviation[] = {0.25, 0.25, 0.25};
    const struct lade_shape shape[2] = {{LADE_U8, 4, {BATCH, 16, 16, CHANNELS}}, {LADE_I64, 1, {BATCH}}};
    float table[2 * CHANNELS];
    struct set set;
    struct lade_feeder *feeder;
    struct lade_converter *converter;
    struct lade_softmax *softmax;
    struct lade_softmax_report report[EPOCHS];
    struct device d;

    cr_assert_eq(lade_source_open(&set.source, "synthetic:count=2000,classes=10,shape=16x16x3", NULL, &error), LADE_OK);
    cr_assert_eq(lade_convert_table(table, CHANNELS, 1.0 / 255, mean, deviation), LADE_OK);
    device_open(&d);
    cr_assert_eq(lade_feeder_create(&feeder,
                                    &(struct lade_feeder_config){.backend = "opencl",
                                                                 .native = {d.context, d.id},
                                                                 .fill = fill,
                                                                 .self = &set,
                                                                 .tensors = 2,
                                                                 .shape = shape},
                                    &error),
                 LADE_OK);
    cr_assert_eq(lade_converter_create(&converter,
                                       &(struct lade_converter_config){.backend = "opencl",
                                                                       .native = {d.context, d.id},
                                                                       .pixels = PIXELS,
                                                                       .channels = CHANNELS,
                                                                       .dtype = LADE_F32,
                                                                       .table = table},
                                       &error),
                 LADE_OK);
    cr_assert_eq(
        lade_softmax_create(
            &softmax,
            &(struct lade_softmax_config){
                .native = {d.context, d.id}, .rows = BATCH, .inputs = INPUTS, .classes = CLASSES, .rate = 0.02f},
            &error),
        LADE_OK, "%s", error.text);
    cl_mem numbers = device_memory(&d, sizeof(float) * BATCH * INPUTS);
    for (int e = 0; e < EPOCHS; e++)
        epoch(feeder, converter, softmax, d.queue, numbers, &report[e]);
    for (int e = 1; e < EPOCHS; e++)
        cr_assert_lt(report[e].loss, report[e - 1].loss, "epoch %d: %f, %f", e, report[e - 1].loss, report[e].loss);
    cr_assert_gt(report[0].loss, 0.01 * log(CLASSES));
    cr_assert_lt(report[EPOCHS - 1].loss, 0.1 * log(CLASSES), "%f; log(10) is what guessing gives",
                 report[EPOCHS - 1].loss);
    cr_assert_gt(report[EPOCHS - 1].right, 0.99);
    lade_softmax_destroy(softmax);
    lade_converter_destroy(converter);
    lade_feeder_destroy(feeder);
    lade_source_close(set.source);
    clReleaseMemObject(numbers);
    device_close(&d);
}

/* One step, computed by hand: two inputs, two classes, weights of zero, so that each class has probability 1/2. */
Test(softmax, one_step)
{
    static const float x[2][2] = {{1, 2}, {3, -1}};
    static const int32_t label[2] = {0, 1};
    const struct lade_shape shape = {LADE_I32, 1, {2}};
    struct lade_softmax *softmax;
    struct lade_softmax_report report;
    struct device d;

    device_open(&d);
    cr_assert_eq(lade_softmax_create(&softmax, &(struct lade_softmax_config){{d.context, d.id}, 4, 2, 2, 2.0f}, &error),
                 LADE_OK, "%s", error.text);
    cl_mem numbers = device_memory(&d, sizeof x), labels = device_memory(&d, 256 + sizeof label);
    clEnqueueWriteBuffer(d.queue, numbers, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
    clEnqueueWriteBuffer(d.queue, labels, CL_TRUE, 256, sizeof label, label, 0, NULL, NULL);
    const struct lade_tensor tensor = {.data = labels, .offset = 256, .shape = &shape};
    cr_assert_eq(lade_softmax_step(softmax, d.queue, numbers, &tensor, &error), LADE_OK, "%s", error.text);
    cr_assert_eq(lade_softmax_read(softmax, d.queue, &report, &error), LADE_OK);
    cr_assert_eq(report.rows, 2);
    cr_assert_lt(fabs(report.loss - log(2)), 1e-6);
    cr_assert_eq(report.right, 0.5, "of equal scores the first class is taken");
    /*
     * Errors -1/2 and 1/2 for class 0, so its weights become -(-1/2 * (1, 2, 1) + 1/2 * (3, -1, 1)) = (-1, 3/2, 0), and
     * those of class 1 the opposite. Scores of class 0: 2 and -9/2, right by 4 and by 9.
     */
    cr_assert_eq(lade_softmax_step(softmax, d.queue, numbers, &tensor, &error), LADE_OK);
    cr_assert_eq(lade_softmax_read(softmax, d.queue, &report, &error), LADE_OK);
    cr_assert_lt(fabs(report.loss - (log1p(exp(-4)) + log1p(exp(-9))) / 2), 1e-6, "%f", report.loss);
    cr_assert_eq(report.right, 1);
    lade_softmax_destroy(softmax);
    clReleaseMemObject(numbers);
    clReleaseMemObject(labels);
    device_close(&d);
}

Test(softmax, refuses_what_makes_no_sense)
{
    const struct lade_shape shape = {LADE_F32, 1, {2}}, many = {LADE_I32, 1, {5}};
    struct lade_softmax *softmax;
    struct device d;

    device_open(&d);
    cr_assert_eq(lade_softmax_create(&softmax, &(struct lade_softmax_config){{NULL, NULL}, 4, 2, 2, 1}, &error),
                 LADE_INVALID);
    cr_assert_eq(lade_softmax_create(&softmax, &(struct lade_softmax_config){{d.context, d.id}, 4, 2, 2, 1}, &error),
                 LADE_OK);
    cr_assert_eq(lade_softmax_step(softmax, d.queue, NULL, &(struct lade_tensor){.shape = &shape}, &error),
                 LADE_INVALID);
    cr_assert_eq(lade_softmax_step(softmax, d.queue, NULL, &(struct lade_tensor){.shape = &many}, &error),
                 LADE_INVALID);
    lade_softmax_destroy(softmax);
    device_close(&d);
}
