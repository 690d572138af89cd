/* SPDX-License-Identifier: MIT */
/* The figures of the reports of lade feed, computed from the measurements. */
#include "feed.h"

#include "fields.h"
#include "lade.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const char *class_name(const struct feed *f, unsigned c, char *room, size_t size)
{
    if (f->info->class_names)
        return f->info->class_names[c];
    (void)snprintf(room, size, "%u", c);
    return room;
}

const char *order_name(const struct feed *f)
{
    return f->o.stream ? "stream" : f->o.as_ready ? "as ready" : "in order";
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

double source_share(const struct feed *f, unsigned c)
{
    uint64_t own = 0;

    for (unsigned p = 0; p < f->parts; p++)
        own += f->count[(size_t)c * f->parts + p];
    return ratio((double)own, (double)f->classified);
}

double part_share(const struct feed *f, unsigned c, unsigned part)
{
    return ratio((double)f->count[(size_t)c * f->parts + part], (double)f->size[part]);
}

double drawn_share(const struct feed *f, unsigned c)
{
    return ratio((double)f->drawn[c], (double)f->samples);
}

uint64_t anonymous_memory(void)
{
    static const char name[] = "RssAnon:";
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long long kibibytes = 0;
    char line[256];

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, sizeof name - 1))
            kibibytes = strtoull(line + sizeof name - 1, NULL, 10);
    if (file)
        (void)fclose(file);
    return kibibytes * 1024;
}

static uint64_t peak_memory(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/*
 * Tests the drawn classes as the parts of a split whose weights are the expected frequencies. If there are more classes
 * than a split can have parts, those with the same remainder are merged; the test is coarser then, but still valid.
 */
static void figure_drawn(const struct feed *f, struct figures *g)
{
    enum { CELLS = LADE_SPLIT_PARTS_MAX };
    const unsigned cells = f->classes < CELLS ? f->classes : CELLS;
    uint64_t drawn[CELLS] = {0}, expected[CELLS] = {0}, most = 0;
    uint32_t weight[CELLS];
    struct lade_split_tests tests;

    g->drawn_p = -1;
    if (!f->count || f->info->classes < 2 || f->samples == 0)
        return;
    for (unsigned c = 0; c < f->classes; c++) {
        uint64_t own = f->count[(size_t)c * f->parts + f->o.part];
        drawn[c % cells] += f->drawn[c];
        expected[c % cells] += f->o.balanced ? own > 0 : own;
    }
    for (unsigned c = 0; c < cells; c++)
        most = expected[c] > most ? expected[c] : most;
    /* Weights have 32 bits. */
    for (unsigned c = 0; c < cells; c++)
        weight[c] = (uint32_t)(most > UINT32_MAX ? expected[c] / (most / UINT32_MAX + 1) : expected[c]);
    if (lade_split_audit(drawn, 1, cells, weight, &tests) != LADE_OK)
        return;
    g->drawn_p = tests.shares_p;
    g->drawn_cells = cells;
}

/* Samples that an epoch with faults did not deliver and that cannot be read, with the reason. */
static void figure_faults(struct feed *f, struct figures *g)
{
    struct whole sample = {.bytes = NULL};

    for (unsigned i = 0; i < f->tally.suspects; i++) {
        struct lade_error error = {.status = LADE_OK};
        if (whole_read(&sample, f->source, f->tally.suspect[i], &error) == LADE_OK)
            continue;
        lade_source_name(f->source, f->tally.suspect[i], g->fault[g->faults].name, sizeof g->fault->name);
        (void)snprintf(g->fault[g->faults++].text, sizeof g->fault->text, "%s", error.text);
    }
    whole_free(&sample);
}

/* Fills the library's report with the measurements. */
static void fill_report(const struct feed *f, struct figures *g)
{
    static char part_room[LADE_SPLIT_PARTS_MAX][16];
    static const char *part_names[LADE_SPLIT_PARTS_MAX];
    static struct lade_report_fault faults[FAULTS_NAMED];
    static const char *share_names[LADE_MIXTURE_SOURCES_MAX];
    const struct feed_options *o = &f->o;
    const struct tally *t = &f->tally;
    const struct learnt *l = &f->learnt;
    struct lade_report *r = &g->report;

    for (unsigned p = 0; p < f->parts; p++)
        part_names[p] = part_name(f->parts, p, part_room[p], sizeof part_room[p]);
    for (unsigned i = 0; i < g->faults; i++)
        faults[i] = (struct lade_report_fault){g->fault[i].name, g->fault[i].text};
    lade_report_loader(r, &f->before, &f->stats);
    r->guarantee = f->guarantee;
    r->source = o->source;
    r->ended = f->status == LADE_CLOSED      ? "done"
               : f->status == LADE_OK        ? "batches"
               : f->status == LADE_CANCELLED ? "signal"
                                             : "error";
    r->order = order_name(f);
    r->consumer = f->consumer->name;
    r->source_samples = f->info->count;
    r->batch = o->batch;
    r->threads = o->threads;
    r->seed = o->seed;
    r->shard = o->shard;
    r->shards = o->shards;
    r->samples = f->samples;
    r->batches = f->batches;
    r->bytes = f->bytes;
    r->first_epoch = f->first_epoch;
    r->epochs = f->epochs;
    r->seconds = f->seconds;
    r->peak_memory = peak_memory();
    r->anonymous_memory = f->anonymous;
    r->saves = f->saves;
    r->replacement = o->balanced;
    r->checked = t->on;
    r->right = tally_right(t);
    r->missing = t->missing;
    r->repeated = t->repeated;
    r->foreign = t->foreign;
    r->wrong_length = t->wrong_length;
    r->fault = faults;
    r->faults_named = g->faults;
    r->part = o->part;
    r->parts = f->parts;
    r->part_name = part_names;
    r->part_weight = f->weight;
    r->part_samples = f->count ? f->size : NULL;
    r->has_split_p = g->audited;
    r->shares_p = g->audit.shares_p;
    r->classes_p = g->audit.classes_p;
    r->has_drawn_p = g->drawn_p >= 0;
    r->drawn_p = g->drawn_p;
    r->classes = f->info->classes;
    r->class_name = f->info->class_names;
    r->class_samples = f->count;
    r->class_drawn = f->drawn;
    if (f->device.on) {
        r->device = o->device;
        r->device_depth = f->device.depth;
        r->copied_bytes = f->device.bytes;
        r->device_waits = f->device.consumer_waits;
        r->device_copy = f->device.copy;
        r->device_compute = f->device.compute;
    }
    if (l->learns && f->batches > 0) {
        r->model = "softmax";
        r->first_loss = l->first_loss;
        r->last_loss = l->last_loss;
        r->tested = l->tested;
        r->test_loss = l->test_loss;
        r->test_right = l->test_right;
        r->test_samples = l->test_samples;
        r->loss = (struct lade_report_curve){l->loss.x, l->loss.y, l->loss.points};
    }
    for (unsigned i = 0; i < f->shares; i++)
        share_names[i] = feed_mix_source(o, i);
    r->share = f->share;
    r->share_name = share_names;
    r->shares = f->shares;
    if (f->sequence != LADE_NO_FIELD) {
        r->sequence = lade_source_schema(f->source)->field[f->sequence].name;
        r->sequence_steps = f->steps_fed;
    }
    r->pack_row = o->pack;
    r->speed = (struct lade_report_curve){f->speed.x, f->speed.y, f->speed.points};
    figure_steps(f, g);
}

void feed_figure(struct feed *f, struct figures *g)
{
    memset(g, 0, sizeof *g);
    figure_drawn(f, g);
    figure_faults(f, g);
    g->audited =
        f->count && f->parts > 1 && lade_split_audit(f->count, f->classes, f->parts, f->weight, &g->audit) == LADE_OK;
    fill_report(f, g);
    if (lade_report_compute(&g->report, &g->times) != LADE_OK)
        g->times.bottleneck = "none"; /* never happens: both are of one version */
}
