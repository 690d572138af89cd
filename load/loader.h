/* SPDX-License-Identifier: MIT */
/* What the parts of the loader share. Internal. */
#ifndef LADE_LOAD_LOADER_H
#define LADE_LOAD_LOADER_H

#include "event.h"
#include "loader_ring.h"
#include "order.h"
#include "reader.h"
#include "source.h"

#include <lade/bag.h>
#include <pthread.h>

/* Memory of one batch. It belongs to a worker, to the place where it was published, to the consumer, or is free. */
struct lade_slot {
    uint8_t *samples;
    int64_t *labels;
    uint64_t *ids;
    uint64_t count, epoch, faults;
    uint64_t from; /* samples of this shard that come before it in its epoch */
    struct lade_cursor end;
    int status; /* of the sample that ended the batch */
    struct lade_error error;
};

/* A batch to be made. */
struct lade_claim {
    uint64_t batch;
    struct lade_cursor start, end;
};

enum lade_worker_state {
    LADE_WORKER_NONE,
    LADE_WORKER_RUNS,
    LADE_WORKER_ENDED, /* has nothing more to do */
    LADE_WORKER_LOST,  /* was ended inside a function of the user; its claim is to be redone */
};

#ifndef LADE_USED
#define LADE_USED 4
#endif

struct lade_worker {
    struct lade_loader *loader;
    pthread_t thread;
    struct lade_reader reader;
    _Atomic uint32_t state;
    _Atomic uint64_t replaced; /* batch that was given to another one, + 1; 0: none */
    _Atomic uint64_t batch;    /* that it makes or is about to plan, + 1; 0: none */
    struct lade_claim claim;
    bool redo; /* begins with its claim */
    bool finished;
    bool has_buffer;
    uint64_t buffer, paper;
    uint64_t used[LADE_USED]; /* buffers that it filled last: they are in its cache */
    /* Stream mode, see loader_stream.c. */
    uint64_t *ids, count;
    _Atomic uint64_t committed; /* samples of the claim that are in the bag or go there */
    _Atomic uint32_t failed;    /* a status with its sign changed */
    _Atomic uint64_t faults;
    struct lade_error error;
    struct lade_bag_handle *bag;
    struct lade_walk walk;
    uint8_t *input, *scratch; /* of the pipeline */
    _Atomic int64_t begin;
    _Atomic uint64_t read_time, transform_time, wait_time, running_time;
};

struct lade_loader {
    struct lade_loader_config config;
    uint32_t generation; /* of the process whose threads the workers are, see fork.h */
    struct lade_order order;
    size_t input_bytes, sample_bytes, scratch_bytes;
    unsigned buffers, buffers_max; /* made, and most */
    struct lade_slot *slot;
    struct lade_worker *worker;
    unsigned workers, workers_max;
    struct lade_worker *helper; /* the consumer's; NULL: it only waits */
    struct lade_loader_ring ring;
    struct lade_event ready, room; /* a batch was published or a worker has ended; there is memory for a batch */
    _Atomic uint32_t cancelled;
    _Atomic uint64_t held; /* batches with the consumer */

    /* Stream mode. */
    struct lade_bag *bag;
    struct lade_bag_handle *drawer;
    _Atomic uint32_t producers; /* workers that may still put */
    bool has_partial;           /* a batch that was begun before a timeout */
    uint64_t partial, rows;

    /* The consumer's own. */
    struct lade_cursor next; /* where the first batch that was not taken begins */
    uint64_t low;            /* its number */
    bool *taken;             /* of the batches in the ring */
    struct lade_cursor *end;
    uint64_t *from;
    int64_t waiting_since; /* for the first batch that was not taken; 0: not */
    int ended;
    struct lade_error error;
    uint64_t delivered, delivered_samples, faults, faults_of_epoch, replaced, wait_time;
};

/* Where the batch ends that begins at start, and how many samples it has. */
void lade_claim_plan(const struct lade_loader *l, struct lade_walk *walk, struct lade_claim *claim, uint64_t *ids,
                     uint64_t *count);
/* Its samples, once it is planned. */
void lade_claim_list(const struct lade_loader *l, struct lade_walk *walk, const struct lade_claim *claim, uint64_t *ids,
                     uint64_t count);

/* Reads and transforms one sample. */
int lade_worker_make(struct lade_worker *w, uint64_t epoch, uint64_t id, void *to, int64_t *label,
                     struct lade_error *error);
/*
 * Applies the rule for faults to a sample that was made with this status: LADE_OK, or an error that next does not use for
 * something else. *id may change; it is LADE_NO_SAMPLE when the sample is skipped.
 */
#define LADE_NO_SAMPLE UINT64_MAX
int lade_worker_bear(struct lade_worker *w, uint64_t epoch, uint64_t *id, void *to, int64_t *label, int status,
                     uint64_t *faults, struct lade_error *error);
/* What a user callback returned, so that it is not taken for success or for a status that next returns itself. */
int lade_worker_error(int status);
/* Whether it is to take nothing more on, and whether what it has claimed is wanted no more. */
bool lade_worker_is_stopped(struct lade_worker *w);
bool lade_worker_is_relieved(struct lade_worker *w);

/* The consumer makes a batch itself. False: there is none to make, or no room. */
bool lade_worker_help(struct lade_worker *w);

/* A thread for each struct; LADE_OK or LADE_NO_MEMORY. */
int lade_worker_start(struct lade_worker *w);
/* Memory for one more worker, which has a buffer and a paper of its own: NULL when there is none. */
struct lade_worker *lade_worker_add(struct lade_loader *l);
int lade_slot_init(struct lade_loader *l, struct lade_slot *slot);

/* A consumer that waits looks again when a worker is late, and at times in any case. */
void lade_loader_recheck(const struct lade_loader *l, int64_t *until);

/* Replaces workers that were lost or are late with the batch that the consumer waits for. LADE_OK or an error. */
int lade_loader_supervise(struct lade_loader *l, struct lade_error *error);

/* The body of a worker thread in stream mode, and what others do there. */
void lade_stream_work(struct lade_worker *w);
/* What is left of a late worker's claim, for another one. False: nothing, or no memory. */
bool lade_stream_relieve(struct lade_worker *late, struct lade_worker *w);
int lade_stream_next(struct lade_loader *l, struct lade_batch *batch, int64_t timeout, struct lade_error *error);
int lade_stream_create(struct lade_loader *l, struct lade_error *error);

/* False in a child of fork(), which has the memory and not the workers; what next returns there. */
bool lade_loader_is_here(const struct lade_loader *l);
int lade_loader_refuse_child(struct lade_error *error);

/* Reads a state into a loader whose order is made. */
int lade_loader_restore(struct lade_loader *l, const char *state, struct lade_error *error);

/* Nanoseconds. A thread that waits looks again after this time, also without a notification. */
#define WAIT_MOST INT64_C(1000000000)

static inline void lade_count(_Atomic uint64_t *counter, uint64_t more)
{
    /* One writer; readers want a figure. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

#endif
