/* SPDX-License-Identifier: MIT */
/*
 * loader: batches of a source, made by worker threads while the consumer is busy with the one before.
 *
 * A worker plans a batch (which samples), reads each of them, transforms it, and writes it straight to its place in the
 * memory that the consumer gets. Nothing is copied in between, and no queue is shared: a finished batch goes to its own
 * place in a ring, where the consumer finds it in order.
 *
 * Epoch mode (lade_loader_next() on a loader of lade_loader_create())
 *   Each sample of the part is delivered exactly once in each epoch, in a random order that is a function of seed, epoch and
 *   the number of samples, and of nothing else. With in_order the bytes of each batch, random transforms included, are the
 *   same for any number of threads and any timing; without it the batches of an epoch are the same but come as they are
 *   ready; 63 of them at least overtake one that is late.
 * Draws (config.draw other than LADE_DRAW_ONCE)
 *   Each place of an epoch is drawn independently, with replacement: LADE_DRAW_WEIGHTED gives sample i with probability
 *   weight[i] / sum of the weights of the part, LADE_DRAW_BALANCED each class with the same probability and within it each
 *   sample. Both up to 2^-32 of that probability. An epoch has as many places as the part has samples.
 * Stream mode (config.buffer > 0)
 *   What Lin 2026 describes: samples are put into a bag of config.buffer samples as they are ready and drawn from it
 *   uniformly. Each sample comes once for each epoch that is read; a batch may hold samples of two epochs. Batches depend on timing, and
 *   samples that are quick to prepare come sooner; there is no state to save. Endless sources have no other mode.
 *   Where reading a sample means copying it (arrays and mapped files of samples of one size; no pipeline, no exact split, no
 *   LADE_FAULT_SKIP), the buffer holds numbers of samples instead of samples. next draws the numbers, workers copy the samples.
 *   The buffer is full until the last epoch has no samples left.
 *
 * When not to use it: for samples of different sizes, and when a batch takes less than about 2 microseconds to make.
 *
 * Threads      next, detach, host_wait, state and stats belong to one thread at a time; export and stream_wait to the thread
 *              that has the batch; release and cancel to any. The functions of source and
 *              pipeline are called by the workers, in which signals are blocked but for those that a thread brings about
 *              itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) and SIGPROF: no handler of the application runs there.
 * Progress     next waits for the workers, at most as long as its timeout says. Workers take no lock; one that is stopped at
 *              any instruction holds back the batch that it makes until it is replaced (config.worker_timeout), and nobody else.
 * Memory       config.slots batches and one for each worker, allocated at creation, one more for each worker that is replaced,
 *              and one for each batch that is detached. With a device that copies, config.depth batches there.
 *              16 KiB for each worker where samples are shuffled. Stream mode through a bag: config.buffer samples, each with 48
 *              bytes of overhead, rounded up to 64. Stream mode by numbers: config.buffer times 16 bytes, and 16 bytes for each
 *              sample of a batch, for each slot and worker.
 *              Per sample of the source: nothing with LADE_DRAW_ONCE, whatever the split keeps; 12 bytes for the other draws.
 *              With LADE_FAULT_SUBSTITUTE a split adds 512 KiB during creation, and 8 bytes a sample of the part if it has
 *              at most 65,536.
 * Fork         the workers stay in the process that made the loader. In a child, next returns LADE_INVALID at once, destroy
 *              frees the memory without waiting, and the others work on the child's copy. Make a loader in each process;
 *              it may have the same source, pipeline and split. A function of source or pipeline that forks is inside a
 *              worker: that child may only exec or _exit. So may a child of vfork() or _Fork(), which run no handlers.
 * Device       with config.device, next also starts the copies of further batches that are ready, up to config.depth on the
 *              device and on their way. It does not wait for the copy of the batch that it returns; up to its timeout it waits
 *              when the device still copies from all buffers. A host buffer goes back to the workers when its copy is
 *              complete; labels and ids of a batch stay readable on the host, samples do not.
 * Errors       a negative status and a text in struct lade_error.
 */
#ifndef LADE_LOADER_H
#define LADE_LOADER_H

#include <lade/alloc.h>
#include <lade/device.h>
#include <lade/source.h>
#include <lade/split.h>
#include <lade/transform.h>

LADE_BEGIN

#define LADE_LOADER_THREADS_MAX 256u
#define LADE_LOADER_SLOTS_MAX 1024u
#define LADE_LOADER_SHARDS_MAX 4096u
#define LADE_LOADER_REPLACED_MAX 1024u
#define LADE_LOADER_DEPTH_MAX 64u
#define LADE_LOADER_ALIGN_MAX ((size_t)1 << 30)
#define LADE_BATCH_MAX (UINT64_C(1) << 24)

enum lade_draw_kind { LADE_DRAW_ONCE, LADE_DRAW_WEIGHTED, LADE_DRAW_BALANCED };
enum lade_fault {
    LADE_FAULT_FAIL, /* next answers the error of the sample */
    LADE_FAULT_SKIP, /* the batch has one sample less, and may have none; a stream has others in its place */
    /*
     * A sample of the part, drawn uniformly by (seed, epoch, id), takes its place; another one when that cannot be read
     * either. After 16 of them next returns the error of the last.
     */
    LADE_FAULT_SUBSTITUTE,
};

/* What happens to a batch, for config.trace: number is that of the plan, at a CLOCK_MONOTONIC nanosecond. */
enum lade_loader_step {
    LADE_STEP_MAKE, /* a worker begins to write it, in buffer slot; not for streams that go through a bag */
    LADE_STEP_MADE,
    LADE_STEP_COPY,   /* its copy to the device is enqueued, to device slot slot */
    LADE_STEP_COPIED, /* the copy was found complete, some time after it was */
    LADE_STEP_TAKEN,  /* next returned it; slot is the device's where there is one, else the buffer */
    LADE_STEP_RELEASED,
};
/* Called by the threads that take the steps, several at a time. */
typedef void lade_loader_trace(void *context, enum lade_loader_step step, uint64_t number, unsigned slot, int64_t at);

/* Zero means the default where one is named. What pointers point to must live as long as the loader. */
struct lade_loader_config {
    struct lade_source *source;
    const struct lade_pipeline *pipeline; /* NULL: samples as they are */
    struct lade_split *split;             /* NULL: the part is the whole source. Asked by lade_source_key() */
    unsigned part;
    uint64_t seed; /* any value is as good as another, 0 included */
    /*
     * Draw a seed instead; stats and state report it. resume takes that of the state. Not with several shards, which must
     * have one seed.
     */
    bool random_seed;
    uint64_t batch;   /* samples, to LADE_BATCH_MAX */
    bool drop_last;   /* leave out what is left at the end of an epoch when it is less than a batch */
    bool in_order;    /* see above; the contract calls it deterministic */
    bool sequential;  /* samples come by their numbers, not shuffled; for tests and evaluation */
    unsigned threads; /* workers, to LADE_LOADER_THREADS_MAX; default: processors */
    /*
     * The consumer is one of the threads: where next would wait, it makes a batch, and one worker fewer is started. Best where
     * the consumer is quick. Functions of source and pipeline then run inside next, which cannot end while they do; with an
     * exact split the consumer is registered with liburcu.
     */
    bool consumer_assists;
    /*
     * Batches that wait for the consumer or are with it; default 2 * threads + 2. Workers that have nothing to do are woken when
     * half of them were released, or when next finds no batch.
     */
    unsigned slots;
    uint64_t epochs;        /* default: no end */
    unsigned shard, shards; /* this is shard number shard of so many; default 0 of 1 */
    bool pad;               /* shards are made equally long by repeating samples; otherwise by leaving some out */
    enum lade_draw_kind draw;
    const double *weight; /* LADE_DRAW_WEIGHTED: one for each sample of the source, not negative */
    uint64_t buffer;      /* samples, two batches to 2^30; more than 0: stream mode */
    enum lade_fault fault;
    uint64_t
        faults_max; /* SKIP, SUBSTITUTE: so many faults in an epoch (a stream: in all) are tolerated; the next one fails. default: any number */
    int64_t
        worker_timeout; /* nanoseconds without a batch after which a worker is replaced; default 60 s, LADE_FOREVER: never; any other negative one: the default */
    unsigned
        replaced_max; /* workers replaced since creation, before next fails, to LADE_LOADER_REPLACED_MAX; default 16 */
    size_t align;     /* of the bytes of a batch, to LADE_LOADER_ALIGN_MAX; default and least LADE_DEVICE_ALIGN */
    /*
     * Of all that the loader allocates, batches on the host without a device included; default the C library's. Not of
     * states, and of what the order needs: 12 bytes a sample for draws, 16 KiB for each worker that shuffles, 8 bytes a sample
     * of a small part for substitutes. Called by several threads at a time. Must outlive
     * detached batches and exported tensors.
     */
    const struct lade_alloc *alloc;
    /*
     * Batches go to this device, see lade/gpu.h. Workers then write into memory of the device's backend.
     */
    struct lade_device *device;
    unsigned depth;           /* batches on the device, or on their way, to LADE_LOADER_DEPTH_MAX; default 3 */
    lade_loader_trace *trace; /* default none. Must outlive detached batches and exported tensors, as alloc */
    void *trace_context;
};

struct lade_loader;
struct lade_memory;

/*
 * Starts the workers. Goes once over the keys of the source where there is a split. *loader is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     a number out of range, or fields that do not go together.
 * LADE_NO_MEMORY   also when a thread could not be started.
 * LADE_EMPTY       the part has no sample, or less than a batch where the last is dropped.
 * LADE_DEVICE      the device failed; the error names the call.
 * LADE_IO          the system has no random seed.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_loader_create_sized(struct lade_loader **loader,
                                                      const struct lade_loader_config *config, size_t size,
                                                      struct lade_error *error);
static inline LADE_MUST_CHECK int lade_loader_create(struct lade_loader **loader,
                                                     const struct lade_loader_config *config, struct lade_error *error)
{
    return lade_loader_create_sized(loader, config, sizeof *config, error);
}

enum { LADE_SAMPLES, LADE_LABELS }; /* the tensors of a batch */

/*
 * Valid until released. Rows are samples; all arrays have count of them. Functions that take a batch read only the fields up
 * to memory, so that a batch of an older program will do.
 */
struct lade_batch {
    uint64_t number;       /* of the batch since creation or the saved state */
    uint64_t epoch;        /* of a stream: the earliest of its samples */
    uint64_t count;        /* samples */
    void *samples;         /* count * sample_bytes bytes; NULL: they are only on the device */
    size_t sample_bytes;   /* as the pipeline gives them, else as the source does */
    const int64_t *labels; /* LADE_NO_LABEL where there are none */
    const uint64_t *ids;   /* numbers of the samples in the source; with an endless source their keys */
    uint64_t faults;       /* samples that were skipped or substituted; of a stream 0, see lade_loader_stats() */
    bool last;             /* none of its epoch comes behind it; of a stream: it is shorter than the others */
    unsigned tensors;
    struct lade_tensor tensor[LADE_TENSORS_MAX]; /* LADE_SAMPLES and LADE_LABELS, on the device where there is one */
    void *ready;                /* the event behind the copy: cl_event, cudaEvent_t; NULL: nothing is under way */
    struct lade_memory *memory; /* the loader's */
};

/*
 * The next batch, waiting up to timeout nanoseconds (LADE_FOREVER: as long as it takes; 0 or any other negative one: not at all).
 * After an error other than LADE_TIMEOUT and LADE_TOO_MANY it returns the same again.
 * LADE_OK
 * LADE_TIMEOUT     try again.
 * LADE_CLOSED      the last epoch has ended.
 * LADE_CANCELLED
 * LADE_TOO_MANY    all slots (with a device: depth of them) are with the consumer or held by exported tensors: release or
 *                  detach one.
 * LADE_DEVICE      the device failed; the error names the call.
 * LADE_INVALID     a child of fork().
 * LADE_LIMITED     more faults or replacements than config.faults_max or replaced_max.
 * else             the error of a sample; LADE_IO where a user callback returned one of those above.
 */
LADE_API LADE_MUST_CHECK int lade_loader_next_sized(struct lade_loader *loader, struct lade_batch *batch, size_t size,
                                                    int64_t timeout, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_loader_next(struct lade_loader *loader, struct lade_batch *batch,
                                                   int64_t timeout, struct lade_error *error)
{
    return lade_loader_next_sized(loader, batch, sizeof *batch, timeout, error);
}

/*
 * Gives a batch back; its memory is used again, unless an exported tensor holds it. Any thread, any order, each batch once.
 * Detached batches also after destroy.
 */
LADE_API void lade_loader_release(struct lade_loader *loader, const struct lade_batch *batch);

/*
 * The same for a batch on a device that a stream still uses: its memory is written again after the stream (or event) has
 * completed. Without a device, done and handle are ignored. Does not wait, unless the batch is detached and no exported tensor
 * holds it: then it waits until the device has completed.
 * LADE_OK
 * LADE_DEVICE      the driver did not take the stream or event: the loader ends, next returns LADE_DEVICE.
 * LADE_INVALID     a child of fork(): the device is in the other process.
 */
LADE_API int lade_loader_release_after(struct lade_loader *loader, const struct lade_batch *batch, enum lade_done done,
                                       void *handle);

/*
 * Work put into the stream (cl_command_queue, cudaStream_t) from here on runs after the batch has arrived on the device.
 * Does not wait.
 * LADE_OK          also without a device.
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_stream_wait(struct lade_loader *loader, const struct lade_batch *batch,
                                                     void *stream);

/*
 * Waits until the batch has arrived.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_host_wait(struct lade_loader *loader, const struct lade_batch *batch,
                                                   int64_t timeout);

/*
 * The batch keeps its memory until it is released, and the loader allocates other memory: a detached batch is not counted
 * by LADE_TOO_MANY and outlives the loader. By the thread of next; waits for the copy of the batch, if it is under way.
 * Unless it is LADE_OK, the batch stays attached.
 * LADE_OK
 * LADE_NO_MEMORY
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_detach(struct lade_loader *loader, const struct lade_batch *batch,
                                                struct lade_error *error);

struct DLManagedTensorVersioned; /* see lade/dlpack.h */
struct DLManagedTensor;

/*
 * A tensor of the batch for other libraries, by DLPack 1, where the batch lies: on the device, or on the host without one.
 * It holds the memory of the batch until its deleter is called and the device has completed what done and handle said at
 * that moment (see lade_loader_release_after(); handle must live as long as the tensor). The deleter may be called by any
 * thread, also after release and destroy; memory of the loader stays allocated until then. The last deleter of a detached
 * batch or of a destroyed loader waits for the device. Each tensor of a batch can be exported once, by the thread that has
 * the batch.
 * LADE_OK
 * LADE_TOO_MANY    this tensor was exported already.
 * LADE_NO_MEMORY
 * LADE_INVALID     no such tensor, a batch without samples, or a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_export(struct lade_loader *loader, const struct lade_batch *batch,
                                                unsigned tensor, enum lade_done done, void *handle,
                                                struct DLManagedTensorVersioned **managed);

/* The same in DLPack's older form, without a version, for libraries that take only that. */
LADE_API LADE_MUST_CHECK int lade_loader_export_legacy(struct lade_loader *loader, const struct lade_batch *batch,
                                                       unsigned tensor, enum lade_done done, void *handle,
                                                       struct DLManagedTensor **managed);

/* Ends all waiting for good: next answers LADE_CANCELLED. Any thread, also a signal handler. */
LADE_API void lade_loader_cancel(struct lade_loader *loader);

/*
 * Ends the loader as cancel does, and waits until its workers have ended and the device has completed all copies and releases.
 * Batches, statistics and the state stay readable until destroy. timeout is as for next. May be called again.
 * LADE_OK
 * LADE_TIMEOUT     the loader is cancelled, but a worker is still inside a function of the source or the pipeline, or the
 *                  device has not completed: keep source, pipeline and split.
 * LADE_INVALID     a child of fork(): the workers are in the other process.
 */
LADE_API LADE_MUST_CHECK int lade_loader_stop(struct lade_loader *loader, int64_t timeout);

/*
 * Stops, however long that takes, and frees everything, also batches that were not released; detached batches and exported
 * tensors stay valid. In a child of fork() it waits for nobody. NULL is fine.
 */
LADE_API void lade_loader_destroy(struct lade_loader *loader);

struct lade_loader_stats {
    uint64_t samples; /* of the part, in an epoch of this shard */
    uint64_t batches; /* of an epoch */
    uint64_t part;    /* samples of the part in the whole source */
    uint64_t delivered, delivered_samples, faults, replaced;
    uint64_t slot_bytes; /* memory of one slot */
    /* Nanoseconds since creation, all workers together. What is left is planning and switching. */
    uint64_t read_time, transform_time, worker_wait_time;
    uint64_t consumer_wait_time; /* inside next */
    uint64_t running_time;       /* of all workers together, waiting included */
    const char *guarantee;       /* what holds of the order and of each draw in this mode, in a sentence */
    /* With a device that copies. */
    unsigned depth;
    uint64_t copied, copied_bytes; /* batches whose copy was enqueued */
    uint64_t copies_timed;         /* of them, where the device said how long they took */
    int64_t copy_time;             /* nanoseconds, of those */
    uint64_t consumer_waits;       /* lade_loader_host_wait() calls that had to wait */
    uint64_t device_bytes;         /* memory on the device */
    uint64_t seed;                 /* in use: that of the config, or the one that was drawn */
};
LADE_API void lade_loader_stats_sized(const struct lade_loader *loader, struct lade_loader_stats *stats, size_t size);
static inline void lade_loader_stats(const struct lade_loader *loader, struct lade_loader_stats *stats)
{
    lade_loader_stats_sized(loader, stats, sizeof *stats);
}

/*
 * Where the consumer stands: behind the last batch that next gave out. A line of text of a few hundred bytes, more with many
 * shards or batches out of order; the size with its final zero is answered, and no more than size bytes are written. 0: there is
 * no state in stream mode.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_state(const struct lade_loader *loader, char *to, size_t size);

/*
 * The same to a file, which is replaced whole or not at all.
 * LADE_OK
 * LADE_IO
 * LADE_INVALID     stream mode.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_loader_save(const struct lade_loader *loader, const char *path,
                                              struct lade_error *error);

/*
 * As create, from a state: goes on with the first sample that was not delivered. Threads, slots, batch and faults may differ
 * from before; source, split, part, seed, order and draw may not: LADE_CONFLICT. Shards may differ with a state that
 * lade_loader_merge_states() made. A source is known by its kind, number of samples, shape, classes, and by key and label of up to 64
 * samples: samples that were changed in place are not noticed.
 * LADE_DAMAGED: this is no state.
 */
LADE_API LADE_MUST_CHECK int lade_loader_resume_sized(struct lade_loader **loader,
                                                      const struct lade_loader_config *config, size_t size,
                                                      const char *state, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_loader_resume(struct lade_loader **loader,
                                                     const struct lade_loader_config *config, const char *state,
                                                     struct lade_error *error)
{
    return lade_loader_resume_sized(loader, config, sizeof *config, state, error);
}

/*
 * One state from those of all shards, in any order, to be resumed by any number of shards: what no shard has delivered
 * in this epoch is shared among the new ones. A shard that has ended the epoch and not begun the next belongs to it with all
 * its samples, those that it left out to be as long as the others included. The size as lade_loader_state() does; 0: they do
 * not belong together, are in different epochs, or (LADE_LIMITED) the shards changed four times in this epoch.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_merge_states(const char *const *states, unsigned count, char *to,
                                                         size_t size, struct lade_error *error);

/*
 * Reads a file that save wrote: the size with its final zero, no more than size bytes of it; 0 and an error. One call reads
 * one file whole; save may replace it between two calls, so a text is complete only if this very call returned no more than size.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_read_state(const char *path, char *to, size_t size,
                                                       struct lade_error *error);

LADE_END

#endif
