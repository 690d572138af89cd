/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of the faulty device. */
#ifndef LADE_TEST_FAULTY_DEVICE_H
#define LADE_TEST_FAULTY_DEVICE_H

#include "faulty.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define STREAMS_MAX 64

/* One recording of an event in a stream; a waiter waits for this record, whatever happens to the event later. */
struct faulty_record {
    unsigned holds;
    bool complete;
};

struct faulty_event {
    struct faulty_record *record; /* the last; NULL: none yet */
    struct faulty_event *next;
};

struct operation {
    enum { COPY, KERNEL, RECORD, WAIT } what;
    struct operation *next;
    unsigned step, steps;
    const void *memory; /* in use until it is done */
    char *to;
    char *from;
    size_t bytes;
    void (*kernel)(void *argument, unsigned step);
    void *argument;               /* freed after the last step */
    struct faulty_record *record; /* recorded or waited for */
};

struct faulty_stream {
    struct operation *first, *last;
};

struct faulty {
    struct faulty_config config;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    pid_t process;
    struct faulty_stream stream[STREAMS_MAX]; /* 0 copies, 1 serves the consumers' events */
    unsigned streams;
    struct faulty_event *user_events;
    uint64_t random;
    uint64_t fails; /* calls that could fail so far */
    bool hangs, lost, ends, busy;
    bool left; /* this is a child of fork(): there is no thread, and the lock must not be taken */
};

extern atomic_long faulty_all; /* objects not freed */

/* Ends the program: the feeder broke a rule. */
void faulty_die(const char *text);

/* A random number below this. Locked. */
unsigned faulty_any(struct faulty *d, unsigned below);

/* Counts a call; whether it fails. Locked. */
int faulty_may_fail(struct faulty *d, const char *call, struct lade_device_failure *failure);

/* Appends to the stream. Locked. */
void faulty_put_operation(struct faulty *d, struct faulty_stream *stream, const struct operation *what);
void faulty_put_record(struct faulty *d, struct faulty_stream *stream, struct faulty_event *event);
void faulty_put_wait(struct faulty *d, struct faulty_stream *stream, struct faulty_event *event);

/* The event is complete, or was never recorded. Locked. */
bool faulty_is_complete(const struct faulty_event *event);
void faulty_free_event(struct faulty *d, struct faulty_event *event);

int faulty_open(void **self, const struct lade_backend_config *config, struct lade_device_failure *failure);
void faulty_close(void *self);
void faulty_leave(void *self);

#endif
