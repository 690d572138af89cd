/* SPDX-License-Identifier: MIT */
/*
 * The loader with a consumer that does nothing:
 *
 *   PROGRAM memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS MODE CORES SECONDS
 *
 * MODE: order (in_order), help (the same, and the consumer is one of the threads), ready (as they are ready), stream (a
 * buffer of 4,096 samples, of images of 8 batches), or samples (a stream, from a source of which the loader knows nothing but
 * how to read a sample). order+read, help+read: the consumer reads every byte of every batch. After some epochs that do not count, of which one is checked where they are in order, it prints
 * samples, seconds, and the share of the wall time in which the consumer had a core, which matters for one that
 * helps.
 */
#include "../clock.h"
#include "consume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BUFFER 4096
#define STREAM_BATCHES 8

static int read_one(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    return lade_source_read(self, i, to, label, error);
}

static void close_inner(void *self)
{
    lade_source_close(self);
}

/* The same samples, through user callbacks. */
static struct lade_source *wrap(struct lade_source *source)
{
    static const struct lade_source_ops ops = {.read = read_one, .close = close_inner};
    struct lade_source *outer;
    struct lade_error error;

    if (lade_source_open_custom(&outer, &ops, source, lade_source_info(source), NULL, &error) != LADE_OK)
        fail(error.text);
    return outer;
}

static uint64_t buffer_of(const char *name, uint64_t batch)
{
    return strncmp(name, "images:", strlen("images:")) == 0 ? STREAM_BATCHES * batch : STREAM_BUFFER;
}

int main(int argc, char **argv)
{
    static struct data data;
    struct lade_loader_config config = {.seed = 1};
    struct consumer consumer = {.data = NULL};
    uint64_t samples = 0;
    double seconds;
    double begin;
    double now;
    double used;

    if (argc != 9) {
        fprintf(stderr,
                "usage: %s memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS "
                "order|help|ready|stream|samples|order+read|help+read CORES SECONDS\n",
                argv[0]);
        return 2;
    }
    fuse();
    if (number_of(argv[7]) == 1)
        pin(0); /* the workers inherit it */
    config.source = data_open(&data, argv[1], number_of(argv[2]), number_of(argv[3]));
    config.batch = number_of(argv[4]);
    config.threads = (unsigned)number_of(argv[5]);
    config.consumer_assists = strncmp(argv[6], "help", 4) == 0;
    config.in_order = config.consumer_assists || strncmp(argv[6], "order", 5) == 0;
    consumer.reads = strstr(argv[6], "+read") != NULL;
    if (strcmp(argv[6], "samples") == 0)
        config.source = wrap(config.source);
    if (strcmp(argv[6], "samples") == 0 || strcmp(argv[6], "stream") == 0)
        config.buffer = buffer_of(argv[1], config.batch);
    seconds = strtod(argv[8], NULL);
    consumer.data = data.labels ? &data : NULL;
    consumer_begin(&consumer, &config);
    consume_epoch(&consumer, config.in_order);
    used = -clock_used();
    begin = clock_now();
    do {
        samples += consume(&consumer, NULL);
        now = clock_now();
    } while (now - begin < seconds);
    used += clock_used();
    printf("%llu %.6f %.3f\n", (unsigned long long)samples, now - begin, used / (now - begin));
    consumer_end(&consumer);
    lade_source_close(config.source);
    return 0;
}
