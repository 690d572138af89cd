/* SPDX-License-Identifier: MIT */
/* Limits, closing, waiting, and threads that meet at a bag. */
#include "bags.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

/* No operation here takes this long; a lost wakeup does. */
#define LONG (INT64_C(30) * 1000000000)

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static size_t word_bytes(void *context, const void *element)
{
    uint64_t word;

    (void)context;
    memcpy(&word, element, sizeof word);
    return (size_t)word;
}

static int put_word(struct lade_bag_handle *h, uint64_t word)
{
    return lade_bag_put(h, &word);
}

Test(bag_wait, byte_budget_is_kept)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 100, .byte_budget = 100, .bytes = word_bytes});
    struct lade_bag_handle *h = join_bag(bag);
    uint64_t word = 0;

    cr_assert_eq(put_word(h, 101), LADE_FULL);
    cr_assert_eq(put_word(h, LADE_BAG_WORD_MAX), LADE_FULL);
    cr_assert_eq(put_word(h, 60), LADE_OK);
    cr_assert_eq(put_word(h, 41), LADE_FULL);
    cr_assert_eq(stats_of(bag).bytes, 60);
    cr_assert_eq(put_word(h, 40), LADE_OK, "the budget itself is allowed");
    cr_assert_eq(stats_of(bag).bytes, 100);
    cr_assert_eq(put_word(h, 1), LADE_FULL);
    cr_assert_eq(stats_of(bag).full, 4);
    cr_assert_eq(lade_bag_draw(h, &word), LADE_OK);
    cr_assert_eq(stats_of(bag).bytes, 100 - word);
    cr_assert_eq(put_word(h, word), LADE_OK);
    word = 5;
    cr_assert_eq(lade_bag_exchange(h, &word, &word), LADE_OK);
    cr_assert_eq(stats_of(bag).bytes, 105 - word);
    cr_assert_eq(lade_bag_drain(h), 2);
    cr_assert_eq(stats_of(bag).bytes, 0);
    word = 100;
    cr_assert_eq(put_word(h, 1), LADE_OK);
    cr_assert_eq(lade_bag_exchange(h, &word, &word), LADE_OK, "exchange does not look at the budget");
    cr_assert_eq(lade_bag_evict(h), LADE_OK);
    cr_assert_eq(stats_of(bag).bytes, 0);
    lade_bag_destroy(bag);
}

Test(bag_wait, byte_budget_evicts)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){
        .capacity = 100, .full = LADE_BAG_EVICT_UNIFORM, .byte_budget = 100, .bytes = word_bytes, .drop = drop_word});
    struct lade_bag_handle *h = join_bag(bag);

    for (uint64_t n = 10; n < 50; n++) {
        cr_assert_eq(put_word(h, n), LADE_OK);
        cr_assert_leq(stats_of(bag).bytes, 100);
    }
    struct lade_bag_stats c = stats_of(bag);
    cr_assert_eq(c.evicted, drops);
    cr_assert_gt(c.held, 0);
    cr_assert_eq(put_word(h, 101), LADE_FULL);
    cr_assert_eq(stats_of(bag).held, c.held, "nothing is evicted for what cannot have room");
    cr_assert_eq(put_word(h, 100), LADE_OK);
    cr_assert_eq(stats_of(bag).held, 1);
    lade_bag_destroy(bag);
}

static size_t object_bytes(void *context, const void *element)
{
    struct lade_ref *ref;

    memcpy(&ref, element, sizeof ref);
    *(int *)context += 1;
    return (size_t)((struct object *)(void *)ref)->number;
}

Test(bag_wait, byte_budget_of_references)
{
    int calls = 0;
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 100,
                                                             .kind = LADE_BAG_REFS,
                                                             .full = LADE_BAG_EVICT_UNIFORM,
                                                             .byte_budget = 1000,
                                                             .bytes = object_bytes,
                                                             .max_times_sampled = 1,
                                                             .context = &calls});
    struct lade_bag_handle *h = join_bag(bag);
    struct lade_loan loan;

    for (uint64_t n = 100; n < 200; n++) {
        cr_assert_eq(put_number(h, LADE_BAG_REFS, n), LADE_OK);
        cr_assert_leq(stats_of(bag).bytes, 1000);
    }
    cr_assert_gt(calls, 100);
    while (lade_bag_sample(h, &loan) == LADE_OK)
        lade_bag_give_back(h, &loan);
    cr_assert_eq(stats_of(bag).bytes, 0);
    for (uint64_t n = 100; n < 200; n++)
        cr_assert_eq(objects[n].released, 1);
    lade_bag_destroy(bag);
}

static void check_ratio(double ratio, double slack)
{
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 1000, .samples_per_insert = ratio, .ratio_slack = slack});
    struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
    struct lade_loan loan;
    uint64_t puts = 0, samples = 0;
    uint32_t coin = 1;

    for (int i = 0; i < 3000 && puts < 1000; i++) {
        bool may_put = ratio * (double)(puts + 1) - (double)samples <= slack;
        bool may_sample = (double)(samples + 1) - ratio * (double)puts <= slack;
        cr_assert(may_put || may_sample);
        coin = coin * 1664525 + 1013904223;
        if (coin >> 31) {
            cr_assert_eq(put_word(h[i % 2], puts + 1), may_put ? LADE_OK : LADE_LIMITED);
            puts += may_put;
        } else {
            int status = lade_bag_sample(h[i % 2], &loan);
            cr_assert_eq(status, !may_sample ? LADE_LIMITED : puts == 0 ? LADE_EMPTY : LADE_OK);
            samples += status == LADE_OK;
        }
    }
    cr_assert_gt(puts, 10);
    cr_assert_gt(samples, 10);
    lade_bag_destroy(bag);
}

Test(bag_wait, ratio_is_kept)
{
    check_ratio(1, 1);
    check_ratio(2, 4);
    check_ratio(8, 8);
    check_ratio(0.25, 1);
    check_ratio(0.3, 20);
}

/* A wait for a limit ends when the bag is closed. */
Test(bag_wait, limits_end_with_the_bag)
{
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 10, .samples_per_insert = 1, .ratio_slack = 1});
    struct lade_bag_handle *h = join_bag(bag);
    struct lade_loan loan;
    uint64_t word = 5;

    cr_assert_eq(put_word(h, 1), LADE_OK);
    cr_assert_eq(put_word(h, 2), LADE_LIMITED);
    lade_bag_close(bag);
    cr_assert_eq(put_word(h, 2), LADE_CLOSED);
    cr_assert_eq(lade_bag_put_wait(h, &word, LONG), LADE_CLOSED);
    cr_assert_eq(lade_bag_sample_many(h, &loan, 1), 1);
    cr_assert_eq(lade_bag_sample_many(h, &loan, 1), 1);
    cr_assert_eq(lade_bag_sample(h, &loan), LADE_CLOSED, "nobody puts any more");
    cr_assert_eq(lade_bag_sample_wait(h, &loan, LONG), LADE_CLOSED);
    lade_bag_destroy(bag);

    for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_UNIFORM; full++) {
        bag = make_bag((struct lade_bag_config){
            .capacity = 10, .full = (enum lade_bag_full)full, .byte_budget = 10, .bytes = word_bytes});
        h = join_bag(bag);
        cr_assert_eq(put_word(h, 9), LADE_OK);
        lade_bag_close(bag);
        cr_assert_eq(put_word(h, 5), LADE_CLOSED);
        cr_assert_eq(lade_bag_put_wait(h, &word, LONG), LADE_CLOSED);
        cr_assert_eq(stats_of(bag).evicted, 0, "nothing is evicted for what is refused");
        lade_bag_destroy(bag);
    }
}

Test(bag_wait, a_closed_bag_can_be_emptied)
{
    for (enum lade_bag_kind kind = LADE_BAG_WORDS; kind <= LADE_BAG_RECORDS; kind++)
        for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++) {
            struct lade_bag *bag =
                make_bag((struct lade_bag_config){.capacity = 70, .kind = kind, .full = (enum lade_bag_full)full});
            struct lade_bag_handle *h = join_bag(bag);
            union element in, out;
            uint64_t number = 0;
            for (uint64_t n = 1; n <= 70; n++)
                cr_assert_eq(put_number(h, kind, n), LADE_OK);
            lade_bag_close(bag);
            lade_bag_close(bag);
            in = element_of(kind, 71);
            cr_assert_eq(lade_bag_put(h, &in), LADE_CLOSED);
            cr_assert_eq(lade_bag_put_many(h, &in, 1), 0);
            cr_assert_eq(lade_bag_put_wait(h, &in, LADE_FOREVER), LADE_CLOSED);
            if (full != LADE_BAG_EVICT_OLDEST) {
                cr_assert_eq(lade_bag_exchange(h, &in, &out), LADE_CLOSED);
                cr_assert_eq(lade_bag_exchange_wait(h, &in, &out, LADE_FOREVER), LADE_CLOSED);
            }
            if (kind == LADE_BAG_REFS)
                cr_assert_eq(lade_ref_count(in.ref), 1, "a refused reference stays with the caller");
            for (uint64_t n = 1; n <= 70; n++)
                cr_assert_eq(draw_number(h, kind, &number), LADE_OK);
            cr_assert_eq(draw_number(h, kind, &number), LADE_CLOSED);
            cr_assert_eq(lade_bag_draw_wait(h, &out, LADE_FOREVER), LADE_CLOSED);
            cr_assert_eq(lade_bag_draw_many(h, &out, 1), 0);
            cr_assert_eq(lade_bag_drain(h), 0);
            lade_bag_destroy(bag);
        }
}

Test(bag_wait, waiting_ends_when_the_time_is_over)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1});
    struct lade_bag_handle *h = join_bag(bag);
    const int64_t while_ = 20 * 1000000;
    struct lade_loan loan;
    uint64_t word = 1;

    cr_assert_eq(lade_bag_draw_wait(h, &word, 0), LADE_TIMEOUT);
    int64_t begin = now();
    cr_assert_eq(lade_bag_draw_wait(h, &word, while_), LADE_TIMEOUT);
    cr_assert_geq(now() - begin, while_);
    begin = now();
    cr_assert_eq(lade_bag_sample_wait(h, &loan, while_), LADE_TIMEOUT);
    cr_assert_geq(now() - begin, while_);
    begin = now();
    cr_assert_eq(lade_bag_exchange_wait(h, &word, &word, while_), LADE_TIMEOUT);
    cr_assert_geq(now() - begin, while_);
    cr_assert_eq(lade_bag_put_wait(h, &word, while_), LADE_OK);
    cr_assert_eq(lade_bag_put_wait(h, &word, 0), LADE_TIMEOUT);
    begin = now();
    cr_assert_eq(lade_bag_put_wait(h, &word, while_), LADE_TIMEOUT);
    cr_assert_geq(now() - begin, while_);
    cr_assert_eq(lade_bag_draw_wait(h, &word, LADE_FOREVER), LADE_OK);
    word = 0;
    cr_assert_eq(lade_bag_put_wait(h, &word, LADE_FOREVER), LADE_INVALID);
    lade_bag_destroy(bag);
}

static int64_t processor_time(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/*
 * A wait that does not sleep uses all of this time, unless other threads have the processor; one that sleeps uses
 * almost none.
 */
Test(bag_wait, waiting_uses_no_processor_time)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1});
    struct lade_bag_handle *h = join_bag(bag);
    const int64_t while_ = 400 * 1000000;
    struct lade_loan loan;
    uint64_t word = 1;

    int64_t before = processor_time();
    cr_assert_eq(lade_bag_draw_wait(h, &word, while_), LADE_TIMEOUT);
    cr_assert_eq(lade_bag_sample_wait(h, &loan, while_), LADE_TIMEOUT);
    cr_assert_eq(lade_bag_put(h, &word), LADE_OK);
    cr_assert_eq(lade_bag_put_wait(h, &word, while_), LADE_TIMEOUT);
    cr_assert_lt(processor_time() - before, while_ / 2);
    lade_bag_destroy(bag);
}

Test(bag_wait, a_negative_time_is_over_at_once, .timeout = 20)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1});
    struct lade_bag_handle *h = join_bag(bag);
    const int64_t times[] = {LADE_FOREVER - 1, -1000000000, INT64_MIN};
    struct lade_loan loan;
    uint64_t word = 1;

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lade_bag_draw_wait(h, &word, times[i]), LADE_TIMEOUT);
        cr_assert_eq(lade_bag_sample_wait(h, &loan, times[i]), LADE_TIMEOUT);
        cr_assert_eq(lade_bag_exchange_wait(h, &word, &word, times[i]), LADE_TIMEOUT);
    }
    cr_assert_eq(put_word(h, 1), LADE_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(lade_bag_put_wait(h, &word, times[i]), LADE_TIMEOUT);
    lade_bag_destroy(bag);
}

Test(bag_wait, no_thread_waits_for_space_that_cannot_come, .timeout = 20)
{
    for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_UNIFORM; full++) {
        struct lade_bag *bag = make_bag((struct lade_bag_config){
            .capacity = 4, .full = (enum lade_bag_full)full, .byte_budget = 100, .bytes = word_bytes});
        struct lade_bag_handle *h = join_bag(bag);
        uint64_t large = 101, whole = 100;
        cr_assert_eq(lade_bag_put_wait(h, &large, LADE_FOREVER), LADE_FULL);
        cr_assert_eq(lade_bag_put_wait(h, &large, 0), LADE_FULL);
        cr_assert_eq(lade_bag_put_wait(h, &whole, LADE_FOREVER), LADE_OK);
        cr_assert_eq(lade_bag_put_wait(h, &large, LADE_FOREVER), LADE_FULL);
        cr_assert_eq(lade_bag_put_wait(h, &whole, 0), full == LADE_BAG_REJECT ? LADE_TIMEOUT : LADE_OK);
        lade_bag_destroy(bag);
    }
}

enum what { DRAWS, PUTS, SAMPLES, EXCHANGES };

struct waiter {
    struct lade_bag_handle *h;
    enum what what;
    int count;
    int status; /* of the last call */
    atomic_int done;
    uint64_t sum;
    pthread_t thread;
};

static int wait_once(struct waiter *w, uint64_t *word)
{
    struct lade_loan loan = {.word = 0};
    int status;

    switch (w->what) {
    case DRAWS:
        return lade_bag_draw_wait(w->h, word, LONG);
    case PUTS:
        return lade_bag_put_wait(w->h, word, LONG);
    case EXCHANGES:
        return lade_bag_exchange_wait(w->h, word, word, INT64_MAX); /* the longest time does not overflow */
    default:
        status = lade_bag_sample_wait(w->h, &loan, LONG);
        *word = loan.word;
        return status;
    }
}

/* Makes count calls, or stops at the first that does not return LADE_OK. Puts the words 1, 2, ... */
static void *wait_often(void *argument)
{
    struct waiter *w = argument;

    for (int i = 1; i <= w->count; i++) {
        uint64_t word = (uint64_t)i;
        w->status = wait_once(w, &word);
        if (w->status != LADE_OK)
            break;
        w->sum += word;
    }
    atomic_store(&w->done, 1);
    return NULL;
}

static void start(struct waiter *w, struct lade_bag *bag, enum what what, int count)
{
    memset(w, 0, sizeof *w);
    w->h = join_bag(bag);
    w->what = what;
    w->count = count;
    cr_assert_eq(pthread_create(&w->thread, NULL, wait_often, w), 0);
}

static int end(struct waiter *w)
{
    cr_assert_eq(pthread_join(w->thread, NULL), 0);
    lade_bag_leave(w->h);
    return w->status;
}

/* Both sides wait all the time; each is woken by the other. */
Test(bag_wait, puts_and_draws_wake_each_other)
{
    for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_UNIFORM; full++)
        for (uint64_t capacity = 1; capacity <= 3; capacity++) {
            struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = capacity, .handles = 4});
            struct waiter w[4];
            start(&w[0], bag, PUTS, 5000);
            start(&w[1], bag, DRAWS, 5000);
            start(&w[2], bag, PUTS, 5000);
            start(&w[3], bag, DRAWS, 5000);
            for (int i = 0; i < 4; i++)
                cr_assert_eq(end(&w[i]), LADE_OK);
            cr_assert_eq(w[1].sum + w[3].sum, 2 * (uint64_t)5000 * 5001 / 2);
            cr_assert_eq(stats_of(bag).held, 0);
            lade_bag_destroy(bag);
        }
}

/* Each may go ahead of the other by one. */
Test(bag_wait, puts_and_samples_wake_each_other_through_the_ratio)
{
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 5000, .samples_per_insert = 1, .ratio_slack = 1});
    struct waiter w[2];

    start(&w[0], bag, PUTS, 5000);
    start(&w[1], bag, SAMPLES, 5000);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(end(&w[i]), LADE_OK);
    lade_bag_destroy(bag);
}

static size_t one_byte(void *context, const void *element)
{
    (void)context;
    (void)element;
    return 1;
}

/* bytes() of words; a thread that the test blocks stops at the word 90. */
static sem_t held_up, go_on;
static _Thread_local bool to_stop;

static size_t held_up_bytes(void *context, const void *element)
{
    size_t size = word_bytes(context, element);

    if (to_stop && size == 90) {
        sem_post(&held_up);
        while (sem_wait(&go_on) != 0)
            continue;
    }
    return size;
}

struct putter {
    struct lade_bag_handle *h;
    uint64_t word;
    int64_t timeout;
    int status;
    pthread_t thread;
};

static void *put_held_up(void *argument)
{
    struct putter *p = argument;

    to_stop = p->timeout == 0;
    p->status = p->timeout == 0 ? lade_bag_put(p->h, &p->word) : lade_bag_put_wait(p->h, &p->word, p->timeout);
    return NULL;
}

/*
 * A put replaces the 90 in the only slot and stops before it subtracts these bytes. Another put exceeds the budget.
 * After it has evicted the element of the first put, there is nothing to evict. The first put then frees the bytes.
 */
Test(bag_wait, an_evicting_put_wakes_one_that_waits_for_the_budget)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){
        .capacity = 1, .handles = 3, .full = LADE_BAG_EVICT_UNIFORM, .byte_budget = 100, .bytes = held_up_bytes});
    struct putter first = {.h = join_bag(bag), .word = 5}, second = {.h = join_bag(bag), .word = 50, .timeout = LONG};

    cr_assert_eq(sem_init(&held_up, 0, 0), 0);
    cr_assert_eq(sem_init(&go_on, 0, 0), 0);
    cr_assert_eq(put_word(join_bag(bag), 90), LADE_OK);
    cr_assert_eq(pthread_create(&first.thread, NULL, put_held_up, &first), 0);
    while (sem_wait(&held_up) != 0)
        continue;
    uint64_t full = stats_of(bag).full;
    cr_assert_eq(pthread_create(&second.thread, NULL, put_held_up, &second), 0);
    struct lade_bag_stats c = {0};
    while (c.full < full + 2) { /* the second time it has announced that it waits */
        sched_yield();
        lade_bag_stats(bag, &c);
    }
    int64_t begin = now();
    sem_post(&go_on);
    cr_assert_eq(pthread_join(first.thread, NULL), 0);
    cr_assert_eq(pthread_join(second.thread, NULL), 0);
    cr_assert_eq(first.status, LADE_OK);
    cr_assert_eq(second.status, LADE_OK);
    cr_assert_lt(now() - begin, LONG / 2, "not told, it looks again when the time is over");
    cr_assert_eq(stats_of(bag).bytes, 50);
    lade_bag_destroy(bag);
}

Test(bag_wait, puts_and_draws_wake_each_other_through_the_budget)
{
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 100, .handles = 4, .byte_budget = 1, .bytes = one_byte});
    struct waiter w[4];

    start(&w[0], bag, PUTS, 5000);
    start(&w[1], bag, DRAWS, 5000);
    start(&w[2], bag, PUTS, 5000);
    start(&w[3], bag, DRAWS, 5000);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(end(&w[i]), LADE_OK);
    cr_assert_eq(stats_of(bag).bytes, 0);
    lade_bag_destroy(bag);
}

/* Whether they sleep already or are about to. */
Test(bag_wait, closing_wakes_all_threads)
{
    for (int round = 0; round < 300; round++) {
        struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1, .handles = 3});
        struct waiter w[3];
        start(&w[0], bag, DRAWS, 1);
        start(&w[1], bag, SAMPLES, 1);
        start(&w[2], bag, EXCHANGES, 1);
        if (round % 2)
            while (stats_of(bag).empty < 3) /* each has found the bag empty */
                continue;
        lade_bag_close(bag);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(end(&w[i]), LADE_CLOSED);
        lade_bag_destroy(bag);

        bag = make_bag((struct lade_bag_config){.capacity = 1, .handles = 2});
        start(&w[0], bag, PUTS, 3);
        start(&w[1], bag, PUTS, 3);
        lade_bag_close(bag);
        cr_assert_eq(end(&w[0]), LADE_CLOSED);
        cr_assert_eq(end(&w[1]), LADE_CLOSED);
        cr_assert_leq(stats_of(bag).held, 1);
        lade_bag_destroy(bag);
    }
}

Test(bag_wait, cancelling_ends_the_waiting_and_nothing_else)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1, .handles = 4});
    struct lade_bag_handle *h = join_bag(bag);
    struct waiter w[3];

    lade_bag_cancel(bag); /* no thread waits: no effect */
    for (int round = 0; round < 200; round++) {
        start(&w[0], bag, DRAWS, 1);
        start(&w[1], bag, SAMPLES, 1);
        start(&w[2], bag, EXCHANGES, 1);
        for (int i = 0; i < 3; i++) /* a call that has not begun to wait is not cancelled */
            while (!atomic_load(&w[i].done))
                lade_bag_cancel(bag);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(end(&w[i]), LADE_CANCELLED);
    }
    start(&w[0], bag, DRAWS, 1);
    cr_assert_eq(put_word(h, 7), LADE_OK);
    cr_assert_eq(end(&w[0]), LADE_OK, "later ones wait as usual");
    cr_assert_eq(put_word(h, 7), LADE_OK);
    start(&w[0], bag, PUTS, 1);
    while (!atomic_load(&w[0].done))
        lade_bag_cancel(bag);
    cr_assert_eq(end(&w[0]), LADE_CANCELLED);
    lade_bag_destroy(bag);
}

/* Criterion can end a test from its first thread only. */
static void check(bool good)
{
    if (!good)
        abort();
}

/* Threads that do everything at once. Each element comes out once. */
struct worker {
    struct lade_bag *bag;
    enum lade_bag_kind kind;
    enum lade_bag_full full;
    uint64_t first, last; /* numbers that this one puts */
    atomic_int *out;
    pthread_t thread;
};

static void note_out(struct worker *w, const union element *e)
{
    atomic_fetch_add(&w->out[finish_number(w->kind, e)], 1);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct lade_bag_handle *h = NULL;
    struct lade_loan loan;
    union element in, out;

    while (lade_bag_join(w->bag, &h) == LADE_TOO_MANY)
        continue;

    for (uint64_t n = w->first; n <= w->last;) {
        in = element_of(w->kind, n);
        bool exchange = n % 3 == 0 && w->full != LADE_BAG_EVICT_OLDEST;
        int status = exchange ? lade_bag_exchange(h, &in, &out) : lade_bag_put(h, &in);
        check(status == LADE_OK || status == (exchange ? LADE_EMPTY : LADE_FULL));
        if (exchange && status == LADE_EMPTY) {
            exchange = false;
            status = lade_bag_put(h, &in);
        }
        n += status == LADE_OK;
        if (exchange && status == LADE_OK)
            note_out(w, &out);
        if (n % 2 == 0 && lade_bag_sample(h, &loan) == LADE_OK) {
            check(number_of(w->kind, w->kind == LADE_BAG_RECORDS ? loan.record : &loan) <= NUMBERS);
            lade_bag_give_back(h, &loan);
        }
        if ((n % 5 == 0 || status != LADE_OK) && lade_bag_draw(h, &out) == LADE_OK)
            note_out(w, &out);
        if (n % 64 == 0) {
            lade_bag_leave(h);
            while (lade_bag_join(w->bag, &h) == LADE_TOO_MANY) /* handles may change owners during the search */
                continue;
        }
    }
    lade_bag_leave(h);
    return NULL;
}

static void drop_atomically(void *context, uint64_t word)
{
    atomic_fetch_add((atomic_int *)context + word, 1);
}

Test(bag_wait, threads_lose_nothing)
{
    enum { WORKERS = 4, EACH = 1000 };

    for (enum lade_bag_kind kind = LADE_BAG_WORDS; kind <= LADE_BAG_RECORDS; kind++)
        for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++)
            for (uint64_t capacity = 1; capacity <= 101; capacity += 50) {
                static atomic_int out[NUMBERS];
                struct worker w[WORKERS];
                for (int n = 0; n < NUMBERS; n++)
                    atomic_store(&out[n], 0);
                memset(objects, 0, sizeof objects);
                struct lade_bag *bag = make_bag((struct lade_bag_config){
                    .capacity = capacity,
                    .handles = WORKERS,
                    .kind = kind,
                    .full = (enum lade_bag_full)full,
                    .drop = kind == LADE_BAG_WORDS ? drop_atomically : NULL,
                    .context = out,
                });
                for (uint64_t i = 0; i < WORKERS; i++) {
                    w[i] = (struct worker){.bag = bag,
                                           .kind = kind,
                                           .full = (enum lade_bag_full)full,
                                           .first = i * EACH + 1,
                                           .last = (i + 1) * EACH,
                                           .out = out};
                    cr_assert_eq(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
                }
                for (int i = 0; i < WORKERS; i++)
                    cr_assert_eq(pthread_join(w[i].thread, NULL), 0);
                struct lade_bag_stats c = stats_of(bag);
                cr_assert_eq(c.put, WORKERS * EACH);
                cr_assert_eq(c.sampled, c.given_back);
                struct lade_bag_handle *h = join_bag(bag);
                uint64_t number = 0, left = 0, gone = 0;
                for (; draw_number(h, kind, &number) == LADE_OK; left++)
                    atomic_fetch_add(&out[number], 1);
                cr_assert_eq(left, c.held);
                cr_assert_leq(left, capacity);
                lade_bag_destroy(bag);
                for (int n = 1; n <= WORKERS * EACH; n++) {
                    cr_assert_leq(atomic_load(&out[n]), 1);
                    gone += (uint64_t)atomic_load(&out[n]);
                    if (kind == LADE_BAG_REFS)
                        cr_assert_eq(objects[n].released, 1);
                }
                cr_assert_eq(gone + (kind == LADE_BAG_WORDS ? 0 : c.evicted), WORKERS * EACH);
            }
}
