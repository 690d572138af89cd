/* SPDX-License-Identifier: MIT */
/*
 * Consumers: one that does nothing, and softmax regression by stochastic gradient descent, a training step small enough
 * for a CPU. Unless a step size is given, it is the reciprocal of the mean squared length of the first batch's samples.
 * Numbers are added in a fixed order, so the same batches give the same model.
 */
#include "feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 8,
    GROUP = 4
}; /* classes are padded to a multiple of LANES; GROUP samples share one pass over the weights */
static const uint64_t model_max = UINT64_C(1) << 27; /* weights */

/* A SIMD vector, if the machine has one. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static int null_open(void **self, struct feed *f, struct lade_error *error)
{
    (void)f;
    (void)error;
    *self = NULL;
    return LADE_OK;
}

static int null_take(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    (void)self;
    (void)error;
    lade_loader_release(loader, batch);
    return LADE_OK;
}

static void null_learnt(void *self, struct learnt *learnt)
{
    (void)self;
    learnt->learns = false;
}

static void null_close(void *self)
{
    (void)self;
}

const struct consumer consumer_null = {
    .name = "null", .open = null_open, .take = null_take, .learnt = null_learnt, .close = null_close};

struct softmax {
    enum lade_dtype dtype;
    size_t features, classes, width; /* width: classes and their padding */
    double rate;                     /* 0: to be computed */
    float *weight, *gradient;        /* [feature * width + class]; the last feature is 1 */
    float *value[GROUP], *score;     /* of samples; score[sample * width + class] */
    double loss;                     /* sums of the epoch */
    uint64_t samples, epoch;
    uint64_t batches;
    bool first_done; /* an epoch was completed */
    uint64_t test_right;
    struct learnt learnt;
};

static void softmax_close(void *self)
{
    struct softmax *s = self;

    if (!s)
        return;
    free(s->weight);
    free(s->gradient);
    for (unsigned g = 0; g < GROUP; g++)
        free(s->value[g]);
    free(s->score);
    free(s);
}

static int refuse(struct lade_error *error, int status, const char *why)
{
    error->status = status;
    error->offset = LADE_NO_OFFSET;
    (void)snprintf(error->text, sizeof error->text, "softmax: %s", why);
    return status;
}

static int softmax_open(void **self, struct feed *f, struct lade_error *error)
{
    const size_t element = lade_dtype_size(f->shape.dtype);

    *self = NULL;
    if (f->info->classes == 0)
        return refuse(error, LADE_INVALID, "the source has no labels to learn; --consumer null needs none");
    if (f->info->schema && f->info->bytes == 0)
        return refuse(error, LADE_INVALID, "the first field is ragged; --consumer null takes any");
    if (f->shape.dtype != LADE_U8 && f->shape.dtype != LADE_F32)
        return refuse(error, LADE_INVALID, "it takes samples of u8 or f32; --consumer null takes any");
    size_t features = lade_shape_bytes(&f->shape) / element + 1, width = (f->classes + LANES - 1) / LANES * LANES;
    if (features > model_max / width)
        return refuse(error, LADE_INVALID, "the model would have more than 2^27 weights; --consumer null has none");
    struct softmax *s = calloc(1, sizeof *s);
    if (!s)
        return refuse(error, LADE_NO_MEMORY, "out of memory");
    s->dtype = f->shape.dtype;
    s->features = features;
    s->classes = f->classes;
    s->width = width;
    s->rate = f->o.rate;
    s->weight = calloc(features * width, sizeof *s->weight);
    s->gradient = calloc(features * width, sizeof *s->gradient);
    s->score = calloc(GROUP * width, sizeof *s->score);
    bool good = s->weight && s->gradient && s->score;
    for (unsigned g = 0; g < GROUP; g++) {
        s->value[g] = calloc(features, sizeof **s->value);
        good = good && s->value[g];
    }
    if (!good) {
        softmax_close(s);
        return refuse(error, LADE_NO_MEMORY, "out of memory");
    }
    *self = s;
    return LADE_OK;
}

/* Converts sample number row to floats; bytes become -1/2 to 1/2. */
static void load_values(const struct softmax *s, const struct lade_batch *batch, uint64_t row, float *restrict value)
{
    const uint8_t *restrict from = (const uint8_t *)batch->samples + row * batch->sample_bytes;

    if (s->dtype == LADE_F32)
        memcpy(value, from, batch->sample_bytes);
    else
        for (size_t j = 0; j + 1 < s->features; j++)
            value[j] = (float)from[j] * (1.0f / 255) - 0.5f;
    value[s->features - 1] = 1;
}

/* Loads the next samples of a batch, up to a group; the others are zero and have no effect. */
static unsigned load_group(struct softmax *s, const struct lade_batch *batch, uint64_t row)
{
    unsigned count = batch->count - row < GROUP ? (unsigned)(batch->count - row) : GROUP;

    for (unsigned g = 0; g < GROUP; g++)
        if (g < count)
            load_values(s, batch, row + g, s->value[g]);
        else
            memset(s->value[g], 0, s->features * sizeof **s->value);
    return count;
}

/* score = values * weights. */
static void multiply(struct softmax *s)
{
    for (size_t c = 0; c < s->width; c += LANES) {
        lanes sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
        for (size_t j = 0; j < s->features; j++) {
            const lanes w = *(const lanes *)(s->weight + j * s->width + c);
            sum0 += s->value[0][j] * w;
            sum1 += s->value[1][j] * w;
            sum2 += s->value[2][j] * w;
            sum3 += s->value[3][j] * w;
        }
        *(lanes *)(s->score + c) = sum0;
        *(lanes *)(s->score + s->width + c) = sum1;
        *(lanes *)(s->score + 2 * s->width + c) = sum2;
        *(lanes *)(s->score + 3 * s->width + c) = sum3;
    }
}

/* gradient += values * scores. */
static void accumulate(struct softmax *s)
{
    for (size_t c = 0; c < s->width; c += LANES) {
        const lanes d0 = *(const lanes *)(s->score + c), d1 = *(const lanes *)(s->score + s->width + c);
        const lanes d2 = *(const lanes *)(s->score + 2 * s->width + c),
                    d3 = *(const lanes *)(s->score + 3 * s->width + c);
        for (size_t j = 0; j < s->features; j++)
            *(lanes *)(s->gradient + j * s->width + c) +=
                s->value[0][j] * d0 + s->value[1][j] * d1 + s->value[2][j] * d2 + s->value[3][j] * d3;
    }
}

/* Converts scores to probabilities. The loss of the label. */
static double softmax(const struct softmax *s, float *score, int64_t label, bool *right)
{
    float most = -INFINITY;
    double sum = 0;
    size_t best = 0;

    for (size_t c = 0; c < s->classes; c++)
        if (score[c] > most) {
            most = score[c];
            best = c;
        }
    double own = score[label] - most;
    for (size_t c = 0; c < s->classes; c++) {
        score[c] = expf(score[c] - most);
        sum += score[c];
    }
    for (size_t c = 0; c < s->classes; c++)
        score[c] = (float)(score[c] / sum);
    *right = best == (size_t)label;
    return log(sum) - own;
}

/* The loss of all samples; with learn, adds their gradients. */
static double pass(struct softmax *s, const struct lade_batch *batch, bool learn, uint64_t *right)
{
    double loss = 0;

    for (uint64_t row = 0; row < batch->count; row += GROUP) {
        const unsigned count = load_group(s, batch, row);
        multiply(s);
        for (unsigned g = 0; g < count; g++) {
            float *score = s->score + g * s->width;
            bool hit;
            loss += softmax(s, score, batch->labels[row + g], &hit);
            score[batch->labels[row + g]] -= 1;
            *right += hit;
        }
        if (learn)
            accumulate(s);
    }
    return loss;
}

/* The reciprocal of the mean squared length: a safe step size for any scale of the samples. */
static void find_rate(struct softmax *s, const struct lade_batch *batch)
{
    double sum = 0;

    for (uint64_t i = 0; i < batch->count; i++) {
        load_values(s, batch, i, s->value[0]);
        for (size_t j = 0; j < s->features; j++)
            sum += (double)s->value[0][j] * s->value[0][j];
    }
    s->rate = (double)batch->count / sum;
}

static void end_epoch(struct softmax *s)
{
    if (s->samples == 0)
        return;
    s->learnt.last_loss = s->loss / (double)s->samples;
    if (!s->first_done)
        s->learnt.first_loss = s->learnt.last_loss;
    s->first_done = true;
    s->loss = 0;
    s->samples = 0;
}

static int softmax_take(void *self, struct lade_loader *loader, const struct lade_batch *batch,
                        struct lade_error *error)
{
    struct softmax *s = self;
    uint64_t right = 0;

    (void)error;
    if (batch->epoch != s->epoch)
        end_epoch(s);
    s->epoch = batch->epoch;
    if (!(s->rate > 0) && batch->count > 0)
        find_rate(s, batch);
    const double loss = pass(s, batch, true, &right);
    /* The batch is not needed after this. */
    const uint64_t count = batch->count;
    lade_loader_release(loader, batch);
    if (count == 0)
        return LADE_OK;
    const float step = (float)(s->rate / (double)count);
    for (size_t i = 0; i < s->features * s->width; i++) {
        s->weight[i] -= step * s->gradient[i];
        s->gradient[i] = 0;
    }
    s->loss += loss;
    s->samples += count;
    curve_add(&s->learnt.loss, (double)s->batches++, loss / (double)count);
    return LADE_OK;
}

static int softmax_test(void *self, struct lade_loader *loader, const struct lade_batch *batch,
                        struct lade_error *error)
{
    struct softmax *s = self;

    (void)error;
    s->learnt.test_loss += pass(s, batch, false, &s->test_right);
    s->learnt.test_samples += batch->count;
    lade_loader_release(loader, batch);
    return LADE_OK;
}

static void softmax_learnt(void *self, struct learnt *learnt)
{
    struct softmax *s = self;

    end_epoch(s);
    *learnt = s->learnt;
    learnt->learns = true;
    learnt->tested = learnt->test_samples > 0;
    if (learnt->tested) {
        learnt->test_loss /= (double)learnt->test_samples;
        learnt->test_right = (double)s->test_right / (double)learnt->test_samples;
    }
}

const struct consumer consumer_softmax = {.name = "softmax",
                                          .open = softmax_open,
                                          .take = softmax_take,
                                          .test = softmax_test,
                                          .learnt = softmax_learnt,
                                          .close = softmax_close};
