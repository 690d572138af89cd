/* SPDX-License-Identifier: MIT */
/*
 * feeder: batches from host memory to a device, ahead of the consumer and without making it wait.
 *
 * A feeder has a ring of slots. Each has staging memory on the host (pinned if the device needs that) and memory on the
 * device, allocated once. The feeder's threads call a user callback that writes a batch directly into the staging
 * memory of a slot, copy the slot on the feeder's own stream, and hand out the batches in order, each with an event
 * that completes when the copy has arrived. The consumer makes its stream wait for that event, enqueues its work, and
 * releases the batch with its stream (or an event): the slot is reused only after the stream has passed that point.
 *
 * When not to use it: for batches whose sizes differ by more than a short last one.
 *
 * Threads      next, release, export and the waits: any number of threads, each batch held by one at a time.
 *              close, stop, stats and failed: any thread. destroy: no other thread uses the feeder, but exported
 *              tensors may outlive it.
 * Order        batches are numbered from 0. next returns each number once, in order; with several consumers, each
 *              number to one of them. Batch n is in slot n % depth: holding batch n blocks batch n + depth.
 * Progress     next waits until the copy of a batch has been enqueued, never for the device, unless consumers fill
 *              (config.consumer_assists). release never waits.
 *              Only lade_feeder_host_wait() waits for the device in the consumer's thread. The feeder's own threads
 *              wait for the device when the consumer is further ahead of it than there are slots; stats counts both.
 * Memory       depth slots of the bytes of a batch, each tensor rounded up to LADE_DEVICE_ALIGN, once on the host and,
 *              unless the backend is host, once on the device. In steady state nothing is allocated, except for each
 *              exported tensor (below 1 KiB).
 * Device loss  the first device call that fails ends the feeder: next returns LADE_DEVICE from then on, and
 *              lade_feeder_failed() reports the call and what it returned. stop and destroy still work.
 * Fork         threads and device stay in the process that created the feeder. In a child, next, the waits, export,
 *              release and stop return LADE_INVALID at once, lade_feeder_native() NULL. destroy and the deleters of
 *              exported tensors free the host memory. They do not wait, and call neither the device's driver nor
 *              config.device_alloc; device memory is left to the driver. Batches and tensors that the child holds stay
 *              readable on the host until then, if the driver gives a child access to pinned memory. Create a feeder in
 *              each process: on host at any time, on opencl only if none was created on opencl before the fork
 *              (LADE_INVALID), on cuda if the driver allows it. A fill function that forks does so inside the feeder:
 *              that child may only exec or _exit. The same holds for a child of vfork() or _Fork(), which run no
 *              handlers.
 * Stopped      a fill function that never returns blocks its batch and all later ones; next and stop then return
 *              LADE_TIMEOUT. So does a consumer that stops while it fills.
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

#define LADE_FEEDER_DEPTH_MAX 64u   /* limit of lade_feeder_config.depth */
#define LADE_FEEDER_DEPTH 3u        /* one batch each to fill, copy and use at a time */
#define LADE_FEEDER_FILLERS_MAX 64u /* limit of lade_feeder_config.fillers */

/* Argument of a fill function: the memory for one batch. Read it in place. */
struct lade_feeder_slot {
    uint64_t number;                /* of the batch */
    uint64_t rows;                  /* in: dim[0] of the shapes. out: rows written, 1 or more */
    unsigned tensors;               /* as in the config */
    const struct lade_shape *shape; /* of the tensors, as in the config */
    void *data[LADE_TENSORS_MAX];   /* destination of each, aligned to LADE_DEVICE_ALIGN */
    size_t bytes[LADE_TENSORS_MAX]; /* of each, if all rows are written */
};

/*
 * Writes batch slot->number. config.fillers threads call it concurrently, for consecutive numbers, each once.
 * LADE_OK
 * LADE_EMPTY       there is no such batch, nor any with a higher number.
 * LADE_TIMEOUT     ends the feeder with LADE_IO, because next uses this status itself. So does a positive status.
 * else             a negative status ends the feeder: next returns the batches before this one, then this status, with
 *                  the text of error.
 */
typedef int lade_feeder_fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error);

/* Steps of a slot, for lade_feeder_trace: batch number in slot, at is the time in nanoseconds of CLOCK_MONOTONIC. */
enum lade_feeder_step {
    LADE_FEEDER_FILL_BEGINS,   /* a thread calls fill */
    LADE_FEEDER_FILLED,        /* fill has returned */
    LADE_FEEDER_COPY_ENQUEUED, /* its copy is enqueued */
    LADE_FEEDER_COPY_SEEN,     /* the copy was observed complete, some time after it completed */
    LADE_FEEDER_TAKEN,         /* next returned it */
    LADE_FEEDER_RELEASED,      /* the consumer has returned it */
};
/* Called by the threads that perform the steps, concurrently. */
typedef void lade_feeder_trace(void *context, enum lade_feeder_step step, uint64_t number, unsigned slot, int64_t at);

/* Zero means the default where one is named. */
struct lade_feeder_config {
    const char *backend; /* "host" (default), "opencl", "cuda"; see lade_feeder_backend() */
    unsigned device;     /* which device of the backend, from 0 */
    /* opencl: the consumer's cl_context and cl_device_id; default: created by the feeder. Others: NULL. */
    void *native[2];
    lade_feeder_fill *fill; /* writes the batches */
    void *self;             /* argument of fill */
    unsigned fillers;       /* threads that call fill; default 1 */
    /*
     * Consumers count as one of the fillers: where next would wait, it fills a slot, and one thread fewer is started,
     * with the default none. Best for small batches and a fast consumer. fill then runs inside next. Whatever its
     * timeout, next cannot return while fill runs, nor while the slot that it is to fill is still being copied.
     */
    bool consumer_assists;
    unsigned tensors;               /* of a batch, 1 to LADE_TENSORS_MAX */
    const struct lade_shape *shape; /* one for each; dim[0] is the rows of a batch, the same for all. Copied. */
    /* Slots, 1 to LADE_FEEDER_DEPTH_MAX. Default LADE_FEEDER_DEPTH, or fewer if pinned_limit does not allow it. */
    unsigned depth;
    uint64_t pinned_limit;                 /* maximum bytes of staging memory; default no limit */
    enum lade_device_priority priority;    /* of the stream that copies, if the device has priorities */
    const struct lade_alloc *device_alloc; /* of device memory: put frees what get returned; default the backend's */
    /*
     * The caller's staging memory, one address for each of depth slots, lade_feeder_bytes() each, aligned to the page
     * size. It is registered with the device (pinned) while the feeder lives, and remains the caller's. Default the
     * backend's.
     */
    void *const *staging;
    lade_feeder_trace *trace; /* default none */
    void *trace_context;      /* argument of trace */
    /*
     * Allocator of the feeder's host memory: its structures, and staging memory unless it is the caller's or the
     * driver's (cuda). Default the C library's. Must outlive exported tensors.
     */
    const struct lade_alloc *alloc;
};

/* A feeder. */
struct lade_feeder;

/* The name of backend i of this build, NULL after the last. A name does not imply that there is a device. */
LADE_API const char *lade_feeder_backend(unsigned i);

/* Bytes of one slot for these shapes; 0 if they are not valid. */
LADE_API size_t lade_feeder_bytes(const struct lade_shape *shape, unsigned tensors);

/*
 * Starts filling at once. *feeder is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     a number out of range, or a driver used before fork().
 * LADE_NO_MEMORY   also when a thread could not be started.
 * LADE_LIMITED     the requested depth does not fit into pinned_limit.
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
 * A batch held by the consumer, valid until it is released. Functions that take a batch read only the fields up to
 * ready, so they accept a batch of an older program.
 */
struct lade_feeder_batch {
    uint64_t number;                             /* from 0, in order */
    uint64_t rows;                               /* that fill has written */
    unsigned tensors;                            /* number of tensor */
    unsigned slot;                               /* that it is in */
    struct lade_tensor tensor[LADE_TENSORS_MAX]; /* in the order of the config */
    void *ready; /* event that completes with the copy: cl_event, cudaEvent_t; host: NULL */
};

/*
 * Returns the next batch. Waits up to timeout nanoseconds until its copy is enqueued; LADE_FOREVER: no limit. Any other
 * negative timeout is the same as 0, here and below. error may be NULL.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_CLOSED      all batches were returned, or the feeder is stopped.
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
 * Work enqueued on the stream (cl_command_queue, cudaStream_t; host: ignored) after this call runs after the batch has
 * arrived. Does not wait.
 * LADE_OK
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_stream_wait(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                     void *stream, struct lade_error *error);

/*
 * Waits until the batch has arrived.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_host_wait(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                   int64_t timeout, struct lade_error *error);

/*
 * Returns the batch to the feeder. Any order, each batch once. Also after stop, before destroy.
 * LADE_OK
 * LADE_DEVICE      the device rejected the stream or event, which ends the feeder.
 * LADE_INVALID     a child of fork().
 */
LADE_API int lade_feeder_release(struct lade_feeder *feeder, const struct lade_feeder_batch *batch, enum lade_done done,
                                 void *handle, struct lade_error *error);

struct DLManagedTensorVersioned; /* see lade/dlpack.h */

/*
 * Exports a tensor of the batch to other libraries by DLPack 1. The slot is not reused until the tensor's deleter is
 * called and the stream (or event, see lade_done) has passed the work enqueued up to then. Any thread may call the
 * deleter, also after the batch was released, after stop and after destroy. After destroy the last deleter frees the
 * feeder's memory, for which it may wait for the device. handle must live as long as the tensor. Each tensor of a batch
 * can be exported once.
 * LADE_OK
 * LADE_TOO_MANY    this tensor was exported already.
 * LADE_NO_MEMORY
 * LADE_INVALID     no such tensor, or a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_export(struct lade_feeder *feeder, const struct lade_feeder_batch *batch,
                                                unsigned tensor, enum lade_side side, enum lade_done done, void *handle,
                                                struct DLManagedTensorVersioned **managed, struct lade_error *error);

/* Starts no further batch. next returns those that were started, then LADE_CLOSED. Does not wait. */
LADE_API void lade_feeder_close(struct lade_feeder *feeder);

/*
 * Ends the feeder: threads that wait in next get LADE_CLOSED, batches not taken are dropped. Waits until the feeder's
 * threads have ended and the device has passed all copies and releases. May be called again.
 * LADE_OK
 * LADE_TIMEOUT     it is stopped, but a fill function has not returned or the device has not completed.
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_feeder_stop(struct lade_feeder *feeder, int64_t timeout);

/*
 * Stops, without a time limit, and frees. Batches not released become invalid; exported tensors stay valid. NULL is
 * allowed.
 */
LADE_API void lade_feeder_destroy(struct lade_feeder *feeder);

/* Measurements since creation. */
struct lade_feeder_stats {
    uint64_t filled, copied, taken, released; /* batches so far */
    uint64_t copied_bytes;                    /* bytes of the copies so far */
    uint64_t consumer_waits;                  /* lade_feeder_host_wait() calls that had to wait for the device */
    uint64_t throttle_waits;                  /* times a filler had to wait for the device before writing a slot */
    uint64_t starved;                         /* next calls that found no batch with its copy enqueued */
    int64_t starved_time;                     /* nanoseconds, sum of their waits */
    int64_t fill_time;                        /* nanoseconds spent in fill, sum of all threads */
    int64_t copy_time;                   /* nanoseconds of copies on the device, if it reports them; see copies_timed */
    uint64_t copies_timed;               /* copies for which the device reported a duration */
    unsigned depth;                      /* slots */
    uint64_t pinned_bytes, device_bytes; /* memory of all slots */
};

/* Stores the measurements. Any thread. */
LADE_API void lade_feeder_stats_sized(struct lade_feeder *feeder, struct lade_feeder_stats *stats, size_t size);
static inline void lade_feeder_stats(struct lade_feeder *feeder, struct lade_feeder_stats *stats)
{
    lade_feeder_stats_sized(feeder, stats, sizeof *stats);
}

/* Whether a device call has failed; if so, fills failure with the first one. failure may be NULL. */
LADE_API bool lade_feeder_failed(struct lade_feeder *feeder, struct lade_device_failure *failure);

/* For the consumer's own objects. opencl: 0 the cl_context, 1 the cl_device_id. Others: NULL. */
LADE_API void *lade_feeder_native(struct lade_feeder *feeder, unsigned which);

LADE_END

#endif
