/* SPDX-License-Identifier: MIT */
/*
 * Feeders on a device that delays, reorders and poisons: every batch is delivered once, in order, and is complete on
 * the device, whatever is held, exported and released in which order. Feeders that are closed, or whose device is lost,
 * at random points: all threads end in time, and every resource is released.
 */
#include "check.h"
#include "kernels.h"

#include <lade/dlpack.h>
#include <lade/ring.h>

#include <inttypes.h>
#include <pthread.h>

enum { USE_STREAMS = 3, HANG_SECONDS = 60, CLOSE_SECONDS = 20, TENSORS_SENT = 64 };

/* A consumer: the batches that it holds, and another thread that deletes the tensors that it exported. */
struct consumer {
    struct lade_feeder *feeder;
    struct faulty *device;
    struct faulty_stream *stream[USE_STREAMS];
    struct faulty_event *event[USE_STREAMS];
    uint64_t random;
    unsigned depth, held_count;
    struct lade_feeder_batch held[LADE_FEEDER_DEPTH_MAX];
    unsigned held_stream[LADE_FEEDER_DEPTH_MAX];
    struct lade_spsc *tensors;
    atomic_bool ends;
    uint64_t taken, out_of_order, exported;
    int end;
    pthread_t thread, deleter;
};

static atomic_ullong wrong, looks;

static void *delete_tensors(void *argument)
{
    struct consumer *c = argument;
    uint64_t word;

    for (;;) {
        bool last = atomic_load_explicit(&c->ends, memory_order_acquire);
        while (lade_spsc_pop(c->tensors, &word) == LADE_OK) {
            struct DLManagedTensorVersioned *tensor = (void *)(uintptr_t)word;
            tensor->deleter(tensor);
        }
        if (last)
            return NULL;
        sched_yield();
    }
}

static void export_one(struct consumer *c, const struct lade_feeder_batch *batch)
{
    struct DLManagedTensorVersioned *tensor;
    unsigned s = check_below(&c->random, USE_STREAMS), t = check_below(&c->random, TENSORS);

    if (lade_feeder_export(c->feeder, batch, t, LADE_ON_DEVICE, LADE_DONE_STREAM, c->stream[s], &tensor, NULL) !=
        LADE_OK)
        return;
    launch_look(c->feeder, c->device, c->stream[s], batch, &wrong, &looks);
    c->exported++;
    if (lade_spsc_push(c->tensors, (uintptr_t)tensor) != LADE_OK)
        tensor->deleter(tensor);
}

static void release_held(struct consumer *c, unsigned i)
{
    unsigned s = c->held_stream[i];
    struct lade_feeder_batch batch = c->held[i];

    c->held_count--;
    c->held[i] = c->held[c->held_count];
    c->held_stream[i] = c->held_stream[c->held_count];
    if (s == USE_STREAMS) {
        (void)lade_feeder_release(c->feeder, &batch, LADE_DONE_NOW, NULL, NULL);
    } else if (check_below(&c->random, 2)) {
        (void)lade_feeder_release(c->feeder, &batch, LADE_DONE_STREAM, c->stream[s], NULL);
    } else {
        faulty_event_record(c->device, c->event[s], c->stream[s]);
        (void)lade_feeder_release(c->feeder, &batch, LADE_DONE_EVENT, c->event[s], NULL);
    }
}

/* Releases some batches, and the one whose slot the next batch needs. */
static void release_some(struct consumer *c)
{
    while (c->held_count && check_below(&c->random, 3))
        release_held(c, check_below(&c->random, c->held_count));
    for (unsigned i = 0; i < c->held_count; i++)
        if (c->held[i].number + c->depth <= c->taken)
            release_held(c, i--);
}

/* On a stream, or immediately. */
static unsigned use(struct consumer *c, const struct lade_feeder_batch *batch)
{
    unsigned s = check_below(&c->random, 8) ? check_below(&c->random, USE_STREAMS) : USE_STREAMS;

    if (s < USE_STREAMS)
        launch_look(c->feeder, c->device, c->stream[s], batch, &wrong, &looks);
    else if (lade_feeder_host_wait(c->feeder, batch, LADE_FOREVER, NULL) == LADE_OK)
        atomic_fetch_add(&wrong, wrong_in(batch->number, batch->rows, batch->tensor[IMAGES].data,
                                          batch->tensor[LABELS].data, batch->tensor[IDS].data));
    if (check_below(&c->random, 4) == 0)
        export_one(c, batch);
    return s;
}

static void *consume(void *argument)
{
    struct consumer *c = argument;

    for (;;) {
        release_some(c);
        struct lade_feeder_batch *batch = &c->held[c->held_count];
        c->end = lade_feeder_next(c->feeder, batch, LADE_FOREVER, NULL);
        if (c->end != LADE_OK)
            break;
        c->out_of_order += batch->number != c->taken;
        c->taken++;
        c->held_stream[c->held_count] = use(c, batch);
        c->held_count++;
    }
    while (c->held_count)
        release_held(c, check_below(&c->random, c->held_count));
    return NULL;
}

static bool start(struct consumer *c, struct producer *p, struct faulty_config *faulty, uint64_t seed)
{
    struct lade_feeder_config config = faulty_config_of(p, faulty);

    memset(c, 0, sizeof *c);
    c->random = seed;
    c->depth = config.depth = 1 + check_below(&c->random, 6);
    config.fillers = 1 + check_below(&c->random, 3);
    config.consumer_assists = check_below(&c->random, 2);
    if (lade_feeder_create_on(&c->feeder, &faulty_backend, &config, NULL) != LADE_OK)
        return false;
    c->device = faulty_of(c->feeder);
    for (unsigned i = 0; i < USE_STREAMS; i++) {
        c->stream[i] = faulty_stream(c->device);
        c->event[i] = faulty_event(c->device);
    }
    return lade_spsc_create(&c->tensors, &(struct lade_ring_config){.capacity = TENSORS_SENT}) == LADE_OK &&
           pthread_create(&c->deleter, NULL, delete_tensors, c) == 0 &&
           pthread_create(&c->thread, NULL, consume, c) == 0;
}

/* destroy is called before the last tensors are deleted, or after. */
static void finish(struct consumer *c)
{
    bool before = check_below(&c->random, 2);

    if (before)
        lade_feeder_destroy(c->feeder);
    atomic_store_explicit(&c->ends, true, memory_order_release);
    pthread_join(c->deleter, NULL);
    if (!before)
        lade_feeder_destroy(c->feeder);
    lade_spsc_destroy(c->tensors);
}

static void feed_all(uint64_t *random)
{
    enum { FEEDERS = 20 };
    uint64_t each = (check_full() ? 50000 : 5000) / SLOW, taken = 0, out_of_order = 0, exported = 0;
    unsigned ended = 0;

    for (unsigned i = 0; i < FEEDERS; i++) {
        struct faulty_config faulty = {.seed = check_next(random), .poison_staging = i % 2};
        struct producer p = {.batches = each};
        struct consumer c;
        faulty.rest = check_below(random, 8);
        faulty.late = check_below(random, 128);
        check_within(HANG_SECONDS, "every batch once and in order");
        if (!start(&c, &p, &faulty, check_next(random)))
            break;
        pthread_join(c.thread, NULL);
        ended += c.end == LADE_CLOSED;
        taken += c.taken;
        out_of_order += c.out_of_order;
        exported += c.exported;
        finish(&c);
    }
    check_within(0, NULL);
    check(ended == FEEDERS && taken == FEEDERS * each && out_of_order == 0, "every batch once and in order",
          "%" PRIu64 " batches of %u feeders, %" PRIu64 " out of order", taken, ended, out_of_order);
    check(atomic_load(&wrong) == 0 && atomic_load(&looks) > taken / 2,
          "no consumer sees a byte that is not the batch's",
          "%llu looks on the device, %" PRIu64 " tensors exported, %llu wrong bytes", atomic_load(&looks), exported,
          atomic_load(&wrong));
    check(faulty_things() == 0, "everything is given back", "%ld things are left", faulty_things());
}

/* Lets the feeder run for N batches, and a moment more. */
static void run_a_while(struct consumer *c, unsigned batches, unsigned moment)
{
    struct lade_feeder_stats stats = {.filled = 0};

    while (stats.filled < batches && !lade_feeder_failed(c->feeder, NULL))
        lade_feeder_stats(c->feeder, &stats);
    for (volatile unsigned i = 0; i < moment; i++)
        ;
}

static void stop_anywhere(uint64_t *random)
{
    unsigned points = check_full() ? 10000 : 1000, closed = 0, observed = 0;

    for (unsigned i = 0; i < points; i++) {
        struct faulty_config faulty = {.seed = check_next(random)};
        struct producer p = {.batches = UINT64_MAX};
        struct consumer c;
        faulty.rest = check_below(random, 64);
        faulty.late = check_below(random, 128);
        check_within(HANG_SECONDS, "stop anywhere");
        if (!start(&c, &p, &faulty, check_next(random)))
            break;
        run_a_while(&c, check_below(random, 20), check_below(random, 2000));
        if (i % 2) /* while the consumer continues */
            closed += lade_feeder_stop(c.feeder, INT64_C(1000000000) * CLOSE_SECONDS) == LADE_OK;
        else
            lade_feeder_close(c.feeder);
        pthread_join(c.thread, NULL);
        observed += c.end == LADE_CLOSED;
        if (i % 2 == 0)
            closed += lade_feeder_stop(c.feeder, INT64_C(1000000000) * CLOSE_SECONDS) == LADE_OK;
        finish(&c);
    }
    check_within(0, NULL);
    check(closed == points && observed == points, "stop or close anywhere",
          "%u points, %u closed in time, %u consumers observed it", points, closed, observed);
    check(faulty_things() == 0 && atomic_load(&wrong) == 0, "stop leaks nothing", "%ld things, %llu wrong bytes",
          faulty_things(), atomic_load(&wrong));
}

static void lose_anywhere(uint64_t *random)
{
    unsigned points = (check_full() ? 3000 : 300) / SLOW, observed = 0, refused = 0;

    for (unsigned i = 0; i < points; i++) {
        struct faulty_config faulty = {.seed = check_next(random)};
        struct producer p = {.batches = UINT64_MAX};
        struct consumer c;
        faulty.rest = check_below(random, 64);
        if (i % 2) /* a call that fails alone, else the whole device */
            faulty.fail_call = 1 + check_below(random, 400);
        check_within(HANG_SECONDS, "device loss anywhere");
        if (!start(&c, &p, &faulty, check_next(random))) {
            refused++; /* the call was one of the creation */
            continue;
        }
        run_a_while(&c, check_below(random, 20), check_below(random, 2000));
        if (i % 2 == 0)
            faulty_lose(c.device);
        pthread_join(c.thread, NULL);
        observed += c.end == LADE_DEVICE;
        faulty_finish(c.device); /* work in the consumer's streams belongs to the consumer */
        finish(&c);
    }
    check_within(0, NULL);
    check(observed + refused == points && observed > points / 2, "device loss anywhere",
          "%u points, %u consumers observed it, %u at creation", points, observed, refused);
    check(faulty_things() == 0 && atomic_load(&wrong) == 0, "device loss leaks nothing", "%ld things, %llu wrong bytes",
          faulty_things(), atomic_load(&wrong));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    uint64_t random = check_seed();
    feed_all(&random);
    stop_anywhere(&random);
    lose_anywhere(&random);
    return check_end();
}
