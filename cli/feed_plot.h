/* SPDX-License-Identifier: MIT */
/* Plots as SVG inside a page of HTML. Colours are classes of the page's style, so that light and dark are its business. */
#ifndef LADE_CLI_FEED_PLOT_H
#define LADE_CLI_FEED_PLOT_H

#include <stdint.h>
#include <stdio.h>

enum { PLOT_WIDTH = 720, PLOT_PALE = 7 }; /* PLOT_PALE: the colour that is hardly one */

/* Text with what HTML reserves replaced, and bytes that are not UTF-8 as U+FFFD. */
void html_text(FILE *to, const char *text);

/* A length of a bar, with its colour (0 to 7) and what is said when the pointer is on it. */
struct segment {
    double length;
    unsigned colour;
    const char *name;
};

/* Bars with a name before them, made of segments; full is the length of the whole width. unit follows the numbers. */
struct bar {
    const char *name;
    struct segment segment[8];
    unsigned segments;
};
void plot_bars(FILE *to, const char *title, const struct bar *bar, unsigned bars, double full, double scale,
               const char *unit);

/* A line from left to right; the vertical axis begins at zero. */
void plot_line(FILE *to, const char *title, const double *x, const double *y, unsigned points, const char *x_name,
               const char *y_name);

/* Upright bars side by side: value[group * series + s], with names. */
struct groups {
    const char *const *group_name;
    unsigned groups, series;
    const double *value;
    const char *const *series_name;
};
void plot_groups(FILE *to, const char *title, const struct groups *groups);

/* Coloured squares with names. */
void plot_legend(FILE *to, const char *const *name, const unsigned *colour, unsigned names);

#endif
