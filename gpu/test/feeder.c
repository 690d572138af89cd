/* SPDX-License-Identifier: MIT */
/* The feeder on the host: order, ends, errors, limits, waiting. */
#include "batches.h"
#include "thread.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Threads that can still be started; below zero: any number. And the running threads of the feeder. */
static atomic_int threads_left = -1, threads_running;

struct body {
    void *(*body)(void *context);
    void *context;
};

static void *run_counted(void *context)
{
    struct body b = *(struct body *)context;
    void *answer;

    free(context);
    answer = b.body(b.context);
    atomic_fetch_sub(&threads_running, 1);
    return answer;
}

/* Replaces lib/thread.c. */
bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    struct body *b = malloc(sizeof *b);

    cr_assert(b);
    *b = (struct body){body, context};
    if (atomic_load(&threads_left) == 0) {
        free(b);
        return false;
    }
    atomic_fetch_sub(&threads_left, 1);
    atomic_fetch_add(&threads_running, 1);
    return pthread_create(thread, NULL, run_counted, b) == 0;
}

static struct lade_feeder *feeder;
static struct lade_error error;
static struct lade_feeder_batch batch;

static int next(void)
{
    return lade_feeder_next(feeder, &batch, LADE_FOREVER, &error);
}

static size_t wrong(void)
{
    return wrong_in(batch.number, batch.rows, batch.tensor[IMAGES].data, batch.tensor[LABELS].data,
                    batch.tensor[IDS].data);
}

static void release(void)
{
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
}

/* Takes all batches from first on, in order, then the end. */
static void take_all(uint64_t first, uint64_t batches, int end)
{
    for (uint64_t i = first; i < batches; i++) {
        cr_assert_eq(next(), LADE_OK);
        cr_assert_eq(batch.number, i);
        cr_assert_eq(wrong(), 0);
        release();
    }
    cr_assert_eq(next(), end);
    cr_assert_eq(next(), end, "the end stays the end");
}

Test(feeder, every_batch_once_and_in_order)
{
    for (unsigned depth = 1; depth <= 5; depth++)
        for (unsigned fillers = 1; fillers <= 4; fillers++) {
            struct producer p = {.batches = 40};
            struct lade_feeder_config c = config_of(&p);
            struct lade_feeder_stats stats;
            c.depth = depth;
            c.fillers = (fillers + 1) / 2;
            c.consumer_assists = fillers % 2;
            cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
            take_all(0, 40, LADE_CLOSED);
            lade_feeder_stats(feeder, &stats);
            cr_assert_eq(stats.filled, 40);
            cr_assert_eq(stats.taken, 40);
            cr_assert_eq(stats.released, 40);
            cr_assert_eq(stats.depth, depth);
            cr_assert_eq(stats.copied_bytes, 0);
            cr_assert_eq(stats.consumer_waits + stats.throttle_waits, 0, "there is no device to wait for");
            lade_feeder_destroy(feeder);
        }
}

Test(feeder, a_short_last_batch_has_its_rows)
{
    struct producer p = {.batches = 3, .last_rows = 1};
    struct lade_feeder_config c = config_of(&p);

    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    for (uint64_t i = 0; i < 3; i++) {
        cr_assert_eq(next(), LADE_OK);
        cr_assert_eq(batch.rows, i < 2 ? ROWS : 1);
        cr_assert_eq(batch.tensors, TENSORS);
        for (unsigned t = 0; t < TENSORS; t++) {
            cr_assert_eq(batch.tensor[t].shape->dim[0], batch.rows);
            cr_assert_eq(batch.tensor[t].shape->dtype, shapes[t].dtype);
            cr_assert_eq(batch.tensor[t].offset, 0);
            cr_assert_eq((uintptr_t)batch.tensor[t].data % LADE_DEVICE_ALIGN, 0);
            cr_assert_eq(batch.tensor[t].host, batch.tensor[t].data, "on the host there is one memory");
        }
        cr_assert_eq(wrong(), 0);
        release();
    }
    cr_assert_eq(next(), LADE_CLOSED);
    lade_feeder_destroy(feeder);
}

Test(feeder, an_error_of_fill_comes_behind_the_batches_before_it)
{
    struct producer p = {.batches = 100, .fails_at = 7};
    struct lade_feeder_config c = config_of(&p);

    c.fillers = 2;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    take_all(0, 7, LADE_DAMAGED);
    cr_assert_str_eq(error.text, "batch 7 is damaged");
    cr_assert_eq(error.status, LADE_DAMAGED);
    cr_assert_eq(lade_feeder_next(feeder, &batch, 0, NULL), LADE_DAMAGED);
    cr_assert_not(lade_feeder_failed(feeder, NULL), "the device did nothing wrong");
    lade_feeder_destroy(feeder);
}

static int fill_too_much(void *self, struct lade_feeder_slot *slot, struct lade_error *e)
{
    (void)e;
    slot->rows = *(uint64_t *)self;
    return LADE_OK;
}

Test(feeder, rows_out_of_range_are_an_error)
{
    for (uint64_t rows = 0; rows <= ROWS + 1; rows += ROWS + 1) {
        struct lade_feeder_config c = {.fill = fill_too_much, .self = &rows, .tensors = TENSORS, .shape = shapes};
        cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
        cr_assert_eq(next(), LADE_INVALID);
        cr_assert(strstr(error.text, "rows written") != NULL);
        lade_feeder_destroy(feeder);
    }
}

static int fill_answers(void *self, struct lade_feeder_slot *slot, struct lade_error *e)
{
    (void)slot;
    strcpy(e->text, "stale");
    return *(int *)self;
}

/* A status that next reserves, or that is neither success nor an error, is not passed on. */
Test(feeder, a_fill_that_returns_what_it_may_not_is_an_error)
{
    static const struct {
        int answer;
        const char *text;
    } cases[] = {{LADE_TIMEOUT, "fill returned -9"}, {LADE_RELEASED, "fill returned 1"}, {4, "fill returned 4"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int consumer_assists = 0; consumer_assists < 2; consumer_assists++) {
            int answer = cases[i].answer;
            struct lade_feeder_config c = {.fill = fill_answers,
                                           .self = &answer,
                                           .consumer_assists = consumer_assists,
                                           .tensors = TENSORS,
                                           .shape = shapes};
            cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
            cr_assert_eq(next(), LADE_IO);
            cr_assert_eq(error.status, LADE_IO);
            cr_assert(strstr(error.text, cases[i].text) != NULL, "%s", error.text);
            cr_assert_eq(next(), LADE_IO, "the end stays the end");
            cr_assert_not(lade_feeder_failed(feeder, NULL), "the device did nothing wrong");
            lade_feeder_destroy(feeder);
        }
}

Test(feeder, batches_are_released_in_any_order)
{
    struct producer p = {.batches = 64};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_batch held[4];

    c.depth = 4;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    for (unsigned round = 0; round < 16; round++) {
        for (unsigned i = 0; i < 4; i++)
            cr_assert_eq(lade_feeder_next(feeder, &held[i], LADE_FOREVER, &error), LADE_OK);
        cr_assert_eq(lade_feeder_next(feeder, &batch, 0, &error), LADE_TIMEOUT);
        for (unsigned i = 0; i < 4; i++) {
            batch = held[i ^ round % 4];
            cr_assert_eq(wrong(), 0);
            release();
        }
    }
    cr_assert_eq(next(), LADE_CLOSED);
    lade_feeder_destroy(feeder);
}

Test(feeder, a_held_slot_stays_as_it_is)
{
    struct producer p = {.batches = 8};
    struct lade_feeder_config c = config_of(&p);

    c.depth = 2;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    struct lade_feeder_batch first = batch;
    cr_assert_eq(next(), LADE_OK);
    release();
    /* Batch 3 would use the slot of batch 1, but batch 2 must get the slot of batch 0 first. */
    cr_assert_eq(lade_feeder_next(feeder, &batch, 1000000, &error), LADE_TIMEOUT);
    cr_assert_eq(wrong_in(0, ROWS, first.tensor[0].data, first.tensor[1].data, first.tensor[2].data), 0);
    batch = first;
    release();
    take_all(2, 8, LADE_CLOSED);
    lade_feeder_destroy(feeder);
}

Test(feeder, drain_gives_what_was_begun)
{
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_stats stats;
    uint64_t taken = 0;

    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    for (; taken < 5; taken++) {
        cr_assert_eq(next(), LADE_OK);
        release();
    }
    lade_feeder_close(feeder);
    for (int status; (status = next()) != LADE_CLOSED; taken++) {
        cr_assert_eq(status, LADE_OK);
        cr_assert_eq(batch.number, taken);
        cr_assert_eq(wrong(), 0);
        release();
    }
    lade_feeder_stats(feeder, &stats);
    cr_assert_eq(stats.filled, taken);
    cr_assert_eq(stats.released, taken);
    cr_assert_eq(atomic_load(&p.calls), taken, "no batch was begun and not given");
    lade_feeder_destroy(feeder);
}

Test(feeder, next_and_stop_give_up_on_a_fill_that_does_not_return, .timeout = 60)
{
    struct producer p = {.batches = 4};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_stats stats;

    atomic_store(&p.held, true);
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(lade_feeder_next(feeder, &batch, 0, &error), LADE_TIMEOUT);
    cr_assert_eq(lade_feeder_next(feeder, &batch, 2000000, &error), LADE_TIMEOUT);
    cr_assert_eq(lade_feeder_next(feeder, &batch, LADE_FOREVER - 1, &error), LADE_TIMEOUT);
    lade_feeder_stats(feeder, &stats);
    cr_assert_eq(stats.starved, 3);
    while (!atomic_load(&p.inside))
        ;
    cr_assert_eq(lade_feeder_stop(feeder, 2000000), LADE_TIMEOUT);
    cr_assert_eq(lade_feeder_stop(feeder, INT64_MIN), LADE_TIMEOUT);
    cr_assert_eq(next(), LADE_CLOSED);
    atomic_store(&p.held, false);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    cr_assert_eq(lade_feeder_stop(feeder, 0), LADE_OK);
    lade_feeder_destroy(feeder);
}

static void *wait_for_a_batch(void *status)
{
    struct lade_feeder_batch mine;

    *(int *)status = lade_feeder_next(feeder, &mine, LADE_FOREVER, NULL);
    return NULL;
}

Test(feeder, stop_wakes_waiting_threads)
{
    struct producer p = {.batches = 4};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_stats stats = {.starved = 0};
    pthread_t thread;
    int status = LADE_OK;

    atomic_store(&p.held, true);
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_a_batch, &status), 0);
    while (stats.starved == 0)
        lade_feeder_stats(feeder, &stats);
    cr_assert_eq(lade_feeder_stop(feeder, 0), LADE_TIMEOUT); /* fill has not returned */
    pthread_join(thread, NULL);
    cr_assert_eq(status, LADE_CLOSED);
    atomic_store(&p.held, false);
    lade_feeder_destroy(feeder);
}

/* The thread that wrote the last batch. */
struct helper {
    struct producer p;
    pthread_t filler;
};

static int fill_and_say_who(void *self, struct lade_feeder_slot *slot, struct lade_error *said)
{
    struct helper *h = self;

    h->filler = pthread_self();
    return fill_batch(&h->p, slot, said);
}

Test(feeder, a_consumer_that_helps_fills_in_its_own_thread)
{
    struct helper h = {.p = {.batches = 2}};
    struct lade_feeder_config c = config_of(NULL);

    c.fill = fill_and_say_who;
    c.self = &h;
    c.consumer_assists = true;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    cr_assert(pthread_equal(h.filler, pthread_self()));
    cr_assert_eq(wrong(), 0);
    cr_assert_eq(atomic_load(&h.p.calls), 1, "there is no other filler");
    release();
    take_all(1, 2, LADE_CLOSED);
    lade_feeder_destroy(feeder);
}

Test(feeder, stop_waits_for_a_consumer_that_fills)
{
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = config_of(&p);
    pthread_t thread;
    int status = LADE_OK;

    c.consumer_assists = true;
    atomic_store(&p.held, true);
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_a_batch, &status), 0);
    while (!atomic_load(&p.inside))
        ;
    cr_assert_eq(lade_feeder_stop(feeder, 1000000), LADE_TIMEOUT);
    atomic_store(&p.held, false);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    pthread_join(thread, NULL);
    cr_assert_eq(status, LADE_CLOSED);
    cr_assert_eq(next(), LADE_CLOSED, "nobody fills behind stop");
    cr_assert_eq(atomic_load(&p.calls), 1);
    lade_feeder_destroy(feeder);
}

Test(feeder, release_after_stop)
{
    struct producer p = {.batches = 4};
    struct lade_feeder_config c = config_of(&p);

    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    cr_assert_eq(wrong(), 0, "what the consumer has is its own");
    release();
    lade_feeder_destroy(feeder);
    lade_feeder_destroy(NULL);
}

Test(feeder, what_is_refused)
{
    struct producer p = {.batches = 4};
    struct lade_shape other[2] = {shapes[0], {LADE_I32, 1, {ROWS + 1}}}, none = {LADE_U8, 0, {0}};
    void *odd = (void *)(uintptr_t)12; /* not page-aligned */
    struct lade_feeder_config good = config_of(&p), bad[11];

    for (unsigned i = 0; i < 11; i++)
        bad[i] = good;
    bad[0].fill = NULL;
    bad[1].tensors = 0;
    bad[2].tensors = LADE_TENSORS_MAX + 1;
    bad[3].depth = LADE_FEEDER_DEPTH_MAX + 1;
    bad[4].fillers = LADE_FEEDER_FILLERS_MAX + 1;
    bad[5].shape = other;
    bad[5].tensors = 2;
    bad[6].shape = &none;
    bad[6].tensors = 1;
    bad[7].device = 1;
    bad[8].depth = 1;
    bad[8].staging = &odd;
    bad[9].priority = (enum lade_device_priority)(LADE_PRIORITY_HIGH + 1);
    bad[10].priority = (enum lade_device_priority)(LADE_PRIORITY_NORMAL - 1);
    for (unsigned i = 0; i < 11; i++) {
        error.text[0] = 0;
        cr_assert_eq(lade_feeder_create(&feeder, &bad[i], &error), LADE_INVALID, "config %u", i);
        cr_assert_neq(error.text[0], 0);
        cr_assert_eq(error.status, LADE_INVALID);
    }
    cr_assert_eq(lade_feeder_create(NULL, &good, &error), LADE_INVALID);
    cr_assert_eq(lade_feeder_create(&feeder, NULL, &error), LADE_INVALID);
    good.backend = "abacus";
    cr_assert_eq(lade_feeder_create(&feeder, &good, &error), LADE_ABSENT);
    cr_assert_str_eq(error.text, "feeder: this build has no backend 'abacus'");
    cr_assert_eq(atomic_load(&p.calls), 0);
}

/* If a filler cannot be started, the others are ended before create returns. */
Test(feeder, fillers_that_cannot_be_started, .timeout = 60)
{
    struct producer p = {.batches = 100};
    struct lade_feeder_config config = config_of(&p);

    config.fillers = 4;
    for (int n = 0; n < 4; n++) {
        atomic_store(&threads_left, n);
        atomic_store(&threads_running, 0);
        error.text[0] = 0;
        cr_assert_eq(lade_feeder_create(&feeder, &config, &error), LADE_NO_MEMORY);
        cr_assert(error.status == LADE_NO_MEMORY && error.text[0]);
        cr_assert_eq(atomic_load(&threads_running), 0, "%d fillers run on", atomic_load(&threads_running));
    }
    atomic_store(&threads_left, 4);
    cr_assert_eq(lade_feeder_create(&feeder, &config, &error), LADE_OK);
    take_all(0, 100, LADE_CLOSED);
    lade_feeder_destroy(feeder);
}

Test(feeder, the_pinned_limit_holds)
{
    struct producer p = {.batches = 4};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder_stats stats;
    size_t bytes = lade_feeder_bytes(shapes, TENSORS);

    cr_assert_eq(bytes, 256 + 256 + 256, "each tensor fits into one unit of alignment");
    c.pinned_limit = 2 * bytes;
    c.depth = 3;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_LIMITED);
    cr_assert_str_eq(error.text, "feeder: pinned_limit allows a depth of at most 2");
    c.depth = 0;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    lade_feeder_stats(feeder, &stats);
    cr_assert_eq(stats.depth, 2);
    cr_assert_eq(stats.pinned_bytes, 2 * bytes);
    lade_feeder_destroy(feeder);
    c.pinned_limit = bytes - 1;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_LIMITED);
}

Test(feeder, staging_memory_of_the_user)
{
    struct producer p = {.batches = 10};
    struct lade_feeder_config c = config_of(&p);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mine[2] = {aligned_alloc(page, page), aligned_alloc(page, page)};

    c.depth = 2;
    c.staging = mine;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    for (uint64_t i = 0; i < 10; i++) {
        cr_assert_eq(next(), LADE_OK);
        cr_assert_eq(batch.tensor[0].data, mine[i % 2], "the batch is where the user said");
        cr_assert_eq(wrong(), 0);
        release();
    }
    lade_feeder_destroy(feeder);
    free(mine[0]);
    free(mine[1]);
}

struct steps {
    atomic_uint number[LADE_FEEDER_RELEASED + 1];
};

static void count_step(void *context, enum lade_feeder_step step, uint64_t number, unsigned slot, int64_t at)
{
    struct steps *steps = context;

    if (slot == number % LADE_FEEDER_DEPTH && at > 0)
        atomic_fetch_add(&steps->number[step], 1);
}

Test(feeder, every_step_is_traced)
{
    static struct steps steps;
    struct producer p = {.batches = 10};
    struct lade_feeder_config c = config_of(&p);

    c.trace = count_step;
    c.trace_context = &steps;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    take_all(0, 10, LADE_CLOSED);
    lade_feeder_destroy(feeder);
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_FILL_BEGINS]), 11, "the last one finds the end");
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_FILLED]), 11);
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_COPY_ENQUEUED]), 10);
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_COPY_SEEN]), 0);
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_TAKEN]), 10);
    cr_assert_eq(atomic_load(&steps.number[LADE_FEEDER_RELEASED]), 10);
}

struct consumer {
    uint64_t taken, wrong, last;
    bool ordered;
};

static void *consume(void *argument)
{
    struct consumer *me = argument;
    struct lade_feeder_batch mine;

    me->ordered = true;
    while (lade_feeder_next(feeder, &mine, LADE_FOREVER, NULL) == LADE_OK) {
        me->ordered = me->ordered && (me->taken == 0 || mine.number > me->last);
        me->last = mine.number;
        me->wrong += wrong_in(mine.number, mine.rows, mine.tensor[0].data, mine.tensor[1].data, mine.tensor[2].data);
        me->taken++;
        (void)lade_feeder_release(feeder, &mine, LADE_DONE_NOW, NULL, NULL);
    }
    return NULL;
}

Test(feeder, several_consumers_share_the_batches)
{
    enum { CONSUMERS = 3, BATCHES = 2000 };
    struct producer p = {.batches = BATCHES};
    struct lade_feeder_config c = config_of(&p);
    struct consumer consumer[CONSUMERS] = {{0}};
    pthread_t thread[CONSUMERS];
    uint64_t taken = 0;

    c.depth = 4;
    c.fillers = 2;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    for (unsigned i = 0; i < CONSUMERS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, consume, &consumer[i]), 0);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        pthread_join(thread[i], NULL);
        cr_assert(consumer[i].ordered);
        cr_assert_eq(consumer[i].wrong, 0);
        taken += consumer[i].taken;
    }
    cr_assert_eq(taken, BATCHES);
    lade_feeder_destroy(feeder);
}

Test(feeder, the_backends_have_names)
{
    unsigned i = 0;

    cr_assert_str_eq(lade_feeder_backend(0), "host");
    while (lade_feeder_backend(i))
        i++;
    cr_assert_leq(i, 3);
}

/* ---- memory ---- */

static long live, left; /* bytes; allocations that still succeed */

static void *counted_get(void *context, size_t size, size_t align)
{
    cr_assert_eq(context, &live);
    if (left-- <= 0)
        return NULL;
    live += (long)size;
    return aligned_alloc(align, size);
}

static void counted_put(void *context, void *memory, size_t size)
{
    cr_assert_eq(context, &live);
    live -= (long)size;
    free(memory);
}

/* All memory comes from the allocator and is freed; each allocation fails once. */
Test(feeder, an_allocator_that_fails)
{
    const struct lade_alloc alloc = {counted_get, counted_put, &live};
    struct producer p = {.batches = 1};
    struct lade_feeder_config c = config_of(&p);
    int status = LADE_NO_MEMORY;
    long n = 0;

    c.alloc = &alloc;
    for (; status == LADE_NO_MEMORY; n++) {
        left = n;
        status = lade_feeder_create(&feeder, &c, &error);
        cr_assert(status == LADE_OK ? live > 0 : live == 0, "%ld bytes", live);
    }
    cr_assert_eq(status, LADE_OK, "%s", error.text);
    cr_assert_eq(n,
                 3 + LADE_FEEDER_DEPTH + 1); /* the feeder, its turns, its slots, staging for each; then none fails */
    take_all(0, 1, LADE_CLOSED);
    lade_feeder_destroy(feeder);
    cr_assert_eq(live, 0);
}
