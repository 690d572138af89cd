/* SPDX-License-Identifier: MIT */
/*
 * The measuring program of one queue: PROGRAM WORKLOAD CAPACITY BATCH SECONDS [WORDS]
 *
 *   pair    one thread pushes, one pops
 *   mixed   two threads, each alternately pushes one word and pops one; the queue is half full
 *   crowd   two threads push and two pop, two to a core
 *   alone   as mixed, one thread
 *
 *   worst, tail, even    as mixed, but 2, 4 or 8 threads (BATCH is their number) for three tenths of a second whatever SECONDS is,
 *           and every call is timed: the longest in nanoseconds, the 99.99th percentile, and the operations of the thread with the
 *           fewest as a share of an even one, in millionths; printed in the place of words, for one second
 *
 * A word is one push and one pop. Short runs find out how many words fill SECONDS, unless WORDS is given; the last run
 * counts. Prints words, seconds (of processor time for one thread, of wall time for more), and the share of the wall
 * time in which the threads had a core. A thread that finds the queue full or empty pauses for one instruction and tries again;
 * after many tries it lets other threads run.
 */
#include "../clock.h"
#include "queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 256
#define SEATS_MAX 8
#define WAIT_SECONDS 0.3

static struct {
    struct plan plan;
    size_t batch;
    enum role role[SEATS_MAX];
    unsigned patience; /* failed tries before other threads are let run */
    bool ordered;      /* words must arrive in the order sent */
    double longest;    /* seconds after which a thread that is timed stops; 0: the words count */
} job;

/* Times of calls: an eighth of a power of two apart. */
enum { STEPS = 8, TIMES = 64 * STEPS };

struct worker {
    _Alignas(128) struct queue *queue;
    pthread_t thread;
    struct gate *gate;
    unsigned number;
    uint64_t words;
    uint64_t in, out; /* sums of words */
    uint64_t mistakes;
    double begin, end, used;
    uint64_t calls, worst, times[TIMES];
    bool failed;
};

static inline void rest(unsigned *tries)
{
    cpu_relax();
    if (++*tries >= job.patience) {
        *tries = 0;
        sched_yield();
    }
}

static inline void push_one(struct seat *seat, uint64_t word)
{
    unsigned tries = 0;

    while (!seat_push(seat, word))
        rest(&tries);
}

static inline uint64_t pop_one(struct seat *seat)
{
    unsigned tries = 0;
    uint64_t word = 0;

    while (!seat_pop(seat, &word))
        rest(&tries);
    return word;
}

static uint64_t sum_of(uint64_t first, uint64_t count)
{
    return count * first + (count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1));
}

/* The loops are separate functions and keep the seat in locals, so that one does not change how another compiles. */
#define LOOP __attribute__((noinline)) static

LOOP void produce(struct seat *at, uint64_t first, uint64_t words)
{
    struct seat seat = *at;

    for (uint64_t i = 0; i < words; i++)
        push_one(&seat, first + i);
    *at = seat;
}

LOOP void consume(struct seat *at, struct worker *w)
{
    struct seat seat = *at;
    uint64_t words = w->words;
    uint64_t out = 0;
    uint64_t mistakes = 0;

    for (uint64_t i = 0; i < words; i++) {
        uint64_t word = pop_one(&seat);
        out += word;
        mistakes += word != i;
    }
    w->out = out;
    w->mistakes = mistakes;
    *at = seat;
}

LOOP void alternate(struct seat *at, struct worker *w, uint64_t first)
{
    struct seat seat = *at;
    uint64_t words = w->words;
    uint64_t out = 0;

    for (uint64_t i = 0; i < words; i++) {
        push_one(&seat, first + i);
        out += pop_one(&seat);
    }
    w->out = out;
    *at = seat;
}

/* The clock of the processor, or the system's. */
static inline uint64_t ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)(clock_now() * 1e9);
#endif
}

static inline void note(struct worker *w, uint64_t took)
{
    unsigned high = 63u - (unsigned)__builtin_clzll(took | STEPS);

    w->calls++;
    w->worst = took > w->worst ? took : w->worst;
    w->times[high * STEPS + ((took | STEPS) >> (high - 3) & (STEPS - 1))]++;
}

/* A call that finds the queue full or empty has ended too. */
LOOP void timed(struct seat *at, struct worker *w, uint64_t first)
{
    struct seat seat = *at;
    uint64_t out = 0, in = 0, done = 0;
    bool holds = false; /* a word was pushed and none popped since */

    while (done % 256 || clock_now() - w->begin < job.longest || holds) {
        uint64_t word = 0, from = ticks();
        bool went = holds ? seat_pop(&seat, &word) : seat_push(&seat, first + done);
        note(w, ticks() - from);
        if (!went) {
            unsigned tries = job.patience - 1;
            rest(&tries);
            continue;
        }
        in += holds ? 0 : first + done;
        out += word;
        done += holds;
        holds = !holds;
    }
    w->in += in;
    w->out = out;
    w->words = done;
    *at = seat;
}

#ifdef NAME_BATCH
static inline void push_some(struct seat *seat, const uint64_t *word, size_t count)
{
    unsigned tries = 0;

    for (size_t done = 0; done < count;) {
        size_t n = seat_push_many(seat, word + done, count - done);
        done += n;
        if (n == 0)
            rest(&tries);
    }
}

static inline size_t pop_some(struct seat *seat, uint64_t *word, size_t count)
{
    unsigned tries = 0;
    size_t n;

    while ((n = seat_pop_many(seat, word, count)) == 0)
        rest(&tries);
    return n;
}

LOOP void produce_many(struct seat *seat, uint64_t first, uint64_t words)
{
    uint64_t word[BATCH_MAX];

    for (uint64_t i = 0; i < words;) {
        size_t n = words - i < job.batch ? (size_t)(words - i) : job.batch;
        for (size_t k = 0; k < n; k++)
            word[k] = first + i + k;
        push_some(seat, word, n);
        i += n;
    }
}

LOOP void consume_many(struct seat *seat, struct worker *w)
{
    uint64_t word[BATCH_MAX];

    for (uint64_t i = 0; i < w->words;) {
        uint64_t left = w->words - i;
        size_t n = pop_some(seat, word, left < job.batch ? (size_t)left : job.batch);
        for (size_t k = 0; k < n; k++) {
            w->out += word[k];
            w->mistakes += word[k] != i + k;
        }
        i += n;
    }
}

LOOP void alternate_many(struct seat *seat, struct worker *w, uint64_t first)
{
    uint64_t word[BATCH_MAX];

    for (uint64_t i = 0; i < w->words;) {
        size_t n = w->words - i < job.batch ? (size_t)(w->words - i) : job.batch;
        for (size_t k = 0; k < n; k++)
            word[k] = first + i + k;
        push_some(seat, word, n);
        for (size_t popped = 0; popped < n;) {
            size_t m = pop_some(seat, word, n - popped);
            for (size_t k = 0; k < m; k++)
                w->out += word[k];
            popped += m;
        }
        i += n;
    }
}
#endif

static void work(struct seat *seat, struct worker *w, uint64_t first)
{
    enum role role = job.role[w->number];

    if (job.longest > 0) {
        timed(seat, w, first);
        return;
    }
#ifdef NAME_BATCH
    if (job.batch > 1) {
        if (role == PRODUCER)
            produce_many(seat, first, w->words);
        else if (role == CONSUMER)
            consume_many(seat, w);
        else
            alternate_many(seat, w, first);
        return;
    }
#endif
    if (role == PRODUCER)
        produce(seat, first, w->words);
    else if (role == CONSUMER)
        consume(seat, w);
    else
        alternate(seat, w, first);
}

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    enum role role = job.role[w->number];
    uint64_t first = job.ordered ? 0 : (uint64_t)w->number << 40;
    uint64_t ahead = role == BOTH ? job.plan.capacity / 2 / job.plan.threads : 0;
    struct seat seat;

    pin(w->number);
    w->failed = !seat_open(&seat, w->queue, w->number, role);
    if (w->failed) {
        fprintf(stderr, "no seat\n");
        exit(3);
    }
    produce(&seat, first, ahead);
    if (role != CONSUMER)
        w->in = sum_of(first, ahead) + (job.longest > 0 ? 0 : sum_of(first + ahead, w->words));
    gate_pass(w->gate, job.plan.threads);
    w->begin = clock_now();
    w->used = -clock_used();
    work(&seat, w, first + ahead);
    w->used += clock_used();
    w->end = clock_now();
    seat_close(&seat);
    return NULL;
}

/* Takes out what is left; the sum of it. */
static uint64_t drain(struct queue *queue)
{
    struct seat seat;
    uint64_t sum = 0;
    uint64_t word = 0;

    if (!seat_open(&seat, queue, job.plan.threads, CONSUMER)) {
        fprintf(stderr, "no seat\n");
        exit(3);
    }
    while (seat_pop(&seat, &word))
        sum += word;
    seat_close(&seat);
    return sum;
}

static struct worker worker[SEATS_MAX];

/* One run of about that many words. Returns the seconds; sets words to the exact number. */
static double run(uint64_t *words, double *share)
{
    static struct queue queue;
    struct gate gate = {0};
    unsigned movers = job.plan.producers;
    uint64_t each = *words / movers + 1;
    uint64_t difference = 0;
    uint64_t mistakes = 0;
    double begin = 1e300;
    double end = 0;
    double used = 0;

    if (!queue_open(&queue, &job.plan)) {
        fprintf(stderr, "the queue cannot be made\n");
        exit(3);
    }
    for (unsigned i = 0; i < job.plan.threads; i++) {
        worker[i] = (struct worker){.queue = &queue, .gate = &gate, .number = i, .words = each};
        if (pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]) != 0) {
            fprintf(stderr, "no thread\n");
            exit(3);
        }
    }
    for (unsigned i = 0; i < job.plan.threads; i++) {
        pthread_join(worker[i].thread, NULL);
        difference += worker[i].in - worker[i].out;
        mistakes += worker[i].mistakes;
        begin = worker[i].begin < begin ? worker[i].begin : begin;
        end = worker[i].end > end ? worker[i].end : end;
        used += worker[i].used;
    }
    difference -= drain(&queue);
    queue_close(&queue);
    if (difference != 0 || (job.ordered && mistakes != 0)) {
        fprintf(stderr, "wrong words came out\n");
        exit(4);
    }
    *words = each * movers;
    *share = used / (end - begin) / (job.plan.threads < processors() ? job.plan.threads : processors());
    return job.plan.threads == 1 ? used : end - begin;
}

/* What the timed calls show: see the top. */
static uint64_t figure(const char *workload, double ticks_a_second)
{
    uint64_t worst = 0, all = 0, fewest = UINT64_MAX, above = 0;
    int step = TIMES;

    for (unsigned i = 0; i < job.plan.threads; i++) {
        worst = worker[i].worst > worst ? worker[i].worst : worst;
        all += worker[i].calls;
        fewest = worker[i].words < fewest ? worker[i].words : fewest;
    }
    if (strcmp(workload, "even") == 0) {
        uint64_t words = 0;
        for (unsigned i = 0; i < job.plan.threads; i++)
            words += worker[i].words;
        return words ? fewest * job.plan.threads * 1000000 / words : 0;
    }
    if (strcmp(workload, "tail") == 0) {
        while (step > 0 && above <= all / 10000) {
            step--;
            for (unsigned i = 0; i < job.plan.threads; i++)
                above += worker[i].times[step];
        }
        worst = (uint64_t)(STEPS + step % STEPS) << (step / STEPS) >> 3;
    }
    return (uint64_t)((double)worst * 1e9 / ticks_a_second);
}

static bool choose(const char *workload)
{
    struct plan *plan = &job.plan;
    bool shared = true;

    job.patience = 4096;
    if (strcmp(workload, "worst") == 0 || strcmp(workload, "tail") == 0 || strcmp(workload, "even") == 0) {
        plan->producers = plan->consumers = plan->threads = (unsigned)job.batch;
        job.longest = WAIT_SECONDS;
        for (size_t i = 0; i < SEATS_MAX; i++)
            job.role[i] = BOTH;
        return NAME_SHARED && job.batch >= 2 && job.batch <= SEATS_MAX;
    }
    if (strcmp(workload, "pair") == 0) {
        plan->producers = plan->consumers = 1;
        plan->threads = 2;
        job.role[0] = PRODUCER;
        job.role[1] = CONSUMER;
        job.ordered = true;
        shared = false;
    } else if (strcmp(workload, "mixed") == 0) {
        plan->producers = plan->consumers = plan->threads = 2;
        job.role[0] = job.role[1] = BOTH;
    } else if (strcmp(workload, "crowd") == 0) {
        plan->producers = plan->consumers = 2;
        plan->threads = 4;
        job.role[0] = job.role[1] = PRODUCER;
        job.role[2] = job.role[3] = CONSUMER;
        job.patience = 16;
    } else if (strcmp(workload, "alone") == 0) {
        plan->producers = plan->consumers = plan->threads = 1;
        job.role[0] = BOTH;
        shared = false;
    } else {
        return false;
    }
    return NAME_SHARED || !shared;
}

int main(int argc, char **argv)
{
    double seconds = argc > 4 ? strtod(argv[4], NULL) : 0;
    uint64_t words = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    double share = 0;
    double took;

    job.plan.capacity = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    job.batch = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
#ifdef NAME_BATCH
    size_t most = BATCH_MAX;
#else
    size_t most = 1;
#endif
    if (argc < 5 || argc > 6 || job.plan.capacity < 3 || job.batch < 1 || !choose(argv[1]) ||
        (job.longest == 0 && job.batch > most)) {
        fprintf(stderr, "usage: %s pair|mixed|crowd|alone|worst|tail|even CAPACITY BATCH SECONDS [WORDS]\n", argv[0]);
        return 2;
    }
    fuse();
    if (job.longest > 0) {
        double begin = clock_now();
        uint64_t from = ticks();
        words = 0;
        (void)run(&words, &share);
        words = figure(argv[1], (double)(ticks() - from) / (clock_now() - begin));
        printf("%llu %.6f %.3f\n", (unsigned long long)words, 1.0, share);
        return 0;
    }
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
    printf("%llu %.6f %.3f\n", (unsigned long long)words, took, share);
    return 0;
}
