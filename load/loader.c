/* SPDX-License-Identifier: MIT */
/* The consumer's side. */
#include "loader.h"

#include "sized.h"

#include <string.h>

bool lade_loader_find(struct lade_loader *l, uint64_t *batch, uint64_t *buffer)
{
    const uint64_t mask = l->ring.places - 1;

    for (uint64_t k = l->low; k < l->low + l->ring.places; k++) {
        if (l->taken[k & mask] || lade_stage_has(l, k & mask))
            continue;
        if (lade_batch_ring_look(&l->ring, k, buffer) &&
            (l->config.in_order || l->shuffle || k == l->low || l->slot[*buffer].epoch == l->next.epoch)) {
            *batch = k;
            return true;
        }
        if (l->config.in_order)
            return false;
    }
    return false;
}

/* Finds a batch that can be taken, and its slot (of the stage if there is one). */
static bool find(struct lade_loader *l, uint64_t *batch, uint64_t *slot)
{
    return l->stage ? lade_stage_find(l, batch, slot) : lade_loader_find(l, batch, slot);
}

/* Marks the batch as taken, and advances past the batches taken. */
static void take(struct lade_loader *l, uint64_t batch, const struct lade_batch_buffer *slot)
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
    lade_batch_ring_advance(&l->ring, l->low);
}

/*
 * Whether the batch begins where the one before it ends, and ends where the next one begins, as far as these were taken.
 * A batch whose end lengths decide may be planned twice, when a worker is replaced, and the lengths may have changed.
 */
static bool is_in_line(const struct lade_loader *l, uint64_t batch, const struct lade_batch_buffer *slot)
{
    const uint64_t mask = l->ring.places - 1, before = (batch - 1) & mask, after = (batch + 1) & mask;

    if (!l->fields || (!l->pack && !lade_fields_limits(l)))
        return true;
    if (batch == l->low ? slot->epoch != l->next.epoch || slot->from != lade_loader_mine(l, &l->next)
                        : l->taken[before] && slot->from != lade_loader_mine(l, &l->end[before]))
        return false;
    return !l->taken[after] || l->from[after] == lade_loader_mine(l, &slot->end);
}

/* Sets the status that all further calls return. */
static int end(struct lade_loader *l, int status, const struct lade_error *why)
{
    l->ended = status;
    l->error = *why;
    l->error.status = status;
    return status;
}

static int deliver(struct lade_loader *l, struct lade_batch *batch, uint64_t number, uint64_t at)
{
    struct lade_memory *memory = NULL;
    struct lade_batch_buffer *slot = l->stage ? lade_stage_slot(l, at, &memory) : &l->slot[at];

    if (slot->status != LADE_OK)
        return end(l, slot->status, &slot->error);
    if (!is_in_line(l, number, slot)) {
        struct lade_error error;
        (void)lade_fail(&error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                        "samples of batch %llu, or of the one before it, have other lengths than when it was planned",
                        (unsigned long long)number);
        return end(l, LADE_LIMITED, &error);
    }
    l->packed.steps += slot->packed.steps;
    l->packed.cut += slot->packed.cut;
    l->packed.split += slot->packed.split;
    l->packed.dropped += slot->packed.dropped;
    l->packed_rows += slot->rows;
    l->faults += slot->faults;
    l->faults_of_epoch += slot->faults;
    for (unsigned s = 0; l->order.mixture && s < l->order.mixture->sources; s++)
        l->faults_of[s] += slot->faults_of[s];
    if (l->faults_of_epoch > l->config.faults_max)
        return end(l, LADE_LIMITED, &slot->error);
    if (l->stage)
        lade_stage_taken(l, at);
    else
        lade_loader_note(l, LADE_STEP_TAKEN, number, at);
    take(l, number, slot);
    const bool last = l->shuffle ? lade_shuffle_taken(l, number) : l->next.epoch != slot->epoch;
    lade_loader_hand_out(l, batch, number, slot, l->stage ? memory : slot->memory);
    batch->faults = l->shuffle ? 0 : slot->faults;
    batch->last = last;
    return LADE_OK;
}

void lade_loader_hand_out(struct lade_loader *l, struct lade_batch *batch, uint64_t number,
                          const struct lade_batch_buffer *slot, struct lade_memory *memory)
{
    atomic_fetch_add_explicit(&l->held, 1, memory_order_relaxed); /* only a count */
    memory->number = number;
    *batch = (struct lade_batch){.number = l->delivered++, .epoch = slot->epoch};
    lade_memory_show(memory, slot, batch);
    l->delivered_samples += slot->count;
    for (uint64_t i = 0; l->order.mixture && i < batch->count; i++)
        l->delivered_of[lade_mixture_source(l->order.mixture, batch->ids[i])]++;
}

void lade_loader_recheck(const struct lade_loader *l, int64_t *until)
{
    lade_event_recheck_by(until, lade_now() + WAIT_MOST);
    lade_event_recheck_by(until, lade_deadline(l->waiting_since, l->config.worker_timeout));
    if (l->stage)
        lade_stage_recheck(l, until);
}

/*
 * Waking a worker costs as much as reading a dozen samples, so workers are not woken for each buffer: only when half of
 * the slots were released, or when the consumer has no batch. A consumer that is about to wait notifies them when it is
 * counted as a waiter; a thread that releases a batch at that time notifies them if it finds the consumer counted.
 */
static void notify_workers(struct lade_loader *l)
{
    LADE_STEP();
    atomic_store_explicit(&l->freed, 0, memory_order_relaxed); /* only decides when to notify */
    lade_event_notify_all(&l->reusable);
}

/* Context of a consumer's wait. */
struct awaited {
    struct lade_loader *loader;
    uint64_t *batch, *slot;
    struct lade_error *error;
    bool assists; /* may make batches itself */
    bool napped;
};

/* Checks for a batch, and makes batches itself while there is memory for them. */
static bool find_or_assist(const struct awaited *a)
{
    do
        if (find(a->loader, a->batch, a->slot))
            return true;
    while (a->assists && lade_worker_assist(a->loader->helper));
    return false;
}

/*
 * Waking a thread costs as much as reading a dozen samples, so when batches are made quickly the consumer is woken once
 * for several: it sleeps until the last of them, but not for long.
 */
#define NAP INT64_C(50000) /* nanoseconds */

/* One sleep, whatever ends it. */
static int find_or_nap(void *context, int64_t *until)
{
    struct awaited *a = context;
    const bool napped = a->napped;

    (void)until;
    a->napped = true;
    if (napped || find(a->loader, a->batch, a->slot))
        return LADE_OK;
    notify_workers(a->loader);
    return LADE_AWAIT;
}

static int find_or_await(void *context, int64_t *until)
{
    const struct awaited *a = context;
    struct lade_loader *l = a->loader;

    if (find_or_assist(a)) /* a completed copy frees memory */
        return LADE_OK;
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return LADE_CANCELLED;
    int status = lade_loader_supervise(l, a->error);
    if (status != LADE_OK)
        return end(l, status, a->error);
    status = lade_stage_status(l, a->error);
    if (status != LADE_OK)
        return end(l, status, a->error);
    notify_workers(l);
    lade_loader_recheck(l, until);
    return LADE_AWAIT;
}

static int await(struct lade_loader *l, uint64_t *batch, uint64_t *slot, int64_t timeout, struct lade_error *error)
{
    struct awaited a = {l, batch, slot, error, l->helper && (timeout > 0 || timeout == LADE_FOREVER), false};

    if (find_or_assist(&a))
        return LADE_OK;
    int64_t begin = lade_now(), deadline = lade_deadline(begin, timeout);
    if (l->waiting_since == 0)
        l->waiting_since = begin;
    if (l->config.slots > 2 && (deadline < 0 || deadline > begin + NAP)) {
        lade_batch_ring_await(&l->ring, l->low + l->config.slots / 2);
        (void)lade_event_await(&l->ready, find_or_nap, &a, begin + NAP);
    }
    lade_batch_ring_await(&l->ring, l->config.in_order ? l->low : LADE_ANY_BATCH);
    int status = lade_event_await(&l->ready, find_or_await, &a, deadline);
    l->wait_time += (uint64_t)(lade_now() - begin);
    return status;
}

int lade_loader_refuse_more(struct lade_error *error)
{
    return lade_fail(error, LADE_TOO_MANY, NULL, LADE_NO_OFFSET,
                     "the consumer, or exported tensors, hold all slots; release or detach one");
}

static int next(struct lade_loader *l, struct lade_batch *batch, int64_t timeout, struct lade_error *error)
{
    struct lade_error mine;
    uint64_t number, slot;

    if (!l || !batch)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "loader or batch is NULL");
    if (!lade_loader_is_here(l))
        return lade_loader_refuse_child(error);
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return lade_fail(error, LADE_CANCELLED, NULL, LADE_NO_OFFSET, "the loader was cancelled");
    if (l->ended != LADE_OK) {
        if (error)
            *error = l->error;
        return l->ended;
    }
    if (lade_stage_status(l, &mine) != LADE_OK) {
        if (error)
            *error = mine;
        return end(l, LADE_DEVICE, &mine);
    }
    if (l->stage ? lade_stage_is_held(l) : atomic_load_explicit(&l->held, memory_order_relaxed) >= l->config.slots)
        return lade_loader_refuse_more(error);
    if (l->bag)
        return lade_stream_next(l, batch, timeout, error);
    if (l->shuffle ? lade_shuffle_is_over(l) : l->next.epoch >= l->config.epochs)
        return lade_fail(error, LADE_CLOSED, NULL, LADE_NO_OFFSET, "the last epoch has ended");
    int status = await(l, &number, &slot, timeout, &mine);
    if (status == LADE_OK)
        status = deliver(l, batch, number, slot);
    if (status != LADE_OK && error) {
        if (l->ended != LADE_OK)
            *error = l->error;
        else
            (void)lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
    }
    return status;
}

int lade_loader_next_sized(struct lade_loader *l, struct lade_batch *batch, size_t size, int64_t timeout,
                           struct lade_error *error)
{
    struct lade_batch whole;

    if (size == sizeof whole || !batch)
        return next(l, batch, timeout, error);
    int status = next(l, &whole, timeout, error);
    if (status == LADE_OK)
        lade_sized_out(batch, size, &whole, sizeof whole);
    return status;
}

void lade_loader_freed(struct lade_loader *l)
{
    if (l->bag) /* workers need no slot */
        return;
    LADE_STEP();
    uint64_t freed = 1 + atomic_fetch_add_explicit(&l->freed, 1, memory_order_relaxed);
    if (2 * freed >= l->config.slots || lade_event_is_awaited(&l->ready))
        notify_workers(l);
}

void lade_loader_give(struct lade_loader *l, uint64_t buffer)
{
    lade_batch_ring_give(&l->ring, buffer);
    lade_loader_freed(l);
}

void lade_loader_cancel(struct lade_loader *l)
{
    atomic_store_explicit(&l->cancelled, 1, memory_order_relaxed); /* the events below carry it */
    if (l->bag)
        lade_bag_close(l->bag);
    lade_event_notify_all(&l->reusable);
    lade_event_notify_all(&l->ready);
}

static uint64_t total(const struct lade_loader *l, size_t offset)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < l->workers; i++)
        sum += atomic_load_explicit((_Atomic uint64_t *)((char *)&l->worker[i] + offset), memory_order_relaxed);
    return sum;
}

/* Of a source whose samples lie in blocks, see order_blocks.h. */
static const char *guarantee_of_windows(const struct lade_loader *l)
{
    if (l->config.source->blocks->rising)
        return l->config.in_order
                   ? "each sample exactly once in each epoch, windows in the order of the stream, samples permuted "
                     "inside each; the same bytes for any number of threads"
                   : "each sample exactly once in each epoch, windows in the order of the stream, samples permuted "
                     "inside each; batches are delivered as soon as they are ready";
    return l->config.in_order
               ? "each sample exactly once in each epoch, row groups permuted, samples permuted inside windows of "
                 "several row groups, not across them; the same bytes for any number of threads"
               : "each sample exactly once in each epoch, row groups permuted, samples permuted inside windows of "
                 "several row groups, not across them; batches are delivered as soon as they are ready";
}

static const char *guarantee_of(const struct lade_loader *l)
{
    if (l->config.buffer > 0)
        return "each sample once for each epoch read, drawn uniformly from a buffer that is half full at least; "
               "batches depend on timing";
    if (l->pack)
        return lade_pack_guarantee(l);
    if (l->config.draw == LADE_DRAW_WEIGHTED)
        return "each position of an epoch is drawn independently, by weight, with replacement";
    if (l->config.draw == LADE_DRAW_BALANCED)
        return "each position of an epoch is drawn independently, all classes alike, with replacement";
    if (l->order.mixture)
        return l->order.mixture->end == LADE_MIXTURE_DROP ? "a mixture: each prefix of the order within one sample of "
                                                            "each source's share among those that have "
                                                            "not ended, each sample once"
               : l->order.mixture->end == LADE_MIXTURE_STOP
                   ? "a mixture: each prefix of the order within one sample of each source's share, each sample at "
                     "most "
                     "once in each epoch"
                   : "a mixture: each prefix of the order within one sample of each source's share, each sample of a "
                     "source once in each of its rounds";
    if (l->config.sequential)
        return "each sample exactly once in each epoch, by number";
    if (l->config.source->blocks)
        return guarantee_of_windows(l);
    return l->config.in_order
               ? "each sample exactly once in each epoch, in a random order that the seed decides; the same "
                 "bytes for any number of threads"
               : "each sample exactly once in each epoch, in batches that the seed decides, delivered as soon as they "
                 "are ready";
}

/* Adds what a worker has not added to its own statistics yet: its running time, and a wait that has not ended. */
static void add_unfinished(const struct lade_worker *w, int64_t now, struct lade_loader_stats *stats)
{
    if (atomic_load_explicit(&w->state, memory_order_relaxed) != LADE_WORKER_RUNS)
        return;
    const int64_t begin = atomic_load_explicit(&w->begin, memory_order_relaxed);
    const int64_t since = atomic_load_explicit(&w->waits_since, memory_order_relaxed);
    if (begin < now)
        stats->running_time += (uint64_t)(now - begin);
    if (since != 0 && since < now)
        stats->worker_wait_time += (uint64_t)(now - since);
}

static void measure(const struct lade_loader *l, struct lade_loader_stats *stats)
{
    const bool varies = l->fields && (l->pack || lade_fields_limits(l));
    const uint64_t batch = l->config.batch, length = l->order.shards && (!l->pack || l->order.shards == 1)
                                                         ? lade_order_length(&l->order, UINT64_MAX)
                                                         : 0;

    *stats = (struct lade_loader_stats){
        .samples = l->config.drop_last ? length / batch * batch : length,
        .batches = varies                ? 0
                   : l->config.drop_last ? length / batch
                                         : length / batch + (length % batch != 0),
        .part = l->order.members,
        .delivered = l->delivered,
        .delivered_samples = l->delivered_samples,
        .faults = l->faults,
        .replaced = l->replaced,
        .slot_bytes = lade_memory_block(l) + l->samples_max * sizeof(uint64_t),
        .read_time = total(l, offsetof(struct lade_worker, read_time)),
        .transform_time = total(l, offsetof(struct lade_worker, transform_time)),
        .worker_wait_time = total(l, offsetof(struct lade_worker, wait_time)),
        .consumer_wait_time = l->wait_time,
        .running_time = total(l, offsetof(struct lade_worker, running_time)),
        .guarantee = guarantee_of(l),
        .seed = l->config.seed,
        .packed_rows = l->packed_rows,
        .packed_steps = l->packed.steps,
        .packed_slots = l->packed_rows * l->config.pack_row,
        .samples_cut = l->packed.cut,
        .samples_split = l->packed.split,
        .samples_dropped = l->packed.dropped,
    };
    if (l->stage)
        lade_stage_stats(l, stats);
    for (unsigned i = 0; i < l->workers; i++)
        add_unfinished(&l->worker[i], lade_now(), stats);
}

void lade_loader_stats_sized(const struct lade_loader *l, struct lade_loader_stats *stats, size_t size)
{
    struct lade_loader_stats whole;

    measure(l, &whole);
    lade_sized_out(stats, size, &whole, sizeof whole);
}

unsigned lade_loader_shares(const struct lade_loader *l, struct lade_loader_share *to, unsigned most)
{
    const struct lade_mixture *m = l->order.mixture;
    uint64_t delivered = 0;
    uint32_t sum = 0;

    for (unsigned s = 0; m && s < m->sources; s++) {
        delivered += l->delivered_of[s];
        sum += m->weight[s];
    }
    for (unsigned s = 0; m && s < m->sources && s < most; s++) {
        const uint64_t samples = m->first[s + 1] - m->first[s], mine = l->delivered_of[s];
        to[s] = (struct lade_loader_share){.kind = lade_source_info(m->source[s])->kind,
                                           .samples = samples,
                                           .weight = m->weight[s],
                                           .target = (double)m->weight[s] / sum,
                                           .delivered = mine,
                                           .faults = l->faults_of[s],
                                           .epochs = (double)mine / (double)samples,
                                           .share = delivered ? (double)mine / (double)delivered : 0};
    }
    return m ? m->sources : 0;
}
