/* SPDX-License-Identifier: MIT */
/*
 * report: the result of a loader run, as shares of time and as JSON.
 *
 * The caller fills a struct lade_report from zero: lade_report_loader() adds the loader's measurements, the caller sets
 * the other fields. lade_report_compute() computes rates, shares and the bottleneck. lade_report_json() writes all of
 * it as one JSON object, which `lade feed --json` and the page of `lade feed --html` use.
 *
 * When not to use it: for live metrics in a loop. Read lade_loader_stats() there.
 *
 * Threads      any number of threads, on different reports, or on one that no thread changes.
 * Progress     wait-free, except for the caller's write function.
 * Memory       nothing is allocated. Texts and arrays remain the caller's.
 */
#ifndef LADE_REPORT_H
#define LADE_REPORT_H

#include <lade/api.h>
#include <lade/loader.h>
#include <lade/mixture.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

/* A curve of points. Frozen. */
struct lade_report_curve {
    const double *x, *y; /* of each point */
    size_t points;       /* 0: left out */
};

/* A sample that could not be read. Frozen. */
struct lade_report_fault {
    const char *sample, *error; /* its name, and why */
};

/* A call of lade_loader_trace. Frozen. */
struct lade_report_step {
    int64_t at;                 /* nanoseconds */
    uint64_t number;            /* of the batch */
    unsigned slot;              /* of the buffer or the device */
    enum lade_loader_step step; /* which step */
};

/* Texts that are NULL and sections that are not marked are left out of the JSON. Texts may hold any bytes. */
struct lade_report {
    const char *source, *ended, *order, *consumer, *guarantee; /* texts for the reader */
    uint64_t source_samples;                                   /* LADE_ENDLESS: left out */
    uint64_t batch, threads, seed, shard, shards;              /* as in the loader's config */
    /* What the consumer got, in the seconds from its first call of next to the end of its last batch. */
    uint64_t samples, batches, bytes;
    uint64_t first_epoch, epochs; /* epochs 0: left out */
    double seconds;               /* see samples */
    /* Nanoseconds in these seconds, all workers together, and the consumer's: by lade_report_loader(). */
    uint64_t read_time, transform_time, worker_wait_time, running_time, consumer_wait_time;
    uint64_t slot_bytes, faults, replaced;  /* as in struct lade_loader_stats */
    uint64_t peak_memory, anonymous_memory; /* bytes; 0: not known */
    uint64_t saves;                         /* states that were saved */

    bool replacement; /* samples were drawn with replacement: repeated ones are no error */
    bool checked;     /* arrivals were counted; the next five are set */
    bool right;       /* each arrival was expected */
    uint64_t missing, repeated, foreign, wrong_length; /* samples that were not as they should be */
    const struct lade_report_fault *fault;             /* of those that are named */
    size_t faults_named;                               /* number of fault */

    unsigned part, parts;                /* the part that was fed, and how many there are; 0: the split is left out */
    const char *const *part_name;        /* of each part */
    const uint32_t *part_weight;         /* of each part */
    const uint64_t *part_samples;        /* NULL: not counted */
    bool has_split_p, has_drawn_p;       /* the next ones were tested */
    double shares_p, classes_p, drawn_p; /* p values: sizes by weights, classes alike in all parts, classes drawn */
    uint64_t classes;                    /* 0: left out */
    const char *const *class_name;       /* NULL: numbers */
    const uint64_t *class_samples;       /* [class * parts + part]; NULL: not counted */
    const uint64_t *class_drawn;         /* NULL: not counted */

    const char *device;                  /* NULL: none */
    unsigned device_depth;               /* batches on the device at a time */
    uint64_t copied_bytes, device_waits; /* as in struct lade_loader_stats */
    double device_copy, device_compute;  /* seconds, all batches together */

    const char *model;            /* NULL: nothing was trained */
    double first_loss, last_loss; /* of the training */
    bool tested;                  /* the next three are set */
    double test_loss, test_right; /* mean loss, and share of samples classified right */
    uint64_t test_samples;        /* number of tested samples */

    struct lade_report_curve speed; /* seconds, samples so far */
    struct lade_report_curve loss;  /* batch, loss */

    /* Steps of a few batches, for the timeline; the time to write it grows with their square. */
    const struct lade_report_step *step;
    size_t steps; /* 0: left out */

    const char *sequence;    /* the field whose steps were counted; NULL: samples are no sequences */
    uint64_t sequence_steps; /* that the consumer got, padding not included */
    uint64_t pack_row;       /* steps of a packed row; 0: not packed. The others by lade_report_loader() */
    uint64_t packed_rows, packed_steps, packed_slots, samples_cut, samples_split, samples_dropped; /* as the loader's */

    const struct lade_loader_share *share; /* of a mixture, by lade_loader_shares() */
    const char *const *share_name;         /* NULL: their kinds */
    unsigned shares;                       /* 0: left out */
};

/* Zero where a wait that ends in between makes the later figure the smaller one. */
static inline uint64_t lade_report_difference(uint64_t end, uint64_t begin)
{
    return end > begin ? end - begin : 0;
}

/* What the loader measured between two calls of lade_loader_stats(): before the first batch and after the last. */
static inline void lade_report_loader(struct lade_report *report, const struct lade_loader_stats *begin,
                                      const struct lade_loader_stats *end)
{
    report->read_time = lade_report_difference(end->read_time, begin->read_time);
    report->transform_time = lade_report_difference(end->transform_time, begin->transform_time);
    report->worker_wait_time = lade_report_difference(end->worker_wait_time, begin->worker_wait_time);
    report->running_time = lade_report_difference(end->running_time, begin->running_time);
    report->consumer_wait_time = lade_report_difference(end->consumer_wait_time, begin->consumer_wait_time);
    report->slot_bytes = end->slot_bytes;
    report->faults = end->faults;
    report->replaced = end->replaced;
    report->guarantee = begin->guarantee;
    report->packed_rows = end->packed_rows - begin->packed_rows;
    report->packed_steps = end->packed_steps - begin->packed_steps;
    report->packed_slots = end->packed_slots - begin->packed_slots;
    report->samples_cut = end->samples_cut - begin->samples_cut;
    report->samples_split = end->samples_split - begin->samples_split;
    report->samples_dropped = end->samples_dropped - begin->samples_dropped;
}

/* What lade_report_compute() derives from a report. */
struct lade_report_times {
    double samples_rate, bytes_rate;    /* per second */
    double read, transform, plan, wait; /* shares of the workers' time; plan is what is left */
    double busy, stall;                 /* shares of the consumer's time; a device's work counts as busy */
    double load, use, batch;            /* seconds per batch: loading with all workers, using, and as measured */
    double saved, bound; /* shares of load + use: saved by doing both at once, never negative; and the most possible */
    /*
     * "consumer": it was busy for at least half of the time, and for a larger share than the workers. "read",
     * "transform", "plan": the largest share of the workers, which were busy for at least half of theirs. "hand-over":
     * both sides waited for most of the time, because of too few slots or processors. "none": nothing was measured.
     */
    const char *bottleneck;
};

/*
 * Computes the times.
 * LADE_OK
 * LADE_INVALID     the report has fields that this library does not know.
 */
LADE_API LADE_MUST_CHECK int lade_report_compute_sized(const struct lade_report *report, size_t report_size,
                                                       struct lade_report_times *times, size_t times_size);
LADE_MUST_CHECK static inline int lade_report_compute(const struct lade_report *report, struct lade_report_times *times)
{
    return lade_report_compute_sized(report, sizeof *report, times, sizeof *times);
}

/* Takes the next bytes of a text. LADE_OK; any other status ends the writing. */
typedef int lade_report_write(void *context, const char *text, size_t size);

/*
 * Writes the report as one line of JSON in UTF-8. Bytes of texts that are not UTF-8 become U+FFFD; <, > and & are
 * escaped, so that the line may stand inside a script element of HTML. Numbers that are not finite are null.
 * LADE_OK
 * LADE_INVALID     the report has fields that this library does not know.
 * else             what write returned.
 */
LADE_API LADE_MUST_CHECK int lade_report_json_sized(const struct lade_report *report, size_t size,
                                                    lade_report_write *write, void *context);
LADE_MUST_CHECK static inline int lade_report_json(const struct lade_report *report, lade_report_write *write,
                                                   void *context)
{
    return lade_report_json_sized(report, sizeof *report, write, context);
}

LADE_END

#endif
