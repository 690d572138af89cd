/* SPDX-License-Identifier: MIT */
/*
 * A device that does what a device may do at worst, for tests. One thread of its own works through the streams: whichever
 * stream it likes, step by step, with rests in between. It copies in pieces, writes poison over memory before it copies
 * there, and says late that an event is complete. Calls fail when they are told to, and the device can hang or be lost. In a
 * child of fork(), where the thread is not, a call that asks for it ends the program.
 */
#ifndef LADE_TEST_FAULTY_H
#define LADE_TEST_FAULTY_H

#include "backends.h"

#define FAULTY_POISON 0xDB
#define FAULTY_CODE 719 /* what failed calls return */

struct faulty_config {
    uint64_t seed;
    unsigned rest;         /* of 256 steps, so many times it rests instead */
    unsigned late;         /* of 256 queries of a complete event, so many say "not yet" */
    uint64_t fail_call;    /* the call of this number fails, from 1; 0: none */
    const char *fail_name; /* count only calls of this name; NULL: all that may fail */
    bool poison_staging;   /* also staging memory, once it was copied */
    unsigned absent;       /* open answers LADE_ABSENT */
};

struct faulty;
struct faulty_stream;
struct faulty_event;

/* Its config goes into native[0] of the feeder's config. */
extern const struct lade_backend faulty_backend;

/* The device of a feeder on this backend. */
struct faulty *faulty_of(struct lade_feeder *feeder);

/* Streams and events of the consumer. The device frees them in the end. */
struct faulty_stream *faulty_stream(struct faulty *device);
struct faulty_event *faulty_event(struct faulty *device);
void faulty_event_record(struct faulty *device, struct faulty_event *event, struct faulty_stream *stream);

/*
 * Puts kernel(argument, 0) ... kernel(argument, steps - 1) into the stream. memory must not be freed before that; the
 * argument, which malloc gave, is freed by the device.
 */
void faulty_launch(struct faulty *device, struct faulty_stream *stream, void (*kernel)(void *argument, unsigned step),
                   void *argument, unsigned steps, const void *memory);

/* Waits until all streams are empty. */
void faulty_finish(struct faulty *device);

/* Nothing is done while it hangs; what was under way has been done when this returns. */
void faulty_hang(struct faulty *device, bool hangs);

/* Everything fails from here on, and what is in the streams is never done. */
void faulty_lose(struct faulty *device);

/* Things got and not put, over all devices: memory, pinned memory, events and devices. */
long faulty_things(void);

/* Calls that may fail, of the last device that was opened. */
uint64_t faulty_calls(void);

#endif
