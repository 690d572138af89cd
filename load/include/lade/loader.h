/* SPDX-License-Identifier: MIT */
/*
 * loader: batches of a source, made by worker threads ahead of the consumer.
 *
 * A worker plans a batch (which samples), reads each sample, transforms it, and writes it directly into the memory that
 * the consumer gets. There is no copy in between and no shared queue: each finished batch goes to its own slot of a
 * ring, and the consumer takes the slots in order.
 *
 * Epoch mode (lade_loader_next() on a loader of lade_loader_create())
 *   Each sample of the part is delivered exactly once per epoch, in a random order. The order is a function of seed,
 *   epoch and the number of samples only. With in_order, the bytes of each batch, random transforms included, are the
 *   same for any number of threads and any timing. Without it, an epoch has the same batches, but they are delivered as
 *   they become ready: at least 63 batches can overtake a late one.
 * Draws (config.draw other than LADE_DRAW_ONCE)
 *   Each position of an epoch is drawn independently, with replacement. LADE_DRAW_WEIGHTED draws sample i with
 *   probability weight[i] / sum of the weights of the part. LADE_DRAW_BALANCED draws each class with the same
 *   probability, and each sample of a class with the same probability. Both are exact up to 2^-32 of that probability.
 *   An epoch has as many positions as the part has samples.
 * Stream mode (config.buffer > 0)
 *   As described by Lin 2026: workers put samples into a bag of config.buffer samples as they become ready, and batches
 *   are drawn from it uniformly. Each sample is delivered once for each epoch that is read; a batch may hold samples of
 *   two epochs. Batches depend on timing: samples that are quick to prepare are delivered sooner. There is no state to
 *   save. Endless sources have no other mode.
 *   Where reading a sample is a copy (arrays and mapped files of samples of one size; no pipeline, no exact split, no
 *   LADE_FAULT_SKIP), the buffer holds sample numbers instead of samples: next draws the numbers, workers copy the
 *   samples. The buffer is full until the last epoch has no samples left.
 *
 * Fields (sources with a schema, or config.field)
 *   A batch has one tensor for each field, in one block of memory, each aligned to LADE_DEVICE_ALIGN. Ragged fields are
 *   padded or concatenated, see struct lade_loader_field. A batch has memory for its longest form: config.batch samples
 *   of max steps, or total steps. Lengths come from the source's index before the samples are read, so each sample is
 *   read once, to where it stays. The pipeline transforms one field, which is fixed.
 *   With LADE_FAULT_SKIP rows are padded to the longest sample that was planned, skipped ones included. With
 *   LADE_FAULT_SUBSTITUTE a batch with a ragged field and a fault is read again, with the substitutes.
 *   Stream mode holds sample numbers in its buffer, as below for copies, also with a pipeline; it takes no exact split,
 *   no LADE_FAULT_SKIP and no total.
 *
 * Packing (config.pack_row)
 *   The samples of an epoch, in its order before it is divided among shards, are cut into windows of pack_window
 *   samples. The samples of a window are placed in rows of pack_row steps, first-fit decreasing (Johnson 1973), and the
 *   rows are permuted by (seed, epoch, window); with sequential they are not. This takes the lengths only. In a row
 *   samples are in the order of the epoch, without gaps. Rows, not samples, are dealt to the shards: shard r has rows
 *   r, r + shards, ..., and an empty row at the end of the epoch where another shard has one row more. So each row
 *   comes once, whatever the number of shards, threads and rows in a batch.
 *   Each ragged field has a tensor of rows x pack_row steps; all have the same length in a sample, otherwise that is a
 *   fault. Fixed fields, labels and ids have one entry for each sample of the batch, row by row: sample s of row r (its
 *   segment id, from 1) is entry rows[r] + s - 1. Parts of a split sample have an entry each; positions count on from
 *   one part to the next. A sample of no steps has an entry and a segment id, but no steps.
 *   A sample that is skipped as a fault has no entry; its steps become padding.
 *   Each shard plans the rows of all shards. Not with LADE_FAULT_SUBSTITUTE, drop_last and stream mode.
 *
 * When not to use it: when a batch takes less than about 2 microseconds to make.
 *
 * Threads      next, detach, host_wait, state and stats: one thread at a time. export and stream_wait: the thread that
 *              holds the batch. release and cancel: any thread. Workers call the functions of source and pipeline.
 *              Workers block all signals except those that a thread raises itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 *              SIGTRAP, SIGSYS) and SIGPROF, so no handler of the application runs there.
 * Progress     next waits for the workers, at most for its timeout. Workers take no lock. A worker that is stopped at
 *              any instruction delays only the batch that it makes, until it is replaced (config.worker_timeout).
 * Memory       config.slots batches and one per worker, allocated at creation; one more for each worker that is
 *              replaced, and one for each batch that is detached. With a device that copies: config.depth batches
 *              there. 16 KiB per worker where samples are shuffled.
 *              Stream mode with a bag of samples: config.buffer samples, each with 48 bytes of overhead, rounded up to
 *              64. Stream mode with sample numbers: config.buffer times 16 bytes, and 16 bytes for each sample of a
 *              batch, for each slot and worker.
 *              Packing: for each worker the plan of one window, about 88 bytes for each of its samples, and for each
 *              slot and worker 16 or 32 bytes for each sample that a batch may have: batch * pack_samples.
 *              Per sample of the source: nothing with LADE_DRAW_ONCE, apart from what the split keeps; 12 bytes for the
 *              other draws. With LADE_FAULT_SUBSTITUTE, a split adds 512 KiB during creation, and 8 bytes per sample of
 *              the part if the part has at most 65,536.
 * Fork         the workers stay in the process that created the loader. In a child, next returns LADE_INVALID at once,
 *              destroy frees the memory without waiting, and the other functions work on the child's copy. Create a
 *              loader in each process; source, pipeline and split may be the same, except for a source that reads in
 *              windows (Arrow with reopen, Parquet): in a child its reads return LADE_INVALID. A function of source or
 *              pipeline that forks does so inside a worker: that child may only exec or _exit. The same holds for a
 *              child of vfork() or _Fork(), which run no handlers.
 * Device       with config.device, next also starts the copies of further batches that are ready, until config.depth
 *              batches are on the device or being copied. (With a bag of samples next assembles the batch that it
 *              returns, and starts no other copy.) next does not wait for the copy of the batch that it returns. It
 *              waits, up to its timeout, while the device copies from all buffers. A host buffer returns to the workers
 *              when its copy is complete; labels and ids of a batch stay readable on the host, samples do not.
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

/* Limits of struct lade_loader_config: threads, slots, shards, replaced_max, depth, align and batch. */
#define LADE_LOADER_THREADS_MAX 256u
#define LADE_LOADER_SLOTS_MAX 1024u
#define LADE_LOADER_SHARDS_MAX 4096u
#define LADE_LOADER_REPLACED_MAX 1024u
#define LADE_LOADER_DEPTH_MAX 64u
#define LADE_LOADER_ALIGN_MAX ((size_t)1 << 30)
#define LADE_BATCH_MAX (UINT64_C(1) << 24)

/* Which samples an epoch has, see Draws above. */
enum lade_draw_kind {
    LADE_DRAW_ONCE,     /* each sample of the part once */
    LADE_DRAW_WEIGHTED, /* with replacement, by config.weight */
    LADE_DRAW_BALANCED, /* with replacement, each class with the same probability */
};

/* What happens to a sample that cannot be read. */
enum lade_fault {
    LADE_FAULT_FAIL, /* next returns the error of the sample */
    LADE_FAULT_SKIP, /* the batch has one sample less, and may have none; a stream takes other samples instead */
    /*
     * A sample of the part, drawn uniformly by (seed, epoch, id), replaces it; if that one cannot be read either,
     * another is drawn. After 16 draws next returns the error of the last.
     */
    LADE_FAULT_SUBSTITUTE,
};

/* Steps of a batch, for config.trace: number is that of the plan, at is the time in nanoseconds of CLOCK_MONOTONIC. */
enum lade_loader_step {
    LADE_STEP_MAKE,     /* a worker begins to write it, in buffer slot; not for streams with a bag of samples */
    LADE_STEP_MADE,     /* it is complete, in buffer slot */
    LADE_STEP_COPY,     /* its copy to the device is enqueued, to device slot slot */
    LADE_STEP_COPIED,   /* the copy was observed complete, some time after it completed */
    LADE_STEP_TAKEN,    /* next returned it; slot is the device slot if there is a device, else the buffer */
    LADE_STEP_RELEASED, /* the consumer has returned it */
};
/* Called by the threads that perform the steps, concurrently. */
typedef void lade_loader_trace(void *context, enum lade_loader_step step, uint64_t number, unsigned slot, int64_t at);

/* The form of a ragged field in a batch. */
enum lade_ragged {
    /* Rows of one length, padded at their ends, and a tensor with the length of each row. */
    LADE_RAGGED_PADDED,
    /* The steps of all samples one after another, and a tensor with count + 1 offsets: 0, ..., number of steps. */
    LADE_RAGGED_CONCATENATED,
    /* Several samples in rows of config.pack_row steps, see there. */
    LADE_RAGGED_PACKED,
};

/* What happens to a sample that is longer than a packed row. Each is counted, see struct lade_loader_stats. */
enum lade_longer {
    LADE_LONGER_FAULT, /* it is a fault with LADE_LIMITED, and has a row to itself; skipped, this row is empty */
    LADE_LONGER_CUT,   /* its first steps are delivered, as many as a row has */
    /* It comes in parts, each as long as a row but the last, which are placed independently. */
    LADE_LONGER_SPLIT,
    LADE_LONGER_DROP, /* it is not delivered */
};

/* Limit of lade_loader_field.buckets. */
#define LADE_BUCKETS_MAX 64u

/*
 * How a field is batched. All but name is for ragged fields and 0 for fixed ones. Zero means the default where one is
 * named. The loader copies the struct and what it points to. Frozen, because arrays of it are passed.
 */
struct lade_loader_field {
    const char *name;        /* of the source's field */
    enum lade_ragged ragged; /* default LADE_RAGGED_PADDED */
    bool wide;               /* lengths and offsets are LADE_I64; default LADE_I32 */
    bool cut;     /* deliver the first max steps of longer samples; otherwise they are faults with LADE_LIMITED */
    uint64_t max; /* steps of a sample; default the last bucket, or the field's ragged_max */
    /*
     * Steps of a batch, padding included, at least those of one sample of max steps; default batch * max. A batch ends
     * before the sample that would exceed it, so batches have different numbers of samples, config.batch at most.
     */
    uint64_t total;
    /* LADE_RAGGED_PADDED: rows have the length of the longest sample, rounded up to a multiple of this; default 1. */
    uint64_t multiple;
    /* LADE_RAGGED_PADDED: rows have the smallest of these lengths that fits; they rise. One bucket: all rows alike. */
    const uint64_t *bucket;
    unsigned buckets;     /* number of bucket, up to LADE_BUCKETS_MAX */
    const void *padding;  /* LADE_RAGGED_PADDED: one element of the field's dtype; default zero */
    uint64_t reserved[4]; /* zero */
};

/* Zero means the default where one is named. Objects behind the pointers must outlive the loader. */
struct lade_loader_config {
    struct lade_source *source;           /* of the samples */
    const struct lade_pipeline *pipeline; /* NULL: samples unchanged */
    /*
     * NULL: the part is the whole source. Queried with lade_source_group(). Where that reads a field, create reads it
     * once for each sample, and fails with its error if one cannot be read. There, and with several shards, one bit is
     * kept for each sample, so that a shard does not ask the split again for the samples of the others.
     */
    struct lade_split *split;
    unsigned part;
    uint64_t seed; /* any value, 0 included */
    /*
     * Draw a seed instead; stats and state report it. resume uses the seed of the state. Not with several shards, which
     * must share one seed.
     */
    bool random_seed;
    uint64_t batch;   /* samples, or packed rows, up to LADE_BATCH_MAX */
    bool drop_last;   /* drop the last batch of an epoch if it is incomplete */
    bool in_order;    /* see above; the contract calls it deterministic */
    bool sequential;  /* samples by their numbers, not shuffled; for tests and evaluation */
    unsigned threads; /* workers, up to LADE_LOADER_THREADS_MAX; default: processors */
    /*
     * The consumer counts as one of the threads: where next would wait, it makes a batch, and one worker fewer is
     * started. Best for a fast consumer. Functions of source and pipeline then run inside next, which cannot return
     * while they run. With an exact split the consumer is registered with liburcu.
     */
    bool consumer_assists;
    /*
     * Batches that are ready or held by the consumer; default 2 * threads + 2. Idle workers are woken when half of the
     * slots were released, or when next finds no batch.
     */
    unsigned slots;
    uint64_t epochs;        /* default: unlimited */
    unsigned shard, shards; /* shard number and number of shards; default 0 of 1 */
    /*
     * Make shards equally long by repeating samples; otherwise by leaving some out. With packing, shards are equally
     * long in any case; then it completes the last batch of an epoch with empty rows.
     */
    bool pad;
    enum lade_draw_kind draw; /* default LADE_DRAW_ONCE */
    const double *weight;     /* LADE_DRAW_WEIGHTED: one for each sample of the source, not negative */
    uint64_t buffer;          /* samples, from two batches to 2^30; more than 0: stream mode */
    enum lade_fault fault;    /* default LADE_FAULT_FAIL */
    /* SKIP, SUBSTITUTE: faults tolerated per epoch (a stream: in total); one more fails. Default: any number. */
    uint64_t faults_max;
    /*
     * Nanoseconds without a batch after which a worker is replaced. Default 60 s; LADE_FOREVER: never; any other
     * negative value: the default.
     */
    int64_t worker_timeout;
    /* Workers replaced since creation before next fails, up to LADE_LOADER_REPLACED_MAX; default 16. */
    unsigned replaced_max;
    size_t align; /* of the bytes of a batch, up to LADE_LOADER_ALIGN_MAX; default and minimum LADE_DEVICE_ALIGN */
    /*
     * Allocator of all memory of the loader, batches on the host without a device included; default the C library's.
     * Batches of a device are from the device's allocator. Called by several threads concurrently. Must outlive
     * detached batches and exported tensors.
     */
    const struct lade_alloc *alloc;
    /* Deliver batches on this device, see lade/gpu.h. Workers then write into memory of the device's backend. */
    struct lade_device *device;
    unsigned depth;           /* batches on the device or being copied, up to LADE_LOADER_DEPTH_MAX; default 3 */
    lade_loader_trace *trace; /* default none. Must outlive detached batches and exported tensors, like alloc */
    void *trace_context;      /* argument of trace */
    /*
     * Fields of the source to deliver, in this order, up to LADE_TENSORS_MAX tensors; a ragged field has two. Default:
     * all, ragged ones padded to the longest sample of the batch.
     */
    const struct lade_loader_field *field;
    unsigned fields;         /* number of field */
    unsigned pipeline_field; /* number in the source's schema of the field that the pipeline transforms; others pass */
    /*
     * More than 0: the ragged fields are packed into rows of this many steps, up to 2^31 - 1, and a batch has
     * config.batch rows. See "Packing" above. Ragged fields in config.field then are LADE_RAGGED_PACKED, with padding
     * and wide only.
     */
    uint64_t pack_row;
    uint64_t pack_window;  /* samples that are packed together, up to 2^20; default 1,024 */
    uint64_t pack_samples; /* samples, or parts of some, in a row; default the smaller of pack_row and pack_window */
    enum lade_longer pack_longer; /* samples longer than pack_row; default LADE_LONGER_FAULT */
};

/* A loader. */
struct lade_loader;
/* The memory of a batch. */
struct lade_memory;

/*
 * Starts the workers. With a split, reads the keys of the source once. *loader is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     a number out of range, or fields that exclude each other.
 * LADE_NO_MEMORY   also when a thread could not be started.
 * LADE_EMPTY       the part has no sample, or less than a batch with drop_last.
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

/* The tensors of a batch of a source without a schema. */
enum {
    LADE_SAMPLES, /* the samples */
    LADE_LABELS,  /* their labels */
};

/* What a tensor of a batch holds. */
enum lade_tensor_kind {
    LADE_TENSOR_VALUES,  /* count rows of the field; ragged and concatenated: rows are steps */
    LADE_TENSOR_LENGTHS, /* of the rows of a padded field, without the padding */
    LADE_TENSOR_OFFSETS, /* count + 1, of a concatenated field */
    /* Of packed batches, once for all packed fields: */
    LADE_TENSOR_SEGMENTS,  /* of each step of a row: 1 for the row's first sample, 2 for the next, ...; 0: padding */
    LADE_TENSOR_POSITIONS, /* of each step of a row, in its sample; 0 in padding */
    LADE_TENSOR_ROWS,      /* rows + 1 offsets: row r has the samples rows[r] to rows[r + 1] - 1 of the batch */
};

/* What a tensor of each batch is. Frozen, because arrays of it are returned. */
struct lade_tensor_info {
    const char *name;           /* of the field */
    unsigned field;             /* its number in the source's schema */
    enum lade_tensor_kind kind; /* what it holds */
};

/*
 * Describes the tensors of all batches: first the values of the fields in order, then lengths or offsets of the ragged
 * ones in the same order. Of a source without a schema: "sample" and "label", the latter also if there are no labels.
 * Valid until the loader is destroyed.
 */
LADE_API const struct lade_tensor_info *lade_loader_tensors(const struct lade_loader *loader, unsigned *count);

/*
 * Valid until released. Rows are samples; all arrays have count rows. Functions that take a batch read only the fields
 * up to memory, so they accept a batch of an older program.
 */
struct lade_batch {
    uint64_t number;       /* of the batch since creation or the saved state */
    uint64_t epoch;        /* of a stream: the earliest of its samples */
    uint64_t count;        /* samples; of a packed batch also parts of samples */
    void *samples;         /* tensor 0: count * sample_bytes bytes; NULL: they are only on the device */
    size_t sample_bytes;   /* of the pipeline's output, or of the source without a pipeline; 0: tensor 0 is ragged */
    const int64_t *labels; /* of the schema's label field; LADE_NO_LABEL where there are none */
    const uint64_t *ids;   /* numbers of the samples in the source; with an endless source their keys */
    uint64_t faults;       /* samples that were skipped (split ones: parts) or substituted; of a stream 0, see stats */
    bool last;             /* next returns no further batch of its epoch; of a stream: it is shorter than the others */
    unsigned tensors;      /* number of tensor */
    struct lade_tensor tensor[LADE_TENSORS_MAX]; /* see lade_loader_tensors(); on the device if there is one */
    void *ready;                /* event that completes with the copy: cl_event, cudaEvent_t; NULL: no copy pending */
    struct lade_memory *memory; /* the loader's */
    uint64_t rows;              /* of a packed batch; otherwise count */
};

/*
 * Returns the next batch. Waits up to timeout nanoseconds; LADE_FOREVER: no limit; 0 or any other negative value: not
 * at all. After an error other than LADE_TIMEOUT and LADE_TOO_MANY, further calls return the same error.
 * LADE_OK
 * LADE_TIMEOUT     try again.
 * LADE_CLOSED      the last epoch has ended.
 * LADE_CANCELLED
 * LADE_TOO_MANY    the consumer or exported tensors hold all slots (with a device: depth slots): release or detach one.
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
 * Returns a batch to the loader. Its memory is reused, unless an exported tensor holds it. Any thread, any order, each
 * batch once. Detached batches also after destroy.
 */
LADE_API void lade_loader_release(struct lade_loader *loader, const struct lade_batch *batch);

/*
 * The same for a batch on a device that a stream still uses: its memory is reused after the stream (or event) has
 * completed. Without a device, done and handle are ignored. Does not wait, unless the batch is detached and no exported
 * tensor holds it: then it waits until the device has completed.
 * LADE_OK
 * LADE_DEVICE      the driver rejected the stream or event: the loader ends, next returns LADE_DEVICE.
 * LADE_INVALID     a child of fork(): the device is in the other process.
 */
LADE_API int lade_loader_release_after(struct lade_loader *loader, const struct lade_batch *batch, enum lade_done done,
                                       void *handle, struct lade_error *error);

/*
 * Work enqueued on the stream (cl_command_queue, cudaStream_t) after this call runs after the batch has arrived on the
 * device. Does not wait.
 * LADE_OK          also without a device.
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_stream_wait(struct lade_loader *loader, const struct lade_batch *batch,
                                                     void *stream, struct lade_error *error);

/*
 * Waits until the batch has arrived.
 * LADE_OK
 * LADE_TIMEOUT
 * LADE_DEVICE
 * LADE_INVALID     a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_host_wait(struct lade_loader *loader, const struct lade_batch *batch,
                                                   int64_t timeout, struct lade_error *error);

/*
 * Lets the batch keep its memory until it is released; the loader allocates other memory instead. LADE_TOO_MANY does
 * not count a detached batch, and the batch outlives the loader. Only by the thread that calls next. Waits for the copy
 * of the batch if it is in progress. Unless the result is LADE_OK, the batch stays attached.
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
 * Exports a tensor of the batch to other libraries by DLPack 1, on the device, or on the host without one. The tensor
 * holds the memory of the batch until its deleter is called and the device has completed the work that done and handle
 * specify at that moment (see lade_loader_release_after(); handle must live as long as the tensor). Any thread may call
 * the deleter, also after release and destroy; memory of the loader stays allocated until then. The last deleter of a
 * detached batch or of a destroyed loader waits for the device. Each tensor of a batch can be exported once, by the
 * thread that holds the batch.
 * LADE_OK
 * LADE_TOO_MANY    this tensor was exported already.
 * LADE_NO_MEMORY
 * LADE_INVALID     no such tensor, a batch without samples, or a child of fork().
 */
LADE_API LADE_MUST_CHECK int lade_loader_export(struct lade_loader *loader, const struct lade_batch *batch,
                                                unsigned tensor, enum lade_done done, void *handle,
                                                struct DLManagedTensorVersioned **managed, struct lade_error *error);

/* The same in DLPack's older form, without a version, for libraries that accept only that. */
LADE_API LADE_MUST_CHECK int lade_loader_export_legacy(struct lade_loader *loader, const struct lade_batch *batch,
                                                       unsigned tensor, enum lade_done done, void *handle,
                                                       struct DLManagedTensor **managed, struct lade_error *error);

/*
 * Permanently ends all waiting: next returns LADE_CANCELLED, in this call and all later ones. Unlike the cancel of a
 * container it is permanent, because a consumer between two calls of next would miss one that took effect once. Any
 * thread, also a signal handler.
 */
LADE_API void lade_loader_cancel(struct lade_loader *loader);

/*
 * Ends the loader as cancel does, then waits until its workers have ended and the device has completed all copies and
 * releases. Batches, statistics and the state stay readable until destroy. timeout is as for next. May be called again.
 * LADE_OK
 * LADE_TIMEOUT     the loader is cancelled, but a worker is still inside a function of the source or the pipeline, or
 *                  the device has not completed: keep source, pipeline and split.
 * LADE_INVALID     a child of fork(): the workers are in the other process.
 */
LADE_API LADE_MUST_CHECK int lade_loader_stop(struct lade_loader *loader, int64_t timeout);

/*
 * Stops, without a time limit, and frees everything, also batches that were not released; detached batches and exported
 * tensors stay valid. In a child of fork() it does not wait. NULL is allowed.
 */
LADE_API void lade_loader_destroy(struct lade_loader *loader);

/* Measurements since creation. */
struct lade_loader_stats {
    uint64_t
        samples; /* of the part, in an epoch of this shard; 0: it depends on the lengths of the samples (packing) */
    uint64_t batches; /* of an epoch; 0: it depends on the lengths of the samples (packing, lade_loader_field.total) */
    uint64_t part;    /* samples of the part in the whole source */
    uint64_t delivered, delivered_samples, faults, replaced; /* batches, samples, faulty samples, workers so far */
    uint64_t slot_bytes;                                     /* memory of one slot */
    /* Nanoseconds since creation, sum of all workers. The rest is planning and switching. */
    uint64_t read_time, transform_time, worker_wait_time;
    uint64_t consumer_wait_time; /* inside next */
    uint64_t running_time;       /* sum of all workers, waiting included */
    const char *guarantee;       /* what this mode guarantees about the order and each draw, in a sentence */
    /* With a device that copies. */
    unsigned depth;                /* batches on the device at a time */
    uint64_t copied, copied_bytes; /* batches whose copy was enqueued */
    uint64_t copies_timed;         /* of them, those for which the device reported a duration */
    int64_t copy_time;             /* nanoseconds, sum of the copies timed */
    uint64_t consumer_waits;       /* lade_loader_host_wait() calls that had to wait */
    uint64_t device_bytes;         /* memory on the device */
    uint64_t seed;                 /* in use: from the config, or drawn */
    /*
     * With packing. Fill rate: packed_steps / packed_slots. Dropped samples are counted by windows, each by one shard,
     * when the last batch with a row of the window is delivered.
     */
    uint64_t packed_rows, packed_steps, packed_slots;     /* delivered; a slot is a step of a row */
    uint64_t samples_cut, samples_split, samples_dropped; /* samples longer than a row, by what happened to them */
};
/* Stores the measurements. By one thread at a time, as next. */
LADE_API void lade_loader_stats_sized(const struct lade_loader *loader, struct lade_loader_stats *stats, size_t size);
static inline void lade_loader_stats(const struct lade_loader *loader, struct lade_loader_stats *stats)
{
    lade_loader_stats_sized(loader, stats, sizeof *stats);
}

/*
 * Writes the position of the consumer: after the last batch that next returned. The state is one line of text of a few
 * hundred bytes, more with many shards or batches out of order. Writes at most size bytes. Returns the full size
 * including the final zero; 0 in stream mode, which has no state.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_state(const struct lade_loader *loader, char *to, size_t size);

/*
 * Writes the state to a file, which is replaced atomically.
 * LADE_OK
 * LADE_IO
 * LADE_INVALID     stream mode.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_loader_save(const struct lade_loader *loader, const char *path,
                                              struct lade_error *error);

/*
 * As create, from a state: continues with the first sample that was not delivered. Threads, slots, batch and faults may
 * differ from the saved run; source, split, part, seed, order and draw may not. Shards may differ with a state from
 * lade_loader_merge_states(). A source is identified by its kind, number of samples, shape or schema, classes, and by
 * key, label and lengths of up to 64 samples: samples that were changed in place are not detected.
 * LADE_CONFLICT    the config differs from the state in a field that may not differ.
 * LADE_DAMAGED     the text is not a state.
 * else             as lade_loader_create().
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
 * Merges the states of all shards, in any order, into one that any number of shards can resume: the samples that no
 * shard has delivered in this epoch are divided among the resuming shards. A shard that has ended the epoch and not
 * begun the next counts as part of it with all its samples, including those that it left out to match the length of the
 * others. This may happen any number of times in an epoch. The state of a single shard suffices where all are in step:
 * given alone, it stands for all shards of its run, each with as many samples. That all have is for the caller to
 * ensure. The merged state takes a few hundred bytes where shards are in step; otherwise up to 16 bytes for each range
 * of samples, at most as many ranges as samples that shards are ahead of the others. Returns the size as
 * lade_loader_state() does; 0: the states do not belong together, are in different epochs, or (LADE_LIMITED) take more
 * than 2^20 ranges. alloc is used during the call; NULL: the C library's.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_merge_states(const char *const *states, unsigned count, char *to,
                                                         size_t size, const struct lade_alloc *alloc,
                                                         struct lade_error *error);

/*
 * Reads a file that save wrote. Writes at most size bytes. Returns the full size including the final zero; 0 and an
 * error on failure. One call reads one file completely. save may replace the file between two calls, so a text is
 * complete only if the call that wrote it returned no more than size. alloc is used during the call; NULL: the C
 * library's.
 */
LADE_API LADE_MUST_CHECK size_t lade_loader_read_state(const char *path, char *to, size_t size,
                                                       const struct lade_alloc *alloc, struct lade_error *error);

LADE_END

#endif
