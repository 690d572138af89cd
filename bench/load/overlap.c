/* SPDX-License-Identifier: MIT */
/*
 * Does loading continue while the consumer is busy? PROGRAM memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS SECONDS
 *
 * t1 is the time of a batch with a consumer that does nothing. The consumer then computes for as long at each batch (t2 is
 * what that takes alone), and T is the time of a batch with both. Prints max(t1, t2) and T in nanoseconds, and the share of the
 * wall time in which the computing alone had a core.
 */
#include "../clock.h"
#include "consume.h"

#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

/* Arithmetic in registers that no compiler shortens. */
static void compute(uint64_t steps)
{
    uint64_t x = sink;

    for (uint64_t i = 0; i < steps; i++)
        x = x * UINT64_C(6364136223846793005) + i;
    sink = x;
}

/* Seconds a batch; consumer NULL: the computing alone. */
static double time_of(struct consumer *consumer, uint64_t steps, double seconds)
{
    uint64_t batches = 0;
    double begin = clock_now();
    double now;

    do {
        if (consumer)
            consume(consumer, NULL);
        compute(steps);
        batches++;
        now = clock_now();
    } while (now - begin < seconds);
    return (now - begin) / (double)batches;
}

/* Steps that take so long. */
static uint64_t calibrate(double wanted, double seconds)
{
    uint64_t steps = 1000;

    for (int round = 0; round < 3; round++)
        steps = (uint64_t)((double)steps * wanted / time_of(NULL, steps, seconds)) + 1;
    return steps;
}

int main(int argc, char **argv)
{
    static struct data data;
    struct lade_loader_config config = {.seed = 1, .in_order = true};
    struct consumer consumer = {.data = NULL};
    uint64_t steps;
    double seconds;
    double t1;
    double t2;
    double both;
    double used;
    double wall;

    if (argc != 7) {
        fprintf(stderr, "usage: %s memory|FILE|images:FOLDER COUNT BYTES BATCH THREADS SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    config.source = data_open(&data, argv[1], number_of(argv[2]), number_of(argv[3]));
    config.batch = number_of(argv[4]);
    config.threads = (unsigned)number_of(argv[5]);
    seconds = strtod(argv[6], NULL);
    consumer_begin(&consumer, &config);
    consume_epoch(&consumer, false);
    t1 = time_of(&consumer, 0, seconds);
    steps = calibrate(t1, seconds / 4);
    used = -clock_used();
    wall = -clock_now();
    t2 = time_of(NULL, steps, seconds);
    used += clock_used();
    wall += clock_now();
    time_of(&consumer, steps, seconds / 4);
    both = time_of(&consumer, steps, seconds);
    printf("%.0f %.3f %.3f\n", (t1 > t2 ? t1 : t2) * 1e9, both * 1e9, used / wall);
    consumer_end(&consumer);
    lade_source_close(config.source);
    return 0;
}
