/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of the feeder. Internal. */
#ifndef LADE_GPU_FEEDER_H
#define LADE_GPU_FEEDER_H

#include "backends.h"
#include "slots.h"

#include <lade/ref.h>
#include <pthread.h>

/* Events that complete when the consumers are done with a slot: one of the batch, one of each exported tensor. */
#define LADE_FEEDER_MARKS (1u + LADE_TENSORS_MAX)

/*
 * A slot belongs to the thread whose turn it is, except marks, which stop reads at any time. staging, device and the
 * events do not change.
 */
struct lade_staging_slot {
    void *staging;
    void *device;
    void *ready;
    void *done[LADE_FEEDER_MARKS];
    _Atomic unsigned marks; /* bit i: done[i] was recorded since the last batch */
    uint64_t number, rows;
    int status; /* of fill */
    struct lade_error error;
    struct lade_shape shape[LADE_TENSORS_MAX]; /* with the rows of this batch */
    /* While consumers hold it. */
    struct lade_feeder *feeder;
    struct lade_ref holds; /* of the batch and of its exported tensors */
    unsigned exported;     /* bit i: tensor i was exported */
};

struct lade_feeder_counts {
    _Atomic uint64_t filled, copied, taken, released;
    _Atomic uint64_t consumer_waits, throttle_waits, starved, copies_timed;
    _Atomic int64_t starved_time, fill_time, copy_time;
};

struct lade_feeder {
    struct lade_slots slots;
    uint32_t generation; /* of the process that runs the threads, see fork.h */
    struct lade_staging_slot *slot;
    const struct lade_backend *backend;
    void *device; /* the backend's self */
    lade_feeder_fill *fill;
    void *self;
    bool consumer_assists; /* consumers fill as well */
    lade_feeder_trace *trace;
    void *trace_context;
    unsigned tensors;
    struct lade_shape shape[LADE_TENSORS_MAX];
    size_t offset[LADE_TENSORS_MAX]; /* of a tensor in its slot */
    size_t bytes;                    /* of a slot */
    unsigned device_id;
    struct lade_feeder_counts counts;

    /* Written by the first thread that observes a device failure, before it stops the slots. */
    _Atomic bool failing;
    struct lade_device_failure failure;

    /* Used only by creation, stop and destruction. */
    void *memory; /* of the turns, memory_depth of them */
    unsigned memory_depth;
    const struct lade_alloc *device_alloc;
    const struct lade_alloc *alloc; /* NULL: the C library's */
    bool user_staging;
    struct lade_ref users;    /* the creator and the exported tensors */
    _Atomic unsigned running; /* 2 * threads, and consumers that fill; plus 1 when it is stopped */
    struct lade_event gone;   /* notified when running decreases */
    unsigned threads;
    pthread_t thread[LADE_FEEDER_FILLERS_MAX];
};

/* Makes one batch, in a feeder's thread. Whether there can be another one. */
bool lade_feeder_fill_one(struct lade_feeder *f);

/* False in a child of fork(), which has the memory, but neither the threads nor the device. */
bool lade_feeder_is_here(const struct lade_feeder *f);

/* A thread has ended, or a consumer has stopped filling. */
void lade_feeder_gone(struct lade_feeder *f);

/* After a stop: no thread starts filling; waits until all that did have finished. LADE_OK, LADE_TIMEOUT. */
int lade_feeder_await_alone(struct lade_feeder *f, int64_t deadline);

/* Sets how late sleeps of this thread may end, in nanoseconds; 0 and below: unchanged. Returns the old value. */
int lade_feeder_set_slack(int slack);

/* Ends the feeder after a device call that failed. LADE_DEVICE. */
int lade_feeder_fail(struct lade_feeder *f, const struct lade_device_failure *failure);

/* Waits until the event is complete. LADE_OK, LADE_TIMEOUT, LADE_DEVICE; until_stopped: also the status of stop. */
int lade_feeder_await(struct lade_feeder *f, void *event, int64_t deadline, bool until_stopped,
                      _Atomic uint64_t *waits);

/* Drops one holder of the slot. */
int lade_feeder_let_go(struct lade_feeder *f, struct lade_staging_slot *slot, unsigned mark, enum lade_done done,
                       void *handle);

/* Drops one user; the exported tensors and the creator each hold the feeder. */
void lade_feeder_leave(struct lade_feeder *f);

/* Describes a device failure in the error. */
int lade_feeder_error(struct lade_error *error, int status, const char *backend,
                      const struct lade_device_failure *failure);

/* Fills the error, if there is one to fill, and returns status. */
#if defined __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
int lade_feeder_refuse(struct lade_error *error, int status, const char *format, ...);

/* Reports that the feeder belongs to another process. LADE_INVALID. */
int lade_feeder_refuse_child(struct lade_error *error);

/* Reports an invalid number of rows from fill. LADE_INVALID. */
int lade_feeder_error_rows(struct lade_error *error, uint64_t rows, uint64_t most);

/* Reports an invalid status of fill. LADE_IO. */
int lade_feeder_error_status(struct lade_error *error, int status);

/* Describes the failure of a call on a batch, unless status is LADE_OK. Returns status. */
int lade_feeder_error_call(struct lade_feeder *f, int status, struct lade_error *error);

/* Copies the error of fill. Returns its status. */
int lade_feeder_error_fill(struct lade_error *error, const struct lade_staging_slot *slot);

static inline void lade_feeder_note(struct lade_feeder *f, enum lade_feeder_step step, uint64_t number)
{
    if (f->trace)
        f->trace(f->trace_context, step, number, (unsigned)(number % f->slots.depth), lade_now());
}

/* Statistics order nothing. */
static inline void lade_feeder_add(_Atomic uint64_t *count, uint64_t n)
{
    atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

static inline void lade_feeder_add_time(_Atomic int64_t *count, int64_t n)
{
    atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

#endif
