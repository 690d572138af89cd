/* SPDX-License-Identifier: MIT */
/*
 * The loader with a consumer that does nothing:
 *
 *   PROGRAM memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS MODE CORES SECONDS
 *
 * MODE: order (in_order), help (the same, and the consumer is one of the threads), ready (as they are ready), or stream (a
 * bag of 4,096 samples). After some epochs that do not count, of which one is checked where they are in order, it prints
 * samples, seconds, and the share of the wall time in which the consumer had a core, which says something of one that
 * helps.
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
    double used;

    if (argc != 9) {
        fprintf(stderr,
                "usage: %s memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS order|help|ready|stream CORES SECONDS\n",
                argv[0]);
        return 2;
    }
    fuse();
    if (number_of(argv[7]) == 1)
        pin(0); /* the workers inherit it */
    config.source = data_open(&data, argv[1], number_of(argv[2]), number_of(argv[3]));
    config.batch = number_of(argv[4]);
    config.threads = (unsigned)number_of(argv[5]);
    config.help = strcmp(argv[6], "help") == 0;
    config.in_order = config.help || strcmp(argv[6], "order") == 0;
    config.buffer = strcmp(argv[6], "stream") == 0 ? STREAM_BUFFER : 0;
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
