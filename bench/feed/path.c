/* SPDX-License-Identifier: MIT */
/*
 * The path from a source to a device: PROGRAM loader|host|opencl|plain BATCH THREADS help|apart SECONDS
 *
 * 50,000 samples of 3,072 bytes in memory, batches of BATCH. loader: without a device; host, opencl: the same loader with
 * config.device, and a consumer that releases each batch behind its copy; plain: the limit on OpenCL, a loop that gathers the
 * rows of each batch, in an order drawn beforehand, into one of three buffers and enqueues its write. THREADS and help (the
 * consumer is one of them) are the loader's. Prints bytes, seconds and 1.
 */
#include "device.h"

#include "../clock.h"
#include "../load/data.h"

#include <lade/gpu.h>
#include <lade/loader.h>
#include <lade/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 50000, BYTES = 3072, DEPTH = 3 };

static struct data data;
static struct lade_source *source;
static uint64_t batch;

struct result {
    uint64_t samples;
    double seconds;
};

static struct result through_loader(struct lade_device *device, unsigned threads, bool help, double seconds)
{
    const struct lade_loader_config config = {.source = source,
                                              .batch = batch,
                                              .seed = 1,
                                              .in_order = true,
                                              .threads = threads,
                                              .consumer_assists = help,
                                              .device = device,
                                              .depth = DEPTH};
    struct lade_loader *loader;
    struct lade_batch b;
    struct result r = {0, 0};
    cl_event last = NULL;

    if (lade_loader_create(&loader, &config, NULL) != LADE_OK)
        fail("no loader");
    double begin = clock_now();
    while (clock_now() - begin < seconds && lade_loader_next(loader, &b, LADE_FOREVER, NULL) == LADE_OK) {
        r.samples += b.count;
        if (b.ready) {
            if (last)
                clReleaseEvent(last);
            last = b.ready;
            must(clRetainEvent(last), "clRetainEvent");
        }
        if (lade_loader_release_after(loader, &b, b.ready ? LADE_DONE_EVENT : LADE_DONE_NOW, b.ready, NULL) != LADE_OK)
            fail("a batch was not released");
    }
    if (last) {
        must(clWaitForEvents(1, &last), "clWaitForEvents");
        clReleaseEvent(last);
    }
    r.seconds = clock_now() - begin;
    lade_loader_destroy(loader);
    return r;
}

static struct result plain(struct device *d, double seconds)
{
    static uint32_t order[COUNT];
    struct lade_permutation permutation;
    unsigned char *host[DEPTH];
    cl_mem memory[DEPTH];
    cl_event event[DEPTH] = {NULL};
    struct result r = {0, 0};
    uint64_t at = 0;
    cl_int code;

    if (lade_permutation_init(&permutation, lade_key_make(1, 0, 0), COUNT) != LADE_OK)
        fail("no order");
    for (uint64_t i = 0; i < COUNT; i++)
        order[i] = (uint32_t)lade_permutation_at(&permutation, i);
    for (unsigned i = 0; i < DEPTH; i++) {
        host[i] = aligned_alloc(4096, batch * BYTES);
        memset(host[i], 1, batch * BYTES);
        memory[i] = clCreateBuffer(d->context, CL_MEM_READ_WRITE, batch * BYTES, NULL, &code);
        must(code, "clCreateBuffer");
    }
    double begin = clock_now();
    for (unsigned i = 0; clock_now() - begin < seconds; i = (i + 1) % DEPTH) {
        if (event[i]) {
            must(clWaitForEvents(1, &event[i]), "clWaitForEvents");
            clReleaseEvent(event[i]);
        }
        for (uint64_t k = 0; k < batch; k++, at = at + 1 < COUNT ? at + 1 : 0)
            memcpy(host[i] + k * BYTES, data.rows + order[at] * data.stride, BYTES);
        must(clEnqueueWriteBuffer(d->copy_queue, memory[i], CL_FALSE, 0, batch * BYTES, host[i], 0, NULL, &event[i]),
             "clEnqueueWriteBuffer");
        must(clFlush(d->copy_queue), "clFlush");
        r.samples += batch;
    }
    must(clFinish(d->copy_queue), "clFinish");
    r.seconds = clock_now() - begin;
    for (unsigned i = 0; i < DEPTH; i++)
        free(host[i]);
    return r;
}

static struct result run(const char *mode, struct device *d, unsigned threads, bool help, double seconds)
{
    struct lade_device_config config = {.backend = mode};
    struct lade_device *device = NULL;

    if (strcmp(mode, "plain") == 0)
        return plain(d, seconds);
    if (d) {
        config.native[0] = d->context;
        config.native[1] = d->copies;
    }
    if (strcmp(mode, "loader") != 0 && lade_device_open(&device, &config, NULL) != LADE_OK)
        fail("no device");
    struct result r = through_loader(device, threads, help, seconds);
    lade_device_close(device);
    return r;
}

int main(int argc, char **argv)
{
    struct device device;

    if (argc != 6) {
        fprintf(stderr, "usage: %s loader|host|opencl|plain BATCH THREADS help|apart SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    const bool cl = strcmp(argv[1], "opencl") == 0 || strcmp(argv[1], "plain") == 0,
               help = strcmp(argv[4], "help") == 0;
    unsigned threads = (unsigned)number_of(argv[3]);
    batch = number_of(argv[2]);
    source = data_open(&data, "memory", COUNT, BYTES);
    if (cl)
        device_open(&device);
    (void)run(argv[1], cl ? &device : NULL, threads, help, 0.1);
    struct result r = run(argv[1], cl ? &device : NULL, threads, help, strtod(argv[5], NULL));
    printf("%.0f %.9f 1\n", (double)r.samples * BYTES, r.seconds);
    return 0;
}
