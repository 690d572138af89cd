/* SPDX-License-Identifier: MIT */
/* The report of lade feed, as text and as JSON. */
#include "feed.h"

#include "fields.h"
#include "lade.h"

#include <math.h>
#include <string.h>

enum { CLASSES_SHOWN = 12, PARTS_SHOWN = 8 };

/* The epochs that were fed, as text. */
static void print_epochs(FILE *to, const struct feed *f)
{
    if (f->epochs == 0)
        return;
    if (f->o.stream)
        fprintf(to, ", %s %s", grouped(f->epochs), f->epochs == 1 ? "epoch" : "epochs, mixed");
    else
        fprintf(to, ", epochs %s to %s", grouped(f->first_epoch), grouped(f->first_epoch + f->epochs - 1));
}

static void print_head(FILE *to, const struct feed *f)
{
    const struct lade_source_info *info = f->info;
    char room[32];

    fprintf(to, "lade feed: %s, ", shown(f->o.source));
    if (info->count != LADE_ENDLESS)
        fprintf(to, "%s samples of ", grouped(info->count));
    print_sample(to, f->source);
    fprintf(to, ", %s classes\n", grouped(info->classes));
    fprintf(to, "  fed          %s samples of %s in %s batches of %llu%s", grouped(f->samples),
            f->parts == 1 ? "the whole source" : part_name(f->parts, f->o.part, room, sizeof room), grouped(f->batches),
            (big)f->o.batch, f->o.pack ? " rows" : "");
    print_epochs(to, f);
    fprintf(to, "; %llu workers, %s, seed %llu\n", (big)f->o.threads, order_name(f), (big)f->o.seed);
    fprintf(to, "  holds        %s\n", f->guarantee);
}

/* Share of the device's time without work. */
static double device_stall(const struct feed *f)
{
    double busy = f->seconds > 0 ? f->device.compute / f->seconds : 0;

    return busy < 1 ? 1 - busy : 0;
}

/* Times are per batch. */
static void print_device(FILE *to, const struct feed *f)
{
    const struct device_figures *d = &f->device;
    const double batches = f->batches ? (double)f->batches : 1;

    if (!d->on)
        return;
    fprintf(to, "  device       %s, %u slots: copy %.3f ms, compute %.3f ms a batch; stalled %.1f %% of the time\n",
            f->o.device, d->depth, 1e3 * d->copy / batches, 1e3 * d->compute / batches, 100 * device_stall(f));
    fprintf(to, "               the consumer waited for the device %s times\n", grouped(d->consumer_waits));
}

static void print_overlap(FILE *to, const struct lade_report_times *t)
{
    fprintf(to, "  overlap      a batch takes %.3f ms to load (t1), %.3f ms to use (t2), %.3f ms as measured: ",
            1e3 * t->load, 1e3 * t->use, 1e3 * t->batch);
    if (t->saved >= 0.0005)
        fprintf(to, "%.1f %% saved, at most %.1f %%\n", 100 * t->saved, 100 * t->bound);
    else
        fprintf(to, "nothing saved, at most %.1f %%\n", 100 * t->bound);
}

static void print_sequences(FILE *to, const struct feed *f, const struct lade_report *r)
{
    if (!r->sequence)
        return;
    fprintf(to, "  sequences    %s steps of %s", grouped(r->sequence_steps), shown(r->sequence));
    fprintf(to, ", %s steps/s\n",
            grouped(f->seconds > 0 ? (uint64_t)((double)r->sequence_steps / f->seconds + 0.5) : 0));
    if (r->pack_row == 0)
        return;
    fprintf(to, "  packing      %s rows of %llu steps, %.2f %% filled; ", grouped(r->packed_rows), (big)r->pack_row,
            r->packed_slots ? 100 * (double)r->packed_steps / (double)r->packed_slots : 0);
    fprintf(to, "samples cut %llu, split %llu, dropped %llu\n", (big)r->samples_cut, (big)r->samples_split,
            (big)r->samples_dropped);
}

static void print_times(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct lade_report_times *t = &g->times;

    fprintf(to, "  speed        %s samples/s, %.1f MB/s, %.2f s\n", grouped((uint64_t)(t->samples_rate + 0.5)),
            t->bytes_rate / 1e6, f->seconds);
    print_sequences(to, f, &g->report);
    fprintf(to, "  workers      read %.1f %%, transform %.1f %%, plan %.1f %%, wait %.1f %% of their time\n",
            100 * t->read, 100 * t->transform, 100 * t->plan, 100 * t->wait);
    fprintf(to, "  consumer     %s: busy %.1f %%, stalled %.1f %%\n", f->consumer->name, 100 * t->busy, 100 * t->stall);
    fprintf(to, "  bottleneck   %s%s\n", t->bottleneck,
            strcmp(t->bottleneck, "hand-over")
                ? ""
                : ": both sides waited for most of the time; --slots or --threads may help");
    print_device(to, f);
    print_overlap(to, t);
    fprintf(to, "  memory       %.1f MB at most", (double)g->report.peak_memory / 1e6);
    if (f->anonymous > 0)
        fprintf(to, ", %.1f MB of anonymous memory at the end", (double)f->anonymous / 1e6);
    fprintf(to, "; %s bytes a slot\n", grouped(f->stats.slot_bytes));
}

static void print_arrivals(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct tally *t = &f->tally;

    if (!t->on)
        fputs("  exactly once not counted\n", to);
    else if (t->repeats)
        fprintf(to, "  arrivals     %s foreign, %s too many or too few of %s, drawn with replacement\n",
                grouped(t->foreign), grouped(t->wrong_length), grouped(f->samples));
    else
        fprintf(to, "  exactly once %s missing, %s repeated, %s foreign of %s%s\n", grouped(t->missing),
                grouped(t->repeated), grouped(t->foreign), grouped(f->samples), tally_right(t) ? "" : ": WRONG");
    if (f->stats.faults > 0)
        fprintf(to, "  faults       %s samples were %s\n", grouped(f->stats.faults),
                f->o.fault == LADE_FAULT_SKIP ? "skipped" : "replaced by others");
    for (unsigned i = 0; i < g->faults; i++)
        fprintf(to, "    %s: %s\n", shown(g->fault[i].name), g->fault[i].text);
    if (f->stats.replaced > 0)
        fprintf(to, "  replaced     %s workers that did not return in time\n", grouped(f->stats.replaced));
    if (f->saves > 0)
        fprintf(to, "  saved        %s times to %s\n", grouped(f->saves), shown(f->o.save));
}

static void print_classes(FILE *to, const struct feed *f, const struct figures *g)
{
    const unsigned parts = f->parts < PARTS_SHOWN ? f->parts : PARTS_SHOWN;
    char room[256];

    if (!f->count)
        return;
    if (f->parts > 1) {
        fputs("  split       ", to);
        for (unsigned p = 0; p < parts; p++)
            fprintf(to, "%s %s %s (%.4f)", p ? "," : "", part_name(f->parts, p, room, sizeof room), grouped(f->size[p]),
                    f->classified ? (double)f->size[p] / (double)f->classified : 0);
        fprintf(to, "%s; p %.3g if the sizes follow the weights\n", parts < f->parts ? ", ..." : "", g->audit.shares_p);
    }
    if (f->info->classes == 0)
        return;
    fprintf(to, "  %-12s %8s", "class", "source");
    for (unsigned p = 0; p < parts && f->parts > 1; p++)
        fprintf(to, " %10s", part_name(f->parts, p, room, sizeof room));
    fprintf(to, " %8s\n", "drawn");
    for (unsigned c = 0; c < f->classes && c < CLASSES_SHOWN; c++) {
        fprintf(to, "    %-10.10s %8.4f", shown(class_name(f, c, room, sizeof room)), source_share(f, c));
        for (unsigned p = 0; p < parts && f->parts > 1; p++)
            fprintf(to, " %10.4f", part_share(f, c, p));
        fprintf(to, " %8.4f\n", drawn_share(f, c));
    }
    if (f->classes > CLASSES_SHOWN)
        fprintf(to, "    and %u more; --json lists them\n", f->classes - CLASSES_SHOWN);
    if (g->audited)
        fprintf(to, "               the same classes in all parts: p = %.3g\n", g->audit.classes_p);
    if (g->drawn_p >= 0)
        fprintf(to, "               %s: p = %.3g\n",
                f->o.balanced ? "each class drawn equally often" : "classes drawn as in the part", g->drawn_p);
}

void report_words(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct learnt *l = &f->learnt;
    char room[32];

    print_head(to, f);
    print_times(to, f, g);
    print_arrivals(to, f, g);
    report_shares(to, f);
    print_classes(to, f, g);
    if (l->learns && f->batches > 0)
        fprintf(to, "  %-12s loss %.4g in the first epoch, %.4g in the last", f->consumer->name, l->first_loss,
                l->last_loss);
    if (l->tested)
        fprintf(to, "; %s: loss %.4g, %.2f %% of %s right", part_name(f->parts, f->parts - 1, room, sizeof room),
                l->test_loss, 100 * l->test_right, grouped(l->test_samples));
    if (l->learns && f->batches > 0)
        fputc('\n', to);
    if (f->status == LADE_CANCELLED)
        fputs("  ended        by a signal, before the end\n", to);
}

static int write_json(void *context, const char *text, size_t size)
{
    return fwrite(text, 1, size, context) == size ? LADE_OK : LADE_IO;
}

void report_json(FILE *to, const struct feed *f, const struct figures *g)
{
    (void)f;
    const int status = lade_report_json(&g->report, write_json, to);
    (void)status; /* the stream records an error, and output_end() finds it */
}
