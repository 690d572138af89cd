/* SPDX-License-Identifier: MIT */
/*
 * The picture of --timeline: a row for each buffer on the host and each slot on the device, with time from left to
 * right.
 */
#include "feed.h"

#ifdef LADE_GPU

enum { LEFT = 80, TOP = 56, ROW = 34, BAR = 24, WIDTH = 1200, MARGIN = 40, SHOWN = 48 };

/* The phases between two steps of a batch; waiting ends with the copy, or when the consumer takes the batch. */
static const struct {
    int begin, end;
    const char *name, *colour;
} kind[] = {{LADE_STEP_MAKE, LADE_STEP_MADE, "a worker writes", "#4477aa"},
            {LADE_STEP_MADE, LADE_STEP_TAKEN, "made, waits", "#bbccee"},
            {LADE_STEP_COPY, LADE_STEP_COPIED, "copy, behind earlier work", "#ccbb44"},
            {LADE_STEP_TAKEN, LADE_STEP_RELEASED, "with the consumer", "#228833"}};
enum { KINDS = sizeof kind / sizeof kind[0] };

/* The end of the phase that begins with step i. */
static double end_of(const struct device_figures *d, unsigned i, unsigned k, double last)
{
    const struct device_step *s = &d->step[i];
    const int end = kind[k].begin == LADE_STEP_MADE && d->depth ? LADE_STEP_COPIED : kind[k].end;

    for (unsigned j = 0; j < d->steps; j++) {
        const struct device_step *t = &d->step[j];
        if (t->step == end && t->number == s->number)
            return t->at > s->at ? t->at : s->at;
    }
    return last;
}

/* Buffers come first, then the slots of the device. */
static unsigned row_of(const struct device_figures *d, const struct device_step *s, unsigned buffers)
{
    const bool on_host = s->step == LADE_STEP_MAKE || s->step == LADE_STEP_MADE || d->depth == 0;

    return on_host ? s->slot : buffers + s->slot;
}

/* The least of 1, 2 and 5 times a power of ten that divides the span into ten steps at most. */
static double round_step(double span)
{
    double step = 1e-9;

    for (int i = 0; step * 10 < span; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void draw_axis(FILE *to, double span, double bottom)
{
    const double milliseconds = 1e3 * span, step = round_step(milliseconds), room = WIDTH - LEFT - MARGIN;

    for (int i = 0; i * step <= milliseconds; i++) {
        double x = LEFT + room * i * step / milliseconds;
        fprintf(to,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' class='tick' "
                "text-anchor='middle'>%.6g</text>\n",
                x, TOP, x, bottom, x, bottom + 16, i * step);
    }
    fprintf(to, "<text x='%d' y='%.1f' text-anchor='middle'>milliseconds</text>\n", WIDTH / 2, bottom + 34);
}

static void draw_legend(FILE *to)
{
    double x = LEFT;

    for (unsigned k = 0; k < KINDS; k++) {
        fprintf(to, "<rect x='%.1f' y='30' width='12' height='12' fill='%s'/><text x='%.1f' y='40'>%s</text>\n", x,
                kind[k].colour, x + 17, kind[k].name);
        x += 190;
    }
}

void report_timeline(FILE *to, const struct feed *f, const struct figures *g)
{
    const struct device_figures *d = &f->device;
    unsigned buffers = 1;
    /* The start, with cold caches, is left out if there are enough batches. */
    const uint64_t first = f->batches > 2 * SHOWN ? SHOWN : 0;
    double begin = 0, last = 0;

    (void)g;
    for (unsigned i = 0; i < d->steps; i++) {
        const struct device_step *s = &d->step[i];
        if (s->number < first || s->number >= first + SHOWN)
            continue;
        begin = begin == 0 || s->at < begin ? s->at : begin;
        last = s->at > last ? s->at : last;
        if (s->step == LADE_STEP_MAKE && s->slot >= buffers)
            buffers = s->slot + 1;
    }
    const unsigned rows = buffers + d->depth;
    const double bottom = TOP + ROW * (double)rows;
    const double span = last > begin ? last - begin : 1e-3;
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' font-family='sans-serif' font-size='12'>\n"
            "<rect width='%d' height='%.0f' fill='white'/>\n"
            "<text x='%d' y='18' font-size='14'>batches %llu to %llu from the workers to %s</text>\n",
            WIDTH, bottom + 46, WIDTH, bottom + 46, LEFT, (big)first, (big)(first + SHOWN - 1), f->o.device);
    draw_legend(to);
    draw_axis(to, span, bottom);
    for (unsigned r = 0; r < rows; r++)
        fprintf(to, "<text x='%d' y='%d' text-anchor='end'>%s %u</text>\n", LEFT - 8, TOP + ROW * (int)r + 20,
                r < buffers ? "buffer" : "device", r < buffers ? r : r - buffers);
    for (unsigned i = 0; i < d->steps; i++) {
        const struct device_step *s = &d->step[i];
        if (s->number < first || s->number >= first + SHOWN)
            continue;
        for (unsigned k = 0; k < KINDS; k++) {
            if (s->step != kind[k].begin)
                continue;
            const double scale = (WIDTH - LEFT - MARGIN) / span, end = end_of(d, i, k, last);
            fprintf(to,
                    "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s'><title>batch %llu: %s, %.3f "
                    "ms</title></rect>\n",
                    LEFT + (s->at - begin) * scale, TOP + ROW * (int)row_of(d, s, buffers) + 5,
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
