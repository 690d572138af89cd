/* SPDX-License-Identifier: MIT */
/*
 * The measuring program of one container: PROGRAM WORKLOAD CAPACITY LEVEL BATCH SECONDS [WORDS]
 *
 *   alone      one thread alternately puts an element and draws one
 *   mixed      two threads, each as in alone
 *   worn       as mixed, after the container was full and was drawn down to LEVEL
 *   coin       as mixed, but each thread tosses a coin for what it does; its puts and draws stay nearly equal
 *   pair       one thread puts, one draws; the one that is too far ahead waits
 *   exchange   two threads, each draws an element and puts another, in one step where there is one
 *   bulk_put   one thread puts 4,096 elements and draws as many, in batches of BATCH; only the puts are timed
 *   bulk_draw  only the draws are timed
 *   bulk_put2, bulk_draw2   the same with two threads
 *   poll       one thread draws from a container that was full and was drawn empty
 *   last       one thread draws the last of CAPACITY elements
 *   scan       one thread draws, from CAPACITY elements on, until a draw had to scan all of it; that one is timed
 *
 * The container begins with LEVEL elements. An element counts once, for its put and its draw. Short runs find out how
 * many elements fill SECONDS, unless WORDS is given; the last run counts. Prints elements, seconds (of processor time
 * for one thread, of wall time for more), and the share of the wall time in which the threads had a core. A thread that finds the
 * container full or empty pauses for one instruction and tries again; after many tries it lets other threads run.
 */
#include "../clock.h"
#include "bag.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 64
#define BULK 4096 /* elements put in a row */
#define SEATS_MAX 2
#define PATIENCE 4096 /* failed tries before other threads are let run */
#define STEP 32       /* elements between two checks of how far the other thread is */

enum what { ALTERNATE, TOSS, PACED, EXCHANGE, BULK_PUT, BULK_DRAW, POLL, LAST, SCAN };

static struct {
    struct plan plan;
    enum what what;
    uint64_t level;
    size_t batch;
    bool worn;
} job;

struct worker {
    _Alignas(128) struct seat seat;
    struct lade_random coins;
    pthread_t thread;
    struct gate *gate;
    enum role role;
    unsigned number;
    bool prepare;     /* this run brings the container to its level */
    uint64_t words;   /* of this run */
    uint64_t next;    /* number of the next element that it makes */
    uint64_t in, out; /* sums of all elements so far */
    double begin, end, used;
};

static struct bag the_bag;
static struct worker worker[SEATS_MAX];

/* How far each side of the pair is. */
static struct {
    _Alignas(128) _Atomic uint64_t done;
} pace[2];

static void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(3);
}

static inline void rest(unsigned *tries)
{
    cpu_relax();
    if (++*tries >= PATIENCE) {
        *tries = 0;
        sched_yield();
    }
}

/* All words of an element are the same, so that a torn one shows. */
static inline uint64_t element_make(struct element *e, uint64_t word)
{
    for (int i = 0; i < ELEMENT_WORDS; i++)
        e->word[i] = word;
    return word;
}

static inline uint64_t element_read(const struct element *e)
{
    uint64_t word = e->word[0];
    uint64_t other = 0;

    for (int i = 1; i < ELEMENT_WORDS; i++)
        other |= e->word[i] ^ word;
    return other ? other | (uint64_t)1 << 63 : word; /* a wrong sum */
}

static inline struct element *place(struct seat *seat, struct element *local)
{
#ifdef HAS_ROOM
    (void)local;
    return seat_room(seat);
#else
    (void)seat;
    return local;
#endif
}

static inline uint64_t put_one(struct seat *seat, uint64_t word)
{
    struct element local;
    struct element *e = place(seat, &local);
    unsigned tries = 0;

    element_make(e, word);
    while (!seat_put(seat, e))
        rest(&tries);
    return word;
}

static inline uint64_t draw_one(struct seat *seat)
{
    struct element local;
    unsigned tries = 0;

    while (!seat_draw(seat, &local))
        rest(&tries);
    return element_read(place(seat, &local));
}

static inline uint64_t exchange_one(struct seat *seat, uint64_t word)
{
#ifdef HAS_EXCHANGE
    struct element in;
    struct element out;
    unsigned tries = 0;

    element_make(&in, word);
    while (!seat_exchange(seat, &in, &out))
        rest(&tries);
    return element_read(&out);
#else
    uint64_t out = draw_one(seat);

    put_one(seat, word);
    return out;
#endif
}

/* The loops are separate functions and keep the seat in locals, so that one does not change how another compiles. */
#define LOOP __attribute__((noinline)) static

LOOP void put_all(struct worker *w, uint64_t words)
{
    struct seat seat = w->seat;
    uint64_t next = w->next;
    uint64_t in = 0;

    for (uint64_t i = 0; i < words; i++)
        in += put_one(&seat, next + i);
    w->next = next + words;
    w->in += in;
    w->seat = seat;
}

LOOP void draw_all(struct worker *w, uint64_t words)
{
    struct seat seat = w->seat;
    uint64_t out = 0;

    for (uint64_t i = 0; i < words; i++)
        out += draw_one(&seat);
    w->out += out;
    w->seat = seat;
}

LOOP void alternate(struct worker *w)
{
    struct seat seat = w->seat;
    uint64_t words = w->words;
    uint64_t next = w->next;
    uint64_t in = 0;
    uint64_t out = 0;

    for (uint64_t i = 0; i < words; i++) {
        in += put_one(&seat, next + i);
        out += draw_one(&seat);
    }
    w->next = next + words;
    w->in += in;
    w->out += out;
    w->seat = seat;
}

LOOP void toss(struct worker *w)
{
    struct seat seat = w->seat;
    uint64_t words = w->words;
    uint64_t next = w->next;
    uint64_t in = 0;
    uint64_t out = 0;
    uint64_t puts = 0;
    uint64_t draws = 0;
    uint64_t limit = job.plan.capacity / 40 + 1;

    while (puts < words || draws < words) {
        uint64_t coins = lade_random_word(&w->coins);
        for (int i = 0; i < 64 && (puts < words || draws < words); i++, coins >>= 1) {
            bool may_put = puts < words && puts < draws + limit;
            bool may_draw = draws < words && draws < puts + limit;
            if (may_put && (!may_draw || (coins & 1))) {
                in += put_one(&seat, next + puts);
                puts++;
            } else {
                out += draw_one(&seat);
                draws++;
            }
        }
    }
    w->next = next + words;
    w->in += in;
    w->out += out;
    w->seat = seat;
}

/* Publishes how far this thread is, and waits while it is too far ahead of the other. */
static inline void keep_pace(unsigned me, uint64_t done, uint64_t window)
{
    unsigned tries = 0;

    atomic_store_explicit(&pace[me].done, done, memory_order_relaxed);
    while (done > atomic_load_explicit(&pace[1 - me].done, memory_order_relaxed) + window)
        rest(&tries);
}

static uint64_t window(void)
{
    uint64_t part = job.plan.capacity / 20;

    return part > 2 * STEP ? part : 2 * STEP;
}

LOOP void produce(struct worker *w)
{
    struct seat seat = w->seat;
    uint64_t words = w->words;
    uint64_t next = w->next;
    uint64_t ahead = window();
    uint64_t in = 0;

    for (uint64_t i = 0; i < words; i++) {
        in += put_one(&seat, next + i);
        if ((i + 1) % STEP == 0)
            keep_pace(0, i + 1, ahead);
    }
    keep_pace(0, words, words);
    w->next = next + words;
    w->in += in;
    w->seat = seat;
}

LOOP void consume(struct worker *w)
{
    struct seat seat = w->seat;
    uint64_t words = w->words;
    uint64_t ahead = window();
    uint64_t out = 0;

    for (uint64_t i = 0; i < words; i++) {
        out += draw_one(&seat);
        if ((i + 1) % STEP == 0)
            keep_pace(1, i + 1, ahead);
    }
    keep_pace(1, words, words);
    w->out += out;
    w->seat = seat;
}

LOOP void exchange(struct worker *w)
{
    struct seat seat = w->seat;
    uint64_t words = w->words;
    uint64_t next = w->next;
    uint64_t in = 0;
    uint64_t out = 0;

    for (uint64_t i = 0; i < words; i++) {
        out += exchange_one(&seat, next + i);
        in += next + i;
    }
    w->next = next + words;
    w->in += in;
    w->out += out;
    w->seat = seat;
}

#ifdef HAS_BATCH
LOOP void put_batches(struct worker *w, uint64_t words)
{
    struct element e[BATCH_MAX];
    unsigned tries = 0;

    for (uint64_t i = 0; i < words; i += job.batch) {
        for (size_t k = 0; k < job.batch; k++)
            w->in += element_make(&e[k], w->next++);
        for (size_t done = 0; done < job.batch;) {
            size_t n = seat_put_many(&w->seat, e + done, job.batch - done);
            done += n;
            if (n == 0)
                rest(&tries);
        }
    }
}

LOOP void draw_batches(struct worker *w, uint64_t words)
{
    struct element e[BATCH_MAX];
    unsigned tries = 0;

    for (uint64_t i = 0; i < words; i += job.batch) {
        for (size_t done = 0; done < job.batch;) {
            size_t n = seat_draw_many(&w->seat, e + done, job.batch - done);
            done += n;
            if (n == 0)
                rest(&tries);
        }
        for (size_t k = 0; k < job.batch; k++)
            w->out += element_read(&e[k]);
    }
}
#else
#define put_batches put_all
#define draw_batches draw_all
#endif

/* Only one side counts: its time is taken BULK elements at a time. */
static void bulk(struct worker *w)
{
    bool puts = job.what == BULK_PUT;
    double wall = 0;
    double used = 0;

    for (uint64_t i = 0; i < w->words; i += BULK) {
        if (!puts)
            put_all(w, BULK);
        used -= clock_used();
        wall -= clock_now();
        if (job.batch == 1)
            (puts ? put_all : draw_all)(w, BULK);
        else
            (puts ? put_batches : draw_batches)(w, BULK);
        wall += clock_now();
        used += clock_used();
        if (puts)
            draw_all(w, BULK);
    }
    w->end = w->begin + wall;
    w->used = used;
}

LOOP void poll_empty(struct worker *w)
{
    struct element e;
    uint64_t found = 0;

    for (uint64_t i = 0; i < w->words; i++)
        found += seat_draw(&w->seat, &e);
    if (found != 0)
        fail("an empty container gave something");
}

static void work(struct worker *w)
{
    switch (job.what) {
    case ALTERNATE:
        alternate(w);
        break;
    case TOSS:
        toss(w);
        break;
    case PACED:
        (w->role == PRODUCER ? produce : consume)(w);
        break;
    case EXCHANGE:
        exchange(w);
        break;
    case POLL:
        poll_empty(w);
        break;
    default:
        break;
    }
}

/* Fills the container as far as the workload begins; a thread that puts does its share. */
static void prepare(struct worker *w)
{
    bool full = job.worn || job.what == POLL;
    uint64_t share = (full ? job.plan.capacity : job.level) / job.plan.producers;

    if (w->role == CONSUMER)
        return;
    put_all(w, share);
    if (full)
        draw_all(w, share - (job.what == POLL ? 0 : job.level / job.plan.producers));
}

static void *run_worker(void *argument)
{
    struct worker *w = argument;

    pin(w->number);
    gate_pass(w->gate, job.plan.threads);
    if (w->prepare) {
        prepare(w);
        return NULL;
    }
    w->begin = clock_now();
    w->used = -clock_used();
    if (job.what == BULK_PUT || job.what == BULK_DRAW) {
        bulk(w);
        return NULL;
    }
    work(w);
    w->used += clock_used();
    w->end = clock_now();
    return NULL;
}

static void run_all(uint64_t each, bool preparing)
{
    struct gate gate = {0};

    atomic_store(&pace[0].done, 0);
    atomic_store(&pace[1].done, 0);
    for (unsigned i = 0; i < job.plan.threads; i++) {
        worker[i].gate = &gate;
        worker[i].words = each;
        worker[i].prepare = preparing;
        if (pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < job.plan.threads; i++)
        pthread_join(worker[i].thread, NULL);
}

/* One run of about that many elements. Returns the seconds; sets words to the exact number. */
static double run(uint64_t *words, double *share)
{
    uint64_t each = *words / job.plan.producers + 1;
    double begin = 1e300;
    double end = 0;
    double used = 0;
    double wall = 0;

    if (job.what == BULK_PUT || job.what == BULK_DRAW)
        each = (each + BULK - 1) / BULK * BULK;
    run_all(each, false);
    for (unsigned i = 0; i < job.plan.threads; i++) {
        begin = worker[i].begin < begin ? worker[i].begin : begin;
        end = worker[i].end > end ? worker[i].end : end;
        wall += worker[i].end - worker[i].begin;
        used += worker[i].used;
    }
    *words = each * job.plan.producers;
    if (job.what == BULK_PUT || job.what == BULK_DRAW) {
        *share = used / wall;
        return (job.plan.threads == 1 ? used : wall) / job.plan.threads;
    }
    *share = used / (end - begin) / job.plan.threads;
    return job.plan.threads == 1 ? used : end - begin;
}

/* One more seat takes out what is left; the sums of what went in and what came out must agree. */
static void settle(void)
{
    struct worker rest_of = {.number = job.plan.threads};
    struct element e;
    uint64_t difference = 0;

    if (!seat_open(&rest_of.seat, &the_bag, rest_of.number, CONSUMER))
        fail("no seat");
    while (seat_draw(&rest_of.seat, &e))
        difference -= element_read(place(&rest_of.seat, &e));
    for (unsigned i = 0; i < job.plan.threads; i++) {
        difference += worker[i].in - worker[i].out;
        seat_close(&worker[i].seat);
    }
    seat_close(&rest_of.seat);
    bag_close(&the_bag);
    if (difference != 0) {
        fprintf(stderr, "wrong elements came out\n");
        exit(4);
    }
}

static void open_all(void)
{
    if (!bag_open(&the_bag, &job.plan))
        fail("the container cannot be made");
    for (unsigned i = 0; i < job.plan.threads; i++) {
        worker[i].number = i;
        worker[i].next = ((uint64_t)i << 40) + 1; /* no element is zero */
        worker[i].in = worker[i].out = 0;
        worker[i].role = job.what != PACED ? BOTH : i == 0 ? PRODUCER : CONSUMER;
        lade_random_init(&worker[i].coins, lade_key_make(4, 5, 6), i);
        if (!seat_open(&worker[i].seat, &the_bag, i, worker[i].role))
            fail("no seat");
    }
}

/* The draw of the last element, or the first one that scans. */
static double one_draw(void)
{
    struct worker *w = &worker[0];
    uint64_t left = job.plan.capacity;
    double took = 0;

    open_all();
    put_all(w, left);
    if (job.what == LAST) {
        draw_all(w, left - 1);
        took = -clock_used();
        draw_all(w, 1);
        took += clock_used();
    }
#ifdef HAS_SCANS
    if (job.what == SCAN) {
        uint64_t few = left / 100;
        uint64_t scans;

        draw_all(w, left - few);
        scans = bag_scans(&the_bag);
        for (uint64_t i = 0; i < few && bag_scans(&the_bag) == scans; i++) {
            took = -clock_used();
            draw_all(w, 1);
            took += clock_used();
        }
        if (bag_scans(&the_bag) != scans + 1)
            fail("no draw, or more than one, went through the container");
    }
#endif
    settle();
    return took;
}

static bool choose(const char *workload)
{
    static const struct {
        const char *name;
        enum what what;
        unsigned threads;
    } known[] = {
        {"alone", ALTERNATE, 1},    {"mixed", ALTERNATE, 2},
        {"worn", ALTERNATE, 2},     {"coin", TOSS, 2},
        {"pair", PACED, 2},         {"exchange", EXCHANGE, 2},
        {"bulk_put", BULK_PUT, 1},  {"bulk_draw", BULK_DRAW, 1},
        {"bulk_put2", BULK_PUT, 2}, {"bulk_draw2", BULK_DRAW, 2},
        {"poll", POLL, 1},          {"last", LAST, 1},
#ifdef HAS_SCANS
        {"scan", SCAN, 1},
#endif
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(workload, known[i].name) != 0)
            continue;
        job.what = known[i].what;
        job.worn = strcmp(workload, "worn") == 0;
        job.plan.threads = known[i].threads;
        job.plan.producers = job.plan.consumers = job.what == PACED ? 1 : known[i].threads;
        return true;
    }
    return false;
}

static void usage(const char *program)
{
    fprintf(stderr, "usage: %s WORKLOAD CAPACITY LEVEL BATCH SECONDS [ELEMENTS]\n", program);
    exit(2);
}

int main(int argc, char **argv)
{
    double seconds = argc > 5 ? strtod(argv[5], NULL) : 0;
    uint64_t words = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
    double share = 1;
    double took = 0;

    job.plan.capacity = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    job.level = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    job.batch = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    if (argc < 6 || argc > 7 || job.plan.capacity < 1000 || job.level > job.plan.capacity || !choose(argv[1]))
        usage(argv[0]);
    if (job.batch < 1 || job.batch > BATCH_MAX || BULK % job.batch != 0)
        usage(argv[0]);
    fuse();
    if (job.what == LAST || job.what == SCAN) {
        double begin = clock_now();

        pin(0);
        for (words = 0; words == 0 || clock_now() - begin < 4 * seconds; words++)
            took += one_draw();
        printf("%llu %.9f %.3f\n", (unsigned long long)words, took, share);
        return 0;
    }
    open_all();
    run_all(0, true);
    if (words != 0) {
        took = run(&words, &share);
    } else {
        for (words = 4096; (took = run(&words, &share)) < seconds / 4; words *= 4) {
        }
        /* A short run may have been unlucky. */
        for (int turn = 0; turn < 3 && (turn == 0 || took < seconds / 2); turn++) {
            words = (uint64_t)((double)words * seconds / took);
            took = run(&words, &share);
        }
    }
    settle();
    printf("%llu %.6f %.3f\n", (unsigned long long)words, took, share);
    return 0;
}
