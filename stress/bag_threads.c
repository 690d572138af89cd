/* SPDX-License-Identifier: MIT */
/*
 * Is each element of the bag equally likely while several threads use it? 2, 4 and 8 of them. Null hypothesis, false
 * alarms and power: chi.h and bag_trial.h; the samplers that must fail: bag_samplers.c.
 *
 * The counts never depend on the progress of a thread, only on the results of its draws: threads make a fixed number of
 * draws, or continue until another thread ends that does not depend on their draws.
 */
#define _GNU_SOURCE
#include "bag_trial.h"
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 8, QUARTERS = 4, HAND = 32, STEP = 256, SAMPLES = 4 * STEP };

struct crew;

struct member {
    struct crew *crew;
    struct sampler s;
    unsigned number;
    uint64_t *drawn; /* by slot or word */
    uint64_t pair[QUARTERS * QUARTERS];
    uint64_t errors, hits;
};

struct crew {
    struct trial *trial;
    unsigned threads;
    struct member member[MOST_THREADS];
    _Atomic uint32_t *slot; /* of each word */
    _Atomic uint64_t *born; /* the same for the time of its put */
    _Atomic uint64_t clock, samples;
    _Atomic bool done, enough;
    pthread_barrier_t barrier;
};

#define PENDING UINT32_MAX

/* A handle for each, and counts for cells cells. The sampler is open in the first one. */
static void gather(struct crew *c, struct trial *t, size_t cells)
{
    c->trial = t;
    c->threads = t->set.handles;
    c->member[0].s = sampler_open(&t->set);
    for (unsigned i = 0; i < c->threads; i++) {
        struct member *m = &c->member[i];
        m->crew = c;
        m->number = i;
        m->drawn = check_memory(cells, sizeof *m->drawn);
        if (i > 0)
            m->s = sampler_join(&c->member[0].s, i);
    }
}

static void work(struct crew *c, void *(*body)(void *))
{
    check_threads(c->threads, body, c->member, sizeof *c->member);
}

/* Adds the counts of all threads to the first one. */
static void dismiss(struct crew *c, size_t cells)
{
    for (unsigned i = 0; i < c->threads; i++) {
        struct member *m = &c->member[i];
        c->trial->errors += m->errors + m->s.errors;
        for (size_t j = 0; i > 0 && j < cells; j++)
            c->member[0].drawn[j] += m->drawn[j];
        for (size_t j = 0; i > 0 && j < QUARTERS * QUARTERS; j++)
            c->member[0].pair[j] += m->pair[j];
        if (i > 0) {
            sampler_leave(&m->s);
            free(m->drawn);
        }
    }
    sampler_close(&c->member[0].s);
}

/* All threads sample. */
static void *sample_body(void *arg)
{
    struct member *m = arg;
    uint64_t capacity = m->crew->trial->scene.capacity, draws = m->crew->trial->draws / m->crew->threads;

    for (uint64_t i = 0; i < draws && m->s.errors == 0; i++) {
        uint64_t word = sampler_sample(&m->s);
        m->drawn[word - 1 < capacity ? word - 1 : capacity]++;
    }
    return NULL;
}

/*
 * All threads draw and put back. A preempted thread withholds a word from the others. With n words and at most h
 * withheld during N draws this raises the variance of a class by less than h N / n^2 of itself: n is large here.
 */
static void *draw_body(void *arg)
{
    struct member *m = arg;
    uint64_t capacity = m->crew->trial->scene.capacity, draws = m->crew->trial->draws / m->crew->threads;

    for (uint64_t i = 0; i < draws && m->s.errors == 0; i++) {
        uint64_t word = sampler_draw(&m->s);
        m->drawn[word - 1 < capacity ? word - 1 : capacity]++;
        if (word)
            sampler_put(&m->s, word);
    }
    return NULL;
}

/*
 * All threads exchange, or put into a full bag. The test counts slots: a word that is put gets the slot of the one that
 * it replaced, as soon as the thread knows it. Until then it is PENDING, and a thread that draws it waits for that.
 */
static void *exchange_body(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    bool evicts = c->trial->set.full == LADE_BAG_EVICT_UNIFORM;
    uint64_t capacity = c->trial->scene.capacity, draws = c->trial->draws / c->threads,
             spare = capacity + 1 + m->number;

    for (uint64_t i = 0; i < draws; i++) {
        uint32_t slot;
        atomic_store_explicit(&c->slot[spare], PENDING, memory_order_relaxed);
        uint64_t word = evicts ? sampler_put_evicting(&m->s, spare) : sampler_exchange(&m->s, spare);
        if (word == 0 || word > capacity + c->threads) {
            m->errors++;
            break;
        }
        while ((slot = atomic_load_explicit(&c->slot[word], memory_order_acquire)) == PENDING)
            (void)sched_yield();
        m->drawn[slot]++;
        atomic_store_explicit(&c->slot[spare], slot, memory_order_release);
        spare = word;
    }
    atomic_store_explicit(&c->slot[spare], (uint32_t)capacity, memory_order_release);
    return NULL;
}

static void still(struct trial *t, void *(*body)(void *))
{
    struct crew c = {0};
    uint64_t capacity = t->scene.capacity;

    gather(&c, t, (size_t)capacity + 1);
    trial_arrange(t, &c.member[0].s);
    c.slot = check_memory((size_t)(capacity + 1 + c.threads), sizeof *c.slot);
    for (uint64_t word = 1; word <= capacity; word++)
        atomic_store(&c.slot[word], (uint32_t)(word - 1));
    work(&c, body);
    t->scanned = sampler_scanned(&c.member[0].s);
    dismiss(&c, (size_t)capacity + 1);
    t->errors += c.member[0].drawn[capacity];
    trial_classify(t, c.member[0].drawn);
    free(c.member[0].drawn);
    free(c.slot);
}

/*
 * A static population inside a churning one. Every other word stays. Half of the threads sample; the others draw, keep
 * some of the removable words for a while, and put the static ones back at once. A sample that hits the static
 * population is uniform over it. For words that a thread keeps while it is preempted see draw_body(). No thread churns
 * more often than others sample: the samplers that must fail have a lock, which one thread would get again and again.
 */
static bool stays(uint64_t word)
{
    return word % 2 == 1;
}

static void churn(struct member *m)
{
    struct crew *c = m->crew;
    uint64_t state = c->trial->set.seed + m->number, hand[HAND], held = 0;

    for (uint64_t i = 0; !atomic_load_explicit(&c->done, memory_order_relaxed) && m->s.errors == 0; i++) {
        while (i % STEP == 0 && atomic_load(&c->samples) < i && !atomic_load(&c->done))
            (void)sched_yield();
        if (held < HAND && check_next(&state) % 2 == 0) {
            uint64_t word = sampler_draw(&m->s);
            if (word == 0)
                break;
            hand[held++] = word;
            if (stays(word))
                sampler_put(&m->s, hand[--held]);
        } else if (held > 0) {
            sampler_put(&m->s, hand[--held]);
        }
    }
}

static void *churn_body(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    uint64_t capacity = c->trial->set.capacity;
    size_t before = QUARTERS;

    if (m->number % 2 == 1) {
        churn(m);
        return NULL;
    }
    for (uint64_t i = 1; m->hits < c->trial->draws / (c->threads / 2) && m->s.errors == 0; i++) {
        uint64_t word = sampler_sample(&m->s);
        if (i % STEP == 0)
            atomic_fetch_add(&c->samples, STEP);
        if (word == 0 || !stays(word))
            continue;
        size_t quarter = trial_part(word - 1, capacity, QUARTERS);
        m->drawn[word - 1]++;
        m->hits++;
        if (before < QUARTERS) {
            m->pair[before * QUARTERS + quarter]++;
            before = QUARTERS;
        } else {
            before = quarter;
        }
    }
    if (atomic_fetch_add(&c->clock, 1) + 1 == c->threads / 2)
        atomic_store(&c->done, true);
    return NULL;
}

static bool holds_even(uint64_t slot, uint64_t capacity)
{
    return slot < capacity && stays(slot + 1);
}

static void churning(struct trial *t, void *(*body)(void *))
{
    struct crew c = {0};
    uint64_t capacity = t->set.capacity;

    gather(&c, t, (size_t)capacity);
    for (uint64_t word = 1; word <= capacity; word++)
        sampler_put(&c.member[0].s, word);
    work(&c, body);
    dismiss(&c, (size_t)capacity);
    t->scene.holds = holds_even;
    trial_classify(t, c.member[0].drawn);
    if (t->by != BY_PLACE) {
        struct table *table = trial_table(t, QUARTERS * QUARTERS, "next draw");
        for (size_t i = 0; i < QUARTERS * QUARTERS; i++) {
            table->count[i] = c.member[0].pair[i];
            table->weight[i] = 1;
        }
    }
    free(c.member[0].drawn);
}

/*
 * The bag grows from its first quarter to full, again and again; samples of that first quarter are uniform over it. Puts wait
 * for samples, four for each, so that the number of rounds does not depend on how quickly threads are woken.
 */
static void grow(struct crew *c)
{
    uint64_t capacity = c->trial->set.capacity, total = 0;

    for (;;) {
        struct sampler *s = &c->member[0].s;
        (void)pthread_barrier_wait(&c->barrier);
        for (uint64_t word = capacity / 4 + 1; word <= capacity; word++) {
            sampler_put(s, word);
            while (word % STEP == 0 && atomic_load(&c->samples) < (word - capacity / 4) / STEP * SAMPLES)
                (void)sched_yield();
        }
        atomic_store(&c->done, true);
        (void)pthread_barrier_wait(&c->barrier);
        total = 0;
        for (unsigned i = 0; i < c->threads; i++) {
            struct member *m = &c->member[i];
            m->errors += m->s.errors;
            total += m->hits;
            if (i > 0)
                sampler_leave(&m->s);
        }
        if (total >= c->trial->draws || c->member[0].errors + c->member[1].errors > 0)
            break;
        sampler_close(s);
        c->trial->set.seed++;
        *s = sampler_open(&c->trial->set);
        for (uint64_t word = 1; word <= capacity / 4; word++)
            sampler_put(s, word);
        for (unsigned i = 1; i < c->threads; i++)
            c->member[i].s = sampler_join(s, i);
        atomic_store(&c->samples, 0);
        atomic_store(&c->done, false);
    }
    for (unsigned i = 1; i < c->threads; i++) /* dismiss() ends them */
        c->member[i].s = sampler_join(&c->member[0].s, i);
    for (unsigned i = 0; i < c->threads; i++)
        c->member[i].s.errors = 0;
    atomic_store(&c->enough, true);
    (void)pthread_barrier_wait(&c->barrier);
}

static void *growth_body(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    uint64_t capacity = c->trial->set.capacity, first = capacity / 4;

    if (m->number == 0) {
        grow(c);
        return NULL;
    }
    for (;;) {
        (void)pthread_barrier_wait(&c->barrier);
        if (atomic_load(&c->enough))
            return NULL;
        for (uint64_t i = 1; !atomic_load_explicit(&c->done, memory_order_relaxed) && m->s.errors == 0; i++) {
            uint64_t word = sampler_sample(&m->s);
            if (word - 1 < first) {
                m->drawn[word - 1]++;
                m->hits++;
            }
            if (i % STEP == 0 && atomic_fetch_add(&c->samples, STEP) >= capacity / STEP * SAMPLES)
                (void)sched_yield();
        }
        if (m->s.errors > 0)
            atomic_fetch_add(&c->samples, capacity * SAMPLES); /* the puts continue without it */
        (void)pthread_barrier_wait(&c->barrier);
    }
}

static bool holds_first_quarter(uint64_t slot, uint64_t capacity)
{
    return slot < capacity / 4;
}

static void growing(struct trial *t, void *(*body)(void *))
{
    struct crew c = {0};
    uint64_t capacity = t->set.capacity;

    gather(&c, t, (size_t)capacity);
    for (uint64_t word = 1; word <= capacity / 4; word++)
        sampler_put(&c.member[0].s, word);
    (void)pthread_barrier_init(&c.barrier, NULL, c.threads);
    work(&c, body);
    (void)pthread_barrier_destroy(&c.barrier);
    dismiss(&c, (size_t)capacity);
    t->scene.holds = holds_first_quarter;
    trial_classify(t, c.member[0].drawn);
    free(c.member[0].drawn);
}

/*
 * All threads exchange. Null: each exchange takes a given element out of n with probability 1/n, so that an element is
 * older than a exchanges with probability (1 - 1/n)^a. Time is a shared counter. When a thread was preempted between
 * reading it and the exchange, or right after it, neither element counts.
 */
static size_t class_of_age(uint64_t age, uint64_t n)
{
    double left = exp(-(double)age / (double)n);

    return left < 1.0 / TRIAL_CLASSES ? TRIAL_CLASSES - 1 : (size_t)((1 - left) * TRIAL_CLASSES);
}

static void *age_body(void *arg)
{
    enum { AT_ONCE = 4 * MOST_THREADS };
    struct member *m = arg;
    struct crew *c = m->crew;
    uint64_t n = c->trial->set.capacity, draws = c->trial->draws / c->threads, spare = n + 1 + m->number;

    while (m->hits < draws) {
        uint64_t now = atomic_fetch_add_explicit(&c->clock, 1, memory_order_relaxed);
        atomic_store_explicit(&c->born[spare], now, memory_order_relaxed);
        uint64_t word = sampler_exchange(&m->s, spare);
        if (word == 0 || word > n + c->threads) {
            m->errors++;
            break;
        }
        uint64_t born = atomic_load_explicit(&c->born[word], memory_order_relaxed);
        if (atomic_load_explicit(&c->clock, memory_order_relaxed) - now > AT_ONCE) {
            atomic_store_explicit(&c->born[spare], 0, memory_order_relaxed);
        } else if (born > 0) {
            m->drawn[class_of_age(now > born ? now - born - 1 : 0, n)]++;
            m->hits++;
        }
        spare = word;
    }
    return NULL;
}

static void aging(struct trial *t, void *(*body)(void *))
{
    struct crew c = {0};
    uint64_t n = t->set.capacity;

    gather(&c, t, TRIAL_CLASSES);
    c.born = check_memory((size_t)(n + 1 + c.threads), sizeof *c.born);
    for (uint64_t word = 1; word <= n; word++) /* births unknown */
        sampler_put(&c.member[0].s, word);
    atomic_store(&c.clock, 1);
    work(&c, body);
    dismiss(&c, TRIAL_CLASSES);
    struct table *table = trial_table(t, TRIAL_CLASSES, "by age");
    table->sharp = true;
    for (size_t i = 0; i < TRIAL_CLASSES; i++) {
        /* The ages of a class: from the first one that is in it. Small n would make 1 - 1/n differ from exp(-1/n). */
        double from = ceil(-(double)n * log1p(-(double)i / TRIAL_CLASSES)),
               to = ceil(-(double)n * log1p(-(double)(i + 1) / TRIAL_CLASSES)), stay = log1p(-1 / (double)n);
        table->weight[i] = exp(from * stay) - (i + 1 < TRIAL_CLASSES ? exp(to * stay) : 0);
        table->count[i] = c.member[0].drawn[i];
    }
    free(c.member[0].drawn);
    free(c.born);
}

/* The threads of a control share one processor: on two they would spend minutes handing its lock to each other. */
static void test_control(struct trial *t, void (*test)(struct trial *, void *(*)(void *)), void *(*body)(void *))
{
    cpu_set_t all, one;
    size_t processor = 0;

    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        test(t, body);
        return;
    }
    while (!CPU_ISSET(processor, &all))
        processor++;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    test(t, body);
    (void)sched_setaffinity(0, sizeof all, &all);
}

static void run(const char *name, unsigned threads, struct trial t, void (*test)(struct trial *, void *(*)(void *)),
                void *(*body)(void *))
{
    static uint64_t number;
    char text[80];

    (void)snprintf(text, sizeof text, "%s, %u threads", name, threads);
    t.name = text;
    t.set.handles = threads;
    t.set.seed = check_seed() + number++ * UINT64_C(0x9E3779B97F4A7C15);
    t.set.capacity = t.scene.capacity;
    t.draws *= check_full() && !trial_is_control(&t) ? 8 : 1;
    if (trial_is_control(&t))
        test_control(&t, test, body);
    else
        test(&t, body);
    trial_judge(&t);
}

static struct trial trial_of(enum subject subject, struct scene scene, unsigned by, uint64_t draws)
{
    return (struct trial){
        .set = {.subject = subject}, .scene = scene, .by = by, .sharp = by & ~(unsigned)BY_ITEM, .draws = draws};
}

static void stills(void)
{
    const struct scene full = {"8 groups, full", 500, holds_all}, large = {"64000 slots, full", 64000, holds_all},
                       half = {"64000 slots, 50 %", 64000, holds_half},
                       tenth = {"64000 slots, 10 %", 64000, holds_tenth},
                       hundredth = {"1600 slots, 1 %", 1600, holds_hundredth},
                       few = {"4 elements in 2048 slots", 2048, holds_few};
    const unsigned usual = BY_POSITION | BY_PLACE, all = usual | BY_GROUP;
    const uint64_t groups = trial_draws(8, 52.0 / 500), eighths = trial_draws(8, 0.125), uneven = trial_draws(8, 0.11),
                   quarters = trial_draws(4, 0.25);
    struct trial t;

    for (unsigned threads = 2; threads <= MOST_THREADS; threads *= 2) {
        run("sample", threads, trial_of(BAG, full, all, groups), still, sample_body);
        run("draw", threads, trial_of(BAG, large, usual, eighths), still, draw_body);
        t = trial_of(BAG, large, usual, eighths);
        run("exchange", threads, t, still, exchange_body);
        t.set.full = LADE_BAG_EVICT_UNIFORM;
        run("put that evicts", threads, t, still, exchange_body);
    }
    run("draw", 4, trial_of(BAG, half, usual, uneven), still, draw_body);
    run("exchange", 2, trial_of(BAG, tenth, usual, uneven), still, exchange_body);
    t = trial_of(BAG, hundredth, BY_POSITION, quarters);
    t.classes = 4;
    run("sample", 4, t, still, sample_body);
    t = trial_of(BAG, few, BY_ITEM, quarters);
    t.must_scan = true;
    run("sample", 2, t, still, sample_body);
    run("sample, records", 2, trial_of(BAG_RECORDS, full, usual, groups), still, sample_body);
    run("draw, refs", 2, trial_of(BAG_REFS, large, usual, eighths), still, draw_body);

    run("sample, recent favoured", 2, trial_of(RECENT, full, BY_POSITION, groups), still, sample_body);
    run("sample, skip if locked", 2, trial_of(SKIP_LOCKED, full, BY_GROUP, groups), still, sample_body);
    run("draw, place favoured", 2, trial_of(FAVOURED_PLACE, large, BY_PLACE, eighths), still, draw_body);
    t = trial_of(FAVOURED_PLACE, large, BY_PLACE, eighths);
    run("exchange, place favoured", 2, t, still, exchange_body);
    t.set.full = LADE_BAG_EVICT_UNIFORM;
    run("put that evicts, place favoured", 2, t, still, exchange_body);
}

static void moving(void)
{
    const struct scene mixed = {"static half of 64000", 64000, NULL}, quarter = {"first quarter", 2048, NULL},
                       steady = {"2000 elements", 2000, NULL};
    const unsigned usual = BY_POSITION | BY_PLACE;
    const uint64_t eighths = trial_draws(8, 0.125), aged = chi_draws(7, 0.125, 0.8 * TRIAL_BIAS, TRIAL_POWER);

    for (unsigned threads = 2; threads <= MOST_THREADS; threads *= 2) {
        run("sample while others draw and put", threads, trial_of(BAG, mixed, usual, eighths), churning, churn_body);
        run("sample while another puts", threads, trial_of(BAG, quarter, usual, eighths), growing, growth_body);
        run("exchange", threads, trial_of(BAG, steady, 0, aged), aging, age_body);
    }
    run("sample records while others draw and put", 2, trial_of(BAG_RECORDS, mixed, usual, eighths), churning,
        churn_body);
    run("sample while others draw and put, place favoured", 2, trial_of(FAVOURED_PLACE, mixed, BY_PLACE, eighths),
        churning, churn_body);
    run("sample while another puts, place favoured", 2, trial_of(FAVOURED_PLACE, quarter, BY_PLACE, eighths), growing,
        growth_body);
    run("exchange, recent favoured", 2, trial_of(RECENT, steady, 0, aged), aging, age_body);
    struct trial t = trial_of(REPEATS, mixed, 0, eighths);
    t.set.strength = TRIAL_BIAS; /* 3 % more pairs of equal quarters */
    run("sample while others draw and put, repeats", 2, t, churning, churn_body);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    stills();
    moving();
    chi_budget();
    return check_end();
}
