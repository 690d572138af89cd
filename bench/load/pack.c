/* SPDX-License-Identifier: MIT */
/*
 * Packing from memory: PROGRAM ROW BATCH THREADS rows|fill SECONDS
 *
 * 200,000 sequences of int32 with log-normal lengths (mean 400, sigma 0.8, at most a row) are shuffled and packed into rows of
 * ROW steps by windows of 1,024. The consumer does nothing. After an epoch that does not count and that is checked it prints
 * rows, seconds, and the share of the wall time in which the consumer had a core; with fill the steps that
 * were delivered, the slots of their rows, and 1.
 */
#include "../clock.h"
#include "data.h"

#include <lade/loader.h>
#include <lade/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200000 };
#define MEAN 400.0
#define SIGMA 0.8

static double uniform(uint64_t i, uint64_t position)
{
    return ((double)(lade_random_at(lade_key_make(1, 0, 0), i, position) >> 11) + 0.5) * 0x1p-53;
}

/* Where each sequence begins; the normal number is by Box and Muller (1958). */
static void draw_lengths(int64_t *offsets, uint64_t row)
{
    const double mu = log(MEAN) - SIGMA * SIGMA / 2;

    for (uint64_t i = 0; i < COUNT; i++) {
        const double normal = sqrt(-2 * log(uniform(i, 0))) * cos(6.283185307179586 * uniform(i, 1));
        const double length = exp(mu + SIGMA * normal);
        offsets[i + 1] = offsets[i] + (length < 1 ? 1 : length > (double)row ? (int64_t)row : (int64_t)length);
    }
}

static struct lade_source *open_source(uint64_t row)
{
    static int64_t offsets[COUNT + 1];
    struct lade_source *source;
    struct lade_error error;

    draw_lengths(offsets, row);
    int32_t *values = malloc((size_t)offsets[COUNT] * sizeof *values);
    if (!values)
        fail("no memory");
    for (int64_t i = 0; i < offsets[COUNT]; i++)
        values[i] = (int32_t)i;
    const struct lade_source_column column = {.field = {.name = "tokens", .dtype = LADE_I32},
                                              .values = values,
                                              .offsets = offsets,
                                              .offset_dtype = LADE_I64,
                                              .steps = (uint64_t)offsets[COUNT]};
    const struct lade_source_arrays arrays = {.count = COUNT, .column = &column, .columns = 1};
    if (lade_source_open_arrays(&source, &arrays, &error) != LADE_OK)
        fail(error.text);
    return source;
}

/* Takes a batch; its rows. */
static uint64_t take(struct lade_loader *loader, bool *last, uint64_t *samples)
{
    struct lade_batch batch;
    struct lade_error error;

    if (lade_loader_next(loader, &batch, LADE_FOREVER, &error) != LADE_OK)
        fail(error.text);
    *last = batch.last;
    *samples += batch.count;
    lade_loader_release(loader, &batch);
    return batch.rows;
}

int main(int argc, char **argv)
{
    struct lade_loader_config config = {.seed = 1, .in_order = true};
    struct lade_loader *loader;
    struct lade_loader_stats stats;
    struct lade_error error;
    uint64_t rows = 0, samples = 0;
    bool last;

    if (argc != 6) {
        fprintf(stderr, "usage: %s ROW BATCH THREADS rows|fill SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    config.pack_row = number_of(argv[1]);
    config.batch = number_of(argv[2]);
    config.threads = (unsigned)number_of(argv[3]);
    config.source = open_source(config.pack_row);
    const double seconds = strtod(argv[5], NULL);
    if (lade_loader_create(&loader, &config, &error) != LADE_OK)
        fail(error.text);
    do
        take(loader, &last, &samples);
    while (!last);
    if (samples != COUNT)
        fail("an epoch does not have each sample once");
    lade_loader_stats(loader, &stats);
    if (strcmp(argv[4], "fill") == 0) {
        printf("%llu %llu 1\n", (unsigned long long)stats.packed_steps, (unsigned long long)stats.packed_slots);
    } else {
        const double begin = clock_now(), used = -clock_used();
        double now;
        do {
            rows += take(loader, &last, &samples);
            now = clock_now();
        } while (now - begin < seconds);
        printf("%llu %.6f %.3f\n", (unsigned long long)rows, now - begin, (used + clock_used()) / (now - begin));
    }
    lade_loader_destroy(loader);
    lade_source_close(config.source);
    return 0;
}
