/* SPDX-License-Identifier: MIT */
/*
 * How fast batches get to a device. PROGRAM plain|feeder|helped|host|host-helped|memcpy BYTES DEPTH filled|empty|used SECONDS
 *
 * plain: the limit, a loop of enqueued writes from as many buffers in order; feeder: the same through the feeder; helped:
 * through one whose consumer fills, as the loop does. empty: nothing is written into the staging memory, and a batch is
 * done with when it has arrived, so that the device gets the same commands from both. filled: the staging memory is
 * written. used: as empty, but a second queue waits for each batch and marks where it is done with it, and the slot's next
 * write runs after that mark, with both. host, host-helped and memcpy: the feeder without a device, and the loop that it
 * amounts to. Prints bytes, seconds and 1.
 */
#include "device.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* How many batches, and how long it took until the last one was there. */
struct result {
    uint64_t batches;
    double seconds;
};

/* What a consumer's queue does with a batch, behind written. The mark goes to *done. */
static void use(struct device *d, cl_event written, cl_event *done)
{
    if (*done)
        clReleaseEvent(*done);
    must(clEnqueueBarrierWithWaitList(d->compute_queue, 1, &written, NULL), "clEnqueueBarrierWithWaitList");
    must(clEnqueueMarkerWithWaitList(d->compute_queue, 0, NULL, done), "clEnqueueMarkerWithWaitList");
    must(clFlush(d->compute_queue), "clFlush");
}

/* The queue is never empty and never long. */
static struct result plain(struct device *d, const struct pool *pool, unsigned depth, bool used, double seconds)
{
    void *host[DEPTH_MAX];
    cl_mem memory[DEPTH_MAX];
    cl_event event[DEPTH_MAX] = {NULL}, done[DEPTH_MAX] = {NULL};
    struct result r = {0, 0};
    cl_int code;

    for (unsigned i = 0; i < depth; i++) {
        host[i] = aligned_alloc(4096, pool->batch);
        memset(host[i], 1, pool->batch);
        memory[i] = clCreateBuffer(d->context, CL_MEM_READ_WRITE, pool->batch, NULL, &code);
        must(code, "clCreateBuffer");
    }
    double begin = clock_now();
    while (clock_now() - begin < seconds) {
        unsigned i = (unsigned)(r.batches++ % depth);
        if (event[i]) {
            must(clWaitForEvents(1, &event[i]), "clWaitForEvents");
            clReleaseEvent(event[i]);
        }
        pool_copy(pool, r.batches, host[i]);
        must(clEnqueueWriteBuffer(d->copy_queue, memory[i], CL_FALSE, 0, pool->batch, host[i], done[i] ? 1 : 0,
                                  done[i] ? &done[i] : NULL, &event[i]),
             "clEnqueueWriteBuffer");
        must(clFlush(d->copy_queue), "clFlush");
        if (used)
            use(d, event[i], &done[i]);
    }
    must(clFinish(d->copy_queue), "clFinish");
    must(clFinish(d->compute_queue), "clFinish");
    r.seconds = clock_now() - begin;
    return r;
}

/* The last event is kept, to wait for in the end. */
static void release(struct device *d, struct lade_feeder *feeder, const struct lade_feeder_batch *batch, bool used,
                    cl_event *last)
{
    if (!d) {
        (void)lade_feeder_release(feeder, batch, LADE_DONE_NOW, NULL, NULL);
        return;
    }
    if (*last)
        clReleaseEvent(*last);
    *last = batch->ready;
    must(clRetainEvent(*last), "clRetainEvent");
    if (used)
        must(lade_feeder_stream_wait(feeder, batch, d->compute_queue, NULL), "lade_feeder_stream_wait");
    (void)lade_feeder_release(feeder, batch, used ? LADE_DONE_STREAM : LADE_DONE_EVENT,
                              used ? (void *)d->compute_queue : batch->ready, NULL);
}

static struct result feed(struct device *d, struct pool *pool, unsigned depth, bool help, bool used, double seconds)
{
    struct lade_feeder *feeder = feeder_made(pool, depth, help, d);
    struct lade_feeder_batch batch;
    struct result r = {0, 0};
    cl_event last = NULL;
    double begin = clock_now();

    while (clock_now() - begin < seconds && lade_feeder_next(feeder, &batch, LADE_FOREVER, NULL) == LADE_OK) {
        release(d, feeder, &batch, used, &last);
        r.batches++;
    }
    if (last) {
        must(clWaitForEvents(1, &last), "clWaitForEvents");
        must(clFinish(d->compute_queue), "clFinish");
        clReleaseEvent(last);
    }
    r.seconds = clock_now() - begin;
    lade_feeder_destroy(feeder);
    return r;
}

static struct result copy_only(const struct pool *pool, unsigned depth, double seconds)
{
    void *host[DEPTH_MAX];
    struct result r = {0, 0};

    for (unsigned i = 0; i < depth; i++) {
        host[i] = aligned_alloc(4096, pool->batch);
        memset(host[i], 1, pool->batch);
    }
    double begin = clock_now();
    while (clock_now() - begin < seconds) {
        pool_copy(pool, r.batches, host[r.batches % depth]);
        r.batches++;
    }
    r.seconds = clock_now() - begin;
    return r;
}

static struct result run(const char *mode, struct pool *pool, unsigned depth, bool used, double seconds)
{
    struct device device;
    struct result r;
    bool help = strstr(mode, "helped") != NULL;

    if (strcmp(mode, "memcpy") == 0)
        return copy_only(pool, depth, seconds);
    if (strncmp(mode, "host", 4) == 0)
        return feed(NULL, pool, depth, help, used, seconds);
    device_open(&device);
    if (strcmp(mode, "plain") == 0)
        r = plain(&device, pool, depth, used, seconds);
    else
        r = feed(&device, pool, depth, help, used, seconds);
    device_close(&device);
    return r;
}

int main(int argc, char **argv)
{
    struct pool pool;

    if (argc != 6) {
        fprintf(stderr, "usage: %s plain|feeder|helped|host|host-helped|memcpy BYTES DEPTH filled|empty|used SECONDS\n",
                argv[0]);
        return 2;
    }
    fuse();
    unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
    if (depth == 0 || depth > DEPTH_MAX)
        return 2;
    pool_open(&pool, strtoull(argv[2], NULL, 10), strcmp(argv[4], "filled") != 0);
    bool used = strcmp(argv[4], "used") == 0;
    (void)run(argv[1], &pool, depth, used, 0.02);
    struct result r = run(argv[1], &pool, depth, used, strtod(argv[5], NULL));
    printf("%.0f %.9f 1\n", (double)r.batches * (double)pool.batch, r.seconds);
    return 0;
}
