/* SPDX-License-Identifier: MIT */
/* Work of a consumer on the faulty device: checks a batch when its stream gets there, twice. */
#ifndef LADE_TEST_KERNELS_H
#define LADE_TEST_KERNELS_H

#include "batches.h"
#include "faulty.h"

#include <stdlib.h>

struct look {
    struct lade_feeder_batch batch;
    atomic_ullong *wrong, *done;
};

enum { LOOKS = 2 };

static inline void look_kernel(void *argument, unsigned step)
{
    struct look *look = argument;
    const struct lade_feeder_batch *b = &look->batch;

    atomic_fetch_add(look->wrong,
                     wrong_in(b->number, b->rows, b->tensor[IMAGES].data, b->tensor[LABELS].data, b->tensor[IDS].data));
    if (step == LOOKS - 1)
        atomic_fetch_add(look->done, 1);
}

/* Enqueues the check on the stream, after the batch's arrival, unless the device fails. */
static inline void launch_look(struct lade_feeder *feeder, struct faulty *device, struct faulty_stream *stream,
                               const struct lade_feeder_batch *batch, atomic_ullong *wrong, atomic_ullong *done)
{
    if (lade_feeder_stream_wait(feeder, batch, stream, NULL) != LADE_OK)
        return;
    struct look *look = malloc(sizeof *look);
    look->batch = *batch;
    look->wrong = wrong;
    look->done = done;
    faulty_launch(device, stream, look_kernel, look, LOOKS, batch->tensor[0].data);
}

static inline struct lade_feeder_config faulty_config_of(struct producer *producer, struct faulty_config *faulty)
{
    struct lade_feeder_config c = config_of(producer);

    c.native[0] = faulty;
    return c;
}

#endif
