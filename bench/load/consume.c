/* SPDX-License-Identifier: MIT */
#include "consume.h"

#include <string.h>

/* Nanoseconds, and how often. The clock continues while the whole process is stopped, which is no fault of the loader's. */
#define PATIENCE INT64_C(2000000000)
#define ATTEMPTS 10

void consumer_begin(struct consumer *consumer, const struct lade_loader_config *config)
{
    struct lade_error error;

    if (lade_loader_create(&consumer->loader, config, &error) != LADE_OK)
        fail(error.text);
}

void consumer_end(struct consumer *consumer)
{
    int status = LADE_TIMEOUT;

    for (int i = 0; i < ATTEMPTS && status == LADE_TIMEOUT; i++)
        status = lade_loader_stop(consumer->loader, PATIENCE);
    if (status != LADE_OK)
        fail("the loader does not end");
    lade_loader_destroy(consumer->loader);
}

/* Each sample of an epoch comes once: their numbers have the sum that they must have. */
static void check(struct consumer *consumer, const struct lade_batch *batch)
{
    const struct data *data = consumer->data;
    uint64_t first;

    if (data && data->bytes >= sizeof first) {
        memcpy(&first, batch->samples, sizeof first);
        if (first != batch->ids[0])
            fail("a sample is not the one that was asked for");
    }
    if (consumer->expected == 0)
        return;
    for (uint64_t i = 0; i < batch->count; i++)
        consumer->sum += batch->ids[i];
    consumer->seen += batch->count;
    if (!batch->last)
        return;
    if (consumer->seen != consumer->expected ||
        consumer->sum != consumer->expected / 2 * (consumer->expected - 1 + consumer->expected % 2))
        fail("an epoch does not have each sample once");
    consumer->seen = consumer->sum = 0;
}

uint64_t consume(struct consumer *consumer, bool *last)
{
    struct lade_batch batch;
    struct lade_error error;
    int status = LADE_TIMEOUT;

    for (int i = 0; i < ATTEMPTS && status == LADE_TIMEOUT; i++)
        status = lade_loader_next(consumer->loader, &batch, PATIENCE, &error);
    if (status == LADE_TIMEOUT)
        fail("no batch came");
    if (status != LADE_OK)
        fail(error.text);
    check(consumer, &batch);
    if (consumer->reads)
        consumer->bytes += data_read(batch.samples, batch.count * batch.sample_bytes);
    if (last)
        *last = batch.last;
    lade_loader_release(consumer->loader, &batch);
    return batch.count;
}

void consume_epoch(struct consumer *consumer, bool checked)
{
    struct lade_loader_stats stats;
    bool last = false;

    lade_loader_stats(consumer->loader, &stats);
    for (uint64_t seen = 0; seen < stats.samples;)
        seen += consume(consumer, &last);
    if (!checked)
        return;
    while (!last)
        consume(consumer, &last);
    consumer->expected = stats.samples;
    do
        consume(consumer, &last);
    while (!last);
    consumer->expected = 0;
}
