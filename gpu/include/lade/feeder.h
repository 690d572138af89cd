/* SPDX-License-Identifier: MIT */
/*
 * feeder: batches from host memory to a device, ahead of the consumer and without making it wait.
 *
 * A feeder has a ring of slots, each with staging memory on the host (pinned where the device wants that) and memory on
 * the device, allocated once. Its threads call a function of yours that writes a batch directly into a slot's staging
 * memory, copy the slot on a stream of the feeder's own, and hand the batch out in order, with an event that says when
 * the copy has arrived. The consumer lets its stream wait for that event, starts its work, and releases the batch with
 * its stream (or an event): the slot is written again only after the stream has passed that point.
 *
 * When not to use it: for batches whose size differs from one to the next by more than a short last one.
 *
 * Threads      next, release, export and the waits: any number of threads, each batch in the hands of one at a time.
 *              close, stop, stats and failed by anyone. destroy: nobody else uses the feeder, but exported tensors may
 *              live on.
 * Order        batches are numbered from 0. next gives each number once, in order; with several consumers, each number to
 *              one of them. Batch n lies in slot n % depth: who holds it keeps batch n + depth from coming.
 * Progress     next waits until a batch is on its way to the device, never for the device, unless consumers fill
 *              (config.consumer_assists). release never waits.
 *              Only lade_feeder_host_wait() waits for the device in the consumer's thread. The feeder's own threads wait
 *              for the device when the consumer runs further ahead of it than there are slots; stats counts both.
 * Memory       depth slots of the bytes of a batch, each tensor rounded up to LADE_DEVICE_ALIGN, once on the host and,
 *              unless the backend is host, once on the device. Nothing is allocated while batches flow, but for a
 *              tensor that is exported (below 1 KiB).
 * Device loss  the first call of the device that fails ends the feeder: next answers LADE_DEVICE from then on, and
 *              lade_feeder_failed() says which call it was and what it returned. stop and destroy work as ever.
 * Fork         threads and device stay in the process that made the feeder. In a child, next, the waits, export, release
 *              and stop return LADE_INVALID at once, lade_feeder_native() NULL. destroy, and the deleters of exported
 *              tensors, free the host memory, wait for nobody and call neither the device's driver nor
 *              config.device_alloc; what is on the device is left to it. Batches and tensors that the child holds stay
 *              readable on the host until then, where the driver lets a child have pinned memory. Make a feeder in each
 *              process: on host at any time, on opencl only where none was made on opencl before the fork
 *              (LADE_INVALID), on cuda where the driver allows it. A fill function that forks is inside the feeder: that
 *              child may only exec or _exit. So may a child of vfork() or _Fork(), which run no handlers.
 * Stopped      a fill function that never returns keeps its batch, and those behind it, from the consumer; next and
 *              stop answer LADE_TIMEOUT then. So does a consumer that stops while it fills.
 */
#ifndef LADE_FEEDER_H
#define LADE_FEEDER_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/device.h>
#include <lade/error.h>
#include <lade/source.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_FEEDER_DEPTH_MAX 64u
#define LADE_FEEDER_DEPTH 3u /* fill, copy and use one batch each at a time */
#define LADE_FEEDER_FILLERS_MAX 64u

/* What a fill function gets: the memory for one batch. */
struct lade_feeder_slot {
    uint64_t number;                /* of the batch */
    uint64_t rows;                  /* in: dim[0] of the shapes. out: how many rows were written, 1 or more */
    unsigned tensors;               /* as in the config */
    const struct lade_shape *shape; /* of the tensors, as in the config */
    void *data[LADE_TENSORS_MAX];   /* where each is written, at a multiple of LADE_DEVICE_ALIGN */
    size_t bytes[LADE_TENSORS_MAX]; /* of each, when all rows are written */
};

/*
 * Writes batch slot->number. LADE_OK; LADE_EMPTY: there is no such batch, nor any of a higher number; another negative
 * status ends the feeder: next gives the batches before this one, then that status, with the text of error. A positive
 * status, and LADE_TIMEOUT, which is next's own, end it as LADE_IO. Called by config.fillers threads at a time, for numbers
 * that follow each other, each once.
 */
typedef int lade_feeder_fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error);

/* What happens to a slot, for lade_feeder_trace: each step of batch number in slot, at a CLOCK_MONOTONIC nanosecond. */
enum lade_feeder_step {
    LADE_FEEDER_FILL_BEGINS,
    LADE_FEEDER_FILLED,
    LADE_FEEDER_COPY_ENQUEUED,
    LADE_FEEDER_COPY_SEEN, /* the copy was found complete, at some time after it was */
    LADE_FEEDER_TAKEN,
    LADE_FEEDER_RELEASED,
};
/* Called by the threads that make the steps, several at a time. */
typedef void lade_feeder_trace(void *context, enum lade_feeder_step step, uint64_t number, unsigned slot, int64_t at);

/* Zero means the default where one is named. */
struct lade_feeder_config {
    const char *backend; /* "host" (default), "opencl", "cuda"; see lade_feeder_backend() */
    unsigned device;     /* which device of the backend, from 0 */
    /* opencl: the consumer's cl_context and cl_device_id; default: made by the feeder. Others: NULL. */
    void *native[2];
    lade_feeder_fill *fill;
    void *self;
    unsigned fillers; /* threads that call fill; default 1 */
    /*
     * Consumers are one of the fillers: where next would wait, it fills a slot, and one thread fewer is started, with the
     * default none. Best where batches are small and the consumer is quick. fill then runs inside next, which cannot end
     * while it does, nor while a slot that it is to fill is still being copied, whatever its timeout.
     */
    bool consumer_assists;
    unsigned tensors;               /* of a batch, 1 to LADE_TENSORS_MAX */
    const struct lade_shape *shape; /* one for each; dim[0] is the rows of a batch, the same for all. Copied. */
    /* Slots, 1 to LADE_FEEDER_DEPTH_MAX. Default LADE_FEEDER_DEPTH, or fewer where pinned_limit does not allow it. */
    unsigned depth;
    uint64_t pinned_limit;                 /* bytes of staging memory at most; default no limit */
    enum lade_device_priority priority;    /* of the stream that copies, where the device knows priorities */
    const struct lade_alloc *device_alloc; /* of device memory: what get returns goes to put; default the backend's */
    /*
     * Your own staging memory, one address for each of depth slots, lade_feeder_bytes() each, at multiples of the page
     * size. It is registered with the device (pinned) while the feeder lives, and stays yours. Default the backend's.
     */
    void *const *staging;
    lade_feeder_trace *trace; /* default none */
    void *trace_context;
    /* Of the feeder's own structures on the host; default the C library's. Must outlive exported tensors. */
    const struct lade_alloc *alloc;
};

struct lade_feeder;

/* The names of the backends of this build, in turn; NULL behind the last. A name says nothing about a device. */
LADE_API const char *lade_feeder_backend(unsigned i);

/* Bytes of one slot for these shapes; 0 when they are not valid. */
LADE_API size_t lade_feeder_bytes(const struct lade_shape *shape, unsigned tensors);

/*
 * Begins to fill at once. *feeder is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     a number out of range, or a driver used before fork().
 * LADE_NO_MEMORY   also when a thread could not be started.
 * LADE_LIMITED     the depth asked for does not fit into pinned_limit.
 * LADE_ABSENT      no such backend in this build or on this machine.
 * LADE_DEVICE      the driver failed; the error names the call.
 */
LADE_API LADE_MUST_CHECK int lade_feeder_create_sized(struct lade_feeder **feeder,
                                                      const struct lade_feeder_config *config, size_t size,
                                                      struct lade_error *error);
static inline LADE_MUST_CHECK int lade_feeder_create(struct lade_feeder **feeder,
                                                     const struct lade_feeder_config *config, struct lade_error *error)
{
    return lade_feeder_create_sized(feeder, config, sizeof *config, error);
}

/*
 * A batch in the hands of the consumer, valid until it is released. Functions that take a batch read only the fields up to
 * ready, so that a batch of an older program will do.
 */
struct lade_feeder_batch {
    uint64_t number;
    uint64_t rows;
    unsigned tensors;
    unsigned slot;
    struct lade_tensor tensor[LADE_TENSORS_MAX];
    void *ready; /* the event behind the copy: cl_event, cudaEvent_t; host: NULL */
};

/*
 * The next batch. Waits up to timeout nanoseconds for it to be on its way, for ever when LADE_FOREVER; any other negative
 * timeout is the same as 0, here and below. error may be NULL.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_CLOSED      all batches were given, or the feeder is stopped.
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 * else             what fill returned.
 */
LADE_API LADE_MUST_CHECK int lade_feeder_next_sized(struct lade_feeder *feeder, struct lade_feeder_batch *batch,
                                                    size_t size, int64_t timeout, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_feeder_next(struct lade_feeder *feeder, struct lade_feeder_batch *batch,
                                                   int64_t timeout, struct lade_error *error)
{
    return lade_feeder_next_sized(feeder, batch, sizeof *batch, timeout, error);
}

/*
 * What is put into the stream (cl_command_queue, cudaStream_t; host: ignored) from here on runs after the batch has
 * arrived. Does not wait.
 * LADE_OK
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_stream_wait(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                     void *stream);

/*
 * Waits until the batch has arrived.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_host_wait(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                   int64_t timeout);

/*
 * Gives the batch back, in any order, once. Also after stop, before destroy.
 * LADE_OK
 * LADE_DEVICE      the device did not take the stream or event, which ends the feeder.
 * LADE_INVALID     a child of fork().
 */
LADE_API int lade_feeder_release(struct lade_feeder *feeder, const struct lade_feeder_batch *batch, enum lade_done done,
                                 void *handle);

struct DLManagedTensorVersioned; /* see lade/dlpack.h */

/*
 * A tensor of the batch for other libraries, by DLPack 1. It keeps the slot from being written until its deleter is
 * called and the stream (or event, see lade_done) has passed what was put into it up to then. The deleter may be
 * called by any thread, also after the batch was released, after stop and after destroy; the last one then frees the
 * feeder's memory, for which it may wait for the device. handle must live as long as the tensor. Each tensor of a batch
 * can be exported once.
 * LADE_OK
 * LADE_TOO_MANY    this tensor was exported already.
 * LADE_NO_MEMORY
 * LADE_INVALID     no such tensor, or a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_export(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                unsigned tensor, enum lade_side side, enum lade_done done, void *handle,
                                                struct DLManagedTensorVersioned **managed);

/* No further batch is begun. next gives those that were, then LADE_CLOSED. Does not wait. */
LADE_API void lade_feeder_close(struct lade_feeder *feeder);

/*
 * Ends the feeder: who waits in next gets LADE_CLOSED, batches not taken are dropped. Waits until the feeder's threads
 * have ended and the device has passed all copies and releases. May be called again.
 * LADE_OK
 * LADE_TIMEOUT     it is stopped, but a fill function has not returned or the device is not done.
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_stop(struct lade_feeder *feeder, int64_t timeout);

/* Stops, however long that takes, and frees. Batches not released are gone; exported tensors stay. NULL is fine. */
LADE_API void lade_feeder_destroy(struct lade_feeder *feeder);

struct lade_feeder_stats {
    uint64_t filled, copied, taken, released; /* batches so far */
    uint64_t copied_bytes;
    uint64_t consumer_waits; /* lade_feeder_host_wait() calls that had to wait for the device */
    uint64_t throttle_waits; /* times that a filler had to wait for the device before it could write a slot */
    uint64_t starved;        /* next calls that found no batch on its way */
    int64_t starved_time;    /* nanoseconds that they waited together */
    int64_t fill_time;       /* nanoseconds spent in fill, all threads together */
    int64_t copy_time;       /* nanoseconds of copies on the device, as far as it says; see copies_timed */
    uint64_t copies_timed;
    unsigned depth;
    uint64_t pinned_bytes, device_bytes;
};

LADE_API void lade_feeder_stats_sized(struct lade_feeder *feeder, struct lade_feeder_stats *stats, size_t size);
static inline void lade_feeder_stats(struct lade_feeder *feeder, struct lade_feeder_stats *stats)
{
    lade_feeder_stats_sized(feeder, stats, sizeof *stats);
}

/* Whether a call of the device has failed; if so the first one. failure may be NULL. */
LADE_API bool lade_feeder_failed(struct lade_feeder *feeder, struct lade_device_failure *failure);

/* What the consumer's own objects are made with. opencl: 0 the cl_context, 1 the cl_device_id. Others: NULL. */
LADE_API void *lade_feeder_native(struct lade_feeder *feeder, unsigned which);

LADE_END

#endif
