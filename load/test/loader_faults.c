/* SPDX-License-Identifier: MIT */
/* Samples that cannot be read, and workers that do not return. */
#include "loads.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { COUNT = 200, BATCH = 16 };

static int fail_tens(void *context, uint64_t i)
{
    return i % 10 == 3 ? *(const int *)context : LADE_OK;
}

/* All bytes of an epoch, and its numbers of samples and faults. */
struct outcome {
    uint64_t hash, samples, faults, batches;
    int status;
};

static struct lade_error run_error; /* of the last run */

static struct outcome run(const struct lade_loader_config *config)
{
    struct outcome o = {.hash = UINT64_C(0xcbf29ce484222325)};
    struct lade_loader *l = open_loader(config);
    struct lade_batch b;

    while ((o.status = lade_loader_next(l, &b, LADE_FOREVER, &run_error)) == LADE_OK) {
        o.hash = hash_of(o.hash, b.samples, (size_t)b.count * b.sample_bytes);
        o.hash = hash_of(o.hash, b.ids, (size_t)b.count * sizeof *b.ids);
        o.hash = hash_of(o.hash, b.labels, (size_t)b.count * sizeof *b.labels);
        o.samples += b.count;
        o.faults += b.faults;
        o.batches++;
        for (uint64_t i = 0; i < b.count; i++)
            cr_assert(b.ids[i] % 10 != 3 && memcmp((char *)b.samples + 16 * i, &b.ids[i], 8) == 0);
        lade_loader_release(l, &b);
    }
    cr_assert_eq(run_error.status, o.status);
    cr_assert(o.status == LADE_CLOSED || lade_loader_next(l, &b, LADE_FOREVER, NULL) == o.status);
    lade_loader_destroy(l);
    return o;
}

Test(loader_faults, rules_give_the_same_for_any_number_of_threads)
{
    /* Any status of a source: some of these have another meaning as a result of next. */
    static const int answers[] = {
        LADE_DAMAGED, LADE_ABSENT, LADE_CLOSED, LADE_TIMEOUT, LADE_EMPTY, LADE_TOO_MANY, LADE_CANCELLED, LADE_FULL, 5};

    for (size_t a = 0; a < sizeof answers / sizeof answers[0]; a++) {
        int answer = answers[a];
        bool is_taken =
            a > 0 && answer != LADE_ABSENT && answer != LADE_EMPTY && answer != LADE_FULL; /* those of next itself */
        struct lade_source *source = numbers_with(COUNT, fail_tens, &answer);
        for (unsigned rule = LADE_FAULT_FAIL; rule <= LADE_FAULT_SUBSTITUTE; rule++) {
            struct outcome first = {0};
            for (unsigned threads = 1; threads <= 8; threads = threads == 1 ? 2 : threads * 4) {
                const struct lade_loader_config config = {.source = source,
                                                          .batch = BATCH,
                                                          .threads = threads,
                                                          .in_order = true,
                                                          .fault = (enum lade_fault)rule,
                                                          .epochs = 1,
                                                          .seed = 4};
                struct outcome o = run(&config);
                first = threads == 1 ? o : first;
                cr_assert(memcmp(&o, &first, sizeof o) == 0, "%u threads, rule %u", threads, rule);
            }
            cr_assert_eq(first.faults, rule == LADE_FAULT_FAIL ? 0 : COUNT / 10);
            cr_assert_eq(first.status, rule != LADE_FAULT_FAIL ? LADE_CLOSED : is_taken ? LADE_IO : answer);
            cr_assert_eq(first.samples, rule == LADE_FAULT_SKIP         ? COUNT - COUNT / 10
                                        : rule == LADE_FAULT_SUBSTITUTE ? COUNT
                                                                        : first.batches * BATCH);
        }
        lade_source_close(source);
    }
}

static int fail_all(void *context, uint64_t i)
{
    (void)context;
    (void)i;
    return LADE_DAMAGED;
}

/* A batch without any readable sample is still delivered, empty. If no substitute can be read, it is an error. */
Test(loader_faults, nothing_can_be_read)
{
    struct lade_source *source = numbers_with(20, fail_all, NULL);
    struct lade_loader_config config = {
        .source = source, .batch = 8, .threads = 2, .in_order = true, .fault = LADE_FAULT_SKIP, .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;
    struct lade_error error;

    for (int i = 0; i < 3; i++) {
        b = next_of(l);
        cr_assert(b.count == 0 && b.faults == (i < 2 ? 8 : 4) && b.last == (i == 2));
        lade_loader_release(l, &b);
    }
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
    lade_loader_destroy(l);
    config.fault = LADE_FAULT_SUBSTITUTE;
    l = open_loader(&config);
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, &error), LADE_DAMAGED);
    cr_assert_str_eq(error.text, "as the test wants");
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* The budget is per epoch: a limit equal to the faults of one epoch is enough for three epochs, one less is not. */
Test(loader_faults, budget)
{
    int answer = LADE_DAMAGED;
    struct lade_source *source = numbers_with(COUNT, fail_tens, &answer);

    for (unsigned kind = 0; kind < 8; kind++) {
        struct lade_loader_config config = {.source = source,
                                            .batch = BATCH,
                                            .threads = 3,
                                            .in_order = kind & 1,
                                            .consumer_assists = kind & 2,
                                            .fault = kind & 4 ? LADE_FAULT_SUBSTITUTE : LADE_FAULT_SKIP,
                                            .faults_max = COUNT / 10,
                                            .epochs = 3};
        struct outcome o = run(&config);
        cr_assert(o.status == LADE_CLOSED && o.faults == 3 * COUNT / 10);
        config.faults_max--;
        o = run(&config);
        cr_assert(o.status == LADE_LIMITED && o.faults < COUNT / 10);
    }
    lade_source_close(source);
}

/* The number that a sample of numbers() begins with. */
static uint64_t number_in(const void *sample)
{
    uint64_t number;

    memcpy(&number, sample, sizeof number);
    return number;
}

static int refuse_some(void *context, const struct lade_image *input, const void *from, const struct lade_image *output,
                       void *to, struct lade_random *random, struct lade_error *error)
{
    (void)context;
    (void)output;
    (void)random;
    memcpy(to, from, lade_image_bytes(input));
    (void)snprintf(error->text, sizeof error->text, "number %d", (int)number_in(from));
    return number_in(from) % 10 == 3 ? LADE_FULL : LADE_OK;
}

Test(loader_faults, transforms_fail_as_sources_do)
{
    const struct lade_image form = {LADE_U8, LADE_HWC, 4, 4, 1};
    struct lade_source *source = numbers(COUNT);
    struct lade_pipeline *pipeline;

    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    cr_assert_eq(lade_pipeline_call(pipeline, refuse_some, NULL, &form), LADE_OK);
    struct lade_loader_config config = {.source = source,
                                        .pipeline = pipeline,
                                        .batch = BATCH,
                                        .threads = 2,
                                        .in_order = true,
                                        .fault = LADE_FAULT_SKIP,
                                        .epochs = 1};
    struct outcome o = run(&config);
    cr_assert(o.status == LADE_CLOSED && o.samples == 180 && o.faults == 20);
    config.fault = LADE_FAULT_SUBSTITUTE;
    o = run(&config);
    cr_assert(o.status == LADE_CLOSED && o.samples == 200 && o.faults == 20);
    config.fault = LADE_FAULT_FAIL;
    cr_assert_eq(run(&config).status, LADE_FULL);
    cr_assert(strstr(run_error.text, "3: a transform failed: number "), "%s", run_error.text);
    lade_pipeline_destroy(pipeline);
    lade_source_close(source);
}

/* The first thread that reads one of these samples ends, or waits until it may continue. */
struct trap {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t sample, every; /* this sample; or, with every, all its multiples */
    bool exits, open;
    unsigned caught, met[COUNT];
};

static int step_on(void *context, uint64_t i)
{
    struct trap *t = context;

    pthread_mutex_lock(&t->mutex);
    bool caught = (t->every ? i % t->every == 0 : i == t->sample) && t->met[i]++ == 0;
    t->caught += caught;
    pthread_cond_broadcast(&t->changed);
    while (caught && !t->exits && !t->open)
        pthread_cond_wait(&t->changed, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
    if (caught && t->exits)
        pthread_exit(NULL);
    return LADE_OK;
}

static void let_go(struct trap *t)
{
    pthread_mutex_lock(&t->mutex);
    t->open = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
}

static void await_caught(struct trap *t, unsigned count)
{
    pthread_mutex_lock(&t->mutex);
    while (t->caught < count)
        pthread_cond_wait(&t->changed, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
}

static int step_on_in_transform(void *context, const struct lade_image *input, const void *from,
                                const struct lade_image *output, void *to, struct lade_random *random,
                                struct lade_error *error)
{
    (void)error;
    (void)output;
    (void)random;
    memcpy(to, from, lade_image_bytes(input));
    return step_on(context, number_in(from));
}

/* The bytes of an epoch while workers end or hang, and the number of replacements. */
static uint64_t run_with_trap(struct trap *t, struct lade_loader_config config, bool in_transform, uint64_t *replaced)
{
    const struct lade_image form = {LADE_U8, LADE_HWC, 4, 4, 1};
    struct lade_source *source = t && !in_transform ? numbers_with(COUNT, step_on, t) : numbers(COUNT);
    struct lade_pipeline *pipeline;
    struct lade_loader_stats stats;
    struct tally tally;
    uint64_t hash = 1;
    struct lade_batch b;

    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    cr_assert(!t || !in_transform || lade_pipeline_call(pipeline, step_on_in_transform, t, &form) == LADE_OK);
    config.source = source;
    config.pipeline = pipeline;
    tally_init(&tally, COUNT);
    struct lade_loader *l = open_loader(&config);
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        tally_add(&tally, &b);
        hash = hash_of(hash, b.samples, (size_t)b.count * b.sample_bytes);
        lade_loader_release(l, &b);
    }
    lade_loader_stats(l, &stats);
    *replaced = stats.replaced;
    tally_expect(&tally, 1);
    if (t)
        let_go(t);
    lade_loader_destroy(l);
    tally_free(&tally);
    lade_pipeline_destroy(pipeline);
    lade_source_close(source);
    return hash;
}

Test(loader_faults, threads_that_end_are_replaced)
{
    struct lade_loader_config config = {.batch = BATCH, .in_order = true, .epochs = 1};

    for (unsigned threads = 1; threads <= 4; threads++)
        for (unsigned kind = 0; kind < 4; kind++) {
            uint64_t replaced;
            config.threads = threads;
            config.in_order = true;
            uint64_t plain = run_with_trap(NULL, config, false, &replaced);
            struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .sample = 77,
                             .every = kind & 1 ? 20 : 0, .exits = true};
            config.in_order = kind & 2;
            for (int in_transform = 0; in_transform < 2; in_transform++) {
                memset(t.met, 0, sizeof t.met);
                uint64_t hash = run_with_trap(&t, config, in_transform, &replaced);
                cr_assert_eq(replaced, kind & 1 ? 10 : 1);
                cr_assert(!config.in_order || hash == plain);
            }
        }
}

Test(loader_faults, threads_that_hang_are_replaced)
{
    struct lade_loader_config config = {.batch = BATCH, .epochs = 1, .worker_timeout = 20000000};

    for (unsigned kind = 0; kind < 8; kind++) {
        struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .sample = 77, .every = kind & 1 ? 50 : 0};
        uint64_t replaced;
        config.threads = 1 + kind % 3;
        config.in_order = kind & 2;
        (void)run_with_trap(&t, config, kind & 4, &replaced);
        /* A worker that is only slow on a busy machine may be replaced as well. */
        cr_assert(t.caught == (kind & 1 ? 4 : 1) && replaced >= t.caught, "%llu", (unsigned long long)replaced);
    }
}

/* A replaced worker continues while the consumer holds all slots: none of their bytes changes. */
Test(loader_faults, late_workers_write_where_no_thread_reads)
{
    struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .sample = 20};
    struct lade_source *source = numbers_with(COUNT, step_on, &t);
    struct lade_loader_config config = {.source = source,
                                        .batch = BATCH,
                                        .threads = 2,
                                        .slots = 5,
                                        .in_order = true,
                                        .sequential = true,
                                        .worker_timeout = 20000000};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b[5];
    static unsigned char mark[BATCH * 16];
    struct lade_loader_stats stats;

    for (int i = 0; i < 5; i++) {
        b[i] = next_of(l);
        cr_assert_eq(b[i].ids[0], (uint64_t)i * BATCH);
        memcpy(b[i].samples, memset(mark, 0xa5, sizeof mark), sizeof mark);
    }
    lade_loader_stats(l, &stats);
    cr_assert_geq(stats.replaced, 1);
    let_go(&t);
    /* The late worker has ended when the loader can be destroyed; until then the consumer owns the batches. */
    lade_loader_cancel(l);
    for (uint64_t running = 1; running > 0;) {
        struct lade_loader_stats now;
        lade_loader_stats(l, &stats);
        lade_loader_stats(l, &now);
        running = now.running_time - stats.running_time;
        for (int i = 0; i < 5; i++)
            cr_assert(memcmp(b[i].samples, mark, sizeof mark) == 0, "batch %d was written to", i);
    }
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader_faults, too_many_replacements)
{
    struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .every = 20, .exits = true};
    struct lade_source *source = numbers_with(COUNT, step_on, &t);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .threads = 2, .in_order = true, .replaced_max = 3, .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;
    struct lade_error error;
    int status;

    while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
        lade_loader_release(l, &b);
    cr_assert(status == LADE_LIMITED && error.status == LADE_LIMITED && strstr(error.text, "3 workers"));
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_LIMITED);
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader_faults, destroy_waits_for_threads_inside, .timeout = 60)
{
    struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .sample = 0};
    struct lade_source *source = numbers_with(COUNT, step_on, &t);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .threads = 2, .in_order = true, .sequential = true};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;

    await_caught(&t, 1);
    cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_next(l, &b, 1000000, NULL), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER - 1, NULL), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_next(l, &b, INT64_MIN, NULL), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_stop(l, 0), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_stop(l, INT64_MIN), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_stop(l, 1000000), LADE_TIMEOUT);
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CANCELLED);
    let_go(&t);
    cr_assert_eq(lade_loader_stop(l, INT64_MAX), LADE_OK);
    lade_loader_destroy(l);
    lade_source_close(source);
}

static void *cancel(void *loader)
{
    lade_loader_cancel(loader);
    return NULL;
}

/* Cancel before or during the wait, from another thread or from a handler. */
static struct lade_loader *to_cancel;

static void on_signal(int number)
{
    (void)number;
    lade_loader_cancel(to_cancel);
}

static void *raise_signal(void *context)
{
    sigset_t all;

    /* Workers do the same, so only the consumer can receive it. */
    (void)context;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    (void)kill(getpid(), SIGUSR1);
    return NULL;
}

Test(loader_faults, cancel_ends_the_waiting)
{
    for (int by_signal = 0; by_signal < 2; by_signal++) {
        struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .sample = 0};
        struct lade_source *source = numbers_with(COUNT, step_on, &t);
        struct lade_loader_config config = {
            .source = source, .batch = BATCH, .threads = 4, .in_order = true, .sequential = true};
        struct lade_batch b;
        struct lade_error error;
        pthread_t thread;
        to_cancel = open_loader(&config);
        (void)signal(SIGUSR1, on_signal);
        await_caught(&t, 1);
        cr_assert_eq(pthread_create(&thread, NULL, by_signal ? raise_signal : cancel, to_cancel), 0);
        cr_assert_eq(lade_loader_next(to_cancel, &b, LADE_FOREVER, &error), LADE_CANCELLED);
        cr_assert_eq(error.status, LADE_CANCELLED);
        cr_assert_eq(pthread_join(thread, NULL), 0);
        let_go(&t);
        lade_loader_destroy(to_cancel);
        lade_source_close(source);
    }
}

static int check_signals(void *context, uint64_t i)
{
    sigset_t mask;
    bool *good = context;

    (void)i;
    *good = pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 1 &&
            sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0 && sigismember(&mask, SIGPROF) == 0;
    return LADE_OK;
}

/* No handler of the application runs in a worker, and the consumer's own mask stays. */
Test(loader_faults, signals_are_blocked_in_workers)
{
    bool good = false;
    struct lade_source *source = numbers_with(10, check_signals, &good);
    struct lade_loader_config config = {.source = source, .batch = 10, .threads = 1, .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b = next_of(l);
    sigset_t mask;

    lade_loader_release(l, &b);
    cr_assert(good);
    cr_assert(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 0);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* Ends in the middle, at any batch, with some batches held. */
Test(loader_faults, early_end)
{
    struct lade_source *source = numbers(COUNT);

    for (unsigned held = 0; held < 6; held++)
        for (unsigned kind = 0; kind < 4; kind++) {
            struct lade_loader_config config = {.source = source,
                                                .batch = BATCH,
                                                .threads = 3,
                                                .slots = 6,
                                                .in_order = kind & 1,
                                                .buffer = kind & 2 ? 64 : 0};
            struct lade_loader *l = open_loader(&config);
            struct lade_batch b;
            for (unsigned i = 0; i < held; i++)
                b = next_of(l);
            if (held > 3)
                lade_loader_release(l, &b);
            lade_loader_destroy(l);
        }
    lade_source_close(source);
}

/* Statistics can be read while workers run; they never decrease. */
Test(loader_faults, measures_of_a_running_loader)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = BATCH, .threads = 3, .in_order = true, .epochs = 20};
    struct lade_loader *l = open_loader(&config);
    struct lade_loader_stats before = {0}, stats;
    struct lade_batch b;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        lade_loader_release(l, &b);
        lade_loader_stats(l, &stats);
        cr_assert(stats.samples == COUNT && stats.batches == 13 && stats.part == COUNT && stats.replaced == 0);
        cr_assert(stats.delivered == before.delivered + 1 && stats.read_time >= before.read_time &&
                  stats.consumer_wait_time >= before.consumer_wait_time);
        before = stats;
    }
    cr_assert_eq(stats.delivered_samples, 20 * COUNT);
    lade_loader_destroy(l);
    lade_source_close(source);
}
