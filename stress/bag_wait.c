/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for each other at a bag: producers and consumers, also under signals, with a bag that is closed in
 * between, with waits that are cancelled, paced by the ratio of samples to puts or by a byte budget. All threads end,
 * and every element put with LADE_OK is drawn. A watchdog detects a thread that hangs.
 */
#include "bags.h"

#include "bag_elements.h"
#include "storm.h"

#include <sched.h>
#include <stdio.h>

enum { PEOPLE_MOST = 8, NUMBERS = 1 << 20, HANG_SECONDS = 20 };

static _Atomic uint32_t drawn_mark[NUMBERS];

/* Producers and consumers. */
struct market {
    struct lade_bag *bag;
    struct lade_bag_config config;
    uint64_t each;
    bool endless; /* producers continue until CLOSED */
    bool exchanges;
    bool pauses;
    bool put_first; /* it is closed after at least one put */
    _Atomic bool has_put;
};

struct person {
    struct market *market;
    unsigned number;
    bool produces;
    uint64_t random, put, drawn, wrong;
    int end;
    struct step_plan plan;
};

static void note_drawn(struct person *p, union element *e)
{
    uint64_t number = element_number(p->market->config.kind, e);

    p->drawn++;
    p->wrong += number == 0 || number >= NUMBERS ||
                atomic_exchange_explicit(&drawn_mark[number % NUMBERS], 1, memory_order_relaxed) != 0;
    element_drop(p->market->config.kind, e);
}

/* Some puts are made without waiting, some as exchange. */
static void produce(struct person *p, struct lade_bag_handle *handle)
{
    struct market *m = p->market;
    enum lade_bag_kind kind = m->config.kind;

    while (p->put < m->each) {
        union element e, out;
        bool traded = m->exchanges && check_below(&p->random, 4) == 0;
        element_make(kind, &e, p->number * m->each + p->put + 1);
        p->end = traded                       ? lade_bag_exchange(handle, &e, &out)
                 : check_below(&p->random, 8) ? lade_bag_put_wait(handle, &e, LADE_FOREVER)
                                              : lade_bag_put(handle, &e);
        if (p->end != LADE_OK)
            element_drop(kind, &e);
        else if (p->put++ == 0)
            atomic_store_explicit(&m->has_put, true, memory_order_relaxed);
        if (p->end == LADE_OK && traded)
            note_drawn(p, &out);
        if (p->end == LADE_CLOSED)
            return;
        p->wrong += p->end != LADE_OK && p->end != LADE_FULL && p->end != LADE_EMPTY;
    }
}

static void consume(struct person *p, struct lade_bag_handle *handle)
{
    for (;;) {
        union element e;
        p->end = lade_bag_draw_wait(handle, &e, LADE_FOREVER);
        if (p->end != LADE_OK)
            return;
        note_drawn(p, &e);
    }
}

static void *person_body(void *arg)
{
    struct person *p = arg;
    struct lade_bag_handle *handle = bag_enter(p->market->bag);

    p->plan.pauses = p->market->pauses ? p->random | 1 : 0;
    step_plan = &p->plan;
    if (p->produces)
        produce(p, handle);
    else
        consume(p, handle);
    step_plan = NULL;
    lade_bag_leave(handle);
    return NULL;
}

struct outcome {
    uint64_t put, drawn, evicted, wrong, unended, left, unequal;
};

/* Runs it; the bag is closed when the producers are done, or after that many nanoseconds. */
static void hold_market(struct market *m, unsigned producers, unsigned consumers, int64_t close_after,
                        struct outcome *sum)
{
    static struct person person[PEOPLE_MOST];
    pthread_t thread[PEOPLE_MOST];
    uint64_t random = check_seed() ^ sum->put, put = 0, drawn = 0, left = 0;
    struct lade_bag_stats counts;

    elements_begin(NULL);
    for (uint64_t i = 0; i < producers * m->each + 1; i++)
        atomic_store_explicit(&drawn_mark[i], 0, memory_order_relaxed);
    m->config.handles = producers + consumers + 1;
    m->config.seed = check_next(&random);
    m->bag = bag_make(&m->config);
    for (unsigned i = 0; i < producers + consumers; i++) {
        person[i] = (struct person){.market = m, .number = i, .produces = i < producers, .random = check_next(&random)};
        if (pthread_create(&thread[i], NULL, person_body, &person[i]) != 0)
            exit(2);
    }
    if (m->endless)
        sleep_for(close_after);
    while (m->put_first && !atomic_load_explicit(&m->has_put, memory_order_relaxed))
        sched_yield();
    for (unsigned i = 0; i < producers && !m->endless; i++)
        (void)pthread_join(thread[i], NULL);
    lade_bag_close(m->bag);
    for (unsigned i = m->endless ? 0 : producers; i < producers + consumers; i++)
        (void)pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < producers + consumers; i++) {
        put += person[i].put;
        drawn += person[i].drawn;
        sum->wrong += person[i].wrong;
        sum->unended += (m->endless || i >= producers) && person[i].end != LADE_CLOSED && person[i].put < m->each;
    }
    struct lade_bag_handle *handle = bag_enter(m->bag);
    union element e;
    while (lade_bag_draw(handle, &e) == LADE_OK) {
        left++;
        element_drop(m->config.kind, &e);
    }
    element_make(m->config.kind, &e, 1);
    sum->wrong += lade_bag_put(handle, &e) != LADE_CLOSED;
    element_drop(m->config.kind, &e);
    lade_bag_stats(m->bag, &counts);
    sum->unequal +=
        counts.put != put || counts.put != counts.drawn + counts.evicted || put != drawn + counts.evicted + left;
    sum->left += left;
    sum->put += put;
    sum->drawn += drawn;
    sum->evicted += counts.evicted;
    lade_bag_leave(handle);
    lade_bag_destroy(m->bag);
    sum->wrong += atomic_load(&elements.made) != atomic_load(&elements.released) || atomic_load(&elements.torn) != 0;
}

/* Only an exchange or an evicting put that is in progress when the bag is closed may leave its element in the bag. */
static bool is_fine(const struct outcome *o, bool may_leave)
{
    return o->wrong == 0 && o->unended == 0 && (o->left == 0 || may_leave) && o->unequal == 0 && o->put > 0;
}

static void markets(const char *name)
{
    static const uint64_t capacity[] = {1, 3, 64};

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        struct outcome sum = {0};
        for (unsigned c = 0; c < 3; c++) {
            for (unsigned people = 0; people < 3; people++) {
                struct market m = {.config = elements_config(kind, LADE_BAG_REJECT, capacity[c], 0),
                                   .each = (check_full() ? 50000u : 3000u) / SLOW,
                                   .pauses = people != 1};
                check_within(HANG_SECONDS * (check_full() ? 10 : 3), "producers and consumers");
                hold_market(&m, 1 + people, 3 - people, 0, &sum);
            }
        }
        check(is_fine(&sum, false), name,
              "%s: %llu put and %llu drawn by waiting threads, %llu wrong, %llu left behind, %llu did not end with "
              "CLOSED",
              kind_name[kind], (unsigned long long)sum.put, (unsigned long long)sum.drawn,
              (unsigned long long)sum.wrong, (unsigned long long)sum.left, (unsigned long long)sum.unended);
    }
}

static void closed_in_between(void)
{
    uint64_t random = check_seed();

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        for (unsigned full = 0; full <= LADE_BAG_EVICT_OLDEST; full++) {
            struct outcome sum = {0}, traded = {0};
            unsigned rounds = (check_full() ? 5000u : 120u) / SLOW;
            for (unsigned round = 0; round < rounds; round++) {
                struct market m = {.config = elements_config(kind, full, 1 + round % 5, 0),
                                   .each = 20000,
                                   .endless = true,
                                   .exchanges = full != LADE_BAG_EVICT_OLDEST && round % 2,
                                   .pauses = true,
                                   .put_first = round < 2};
                check_within(HANG_SECONDS, "close among producers and consumers");
                hold_market(&m, 3, 1 + round / 2 % 2, 1000 * (int64_t)check_below(&random, 1000),
                            m.exchanges ? &traded : &sum);
            }
            bool fine = is_fine(&sum, full == LADE_BAG_EVICT_UNIFORM);
            fine = fine && (full == LADE_BAG_EVICT_OLDEST || is_fine(&traded, true));
            check(
                fine, "close",
                "%s, %s: %u bags closed in between, %llu put, %llu drawn, %llu evicted, %llu wrong, %llu left behind, "
                "%llu did not end with CLOSED; with exchanges %llu put, %llu wrong, %llu left behind",
                kind_name[kind], full_name[full], rounds, (unsigned long long)sum.put, (unsigned long long)sum.drawn,
                (unsigned long long)sum.evicted, (unsigned long long)(sum.wrong + sum.unequal),
                (unsigned long long)sum.left, (unsigned long long)sum.unended, (unsigned long long)traded.put,
                (unsigned long long)(traded.wrong + traded.unequal), (unsigned long long)traded.left);
        }
    }
}

static size_t one_byte(void *context, const void *element)
{
    (void)context;
    (void)element;
    return 1;
}

/* Puts and samples wait for each other by the ratio limit, puts and draws by the byte budget. All waits end. */
struct pacer {
    struct lade_bag *bag;
    enum { PACE_PUT, PACE_SAMPLE, PACE_DRAW } what;
    uint64_t count, wrong;
    struct step_plan plan;
};

static void *pacer_body(void *arg)
{
    struct pacer *p = arg;
    struct lade_bag_handle *handle = bag_enter(p->bag);

    p->plan.pauses = (uint64_t)(uintptr_t)arg | 1;
    step_plan = &p->plan;
    for (uint64_t i = 0; i < p->count; i++) {
        uint64_t word = i + 1;
        struct lade_loan loan;
        p->wrong += (p->what == PACE_PUT      ? lade_bag_put_wait(handle, &word, LADE_FOREVER)
                     : p->what == PACE_SAMPLE ? lade_bag_sample_wait(handle, &loan, LADE_FOREVER)
                                              : lade_bag_draw_wait(handle, &word, LADE_FOREVER)) != LADE_OK;
    }
    step_plan = NULL;
    lade_bag_leave(handle);
    return NULL;
}

static void paced(bool by_ratio)
{
    enum { THREADS = 4 };
    unsigned rounds = (check_full() ? 500u : 30u) / (SLOW > 5 ? 5 : 1);
    uint64_t wrong = 0, count = 600 / (SLOW > 5 ? 3u : 1u);

    check_within(HANG_SECONDS * (check_full() ? 20 : 3), by_ratio ? "waiting for the ratio" : "waiting for bytes");
    for (unsigned round = 0; round < rounds; round++) {
        static struct pacer pacer[THREADS];
        struct lade_bag_config config =
            elements_config(LADE_BAG_WORDS, by_ratio ? LADE_BAG_EVICT_UNIFORM : LADE_BAG_REJECT, 100, THREADS);
        config.drop = NULL;
        config.samples_per_insert = by_ratio ? 2 : 0;
        config.ratio_slack = by_ratio ? 2 : 0;
        config.bytes = by_ratio ? NULL : one_byte;
        config.byte_budget = by_ratio ? 0 : 2;
        struct lade_bag *bag = bag_make(&config);
        for (unsigned i = 0; i < THREADS; i++)
            pacer[i] = (struct pacer){.bag = bag,
                                      .what = i % 2 == 0 ? PACE_PUT
                                              : by_ratio ? PACE_SAMPLE
                                                         : PACE_DRAW,
                                      .count = i % 2 == 1 && by_ratio ? 2 * count : count};
        check_threads(THREADS, pacer_body, pacer, sizeof *pacer);
        for (unsigned i = 0; i < THREADS; i++)
            wrong += pacer[i].wrong;
        lade_bag_destroy(bag);
    }
    check(wrong == 0, "waiting", "%s: %u times %d threads pace each other to the end, %llu wrong answers",
          by_ratio ? "2 samples for each put" : "a budget of 2 bytes", rounds, (int)THREADS, (unsigned long long)wrong);
}

/* Waits are cancelled again and again; each ends, and elements still arrive. */
struct patient {
    struct lade_bag *bag;
    uint64_t cancelled, drawn, other;
};

static void *patient_body(void *arg)
{
    struct patient *p = arg;
    struct lade_bag_handle *handle = bag_enter(p->bag);
    uint64_t word;

    for (int status = LADE_OK; status != LADE_CLOSED;) {
        status = lade_bag_draw_wait(handle, &word, LADE_FOREVER);
        p->cancelled += status == LADE_CANCELLED;
        p->drawn += status == LADE_OK;
        p->other += status != LADE_OK && status != LADE_CANCELLED && status != LADE_CLOSED;
    }
    lade_bag_leave(handle);
    return NULL;
}

static void cancelled(void)
{
    enum { THREADS = 3 };
    static struct patient patient[THREADS];
    struct lade_bag_config config = elements_config(LADE_BAG_WORDS, LADE_BAG_REJECT, 10, THREADS + 1);
    pthread_t thread[THREADS];
    uint64_t rounds = (check_full() ? 20000u : 500u) / SLOW, put = 0, drawn = 0, others = 0, ended = 0;

    check_within(HANG_SECONDS * 3, "cancel");
    config.drop = NULL;
    struct lade_bag *bag = bag_make(&config);
    struct lade_bag_handle *handle = bag_enter(bag);
    for (unsigned i = 0; i < THREADS; i++) {
        patient[i] = (struct patient){.bag = bag};
        if (pthread_create(&thread[i], NULL, patient_body, &patient[i]) != 0)
            exit(2);
    }
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t word = i + 1;
        lade_bag_cancel(bag);
        if (i % 3 == 0)
            put += lade_bag_put_wait(handle, &word, LADE_FOREVER) == LADE_OK;
        sleep_for(20000);
    }
    lade_bag_close(bag);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(thread[i], NULL);
        drawn += patient[i].drawn;
        others += patient[i].other;
        ended += patient[i].cancelled;
    }
    check(drawn == put && others == 0 && ended > 0, "cancel",
          "%llu times with %d threads waiting: %llu waits ended, %llu of %llu elements drawn, %llu other answers",
          (unsigned long long)rounds, (int)THREADS, (unsigned long long)ended, (unsigned long long)drawn,
          (unsigned long long)put, (unsigned long long)others);
    lade_bag_leave(handle);
    lade_bag_destroy(bag);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    check_begin(argc, argv);
    cancelled();
    paced(true);
    paced(false);
    markets("waiting");
    begin_storm(&thread, true);
    markets("waiting under signals");
    end_storm(thread);
    closed_in_between();
    check_within(0, NULL);
    return check_end();
}
