/* SPDX-License-Identifier: MIT */
/* The report of lade feed as a page of HTML that needs nothing from elsewhere. */
#include "feed.h"

#include "feed_plot.h"
#include "lade.h"

#include <math.h>
#include <string.h>

enum { CLASSES_PLOTTED = 40, PARTS_PLOTTED = 5, WINDOWS = 60, NAME_SIZE = 64 };
/* Colours: 0 to 2 for source and parts, and one for each activity. */
enum { READ = 1, TRANSFORM = 2, PLAN = 3, WAIT = PLOT_PALE, BUSY = 4, T1 = 1, T2 = 4, TOGETHER = 5 };

static const char style[] =
    ":root{color-scheme:light "
    "dark;--page:#f6f7f9;--card:#fff;--ink:#1b2430;--soft:#5b6776;--line:#dfe4ea;--good:#1a7f4b;"
    "--bad:#b42318;--c0:#8593a3;--c1:#2f6fb0;--c2:#d9822b;--c3:#7a5ea8;--c4:#2a9d8f;--c5:#3f8f4f;--c6:#b8577a;--c7:#"
    "cfd6de;"
    "--in:#fff}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1a2029;--ink:#e6ebf1;--soft:#98a5b4;--line:#2c3541;"
    "--good:#4cc38a;--bad:#ff8b7d;--c0:#8a98a8;--c1:#5b9bd8;--c2:#e8a15a;--c3:#a68bd0;--c4:#4fbdb0;--c5:#6cbb7a;--c6:#"
    "d884a2;"
    "--c7:#3a4552;--in:#0d1117}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 "
    "system-ui,sans-serif}\n"
    "main{max-width:860px;margin:0 auto;padding:28px 18px 60px}h1{font-size:24px;margin:0 0 "
    "2px}h2{font-size:17px;margin:0 0 "
    "10px}\n"
    "p{margin:6px 0}.soft{color:var(--soft)}section{background:var(--card);border:1px solid "
    "var(--line);border-radius:10px;"
    "padding:18px 20px;margin:16px 0}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:18px 0}.tiles div{"
    "background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px}.tiles b{display:block;"
    "font-size:22px;font-variant-numeric:tabular-nums}.tiles span{color:var(--soft);font-size:13px}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}svg{width:100%;height:auto;display:block}svg text{font:12px "
    "system-ui,"
    "sans-serif;fill:var(--ink)}svg .tick{fill:var(--soft);font-size:11px}svg .in{fill:var(--in);font-size:11.5px}\n"
    ".track{fill:var(--line);opacity:.45}.grid{stroke:var(--line);fill:none}.line{stroke:var(--c1);stroke-width:2;fill:"
    "none;"
    "stroke-linejoin:round}\n"
    ".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}"
    ".c6{"
    "fill:var(--c6)}.c7{fill:var(--c7)}\n"
    ".legend{font-size:13px;color:var(--soft)}.legend span{margin-right:14px;white-space:nowrap}.legend "
    "i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:5px}\n"
    ".b0{background:var(--c0)}.b1{background:var(--c1)}.b2{background:var(--c2)}.b3{background:var(--c3)}.b4{"
    "background:"
    "var(--c4)}.b5{background:var(--c5)}.b6{background:var(--c6)}.b7{background:var(--c7)}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}td,th{text-align:left;"
    "padding:4px 10px 4px 0;border-bottom:1px solid "
    "var(--line);overflow-wrap:anywhere}th{color:var(--soft);font-weight:"
    "normal}\n";

static void section(FILE *to, const char *id, const char *title)
{
    fprintf(to, "<section id='%s'>\n<h2>%s</h2>\n", id, title);
}

static void tile(FILE *to, const char *class_of, const char *value, const char *what)
{
    fprintf(to, "<div><b class='%s'>%s</b><span>%s</span></div>\n", class_of, value, what);
}

static void put_tiles(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct tally *t = &f->tally;
    char value[64];

    fputs("<div class='tiles' id='summary'>\n", to);
    (void)snprintf(value, sizeof value, "%.0f", g->samples_rate);
    tile(to, "", value, "samples a second");
    (void)snprintf(value, sizeof value, "%.1f MB/s", g->bytes_rate / 1e6);
    tile(to, "", value, "to the consumer");
    (void)snprintf(value, sizeof value, "%.1f %%", 100 * g->stall);
    tile(to, "", value, "of its time the consumer stalled");
    tile(to, "", g->bottleneck, "is the bottleneck");
    (void)snprintf(value, sizeof value, "%.1f %%", 100 * g->saved);
    tile(to, "", value, "saved by loading ahead");
    (void)snprintf(value, sizeof value, "%.0f MB", g->peak_memory / 1e6);
    tile(to, "", value, "of memory at most");
    tile(to,
         !t->on           ? "soft"
         : tally_right(t) ? "good"
                          : "bad",
         !t->on           ? "not counted"
         : tally_right(t) ? (t->repeats ? "as it should" : "exactly once")
                          : "wrong",
         "samples arrived");
    fputs("</div>\n", to);
}

static void put_stages(FILE *to, const struct feed *f, const struct figures *g)
{
    static const char *const name[] = {"read", "transform", "plan and switch", "busy", "wait"};
    static const unsigned colour[] = {READ, TRANSFORM, PLAN, BUSY, WAIT};
    const struct bar bar[] = {{"workers",
                               {{g->read, READ, "read"},
                                {g->transform, TRANSFORM, "transform"},
                                {g->plan, PLAN, "plan and switch"},
                                {g->wait, WAIT, "wait"}},
                               4},
                              {f->consumer->name, {{g->busy, BUSY, "busy"}, {g->stall, WAIT, "wait"}}, 2}};

    section(to, "stages", "Who worked and who waited");
    plot_bars(to, "Shares of time", bar, 2, 1, 100, "%");
    plot_legend(to, name, colour, 5);
    fprintf(to, "<p>The bottleneck is <b>%s</b>: the stage that had the least time to wait.</p>\n</section>\n",
            g->bottleneck);
}

static void put_overlap(FILE *to, const struct figures *g)
{
    const double best = g->t1 > g->t2 ? g->t1 : g->t2, all = g->t1 + g->t2;
    const struct bar bar[] = {{"one after the other", {{g->t1, T1, "load"}, {g->t2, T2, "use"}}, 2},
                              {"as it was", {{g->together, TOGETHER, "a batch"}}, 1},
                              {"at best", {{best, 0, "a batch"}}, 1}};
    static const char *const name[] = {"t1, loading a batch", "t2, using it", "a batch, both at once"};
    static const unsigned colour[] = {T1, T2, TOGETHER};

    section(to, "overlap", "Loading while the consumer is busy");
    plot_bars(to, "Time of a batch", bar, 3, all > g->together ? all : g->together, 1e3, "ms");
    plot_legend(to, name, colour, 3);
    fprintf(to,
            "<p>%.1f %% of t1 + t2 were saved; at most min(t1, t2) / (t1 + t2) = %.1f %% can be. Both times were "
            "measured while "
            "the other side ran.</p>\n</section>\n",
            100 * g->saved, 100 * g->bound);
}

/* Rates in windows of equal length, from samples so far. */
static void put_speed(FILE *to, const struct feed *f)
{
    const struct curve *c = &f->speed;
    double x[WINDOWS], y[WINDOWS], at = 0, samples = 0;
    unsigned points = 0;

    if (c->points < 2)
        return;
    const double window = c->x[c->points - 1] / WINDOWS;
    for (unsigned i = 0; i < c->points && points < WINDOWS; i++)
        if (c->x[i] - at >= window) {
            x[points] = c->x[i];
            y[points++] = (c->y[i] - samples) / (c->x[i] - at);
            at = c->x[i];
            samples = c->y[i];
        }
    section(to, "speed", "Speed");
    plot_line(to, "Samples a second over time", x, y, points, "seconds", "samples a second");
    fprintf(to, "<p>%llu samples in %llu batches, %.2f s.</p>\n</section>\n", (big)f->samples, (big)f->batches,
            f->seconds);
}

static void put_learning(FILE *to, const struct feed *f)
{
    const struct learnt *l = &f->learnt;
    char room[NAME_SIZE];

    if (!l->learns || l->loss.points == 0)
        return;
    section(to, "learning", "What the consumer learnt");
    plot_line(to, "Loss of batches", l->loss.x, l->loss.y, l->loss.points, "batch", "loss (nats)");
    fprintf(to, "<p>Mean loss %.4g in the first epoch, %.4g in the last.", l->first_loss, l->last_loss);
    if (l->tested)
        fprintf(to, " On the part %s: loss %.4g, %.2f %% of %llu samples right.",
                part_name(f->parts, f->parts - 1, room, sizeof room), l->test_loss, 100 * l->test_right,
                (big)l->test_samples);
    fputs("</p>\n</section>\n", to);
}

static void put_split(FILE *to, const struct feed *f, const struct figures *g)
{
    char name[PARTS_PLOTTED][NAME_SIZE];
    const char *names[PARTS_PLOTTED];
    unsigned colour[PARTS_PLOTTED];
    struct bar bar[] = {{.name = "samples"}, {.name = "weights"}};
    double weights = 0;

    if (!g->audited)
        return;
    for (unsigned p = 0; p < f->parts; p++)
        weights += f->weight[p];
    for (unsigned p = 0; p < f->parts && p < PARTS_PLOTTED; p++) {
        colour[p] = p + 1;
        names[p] = part_name(f->parts, p, name[p], NAME_SIZE);
        bar[0].segment[bar[0].segments++] =
            (struct segment){f->classified ? (double)f->size[p] / (double)f->classified : 0, p + 1, names[p]};
        bar[1].segment[bar[1].segments++] = (struct segment){f->weight[p] / weights, p + 1, names[p]};
    }
    section(to, "split", "Split");
    plot_bars(to, "Shares of the parts", bar, 2, 1, 100, "%");
    plot_legend(to, names, colour, bar[0].segments);
    fprintf(to, "<p>Chi-square of the sizes against the weights: p = %.3g.</p>\n</section>\n", g->audit.shares_p);
}

static void put_classes(FILE *to, const struct feed *f, const struct figures *g)
{
    static char class_room[CLASSES_PLOTTED][NAME_SIZE], part_room[PARTS_PLOTTED][NAME_SIZE];
    static double value[CLASSES_PLOTTED * (PARTS_PLOTTED + 2)];
    const char *class_names[CLASSES_PLOTTED], *series[PARTS_PLOTTED + 2];
    const unsigned shown = f->classes < CLASSES_PLOTTED ? f->classes : CLASSES_PLOTTED;
    const unsigned parts = f->parts == 1 ? 0 : f->parts < PARTS_PLOTTED ? f->parts : PARTS_PLOTTED;
    unsigned colour[PARTS_PLOTTED + 2];

    if (!f->count || f->info->classes == 0)
        return;
    series[0] = "source";
    series[parts + 1] = "drawn";
    for (unsigned p = 0; p < parts; p++)
        series[p + 1] = part_name(f->parts, p, part_room[p], NAME_SIZE);
    for (unsigned s = 0; s < parts + 2; s++)
        colour[s] = s;
    for (unsigned c = 0; c < shown; c++) {
        double *row = value + c * (parts + 2);
        class_names[c] = class_name(f, c, class_room[c], NAME_SIZE);
        row[0] = source_share(f, c);
        for (unsigned p = 0; p < parts; p++)
            row[p + 1] = part_share(f, c, p);
        row[parts + 1] = drawn_share(f, c);
    }
    section(to, "classes", "Classes");
    plot_groups(to, "Class frequencies", &(struct groups){class_names, shown, parts + 2, value, series});
    plot_legend(to, series, colour, parts + 2);
    if (shown < f->classes)
        fprintf(to, "<p class='soft'>The first %u of %u classes.</p>\n", shown, f->classes);
    if (g->audited)
        fprintf(to, "<p>All parts have the same classes: p = %.3g.</p>\n", g->audit.classes_p);
    if (g->drawn_p >= 0)
        fprintf(to, "<p>What was drawn has %s: p = %.3g%s.</p>\n",
                f->o.balanced ? "each class equally often" : "the classes of the part", g->drawn_p,
                f->classes > g->drawn_cells ? ", with classes put together" : "");
    fputs("</section>\n", to);
}

static void row(FILE *to, const char *name, const char *value)
{
    fprintf(to, "<tr><th>%s</th><td>", name);
    html_text(to, value);
    fputs("</td></tr>\n", to);
}

static void count_row(FILE *to, const char *name, uint64_t value)
{
    fprintf(to, "<tr><th>%s</th><td>%llu</td></tr>\n", name, (big)value);
}

static void put_arrivals(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct tally *t = &f->tally;

    section(to, "arrivals", "What arrived");
    fputs("<p>", to);
    html_text(to, f->claim);
    fputs("</p>\n<table>\n", to);
    if (t->on) {
        count_row(to, "missing", t->missing);
        if (!t->repeats)
            count_row(to, "repeated", t->repeated);
        count_row(to, "foreign to the part", t->foreign);
    }
    count_row(to, "faults", f->stats.faults);
    count_row(to, "workers replaced", f->stats.replaced);
    for (unsigned i = 0; i < g->faults; i++) {
        fputs("<tr><th>fault: ", to);
        html_text(to, g->fault[i].name);
        fputs("</th><td>", to);
        html_text(to, g->fault[i].text);
        fputs("</td></tr>\n", to);
    }
    fputs("</table>\n</section>\n", to);
}

static void put_run(FILE *to, const struct feed *f)
{
    char room[NAME_SIZE];

    section(to, "run", "This run");
    fputs("<table>\n", to);
    row(to, "source", f->o.source);
    row(to, "part", part_name(f->parts, f->o.part, room, sizeof room));
    row(to, "order", order_name(f));
    row(to, "consumer", f->consumer->name);
    if (f->device.on) {
        const double batches = f->batches ? (double)f->batches : 1;
        char text[160];
        (void)snprintf(text, sizeof text, "%s, %u slots: copy %.3f ms, compute %.3f ms a batch", f->o.device,
                       f->device.depth, 1e3 * f->device.copy / batches, 1e3 * f->device.compute / batches);
        row(to, "device", text);
    }
    count_row(to, "samples of a batch", f->o.batch);
    count_row(to, "workers", f->o.threads);
    count_row(to, "seed", f->o.seed);
    count_row(to, "first epoch", f->first_epoch);
    count_row(to, "last epoch", f->last_epoch);
    count_row(to, "bytes of a slot", f->stats.slot_bytes);
    row(to, "lade", LADE_VERSION);
    fputs("</table>\n</section>\n", to);
}

void report_html(FILE *to, const struct feed *f, const struct figures *g)
{
    fputs("<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n<meta name='viewport' "
          "content='width=device-width, initial-scale=1'>\n<title>lade feed: ",
          to);
    html_text(to, f->o.source);
    fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>lade feed</h1>\n<p class='soft'>", style);
    html_text(to, f->o.source);
    fputs("</p>\n", to);
    put_tiles(to, f, g);
    put_stages(to, f, g);
    put_overlap(to, g);
    put_speed(to, f);
    put_learning(to, f);
    put_split(to, f, g);
    put_classes(to, f, g);
    put_arrivals(to, f, g);
    put_run(to, f);
    fputs("</main>\n</body>\n</html>\n", to);
}
