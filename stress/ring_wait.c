/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for each other at a ring: producers and consumers with random pauses at each step, timeouts,
 * cancels that come all the time, signals, and a ring that is closed in between. All threads end, every word pushed
 * with LADE_OK is popped once and in order, and counts stay within their bounds. A watchdog detects a thread that
 * hangs.
 */
#include "steps.h"

#include "../lib/event.c"
#include "../lib/ring.c"
#include "../lib/ring_count.c"
#include "../lib/ring_wait.c"

#include "storm.h"

enum { PEOPLE_MOST = 8, EACH_MOST = 1 << 16, HANG_SECONDS = 60 };
#define WORD(producer, number) ((uint64_t)(producer) << 32 | (number))

/* Bounds observed from outside: the words of pushes and pops that have begun and that are complete. */
struct progress {
    _Alignas(128) _Atomic int64_t begun;
    _Alignas(128) _Atomic int64_t done;
};

struct market {
    struct lade_spsc *spsc; /* one of the two */
    struct lade_mpmc *mpmc;
    uint64_t capacity, each;
    bool endless; /* producers continue until CLOSED */
    bool cancels, pauses;
    struct progress pushes, pops;
    _Atomic bool over;
};

struct person {
    struct market *market;
    struct lade_mpmc_handle *handle;
    unsigned number;
    bool produces;
    uint64_t random, moved, wrong, cancelled, timeouts;
    uint32_t next[PEOPLE_MOST]; /* of each producer, by this consumer */
    uint64_t got[PEOPLE_MOST];
    int end;
    struct step_plan plan;
};

/* Half of the waits are unbounded, the others short. */
static int64_t some_timeout(struct person *p)
{
    unsigned r = check_below(&p->random, 4);

    return r < 2 ? LADE_FOREVER : r == 2 ? 0 : (int64_t)check_below(&p->random, 50000);
}

static int push_some(struct person *p, uint64_t word)
{
    struct market *m = p->market;

    if (check_below(&p->random, 8) == 0)
        return m->mpmc ? lade_mpmc_push(p->handle, word) : lade_spsc_push(m->spsc, word);
    return m->mpmc ? lade_mpmc_push_wait(p->handle, word, some_timeout(p))
                   : lade_spsc_push_wait(m->spsc, word, some_timeout(p));
}

static int pop_some(struct person *p, uint64_t *word)
{
    struct market *m = p->market;

    if (check_below(&p->random, 8) == 0)
        return m->mpmc ? lade_mpmc_pop(p->handle, word) : lade_spsc_pop(m->spsc, word);
    return m->mpmc ? lade_mpmc_pop_wait(p->handle, word, some_timeout(p))
                   : lade_spsc_pop_wait(m->spsc, word, some_timeout(p));
}

/* Whether to continue. */
static bool note_status(struct person *p, int status, struct progress *progress)
{
    p->end = status;
    if (status == LADE_OK) {
        p->moved++;
        (void)atomic_fetch_add(&progress->done, 1);
        return true;
    }
    (void)atomic_fetch_sub(&progress->begun, 1);
    p->cancelled += status == LADE_CANCELLED;
    p->timeouts += status == LADE_TIMEOUT;
    p->wrong += status == LADE_INVALID || (status == LADE_CANCELLED && !p->market->cancels);
    return status != LADE_CLOSED;
}

static void produce(struct person *p)
{
    struct market *m = p->market;
    int status;

    while (m->endless ? p->moved < EACH_MOST : p->moved < m->each) {
        (void)atomic_fetch_add(&m->pushes.begun, 1);
        status = push_some(p, WORD(p->number, p->moved));
        if (!note_status(p, status, &m->pushes))
            return;
    }
}

static void consume(struct person *p)
{
    struct market *m = p->market;
    uint64_t word;

    for (;;) {
        (void)atomic_fetch_add(&m->pops.begun, 1);
        int status = pop_some(p, &word);
        if (status == LADE_OK) {
            unsigned from = (unsigned)(word >> 32) % PEOPLE_MOST;
            p->wrong += (uint32_t)word < p->next[from]; /* twice, or out of order */
            p->next[from] = (uint32_t)word + 1;
            p->got[from]++;
        }
        if (!note_status(p, status, &m->pops))
            return;
    }
}

static void *person_body(void *arg)
{
    struct person *p = arg;

    p->plan.pauses = p->market->pauses ? p->random | 1 : 0;
    if (p->market->mpmc && lade_mpmc_join(p->market->mpmc, &p->handle) != LADE_OK)
        exit(2);
    step_plan = &p->plan;
    if (p->produces)
        produce(p);
    else
        consume(p);
    step_plan = NULL;
    lade_mpmc_leave(p->handle);
    return NULL;
}

static bool is_within(int64_t count, int64_t least, int64_t most, uint64_t capacity)
{
    return count >= 0 && count >= least && count <= most && count <= (int64_t)capacity;
}

/* A thread that only counts, and cancels. */
struct observer {
    struct market *market;
    uint64_t counts, wrong, inside; /* inside: counts that were not 0 */
};

static void *observer_body(void *arg)
{
    struct observer *o = arg;
    struct market *m = o->market;

    while (!atomic_load(&m->over)) {
        int64_t pushed = atomic_load(&m->pushes.done), popped = atomic_load(&m->pops.done);
        int64_t count = (int64_t)(m->mpmc ? lade_mpmc_count(m->mpmc) : lade_spsc_count(m->spsc));
        int64_t pops = atomic_load(&m->pops.begun), pushes = atomic_load(&m->pushes.begun);
        o->wrong += !is_within(count, pushed - pops, pushes - popped, m->capacity);
        o->inside += count > 0;
        o->counts++;
        if (m->cancels)
            o->wrong += (m->mpmc ? lade_mpmc_cancel(m->mpmc) : lade_spsc_cancel(m->spsc)) != LADE_OK;
        (void)sched_yield();
    }
    return NULL;
}

struct outcome {
    uint64_t pushed, popped, wrong, unended, cancelled, timeouts, counts, inside, unequal;
};

static void close_market(struct market *m)
{
    if ((m->mpmc ? lade_mpmc_close(m->mpmc) : lade_spsc_close(m->spsc)) != LADE_OK)
        exit(2);
}

static void make_market(struct market *m, bool many, unsigned people)
{
    struct lade_ring_config config = {.capacity = m->capacity, .handles = many ? people : 0, .waits = true};

    if ((many ? lade_mpmc_create(&m->mpmc, &config) : lade_spsc_create(&m->spsc, &config)) != LADE_OK)
        exit(2);
    atomic_init(&m->pushes.begun, 0);
    atomic_init(&m->pushes.done, 0);
    atomic_init(&m->pops.begun, 0);
    atomic_init(&m->pops.done, 0);
    atomic_init(&m->over, false);
}

/* All words that each producer pushed arrived. */
static void add_up(const struct person *person, unsigned producers, unsigned consumers, struct outcome *sum)
{
    for (unsigned i = 0; i < producers; i++) {
        uint64_t got = 0;
        for (unsigned c = 0; c < consumers; c++)
            got += person[producers + c].got[i];
        sum->unequal += got != person[i].moved;
    }
}

/* Closes when the producers are done, or after close_after nanoseconds. */
static void hold_market(struct market *m, unsigned producers, unsigned consumers, int64_t close_after,
                        struct outcome *sum)
{
    static struct person person[PEOPLE_MOST];
    pthread_t thread[PEOPLE_MOST], observing;
    struct observer observer = {.market = m};
    uint64_t random = check_seed() ^ sum->pushed;

    make_market(m, producers + consumers > 2, producers + consumers);
    if (pthread_create(&observing, NULL, observer_body, &observer) != 0)
        exit(2);
    for (unsigned i = 0; i < producers + consumers; i++) {
        person[i] = (struct person){.market = m, .number = i, .produces = i < producers, .random = check_next(&random)};
        if (pthread_create(&thread[i], NULL, person_body, &person[i]) != 0)
            exit(2);
    }
    if (m->endless)
        sleep_for(close_after);
    for (unsigned i = 0; i < producers && !m->endless; i++)
        (void)pthread_join(thread[i], NULL);
    close_market(m);
    for (unsigned i = m->endless ? 0 : producers; i < producers + consumers; i++)
        (void)pthread_join(thread[i], NULL);
    atomic_store(&m->over, true);
    (void)pthread_join(observing, NULL);
    for (unsigned i = 0; i < producers + consumers; i++) {
        *(i < producers ? &sum->pushed : &sum->popped) += person[i].moved;
        sum->wrong += person[i].wrong;
        sum->cancelled += person[i].cancelled;
        sum->timeouts += person[i].timeouts;
        sum->unended += (i >= producers || (m->endless && person[i].moved < EACH_MOST)) && person[i].end != LADE_CLOSED;
    }
    add_up(person, producers, consumers, sum);
    sum->wrong += observer.wrong;
    sum->counts += observer.counts;
    sum->inside += observer.inside;
    sum->unequal += (m->mpmc ? lade_mpmc_count(m->mpmc) : lade_spsc_count(m->spsc)) != 0;
    lade_spsc_destroy(m->spsc);
    lade_mpmc_destroy(m->mpmc);
    m->spsc = NULL;
    m->mpmc = NULL;
}

static void wait_for_each_other(const char *name, struct market plan, unsigned producers, unsigned consumers,
                                unsigned rounds)
{
    struct outcome sum = {0};
    uint64_t random = check_seed();

    for (unsigned round = 0; round < rounds; round++) {
        struct market m = plan;
        m.capacity = 1 + check_below(&random, 4);
        check_within(HANG_SECONDS, name);
        hold_market(&m, producers, consumers, 200000 + check_below(&random, 2000000), &sum);
    }
    check_within(0, name);
    check(
        sum.wrong == 0 && sum.unended == 0 && sum.unequal == 0 && sum.pushed == sum.popped && sum.popped > 0 &&
            sum.inside > 0 && (sum.cancelled > 0) == plan.cancels,
        name,
        "%u to %u threads, %u rounds: %llu words pushed, %llu popped, %llu wrong, %llu not ended, %llu not equal; %llu "
        "cancelled, %llu timed out, %llu counts",
        producers, consumers, rounds, (unsigned long long)sum.pushed, (unsigned long long)sum.popped,
        (unsigned long long)sum.wrong, (unsigned long long)sum.unended, (unsigned long long)sum.unequal,
        (unsigned long long)sum.cancelled, (unsigned long long)sum.timeouts, (unsigned long long)sum.counts);
}

/* The bounds of a count and the accounting must detect faults. */
static void negative(void)
{
    struct person person[2] = {{.moved = 3}, {.got = {2}}};
    struct outcome sum = {0};

    add_up(person, 1, 1, &sum);
    bool noticed = sum.unequal == 1 && !is_within(3, 4, 5, 8) && !is_within(6, 4, 5, 8) && !is_within(-1, -2, 5, 8) &&
                   !is_within(9, 4, 10, 8) && is_within(5, 4, 5, 8);
    check(noticed, "accounting", "negative: a word too few, and four wrong counts noticed, the right one accepted");
}

int main(int argc, char **argv)
{
    pthread_t storming;

    check_begin(argc, argv);
    unsigned rounds = (check_full() ? 400 : 40) / SLOW;
    negative();
    for (unsigned many = 0; many < 2; many++) {
        unsigned sides = many ? 3 : 1;
        wait_for_each_other(many ? "lade_mpmc waits" : "lade_spsc waits", (struct market){.each = 2000}, sides, sides,
                            rounds);
        wait_for_each_other(many ? "lade_mpmc pauses" : "lade_spsc pauses",
                            (struct market){.each = 1000, .pauses = true}, sides, sides, rounds);
        wait_for_each_other(many ? "lade_mpmc cancel" : "lade_spsc cancel",
                            (struct market){.each = 2000, .cancels = true, .pauses = true}, sides, sides, rounds);
        wait_for_each_other(many ? "lade_mpmc close" : "lade_spsc close",
                            (struct market){.endless = true, .pauses = true}, sides, sides, 5 * rounds);
        begin_storm(&storming, true);
        wait_for_each_other(many ? "lade_mpmc signals" : "lade_spsc signals",
                            (struct market){.each = 2000, .pauses = true}, sides, sides, rounds);
        end_storm(storming);
    }
    return check_end();
}
