/* SPDX-License-Identifier: MIT */
#include "feed_plot.h"

#include "escape.h"
#include "lade.h"

#include <math.h>
#include <string.h>

enum { LEFT = 150, RIGHT = 16, BAR = 26, GAP = 12, AXIS = 56, TOP = 12, HEIGHT = 220, FOOT = 40, TICKS = 5 };

void html_text(FILE *to, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);

    while (*at) {
        unsigned length = lade_utf8_length((const char *)at, (size_t)(end - at));
        if (length == 0 || (*at < ' ' && *at != '\t'))
            fputs("&#xfffd;", to);
        else if (strchr("<>&\"'", *at))
            fprintf(to, "&#%u;", *at);
        else
            fwrite(at, 1, length, to);
        at += length ? length : 1;
    }
}

static void begin(FILE *to, const char *title, double height)
{
    fprintf(to, "<svg viewBox='0 0 %d %.0f' role='img' aria-label='", PLOT_WIDTH, height);
    html_text(to, title);
    fputs("'>\n", to);
}

static void label(FILE *to, double x, double y, const char *anchor, const char *class_of, const char *text)
{
    fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='%s' class='%s'>", x, y, anchor, class_of);
    html_text(to, text);
    fputs("</text>\n", to);
}

static void rectangle(FILE *to, double x, double y, double width, double height, unsigned colour, const char *tip)
{
    fprintf(to, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' rx='2' class='c%u'><title>", x, y,
            width > 0 ? width : 0, height > 0 ? height : 0, colour % 8);
    html_text(to, tip);
    fputs("</title></rect>\n", to);
}

void plot_bars(FILE *to, const char *title, const struct bar *bar, unsigned bars, double full, double scale,
               const char *unit)
{
    const double room = PLOT_WIDTH - LEFT - RIGHT;

    begin(to, title, TOP + bars * (BAR + GAP));
    for (unsigned b = 0; b < bars; b++) {
        double x = LEFT, y = TOP + b * (BAR + GAP);
        label(to, LEFT - 10, y + BAR * 0.68, "end", "name", bar[b].name);
        fprintf(to, "<rect x='%d' y='%.1f' width='%.1f' height='%d' rx='2' class='track'/>\n", LEFT, y, room, BAR);
        for (unsigned s = 0; s < bar[b].segments; s++) {
            const struct segment *g = &bar[b].segment[s];
            double width = full > 0 ? room * g->length / full : 0;
            char text[96];
            (void)snprintf(text, sizeof text, "%s %.3g %s", g->name, g->length * scale, unit);
            rectangle(to, x, y, width, BAR, g->colour, text);
            /* A text only where it has room. */
            if (width < 14 + 7.0 * (double)strlen(text))
                (void)snprintf(text, sizeof text, "%.3g %s", g->length * scale, unit);
            if (width > 14 + 7.0 * (double)strlen(text))
                label(to, x + width / 2, y + BAR * 0.68, "middle", g->colour == PLOT_PALE ? "name" : "in", text);
            x += width;
        }
    }
    fputs("</svg>\n", to);
}

/* A round number not below x / TICKS: 1, 2 or 5 times a power of ten. */
static double tick_for(double x)
{
    const double raw = x > 0 ? x / TICKS : 1, power = pow(10, floor(log10(raw))), lead = raw / power;

    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void axis_text(double value, char *to, size_t size)
{
    const double much = fabs(value);

    if (much >= 1e6)
        (void)snprintf(to, size, "%.3gM", value / 1e6);
    else if (much >= 1e4)
        (void)snprintf(to, size, "%.3gk", value / 1e3);
    else
        (void)snprintf(to, size, "%.4g", value);
}

/* Lines and numbers of the vertical axis from 0 to top; answers the value at the upper edge. */
static double vertical_axis(FILE *to, double most)
{
    const double tick = tick_for(most), top = tick * ceil(most > 0 ? most / tick : 1);

    for (double v = 0; v <= top * 1.0001; v += tick) {
        double y = TOP + HEIGHT * (1 - v / top);
        char text[32];
        axis_text(v, text, sizeof text);
        fprintf(to, "<path d='M%d %.1fH%d' class='grid'/>\n", AXIS, y, PLOT_WIDTH - RIGHT);
        label(to, AXIS - 8, y + 4, "end", "tick", text);
    }
    return top;
}

static void horizontal_axis(FILE *to, double first, double last, const char *name)
{
    const double tick = tick_for(last - first), room = PLOT_WIDTH - AXIS - RIGHT;

    for (double v = tick * ceil(first / tick); v <= last + tick * 1e-6 && last > first; v += tick) {
        char text[32];
        axis_text(fabs(v) < tick * 1e-6 ? 0 : v, text, sizeof text);
        label(to, AXIS + room * (v - first) / (last - first), TOP + HEIGHT + 18, "middle", "tick", text);
    }
    label(to, PLOT_WIDTH - RIGHT, TOP + HEIGHT + 36, "end", "tick", name);
}

void plot_line(FILE *to, const char *title, const double *x, const double *y, unsigned points, const char *x_name,
               const char *y_name)
{
    const double room = PLOT_WIDTH - AXIS - RIGHT;
    double most = 0;

    begin(to, title, TOP + HEIGHT + FOOT);
    for (unsigned i = 0; i < points; i++)
        most = isfinite(y[i]) && y[i] > most ? y[i] : most;
    const double top = vertical_axis(to, most), first = points ? x[0] : 0, last = points ? x[points - 1] : 1;
    horizontal_axis(to, first, last, x_name);
    label(to, AXIS, TOP + HEIGHT + 36, "start", "tick", y_name);
    fputs("<path class='line' d='", to);
    for (unsigned i = 0, drawn = 0; i < points; i++)
        if (isfinite(y[i]))
            fprintf(to, "%c%.1f %.1f", drawn++ ? 'L' : 'M',
                    AXIS + (last > first ? room * (x[i] - first) / (last - first) : 0),
                    TOP + HEIGHT * (1 - y[i] / top));
    fputs("'/>\n</svg>\n", to);
}

void plot_groups(FILE *to, const char *title, const struct groups *g)
{
    const double room = (double)(PLOT_WIDTH - AXIS - RIGHT) / (g->groups ? g->groups : 1);
    const double width = room * 0.8 / g->series;
    double most = 0;

    begin(to, title, TOP + HEIGHT + FOOT - 12);
    for (unsigned i = 0; i < g->groups * g->series; i++)
        most = g->value[i] > most ? g->value[i] : most;
    const double top = vertical_axis(to, most);
    for (unsigned i = 0; i < g->groups; i++) {
        for (unsigned s = 0; s < g->series; s++) {
            const double value = g->value[i * g->series + s], height = HEIGHT * value / top;
            char tip[160];
            (void)snprintf(tip, sizeof tip, "%s, %s: %.4f", g->group_name[i], g->series_name[s], value);
            rectangle(to, AXIS + i * room + 0.1 * room + s * width, TOP + HEIGHT - height, width * 0.94, height, s,
                      tip);
        }
        if (g->groups <= 20)
            label(to, AXIS + (i + 0.5) * room, TOP + HEIGHT + 18, "middle", "tick", g->group_name[i]);
    }
    fputs("</svg>\n", to);
}

void plot_legend(FILE *to, const char *const *name, const unsigned *colour, unsigned names)
{
    fputs("<p class='legend'>", to);
    for (unsigned i = 0; i < names; i++) {
        fprintf(to, "<span><i class='b%u'></i>", colour[i] % 8);
        html_text(to, name[i]);
        fputs("</span> ", to);
    }
    fputs("</p>\n", to);
}
