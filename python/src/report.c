/* SPDX-License-Identifier: MIT */
/* What a loader's consumer got, and the report of lade feed about it. */
#include "package.h"

#include <lade/report.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void package_measure_begin(struct package_measure *m, const struct lade_loader *loader)
{
    if (m->begin != 0)
        return;
    lade_loader_stats(loader, &m->stats);
    m->begin = m->end = now();
}

void package_measure_batch(struct package_measure *m, const struct lade_batch *batch)
{
    for (unsigned i = 0; i < batch->tensors; i++) {
        const struct lade_shape *shape = batch->tensor[i].shape;
        uint64_t bytes = lade_dtype_size(shape->dtype);
        for (unsigned d = 0; d < shape->dims; d++)
            bytes *= shape->dim[d];
        m->bytes += bytes;
    }
    if (m->batches++ == 0)
        m->first_epoch = batch->epoch;
    m->last_epoch = batch->epoch;
    m->samples += batch->count;
    m->end = now();
}

struct text {
    char *bytes;
    size_t used, size;
};

static int append(void *context, const char *bytes, size_t size)
{
    struct text *t = context;

    if (t->used + size > t->size) {
        const size_t larger = 2 * (t->used + size);
        char *moved = realloc(t->bytes, larger);
        if (!moved)
            return LADE_NO_MEMORY;
        t->bytes = moved;
        t->size = larger;
    }
    memcpy(t->bytes + t->used, bytes, size);
    t->used += size;
    return LADE_OK;
}

PyObject *package_report(const struct package_measure *m, const struct lade_loader *loader,
                         const struct lade_loader_config *config, const char *source, const char *order, bool ended)
{
    static const char *const part_name = "all";
    static const uint32_t part_weight = 1;
    struct lade_loader_stats stats;
    struct text text = {0};

    lade_loader_stats(loader, &stats);
    struct lade_report r = {
        .source = source,
        .ended = ended ? "done" : "batches",
        .order = order,
        .consumer = "python",
        .source_samples = lade_source_info(config->source)->count,
        .batch = config->batch,
        .threads = config->threads,
        .seed = stats.seed,
        .shard = config->shard,
        .shards = config->shards,
        .samples = m->samples,
        .batches = m->batches,
        .bytes = m->bytes,
        .first_epoch = m->first_epoch,
        .epochs = m->batches > 0 ? m->last_epoch - m->first_epoch + 1 : 0,
        .seconds = (double)(m->end - m->begin) * 1e-9,
        .parts = 1,
        .part_name = &part_name,
        .part_weight = &part_weight,
        .replacement = config->draw != LADE_DRAW_ONCE,
    };
    lade_report_loader(&r, &m->stats, &stats);
    int status = lade_report_json(&r, append, &text);
    PyObject *json = status == LADE_OK ? PyUnicode_FromStringAndSize(text.bytes, (Py_ssize_t)text.used) : NULL;
    free(text.bytes);
    return status == LADE_OK ? json : package_raise(status, NULL);
}
