/* SPDX-License-Identifier: MIT */
/* Declarations shared by the tests of loaders on the faulty device. */
#ifndef LADE_TEST_LOADER_DEVICE_H
#define LADE_TEST_LOADER_DEVICE_H

#include "../../load/test/loads.h"
#include "faulty.h"
#include "numbered_batches.h"

#include <stdatomic.h>

enum { BATCH = 8, COUNT = 100 };

static struct lade_device *device;
static struct lade_error error;
static atomic_ullong wrong, looks; /* samples that a kernel found wrong; kernels that have ended */

static inline struct lade_loader *open_on(const struct lade_backend *backend, struct faulty_config *faulty,
                                          struct lade_loader_config *config)
{
    const struct lade_device_config c = {.native = {faulty}};

    cr_assert_eq(lade_device_open_on(&device, backend, &c, &error), LADE_OK);
    config->device = device;
    if (!config->batch)
        config->batch = BATCH;
    return open_loader(config);
}

static inline void close_all(struct lade_loader *loader, struct lade_source *source)
{
    lade_loader_destroy(loader);
    lade_device_close(device);
    lade_source_close(source);
    cr_assert_eq(faulty_things(), 0);
}

/* A kernel that checks a batch in each of its steps. */
struct look {
    struct lade_batch batch;
    unsigned steps;
    uint64_t ids[BATCH];
};

static inline void look(void *argument, unsigned step)
{
    const struct look *l = argument;

    atomic_fetch_add(&wrong, wrong_in(&l->batch, l->ids));
    atomic_fetch_add(&looks, step == l->steps - 1);
}

/* Long enough for all other work that the device could do. */
#define LONG 300000

static inline void launch(struct lade_loader *loader, struct faulty_stream *stream, const struct lade_batch *b,
                          unsigned steps)
{
    struct look *l = malloc(sizeof *l);

    cr_assert(l);
    l->batch = *b;
    l->steps = steps;
    memcpy(l->ids, b->ids, (size_t)b->count * sizeof *b->ids);
    cr_assert_eq(lade_loader_stream_wait(loader, b, stream, NULL), LADE_OK);
    faulty_launch(lade_device_native(device, 0), stream, look, l, steps, b->tensor[0].data);
}

#endif
