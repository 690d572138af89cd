/* SPDX-License-Identifier: MIT */
/* Stream mode over samples in memory: the buffer holds their numbers. */
#define _GNU_SOURCE
#include "loads.h"

#include "loader.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 300, BATCH = 16, BUFFER = 64 };

/* Samples as in loads.h, in an array. */
struct array {
    uint64_t (*row)[2];
    int64_t *label;
    struct lade_source *source;
};

static struct array array_of(uint64_t count, uint64_t classes)
{
    struct array a = {calloc((size_t)count, sizeof *a.row), calloc((size_t)count, sizeof *a.label), NULL};

    cr_assert(a.row && a.label);
    for (uint64_t i = 0; i < count; i++) {
        a.row[i][0] = i;
        a.row[i][1] = ~i;
        a.label[i] = (int64_t)(i % 10);
    }
    const struct lade_source_array about = {.samples = a.row,
                                            .count = count,
                                            .shape = {LADE_U8, 1, {16}},
                                            .labels = a.label,
                                            .label_dtype = LADE_I64,
                                            .classes = classes};
    cr_assert_eq(lade_source_open_array(&a.source, &about, NULL), LADE_OK);
    return a;
}

static void array_close(struct array *a)
{
    lade_source_close(a->source);
    free(a->row);
    free(a->label);
}

Test(loader_shuffle, each_sample_once_in_an_epoch)
{
    static const struct {
        uint64_t count, batch, buffer, epochs;
        unsigned threads, slots;
    } cases[] = {{COUNT, BATCH, BUFFER, 1, 1, 0}, {COUNT, BATCH, BUFFER, 4, 3, 1}, {5, 8, 16, 3, 2, 0},
                 {COUNT, 1, 2, 2, 2, 0},          {64, 32, 1000, 2, 4, 1},         {1, 1, 2, 5, 2, 3},
                 {5000, 7, 5000, 3, 4, 100}};

    for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
        struct array a = array_of(cases[c / 2].count, 10);
        struct lade_loader_config config = {.source = a.source,
                                            .batch = cases[c / 2].batch,
                                            .buffer = cases[c / 2].buffer,
                                            .epochs = cases[c / 2].epochs,
                                            .threads = cases[c / 2].threads,
                                            .slots = cases[c / 2].slots,
                                            .in_order = c % 2};
        struct lade_loader *l = open_loader(&config);
        cr_assert(l->shuffle && !l->bag);
        struct tally t;
        uint64_t batches, all = cases[c / 2].count * cases[c / 2].epochs;
        tally_init(&t, cases[c / 2].count);
        cr_assert_eq(take_all(l, &t, &batches), LADE_CLOSED);
        tally_expect(&t, (uint32_t)cases[c / 2].epochs);
        cr_assert_eq(batches, (all + cases[c / 2].batch - 1) / cases[c / 2].batch);
        struct lade_batch b;
        cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_CLOSED);
        cr_assert_eq(lade_loader_state(l, NULL, 0), 0);
        lade_loader_destroy(l);
        tally_free(&t);
        array_close(&a);
    }
}

/* Samples that need preparation, may be skipped, or whose split only registered threads may query, use a bag. */
Test(loader_shuffle, only_where_reading_is_copying)
{
    const struct lade_image form = {LADE_U8, LADE_HWC, 4, 4, 1};
    struct array a = array_of(COUNT, 10);
    struct lade_source *functions = numbers(COUNT);
    struct lade_pipeline *pipeline;
    struct lade_split *split;

    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    for (unsigned kind = 0; kind < 7; kind++) {
        const struct lade_split_config store = {.parts = 2, .store = kind == 4 ? LADE_SPLIT_EXACT : LADE_SPLIT_PURE};
        cr_assert_eq(lade_split_create(&split, &store, NULL), LADE_OK);
        const struct lade_loader_config config = {.source = kind == 1 ? functions : a.source,
                                                  .pipeline = kind == 2 ? pipeline : NULL,
                                                  .split = kind == 4 || kind == 5 ? split : NULL,
                                                  .fault = kind == 6 ? LADE_FAULT_SKIP : LADE_FAULT_FAIL,
                                                  .batch = BATCH,
                                                  .buffer = kind == 3 ? 0 : BUFFER,
                                                  .threads = 2,
                                                  .epochs = 2};
        struct lade_loader *l = open_loader(&config);
        cr_assert_eq(l->shuffle != NULL, kind == 0 || kind == 5);
        cr_assert_eq(l->bag != NULL, kind == 1 || kind == 2 || kind == 4 || kind == 6);
        struct lade_loader_stats stats;
        struct tally t;
        uint64_t batches, came = 0;
        tally_init(&t, COUNT);
        cr_assert_eq(take_all(l, &t, &batches), LADE_CLOSED);
        for (uint64_t i = 0; i < COUNT; i++) {
            cr_assert(t.seen[i] == 2 || (config.split && t.seen[i] == 0));
            came += t.seen[i];
        }
        lade_loader_stats(l, &stats);
        cr_assert_eq(came, 2 * stats.part);
        lade_loader_destroy(l);
        tally_free(&t);
        lade_split_destroy(split);
    }
    lade_pipeline_destroy(pipeline);
    lade_source_close(functions);
    array_close(&a);
}

/*
 * An epoch of 300 samples in batches of 16: 12 of each are left out, so that batches are complete. Shards are disjoint.
 */
Test(loader_shuffle, short_batches_are_dropped)
{
    struct array a = array_of(COUNT, 10);

    for (unsigned shards = 1; shards <= 2; shards++) {
        struct tally t;
        tally_init(&t, COUNT);
        for (unsigned shard = 0; shard < shards; shard++) {
            struct lade_loader_config config = {.source = a.source,
                                                .batch = BATCH,
                                                .buffer = BUFFER,
                                                .epochs = 3,
                                                .threads = 2,
                                                .drop_last = true,
                                                .shard = shard,
                                                .shards = shards};
            struct lade_loader *l = open_loader(&config);
            struct lade_batch b;
            uint64_t batches = 0;
            while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
                cr_assert(b.count == BATCH && !b.last && b.number == batches++);
                tally_add(&t, &b);
                lade_loader_release(l, &b);
            }
            cr_assert_eq(batches, 3 * (COUNT / shards / BATCH));
            lade_loader_destroy(l);
        }
        for (uint64_t i = 0; i < COUNT; i++)
            cr_assert_leq(t.seen[i], 3);
        tally_free(&t);
    }
    array_close(&a);
}

/*
 * Sequential, so that the content of the buffer is known: a sample is not drawn before it is in the buffer, and no
 * batch equals that of the sequential order. With in_order, the number of threads has no effect. A batch names its
 * earliest epoch.
 */
Test(loader_shuffle, draws_from_the_buffer)
{
    struct array a = array_of(COUNT, 10);
    uint64_t first[3 * COUNT] = {0};

    for (unsigned threads = 1; threads <= 4; threads++) {
        struct lade_loader_config config = {.source = a.source,
                                            .batch = BATCH,
                                            .buffer = BUFFER,
                                            .epochs = 3,
                                            .threads = threads,
                                            .sequential = true,
                                            .in_order = true,
                                            .seed = 3};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        uint64_t at = 0, late = 0;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            uint64_t moved = 0;
            cr_assert_eq(b.last, b.count < BATCH);
            for (uint64_t i = 0; i < b.count; i++, at++) {
                cr_assert_lt(b.epoch * COUNT + b.ids[i], at + BUFFER);
                moved += b.ids[i] != at % COUNT;
                late += b.epoch * COUNT + b.ids[i] + BUFFER < at;
                if (threads == 1)
                    first[at] = b.ids[i];
                else
                    cr_assert_eq(b.ids[i], first[at]);
            }
            cr_assert_gt(moved, 0);
            lade_loader_release(l, &b);
        }
        cr_assert_eq(at, 3 * COUNT);
        cr_assert_gt(late, 0, "a sample stays as long as it is not drawn");
        lade_loader_destroy(l);
    }
    array_close(&a);
}

/* Labels from 5 on are outside the classes. */
Test(loader_shuffle, rules_for_faults)
{
    struct array a = array_of(COUNT, 5);

    for (unsigned rule = LADE_FAULT_FAIL; rule <= LADE_FAULT_SUBSTITUTE; rule++)
        for (uint64_t most = COUNT / 2 - 1; most <= COUNT / 2; most++) {
            struct lade_loader_config config = {.source = a.source,
                                                .batch = BATCH,
                                                .buffer = BUFFER,
                                                .threads = 2,
                                                .epochs = 1,
                                                .fault = (enum lade_fault)rule,
                                                .faults_max = most};
            struct lade_loader *l = open_loader(&config);
            struct lade_loader_stats stats;
            struct lade_batch b;
            struct lade_error error;
            uint64_t came = 0, lasts = 0;
            int status;
            while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK) {
                for (uint64_t i = 0; i < b.count; i++)
                    cr_assert(b.labels[i] == (int64_t)(b.ids[i] % 10) && b.labels[i] < 5);
                cr_assert(b.faults == 0 && (b.count == BATCH || b.last));
                came += b.count;
                lasts += b.last;
                lade_loader_release(l, &b);
            }
            lade_loader_stats(l, &stats);
            cr_assert_eq(error.status, status);
            if (rule == LADE_FAULT_FAIL)
                cr_assert_eq(status, LADE_DAMAGED);
            else if (most < COUNT / 2)
                cr_assert_eq(status, LADE_LIMITED);
            else
                cr_assert(status == LADE_CLOSED && lasts == 1 && stats.faults == COUNT / 2 &&
                          came == (rule == LADE_FAULT_SKIP ? COUNT / 2 : COUNT));
            cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), status);
            lade_loader_destroy(l);
        }
    array_close(&a);
}

/* The consumer holds any number of batches, up to all slots; a poll loses no batch. */
Test(loader_shuffle, slots_and_polls)
{
    struct array a = array_of(COUNT, 10);
    struct lade_loader_config config = {
        .source = a.source, .batch = BATCH, .buffer = BUFFER, .threads = 2, .slots = 3, .epochs = 2};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b[3], more;
    struct tally t;
    int status = LADE_OK;

    tally_init(&t, COUNT);
    while (status != LADE_CLOSED) {
        int held = 0;
        while (held < 3 && status != LADE_CLOSED) {
            status = lade_loader_next(l, &b[held], 0, NULL);
            held += status == LADE_OK;
            cr_assert(status == LADE_OK || status == LADE_TIMEOUT || status == LADE_CLOSED);
        }
        if (held == 3)
            cr_assert_eq(lade_loader_next(l, &more, LADE_FOREVER, NULL), LADE_TOO_MANY);
        for (int i = 0; i < held; i++) {
            tally_add(&t, &b[i]);
            lade_loader_release(l, &b[i]);
        }
    }
    tally_expect(&t, 2);
    lade_loader_destroy(l);
    tally_free(&t);
    array_close(&a);
}

static void *cancel(void *loader)
{
    lade_loader_cancel(loader);
    return NULL;
}

Test(loader_shuffle, cancel)
{
    struct array a = array_of(COUNT, 10);

    for (int i = 0; i < 50; i++) {
        struct lade_loader_config config = {.source = a.source, .batch = BATCH, .buffer = BUFFER, .threads = 2};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        pthread_t thread;
        int status;
        cr_assert_eq(pthread_create(&thread, NULL, cancel, l), 0);
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK)
            lade_loader_release(l, &b);
        cr_assert_eq(status, LADE_CANCELLED);
        cr_assert_eq(pthread_join(thread, NULL), 0);
        lade_loader_destroy(l);
    }
    array_close(&a);
}

/* Memory whose first reader blocks until it is released; the next reader does not block. */
static struct {
    void *page;
    _Atomic int touched, open;
} trap;

static void step_on(int number, siginfo_t *about, void *context)
{
    const struct timespec moment = {0, 1000000};

    (void)number;
    (void)context;
    if (about->si_addr < trap.page || (char *)about->si_addr >= (char *)trap.page + 4096)
        _exit(99);
    if (atomic_fetch_add(&trap.touched, 1) == 0) {
        while (!atomic_load(&trap.open))
            (void)nanosleep(&moment, NULL);
        return;
    }
    (void)mprotect(trap.page, 4096, PROT_READ);
}

/*
 * A worker hangs in the middle of a batch: another one makes it from the same list; no sample is repeated or missing.
 */
Test(loader_shuffle, a_late_worker_is_superseded, .timeout = 120)
{
    enum { MANY = 2048 }; /* 8 pages */
    const struct sigaction action = {.sa_sigaction = step_on, .sa_flags = SA_SIGINFO};

    cr_assert_eq(sysconf(_SC_PAGESIZE), 4096);
    cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
    for (unsigned threads = 1; threads <= 3; threads++)
        for (unsigned order = 0; order < 2; order++) {
            uint64_t(*row)[2] =
                mmap(NULL, MANY * sizeof *row, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            struct array a = array_of(MANY, 10);
            cr_assert_neq(row, MAP_FAILED);
            memcpy(row, a.row, MANY * sizeof *row);
            lade_source_close(a.source);
            const struct lade_source_array about = {.samples = row,
                                                    .count = MANY,
                                                    .shape = {LADE_U8, 1, {16}},
                                                    .labels = a.label,
                                                    .label_dtype = LADE_I64,
                                                    .classes = 10};
            cr_assert_eq(lade_source_open_array(&a.source, &about, NULL), LADE_OK);
            trap.page = (char *)row + 4 * 4096;
            atomic_store(&trap.touched, 0);
            atomic_store(&trap.open, 0);
            cr_assert_eq(mprotect(trap.page, 4096, PROT_NONE), 0);
            struct lade_loader_config config = {.source = a.source,
                                                .batch = BATCH,
                                                .buffer = BUFFER,
                                                .threads = threads,
                                                .epochs = 3,
                                                .in_order = order,
                                                .worker_timeout = 20000000};
            struct lade_loader *l = open_loader(&config);
            struct lade_loader_stats stats;
            struct tally t;
            uint64_t batches;
            tally_init(&t, MANY);
            cr_assert_eq(take_all(l, &t, &batches), LADE_CLOSED);
            tally_expect(&t, 3);
            lade_loader_stats(l, &stats);
            cr_assert_geq(stats.replaced, 1);
            cr_assert_geq(atomic_load(&trap.touched), 2);
            cr_assert_eq(lade_loader_stop(l, 0), LADE_TIMEOUT);
            atomic_store(&trap.open, 1);
            lade_loader_destroy(l);
            tally_free(&t);
            array_close(&a);
            cr_assert_eq(munmap(row, MANY * sizeof *row), 0);
        }
}
