/* SPDX-License-Identifier: MIT */
/*
 * Does feeding continue while the device computes? PROGRAM feeder|helped|double BYTES DEPTH SECONDS
 *
 * A batch is copied out of a pool into staging memory and from there to the device, where a kernel then computes for as
 * long as both copies take. The unoverlapped loop does one after the other and waits for each. feeder: the same through a
 * feeder of this depth; helped: through one whose consumer fills; double: double buffering by hand, with two staging
 * buffers, two queues and events. The device is divided: one core is for its copies, one computes. Both run alternately,
 * several times. Prints the time of a batch of the loop, that of the other, and 1.
 */
#include "device.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 2, TURNS = 4 };

struct job {
    struct device device;
    struct pool pool;
    void *host[BUFFERS];
    cl_mem memory[BUFFERS];
    uint64_t steps; /* of the kernel; 0: none */
};

static void compute_and_wait(struct job *j)
{
    if (j->steps == 0)
        return;
    device_compute(&j->device, j->steps, NULL, NULL);
    must(clFinish(j->device.compute_queue), "clFinish");
}

/* Seconds of a batch, one after the other. */
static double loop(struct job *j, bool copies, double seconds)
{
    uint64_t batches = 0;
    double begin = clock_now(), now;

    do {
        if (copies) {
            pool_copy(&j->pool, batches, j->host[0]);
            must(clEnqueueWriteBuffer(j->device.copy_queue, j->memory[0], CL_TRUE, 0, j->pool.batch, j->host[0], 0,
                                      NULL, NULL),
                 "clEnqueueWriteBuffer");
        }
        compute_and_wait(j);
        batches++;
        now = clock_now();
    } while (now - begin < seconds);
    return (now - begin) / (double)batches;
}

static double by_feeder(struct job *j, struct lade_feeder *feeder, double seconds)
{
    struct lade_feeder_batch batch;
    uint64_t batches = 0;
    double begin = clock_now();

    while (clock_now() - begin < seconds && lade_feeder_next(feeder, &batch, LADE_FOREVER, NULL) == LADE_OK) {
        must(lade_feeder_stream_wait(feeder, &batch, j->device.compute_queue, NULL), "lade_feeder_stream_wait");
        device_compute(&j->device, j->steps, NULL, NULL);
        (void)lade_feeder_release(feeder, &batch, LADE_DONE_STREAM, j->device.compute_queue, NULL);
        batches++;
    }
    must(clFinish(j->device.compute_queue), "clFinish");
    return (clock_now() - begin) / (double)batches;
}

/* What one writes by hand: fill one buffer while the other is used. */
static double by_hand(struct job *j, double seconds)
{
    cl_event written[BUFFERS] = {NULL}, used[BUFFERS] = {NULL};
    uint64_t batches = 0;
    double begin = clock_now();

    for (; clock_now() - begin < seconds; batches++) {
        unsigned i = (unsigned)(batches % BUFFERS);
        if (written[i]) {
            must(clWaitForEvents(1, &written[i]), "clWaitForEvents");
            clReleaseEvent(written[i]);
        }
        pool_copy(&j->pool, batches, j->host[i]);
        must(clEnqueueWriteBuffer(j->device.copy_queue, j->memory[i], CL_FALSE, 0, j->pool.batch, j->host[i],
                                  used[i] ? 1 : 0, used[i] ? &used[i] : NULL, &written[i]),
             "clEnqueueWriteBuffer");
        must(clFlush(j->device.copy_queue), "clFlush");
        if (used[i])
            clReleaseEvent(used[i]);
        device_compute(&j->device, j->steps, &written[i], &used[i]);
        must(clFlush(j->device.compute_queue), "clFlush");
    }
    must(clFinish(j->device.compute_queue), "clFinish");
    double time = (clock_now() - begin) / (double)batches;
    for (int i = 0; i < BUFFERS; i++) {
        if (written[i])
            clReleaseEvent(written[i]);
        if (used[i])
            clReleaseEvent(used[i]);
    }
    return time;
}

static double overlapped(struct job *j, struct lade_feeder *feeder, double seconds)
{
    return feeder ? by_feeder(j, feeder, seconds) : by_hand(j, seconds);
}

/* Steps with which the kernel takes as long as the copies. */
static void calibrate(struct job *j, double wanted, double seconds)
{
    j->steps = 1000;
    for (int round = 0; round < 3; round++)
        j->steps = (uint64_t)((double)j->steps * wanted / loop(j, false, seconds)) + 1;
}

int main(int argc, char **argv)
{
    static struct job job;
    double apart = 0, both = 0;
    cl_int code;

    if (argc != 5) {
        fprintf(stderr, "usage: %s feeder|helped|double BYTES DEPTH SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    double seconds = strtod(argv[4], NULL);
    unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
    pool_open(&job.pool, strtoull(argv[2], NULL, 10), false);
    device_open(&job.device);
    for (int i = 0; i < BUFFERS; i++) {
        job.host[i] = aligned_alloc(4096, job.pool.batch);
        memset(job.host[i], 1, job.pool.batch);
        job.memory[i] = clCreateBuffer(job.device.context, CL_MEM_READ_WRITE, job.pool.batch, NULL, &code);
        must(code, "clCreateBuffer");
    }
    (void)loop(&job, true, seconds / 8);
    calibrate(&job, loop(&job, true, seconds / 4), seconds / 8);
    struct lade_feeder *feeder = strcmp(argv[1], "double") == 0
                                     ? NULL
                                     : feeder_made(&job.pool, depth, strcmp(argv[1], "helped") == 0, &job.device);
    (void)overlapped(&job, feeder, seconds / 8);
    for (int turn = 0; turn < TURNS; turn++) {
        apart += loop(&job, true, seconds / TURNS);
        both += overlapped(&job, feeder, seconds / TURNS);
    }
    lade_feeder_destroy(feeder);
    printf("%.0f %.3f 1\n", apart / TURNS * 1e9, both / TURNS * 1e9);
    return 0;
}
