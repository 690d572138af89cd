/* SPDX-License-Identifier: MIT */
/*
 * Loaders on a device that delays, reorders, poisons and may fail, and without a device: each sample is delivered once
 * per epoch, and every batch is complete, whatever is held, exported, detached, and released or deleted by which
 * thread. Every resource is released.
 */
#include "check.h"
#include "faulty.h"
#include "numbered_batches.h"

#include <lade/dlpack.h>
#include <lade/gpu.h>
#include <lade/loader.h>
#include <lade/ring.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8, COUNT = 1000, EPOCHS = 3, HANG_SECONDS = 60, SENT = 64 };

static atomic_ullong wrong, looks;

static int read_number(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const uint64_t bytes[2] = {i, ~i};

    (void)self, (void)error;
    memcpy(to, bytes, sizeof bytes);
    *label = (int64_t)(i % 10);
    return LADE_OK;
}

/* A batch that another thread releases. */
struct kept {
    struct lade_loader *loader;
    struct lade_batch batch;
    struct DLManagedTensorVersioned *tensor; /* of it, or NULL */
    enum lade_done done;
    void *handle;
    uint64_t ids[BATCH];
};

static void look(void *argument, unsigned step)
{
    const struct kept *k = argument;

    (void)step;
    atomic_fetch_add(&wrong, wrong_in(&k->batch, k->ids));
    atomic_fetch_add(&looks, 1);
}

struct consumer {
    struct lade_loader *loader;
    struct faulty *device; /* NULL: there is none */
    struct faulty_stream *stream;
    uint64_t random;
    struct lade_spsc *others;
    atomic_bool ends;
    uint32_t seen[COUNT];
    uint64_t detached, exported;
};

static void end_kept(struct kept *k)
{
    if (!k->handle && k->batch.count > 0)
        atomic_fetch_add(&wrong, wrong_in(&k->batch, k->ids));
    if (k->tensor)
        k->tensor->deleter(k->tensor);
    else
        (void)lade_loader_release_after(k->loader, &k->batch, k->done, k->handle, NULL);
    free(k);
}

static void *end_others(void *argument)
{
    struct consumer *c = argument;
    uint64_t word;

    for (;;) {
        bool last = atomic_load_explicit(&c->ends, memory_order_acquire);
        while (lade_spsc_pop(c->others, &word) == LADE_OK)
            end_kept((struct kept *)(uintptr_t)word);
        if (last)
            return NULL;
        sched_yield();
    }
}

static void give(struct consumer *c, struct kept *k)
{
    if (check_below(&c->random, 2) == 0 || lade_spsc_push(c->others, (uintptr_t)k) != LADE_OK)
        end_kept(k);
}

static struct kept *keep(struct consumer *c, const struct lade_batch *b)
{
    struct kept *k = check_memory(1, sizeof *k);

    *k = (struct kept){.loader = c->loader, .batch = *b, .done = LADE_DONE_NOW};
    memcpy(k->ids, b->ids, (size_t)b->count * sizeof *b->ids);
    return k;
}

/* On the stream if there is one, else by the host when it has arrived; skipped when the device is lost. */
static bool use(struct consumer *c, struct kept *k)
{
    if (!c->device || check_below(&c->random, 4) == 0)
        return lade_loader_host_wait(c->loader, &k->batch, LADE_FOREVER, NULL) == LADE_OK;
    if (lade_loader_stream_wait(c->loader, &k->batch, c->stream, NULL) != LADE_OK)
        return false;
    struct kept *argument = keep(c, &k->batch);
    faulty_launch(c->device, c->stream, look, argument, 2, k->batch.tensor[LADE_SAMPLES].data);
    k->done = LADE_DONE_STREAM;
    k->handle = c->stream;
    return true;
}

static void take(struct consumer *c, const struct lade_batch *b)
{
    struct kept *k = keep(c, b);

    for (uint64_t i = 0; i < b->count; i++)
        c->seen[b->ids[i]]++;
    if (!use(c, k)) { /* the device is lost */
        (void)lade_loader_release_after(c->loader, b, LADE_DONE_NOW, NULL, NULL);
        free(k);
        return;
    }
    if (check_below(&c->random, 3) == 0)
        c->detached += lade_loader_detach(c->loader, b, NULL) == LADE_OK;
    if (check_below(&c->random, 3) == 0) {
        struct kept *e = keep(c, b);
        e->done = k->done;
        e->handle = k->handle;
        if (lade_loader_export(c->loader, b, check_below(&c->random, 2), k->done, k->handle, &e->tensor, NULL) ==
            LADE_OK) {
            c->exported++;
            give(c, e);
        } else {
            free(e);
        }
    }
    give(c, k);
}

/* How next ended. */
static int consume(struct consumer *c)
{
    struct lade_batch b;
    int status;

    for (;;) {
        status = lade_loader_next(c->loader, &b, LADE_FOREVER, NULL);
        if (status == LADE_OK)
            take(c, &b);
        else if (status == LADE_TOO_MANY)
            sched_yield(); /* the other thread releases them */
        else
            return status;
    }
}

struct trial {
    bool on_device;
    uint64_t lost_after; /* the call of the device that fails; 0: none */
};

/* Runs a loader until it ends or its device is lost. */
static int run(struct consumer *c, struct lade_source *source, uint64_t *random, const struct trial *trial)
{
    struct faulty_config faulty = {.seed = check_next(random),
                                   .rest = check_below(random, 8),
                                   .late = check_below(random, 128),
                                   .poison_staging = check_below(random, 2),
                                   .fail_call = trial->lost_after,
                                   .fail_name = trial->lost_after ? "query" : NULL};
    const struct lade_device_config config = {.native = {&faulty}};
    struct lade_device *device = NULL;
    pthread_t other;

    memset(c, 0, sizeof *c);
    c->random = check_next(random);
    if (trial->on_device && lade_device_open_on(&device, &faulty_backend, &config, NULL) != LADE_OK)
        return LADE_ABSENT;
    const struct lade_loader_config loader = {.source = source,
                                              .batch = BATCH,
                                              .seed = check_next(random),
                                              .in_order = check_below(random, 2),
                                              .threads = 1 + check_below(random, 3),
                                              .consumer_assists = check_below(random, 2),
                                              .slots = 1 + check_below(random, 4),
                                              .depth = 1 + check_below(random, 4),
                                              .epochs = EPOCHS,
                                              .device = device};
    if (device) {
        c->device = lade_device_native(device, 0);
        c->stream = faulty_stream(c->device);
    }
    int status = lade_loader_create(&c->loader, &loader, NULL);
    if (status == LADE_OK && lade_spsc_create(&c->others, &(struct lade_ring_config){.capacity = SENT}) == LADE_OK &&
        pthread_create(&other, NULL, end_others, c) == 0) {
        status = consume(c);
        atomic_store_explicit(&c->ends, true, memory_order_release);
        pthread_join(other, NULL);
        lade_loader_destroy(c->loader);
        lade_spsc_destroy(c->others);
    }
    lade_device_close(device);
    return status;
}

int main(int argc, char **argv)
{
    const struct lade_source_ops ops = {.read = read_number};
    const struct lade_source_info info = {
        .kind = "numbers", .count = COUNT, .shape = {LADE_U8, 1, {16}}, .bytes = 16, .classes = 10};
    static struct consumer c;
    struct lade_source *source;

    check_begin(argc, argv);
    uint64_t random = check_seed();
    const unsigned trials = (check_full() ? 2000 : 200) / SLOW;
    unsigned ended = 0, lost = 0;
    uint64_t missing = 0, detached = 0, exported = 0;
    if (lade_source_open_custom(&source, &ops, &c, &info, NULL, NULL) != LADE_OK)
        return 1;
    for (unsigned i = 0; i < trials; i++) {
        const struct trial trial = {.on_device = i % 4 != 0,
                                    .lost_after = i % 4 == 3 ? 1 + check_below(&random, 300) : 0};
        check_within(HANG_SECONDS, "a loader ends");
        int status = run(&c, source, &random, &trial);
        ended += status == LADE_CLOSED;
        lost += status == LADE_DEVICE;
        for (unsigned k = 0; k < COUNT && status == LADE_CLOSED; k++)
            missing += c.seen[k] != EPOCHS;
        detached += c.detached;
        exported += c.exported;
    }
    check_within(0, NULL);
    check(ended + lost == trials && lost > 0 && missing == 0, "each sample once in each epoch",
          "%u loaders ended, %u lost their device, %" PRIu64 " samples came too often or not at all", ended, lost,
          missing);
    check(atomic_load(&wrong) == 0 && atomic_load(&looks) > 0 && detached > 0 && exported > 0,
          "no consumer sees a sample that is not the batch's",
          "%llu looks on the device, %" PRIu64 " batches detached, %" PRIu64 " tensors exported, %llu wrong samples",
          atomic_load(&looks), detached, exported, atomic_load(&wrong));
    check(faulty_things() == 0, "everything is given back", "%ld things are left", faulty_things());
    lade_source_close(source);
    return check_end();
}
