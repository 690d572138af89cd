/* SPDX-License-Identifier: MIT */
/* The report of lade feed, for people and as JSON. */
#include "feed.h"

#include "lade.h"

#include <math.h>
#include <string.h>

enum { CLASSES_SHOWN = 12, PARTS_SHOWN = 8 };

static void print_head(FILE *to, const struct feed *f)
{
    const struct lade_source_info *info = f->info;
    char room[32];

    fprintf(to, "lade feed: %s, ", shown(f->o.source));
    if (info->count != LADE_ENDLESS)
        fprintf(to, "%llu samples of ", (big)info->count);
    fprintf(to, "%s", lade_dtype_name(info->shape.dtype));
    for (unsigned d = 0; d < info->shape.dims; d++)
        fprintf(to, "%s%llu", d ? " x " : " ", (big)info->shape.dim[d]);
    fprintf(to, ", %llu classes\n", (big)info->classes);
    fprintf(
        to,
        "  fed          %llu samples of %s in %llu batches of %llu, epochs %llu to %llu; %llu workers, %s, seed %llu\n",
        (big)f->samples, f->parts == 1 ? "the whole source" : part_name(f->parts, f->o.part, room, sizeof room),
        (big)f->batches, (big)f->o.batch, (big)f->first_epoch, (big)f->last_epoch, (big)f->o.threads, order_name(f),
        (big)f->o.seed);
    fprintf(to, "  holds        %s\n", f->claim);
}

/* Of the device's time; 0 where it had work all the time. */
static double device_stall(const struct feed *f)
{
    double busy = f->seconds > 0 ? f->device.compute / f->seconds : 0;

    return busy < 1 ? 1 - busy : 0;
}

/* Each time is that of a batch. */
static void print_device(FILE *to, const struct feed *f)
{
    const struct device_figures *d = &f->device;
    const double batches = f->batches ? (double)f->batches : 1;

    if (!d->on)
        return;
    fprintf(to, "  device       %s, %u slots: copy %.3f ms, compute %.3f ms a batch; stalled %.1f %% of the time\n",
            f->o.device, d->depth, 1e3 * d->copy / batches, 1e3 * d->compute / batches, 100 * device_stall(f));
    fprintf(to, "               the consumer waited for the device %llu times\n", (big)d->consumer_waits);
}

static void print_times(FILE *to, const struct feed *f, const struct figures *g)
{
    fprintf(to, "  speed        %.0f samples/s, %.1f MB/s, %.2f s\n", g->samples_rate, g->bytes_rate / 1e6, f->seconds);
    fprintf(to, "  workers      read %.1f %%, transform %.1f %%, plan %.1f %%, wait %.1f %% of their time\n",
            100 * g->read, 100 * g->transform, 100 * g->plan, 100 * g->wait);
    fprintf(to, "  consumer     %s: busy %.1f %%, stalled %.1f %%\n", f->consumer->name, 100 * g->busy, 100 * g->stall);
    fprintf(to, "  bottleneck   %s\n", g->bottleneck);
    print_device(to, f);
    fprintf(to,
            "  overlap      a batch takes %.3f ms to load (t1), %.3f ms to use (t2), %.3f ms as it was: %.1f %% saved, "
            "at most %.1f %%\n",
            1e3 * g->t1, 1e3 * g->t2, 1e3 * g->together, 100 * g->saved, 100 * g->bound);
    fprintf(to, "  memory       %.1f MB at most", g->peak_memory / 1e6);
    if (f->anonymous > 0)
        fprintf(to, ", %.1f MB at the end that are no file's", f->anonymous / 1e6);
    fprintf(to, "; %llu bytes a slot\n", (big)f->stats.slot_bytes);
}

static void print_arrivals(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct tally *t = &f->tally;

    if (!t->on)
        fputs("  exactly once not counted\n", to);
    else if (t->repeats)
        fprintf(to, "  arrivals     %llu foreign, %llu too many or too few of %llu, drawn with replacement\n",
                (big)t->foreign, (big)t->wrong_length, (big)f->samples);
    else
        fprintf(to, "  exactly once %llu missing, %llu repeated, %llu foreign of %llu%s\n", (big)t->missing,
                (big)t->repeated, (big)t->foreign, (big)f->samples, tally_right(t) ? "" : ": WRONG");
    if (f->stats.faults > 0)
        fprintf(to, "  faults       %llu samples were %s\n", (big)f->stats.faults,
                f->o.fault == LADE_FAULT_SKIP ? "skipped" : "replaced by others");
    for (unsigned i = 0; i < g->faults; i++)
        fprintf(to, "    %s: %s\n", shown(g->fault[i].name), g->fault[i].text);
    if (f->stats.replaced > 0)
        fprintf(to, "  replaced     %llu workers that did not come back in time\n", (big)f->stats.replaced);
    if (f->saves > 0)
        fprintf(to, "  saved        %llu times to %s\n", (big)f->saves, shown(f->o.save));
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
            fprintf(to, "%s %s %llu (%.4f)", p ? "," : "", part_name(f->parts, p, room, sizeof room), (big)f->size[p],
                    f->classified ? (double)f->size[p] / (double)f->classified : 0);
        fprintf(to, "%s; p %.3g that sizes are by the weights\n", parts < f->parts ? ", ..." : "", g->audit.shares_p);
    }
    if (f->info->classes == 0)
        return;
    fprintf(to, "  %-12s %8s", "class", "source");
    for (unsigned p = 0; p < parts && f->parts > 1; p++)
        fprintf(to, " %8s", part_name(f->parts, p, room, sizeof room));
    fprintf(to, " %8s\n", "drawn");
    for (unsigned c = 0; c < f->classes && c < CLASSES_SHOWN; c++) {
        fprintf(to, "    %-10.10s %8.4f", shown(class_name(f, c, room, sizeof room)), source_share(f, c));
        for (unsigned p = 0; p < parts && f->parts > 1; p++)
            fprintf(to, " %8.4f", part_share(f, c, p));
        fprintf(to, " %8.4f\n", drawn_share(f, c));
    }
    if (f->classes > CLASSES_SHOWN)
        fprintf(to, "    and %u more; --json tells them\n", f->classes - CLASSES_SHOWN);
    if (g->audited)
        fprintf(to, "               p %.3g that all parts have the same classes\n", g->audit.classes_p);
    if (g->drawn_p >= 0)
        fprintf(to, "               p %.3g that what was drawn has %s\n", g->drawn_p,
                f->o.balanced ? "each class equally often" : "the classes of the part");
}

void report_words(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct learnt *l = &f->learnt;
    char room[32];

    print_head(to, f);
    print_times(to, f, g);
    print_arrivals(to, f, g);
    print_classes(to, f, g);
    if (l->learns && f->batches > 0)
        fprintf(to, "  %-12s loss %.4g in the first epoch, %.4g in the last", f->consumer->name, l->first_loss,
                l->last_loss);
    if (l->tested)
        fprintf(to, "; %s: loss %.4g, %.2f %% of %llu right", part_name(f->parts, f->parts - 1, room, sizeof room),
                l->test_loss, 100 * l->test_right, (big)l->test_samples);
    if (l->learns && f->batches > 0)
        fputc('\n', to);
    if (f->status == LADE_CANCELLED)
        fputs("  ended        by a signal, before the end\n", to);
}

/* JSON has no infinity and no "not a number". */
static void put_number(FILE *to, const char *name, double value)
{
    if (isfinite(value))
        fprintf(to, ", \"%s\": %.9g", name, value);
    else
        fprintf(to, ", \"%s\": null", name);
}

static void put_classes(FILE *to, const struct feed *f)
{
    char room[64];

    fputs(", \"classes\": [", to);
    for (unsigned c = 0; c < f->classes && f->info->classes > 0; c++) {
        fprintf(to, "%s{\"name\": ", c ? ", " : "");
        json_quoted(to, class_name(f, c, room, sizeof room));
        if (f->count) {
            uint64_t all = 0;
            for (unsigned p = 0; p < f->parts; p++)
                all += f->count[(size_t)c * f->parts + p];
            fprintf(to, ", \"source\": %llu, \"parts\": [", (big)all);
            for (unsigned p = 0; p < f->parts; p++)
                fprintf(to, "%s%llu", p ? ", " : "", (big)f->count[(size_t)c * f->parts + p]);
            fputs("]", to);
        }
        fprintf(to, ", \"drawn\": %llu}", (big)f->drawn[c]);
    }
    fputs("]", to);
}

static void put_split(FILE *to, const struct feed *f, const struct figures *g)
{
    char room[32];

    fprintf(to, ", \"split\": {\"part\": %llu, \"parts\": [", (big)f->o.part);
    for (unsigned p = 0; p < f->parts; p++) {
        fprintf(to, "%s{\"name\": \"%s\", \"weight\": %lu", p ? ", " : "", part_name(f->parts, p, room, sizeof room),
                (unsigned long)f->weight[p]);
        if (f->count)
            fprintf(to, ", \"samples\": %llu", (big)f->size[p]);
        fputs("}", to);
    }
    fputs("]", to);
    if (g->audited) {
        put_number(to, "shares_p", g->audit.shares_p);
        put_number(to, "classes_p", g->audit.classes_p);
    }
    if (g->drawn_p >= 0)
        put_number(to, "drawn_p", g->drawn_p);
    fputs("}", to);
}

static void put_arrivals(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct tally *t = &f->tally;

    fprintf(to, ", \"check\": {\"counted\": %s", t->on ? "true" : "false");
    if (t->on)
        fprintf(to, ", \"right\": %s, \"missing\": %llu, \"repeated\": %llu, \"foreign\": %llu, \"wrong_length\": %llu",
                tally_right(t) ? "true" : "false", (big)t->missing, (big)t->repeated, (big)t->foreign,
                (big)t->wrong_length);
    fprintf(to, "}, \"faults\": {\"count\": %llu, \"named\": [", (big)f->stats.faults);
    for (unsigned i = 0; i < g->faults; i++) {
        fputs(i ? ", {\"sample\": " : "{\"sample\": ", to);
        json_quoted(to, g->fault[i].name);
        fputs(", \"error\": ", to);
        json_quoted(to, g->fault[i].text);
        fputs("}", to);
    }
    fprintf(to, "]}, \"replaced_workers\": %llu, \"saves\": %llu", (big)f->stats.replaced, (big)f->saves);
}

static void put_times(FILE *to, const struct feed *f, const struct figures *g)
{
    put_number(to, "seconds", f->seconds);
    put_number(to, "samples_per_second", g->samples_rate);
    put_number(to, "bytes_per_second", g->bytes_rate);
    fprintf(to,
            ", \"workers\": {\"read\": %.9g, \"transform\": %.9g, \"plan\": %.9g, \"wait\": %.9g}, \"consumer\": "
            "{\"name\": \"%s\", \"busy\": %.9g, \"stall\": %.9g}, \"bottleneck\": \"%s\"",
            g->read, g->transform, g->plan, g->wait, f->consumer->name, g->busy, g->stall, g->bottleneck);
    fprintf(to,
            ", \"overlap\": {\"t1\": %.9g, \"t2\": %.9g, \"batch\": %.9g, \"saved\": %.9g, \"bound\": %.9g}, "
            "\"memory\": {\"peak\": %.0f, \"anonymous\": %.0f, \"slot\": %llu}",
            g->t1, g->t2, g->together, g->saved, g->bound, g->peak_memory, f->anonymous, (big)f->stats.slot_bytes);
}

static void put_device(FILE *to, const struct feed *f)
{
    const struct device_figures *d = &f->device;

    if (!d->on)
        return;
    fprintf(to, ", \"device\": {\"name\": \"%s\", \"depth\": %u, \"copied_bytes\": %llu", f->o.device, d->depth,
            (big)d->bytes);
    put_number(to, "copy", d->copy);
    put_number(to, "compute", d->compute);
    put_number(to, "stall", device_stall(f));
    fprintf(to, ", \"consumer_waits\": %llu}", (big)d->consumer_waits);
}

static void put_learnt(FILE *to, const struct feed *f)
{
    const struct learnt *l = &f->learnt;

    if (!l->learns || f->batches == 0)
        return;
    fputs(", \"learnt\": {\"model\": \"softmax\"", to);
    put_number(to, "first_loss", l->first_loss);
    put_number(to, "last_loss", l->last_loss);
    if (l->tested) {
        put_number(to, "test_loss", l->test_loss);
        put_number(to, "test_right", l->test_right);
        fprintf(to, ", \"test_samples\": %llu", (big)l->test_samples);
    }
    fputs("}", to);
}

void report_json(FILE *to, const struct feed *f, const struct figures *g)
{
    fputs("{\"source\": ", to);
    json_quoted(to, f->o.source);
    fprintf(to, ", \"ended\": \"%s\"",
            f->status == LADE_CLOSED      ? "done"
            : f->status == LADE_OK        ? "batches"
            : f->status == LADE_CANCELLED ? "signal"
                                          : "error");
    if (f->info->count != LADE_ENDLESS)
        fprintf(to, ", \"source_samples\": %llu", (big)f->info->count);
    fprintf(to,
            ", \"samples\": %llu, \"batches\": %llu, \"bytes\": %llu, \"batch\": %llu, \"first_epoch\": %llu, "
            "\"last_epoch\": %llu, \"threads\": %llu, \"seed\": %llu, \"order\": \"%s\", \"shard\": %llu, "
            "\"shards\": %llu, \"claim\": ",
            (big)f->samples, (big)f->batches, (big)f->bytes, (big)f->o.batch, (big)f->first_epoch, (big)f->last_epoch,
            (big)f->o.threads, (big)f->o.seed, order_name(f), (big)f->o.shard, (big)(f->o.shards ? f->o.shards : 1));
    json_quoted(to, f->claim);
    put_times(to, f, g);
    put_arrivals(to, f, g);
    put_split(to, f, g);
    put_classes(to, f);
    put_device(to, f);
    put_learnt(to, f);
    fputs("}\n", to);
}
