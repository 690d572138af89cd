/* SPDX-License-Identifier: MIT */
/*
 * lade feed: loader threads make the samples of a synthetic, CIFAR-shaped data set in a keyed random order and push them
 * through a ring to trainer threads, which take them apart in batches. Sample buffers are counted references and come
 * back through a second ring. At the end each sample of each epoch must have arrived exactly once and unharmed.
 */
#include "lade.h"

#include <lade/lade.h>

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CLASSES = 10, WORDS = 3072 / 8, THREADS_MAX = 64, BATCH_MAX = 4096 };
enum purpose { ORDER = 1, CONTENT = 2 }; /* of random numbers */

struct options {
    uint64_t samples, epochs, loaders, trainers, batch, capacity, seed;
    const char *json;
};

struct sample {
    struct lade_ref ref;
    unsigned label;
    uint64_t buffer;         /* number of this buffer */
    uint64_t epoch, id, sum; /* sum of the words, as the loader saw them */
    uint64_t word[WORDS];
};

struct worker {
    struct feed *feed;
    pthread_t thread;
    struct lade_mpmc_handle *full, *empty; /* of the two rings */
    uint64_t index;
    uint64_t samples, waits;
    uint64_t class_count[CLASSES];
    double mean; /* of the last batch: what stands for training */
};

struct feed {
    struct options o;
    struct lade_mpmc *full, *empty; /* rings of buffers: with a sample, without */
    struct sample *buffer;
    uint64_t buffers;
    _Atomic unsigned char *seen; /* arrivals of each sample of each epoch */
    atomic_uint_fast64_t arrived, damaged;
    struct worker worker[2 * THREADS_MAX];
};

static _Thread_local struct lade_mpmc_handle *returns; /* the trainer's handle on the ring of empty buffers */

/* Waiting is the caller's business in lade; this program gives the processor away. */
static void wait_a_little(struct worker *w)
{
    w->waits++;
    sched_yield();
}

static void make_sample(struct feed *f, struct sample *s, uint64_t epoch, uint64_t id)
{
    struct lade_random random;

    /* The content belongs to the sample, not to the epoch. */
    lade_random_init(&random, lade_key_make(f->o.seed, 0, CONTENT), id);
    s->epoch = epoch;
    s->id = id;
    s->label = (unsigned)lade_random_below(&random, CLASSES);
    s->sum = 0;
    for (int i = 0; i < WORDS; i++) {
        s->word[i] = lade_random_word(&random);
        s->sum += s->word[i];
    }
    lade_ref_init(&s->ref);
}

static void *load(void *arg)
{
    struct worker *w = arg;
    struct feed *f = w->feed;
    const struct options *o = &f->o;

    for (uint64_t epoch = 0; epoch < o->epochs; epoch++) {
        struct lade_permutation order;
        lade_permutation_init(&order, lade_key_make(o->seed, epoch, ORDER), o->samples);
        for (uint64_t at = w->index; at < o->samples; at += o->loaders) {
            uint64_t which = 0;
            while (lade_mpmc_pop(w->empty, &which) != LADE_OK)
                wait_a_little(w);
            make_sample(f, &f->buffer[which], epoch, lade_permutation_at(&order, at));
            while (lade_mpmc_push(w->full, which) != LADE_OK)
                wait_a_little(w);
            w->samples++;
        }
    }
    return NULL;
}

/* Release function of a sample: the ring of empty buffers has room for all of them, so this cannot fail. */
static void give_back(struct lade_ref *ref)
{
    const struct sample *s = (const struct sample *)((const char *)ref - offsetof(struct sample, ref));

    (void)lade_mpmc_push(returns, s->buffer);
}

/* Counts the arrival, checks the content and stands for a training step. */
static double use_sample(struct worker *w, const struct sample *s)
{
    struct feed *f = w->feed;
    uint64_t sum = 0;

    for (int i = 0; i < WORDS; i++)
        sum += s->word[i];
    if (sum != s->sum || s->label >= CLASSES)
        atomic_fetch_add_explicit(&f->damaged, 1, memory_order_relaxed);
    else
        w->class_count[s->label]++;
    /* Joining the threads orders the counts before the report. */
    atomic_fetch_add_explicit(&f->seen[s->epoch * f->o.samples + s->id], 1, memory_order_relaxed);
    w->samples++;
    return (double)(sum >> 11) * 0x1p-53;
}

static void *train(void *arg)
{
    struct worker *w = arg;
    struct feed *f = w->feed;
    const uint64_t total = f->o.samples * f->o.epochs;
    uint64_t batch[BATCH_MAX];

    returns = w->empty;
    while (atomic_load_explicit(&f->arrived, memory_order_relaxed) < total) {
        size_t n = lade_mpmc_pop_many(w->full, batch, (size_t)f->o.batch);
        if (n == 0) {
            wait_a_little(w);
            continue;
        }
        atomic_fetch_add_explicit(&f->arrived, n, memory_order_relaxed);
        w->mean = 0;
        for (size_t i = 0; i < n; i++) {
            struct sample *s = &f->buffer[batch[i]];
            w->mean += use_sample(w, s) / (double)n;
            lade_ref_put(&s->ref, give_back);
        }
    }
    return NULL;
}

static int prepare(struct feed *f)
{
    const struct options *o = &f->o;
    unsigned workers = (unsigned)(o->loaders + o->trainers);
    struct lade_mpmc_handle *h = NULL;

    f->buffers = o->capacity + o->loaders + o->trainers * o->batch;
    f->buffer = calloc(f->buffers, sizeof *f->buffer);
    f->seen = calloc(o->samples * o->epochs, sizeof *f->seen);
    if (!f->buffer || !f->seen)
        return LADE_NO_MEMORY;
    int status = lade_mpmc_create(&f->full, o->capacity, workers, NULL);
    if (status == LADE_OK)
        status = lade_mpmc_create(&f->empty, f->buffers, workers, NULL);
    if (status != LADE_OK)
        return status;
    lade_mpmc_join(f->empty, &h);
    for (uint64_t i = 0; i < f->buffers; i++) {
        f->buffer[i].buffer = i;
        lade_mpmc_push(h, i);
    }
    lade_mpmc_leave(h);
    for (unsigned i = 0; i < workers; i++) {
        struct worker *w = &f->worker[i];
        w->feed = f;
        w->index = i;
        lade_mpmc_join(f->full, &w->full);
        lade_mpmc_join(f->empty, &w->empty);
    }
    return LADE_OK;
}

static void dispose(struct feed *f)
{
    lade_mpmc_destroy(f->full);
    lade_mpmc_destroy(f->empty);
    free((void *)f->seen);
    free(f->buffer);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One line on a terminal, rewritten ten times a second; nothing in a pipe. */
static void show_progress(struct feed *f)
{
    const uint64_t total = f->o.samples * f->o.epochs;
    uint64_t done = 0;

    if (!isatty(STDERR_FILENO))
        return;
    while (done < total) {
        done = atomic_load_explicit(&f->arrived, memory_order_relaxed);
        fprintf(stderr, "\r%3u %% of %llu samples", (unsigned)(100 * done / total), (unsigned long long)total);
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    fputs("\r\033[K", stderr);
}

/* Starts everybody, waits for the end, gives the seconds; negative when a thread could not be started. */
static double run_feed(struct feed *f)
{
    uint64_t workers = f->o.loaders + f->o.trainers;
    double begin = seconds_now();

    for (uint64_t i = 0; i < workers; i++) {
        struct worker *w = &f->worker[i];
        if (pthread_create(&w->thread, NULL, i < f->o.loaders ? load : train, w) != 0) {
            fprintf(stderr, "lade feed: thread %llu of %llu could not be started; ask for fewer\n",
                    (unsigned long long)i + 1, (unsigned long long)workers);
            exit(EXIT_TROUBLE); /* the others cannot finish without it */
        }
    }
    show_progress(f);
    for (uint64_t i = 0; i < workers; i++)
        pthread_join(f->worker[i].thread, NULL);
    return seconds_now() - begin;
}

static void report(struct feed *f, double seconds, uint64_t missing, uint64_t repeated)
{
    const struct options *o = &f->o;
    const uint64_t total = o->samples * o->epochs, damaged = atomic_load(&f->damaged);
    uint64_t class_count[CLASSES] = {0}, waits[2] = {0};
    struct rusage usage;
    /* Figures that go to standard output are not mixed with words. */
    FILE *text = o->json && !strcmp(o->json, "-") ? stderr : stdout, *json = NULL;

    getrusage(RUSAGE_SELF, &usage);
    for (uint64_t i = 0; i < o->loaders + o->trainers; i++) {
        waits[i >= o->loaders] += f->worker[i].waits;
        for (int c = 0; c < CLASSES; c++)
            class_count[c] += f->worker[i].class_count[c];
    }
    fprintf(text,
            "lade feed: %llu samples of 3,072 bytes, %llu epochs, %llu loaders -> ring of %llu -> %llu trainers, seed "
            "%llu\n",
            (unsigned long long)o->samples, (unsigned long long)o->epochs, (unsigned long long)o->loaders,
            (unsigned long long)o->capacity, (unsigned long long)o->trainers, (unsigned long long)o->seed);
    fprintf(text, "  speed        %.0f samples/s, %.1f MB/s, %.2f s\n", (double)total / seconds,
            (double)total * WORDS * 8 / seconds / 1e6, seconds);
    fprintf(text, "  waits        loaders %llu, trainers %llu (yields for want of room or of samples)\n",
            (unsigned long long)waits[0], (unsigned long long)waits[1]);
    fprintf(text, "  exactly once %llu missing, %llu repeated, %llu damaged of %llu\n", (unsigned long long)missing,
            (unsigned long long)repeated, (unsigned long long)damaged, (unsigned long long)total);
    fprintf(text, "  classes     ");
    for (int c = 0; c < CLASSES; c++)
        fprintf(text, " %.4f", (double)class_count[c] / (double)total);
    fprintf(text, "\n  peak memory  %.1f MB\n", (double)usage.ru_maxrss / 1024);
    if (!o->json)
        return;
    json = strcmp(o->json, "-") ? fopen(o->json, "w") : stdout;
    if (!json) {
        fprintf(stderr, "lade feed: %s: %s\n", o->json, strerror(errno));
        exit(EXIT_TROUBLE);
    }
    fprintf(
        json,
        "{\"samples\": %llu, \"epochs\": %llu, \"loaders\": %llu, \"trainers\": %llu, \"batch\": %llu, "
        "\"capacity\": %llu, \"seed\": %llu, \"seconds\": %.6f, \"samples_per_second\": %.1f, "
        "\"missing\": %llu, \"repeated\": %llu, \"damaged\": %llu, \"loader_waits\": %llu, \"trainer_waits\": %llu}\n",
        (unsigned long long)o->samples, (unsigned long long)o->epochs, (unsigned long long)o->loaders,
        (unsigned long long)o->trainers, (unsigned long long)o->batch, (unsigned long long)o->capacity,
        (unsigned long long)o->seed, seconds, (double)total / seconds, (unsigned long long)missing,
        (unsigned long long)repeated, (unsigned long long)damaged, (unsigned long long)waits[0],
        (unsigned long long)waits[1]);
    if (fflush(json) != 0 || ferror(json) || (json != stdout && fclose(json) != 0)) {
        fprintf(stderr, "lade feed: %s: could not be written\n", o->json);
        exit(EXIT_TROUBLE);
    }
}

static void help(void)
{
    puts("usage: lade feed [OPTION...]\n"
         "\n"
         "Loader threads make a synthetic data set of CIFAR-10's shape in a keyed random order; trainer threads take "
         "the\n"
         "samples in batches; both rings between them are lock-free. Every sample of every epoch must arrive once, "
         "whole.\n"
         "\n"
         "  --samples N    samples of an epoch (50000)\n"
         "  --epochs N     (2)\n"
         "  --loaders N    loader threads, up to 64 (2)\n"
         "  --trainers N   trainer threads, up to 64 (1)\n"
         "  --batch N      most samples that a trainer takes at a time, up to 4096 (256)\n"
         "  --capacity N   samples between loaders and trainers (1024)\n"
         "  --seed N       of order and content (1)\n"
         "  --json FILE    the report's figures as JSON; - is standard output, and the words go to\n"
         "                 standard error\n"
         "  --help\n"
         "\n"
         "examples:\n"
         "  lade feed\n"
         "  lade feed --samples 1000000 --epochs 1 --loaders 4 --json report.json\n"
         "\n"
         "exit codes: 0 done, 1 a sample was lost, repeated or damaged, 2 wrong use, 3 trouble of the system");
}

static bool number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *to)
{
    char *end = NULL;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
        fprintf(stderr, "lade feed: --%s takes a number from %llu to %llu, not '%s'\n", name, (unsigned long long)least,
                (unsigned long long)most, text);
        return false;
    }
    *to = value;
    return true;
}

static bool parse(struct options *o, int argc, char **argv)
{
    enum { SAMPLES, EPOCHS, LOADERS, TRAINERS, BATCH, CAPACITY, SEED, JSON, HELP };
    static const struct option names[] = {{"samples", 1, 0, SAMPLES}, {"epochs", 1, 0, EPOCHS},
                                          {"loaders", 1, 0, LOADERS}, {"trainers", 1, 0, TRAINERS},
                                          {"batch", 1, 0, BATCH},     {"capacity", 1, 0, CAPACITY},
                                          {"seed", 1, 0, SEED},       {"json", 1, 0, JSON},
                                          {"help", 0, 0, HELP},       {0, 0, 0, 0}};
    const struct {
        uint64_t *to, least, most;
    } range[] = {{&o->samples, 1, 1000000000},   {&o->epochs, 1, 1000},     {&o->loaders, 1, THREADS_MAX},
                 {&o->trainers, 1, THREADS_MAX}, {&o->batch, 1, BATCH_MAX}, {&o->capacity, 1, 1000000},
                 {&o->seed, 0, UINT64_MAX}};
    int which = 0, c;

    while ((c = getopt_long(argc, argv, "", names, &which)) != -1) {
        if (c == HELP) {
            help();
            exit(EXIT_DONE);
        } else if (c == JSON) {
            o->json = optarg;
        } else if (c == '?' || !number(names[which].name, optarg, range[c].least, range[c].most, range[c].to)) {
            return false;
        }
    }
    if (optind < argc)
        fprintf(stderr, "lade feed: '%s' is no option\n", argv[optind]);
    return optind == argc;
}

int feed_main(int argc, char **argv)
{
    static struct feed f;
    uint64_t missing = 0, repeated = 0;

    f.o = (struct options){
        .samples = 50000, .epochs = 2, .loaders = 2, .trainers = 1, .batch = 256, .capacity = 1024, .seed = 1};
    if (!parse(&f.o, argc, argv)) {
        fputs("lade feed --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
    int status = prepare(&f);
    if (status != LADE_OK) {
        fprintf(stderr, "lade feed: %s; ask for fewer samples or a smaller capacity\n", lade_status_text(status));
        dispose(&f);
        return EXIT_TROUBLE;
    }
    double seconds = run_feed(&f);
    for (uint64_t i = 0; i < f.o.samples * f.o.epochs; i++) {
        missing += f.seen[i] == 0;
        repeated += f.seen[i] > 1;
    }
    report(&f, seconds, missing, repeated);
    bool right = missing == 0 && repeated == 0 && atomic_load(&f.damaged) == 0;
    dispose(&f);
    return right ? EXIT_DONE : EXIT_WRONG;
}
