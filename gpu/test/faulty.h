/* SPDX-License-Identifier: MIT */
/*
 * A device with worst-case behaviour, for tests. One thread executes the streams: a random stream at each step, with
 * pauses in between. It copies in pieces, writes poison over memory before it copies there, and reports the completion
 * of events late. Calls fail on request, and the device can hang or be lost. In a child of fork(), where the thread
 * does not exist, a call that needs it ends the program.
 */
#ifndef LADE_TEST_FAULTY_H
#define LADE_TEST_FAULTY_H

#include "backends.h"

#define FAULTY_POISON 0xDB
#define FAULTY_CODE 719 /* what failed calls return */

struct faulty_config {
    uint64_t seed;
    unsigned rest;         /* of 256 steps, the number that are pauses */
    unsigned late;         /* of 256 queries of a complete event, the number that return "not yet" */
    uint64_t fail_call;    /* the call of this number fails, from 1; 0: none */
    const char *fail_name; /* count only calls of this name; NULL: all that may fail */
    bool poison_staging;   /* also staging memory, once it was copied */
    unsigned absent;       /* open returns LADE_ABSENT */
};

struct faulty;
struct faulty_stream;
struct faulty_event;

/* Its config goes into native[0] of the feeder's config. */
extern const struct lade_backend faulty_backend;

/* The device of a feeder on this backend. */
struct faulty *faulty_of(struct lade_feeder *feeder);

/* Streams and events of the consumer. The device frees them at the end. */
struct faulty_stream *faulty_stream(struct faulty *device);
struct faulty_event *faulty_event(struct faulty *device);
void faulty_event_record(struct faulty *device, struct faulty_event *event, struct faulty_stream *stream);

/*
 * Enqueues kernel(argument, 0) ... kernel(argument, steps - 1) on the stream. memory must not be freed before they have
 * run; the device frees the argument, which is from malloc.
 */
void faulty_launch(struct faulty *device, struct faulty_stream *stream, void (*kernel)(void *argument, unsigned step),
                   void *argument, unsigned steps, const void *memory);

/* Waits until all streams are empty. */
void faulty_finish(struct faulty *device);

/* While it hangs nothing runs; work in progress has completed when this returns. */
void faulty_hang(struct faulty *device, bool hangs);

/* Every call fails after this one, and the work in the streams never completes. */
void faulty_lose(struct faulty *device);

/* Objects not freed, over all devices: memory, pinned memory, events and devices. */
long faulty_things(void);

/* Calls that may fail, of the last device that was opened. */
uint64_t faulty_calls(void);

#endif
