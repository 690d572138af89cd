/* SPDX-License-Identifier: MIT */
/*
 * The limit of a loader: PROGRAM memory|FILE COUNT BYTES BATCH THREADS copy|read[+BUFFERS] SECONDS
 *
 * Each thread copies rows, in an order that was drawn beforehand, into one buffer of BATCH rows that it uses again and again,
 * or into BUFFERS of them alternately; with read it then reads all of them. Nothing is handed over to another thread. After an epoch that does not count it prints rows, seconds, and the share of the
 * wall time in which the threads had a core.
 */
#include "../clock.h"
#include "data.h"

#include <lade/random.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

struct lane {
    pthread_t thread;
    unsigned number;
    uint64_t rows;
    uint64_t sum; /* of what was read */
    double used;
};

static struct data data;
static uint32_t *order;
static uint64_t batch;
static unsigned threads;
static double seconds;
static bool reads;
static unsigned buffers = 1;
static struct gate begin;

/* Batch number b of the epoch; the last one may be shorter. */
static uint64_t gather(uint64_t b, unsigned char *to)
{
    uint64_t first = b * batch;
    uint64_t rows = data.count - first < batch ? data.count - first : batch;

    for (uint64_t i = 0; i < rows; i++)
        memcpy(to + i * data.bytes, data.rows + order[first + i] * data.stride, data.bytes);
    return rows;
}

static void *work(void *argument)
{
    struct lane *lane = argument;
    uint64_t batches = (data.count + batch - 1) / batch;
    size_t bytes = (batch * data.bytes + 63) / 64 * 64;
    unsigned char *all = aligned_alloc(64, buffers * bytes), *to = all;
    double end;

    if (!all)
        fail("no memory");
    pin(lane->number);
    for (uint64_t b = 0; b < batches; b++)
        gather(b, all + b % buffers * bytes);
    gate_pass(&begin, threads);
    lane->used = -clock_used();
    end = clock_now() + seconds;
    for (uint64_t b = lane->number % batches; clock_now() < end; b = (b + threads) % batches) {
        uint64_t rows = gather(b, to);
        if (reads)
            lane->sum += data_read(to, rows * data.bytes);
        lane->rows += rows;
        to = to == all + (buffers - 1) * bytes ? all : to + bytes;
    }
    lane->used += clock_used();
    free(all);
    return NULL;
}

static void draw_order(void)
{
    struct lade_permutation permutation;

    order = malloc(data.count * sizeof *order);
    if (!order)
        fail("no memory");
    if (lade_permutation_init(&permutation, lade_key_make(1, 0, 0), data.count) != LADE_OK)
        fail("no order");
    for (uint64_t i = 0; i < data.count; i++)
        order[i] = (uint32_t)lade_permutation_at(&permutation, i);
}

int main(int argc, char **argv)
{
    static struct lane lane[THREADS_MAX];
    uint64_t rows = 0;
    double used = 0;

    if (argc != 8) {
        fprintf(stderr, "usage: %s memory|FILE COUNT BYTES BATCH THREADS copy|read[+BUFFERS] SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    data_make(&data, argv[1], number_of(argv[2]), number_of(argv[3]));
    batch = number_of(argv[4]);
    threads = (unsigned)number_of(argv[5]);
    reads = strncmp(argv[6], "read", 4) == 0;
    if (strchr(argv[6], '+'))
        buffers = (unsigned)number_of(strchr(argv[6], '+') + 1);
    seconds = strtod(argv[7], NULL);
    if (threads > THREADS_MAX || data.count > UINT32_MAX || buffers == 0)
        fail("too many");
    draw_order();
    for (unsigned i = 0; i < threads; i++) {
        lane[i].number = i;
        if (pthread_create(&lane[i].thread, NULL, work, &lane[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(lane[i].thread, NULL);
        rows += lane[i].rows;
        used += lane[i].used;
    }
    printf("%llu %.6f %.3f\n", (unsigned long long)rows, seconds, used / (seconds * threads));
    return 0;
}
