/* SPDX-License-Identifier: MIT */
/*
 * The consumer behind --device: a feeder takes the batches of the loader to a device, where they are converted to numbers
 * and, where OpenCL runs, learnt from. The feeder's thread copies a batch from the loader's slot to its own, which the
 * device knows; while the device works on one batch, the next ones are on their way.
 */
#include "feed_device.h"

#include "lade.h"

#include <lade/convert.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS_KEPT = 2 * LADE_FEEDER_DEPTH_MAX };
static const int64_t farewell = 10000000000;

struct device {
    struct feed *feed;
    const struct device_work *work;
    void *work_self;
    struct lade_feeder *feeder;

    /* A batch that the feeder has not copied yet. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool full, ended;
    struct lade_loader *loader;
    struct lade_batch batch;

    double staging; /* seconds, by the feeder's thread */

    uint64_t given, used;
    uint64_t epoch[EPOCHS_KEPT]; /* of batches that were given and not used, by number */
    uint64_t epoch_used;
    struct learnt learnt;

    /* The first steps, for the picture. */
    pthread_mutex_t trace_mutex;
    struct device_step step[DEVICE_STEPS];
    unsigned steps;
};

static int refuse(struct lade_error *error, const char *why)
{
    *error = (struct lade_error){.status = LADE_INVALID, .offset = LADE_NO_OFFSET};
    (void)snprintf(error->text, sizeof error->text, "%s", why);
    return LADE_INVALID;
}

static int out_of_memory(struct lade_error *error)
{
    (void)refuse(error, "out of memory");
    return error->status = LADE_NO_MEMORY;
}

void device_table(const struct feed *f, float *table, uint32_t *pixels, uint32_t *channels)
{
    static const double mean = 0.5, deviation = 0.25;

    /* One channel: bytes stay where they are, whatever the layout of the images. */
    *channels = 1;
    *pixels = (uint32_t)lade_shape_bytes(&f->shape);
    (void)lade_convert_table(table, 1, 1.0 / 255, &mean, &deviation);
}

static void trace(void *context, enum lade_feeder_step step, uint64_t number, unsigned slot, int64_t at)
{
    struct device *d = context;

    pthread_mutex_lock(&d->trace_mutex);
    if (d->steps < DEVICE_STEPS)
        d->step[d->steps++] = (struct device_step){(double)at * 1e-9, number, slot, (int)step};
    pthread_mutex_unlock(&d->trace_mutex);
}

/* The feeder's thread: the batch that was given goes to the slot. */
static int fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    struct device *d = self;

    (void)error;
    pthread_mutex_lock(&d->mutex);
    while (!d->full && !d->ended)
        pthread_cond_wait(&d->changed, &d->mutex);
    bool full = d->full;
    pthread_mutex_unlock(&d->mutex);
    if (!full)
        return LADE_EMPTY;
    double begin = seconds_now();
    slot->rows = d->batch.count;
    memcpy(slot->data[0], d->batch.samples, (size_t)d->batch.count * d->batch.sample_bytes);
    memcpy(slot->data[1], d->batch.labels, (size_t)d->batch.count * sizeof *d->batch.labels);
    lade_loader_release(d->loader, &d->batch);
    pthread_mutex_lock(&d->mutex);
    d->staging += seconds_now() - begin;
    d->full = false;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
    return LADE_OK;
}

/* After this the feeder's thread touches no batch of the loader any more. */
static void stop(struct device *d)
{
    pthread_mutex_lock(&d->mutex);
    d->ended = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
    if (d->feeder)
        (void)lade_feeder_close(d->feeder, farewell);
}

/* A failure whose text nobody has written: the feeder knows the call that failed first. */
static int explain(struct device *d, int status, struct lade_error *error)
{
    struct lade_feeder_failure failure;

    if (status == LADE_OK || *error->text)
        return status;
    *error = (struct lade_error){.status = status, .offset = LADE_NO_OFFSET};
    if (status == LADE_DEVICE && lade_feeder_failed(d->feeder, &failure))
        (void)snprintf(error->text, sizeof error->text, "%s: %s: %s", d->feed->o.device, failure.call, failure.text);
    else
        (void)snprintf(error->text, sizeof error->text, "%s: %s", d->feed->o.device, lade_status_text(status));
    return status;
}

static void device_close(void *self)
{
    struct device *d = self;

    if (!d)
        return;
    stop(d);
    if (d->work_self)
        d->work->close(d->work_self);
    lade_feeder_destroy(d->feeder);
    pthread_mutex_destroy(&d->mutex);
    pthread_mutex_destroy(&d->trace_mutex);
    pthread_cond_destroy(&d->changed);
    free(d);
}

static int device_open(void **self, struct feed *f, struct lade_error *error)
{
    struct lade_shape shape[2] = {f->shape, {.dtype = LADE_I64, .dims = 1, .dim = {f->o.batch}}};
    const char *name = f->o.device;

    *self = NULL;
    if (f->shape.dtype != LADE_U8)
        return refuse(error, "--device takes samples of bytes: the device normalises them, leave --normalise out");
    if (f->shape.dims == LADE_DIMS_MAX || lade_shape_bytes(&f->shape) > UINT32_MAX / 4)
        return refuse(error, "--device: samples are too large");
    memmove(shape[0].dim + 1, shape[0].dim, shape[0].dims * sizeof *shape[0].dim);
    shape[0].dims++;
    shape[0].dim[0] = f->o.batch;
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return out_of_memory(error);
    d->feed = f;
    d->work = &work_plain;
#ifdef LADE_OPENCL
    if (!strcmp(name, "opencl"))
        d->work = &work_opencl;
#endif
    pthread_mutex_init(&d->mutex, NULL);
    pthread_mutex_init(&d->trace_mutex, NULL);
    pthread_cond_init(&d->changed, NULL);
    const struct lade_feeder_config config = {.backend = name,
                                              .fill = fill,
                                              .self = d,
                                              .tensors = 2,
                                              .shape = shape,
                                              .depth = (unsigned)f->o.depth,
                                              .trace = trace,
                                              .trace_context = d};
    int status = lade_feeder_create(&d->feeder, &config, error);
    if (status == LADE_ABSENT)
        status = error->status = LADE_DEVICE; /* trouble of this machine, not of a sample */
    if (status == LADE_OK) {
        error->text[0] = '\0';
        status = explain(d, d->work->open(&d->work_self, d->feeder, f, error), error);
    }
    if (status == LADE_OK)
        *self = d;
    else
        device_close(d);
    return status;
}

/* The loss of an epoch that has ended, or of what came of it. */
static void end_epoch(struct device *d)
{
    double loss;

    if (!d->work->loss(d->work_self, &loss))
        return;
    if (!d->learnt.learns)
        d->learnt.first_loss = loss;
    d->learnt.learns = true;
    d->learnt.last_loss = loss;
    curve_add(&d->learnt.loss, (double)d->used, loss);
}

/* Starts the work on batches that are on their way, waiting for the first up to timeout. LADE_OK, LADE_TIMEOUT or an error. */
static int use(struct device *d, int64_t timeout, struct lade_error *error)
{
    struct lade_feeder_batch batch;

    error->text[0] = '\0';
    int status = lade_feeder_next(d->feeder, &batch, timeout, error);
    if (status != LADE_OK)
        return status == LADE_TIMEOUT ? status : explain(d, status, error);
    uint64_t epoch = d->epoch[batch.number % EPOCHS_KEPT];
    if (epoch != d->epoch_used) {
        end_epoch(d);
        d->epoch_used = epoch;
    }
    d->used++;
    return explain(d, d->work->step(d->work_self, d->feeder, &batch, error), error);
}

/* Gives the batch to the feeder. Meanwhile the device gets what has arrived. */
static int device_take(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    struct device *d = self;
    int status = LADE_OK;

    if (batch->count == 0) { /* all of its samples were skipped */
        lade_loader_release(loader, batch);
        return LADE_OK;
    }
    if (d->given == 0)
        d->epoch_used = batch->epoch;
    for (;;) {
        pthread_mutex_lock(&d->mutex);
        bool room = !d->full;
        if (room) {
            d->loader = loader;
            d->batch = *batch;
            d->epoch[d->given++ % EPOCHS_KEPT] = batch->epoch;
            d->full = true;
            pthread_cond_broadcast(&d->changed);
        }
        pthread_mutex_unlock(&d->mutex);
        /* Without room the feeder waits for a slot, so a batch is on its way or the device has all of them. */
        status = use(d, room ? 0 : 1000000, error);
        if (status != LADE_OK && status != LADE_TIMEOUT) {
            if (!room)
                lade_loader_release(loader, batch);
            return status;
        }
        if (room)
            return LADE_OK;
    }
}

static int device_drain(void *self, struct lade_error *error)
{
    struct device *d = self;
    int status = LADE_OK;

    while (d->used < d->given && status == LADE_OK)
        status = use(d, LADE_FOREVER, error);
    /* The loader may be destroyed next. */
    if (status != LADE_OK)
        stop(d);
    return status;
}

static void device_learnt(void *self, struct learnt *learnt)
{
    struct device *d = self;
    struct device_figures *g = &d->feed->device;
    struct lade_feeder_stats stats;

    end_epoch(d);
    *learnt = d->learnt;
    lade_feeder_count(d->feeder, &stats);
    g->on = true;
    g->depth = stats.depth;
    g->fill = d->staging; /* the feeder's own figure has the waiting for a batch in it */
    g->copy = (double)stats.copy_time * 1e-9;
    g->compute = d->work->busy(d->work_self);
    g->bytes = stats.copied_bytes;
    g->consumer_waits = stats.consumer_waits;
    g->throttle_waits = stats.throttle_waits;
    g->steps = d->steps;
    memcpy(g->step, d->step, d->steps * sizeof *d->step);
}

const struct consumer consumer_device = {.name = "device",
                                         .open = device_open,
                                         .take = device_take,
                                         .drain = device_drain,
                                         .learnt = device_learnt,
                                         .close = device_close};

/* Work on the host, and on devices for which the command has no more: bytes become numbers, or stay where they are. */
struct plain {
    struct lade_converter *converter; /* host only */
    float *numbers;
    double busy;
};

static void plain_close(void *self)
{
    struct plain *p = self;

    lade_converter_destroy(p->converter);
    free(p->numbers);
    free(p);
}

static int plain_open(void **self, struct lade_feeder *feeder, const struct feed *f, struct lade_error *error)
{
    struct plain *p = calloc(1, sizeof *p);
    float table[2];
    struct lade_converter_config config = {.backend = "host", .dtype = LADE_F32, .table = table};
    int status = LADE_OK;

    (void)feeder;
    if (!p)
        return out_of_memory(error);
    device_table(f, table, &config.pixels, &config.channels);
    if (!strcmp(f->o.device, "host")) {
        p->numbers = malloc((size_t)f->o.batch * config.pixels * sizeof *p->numbers);
        status = p->numbers ? lade_converter_create(&p->converter, &config, error) : out_of_memory(error);
    }
    if (status == LADE_OK)
        *self = p;
    else
        plain_close(p);
    return status;
}

static int plain_step(void *self, struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                      struct lade_error *error)
{
    struct plain *p = self;
    double begin = seconds_now();
    int status = LADE_OK;

    if (p->converter)
        status = lade_converter_run(p->converter, &batch->tensor[0], p->numbers, NULL, error);
    else
        status = lade_feeder_stream_wait(feeder, batch, NULL);
    int released = lade_feeder_release(feeder, batch, p->converter ? LADE_FEEDER_DONE : LADE_FEEDER_STREAM, NULL);
    p->busy += seconds_now() - begin;
    return status != LADE_OK ? status : released;
}

static bool plain_loss(void *self, double *loss)
{
    (void)self;
    (void)loss;
    return false;
}

static double plain_busy(void *self)
{
    return ((struct plain *)self)->busy;
}

const struct device_work work_plain = {plain_open, plain_step, plain_loss, plain_busy, plain_close};
