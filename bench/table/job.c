/* SPDX-License-Identifier: MIT */
/*
 * The measuring program of one table: PROGRAM WORKLOAD ENTRIES uniform|skewed THREADS BATCH SECONDS [OPERATIONS]
 *
 *   hit      each thread looks up keys that are there, at random; BATCH at a time where it is above 1
 *   miss     keys that are not there
 *   mark     inserts keys; one in 128 is not there. Those are removed after every ENTRIES operations, off the clock
 *   mixed    90 % look-ups, 5 % inserts, 5 % removals, of keys of which half are there
 *   insert   into an empty table until it has ENTRIES keys, and again with another one until SECONDS are over
 *   pause    the same once, each insert timed: the time that 9,999 of 10,000 stay within; worst: that of the slowest
 *   memory   resident bytes a key, the mean over ENTRIES to 2 * ENTRIES keys; counted: as the table reports;
 *            trim: resident, each time after it was trimmed; peak: the most that was ever resident, of 2 * ENTRIES keys
 *
 * Short runs find out how many operations fill SECONDS, unless OPERATIONS is given; the last run counts. Prints
 * operations, seconds (of processor time for one thread, of wall time for more), and the share of the wall time in which
 * the threads had a core; pause and the following print a figure and what to divide it by.
 *
 * PROGRAM session ENTRIES fills a table and replies to lines "WORKLOAD uniform|skewed THREADS BATCH SECONDS" from standard
 * input, until that ends.
 */
#include "../clock.h"
#include "job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS_MAX 2
#define LOOKS 21      /* at the memory, between ENTRIES and twice as many */
#define REST_US 25000 /* before a look: liburcu frees old arrays within 10 ms */
#define TRIM_TRIES 200
#define FRESH(thread) (((uint64_t)(thread) + 1) << 34)

static struct {
    uint64_t entries;
    unsigned threads, batch;
    bool skewed;
} job;

struct worker {
    _Alignas(128) struct part part;
    pthread_t thread;
    void *table;
    struct gate *gate;
    void (*loop)(void *seat, struct part *part);
    unsigned number;
    double begin, end, used;
};

struct times {
    double seconds, used, wall;
};

/* Keys that mark has inserted so far, by thread: it never takes one twice. */
static uint64_t fresh[THREADS_MAX];

static void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(3);
}

static void *run_worker(void *argument)
{
    struct worker *w = argument;
    void *seat;

    pin(w->number);
    seat = seat_make(w->table, w->number);
    if (!seat)
        fail("no seat");
    gate_pass(w->gate, job.threads);
    w->begin = clock_now();
    w->used = -clock_used();
    w->loop(seat, &w->part);
    w->used += clock_used();
    w->end = clock_now();
    seat_free(seat);
    return NULL;
}

/* All threads do their loop, side by side. */
static void run_threads(void *table, void (*loop)(void *, struct part *), uint64_t each, struct times *times)
{
    static struct worker worker[THREADS_MAX];
    static uint64_t stream;
    struct gate gate = {0};
    double begin = 1e300;
    double end = 0;
    double used = 0;
    uint64_t wrong = 0;

    for (unsigned i = 0; i < job.threads; i++) {
        struct part part = {.operations = each, .random = ++stream << 40, .entries = job.entries, .batch = job.batch};

        part.skewed = job.skewed;
        part.fresh = loop == loop_insert ? i : FRESH(i) + fresh[i];
        part.step = job.threads;
        worker[i] = (struct worker){.part = part, .table = table, .gate = &gate, .loop = loop, .number = i};
        if (pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < job.threads; i++) {
        pthread_join(worker[i].thread, NULL);
        begin = worker[i].begin < begin ? worker[i].begin : begin;
        end = worker[i].end > end ? worker[i].end : end;
        used += worker[i].used;
        wrong += worker[i].part.wrong;
    }
    if (wrong != 0)
        fail("wrong answers");
    times->used += used;
    times->wall += end - begin;
    times->seconds += job.threads == 1 ? used : end - begin;
}

/* Inserts keys in order, or removes them, on this thread and off the clock. */
static void change(void *table, void (*loop)(void *, struct part *), uint64_t first, uint64_t count)
{
    struct part part = {.operations = count, .fresh = first, .step = 1};
    void *seat = seat_make(table, 0);

    if (!seat)
        fail("no seat");
    loop(seat, &part);
    seat_free(seat);
    if (part.wrong != 0)
        fail("wrong answers while it was filled or emptied");
}

static void *filled(void)
{
    void *table = table_make(job.entries, THREADS_MAX);

    if (!table)
        fail("the table cannot be made");
    change(table, loop_insert, 0, job.entries);
    return table;
}

static void run_mark(void *table, uint64_t each, struct times *times)
{
    uint64_t segment = job.entries / job.threads;

    while (each > 0) {
        uint64_t now = each < segment ? each : segment;
        run_threads(table, loop_mark, now, times);
        for (unsigned i = 0; i < job.threads; i++) {
            change(table, loop_remove, FRESH(i) + fresh[i], now / FRESH_EVERY);
            fresh[i] += now / FRESH_EVERY;
        }
        each -= now;
    }
}

static void run_insert(uint64_t *each, struct times *times)
{
    uint64_t tables = (*each * job.threads + job.entries - 1) / job.entries;

    *each = job.entries / job.threads;
    for (uint64_t i = 0; i < tables; i++) {
        void *table = table_make(job.entries, job.threads);
        if (!table)
            fail("the table cannot be made");
        run_threads(table, loop_insert, *each, times);
        table_free(table);
    }
    *each *= tables;
}

/* One run of about that many operations. Returns the seconds; sets operations to the exact number. */
static double run(const char *workload, void *table, uint64_t *operations, double *share)
{
    struct times times = {0};
    uint64_t each = *operations / job.threads + 1;

    if (job.batch > 1)
        each += job.batch - each % job.batch;
    if (strcmp(workload, "hit") == 0)
        run_threads(table, job.batch > 1 ? loop_batch : loop_hit, each, &times);
    else if (strcmp(workload, "miss") == 0)
        run_threads(table, loop_miss, each, &times);
    else if (strcmp(workload, "mixed") == 0)
        run_threads(table, loop_mixed, each, &times);
    else if (strcmp(workload, "mark") == 0)
        run_mark(table, each, &times);
    else
        run_insert(&each, &times);
    *operations = each * job.threads;
    *share = times.used / times.wall / job.threads;
    return times.seconds;
}

static void measure(const char *workload, void *table, double seconds, uint64_t operations)
{
    double share = 0;
    double took;

    if (operations != 0) {
        took = run(workload, table, &operations, &share);
    } else {
        for (operations = 4096; (took = run(workload, table, &operations, &share)) < seconds / 4; operations *= 4) {
        }
        /* A short run may have been unlucky. */
        for (int turn = 0; turn < 3 && (turn == 0 || took < seconds / 2); turn++) {
            if (took >= seconds)
                break;
            operations = (uint64_t)((double)operations * seconds / took);
            took = run(workload, table, &operations, &share);
        }
    }
    printf("%llu %.6f %.3f\n", (unsigned long long)operations, took, share);
    fflush(stdout);
}

static uint64_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;

    if (!file || fscanf(file, "%*s %llu", &pages) != 1)
        fail("no /proc/self/statm");
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void trim(void *table)
{
    void *seat = seat_make(table, 0);

    for (int tries = 0; seat && !table_trim(table); tries++) {
        usleep(REST_US);
        if (tries == TRIM_TRIES)
            fail("cannot be trimmed");
    }
    seat_free(seat);
}

static double memory(const char *workload)
{
    void *table = table_make(job.entries, 1);
    uint64_t base = resident();
    uint64_t keys = 0;
    double sum = 0;
    struct rusage usage;

    if (!table)
        fail("the table cannot be made");
    for (unsigned look = 0; look < LOOKS; look++) {
        uint64_t wanted = job.entries + job.entries * look / (LOOKS - 1);
        double bytes;

        change(table, loop_insert, keys, wanted - keys);
        keys = wanted;
        if (strcmp(workload, "trim") == 0)
            trim(table);
        if (strcmp(workload, "peak") != 0)
            usleep(REST_US);
        bytes = (double)(strcmp(workload, "counted") == 0 ? table_counted(table) : resident() - base);
        sum += bytes / (double)keys;
    }
    if (strcmp(workload, "peak") != 0)
        return sum / LOOKS;
    getrusage(RUSAGE_SELF, &usage);
    return ((double)usage.ru_maxrss * 1024 - (double)base) / (double)keys;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t pauses(bool worst)
{
    struct part part = {.operations = job.entries, .step = 1};
    uint64_t *ns = malloc(job.entries * sizeof *ns);
    void *table = table_make(job.entries, 1);
    void *seat;

    pin(0);
    seat = table && ns ? seat_make(table, 0) : NULL;
    if (!seat)
        fail("no seat");
    memset(ns, 1, job.entries * sizeof *ns); /* its pages are there when the clock runs */
    loop_timed(seat, &part, ns);
    seat_free(seat);
    qsort(ns, job.entries, sizeof *ns, ascending);
    return ns[worst ? job.entries - 1 : job.entries - 1 - job.entries / 10000];
}

static bool choose(const char *workload, const char *skew, const char *threads, const char *batch)
{
    static const char *const known[] = {"hit", "miss", "mark", "mixed", "insert"};

    job.threads = (unsigned)strtoul(threads, NULL, 10);
    job.batch = (unsigned)strtoul(batch, NULL, 10);
    job.skewed = strcmp(skew, "skewed") == 0;
    if (job.threads < 1 || job.threads > THREADS_MAX || job.batch < 1 || job.batch > BATCH_MAX)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(workload, known[i]) == 0)
            return (i != 3 || table_can_remove) && (job.batch == 1 || (i == 0 && table_can_batch));
    }
    return false;
}

/* The table stays from one question to the next; a session without questions takes no time. */
static int session(void)
{
    char line[128];
    char workload[16];
    char skew[16];
    char threads[16];
    char batch[16];
    double seconds;
    void *table = filled();

    puts("ready");
    fflush(stdout);
    alarm(0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%15s %15s %15s %15s %lf", workload, skew, threads, batch, &seconds) != 5 ||
            !choose(workload, skew, threads, batch) || strcmp(workload, "insert") == 0)
            fail("unknown question");
        fuse();
        measure(workload, table, seconds, 0);
        alarm(0);
    }
    return 0;
}

static void other(const char *workload)
{
    if (strcmp(workload, "pause") == 0 || strcmp(workload, "worst") == 0)
        printf("%llu 1000 1\n", (unsigned long long)pauses(strcmp(workload, "worst") == 0));
    else
        printf("%.0f 1000 1\n", memory(workload) * 1000);
}

static bool is_other(const char *workload)
{
    static const char *const known[] = {"pause", "worst", "memory", "counted", "trim", "peak"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(workload, known[i]) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    bool others = argc > 2 && is_other(argv[1]);

    job.threads = job.batch = 1;
    job.entries = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (job.entries < 1000 || job.entries > UINT32_MAX / 2)
        argc = 0;
    /* Small pages for all candidates, whatever the system gives by default. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    fuse();
    if (argc == 3 && strcmp(argv[1], "session") == 0)
        return session();
    if ((argc != 7 && argc != 8) || (!others && !choose(argv[1], argv[3], argv[4], argv[5]))) {
        fprintf(stderr, "usage: %s WORKLOAD ENTRIES uniform|skewed THREADS BATCH SECONDS [OPERATIONS]\n", argv[0]);
        return 2;
    }
    if (others)
        other(argv[1]);
    else
        measure(argv[1], strcmp(argv[1], "insert") == 0 ? NULL : filled(), strtod(argv[6], NULL),
                argc > 7 ? strtoull(argv[7], NULL, 10) : 0);
    fflush(stdout);
    _exit(0); /* what the candidates would do from here on is not measured, and takes long */
}
