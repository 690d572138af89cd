/* SPDX-License-Identifier: MIT */
/* Softmax regression against values found by hand, and on samples that it must learn. */
#include "feed.h"

#include <criterion/criterion.h>
#include <math.h>

static unsigned released;

/* The consumer is linked without a loader. */
void lade_loader_release(struct lade_loader *loader, const struct lade_batch *batch)
{
    (void)loader;
    (void)batch;
    released++;
}

static struct lade_source_info info = {.classes = 3};

static struct feed feed_of(enum lade_dtype dtype, uint64_t features, double rate)
{
    return (struct feed){
        .info = &info, .classes = (unsigned)info.classes, .o = {.rate = rate}, .shape = {dtype, 1, {features}}};
}

static void *opened(struct feed *f)
{
    struct lade_error error;
    void *self = NULL;

    cr_assert_eq(consumer_softmax.open(&self, f, &error), LADE_OK);
    return self;
}

Test(softmax, one_step)
{
    static struct feed f;
    f = feed_of(LADE_F32, 1, 1);
    void *self = opened(&f);
    static float value[] = {2};
    static const int64_t label[] = {1};
    const struct lade_batch batch = {.count = 1, .samples = value, .sample_bytes = 4, .labels = label};
    struct learnt l;

    released = 0;
    cr_assert_eq(consumer_softmax.take(self, NULL, &batch, NULL), LADE_OK);
    cr_assert_eq(consumer_softmax.test(self, NULL, &batch, NULL), LADE_OK);
    cr_assert_eq(released, 2);
    consumer_softmax.learnt(self, &l);
    /* All weights are zero at first: p = 1/3 each, the loss is log 3. */
    cr_assert_lt(fabs(l.first_loss - 1.0986122887), 1e-6);
    /* Steps of weight and bias: 2 * 2/3 and 2/3 for the label, -2 * 1/3 and -1/3 for the others; scores 10/3 and -5/3. */
    cr_assert_lt(fabs(l.test_loss - log(1 + 2 * exp(-5))), 1e-6);
    cr_assert(l.learns && l.tested && l.test_samples == 1 && l.test_right == 1);
    consumer_softmax.close(self);
}

Test(softmax, bytes_in_any_number)
{
    /* Class c has its byte high. Seven samples: the last group is not full, and must not matter. */
    static uint8_t value[7][3];
    static int64_t label[7];
    static struct feed f;
    struct learnt l;
    f = feed_of(LADE_U8, 3, 0);
    void *self = opened(&f);
    const struct lade_batch batch = {.count = 7, .samples = value, .sample_bytes = 3, .labels = label};

    for (int i = 0; i < 7; i++) {
        label[i] = i % 3;
        value[i][i % 3] = 255;
    }
    for (uint64_t epoch = 0; epoch < 50; epoch++) {
        struct lade_batch next = batch;
        next.epoch = epoch;
        consumer_softmax.take(self, NULL, &next, NULL);
    }
    consumer_softmax.test(self, NULL, &batch, NULL);
    consumer_softmax.learnt(self, &l);
    cr_assert_lt(fabs(l.first_loss - 1.0986122887), 1e-6);
    cr_assert(l.last_loss < 0.2 && l.test_right == 1 && l.test_samples == 7);
    cr_assert_eq(l.loss.points, 50);
    for (unsigned i = 1; i < l.loss.points; i++)
        cr_assert(l.loss.y[i] < l.loss.y[i - 1], "the loss of one batch falls with each step");
    consumer_softmax.close(self);
}

Test(softmax, refuses)
{
    static struct feed f;
    struct lade_error error;
    void *self;

    f = feed_of(LADE_F64, 4, 0);
    cr_assert_eq(consumer_softmax.open(&self, &f, &error), LADE_INVALID);
    f = feed_of(LADE_U8, UINT64_C(1) << 28, 0);
    cr_assert_eq(consumer_softmax.open(&self, &f, &error), LADE_INVALID);
    info.classes = 0;
    f = feed_of(LADE_U8, 4, 0);
    cr_assert_eq(consumer_softmax.open(&self, &f, &error), LADE_INVALID);
    cr_assert_null(self);
    consumer_softmax.close(self);
}
