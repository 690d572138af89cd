/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the parts of lade feed. feed.c reads the options, feed_setup.c opens source, split and
 * transforms, feed_mix.c opens a mixture of sources, feed_state.c reads the states of earlier runs, feed_run.c moves batches from the loader to the consumer,
 * feed_check.c counts them, feed_trace.c keeps their steps, feed_figures.c computes the figures of the reports
 * (feed_report.c, feed_html.c).
 */
#ifndef LADE_CLI_FEED_H
#define LADE_CLI_FEED_H

#include <lade/loader.h>
#include <lade/mixture.h>
#include <lade/report.h>

#include <stdio.h>

typedef unsigned long long big; /* for printf */

enum { POINTS = 512, TRACE_STEPS = 1024 };   /* of a curve; seven per batch at most */
enum { FAULTS_NAMED = 20, JOINED_MAX = 64 }; /* samples that a report names; states that --resume joins */

struct feed_transforms {
    uint64_t resize_height, resize_width, crop_height, crop_width, padding; /* 0: not requested */
    bool crop_random, flip, normalise;
    double mean[LADE_CHANNELS_MAX], deviation[LADE_CHANNELS_MAX];
    unsigned means, deviations; /* one for all channels, or one for each */
    int layout;                 /* an enum lade_layout; -1: that of the source */
};

struct feed_options {
    const char *source, *consumer, *device, *table, *part_name, *save, *log, *json, *html;
    const char *resume[JOINED_MAX];
    unsigned resumes;
    const char *mix[LADE_MIXTURE_SOURCES_MAX]; /* WEIGHT:SOURCE */
    unsigned mixes;
    int mix_end; /* an enum lade_mixture_end */
    uint64_t epochs, batches, batch, threads, slots, depth, seed, split_seed, stream, faults_max, save_every, work,
        memory;
    uint32_t weight[LADE_SPLIT_PARTS_MAX];
    unsigned parts;
    uint64_t shard, shards;
    uint64_t pack, pack_window; /* steps of a packed row, 0: not packed; 0: the loader's default */
    enum lade_longer pack_longer;
    bool longer_given;
    unsigned part; /* found by part_name when the split is open */
    bool as_ready, balanced, pad, drop_last, timeline;
    bool in_step;                     /* the one state of --resume stands for all shards */
    bool random_seed;                 /* --seed random: the loader draws it */
    bool weights_given, split_seeded; /* --split or --split-seed was given; --split-seed was given */
    enum lade_fault fault;
    struct feed_transforms transforms;
    double rate;
    int check; /* -1: if the source is not too large */
};

/* A curve of at most POINTS points: when it is full, every second one is dropped. */
struct curve {
    double x[POINTS], y[POINTS];
    unsigned points;
    uint64_t every, offered;
};
void curve_add(struct curve *curve, double x, double y);

/* Samples that arrived in an epoch. */
struct tally_epoch {
    struct tally_epoch *next;
    uint64_t number, arrived, distinct, repeated, foreign, faults;
    bool begun_before; /* some of it was delivered before the resumed state */
    uint64_t *seen;
};

/* Checks that every sample of the part is delivered once in each epoch. */
struct tally {
    bool on;
    uint64_t count;       /* samples of the source */
    uint64_t members;     /* of the part */
    uint64_t *member;     /* a bit for each sample of the source */
    uint64_t expected;    /* samples in an epoch of this shard */
    bool whole;           /* this shard has all of the part, so a sample not delivered is missing */
    bool repeats;         /* samples are drawn with replacement */
    uint64_t pad_repeats; /* repeats per epoch that padding explains */
    bool packed, parts;   /* in packed rows; these have parts of samples, which repeat its number */
    enum lade_fault fault;
    /* Stream mode: epochs mix, so an epoch here is all n-th arrivals, and everything is settled at the end. */
    bool mixed;
    uint64_t asked, excused; /* epochs requested; samples that may be missing in total */
    uint64_t begun, faults;  /* epochs, all faults */
    struct tally_epoch *open;
    uint64_t epochs, missing, repeated, foreign, wrong_length; /* unexplained; sums over the completed epochs */
    uint64_t suspect[FAULTS_NAMED];                            /* samples not delivered in an epoch with faults */
    unsigned suspects;
};
bool tally_create(struct tally *tally, uint64_t count);
void tally_member(struct tally *tally, uint64_t i);
bool tally_batch(struct tally *tally, const struct lade_batch *batch, bool begun_before); /* false: out of memory */
void tally_end(struct tally *tally, bool complete); /* complete: every epoch was completed */
void tally_free(struct tally *tally);
bool tally_right(const struct tally *tally);

/* The result of a consumer's training. */
struct learnt {
    bool learns, tested;
    double first_loss, last_loss; /* mean of the first and of the last epoch */
    double test_loss, test_right; /* mean loss, share of correct samples */
    uint64_t test_samples;
    struct curve loss;
};

/* Results of --device: times in seconds. */
struct device_figures {
    bool on;
    unsigned depth;
    double copy, compute; /* sum of all batches */
    uint64_t bytes, consumer_waits;
};

struct feed;

/*
 * A consumer of batches; a device is one of these. take and test own the batch and release it. A batch given to take
 * counts as delivered.
 */
struct consumer {
    const char *name;
    int (*open)(void **self, struct feed *feed, struct lade_error *error);
    int (*take)(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error);
    int (*test)(void *self, struct lade_loader *loader, const struct lade_batch *batch, struct lade_error *error);
    void (*learnt)(void *self, struct learnt *learnt);
    void (*close)(void *self);
};
extern const struct consumer consumer_null, consumer_softmax, consumer_device;

struct feed {
    struct feed_options o;
    struct lade_source *source;
    const struct lade_source_info *info;
    struct lade_pipeline *pipeline, *test_pipeline; /* NULL: samples unchanged; the second one without random steps */
    struct lade_shape shape;                        /* of a sample that the consumer gets */
    struct lade_split *split;                       /* NULL: one part */
    unsigned parts, classes;                        /* classes: 1 if there are no labels */
    uint32_t weight[LADE_SPLIT_PARTS_MAX];
    uint64_t *count;                                 /* [class * parts + part]; NULL: the source was not scanned */
    uint64_t size[LADE_SPLIT_PARTS_MAX], classified; /* samples of each part; number of samples counted */
    uint64_t *drawn;                                 /* by class */
    struct tally tally;
    const struct consumer *consumer;
    void *consumer_self;
    struct lade_loader_stats stats, before;                   /* at the end, and before the first batch was requested */
    char guarantee[512];                                      /* as reported by the loader */
    struct lade_loader_share share[LADE_MIXTURE_SOURCES_MAX]; /* at the end */
    unsigned shares;
    struct learnt learnt;
    struct lade_device *gpu; /* NULL: there is none */
    struct device_figures device;
    int sequence;       /* field whose steps are counted: the first that is ragged; LADE_NO_FIELD: there is none */
    uint64_t steps_fed; /* of that field */
    struct curve speed; /* seconds, samples so far */
    struct lade_report_step step[TRACE_STEPS];
    unsigned steps;
    uint64_t batches, samples, bytes, saves;
    bool lost; /* a batch from the loader did not reach the consumer, so the loader's state is ahead */
    uint64_t first_epoch, epochs; /* of the batches delivered; 0 for an endless stream */
    double seconds;
    uint64_t anonymous;      /* bytes of anonymous memory at the end; 0: unknown */
    int status;              /* of the loader at the end: LADE_CLOSED, or LADE_OK if --batches ended it */
    struct lade_error error; /* if it is neither */
};

/* The merged states of the --resume files; the caller frees it. NULL and an error on failure. */
char *feed_read_states(const struct feed_options *o, struct lade_error *error);

/* An option --mix. False after a message. Its source; opens the mixture; and what each source delivered. */
bool feed_mix_take(struct feed_options *o, const char *text);
const char *feed_mix_source(const struct feed_options *o, unsigned i);
int feed_mix_open(struct feed *f);
void report_shares(FILE *to, const struct feed *f);

void feed_out_of_memory(struct lade_error *error);

/* These return exit codes, after a message unless EXIT_DONE. */
int feed_open(struct feed *f);     /* source, split, transforms */
int feed_classify(struct feed *f); /* scans labels and parts of all samples */
int feed_run(struct feed *f);
void feed_close(struct feed *f);

/* The signal that requested the end, or 0. */
int feed_signal(void);

/* The exit code for an error, after a message. */
int feed_trouble(const struct lade_error *error);

/* The figures of the reports. */
struct figures {
    struct lade_report report;
    struct lade_report_times times;
    struct lade_split_tests audit;
    bool audited;
    double drawn_p; /* p value of the drawn classes against those of the part, or equal ones; -1: not tested */
    unsigned drawn_cells;
    struct {
        char name[256];
        char text[512];
    } fault[FAULTS_NAMED];
    unsigned faults;
    struct lade_report_step step[TRACE_STEPS];
};

/* Keeps the first steps of a run, for --timeline; context is the feed. */
lade_loader_trace feed_trace;
/* Selects the steps of the batches that the timeline shows. */
void figure_steps(const struct feed *f, struct figures *g);

/* Bytes of anonymous memory of this process; 0 if the system does not report it. */
uint64_t anonymous_memory(void);

void feed_figure(struct feed *f, struct figures *g);

/* Name of a class, not necessarily in UTF-8. */
const char *class_name(const struct feed *f, unsigned c, char *room, size_t size);

/* "in order", "as ready" or "stream". */
const char *order_name(const struct feed *f);

/* Shares of a class in the source, in a part and among the samples drawn. */
double source_share(const struct feed *f, unsigned c);
double part_share(const struct feed *f, unsigned c, unsigned part);
double drawn_share(const struct feed *f, unsigned c);

void report_words(FILE *to, const struct feed *f, const struct figures *g);
void report_json(FILE *to, const struct feed *f, const struct figures *g);
void report_html(FILE *to, const struct feed *f, const struct figures *g);

#endif
