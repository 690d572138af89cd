/* SPDX-License-Identifier: MIT */
/* Stream mode with a bag of samples. */
#include "loads.h"

#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>

enum { COUNT = 300, BATCH = 16, BUFFER = 64 };

Test(loader_stream, each_sample_once_in_an_epoch)
{
    static const struct {
        uint64_t count, batch, buffer, epochs;
        unsigned threads;
    } cases[] = {{COUNT, BATCH, BUFFER, 1, 1}, {COUNT, BATCH, BUFFER, 4, 3}, {5, 8, 16, 3, 2},
                 {COUNT, 1, 2, 2, 2},          {64, 32, 1000, 2, 4},         {1, 1, 2, 5, 2}};

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lade_source *source = numbers(cases[c].count);
        struct lade_loader_config config = {.source = source,
                                            .batch = cases[c].batch,
                                            .buffer = cases[c].buffer,
                                            .epochs = cases[c].epochs,
                                            .threads = cases[c].threads};
        struct lade_loader *l = open_loader(&config);
        struct tally t;
        uint64_t batches;
        tally_init(&t, cases[c].count);
        cr_assert_eq(take_all(l, &t, &batches), LADE_CLOSED);
        tally_expect(&t, (uint32_t)cases[c].epochs);
        uint64_t all = cases[c].count * cases[c].epochs;
        cr_assert_eq(batches, (all + cases[c].batch - 1) / cases[c].batch);
        struct lade_batch b;
        cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_CLOSED);
        lade_loader_destroy(l);
        tally_free(&t);
        lade_source_close(source);
    }
}

/* An epoch of 300 samples in batches of 16: the workers leave out 12 of each, so that batches are complete. */
Test(loader_stream, short_batches_are_dropped)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .buffer = BUFFER, .epochs = 3, .threads = 2, .drop_last = true};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;
    uint64_t batches = 0;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        cr_assert_eq(b.count, BATCH);
        lade_loader_release(l, &b);
        batches++;
    }
    cr_assert_eq(batches, 3 * (COUNT / BATCH));
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* A stream without numbers: the words 0, 1, 2, ...; those with remainder 3 modulo 10 have an error. */
struct stream {
    _Atomic uint64_t at;
    uint64_t end; /* ends the stream; 0: never */
    int fails;    /* with this error; 0: without */
};

static int next_word(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    struct stream *s = self;
    uint64_t i = atomic_fetch_add(&s->at, 1);
    const uint64_t bytes[2] = {i, ~i};

    if (s->end && i >= s->end)
        return LADE_EMPTY;
    if (s->fails && i % 10 == 3) {
        if (error) {
            error->status = s->fails;
            strcpy(error->text, "as the test wants");
        }
        return s->fails;
    }
    memcpy(to, bytes, sizeof bytes);
    *label = (int64_t)(i % 10);
    *key = i;
    return LADE_OK;
}

static struct lade_source *stream_of(struct stream *s)
{
    static const struct lade_source_ops ops = {.next = next_word};
    const struct lade_source_info info = {
        .kind = "words", .count = LADE_ENDLESS, .shape = {LADE_U8, 1, {16}}, .bytes = 16, .classes = 10};
    struct lade_source *source;

    cr_assert_eq(lade_source_open_custom(&source, &ops, s, &info, NULL, NULL), LADE_OK);
    return source;
}

Test(loader_stream, endless_source_with_a_split)
{
    static const uint32_t weights[2] = {3, 1};
    const struct lade_split_config kind = {.parts = 2, .weights = weights, .store = LADE_SPLIT_PURE};
    struct stream s = {.end = 0};
    struct lade_source *source = stream_of(&s);
    struct lade_split *split;
    struct tally t;

    cr_assert_eq(lade_split_create(&split, &kind, NULL), LADE_OK);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .buffer = BUFFER, .threads = 2, .split = split, .part = 1};
    struct lade_loader *l = open_loader(&config);
    tally_init(&t, 100000);
    for (int i = 0; i < 50; i++) {
        struct lade_batch b = next_of(l);
        tally_add(&t, &b);
        for (uint64_t k = 0; k < b.count; k++) {
            unsigned part;
            cr_assert(lade_split_route_word(split, b.ids[k], &part) == LADE_OK && part == 1);
            cr_assert_eq(t.seen[b.ids[k]], 1);
        }
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    tally_free(&t);
    lade_split_destroy(split);
    lade_source_close(source);
}

static int refuse_threes(void *context, const struct lade_image *input, const void *from,
                         const struct lade_image *output, void *to, struct lade_random *random,
                         struct lade_error *error)
{
    (void)error;
    uint64_t number;

    (void)output;
    (void)random;
    memcpy(to, from, lade_image_bytes(input));
    memcpy(&number, from, sizeof number);
    return number % 10 == 3 ? *(const int *)context : LADE_OK;
}

/* Any status of a transform or of the source is not the end of the stream, and is reported. */
Test(loader_stream, errors_of_an_endless_source)
{
    static const int answers[] = {LADE_DAMAGED, LADE_FULL, LADE_EMPTY, LADE_CLOSED, LADE_TIMEOUT, LADE_CANCELLED, 5};
    const struct lade_image form = {LADE_U8, LADE_HWC, 4, 4, 1};

    for (size_t a = 0; a < 2 * sizeof answers / sizeof answers[0]; a++) {
        int answer = answers[a / 2];
        if (a % 2 == 0 ? answer == LADE_EMPTY : answer > 0)
            continue; /* the end for a source, success for a transform */
        struct stream s = {.fails = a % 2 == 0 ? answer : 0};
        struct lade_source *source = stream_of(&s);
        struct lade_pipeline *pipeline = NULL;
        if (a % 2) {
            cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
            cr_assert_eq(lade_pipeline_call(pipeline, refuse_threes, &answer, &form), LADE_OK);
        }
        const struct lade_loader_config config = {
            .source = source, .pipeline = pipeline, .batch = BATCH, .buffer = BUFFER, .threads = 1};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        struct lade_error error = {.text = ""};
        int status;
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
            lade_loader_release(l, &b);
        cr_assert_eq(status, a / 2 < 3 ? answer : LADE_IO, "%d became %d", answer, status);
        cr_assert(error.status == status && strstr(error.text, a % 2 ? "a transform failed: " : "as the test wants"),
                  "%d: %d, %s", answer, error.status, error.text);
        lade_loader_destroy(l);
        lade_pipeline_destroy(pipeline);
        lade_source_close(source);
    }
}

Test(loader_stream, a_stream_ends)
{
    for (uint64_t fails = 0; fails < 2; fails++) {
        struct stream s = {.end = 1000, .fails = fails ? LADE_DAMAGED : 0};
        struct lade_source *source = stream_of(&s);
        struct lade_loader_config config = {
            .source = source, .batch = BATCH, .buffer = BUFFER, .threads = 3, .fault = LADE_FAULT_SKIP};
        struct lade_loader *l = open_loader(&config);
        struct lade_loader_stats stats;
        struct tally t;
        uint64_t batches;
        tally_init(&t, 1000);
        cr_assert_eq(take_all(l, &t, &batches), LADE_CLOSED);
        for (uint64_t i = 0; i < 1000; i++)
            cr_assert_eq(t.seen[i], !(fails && i % 10 == 3));
        lade_loader_stats(l, &stats);
        cr_assert_eq(stats.faults, 100 * fails);
        lade_loader_destroy(l);
        if (fails) {
            struct lade_batch b;
            struct lade_error error;
            int status;
            atomic_store(&s.at, 0);
            config.fault = LADE_FAULT_FAIL;
            l = open_loader(&config);
            while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
                lade_loader_release(l, &b);
            cr_assert(status == LADE_DAMAGED && error.status == LADE_DAMAGED);
            cr_assert_str_eq(error.text, "as the test wants");
            cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_DAMAGED);
            lade_loader_destroy(l);
        }
        tally_free(&t);
        lade_source_close(source);
    }
}

/* Faults that readers of samples encounter. */
struct trap {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t from, every; /* samples from this one on block; or its multiples, once each */
    bool exits, open;
    int answer; /* status of a read that blocked */
    unsigned caught, met[COUNT];
};

static int step_on(void *context, uint64_t i)
{
    struct trap *t = context;

    pthread_mutex_lock(&t->mutex);
    bool caught = t->every ? i % t->every == 0 && t->met[i]++ == 0 : i >= t->from;
    t->caught += caught;
    pthread_cond_broadcast(&t->changed);
    while (caught && !t->exits && !t->open)
        pthread_cond_wait(&t->changed, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
    if (caught && t->exits)
        pthread_exit(NULL);
    return caught ? t->answer : LADE_OK;
}

static void let_go(struct trap *t)
{
    pthread_mutex_lock(&t->mutex);
    t->open = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
}

/* Nothing is drawn while the buffer is less than half full and more samples follow. */
Test(loader_stream, waits_until_the_buffer_is_half_full)
{
    for (uint64_t ready = 31; ready <= 32; ready++) {
        struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .from = ready};
        struct lade_source *source = numbers_with(COUNT, step_on, &t);
        struct lade_loader_config config = {.source = source,
                                            .batch = 1,
                                            .buffer = 64,
                                            .threads = 1,
                                            .epochs = 1,
                                            .sequential = true,
                                            .worker_timeout = LADE_FOREVER};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        pthread_mutex_lock(&t.mutex);
        while (t.caught == 0)
            pthread_cond_wait(&t.changed, &t.mutex);
        pthread_mutex_unlock(&t.mutex);
        int status = lade_loader_next(l, &b, 0, NULL);
        cr_assert_eq(status, ready == 32 ? LADE_OK : LADE_TIMEOUT);
        cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_TIMEOUT);
        let_go(&t);
        struct tally tally;
        uint64_t batches;
        tally_init(&tally, COUNT);
        cr_assert_eq(take_all(l, &tally, &batches), LADE_CLOSED);
        cr_assert_eq(batches, COUNT - (status == LADE_OK));
        tally_free(&tally);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

/* Threads end, or hang and return later, some with an error that must be dropped: no sample is delivered twice. */
Test(loader_stream, workers_are_replaced)
{
    for (unsigned kind = 0; kind < 12; kind++) {
        struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .every = 60, .exits = kind % 2,
                         .answer = kind % 4 >= 2 ? LADE_DAMAGED : LADE_OK};
        struct lade_source *source = numbers_with(COUNT, step_on, &t);
        struct lade_loader_config config = {.source = source,
                                            .batch = BATCH,
                                            .buffer = BUFFER,
                                            .threads = 1 + kind / 4,
                                            .epochs = 1,
                                            .worker_timeout = 20000000};
        struct lade_loader *l = open_loader(&config);
        struct lade_loader_stats stats;
        struct tally tally;
        uint64_t batches;
        tally_init(&tally, COUNT);
        cr_assert_eq(take_all(l, &tally, &batches), LADE_CLOSED);
        tally_expect(&tally, 1);
        lade_loader_stats(l, &stats);
        cr_assert(t.caught == 5 && stats.replaced >= 5 && stats.faults == 0);
        struct lade_batch b;
        let_go(&t);
        cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_CLOSED);
        lade_loader_destroy(l);
        tally_free(&tally);
        lade_source_close(source);
    }
}

/*
 * Replaces lib/thread.c: the thread with this number starts only after the next one was started. 0: all start at once.
 */
static struct held {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned number, started;
    void *(*body)(void *context);
    void *context;
} held = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *begin_later(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&held.mutex);
    while (held.started == held.number)
        pthread_cond_wait(&held.changed, &held.mutex);
    pthread_mutex_unlock(&held.mutex);
    return held.body(held.context);
}

bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    pthread_mutex_lock(&held.mutex);
    bool is_held = ++held.started == held.number;
    pthread_cond_broadcast(&held.changed);
    pthread_mutex_unlock(&held.mutex);
    if (!is_held)
        return pthread_create(thread, NULL, body, context) == 0;
    held.body = body;
    held.context = context;
    return pthread_create(thread, NULL, begin_later, NULL) == 0;
}

/* On a busy machine the replacement of a late worker can be late itself before it has started, and then has no work. */
Test(loader_stream, superseded_before_it_began, .timeout = 120)
{
    struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .every = COUNT};
    struct lade_source *source = numbers_with(COUNT, step_on, &t);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .buffer = BUFFER, .threads = 1, .epochs = 1, .worker_timeout = 20000000};
    struct tally tally;
    uint64_t batches;

    held.number = 2;
    held.started = 0;
    struct lade_loader *l = open_loader(&config);
    tally_init(&tally, COUNT);
    cr_assert_eq(take_all(l, &tally, &batches), LADE_CLOSED);
    tally_expect(&tally, 1);
    cr_assert_geq(held.started, 3);
    let_go(&t);
    lade_loader_destroy(l);
    tally_free(&tally);
    lade_source_close(source);
}

static int fail_tens(void *context, uint64_t i)
{
    (void)context;
    return i % 10 == 3 ? LADE_ABSENT : LADE_OK;
}

Test(loader_stream, rules_for_faults)
{
    struct lade_source *source = numbers_with(COUNT, fail_tens, NULL);

    for (unsigned rule = LADE_FAULT_FAIL; rule <= LADE_FAULT_SUBSTITUTE; rule++)
        for (uint64_t most = 29; most <= 30; most++) {
            struct lade_loader_config config = {.source = source,
                                                .batch = BATCH,
                                                .buffer = BUFFER,
                                                .threads = 2,
                                                .epochs = 1,
                                                .fault = (enum lade_fault)rule,
                                                .faults_max = most};
            struct lade_loader *l = open_loader(&config);
            struct tally t;
            uint64_t batches, came = 0;
            tally_init(&t, COUNT);
            int status = take_all(l, &t, &batches);
            for (uint64_t i = 0; i < COUNT; i++) {
                came += t.seen[i];
                cr_assert(i % 10 != 3 || t.seen[i] == 0);
            }
            if (rule == LADE_FAULT_FAIL)
                cr_assert_eq(status, LADE_ABSENT);
            else if (most < 30)
                cr_assert_eq(status, LADE_LIMITED);
            else
                cr_assert(status == LADE_CLOSED && came == (rule == LADE_FAULT_SKIP ? COUNT - COUNT / 10 : COUNT));
            lade_loader_destroy(l);
            tally_free(&t);
        }
    lade_source_close(source);
}

static void *cancel(void *loader)
{
    lade_loader_cancel(loader);
    return NULL;
}

/* Cancel while the consumer waits with an incomplete batch has its own status. */
Test(loader_stream, cancel)
{
    for (uint64_t ready = 0; ready < 80; ready += 5) {
        struct trap t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .from = ready};
        struct lade_source *source = numbers_with(COUNT, step_on, &t);
        struct lade_loader_config config = {
            .source = source, .batch = BATCH, .buffer = 40, .threads = 2, .sequential = true};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        pthread_t thread;
        int status;
        cr_assert_eq(pthread_create(&thread, NULL, cancel, l), 0);
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK)
            lade_loader_release(l, &b);
        cr_assert_eq(status, LADE_CANCELLED);
        cr_assert_eq(pthread_join(thread, NULL), 0);
        let_go(&t);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}
