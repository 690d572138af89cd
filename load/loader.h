/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of the loader. Internal. */
#ifndef LADE_LOAD_LOADER_H
#define LADE_LOAD_LOADER_H

#include "backend.h"
#include "event.h"
#include "batch_ring.h"
#include "order.h"
#include "source.h"

#include <lade/bag.h>
#include <lade/thread.h>
#include <pthread.h>

#define LADE_BATCH_TENSORS 2u /* samples and labels, of a source without a schema */

/*
 * Memory of one batch: one block with its tensors, each aligned to LADE_DEVICE_ALIGN. Without fields these are the
 * samples, followed by the labels; with fields see loader_fields.c, and the labels lie elsewhere. After the consumer
 * took it, the batch and each exported tensor hold it. When the last of them lets go, it returns to its slot,
 * or is freed if it was detached.
 */
struct lade_memory {
    struct lade_ref holds;
    struct lade_loader *loader;
    uint64_t slot; /* of the loader, or of its stage */
    bool on_device, detached;
    unsigned exported; /* bit i: tensor i was exported */
    void *block;
    int64_t *labels; /* inside the block; for device memory and with fields separate, on the host */
    uint64_t *ids;
    uint64_t number; /* of the batch, for the trace */
    uint64_t count;  /* samples of the batch, or its rows if these are more; 0: no tensor has memory */
    struct lade_shape shape[LADE_TENSORS_MAX];
    /* On a device only: the copy; and what the batch (0) and the exported tensors (1 + i) wait for before reuse. */
    void *ready, *done[1 + LADE_TENSORS_MAX];
    _Atomic unsigned marks; /* bit i: done[i] was recorded */
};

/* Of a packed batch: steps in its rows, and samples that were not packed whole. */
struct lade_packed {
    uint64_t steps, cut, split, dropped;
};

/*
 * A batch being made. It belongs to a worker, to the ring slot where it was published, or to the consumer, or is free.
 */
struct lade_batch_buffer {
    struct lade_memory *memory;
    uint8_t *samples;
    int64_t *labels;
    uint64_t *ids;
    uint64_t planned; /* number of samples after which the labels begin in memory */
    uint64_t count, epoch, faults;
    uint64_t from; /* samples of this shard before it in its epoch */
    struct lade_cursor end;
    /* With fields: offsets of the tensors in the block, and its bytes in use; see loader_fields.c. */
    size_t offset[LADE_TENSORS_MAX], bytes;
    uint64_t steps[LADE_TENSORS_MAX];
    uint64_t rows; /* of a packed batch */
    struct lade_packed packed;
    uint32_t faults_of[LADE_MIXTURE_SOURCES_MAX]; /* of each source of a mixture */
    int status;                                   /* of the sample that ended the batch */
    struct lade_error error;
};

/* A batch to be made. */
struct lade_job {
    uint64_t batch;
    struct lade_cursor start, end;
};

enum lade_worker_state {
    LADE_WORKER_NONE,
    LADE_WORKER_RUNS,
    LADE_WORKER_ENDED, /* has no more work */
    LADE_WORKER_LOST,  /* its thread ended inside a user callback; its job is to be redone */
};

#ifndef LADE_USED
#define LADE_USED 4
#endif

struct lade_worker {
    struct lade_loader *loader;
    pthread_t thread;
    _Atomic uint32_t state;
    _Atomic uint64_t replaced; /* batch that was given to another worker, + 1; 0: none */
    _Atomic uint64_t batch;    /* batch that it makes or is about to plan, + 1; 0: none */
    struct lade_job job;
    bool redo; /* starts with its job */
    bool finished;
    bool has_buffer;
    uint64_t buffer, spare_plan;
    uint64_t used[LADE_USED]; /* buffers that it filled last: likely in its cache */
    /* Stream mode, see loader_stream.c. */
    uint64_t *ids, count;
    _Atomic uint64_t committed; /* samples of the job that are in the bag or about to be put */
    _Atomic uint32_t failed;    /* a negated status */
    _Atomic uint64_t faults;
    struct lade_error error;
    struct lade_bag_handle *bag;
    struct lade_walk walk;
    uint8_t *input, *scratch; /* of the pipeline */
    struct lade_row *row;     /* with fields: of the batch that it makes */
    uint64_t *lengths;
    struct lade_pack_work *pack; /* with packed batches */
    _Atomic int64_t begin;
    _Atomic int64_t waits_since; /* 0: it does not wait */
    _Atomic uint64_t read_time, transform_time, wait_time, running_time;
};

struct lade_stage;

struct lade_loader {
    struct lade_loader_config config;
    struct lade_ref users;                     /* the owner, exported tensors and detached batches */
    unsigned tensors;                          /* of a batch */
    struct lade_shape shape[LADE_TENSORS_MAX]; /* of a whole batch */
    struct lade_fields *fields;                /* NULL: batches have samples and labels */
    struct lade_pack *pack;                    /* NULL: batches are not packed */
    uint64_t samples_max;                      /* of a batch */
    struct lade_stage *stage;                  /* NULL: batches are used in their host buffers */
    uint32_t generation;                       /* of the process that runs the workers, see fork.h */
    struct lade_order order;
    size_t input_bytes, sample_bytes, scratch_bytes;
    unsigned buffers, buffers_max; /* created, and maximum */
    struct lade_batch_buffer *slot;
    struct lade_worker *worker;
    unsigned workers, workers_max;
    struct lade_worker *helper; /* of the consumer; NULL: it does not assist */
    struct lade_batch_ring ring;
    struct lade_event ready, reusable; /* a batch was published or a worker has ended; there is memory for a batch */
    _Atomic uint32_t cancelled;
    _Atomic uint64_t held;  /* batches held by the consumer or by exported tensors */
    _Atomic uint64_t freed; /* buffers returned since the workers were notified */

    /* Stream mode. */
    struct lade_bag *bag;
    struct lade_bag_handle *drawer;
    _Atomic uint32_t producers; /* workers that may still put */
    bool has_partial;           /* a batch was begun before a timeout */
    uint64_t partial, rows;
    uint64_t drawable;            /* samples that can be drawn and leave the bag half full */
    uint64_t drawn;               /* since workers were notified */
    _Atomic uint64_t puts;        /* samples, of all workers */
    struct lade_shuffle *shuffle; /* with sample numbers; then there is no bag */

    /* Used by the consumer only. */
    struct lade_cursor next; /* start of the first batch that was not taken */
    uint64_t low;            /* its number */
    bool *taken;             /* of the batches in the ring */
    struct lade_cursor *end;
    uint64_t *from;
    int64_t waiting_since; /* for the first batch that was not taken; 0: not waiting */
    int ended;
    struct lade_error error;
    struct lade_packed packed;
    uint64_t packed_rows;
    uint64_t delivered_of[LADE_MIXTURE_SOURCES_MAX], faults_of[LADE_MIXTURE_SOURCES_MAX]; /* of sources of a mixture */
    uint64_t delivered, delivered_samples, faults, faults_of_epoch, replaced, wait_time;
};

/* Computes the end of the batch that begins at start, and its number of samples. */
void lade_job_plan(const struct lade_loader *l, struct lade_walk *walk, struct lade_job *job, uint64_t *ids,
                   uint64_t *count);
/* Lists its samples, after it is planned. */
void lade_job_list(const struct lade_loader *l, struct lade_walk *walk, const struct lade_job *job, uint64_t *ids,
                   uint64_t count);

/* Samples between two checks whether a worker is stopped, and those that are listed to plan a batch by its steps. */
#define LADE_AT_ONCE 64
/* A sample that cannot be read is replaced this many times at most. */
#define LADE_SUBSTITUTES_MAX 16

/* Reads and transforms one sample. */
/* Runs the pipeline from the worker's input. */
int lade_worker_transform(struct lade_worker *w, uint64_t epoch, uint64_t id, void *to, struct lade_error *error);
int lade_worker_make(struct lade_worker *w, uint64_t epoch, uint64_t id, void *to, int64_t *label,
                     struct lade_error *error);
/*
 * Applies the fault policy to a sample that was made with this status. Returns LADE_OK, or an error that next does not
 * use for another purpose. *id may change; it is LADE_NO_SAMPLE if the sample is skipped.
 */
#define LADE_NO_SAMPLE UINT64_MAX
int lade_worker_apply_fault_policy(struct lade_worker *w, uint64_t epoch, uint64_t *id, void *to, int64_t *label,
                                   int status, uint64_t *faults, struct lade_error *error);
/*
 * Maps the result of a user callback, so that it is not mistaken for success or for a status that next returns itself.
 */
int lade_worker_error(int status);
/* Counts a fault of a sample as one of its source, of a mixture. */
void lade_worker_note_fault(const struct lade_loader *l, struct lade_batch_buffer *slot, uint64_t id);
/* Whether it must take no further job, and whether its current job has been dropped. */
bool lade_worker_is_stopped(struct lade_worker *w);
bool lade_worker_is_superseded(struct lade_worker *w);

/* The consumer makes a batch itself. False: there is none to make, or no free buffer. */
bool lade_worker_assist(struct lade_worker *w);

/* Starts the thread of a worker. LADE_OK or LADE_NO_MEMORY. */
int lade_worker_start(struct lade_worker *w);
/* Adds one worker, with a buffer and a plan record. LADE_OK, LADE_NO_MEMORY or LADE_DEVICE. */
int lade_worker_add(struct lade_loader *l, struct lade_worker **worker, struct lade_error *error);

/* Allocates memory for slot number slot. LADE_OK, LADE_NO_MEMORY or LADE_DEVICE. */
int lade_memory_create(struct lade_loader *l, struct lade_memory **memory, uint64_t slot, bool on_device,
                       struct lade_error *error);
void lade_memory_free(struct lade_memory *m);
/* Bytes of the block, and of all memory of a slot. */
size_t lade_memory_block(const struct lade_loader *l);
/* Offset of the labels in a block with this many samples. */
size_t lade_memory_labels(const struct lade_loader *l, uint64_t samples);
int lade_batch_buffer_init(struct lade_loader *l, uint64_t slot, struct lade_error *error);
/* Uses this memory for the slot's next batch, of up to count samples. */
void lade_batch_buffer_use(const struct lade_loader *l, struct lade_batch_buffer *slot, struct lade_memory *memory,
                           uint64_t count);
/* Fills the fields of a batch that describe its memory. */
void lade_memory_show(struct lade_memory *m, const struct lade_batch_buffer *slot, struct lade_batch *batch);
/* Drops one holder; mark number mark records the work that done specifies. */
int lade_memory_let_go(struct lade_memory *m, unsigned mark, enum lade_done done, void *handle,
                       struct lade_error *error);
/* Drops one user; the last one frees the loader. */
void lade_loader_leave(struct lade_loader *l);

/* A published batch that was neither taken nor staged: the first one, or, without in_order, any of its epoch. */
bool lade_loader_find(struct lade_loader *l, uint64_t *batch, uint64_t *buffer);
/* Hands the batch in this memory to the consumer. */
void lade_loader_hand_out(struct lade_loader *l, struct lade_batch *batch, uint64_t number,
                          const struct lade_batch_buffer *slot, struct lade_memory *memory);
/* Returns a buffer to the workers; or notifies them of one that was returned already. */
void lade_loader_give(struct lade_loader *l, uint64_t buffer);
void lade_loader_freed(struct lade_loader *l);

/* Copies to the device, see loader_device.c. All but free: the consumer's thread only. */
int lade_stage_create(struct lade_loader *l, struct lade_error *error);
void lade_stage_free(struct lade_loader *l);
/* Enqueues the copies of ready batches. Whether a batch has its copy enqueued; which, and its slot of the stage. */
bool lade_stage_find(struct lade_loader *l, uint64_t *batch, uint64_t *slot);
/* Whether the consumer or tensors hold all slots. */
bool lade_stage_is_held(const struct lade_loader *l);
/* Returns buffers whose copies are complete to the workers. */
void lade_stage_collect(struct lade_loader *l);
/* Whether the batch in this slot of the ring has its copy enqueued already. */
bool lade_stage_has(const struct lade_loader *l, uint64_t place);
/* Stream mode: waits for a slot, and for a buffer to draw into; enqueues the copy of the drawn batch. */
int lade_stage_await_slot(struct lade_loader *l, int64_t deadline);
bool lade_stage_put(struct lade_loader *l, uint64_t batch, uint64_t buffer, uint64_t *slot);
/* The batch in a slot, and its memory. */
struct lade_batch_buffer *lade_stage_slot(struct lade_loader *l, uint64_t slot, struct lade_memory **memory);
/* The consumer has taken it. */
void lade_stage_taken(struct lade_loader *l, uint64_t slot);
void lade_stage_released(struct lade_loader *l, uint64_t slot);
/* Replaces the memory of a slot, which was detached. */
void lade_stage_replace(struct lade_loader *l, uint64_t slot, struct lade_memory *memory);
/* Waits until the device has completed everything. LADE_OK or LADE_TIMEOUT. */
int lade_stage_finish(struct lade_loader *l, int64_t deadline);
void lade_stage_stats(const struct lade_loader *l, struct lade_loader_stats *stats);
/* Makes a waiting consumer recheck copies in progress soon. */
void lade_stage_recheck(const struct lade_loader *l, int64_t *until);
/* LADE_OK, or LADE_DEVICE with the call that failed. */
int lade_stage_status(const struct lade_loader *l, struct lade_error *error);
/* Describes the failure of a call on a batch, unless status is LADE_OK. Returns status. */
int lade_stage_error(const struct lade_loader *l, int status, struct lade_error *error);
int lade_stage_fail(struct lade_loader *l, const struct lade_device_failure *failure);
/* Waits until the device has completed all work on this memory. LADE_OK, LADE_TIMEOUT, LADE_DEVICE. */
int lade_memory_await(struct lade_memory *m, bool all_marks, int64_t deadline);

static inline void lade_loader_note(const struct lade_loader *l, enum lade_loader_step step, uint64_t number,
                                    uint64_t slot)
{
    if (l->config.trace)
        l->config.trace(l->config.trace_context, step, number, (unsigned)slot, lade_now());
}

/* Makes a waiting consumer recheck when a worker is late, and periodically in any case. */
void lade_loader_recheck(const struct lade_loader *l, int64_t *until);

/* Replaces workers that were lost or are late with the batch that the consumer awaits. LADE_OK or an error. */
int lade_loader_supervise(struct lade_loader *l, struct lade_error *error);

/* The body of a worker thread in stream mode, and the rest of that mode. */
void lade_stream_work(struct lade_worker *w);
/* Moves the rest of a late worker's job to another worker. False: nothing left, or no memory. */
bool lade_stream_supersede(struct lade_worker *late, struct lade_worker *w);
int lade_stream_next(struct lade_loader *l, struct lade_batch *batch, int64_t timeout, struct lade_error *error);
int lade_stream_create(struct lade_loader *l, struct lade_error *error);

/* Reports that all slots are held. LADE_TOO_MANY. */
int lade_loader_refuse_more(struct lade_error *error);

/*
 * Stream mode with sample numbers in the buffer, see loader_shuffle.c: whether this loader can use it; create and free.
 * For the consumer: plan as many batches as there are lists; note that a batch was taken and plan further ones (returns
 * whether it is shorter than others); check whether all were taken.
 */
bool lade_shuffle_fits(const struct lade_loader *l);
int lade_shuffle_create(struct lade_loader *l, struct lade_error *error);
void lade_shuffle_free(struct lade_loader *l);
void lade_shuffle_plan(struct lade_loader *l);
bool lade_shuffle_taken(struct lade_loader *l, uint64_t batch);
bool lade_shuffle_is_over(const struct lade_loader *l);
/* For workers: the fields of a batch that are known before it is read, and the epoch of its sample i. */
void lade_shuffle_list(const struct lade_loader *l, uint64_t batch, struct lade_batch_buffer *slot);
uint64_t lade_shuffle_epoch(const struct lade_loader *l, uint64_t batch, uint64_t i);

/*
 * Batches with a tensor for each field, see loader_fields.c. Whether the loader has them; create (shapes and sizes of the
 * loader) and free.
 */
bool lade_fields_wanted(const struct lade_loader_config *config);
int lade_fields_create(struct lade_loader *l, struct lade_error *error);
void lade_fields_free(struct lade_loader *l);
/* Bytes of a block, and offset of the labels without fields. */
size_t lade_fields_block(const struct lade_loader *l);
/* Whether batches end before a total of steps; how many of the next count samples of the order fit. ids is written. */
bool lade_fields_limits(const struct lade_loader *l);
uint64_t lade_fields_fit(const struct lade_loader *l, struct lade_walk *walk, const struct lade_cursor *from,
                         uint64_t *ids, uint64_t count);
/* Memory of a worker. */
bool lade_fields_prepare(struct lade_worker *w);
/* Makes the batch whose samples are listed. False: the worker is superseded. */
bool lade_fields_fill(struct lade_worker *w, struct lade_batch_buffer *slot);
/* Sets the shapes of a batch. */
void lade_fields_show(struct lade_memory *m, const struct lade_batch_buffer *slot);
/* Steps of a sample of a packed batch, uncut. LADE_OK or an error. */
int lade_fields_packed_length(const struct lade_loader *l, uint64_t id, uint64_t *length, struct lade_error *error);

/*
 * Packed batches, see loader_pack.h: create, after the fields, and free; memory of a worker. Plan the batch that a worker
 * claims, and make it. False: the worker is superseded.
 */
int lade_pack_create(struct lade_loader *l, struct lade_error *error);
void lade_pack_free(struct lade_loader *l);
bool lade_pack_prepare(struct lade_worker *w);
void lade_pack_release(struct lade_worker *w);
void lade_pack_plan(struct lade_worker *w, struct lade_batch_buffer *slot);
bool lade_pack_fill(struct lade_worker *w, struct lade_batch_buffer *slot);
/* Rows of this shard in the cursor's epoch before it; at the start of an epoch: in the epoch before. */
uint64_t lade_pack_mine(const struct lade_cursor *cursor);
uint64_t lade_pack_length(const struct lade_cursor *cursor);
/* Part of the saved position: where the window of the next batch begins. */
enum { LADE_PACK_PLACE, LADE_PACK_MEMBERS, LADE_PACK_NUMBER, LADE_PACK_LAW, LADE_PACK_BEFORE, LADE_PACK_WORDS };
void lade_pack_position(const struct lade_loader *l, uint64_t to[LADE_PACK_WORDS]);
/* Finds the first batch; from: the position of a restored state, or NULL. LADE_OK, LADE_EMPTY, or an error. */
int lade_pack_begin(struct lade_loader *l, const uint64_t *from, struct lade_error *error);
const char *lade_pack_guarantee(const struct lade_loader *l);
/* Identity of order and packing. */
uint32_t lade_loader_identity(const struct lade_loader *l);

/* The shape of the pipeline's output. */
struct lade_shape lade_loader_output(const struct lade_pipeline *pipeline);

/* False in a child of fork(), which has the memory but not the workers; and what next returns there. */
bool lade_loader_is_here(const struct lade_loader *l);
int lade_loader_refuse_child(struct lade_error *error);

/* Reads a state into a loader whose order exists. */
int lade_loader_restore(struct lade_loader *l, const char *state, struct lade_error *error);

/* Samples, or packed rows, of this shard before the cursor in its epoch. */
static inline uint64_t lade_loader_mine(const struct lade_loader *l, const struct lade_cursor *cursor)
{
    return l->pack ? lade_pack_mine(cursor) : lade_order_mine(&l->order, cursor);
}

/* Nanoseconds. A waiting thread rechecks after this time, also without a notification. */
#define WAIT_MOST INT64_C(1000000000)

static inline void lade_count(_Atomic uint64_t *counter, uint64_t more)
{
    /* One writer; readers need no ordering. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

/* Begins a wait, which the statistics include before it has ended. */
static inline void lade_worker_begin_wait(struct lade_worker *w)
{
    atomic_store_explicit(&w->waits_since, lade_now(), memory_order_relaxed);
}

/* A reader between the two stores misses this wait once; none counts it twice. */
static inline void lade_worker_end_wait(struct lade_worker *w)
{
    const int64_t begin = atomic_load_explicit(&w->waits_since, memory_order_relaxed);

    atomic_store_explicit(&w->waits_since, 0, memory_order_relaxed);
    lade_count(&w->wait_time, (uint64_t)(lade_now() - begin));
}

#endif
