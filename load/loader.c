/* SPDX-License-Identifier: MIT */
/* What the consumer does. */
#include "loader.h"

#include <string.h>

/* A batch that can be taken: the first one, or any of its epoch when they come as they are ready. */
static bool find(struct lade_loader *l, uint64_t *batch, uint64_t *buffer)
{
    const uint64_t window = l->config.in_order ? 1 : l->ring.places;

    for (uint64_t k = l->low; k < l->low + window; k++) {
        if (l->taken[k & (l->ring.places - 1)] || !lade_ring_look(&l->ring, k, buffer) ||
            l->slot[*buffer].epoch != l->next.epoch)
            continue;
        *batch = k;
        return true;
    }
    return false;
}

/* The first batches that were not taken yet move on. */
static void take(struct lade_loader *l, uint64_t batch, const struct lade_slot *slot)
{
    const uint64_t mask = l->ring.places - 1;

    l->taken[batch & mask] = true;
    l->end[batch & mask] = slot->end;
    l->from[batch & mask] = slot->from;
    if (batch != l->low)
        return;
    for (; l->taken[l->low & mask]; l->low++) {
        l->taken[l->low & mask] = false;
        if (l->next.epoch != l->end[l->low & mask].epoch)
            l->faults_of_epoch = 0;
        l->next = l->end[l->low & mask];
    }
    l->waiting_since = 0;
    lade_ring_advance(&l->ring, l->low);
    lade_event_notify_all(&l->room);
}

/* What is answered from here on. */
static int end(struct lade_loader *l, int status, const struct lade_error *why)
{
    l->ended = status;
    l->error = *why;
    l->error.status = status;
    return status;
}

static int deliver(struct lade_loader *l, struct lade_batch *batch, uint64_t number, uint64_t buffer)
{
    struct lade_slot *slot = &l->slot[buffer];

    if (slot->status != LADE_OK)
        return end(l, slot->status, &slot->error);
    l->faults += slot->faults;
    l->faults_of_epoch += slot->faults;
    if (l->faults_of_epoch > l->config.faults_max)
        return end(l, LADE_LIMITED, &slot->error);
    take(l, number, slot);
    atomic_fetch_add_explicit(&l->held, 1, memory_order_relaxed); /* only a number */
    *batch = (struct lade_batch){.number = l->delivered++,
                                 .epoch = slot->epoch,
                                 .count = slot->count,
                                 .samples = slot->samples,
                                 .sample_bytes = l->sample_bytes,
                                 .labels = slot->labels,
                                 .ids = slot->ids,
                                 .faults = slot->faults,
                                 .last = l->next.epoch != slot->epoch,
                                 .slot = buffer};
    l->delivered_samples += slot->count;
    return LADE_OK;
}

void lade_loader_recheck(const struct lade_loader *l, int64_t *until)
{
    lade_event_recheck_by(until, lade_now() + WAIT_MOST);
    lade_event_recheck_by(until, lade_deadline(l->waiting_since, l->config.worker_timeout));
}

/* What the consumer waits for. */
struct awaited {
    struct lade_loader *loader;
    uint64_t *batch, *buffer;
    struct lade_error *error;
    bool napped;
};

/*
 * Waking a thread costs as much as reading a dozen samples, so the consumer is woken for some batches at once when they come
 * quickly: it sleeps for the last of them, but not for long.
 */
#define NAP INT64_C(50000) /* nanoseconds */

/* One sleep, whatever ends it. */
static int find_or_nap(void *context, int64_t *until)
{
    struct awaited *a = context;
    const bool napped = a->napped;

    (void)until;
    a->napped = true;
    return napped || find(a->loader, a->batch, a->buffer) ? LADE_OK : LADE_AWAIT;
}

static int find_or_await(void *context, int64_t *until)
{
    const struct awaited *a = context;
    struct lade_loader *l = a->loader;

    if (find(l, a->batch, a->buffer))
        return LADE_OK;
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return LADE_CANCELLED;
    int status = lade_loader_supervise(l, a->error);
    if (status != LADE_OK)
        return end(l, status, a->error);
    lade_loader_recheck(l, until);
    return LADE_AWAIT;
}

static int await(struct lade_loader *l, uint64_t *batch, uint64_t *buffer, int64_t timeout, struct lade_error *error)
{
    struct awaited a = {l, batch, buffer, error, false};

    if (find(l, batch, buffer))
        return LADE_OK;
    while (l->helper && (timeout > 0 || timeout == LADE_FOREVER) && lade_worker_help(l->helper))
        if (find(l, batch, buffer))
            return LADE_OK;
    int64_t begin = lade_now(), deadline = lade_deadline(begin, timeout);
    if (l->waiting_since == 0)
        l->waiting_since = begin;
    if (l->config.in_order && l->config.slots > 2 && (deadline < 0 || deadline > begin + NAP)) {
        lade_ring_await(&l->ring, l->low + l->config.slots / 2);
        (void)lade_event_await(&l->ready, find_or_nap, &a, begin + NAP);
    }
    lade_ring_await(&l->ring, l->config.in_order ? l->low : LADE_ANY_BATCH);
    int status = lade_event_await(&l->ready, find_or_await, &a, deadline);
    l->wait_time += (uint64_t)(lade_now() - begin);
    return status;
}

int lade_loader_next(struct lade_loader *l, struct lade_batch *batch, int64_t timeout, struct lade_error *error)
{
    struct lade_error mine;
    uint64_t number, buffer;

    if (!l || !batch)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "there is no loader, or no batch to fill");
    if (!lade_loader_is_here(l))
        return lade_loader_refuse_child(error);
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return lade_fail(error, LADE_CANCELLED, NULL, LADE_NO_OFFSET, "the loader was cancelled");
    if (l->ended != LADE_OK) {
        if (error)
            *error = l->error;
        return l->ended;
    }
    if (atomic_load_explicit(&l->held, memory_order_relaxed) >= l->config.slots)
        return lade_fail(error, LADE_TOO_MANY, NULL, LADE_NO_OFFSET, "all slots are with the consumer; release one");
    if (l->bag)
        return lade_stream_next(l, batch, timeout, error);
    if (l->next.epoch >= l->config.epochs)
        return lade_fail(error, LADE_CLOSED, NULL, LADE_NO_OFFSET, "the last epoch has ended");
    int status = await(l, &number, &buffer, timeout, &mine);
    if (status == LADE_OK)
        status = deliver(l, batch, number, buffer);
    if (status != LADE_OK && error) {
        if (l->ended != LADE_OK)
            *error = l->error;
        else
            (void)lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
    }
    return status;
}

void lade_loader_release(struct lade_loader *l, const struct lade_batch *batch)
{
    lade_ring_give(&l->ring, batch->slot);
    atomic_fetch_sub_explicit(&l->held, 1, memory_order_relaxed);
    lade_event_notify_all(&l->room);
}

void lade_loader_cancel(struct lade_loader *l)
{
    atomic_store_explicit(&l->cancelled, 1, memory_order_relaxed); /* the events below carry it */
    if (l->bag)
        lade_bag_close(l->bag);
    lade_event_notify_all(&l->room);
    lade_event_notify_all(&l->ready);
}

static uint64_t total(const struct lade_loader *l, size_t offset)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < l->workers; i++)
        sum += atomic_load_explicit((_Atomic uint64_t *)((char *)&l->worker[i] + offset), memory_order_relaxed);
    return sum;
}

static const char *claim_of(const struct lade_loader *l)
{
    if (l->bag)
        return "each sample once for each epoch read, drawn uniformly from a buffer that is half full at least; "
               "batches depend on timing";
    if (l->config.draw == LADE_DRAW_WEIGHTED)
        return "each place of an epoch is drawn independently, by weight, with replacement";
    if (l->config.draw == LADE_DRAW_BALANCED)
        return "each place of an epoch is drawn independently, all classes alike, with replacement";
    if (l->config.given_order)
        return "each sample exactly once in each epoch, by number";
    return l->config.in_order
               ? "each sample exactly once in each epoch, in a random order that the seed decides; the same "
                 "bytes for any number of threads"
               : "each sample exactly once in each epoch, in batches that the seed decides; they come as "
                 "they are ready";
}

void lade_loader_measure(const struct lade_loader *l, struct lade_loader_stats *stats)
{
    const uint64_t batch = l->config.batch, length = l->order.shards ? lade_order_length(&l->order, UINT64_MAX) : 0;

    *stats = (struct lade_loader_stats){
        .samples = l->config.drop_last ? length / batch * batch : length,
        .batches = l->config.drop_last ? length / batch : length / batch + (length % batch != 0),
        .part = l->order.members,
        .delivered = l->delivered,
        .delivered_samples = l->delivered_samples,
        .faults = l->faults,
        .replaced = l->replaced,
        .slot_bytes = batch * (l->sample_bytes + sizeof(int64_t) + sizeof(uint64_t)),
        .read_time = total(l, offsetof(struct lade_worker, read_time)),
        .transform_time = total(l, offsetof(struct lade_worker, transform_time)),
        .worker_wait_time = total(l, offsetof(struct lade_worker, wait_time)),
        .consumer_wait_time = l->wait_time,
        .running_time = total(l, offsetof(struct lade_worker, running_time)),
        .claim = claim_of(l),
    };
    for (unsigned i = 0; i < l->workers; i++)
        if (atomic_load_explicit(&l->worker[i].state, memory_order_relaxed) == LADE_WORKER_RUNS)
            stats->running_time +=
                (uint64_t)(lade_now() - atomic_load_explicit(&l->worker[i].begin, memory_order_relaxed));
}
