/* SPDX-License-Identifier: MIT */
/*
 * The consumer of --device: the loader delivers batches on a device, where they are converted to numbers and, with
 * OpenCL, used for training. While the device works on one batch, the next ones are being copied.
 */
#include "feed_device.h"

#include "lade.h"

#include <lade/convert.h>

#include <stdlib.h>
#include <string.h>

struct device {
    struct feed *feed;
    const struct device_work *work;
    void *work_self;
    uint64_t used;
    uint64_t epoch; /* of the last batch */
    struct learnt learnt;
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

bool device_table(const struct feed *f, float *table, uint32_t *pixels, uint32_t *channels)
{
    static const double mean = 0.5, deviation = 0.25;

    /* One channel: bytes keep their positions, whatever the layout of the images. */
    *channels = 1;
    *pixels = (uint32_t)lade_shape_bytes(&f->shape);
    return lade_convert_table(table, 1, 1.0 / 255, &mean, &deviation) == LADE_OK;
}

static int explain(const struct device *d, int status, struct lade_error *error)
{
    if (status == LADE_OK || *error->text)
        return status;
    *error = (struct lade_error){.status = status, .offset = LADE_NO_OFFSET};
    (void)snprintf(error->text, sizeof error->text, "%s: %s", d->feed->o.device, lade_status_text(status));
    return status;
}

static void device_close(void *self)
{
    struct device *d = self;

    if (!d)
        return;
    if (d->work_self)
        d->work->close(d->work_self);
    lade_device_close(d->feed->gpu);
    d->feed->gpu = NULL;
    free(d);
}

static int device_open(void **self, struct feed *f, struct lade_error *error)
{
    const struct lade_device_config config = {.backend = f->o.device};

    *self = NULL;
    if (f->info->schema && f->info->bytes == 0)
        return refuse(error, "--device: the first field is ragged; the device normalises samples of one shape");
    if (f->shape.dtype != LADE_U8)
        return refuse(error, "--device needs u8 samples, which the device normalises; leave out --normalise");
    if (lade_shape_bytes(&f->shape) > UINT32_MAX / 4)
        return refuse(error, "--device: a sample must be smaller than 1 GiB");
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return out_of_memory(error);
    d->feed = f;
    d->work = &work_plain;
#ifdef LADE_OPENCL
    if (!strcmp(f->o.device, "opencl"))
        d->work = &work_opencl;
#endif
    int status = lade_device_open(&f->gpu, &config, error);
    if (status == LADE_ABSENT)
        status = error->status = LADE_DEVICE; /* an error of this machine, not of a sample */
    if (status == LADE_OK) {
        error->text[0] = '\0';
        status = explain(d, d->work->open(&d->work_self, f->gpu, f, error), error);
    }
    if (status == LADE_OK)
        *self = d;
    else
        device_close(d);
    return status;
}

/* The loss of an epoch, complete or not. */
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

static int device_take(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    struct device *d = self;

    if (batch->count == 0) { /* all of its samples were skipped */
        lade_loader_release(loader, batch);
        return LADE_OK;
    }
    if (d->used > 0 && batch->epoch != d->epoch)
        end_epoch(d);
    d->epoch = batch->epoch;
    d->used++;
    error->text[0] = '\0';
    return explain(d, d->work->step(d->work_self, loader, batch, error), error);
}

static void device_learnt(void *self, struct learnt *learnt)
{
    struct device *d = self;
    struct device_figures *g = &d->feed->device;
    const struct lade_loader_stats *stats = &d->feed->stats;

    end_epoch(d);
    *learnt = d->learnt;
    g->on = true;
    g->depth = stats->depth;
    g->copy = (double)stats->copy_time * 1e-9;
    g->compute = d->work->busy(d->work_self);
    g->bytes = stats->copied_bytes;
    g->consumer_waits = stats->consumer_waits;
}

const struct consumer consumer_device = {
    .name = "device", .open = device_open, .take = device_take, .learnt = device_learnt, .close = device_close};

/* Work on the host, and on devices without training here: bytes are converted, or left unchanged. */
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

static int plain_open(void **self, struct lade_device *device, const struct feed *f, struct lade_error *error)
{
    struct plain *p = calloc(1, sizeof *p);
    float table[2];
    struct lade_converter_config config = {.backend = "host", .dtype = LADE_F32, .table = table};
    int status = LADE_OK;

    (void)device;
    if (!p)
        return out_of_memory(error);
    if (!device_table(f, table, &config.pixels, &config.channels))
        status = LADE_INVALID;
    else if (!strcmp(f->o.device, "host")) {
        p->numbers = malloc((size_t)f->o.batch * config.pixels * sizeof *p->numbers);
        status = p->numbers ? lade_converter_create(&p->converter, &config, error) : out_of_memory(error);
    }
    if (status == LADE_OK)
        *self = p;
    else
        plain_close(p);
    return status;
}

static int plain_step(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error)
{
    struct plain *p = self;
    double begin = seconds_now();
    int status = LADE_OK;

    if (p->converter)
        status = lade_converter_run(p->converter, &batch->tensor[LADE_SAMPLES], p->numbers, NULL, error);
    else
        status = lade_loader_stream_wait(loader, batch, NULL, error);
    int released = lade_loader_release_after(loader, batch, p->converter ? LADE_DONE_NOW : LADE_DONE_STREAM, NULL,
                                             status == LADE_OK ? error : NULL);
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
