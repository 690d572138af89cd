/* SPDX-License-Identifier: MIT */
/*
 * Passes many words through the rings: each arrives exactly once, the words of one producer in order, and a ring never
 * holds more than its capacity. Also in batches, and with handles that move between threads all the time.
 */
#include "check.h"

#include <lade/ring.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A word is its producer and its number there. */
#define WORD(producer, number) ((uint64_t)(producer) << 40 | (number))
#define PRODUCER(word) ((unsigned)((word) >> 40))
#define NUMBER(word) ((word) & ((UINT64_C(1) << 40) - 1))
enum { BATCH_MOST = 16, PEOPLE_MOST = 16 };

/* What one consumer got, in order. */
struct list {
    uint64_t *word;
    size_t count, capacity;
};

static void list_add(struct list *l, const uint64_t *word, size_t count)
{
    if (l->count + count > l->capacity) {
        l->capacity = (l->count + count) * 2;
        l->word = realloc(l->word, l->capacity * sizeof *l->word);
        if (!l->word)
            exit(2);
    }
    for (size_t i = 0; i < count; i++)
        l->word[l->count++] = word[i];
}

struct account {
    size_t twice, unknown, missing, out_of_order;
};

/* Were words 0 .. each - 1 of each producer received exactly once, and by each consumer in increasing order? */
static struct account account_for(const struct list *list, unsigned lists, unsigned producers, uint64_t each,
                                  bool ordered)
{
    struct account a = {0};
    unsigned char *seen = check_memory((size_t)(producers * each), 1);
    size_t received = 0;

    for (unsigned c = 0; c < lists; c++) {
        uint64_t *least = check_memory(producers, sizeof *least);
        for (size_t i = 0; i < list[c].count; i++) {
            unsigned producer = PRODUCER(list[c].word[i]);
            uint64_t number = NUMBER(list[c].word[i]);
            if (producer >= producers || number >= each) {
                a.unknown++;
                continue;
            }
            if (seen[producer * each + number]++)
                a.twice++;
            else
                received++;
            if (ordered && number < least[producer])
                a.out_of_order++;
            least[producer] = number + 1;
        }
        free(least);
    }
    a.missing = (size_t)(producers * each) - received;
    free(seen);
    return a;
}

static bool adds_up(struct account a)
{
    return a.twice == 0 && a.unknown == 0 && a.missing == 0 && a.out_of_order == 0;
}

/* The accounting must detect each kind of fault. */
static void account_negative(void)
{
    static const uint64_t faults[][4] = {
        {WORD(0, 0), WORD(0, 1), WORD(1, 0), WORD(1, 1)}, /* right */
        {WORD(0, 0), WORD(0, 1), WORD(1, 0), WORD(1, 0)}, /* one twice, one missing */
        {WORD(0, 0), WORD(0, 1), WORD(1, 0), WORD(2, 0)}, /* one that was not pushed */
        {WORD(0, 1), WORD(0, 0), WORD(1, 0), WORD(1, 1)}, /* swapped */
    };
    unsigned noticed = 0;
    bool right = false;

    for (unsigned i = 0; i < 4; i++) {
        struct list list = {0};
        list_add(&list, faults[i], 4);
        bool fine = adds_up(account_for(&list, 1, 2, 2, true));
        right = i == 0 ? fine : right;
        noticed += i > 0 && !fine;
        free(list.word);
    }
    struct list short_list = {0};
    list_add(&short_list, faults[0], 3);
    noticed += !adds_up(account_for(&short_list, 1, 2, 2, true));
    free(short_list.word);
    check(right && noticed == 4, "accounting", "negative: %u of 4 faulty lists noticed, the right one %s", noticed,
          right ? "accepted" : "refused");
}

/*
 * The level is raised after a push has returned and lowered before a pop is called, so it is at no time above the number
 * of words inside. A level above capacity means that the ring held more than it may.
 */
struct flow {
    struct lade_mpmc *ring;
    uint64_t capacity, each;
    size_t batch;
    bool levels;
    _Alignas(128) _Atomic unsigned producing; /* producers not yet done */
    _Alignas(128) _Atomic int64_t level;
    _Atomic int64_t highest;
};

struct person {
    struct flow *flow;
    unsigned number;
    bool produces;
    uint64_t random;
    struct list got;
};

static void level_by(struct flow *f, int64_t change)
{
    if (!f->levels)
        return;
    int64_t level = atomic_fetch_add_explicit(&f->level, change, memory_order_seq_cst) + change;
    int64_t highest = atomic_load_explicit(&f->highest, memory_order_relaxed);
    while (level > highest && !atomic_compare_exchange_weak_explicit(&f->highest, &highest, level, memory_order_relaxed,
                                                                     memory_order_relaxed))
        continue;
}

static void produce(struct person *p, struct lade_mpmc_handle *handle)
{
    struct flow *f = p->flow;
    uint64_t word[BATCH_MOST];

    for (uint64_t number = 0; number < f->each;) {
        size_t count = f->batch ? 1 + check_below(&p->random, (unsigned)f->batch) : 1, done = 0;
        if (count > f->each - number)
            count = (size_t)(f->each - number);
        for (size_t i = 0; i < count; i++)
            word[i] = WORD(p->number, number + i);
        done = f->batch ? lade_mpmc_push_many(handle, word, count) : lade_mpmc_push(handle, word[0]) == LADE_OK;
        level_by(f, (int64_t)done);
        number += done;
        if (done < count)
            (void)sched_yield();
    }
    atomic_fetch_sub_explicit(&f->producing, 1, memory_order_release);
}

static void consume(struct person *p, struct lade_mpmc_handle *handle)
{
    struct flow *f = p->flow;
    uint64_t word[BATCH_MOST];

    /*
     * EMPTY after the last producer is done ends the run: a lost word is reported as missing, and no thread waits for
     * it.
     */
    for (;;) {
        bool last = atomic_load_explicit(&f->producing, memory_order_acquire) == 0;
        size_t count = f->batch ? 1 + check_below(&p->random, (unsigned)f->batch) : 1, done = 0;
        level_by(f, -(int64_t)count);
        done = f->batch ? lade_mpmc_pop_many(handle, word, count) : lade_mpmc_pop(handle, word) == LADE_OK;
        level_by(f, (int64_t)(count - done));
        list_add(&p->got, word, done);
        if (done < count && last)
            return;
        if (done < count)
            (void)sched_yield();
    }
}

static void *person_body(void *arg)
{
    struct person *p = arg;
    struct lade_mpmc_handle *handle = NULL;

    if (lade_mpmc_join(p->flow->ring, &handle) != LADE_OK)
        exit(2);
    if (p->produces)
        produce(p, handle);
    else
        consume(p, handle);
    lade_mpmc_leave(handle);
    return NULL;
}

/* A ring that holds one word above its capacity must be detected. */
static void level_negative(void)
{
    struct flow f = {.capacity = 5, .levels = true};
    struct lade_mpmc_handle *handle = NULL;

    if (lade_mpmc_create(&f.ring, &(struct lade_ring_config){.capacity = f.capacity + 1, .handles = 1}) != LADE_OK ||
        lade_mpmc_join(f.ring, &handle) != LADE_OK)
        exit(2);
    while (lade_mpmc_push(handle, 0) == LADE_OK)
        level_by(&f, 1);
    int64_t highest = atomic_load_explicit(&f.highest, memory_order_relaxed);
    check(highest == (int64_t)f.capacity + 1, "level",
          "negative: a ring that takes one word too many reached level %lld of %d", (long long)highest,
          (int)f.capacity);
    lade_mpmc_destroy(f.ring);
}

static void conserve(unsigned producers, unsigned consumers, uint64_t capacity, size_t batch, bool levels,
                     uint64_t words)
{
    struct flow f = {.capacity = capacity, .each = words / producers, .batch = batch, .levels = levels};
    struct person person[PEOPLE_MOST] = {{0}};
    struct list list[PEOPLE_MOST];
    uint64_t random = check_seed() ^ capacity;

    if (lade_mpmc_create(&f.ring, &(struct lade_ring_config){.capacity = capacity, .handles = producers + consumers}) !=
        LADE_OK)
        exit(2);
    atomic_init(&f.producing, producers);
    for (unsigned i = 0; i < producers + consumers; i++) {
        person[i].flow = &f;
        person[i].number = i;
        person[i].produces = i < producers;
        person[i].random = check_next(&random);
    }
    check_threads(producers + consumers, person_body, person, sizeof *person);
    for (unsigned i = 0; i < consumers; i++)
        list[i] = person[producers + i].got;
    struct account a = account_for(list, consumers, producers, f.each, true);
    int64_t highest = atomic_load_explicit(&f.highest, memory_order_relaxed);
    check(adds_up(a) && highest <= (int64_t)capacity, "lade_mpmc conservation",
          "%u to %u threads, capacity %u, batch %zu, %llu words: %zu missing, %zu twice, %zu unknown, %zu out of "
          "order%s%lld",
          producers, consumers, (unsigned)capacity, batch, (unsigned long long)(f.each * producers), a.missing, a.twice,
          a.unknown, a.out_of_order, levels ? "; highest level " : "; level not watched ", (long long)highest);
    for (unsigned i = 0; i < consumers; i++)
        free(list[i].word);
    lade_mpmc_destroy(f.ring);
}

/* All threads push until FULL, then pop until EMPTY: exactly capacity words each time. */
struct filler {
    struct lade_mpmc *ring;
    bool push;
    size_t done;
};

static void *filler_body(void *arg)
{
    struct filler *f = arg;
    struct lade_mpmc_handle *handle = NULL;
    uint64_t word = 0;

    if (lade_mpmc_join(f->ring, &handle) != LADE_OK)
        exit(2);
    f->done = 0;
    while ((f->push ? lade_mpmc_push(handle, f->done) : lade_mpmc_pop(handle, &word)) == LADE_OK)
        f->done++;
    lade_mpmc_leave(handle);
    return NULL;
}

static void exact_capacity(void)
{
    static const uint64_t capacity[] = {1, 2, 3, 5, 16, 17, 1000, 4099};
    enum { THREADS = 4 };
    unsigned rounds = check_full() ? 200 : 20, wrong = 0;

    for (size_t c = 0; c < sizeof capacity / sizeof *capacity; c++) {
        struct filler filler[THREADS] = {{0}};
        if (lade_mpmc_create(&filler[0].ring,
                             &(struct lade_ring_config){.capacity = capacity[c], .handles = THREADS}) != LADE_OK)
            exit(2);
        for (unsigned round = 0; round < 2 * rounds; round++) {
            size_t sum = 0;
            for (unsigned i = 0; i < THREADS; i++)
                filler[i] = (struct filler){filler[0].ring, round % 2 == 0, 0};
            check_threads(THREADS, filler_body, filler, sizeof *filler);
            for (unsigned i = 0; i < THREADS; i++)
                sum += filler[i].done;
            wrong += sum != capacity[c];
        }
        lade_mpmc_destroy(filler[0].ring);
    }
    check(wrong == 0, "lade_mpmc capacity",
          "8 capacities filled and drained %u times by %d threads, %u times not exact", rounds, (int)THREADS, wrong);
}

/* Short-lived threads; fewer handles than threads. */
struct visitor {
    struct lade_mpmc *ring;
    unsigned number;
    uint64_t first, count; /* words to push */
    uint64_t random, refused;
    struct list got;
};

static void *visitor_body(void *arg)
{
    struct visitor *v = arg;
    uint64_t pushed = 0;

    while (pushed < v->count) {
        struct lade_mpmc_handle *handle = NULL;
        while (lade_mpmc_join(v->ring, &handle) != LADE_OK) {
            v->refused++;
            (void)sched_yield();
        }
        for (unsigned i = 0; i < 4; i++) {
            uint64_t word = 0;
            if (check_below(&v->random, 2) == 0) {
                if (pushed < v->count && lade_mpmc_push(handle, WORD(v->number, v->first + pushed)) == LADE_OK)
                    pushed++;
            } else if (lade_mpmc_pop(handle, &word) == LADE_OK) {
                list_add(&v->got, &word, 1);
            }
            if (check_below(&v->random, 8) == 0)
                (void)sched_yield(); /* another thread finds the handle in use */
        }
        lade_mpmc_leave(handle);
    }
    return NULL;
}

static void changing_hands(void)
{
    enum { VISITORS = 6, HANDLES = 3, EACH = 40 };
    struct visitor visitor[VISITORS] = {{0}};
    struct list list[VISITORS + 1] = {{0}};
    struct lade_mpmc *ring = NULL;
    struct lade_mpmc_handle *handle[HANDLES + 1] = {NULL};
    unsigned rounds = check_full() ? 5000 : 250, joined = 0;
    uint64_t random = check_seed(), word = 0, refused = 0;

    if (lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 5, .handles = HANDLES}) != LADE_OK)
        exit(2);
    for (unsigned i = 0; i < VISITORS; i++) {
        visitor[i].ring = ring;
        visitor[i].number = i;
        visitor[i].random = check_next(&random);
        visitor[i].count = EACH;
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < VISITORS; i++)
            visitor[i].first = (uint64_t)round * EACH;
        check_threads(VISITORS, visitor_body, visitor, sizeof *visitor);
    }
    while (joined <= HANDLES && lade_mpmc_join(ring, &handle[joined]) == LADE_OK)
        joined++;
    while (joined > 0 && lade_mpmc_pop(handle[0], &word) == LADE_OK)
        list_add(&list[VISITORS], &word, 1);
    for (unsigned i = 0; i < VISITORS; i++) {
        list[i] = visitor[i].got;
        refused += visitor[i].refused;
    }
    struct account a = account_for(list, VISITORS + 1, VISITORS, (uint64_t)rounds * EACH, true);
    check(adds_up(a) && joined == HANDLES, "lade_mpmc handles",
          "%u short-lived threads, %d handles (refused %llu times, all %u free at the end): %zu missing, %zu twice, "
          "%zu unknown, %zu out of order",
          rounds * VISITORS, (int)HANDLES, (unsigned long long)refused, joined, a.missing, a.twice, a.unknown,
          a.out_of_order);
    for (unsigned i = 0; i <= VISITORS; i++)
        free(list[i].word);
    lade_mpmc_destroy(ring);
}

/* spsc: the words arrive in order. */
struct pair {
    struct lade_spsc *ring;
    uint64_t words, seed, wrong, level_wrong, capacity;
    size_t batch;
    bool produces;
    _Atomic uint64_t *begun; /* words that the consumer has requested */
};

static void *pair_body(void *arg)
{
    struct pair *p = arg;
    uint64_t word[BATCH_MOST], random = p->seed;

    for (uint64_t number = 0; number < p->words;) {
        size_t count = p->batch ? 1 + check_below(&random, (unsigned)p->batch) : 1, done = 0;
        if (count > p->words - number)
            count = (size_t)(p->words - number);
        if (p->produces) {
            for (size_t i = 0; i < count; i++)
                word[i] = number + i;
            done = p->batch ? lade_spsc_push_many(p->ring, word, count) : lade_spsc_push(p->ring, word[0]) == LADE_OK;
            /* Words that were sent and not yet requested by the consumer are in the ring. */
            uint64_t asked = atomic_load_explicit(p->begun, memory_order_seq_cst);
            p->level_wrong += number + done > asked && number + done - asked > p->capacity;
        } else {
            atomic_store_explicit(p->begun, number + count, memory_order_seq_cst);
            done = p->batch ? lade_spsc_pop_many(p->ring, word, count) : lade_spsc_pop(p->ring, word) == LADE_OK;
            for (size_t i = 0; i < done; i++)
                p->wrong += word[i] != number + i;
        }
        number += done;
        if (done < count)
            (void)sched_yield();
    }
    return NULL;
}

static void spsc(uint64_t capacity, size_t batch, uint64_t words)
{
    struct lade_spsc *ring = NULL;
    _Atomic uint64_t begun;
    uint64_t rest = 0;

    atomic_init(&begun, 0);
    if (lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = capacity}) != LADE_OK)
        exit(2);
    struct pair pair[2];
    for (unsigned i = 0; i < 2; i++)
        pair[i] = (struct pair){.ring = ring,
                                .words = words,
                                .seed = check_seed() + i,
                                .capacity = capacity,
                                .batch = batch,
                                .produces = i == 0,
                                .begun = &begun};
    check_threads(2, pair_body, pair, sizeof *pair);
    bool empty = lade_spsc_pop(ring, &rest) == LADE_EMPTY;
    check(pair[1].wrong == 0 && pair[0].level_wrong == 0 && empty, "lade_spsc conservation",
          "capacity %u, batch %zu, %llu words: %llu wrong, %llu times too full", (unsigned)capacity, batch,
          (unsigned long long)words, (unsigned long long)pair[1].wrong, (unsigned long long)pair[0].level_wrong);
    lade_spsc_destroy(ring);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    uint64_t words = check_full() ? 20000000 : 1200000;
    account_negative();
    level_negative();
    exact_capacity();
    conserve(1, 1, 64, 0, false, words);
    conserve(2, 2, 64, 0, false, words);
    conserve(2, 2, 1, 0, true, words / 40);
    conserve(3, 1, 3, 0, true, words / 10);
    conserve(1, 3, 17, 5, true, words / 2);
    conserve(4, 4, 1000, 16, false, words);
    conserve(4, 4, 5, 16, true, words / 2);
    changing_hands();
    spsc(1, 0, words / 20);
    spsc(7, 0, words);
    spsc(7, 16, words);
    spsc(1024, 16, words);
    return check_end();
}
