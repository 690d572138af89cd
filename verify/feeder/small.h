/* SPDX-License-Identifier: MIT */
/*
 * A feeder that is small enough for a checker: DEPTH slots of one word, filled and used by the threads of the harness.
 * Its device copies immediately, unless the harness defines an asynchronous one (DEVICE, see device.h). An execution in
 * which a thread would have to sleep is discarded, unless the harness first includes event/futex.h, or event/sleeper.h,
 * which checks that the thread is notified.
 */
#ifndef DEPTH
#define DEPTH 1
#endif
#ifndef BATCHES
#define BATCHES UINT64_MAX /* fill never ends */
#endif

#include "event.h"

#ifndef FUTEX
void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    (void)word;
    (void)value;
    (void)deadline;
    assume(0);
}

void lade_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)word;
    (void)count;
}

int64_t lade_now(void)
{
    return 0;
}

#include "event.c"
#endif

int lade_feeder_set_slack(int slack)
{
    return slack;
}

#include "reclaim/without_thread.h"

#include "ref.c"

#include "feeder.c"

static struct lade_feeder feeder;
static struct lade_turn turns[DEPTH];
static struct lade_staging_slot slots[DEPTH];

/* Plain words: an unordered write or read is a data race. */
static uint64_t staging[DEPTH], memory[DEPTH];
static uint64_t copies; /* a word of the backend, which one thread at a time uses */

bool lade_feeder_is_here(const struct lade_feeder *f)
{
    (void)f;
    return true;
}

int lade_feeder_refuse_child(struct lade_error *error)
{
    (void)error;
    assert(0);
    return LADE_INVALID;
}

int lade_feeder_error_call(struct lade_feeder *f, int status, struct lade_error *error)
{
    (void)f, (void)error;
    return status;
}

size_t lade_shape_bytes(const struct lade_shape *shape)
{
    (void)shape;
    return sizeof(uint64_t);
}

int lade_feeder_error(struct lade_error *error, int status, const char *backend,
                      const struct lade_device_failure *failure)
{
    (void)error;
    (void)backend;
    assert(failure->code == 5);
    return status;
}

int lade_feeder_error_rows(struct lade_error *error, uint64_t rows, uint64_t most)
{
    (void)error;
    (void)rows;
    (void)most;
    assert(0);
    return LADE_INVALID;
}

int lade_feeder_error_status(struct lade_error *error, int status)
{
    (void)error;
    (void)status;
    assert(0);
    return LADE_IO;
}

int lade_feeder_error_fill(struct lade_error *error, const struct lade_staging_slot *slot)
{
    (void)error;
    return slot->status;
}

static int fill_word(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    (void)self;
    (void)error;
    if (slot->number >= BATCHES)
        return LADE_EMPTY;
    *(uint64_t *)slot->data[0] = slot->number + 1;
    return LADE_OK;
}

#ifdef DEVICE
#include "device.h"
#else
static int afters; /* events that copies wait for */

static int device_after(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)failure;
    afters++;
    return LADE_OK;
}

static int device_copy(void *self, void *device, const void *from, size_t bytes, void *ready,
                       struct lade_device_failure *failure)
{
    (void)self;
    (void)bytes;
    (void)ready;
    (void)failure;
    copies++;
    *(uint64_t *)device = *(const uint64_t *)from;
    return LADE_OK;
}

static int device_record(void *self, void *event, enum lade_done done, void *handle,
                         struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)done;
    (void)handle;
    (void)failure;
    return LADE_OK;
}

static int device_query(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)failure;
    return 1;
}

static void make_events(struct lade_staging_slot *slot)
{
    (void)slot;
}
#endif

static void *device_native(void *self, void *event)
{
    (void)self;
    return event;
}

static struct lade_backend backend;

static void make_feeder(void)
{
    backend.copies = true;
    backend.addresses = true;
    backend.after = device_after;
    backend.copy = device_copy;
    backend.record = device_record;
    backend.query = device_query;
    backend.event_native = device_native;
    feeder.backend = &backend;
    feeder.slot = slots;
    feeder.fill = fill_word;
    feeder.tensors = 1;
    feeder.shape[0].dim[0] = 1;
    feeder.bytes = sizeof(uint64_t);
    atomic_init(&feeder.failing, false);
    atomic_init(&feeder.running, 0);
    lade_event_init(&feeder.gone);
    feeder.consumer_assists = false;
    lade_slots_init(&feeder.slots, turns, DEPTH);
    copies = 0;
    for (int i = 0; i < DEPTH; i++) {
        slots[i].feeder = &feeder;
        slots[i].staging = &staging[i];
        slots[i].device = &memory[i];
        atomic_init(&slots[i].marks, 0);
        make_events(&slots[i]);
    }
}

/* A consumer holds batch 0. */
static inline void use_first(struct lade_feeder_batch *batch)
{
    uint64_t number = 0;

    assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK && fill_slot(&feeder, number));
    assert(lade_slots_take(&feeder.slots, &number) == LADE_OK);
    hand_out(&feeder, 0, batch);
}

/* A checker discards executions in which it comes too late. */
#ifdef ENGINE_NATIVE
#include <sched.h>
#define wait_for(c)                                                                                                    \
    while (!(c))                                                                                                       \
    sched_yield()
#else
#define wait_for(c) assume(c)
#endif

/* A step of each kind, when it is its turn. */
#define STEP_FILL(number)                                                                                              \
    do {                                                                                                               \
        wait_for(lade_slots_claim(&feeder.slots, (number)) == LADE_OK);                                                \
        assert(fill_slot(&feeder, *(number)));                                                                         \
    } while (0)
#define STEP_TAKE(batch, number)                                                                                       \
    do {                                                                                                               \
        wait_for(lade_slots_take(&feeder.slots, (number)) == LADE_OK);                                                 \
        hand_out(&feeder, *(number), (batch));                                                                         \
        check_batch(batch);                                                                                            \
    } while (0)

/* The batch holds the expected value. */
static void check_batch(const struct lade_feeder_batch *batch)
{
    assert(*(uint64_t *)batch->tensor[0].data == batch->number + 1);
}
