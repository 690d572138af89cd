/* SPDX-License-Identifier: MIT */
/* The operations of the feeder's threads and its consumers on a slot. */
#include "feeder.h"

#include "sized.h"

/* Sleep between two checks of a device event, which wakes no thread. */
#define NAP_MIN 5000 /* nanoseconds */
#define NAP_MAX 1000000
#define NAP_SLACK 1000 /* how late a nap may end; the system's default is 50,000 */

static void copy_failure(struct lade_device_failure *to, const struct lade_device_failure *from)
{
    size_t i = 0;

    to->call = from->call;
    to->code = from->code;
    for (; i < sizeof to->text - 1 && from->text[i]; i++)
        to->text[i] = from->text[i];
    to->text[i] = 0;
}

int lade_feeder_fail(struct lade_feeder *f, const struct lade_device_failure *failure)
{
    bool expected = false;

    /* Only the winner writes; the stop publishes it. */
    if (atomic_compare_exchange_strong_explicit(&f->failing, &expected, true, memory_order_relaxed,
                                                memory_order_relaxed)) {
        copy_failure(&f->failure, failure);
        lade_slots_stop(&f->slots, LADE_DEVICE);
    }
    return LADE_DEVICE;
}

/* Context of a wait for the device. */
struct device_wait {
    struct lade_feeder *feeder;
    void *event;
    bool until_stopped;
    int64_t nap;
};

static int device_status(const struct device_wait *w)
{
    struct lade_feeder *f = w->feeder;
    struct lade_device_failure failure;
    int stop = w->until_stopped ? lade_slots_stopped(&f->slots) : LADE_OK;

    if (stop != LADE_OK)
        return stop;
    int complete = f->backend->query(f->device, w->event, &failure);
    if (complete < 0)
        return lade_feeder_fail(f, &failure);
    return complete ? LADE_OK : LADE_AWAIT;
}

static int device_or_await(void *context, int64_t *until)
{
    struct device_wait *w = context;
    int status = device_status(w);

    lade_event_recheck_by(until, lade_now() + w->nap);
    w->nap = w->nap < NAP_MAX / 2 ? 2 * w->nap : NAP_MAX;
    return status;
}

/* A stop ends the nap, so that no thread waits for a device that hangs. */
int lade_feeder_await(struct lade_feeder *f, void *event, int64_t deadline, bool until_stopped, _Atomic uint64_t *waits)
{
    struct device_wait w = {f, event, until_stopped, NAP_MIN};
    int status = device_status(&w);

    if (status != LADE_AWAIT)
        return status;
    if (deadline >= 0 && lade_now() >= deadline)
        return LADE_TIMEOUT;
    if (waits)
        lade_feeder_add(waits, 1);
    int slack = lade_feeder_set_slack(NAP_SLACK);
    status = lade_event_await(&f->slots.stopped, device_or_await, &w, deadline);
    (void)lade_feeder_set_slack(slack);
    return status;
}

/* Waits until staging memory may be written: its copy is complete, or, without copies, the consumers are done. */
static int await_staging(struct lade_feeder *f, struct lade_staging_slot *slot, uint64_t number)
{
    int status = LADE_OK;

    if (f->backend->copies) {
        status = lade_feeder_await(f, slot->ready, -1, true, &f->counts.throttle_waits);
        if (status != LADE_OK || number < f->slots.depth)
            return status;
        lade_feeder_note(f, LADE_FEEDER_COPY_SEEN, number - f->slots.depth);
        int64_t time = f->backend->copied ? f->backend->copied(f->device, slot->ready) : -1;
        if (time >= 0) {
            lade_feeder_add_time(&f->counts.copy_time, time);
            lade_feeder_add(&f->counts.copies_timed, 1);
        }
        return LADE_OK;
    }
    unsigned marks = atomic_load_explicit(&slot->marks, memory_order_relaxed); /* the turn orders it */
    for (unsigned i = 0; i < LADE_FEEDER_MARKS && status == LADE_OK; i++)
        if (marks & 1u << i)
            status = lade_feeder_await(f, slot->done[i], -1, true, &f->counts.throttle_waits);
    if (status == LADE_OK)
        atomic_store_explicit(&slot->marks, 0, memory_order_relaxed);
    return status;
}

static void write_batch(struct lade_feeder *f, struct lade_staging_slot *slot, uint64_t number)
{
    struct lade_feeder_slot to;
    uint64_t most = f->shape[0].dim[0];

    to.number = number;
    to.rows = most;
    to.tensors = f->tensors;
    to.shape = f->shape;
    for (unsigned i = 0; i < f->tensors; i++) {
        to.data[i] = (char *)slot->staging + f->offset[i];
        to.bytes[i] = lade_shape_bytes(&f->shape[i]);
    }
    slot->error.text[0] = 0;
    slot->status = f->fill(f->self, &to, &slot->error);
    /* LADE_TIMEOUT is a status of next, after which the caller tries again. */
    if (slot->status > LADE_OK || slot->status == LADE_TIMEOUT)
        slot->status = lade_feeder_error_status(&slot->error, slot->status);
    else if (slot->status == LADE_OK)
        slot->status = to.rows >= 1 && to.rows <= most ? LADE_OK : lade_feeder_error_rows(&slot->error, to.rows, most);
    slot->number = number;
    slot->rows = to.rows;
    for (unsigned i = 0; i < f->tensors; i++)
        slot->shape[i].dim[0] = to.rows;
}

/* The copy waits on the device for the consumers' streams; the host does not wait. */
static int enqueue(struct lade_feeder *f, struct lade_staging_slot *slot)
{
    struct lade_device_failure failure;
    int status = LADE_OK;

    if (!f->backend->copies)
        return LADE_OK;
    unsigned marks = atomic_load_explicit(&slot->marks, memory_order_relaxed); /* the turn orders it */
    for (unsigned i = 0; i < LADE_FEEDER_MARKS && status == LADE_OK; i++)
        if (marks & 1u << i)
            status = f->backend->after(f->device, slot->done[i], &failure);
    if (status == LADE_OK)
        status = f->backend->copy(f->device, slot->device, slot->staging, f->bytes, slot->ready, &failure);
    if (status != LADE_OK)
        return lade_feeder_fail(f, &failure);
    atomic_store_explicit(&slot->marks, 0, memory_order_relaxed);
    return LADE_OK;
}

static bool copy_slot(struct lade_feeder *f, uint64_t number)
{
    struct lade_staging_slot *slot = &f->slot[number % f->slots.depth];

    if (slot->status != LADE_OK) {
        lade_slots_ready(&f->slots, number, SLOT_ENDED);
        return false;
    }
    if (enqueue(f, slot) != LADE_OK)
        return false;
    lade_feeder_note(f, LADE_FEEDER_COPY_ENQUEUED, number);
    lade_feeder_add(&f->counts.copied, 1);
    lade_slots_ready(&f->slots, number, SLOT_READY);
    return true;
}

/* Copies the filled slots, in order, unless another thread does. At the end of the batches the baton stays. */
static void copy_filled(struct lade_feeder *f)
{
    uint64_t number = 0;

    while (lade_slots_stopped(&f->slots) == LADE_OK && lade_slots_baton(&f->slots, &number) && copy_slot(f, number))
        lade_slots_passed(&f->slots, number);
}

/* Fills a slot. Whether there can be another batch. */
static bool fill_slot(struct lade_feeder *f, uint64_t number)
{
    struct lade_staging_slot *slot = &f->slot[number % f->slots.depth];

    if (await_staging(f, slot, number) != LADE_OK)
        return false;
    int64_t began = lade_now();
    lade_feeder_note(f, LADE_FEEDER_FILL_BEGINS, number);
    write_batch(f, slot, number);
    lade_feeder_note(f, LADE_FEEDER_FILLED, number);
    lade_feeder_add_time(&f->counts.fill_time, lade_now() - began);
    bool more = slot->status == LADE_OK;
    lade_feeder_add(&f->counts.filled, more);
    lade_slots_filled(&f->slots, number);
    if (!more)
        lade_slots_end(&f->slots);
    copy_filled(f);
    return more;
}

/* Counts a consumer that fills, so that stop waits for it. False: it must not fill. */
static bool enter(struct lade_feeder *f)
{
    LADE_STEP();
    /* Relaxed: only the order of this change and that of stop matters, on one word. */
    if (atomic_fetch_add_explicit(&f->running, 2, memory_order_relaxed) % 2 == 0)
        return true;
    lade_feeder_gone(f);
    return false;
}

void lade_feeder_gone(struct lade_feeder *f)
{
    LADE_STEP();
    atomic_fetch_sub_explicit(&f->running, 2, memory_order_release); /* [feeder.gone] -> [feeder.alone] */
    lade_event_notify_all(&f->gone);
}

static int alone_or_await(void *context, int64_t *until)
{
    struct lade_feeder *f = context;

    (void)until;
    LADE_STEP();
    /* Acquire: what they did is visible. */
    unsigned running = atomic_load_explicit(&f->running, memory_order_acquire); /* [feeder.alone] -> [feeder.gone] */
    return running / 2 ? LADE_AWAIT : LADE_OK;
}

int lade_feeder_await_alone(struct lade_feeder *f, int64_t deadline)
{
    LADE_STEP();
    atomic_fetch_or_explicit(&f->running, 1, memory_order_relaxed); /* no consumer enters after it */
    return lade_event_await(&f->gone, alone_or_await, f, deadline);
}

/* Called by a consumer before it waits. Whether there was a slot to fill. */
static bool assist(struct lade_feeder *f)
{
    uint64_t number = 0;

    if (!enter(f))
        return false; /* next finds the slots closed */
    bool claimed = lade_slots_claim(&f->slots, &number) == LADE_OK;
    if (claimed)
        (void)fill_slot(f, number);
    lade_feeder_gone(f);
    return claimed;
}

/* What a thread waits for. */
enum slots_call { CLAIM, TAKE };

static int slots_try(struct lade_feeder *f, enum slots_call call, uint64_t *number)
{
    int status;

    if (call == CLAIM)
        return lade_slots_claim(&f->slots, number);
    if (!lade_feeder_is_here(f))
        return LADE_INVALID;
    do
        status = lade_slots_take(&f->slots, number);
    while (status == LADE_EMPTY && f->consumer_assists && assist(f));
    return status;
}

struct slots_wait {
    struct lade_feeder *feeder;
    enum slots_call call;
    uint64_t *number;
};

static int slots_or_await(void *context, int64_t *until)
{
    const struct slots_wait *w = context;
    int status = slots_try(w->feeder, w->call, w->number);

    (void)until;
    return status == LADE_EMPTY ? LADE_AWAIT : status;
}

static int slots_wait(struct lade_feeder *f, enum slots_call call, uint64_t *number, int64_t deadline)
{
    struct slots_wait w = {f, call, number};

    return lade_event_await(call == CLAIM ? &f->slots.freed : &f->slots.ready, slots_or_await, &w, deadline);
}

bool lade_feeder_fill_one(struct lade_feeder *f)
{
    uint64_t number = 0;

    int status = lade_slots_claim(&f->slots, &number);
    if (status == LADE_EMPTY)
        status = slots_wait(f, CLAIM, &number, -1);
    return status == LADE_OK && fill_slot(f, number);
}

static int take(struct lade_feeder *f, uint64_t *number, int64_t timeout)
{
    int status = slots_try(f, TAKE, number);

    if (status != LADE_EMPTY)
        return status;
    int64_t began = lade_now();
    lade_feeder_add(&f->counts.starved, 1);
    status = slots_wait(f, TAKE, number, lade_deadline(lade_now(), timeout));
    lade_feeder_add_time(&f->counts.starved_time, lade_now() - began);
    return status;
}

/* At the end of the batches, the slot holds the reason; it stays unchanged. */
static int report_end(struct lade_feeder *f, int status, uint64_t number, struct lade_error *error)
{
    if (status == LADE_INVALID)
        return lade_feeder_refuse_child(error);
    if (status == LADE_DEVICE)
        return lade_feeder_error(error, status, f->backend->name, &f->failure);
    const struct lade_staging_slot *slot = &f->slot[number % f->slots.depth];
    if (status != LADE_CLOSED || number == UINT64_MAX || slot->status == LADE_EMPTY)
        return lade_feeder_error_call(f, status, error);
    return lade_feeder_error_fill(error, slot);
}

/* The slot belongs to the taker alone, until it releases the batch. */
static void hand_out(struct lade_feeder *f, uint64_t number, struct lade_feeder_batch *batch)
{
    struct lade_staging_slot *slot = &f->slot[number % f->slots.depth];
    char *memory = f->backend->copies ? slot->device : slot->staging;

    lade_ref_init(&slot->holds);
    slot->exported = 0;
    batch->number = number;
    batch->rows = slot->rows;
    batch->tensors = f->tensors;
    batch->slot = (unsigned)(number % f->slots.depth);
    batch->ready = f->backend->copies ? f->backend->event_native(f->device, slot->ready) : NULL;
    for (unsigned i = 0; i < f->tensors; i++) {
        struct lade_tensor *to = &batch->tensor[i];
        to->data = f->backend->addresses ? memory + f->offset[i] : memory;
        to->offset = f->backend->addresses ? 0 : f->offset[i];
        to->host = (const char *)slot->staging + f->offset[i];
        to->shape = &slot->shape[i];
    }
    lade_feeder_add(&f->counts.taken, 1);
    lade_feeder_note(f, LADE_FEEDER_TAKEN, number);
}

static int next(struct lade_feeder *f, struct lade_feeder_batch *batch, int64_t timeout, struct lade_error *error)
{
    uint64_t number = 0;
    int status = take(f, &number, timeout);

    if (status != LADE_OK)
        return report_end(f, status, number, error);
    hand_out(f, number, batch);
    return LADE_OK;
}

int lade_feeder_next_sized(struct lade_feeder *f, struct lade_feeder_batch *batch, size_t size, int64_t timeout,
                           struct lade_error *error)
{
    struct lade_feeder_batch whole;

    if (size == sizeof whole)
        return next(f, batch, timeout, error);
    int status = next(f, &whole, timeout, error);
    if (status == LADE_OK)
        lade_sized_out(batch, size, &whole, sizeof whole);
    return status;
}

static int stream_wait(struct lade_feeder *f, const struct lade_feeder_batch *batch, void *stream)
{
    struct lade_device_failure failure;

    if (!lade_feeder_is_here(f))
        return LADE_INVALID;
    if (!f->backend->copies ||
        f->backend->stream_wait(f->device, stream, f->slot[batch->slot].ready, &failure) == LADE_OK)
        return LADE_OK;
    return lade_feeder_fail(f, &failure);
}

int lade_feeder_stream_wait(struct lade_feeder *f, const struct lade_feeder_batch *batch, void *stream,
                            struct lade_error *error)
{
    return lade_feeder_error_call(f, stream_wait(f, batch, stream), error);
}

static int host_wait(struct lade_feeder *f, const struct lade_feeder_batch *batch, int64_t timeout)
{
    if (!lade_feeder_is_here(f))
        return LADE_INVALID;
    if (!f->backend->copies)
        return LADE_OK;
    return lade_feeder_await(f, f->slot[batch->slot].ready, lade_deadline(lade_now(), timeout), false,
                             &f->counts.consumer_waits);
}

int lade_feeder_host_wait(struct lade_feeder *f, const struct lade_feeder_batch *batch, int64_t timeout,
                          struct lade_error *error)
{
    return lade_feeder_error_call(f, host_wait(f, batch, timeout), error);
}

/* The last holder has let go of the slot. */
static void released(struct lade_ref *holds)
{
    struct lade_staging_slot *slot =
        (struct lade_staging_slot *)(void *)((char *)holds - offsetof(struct lade_staging_slot, holds));
    struct lade_feeder *f = slot->feeder;
    uint64_t number = slot->number;

    lade_feeder_add(&f->counts.released, 1);
    lade_feeder_note(f, LADE_FEEDER_RELEASED, number);
    lade_slots_released(&f->slots, number);
    if (f->consumer_assists)
        lade_event_notify_all(&f->slots.ready); /* a thread that waits for a batch could fill the slot */
}

int lade_feeder_let_go(struct lade_feeder *f, struct lade_staging_slot *slot, unsigned mark, enum lade_done done,
                       void *handle)
{
    struct lade_device_failure failure;

    if (!lade_feeder_is_here(f))
        return LADE_INVALID;
    if (done != LADE_DONE_NOW) {
        /* Without an event the end of its use is unknown: the slot is never reused. */
        if (f->backend->record(f->device, slot->done[mark], done, handle, &failure) != LADE_OK)
            return lade_feeder_fail(f, &failure);
        atomic_fetch_or_explicit(&slot->marks, 1u << mark, memory_order_relaxed); /* the holds and the turn order it */
    }
    lade_ref_put(&slot->holds, released);
    return LADE_OK;
}

int lade_feeder_release(struct lade_feeder *f, const struct lade_feeder_batch *batch, enum lade_done done, void *handle,
                        struct lade_error *error)
{
    return lade_feeder_error_call(f, lade_feeder_let_go(f, &f->slot[batch->slot], 0, done, handle), error);
}

void lade_feeder_close(struct lade_feeder *f)
{
    lade_slots_end(&f->slots);
}
