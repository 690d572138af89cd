/* SPDX-License-Identifier: MIT */
/* Work of lade feed on batches in device memory. */
#ifndef LADE_CLI_FEED_DEVICE_H
#define LADE_CLI_FEED_DEVICE_H

#include "feed.h"

#include <lade/gpu.h>

struct device_work {
    int (*open)(void **self, struct lade_device *device, const struct feed *feed, struct lade_error *error);
    /* Enqueues the work on a batch on the device's queue, and releases the batch after it. */
    int (*step)(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error);
    /* Waits for the queue. Mean loss of the samples since the last call; false without training, or after an error. */
    bool (*loss)(void *self, double *loss);
    double (*busy)(void *self); /* seconds that the device worked */
    void (*close)(void *self);
};
extern const struct device_work work_plain;
#ifdef LADE_OPENCL
extern const struct device_work work_opencl;
#endif

/* The converter's table for bytes, equal to lade_pipeline_normalise(): 2 * channels numbers, of its channels. */
bool device_table(const struct feed *f, float *table, uint32_t *pixels, uint32_t *channels);

#endif
