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
 *
 * When not to use it: for samples of different sizes, and when a batch takes less than about 2 microseconds to make.
 *
 * Threads      next, state and stats belong to one thread at a time; release and cancel to any. The functions of source and
 *              pipeline are called by the workers, in which signals are blocked but for those that a thread brings about
 *              itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) and SIGPROF: no handler of the application runs there.
 * Progress     next waits for the workers, at most as long as its timeout says. Workers take no lock; one that is stopped at
 *              any instruction holds back the batch that it makes until it is replaced (config.worker_timeout), and nobody else.
 * Memory       config.slots batches and one for each worker, allocated at creation, and one more for each worker that is replaced.
 *              Per sample of the source: nothing with LADE_DRAW_ONCE, whatever the split keeps; 12 bytes for the other draws.
 *              With LADE_FAULT_SUBSTITUTE a split adds 512 KiB during creation, and 8 bytes a sample of the part if it has
 *              at most 65,536.
 * Fork         the workers stay in the process that made the loader. In a child, next returns LADE_INVALID at once, destroy
 *              frees the memory without waiting, and the others work on the child's copy. Make a loader in each process;
 *              it may have the same source, pipeline and split. A function of source or pipeline that forks is inside a
 *              worker: that child may only exec or _exit. So may a child of vfork() or _Fork(), which run no handlers.
 * Errors       a negative status and a text in struct lade_error.
 */
#ifndef LADE_LOADER_H
#define LADE_LOADER_H

#include <lade/source.h>
#include <lade/split.h>
#include <lade/transform.h>

LADE_BEGIN

#define LADE_LOADER_THREADS_MAX 256u
#define LADE_LOADER_SLOTS_MAX 1024u
#define LADE_LOADER_SHARDS_MAX 4096u
#define LADE_LOADER_REPLACED_MAX 1024u
#define LADE_LOADER_ALIGN_MAX ((size_t)1 << 30)
#define LADE_BATCH_MAX (UINT64_C(1) << 24)

enum lade_draw_kind { LADE_DRAW_ONCE, LADE_DRAW_WEIGHTED, LADE_DRAW_BALANCED };
enum lade_fault {
    LADE_FAULT_FAIL, /* next answers the error of the sample */
    LADE_FAULT_SKIP, /* the batch has one sample less, and may have none */
    /*
     * A sample of the part, drawn uniformly by (seed, epoch, id), takes its place; another one when that cannot be read
     * either. After 16 of them next returns the error of the last.
     */
    LADE_FAULT_SUBSTITUTE,
};

/* Zero means the default where one is named. What pointers point to must live as long as the loader. */
struct lade_loader_config {
    struct lade_source *source;
    const struct lade_pipeline *pipeline; /* NULL: samples as they are */
    struct lade_split *split;             /* NULL: the part is the whole source. Asked by lade_source_key() */
    unsigned part;
    uint64_t seed;
    uint64_t batch;   /* samples, to LADE_BATCH_MAX */
    bool drop_last;   /* leave out what is left at the end of an epoch when it is less than a batch */
    bool in_order;    /* see above; the contract calls it deterministic */
    bool given_order; /* samples come by their numbers, not shuffled; for tests and evaluation */
    unsigned threads; /* workers, to LADE_LOADER_THREADS_MAX; default: processors */
    /*
     * The consumer is one of the threads: where next would wait, it makes a batch, and one worker fewer is started. Best where
     * the consumer is quick. Functions of source and pipeline then run inside next, which cannot end while they do; with an
     * exact split the consumer is registered with liburcu.
     */
    bool help;
    unsigned slots;         /* batches that wait for the consumer or are with it; default 2 * threads + 2 */
    uint64_t epochs;        /* default: no end */
    unsigned shard, shards; /* this is shard number shard of so many; default 0 of 1 */
    bool pad;               /* shards are made equally long by repeating samples; otherwise by leaving some out */
    enum lade_draw_kind draw;
    const double *weight; /* LADE_DRAW_WEIGHTED: one for each sample of the source, not negative */
    uint64_t buffer;      /* samples, two batches to 2^30; more than 0: stream mode */
    enum lade_fault fault;
    uint64_t
        faults_max; /* SKIP, SUBSTITUTE: so many faults in an epoch (a stream: in all) are borne; the next one fails. default: any number */
    int64_t
        worker_timeout; /* nanoseconds without a batch after which a worker is replaced; default 60 s, LADE_FOREVER: never; any other negative one: the default */
    unsigned
        replaced_max; /* workers replaced since creation, before next fails, to LADE_LOADER_REPLACED_MAX; default 16 */
    size_t align;     /* of the bytes of a batch, to LADE_LOADER_ALIGN_MAX; default 64 */
};

struct lade_loader;

/*
 * Starts the workers. LADE_OK and *loader; LADE_INVALID, LADE_NO_MEMORY, LADE_EMPTY (the part has no sample, or less than a
 * batch where the last is dropped), or an error of the source. Goes once over the keys of the source where there is a split.
 */
LADE_API int lade_loader_create(struct lade_loader **loader, const struct lade_loader_config *config,
                                struct lade_error *error);

/* Valid until released. Rows are samples; all arrays have count of them. */
struct lade_batch {
    uint64_t number;       /* of the batch since creation or the saved state */
    uint64_t epoch;        /* of a stream: the earliest of its samples */
    uint64_t count;        /* samples */
    void *samples;         /* count * sample_bytes bytes */
    size_t sample_bytes;   /* as the pipeline gives them, else as the source does */
    const int64_t *labels; /* LADE_NO_LABEL where there are none */
    const uint64_t *ids;   /* numbers of the samples in the source; with an endless source their keys */
    uint64_t faults;       /* samples that were skipped or substituted; of a stream 0, see lade_loader_measure() */
    bool last;             /* none of its epoch comes behind it; of a stream: it is shorter than the others */
    uint64_t slot;         /* for release */
};

/*
 * The next batch, waiting up to timeout nanoseconds (LADE_FOREVER: as long as it takes; 0 or any other negative one: not at all).
 * LADE_OK; LADE_TIMEOUT, try again; LADE_CLOSED: the last epoch has ended; LADE_CANCELLED; LADE_TOO_MANY: all slots are with the
 * consumer: release one; LADE_INVALID: this is a child of fork(); else the error of a sample (LADE_IO where a function of the user answers one of those above), or
 * LADE_LIMITED when more faults or replacements than agreed happened. After an error other than LADE_TIMEOUT and LADE_TOO_MANY it answers the same again.
 */
LADE_API int lade_loader_next(struct lade_loader *loader, struct lade_batch *batch, int64_t timeout,
                              struct lade_error *error);

/* Gives a batch back; its memory is used again. Any thread, any order, each batch once. */
LADE_API void lade_loader_release(struct lade_loader *loader, const struct lade_batch *batch);

/* Ends all waiting for good: next answers LADE_CANCELLED. Any thread, also a signal handler. */
LADE_API void lade_loader_cancel(struct lade_loader *loader);

/*
 * Stops the workers and frees everything, batches that were not released included. timeout is as for next. LADE_OK; LADE_TIMEOUT: a
 * worker is still inside a function of the source or the pipeline: the loader stays, cancelled; call again, and keep source,
 * pipeline and split until it answers LADE_OK. In a child of fork() LADE_OK without waiting. NULL is fine.
 */
LADE_API int lade_loader_destroy(struct lade_loader *loader, int64_t timeout);

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
    const char *claim;           /* what holds of the order and of each draw in this mode, in a sentence */
};
LADE_API void lade_loader_measure(const struct lade_loader *loader, struct lade_loader_stats *stats);

/*
 * Where the consumer stands: behind the last batch that next gave out. A line of text of a few hundred bytes, more with many
 * shards or batches out of order; the size with its final zero is answered, and no more than size bytes are written. 0: there is
 * no state in stream mode.
 */
LADE_API size_t lade_loader_state(const struct lade_loader *loader, char *to, size_t size);

/* The same to a file, which is replaced whole or not at all. LADE_OK, LADE_IO, LADE_INVALID, LADE_NO_MEMORY. */
LADE_API int lade_loader_save(const struct lade_loader *loader, const char *path, struct lade_error *error);

/*
 * As create, from a state: goes on with the first sample that was not delivered. Threads, slots, batch and faults may differ
 * from before; source, split, part, seed, order and draw may not: LADE_CONFLICT. Shards may differ with a state that
 * lade_loader_join() made. A source is known by its kind, number of samples, shape, classes, and by key and label of up to 64
 * samples: samples that were changed in place are not noticed.
 * LADE_DAMAGED: this is no state.
 */
LADE_API int lade_loader_resume(struct lade_loader **loader, const struct lade_loader_config *config, const char *state,
                                struct lade_error *error);

/*
 * One state from those of all shards, in any order, to be resumed by any number of shards: what no shard has delivered
 * in this epoch is shared among the new ones. A shard that has ended the epoch and not begun the next belongs to it with all
 * its samples, those that it left out to be as long as the others included. The size as lade_loader_state() does; 0: they do
 * not belong together, are in different epochs, or (LADE_LIMITED) the shards changed four times in this epoch.
 */
LADE_API size_t lade_loader_join(const char *const *states, unsigned count, char *to, size_t size,
                                 struct lade_error *error);

/*
 * Reads a file that save wrote: the size with its final zero, no more than size bytes of it; 0 and an error. One call reads
 * one file whole; save may replace it between two calls, so a text is complete only if this very call returned no more than size.
 */
LADE_API size_t lade_loader_read_state(const char *path, char *to, size_t size, struct lade_error *error);

LADE_END

#endif
