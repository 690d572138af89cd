/* SPDX-License-Identifier: MIT */
/*
 * A device with two streams: one copies, the other is the consumer's. The host thread enqueues work, and one thread for
 * each stream executes it after an arbitrary delay. Each slot has an event after its copy and one after its use. An
 * event counts how often it was recorded (by the host) and passed (by a stream).
 */
struct device_event {
    uint64_t recorded; /* written by the host */
    _Atomic uint64_t passed;
};

struct device_work {
    uint64_t *to;
    const uint64_t *from;
    struct device_event *after; /* runs after this event ... */
    uint64_t after_number;      /* ... has passed this record of it */
    struct device_event *then;  /* and passes this one */
    uint64_t number;            /* what a use must find */
};

enum { COPIES, USES, STREAMS, WORK_MOST = 2 };

static struct device_work device_work[STREAMS][WORK_MOST];
static _Atomic uint64_t device_put[STREAMS];

static struct device_event device_ready[DEPTH], device_done[DEPTH];
static struct device_event *device_waits; /* the event that the next copy waits for */

static void make_events(struct lade_staging_slot *slot)
{
    long i = slot->staging == &staging[0] ? 0 : 1;

    slot->ready = &device_ready[i];
    slot->done[0] = &device_done[i];
    device_ready[i].recorded = device_done[i].recorded = 0;
    atomic_init(&device_ready[i].passed, 0);
    atomic_init(&device_done[i].passed, 0);
    atomic_init(&device_put[COPIES], 0);
    atomic_init(&device_put[USES], 0);
    device_waits = NULL;
}

/* Enqueues work; the thread that executes it sees all that the host did before. */
static void put_work(int stream, uint64_t *to, const uint64_t *from, struct device_event *after,
                     struct device_event *then, uint64_t number)
{
    uint64_t i = atomic_load_explicit(&device_put[stream], memory_order_relaxed);
    struct device_work *work = &device_work[stream][i];

    work->to = to;
    work->from = from;
    work->after = after;
    work->after_number = after ? after->recorded : 0;
    work->then = then;
    work->number = number;
    then->recorded++;
    atomic_store_explicit(&device_put[stream], i + 1, memory_order_release);
}

static int device_after(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    (void)failure;
    device_waits = event;
    return LADE_OK;
}

static int device_copy(void *self, void *device, const void *from, size_t bytes, void *ready,
                       struct lade_device_failure *failure)
{
    (void)self;
    (void)bytes;
    (void)failure;
    put_work(COPIES, device, from, device_waits, ready, 0);
    device_waits = NULL;
    return LADE_OK;
}

/* A use of the batch in the slot, after its arrival, followed by the event that releases the slot. */
static int device_record(void *self, void *event, enum lade_done done, void *handle,
                         struct lade_device_failure *failure)
{
    const struct lade_feeder_batch *batch = handle;

    (void)self;
    (void)done;
    (void)failure;
    put_work(USES, NULL, batch->tensor[0].data, &device_ready[batch->slot], event, batch->number + 1);
    return LADE_OK;
}

static int device_query(void *self, void *event, struct lade_device_failure *failure)
{
    struct device_event *e = event;

    (void)self;
    (void)failure;
    return atomic_load_explicit(&e->passed, memory_order_acquire) >= e->recorded;
}

/* Executes item i of a stream. */
static void do_work(int stream, uint64_t i)
{
    const struct device_work *work = &device_work[stream][i];

    if (work->to)
        *work->to = *work->from;
    else
        assert(*work->from == work->number);
    atomic_store_explicit(&work->then->passed, atomic_load_explicit(&work->then->passed, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Whether it can run: the host has enqueued it, and the event that it waits for has passed. */
static bool can_work(int stream, uint64_t i)
{
    if (atomic_load_explicit(&device_put[stream], memory_order_acquire) <= i)
        return false;
    const struct device_work *work = &device_work[stream][i];
    return !work->after || atomic_load_explicit(&work->after->passed, memory_order_acquire) >= work->after_number;
}
