/* SPDX-License-Identifier: MIT */
/* What lade feed does with batches that are on a device. */
#ifndef LADE_CLI_FEED_DEVICE_H
#define LADE_CLI_FEED_DEVICE_H

#include "feed.h"

#include <lade/gpu.h>

struct device_work {
    int (*open)(void **self, struct lade_device *device, const struct feed *feed, struct lade_error *error);
    /* Puts the work with a batch into the device's queue and releases the batch behind it. */
    int (*step)(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error);
    /* Waits for the queue. Mean loss of the samples since the last call; false where nothing is learnt, or after an error. */
    bool (*loss)(void *self, double *loss);
    double (*busy)(void *self); /* seconds that the device worked */
    void (*close)(void *self);
};
extern const struct device_work work_plain;
#ifdef LADE_OPENCL
extern const struct device_work work_opencl;
#endif

/* 2 * channels numbers for bytes as lade_pipeline_normalise() would have them; channels as the converter sees them. */
bool device_table(const struct feed *f, float *table, uint32_t *pixels, uint32_t *channels);

#endif
