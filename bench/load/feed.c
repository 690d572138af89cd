/* SPDX-License-Identifier: MIT */
/*
 * The loader with a consumer that does nothing: PROGRAM memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS MODE CORES SECONDS
 *
 * MODE: order (in_order), ready (as they are ready), or stream (a bag of 4,096 samples). After an epoch that does not count
 * it prints samples, seconds, and 1.
 */
#include "../clock.h"
#include "consume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BUFFER 4096

int main(int argc, char **argv)
{
    static struct data data;
    struct lade_loader_config config = {.seed = 1};
    struct consumer consumer = {.data = NULL};
    uint64_t samples = 0;
    double seconds;
    double begin;
    double now;

    if (argc != 9) {
        fprintf(stderr,
                "usage: %s memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS order|ready|stream CORES SECONDS\n",
                argv[0]);
        return 2;
    }
    fuse();
    if (number_of(argv[7]) == 1)
        pin(0); /* the workers inherit it */
    config.source = data_open(&data, argv[1], number_of(argv[2]), number_of(argv[3]));
    config.batch = number_of(argv[4]);
    config.threads = (unsigned)number_of(argv[5]);
    config.in_order = strcmp(argv[6], "order") == 0;
    config.buffer = strcmp(argv[6], "stream") == 0 ? STREAM_BUFFER : 0;
    seconds = strtod(argv[8], NULL);
    consumer.data = data.labels ? &data : NULL;
    /* Batches out of order may come from the next epoch, too. */
    consumer.expected = config.in_order ? lade_source_about(config.source)->count : 0;
    consumer_begin(&consumer, &config);
    consume_epoch(&consumer);
    begin = clock_now();
    do {
        samples += consume(&consumer, NULL);
        now = clock_now();
    } while (now - begin < seconds);
    printf("%llu %.6f 1\n", (unsigned long long)samples, now - begin);
    consumer_end(&consumer);
    lade_source_close(config.source);
    return 0;
}
