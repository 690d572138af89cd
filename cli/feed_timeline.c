/* SPDX-License-Identifier: MIT */
/* The picture of --timeline: a row for each slot of the feeder, from left to right what was done with it. */
#include "feed.h"

#ifdef LADE_GPU
#include <lade/feeder.h>

enum { LEFT = 70, TOP = 56, ROW = 34, BAR = 24, WIDTH = 1200, SHOWN = 48 };

static const struct {
    int begin, end;
    const char *name, *colour;
} kind[] = {{LADE_FEEDER_FILL_BEGINS, LADE_FEEDER_FILLED, "staging", "#4477aa"},
            {LADE_FEEDER_COPY_ENQUEUED, LADE_FEEDER_COPY_SEEN, "copy", "#ccbb44"},
            {LADE_FEEDER_TAKEN, LADE_FEEDER_RELEASED, "work put into the queue", "#228833"},
            {LADE_FEEDER_RELEASED, LADE_FEEDER_FILL_BEGINS, "in the queue, until the slot is used again", "#aaccaa"}};
enum { KINDS = sizeof kind / sizeof kind[0] };

/* The end of what begins with step i: of the same batch, or for the last kind of the next one in the slot. */
static double end_of(const struct device_figures *d, unsigned i, unsigned k, double last)
{
    const struct device_step *s = &d->step[i];

    for (unsigned j = 0; j < d->steps; j++) {
        const struct device_step *t = &d->step[j];
        bool next = kind[k].end == LADE_FEEDER_FILL_BEGINS;
        if (t->step == kind[k].end && t->slot == s->slot &&
            (next ? t->number == s->number + d->depth : t->number == s->number))
            return t->at > s->at ? t->at : s->at;
    }
    return last;
}

static void draw_axis(FILE *to, double span, double bottom)
{
    for (int i = 0; i <= 10; i++) {
        double x = LEFT + (double)(WIDTH - LEFT - 20) * i / 10;
        fprintf(to,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
                "text-anchor='middle'>%.2f</text>\n",
                x, TOP, x, bottom, x, bottom + 16, 1e3 * span * i / 10);
    }
    fprintf(to, "<text x='%d' y='%.1f' text-anchor='middle'>milliseconds</text>\n", WIDTH / 2, bottom + 34);
}

static void draw_legend(FILE *to)
{
    double x = LEFT;

    for (unsigned k = 0; k < KINDS; k++) {
        fprintf(to, "<rect x='%.1f' y='30' width='12' height='12' fill='%s'/><text x='%.1f' y='40'>%s</text>\n", x,
                kind[k].colour, x + 17, kind[k].name);
        x += 170;
    }
}

void report_timeline(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct device_figures *d = &f->device;
    const unsigned rows = d->depth ? d->depth : 1;
    const double bottom = TOP + ROW * (double)rows;
    /* The beginning, when everything is cold, is left out where there is more. */
    const uint64_t first = f->batches > 2 * SHOWN ? SHOWN : 0;
    double begin = 0, last = 0;

    (void)g;
    for (unsigned i = 0; i < d->steps; i++) {
        const struct device_step *s = &d->step[i];
        if (s->number < first || s->number >= first + SHOWN)
            continue;
        begin = begin == 0 || s->at < begin ? s->at : begin;
        last = s->at > last ? s->at : last;
    }
    const double span = last > begin ? last - begin : 1e-3;
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' font-family='sans-serif' font-size='12'>\n"
            "<rect width='%d' height='%.0f' fill='white'/>\n"
            "<text x='%d' y='18' font-size='14'>batches %llu to %llu on their way to %s, %u slots</text>\n",
            WIDTH, bottom + 46, WIDTH, bottom + 46, LEFT, (big)first, (big)(first + SHOWN - 1), f->o.device, d->depth);
    draw_legend(to);
    draw_axis(to, span, bottom);
    for (unsigned r = 0; r < rows; r++)
        fprintf(to, "<text x='%d' y='%d' text-anchor='end'>slot %u</text>\n", LEFT - 8, TOP + ROW * (int)r + 20, r);
    for (unsigned i = 0; i < d->steps; i++) {
        const struct device_step *s = &d->step[i];
        if (s->number < first || s->number >= first + SHOWN)
            continue;
        for (unsigned k = 0; k < KINDS; k++) {
            if (s->step != kind[k].begin)
                continue;
            const double scale = (WIDTH - LEFT - 20) / span, end = end_of(d, i, k, last);
            fprintf(to,
                    "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s'><title>batch %llu: %s, %.3f "
                    "ms</title></rect>\n",
                    LEFT + (s->at - begin) * scale, TOP + ROW * (int)s->slot + 5,
                    ((end < last ? end : last) - s->at) * scale + 0.3, BAR, kind[k].colour, (big)s->number,
                    kind[k].name, 1e3 * (end - s->at));
        }
    }
    fputs("</svg>\n", to);
}
#else
void report_timeline(FILE *to, const struct feed *f, const struct figures *g)
{
    (void)to;
    (void)f;
    (void)g;
}
#endif
