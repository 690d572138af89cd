/* SPDX-License-Identifier: MIT */
/* The failing execution as a picture: threads as columns, arrows for reads-from (blue when it synchronises) and mo. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN = 350, ROW = 44, LEFT = 20, TOP = 50, BOX = 310, CHARACTER = 8 /* no wider */ };

static void escaped(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else
            fputc(*s, out);
    }
}

static int x_of(int t) { return LEFT + t * COLUMN; }
static int y_of(int row) { return TOP + row * ROW; }

static void box(FILE *out, int t, int row, const char *text, uint64_t pc, const char *fill)
{
    struct site s = symbol_site(pc);
    const char *base = s.file ? strrchr(s.file, '/') : NULL;

    fprintf(out, "<rect x='%d' y='%d' width='%d' height='34' rx='4' fill='%s' stroke='#888'/>\n", x_of(t), y_of(row), BOX, fill);
    fprintf(out, "<text x='%d' y='%d'>", x_of(t) + 6, y_of(row) + 14);
    escaped(out, text);
    fprintf(out, "</text>\n<text x='%d' y='%d' class='s'>", x_of(t) + 6, y_of(row) + 28);
    if (s.file) {
        char line[64];
        snprintf(line, sizeof line, "%s:%d  %.36s", base ? base + 1 : s.file, s.line, symbol_line(s.file, s.line));
        escaped(out, line);
    }
    fprintf(out, "</text>\n");
}

static void arrow(FILE *out, int t, int row, int u, int to, const char *colour, const char *label)
{
    int x1 = x_of(t) + (u > t ? BOX : u < t ? 0 : BOX / 2), y1 = y_of(row) + 17;
    int x2 = x_of(u) + (u > t ? 0 : u < t ? BOX : BOX / 2), y2 = y_of(to) + 17;

    if (t == u) {
        x1 = x2 = x_of(t) + BOX;
        fprintf(out, "<path d='M%d %d C%d %d %d %d %d %d' fill='none' stroke='%s' marker-end='url(#a)'/>\n", x1, y1, x1 + 30, y1,
                x2 + 30, y2, x2, y2, colour);
    } else {
        fprintf(out, "<path d='M%d %d L%d %d' fill='none' stroke='%s' marker-end='url(#a)'/>\n", x1, y1, x2, y2, colour);
    }
    fprintf(out, "<text x='%d' y='%d' class='s' fill='%s'>%s</text>\n", (x1 + x2) / 2 + 4, (y1 + y2) / 2 - 3, colour, label);
}

static bool shown(const struct event *e)
{
    return !trace_hidden(e) && e->kind != E_START && e->kind != E_END;
}

/* The half of a read-modify-write that has a box. */
static int boxed(int stamp)
{
    const struct event *e = ev(stamp);
    return trace_hidden(e) ? G->thread[e->thread].at[e->index - 1] : stamp;
}

static void arrows(FILE *out, const int *row_of)
{
    for (int s = 0; s < G->count; s++) {
        const struct event *e = ev(s);
        if (e->kind == E_READ && e->rf >= 0) {
            int w = boxed(e->rf);
            bool sync = in_clock(&e->hb, ev(e->rf)) && ev(w)->thread != e->thread;
            arrow(out, ev(w)->thread, row_of[w], e->thread, row_of[s], sync ? "#06c" : "#0a0", sync ? "rf, synchronises" : "rf");
        }
        if (e->kind == E_WRITE && e->pos + 1 < G->place[e->loc].count) {
            int a = boxed(s), b = boxed(G->place[e->loc].mo[e->pos + 1]);
            if (ev(a)->thread != ev(b)->thread)
                arrow(out, ev(a)->thread, row_of[a], ev(b)->thread, row_of[b], "#b60", "mo");
        }
    }
}

/* Gives each shown event its row. The other access of a race gets the row before the event that follows it in its thread, so
 * that program order runs downwards; other_row is -1 where there is none. Returns the number of rows. */
static int assign_rows(const int *order, int count, int *row_of, int *other_row)
{
    int rows = 0;

    *other_row = -1;
    for (int i = 0; i < count; i++) {
        if (*other_row < 0 && trace_partner_precedes(ev(order[i])))
            *other_row = rows++;
        if (shown(ev(order[i])))
            row_of[order[i]] = rows++;
    }
    if (*other_row < 0 && failure.other_pc)
        *other_row = rows++;
    return rows;
}

static void header(FILE *out, int rows, const char *why)
{
    int columns = LEFT * 2 + COLUMN * run_threads(), text = LEFT * 2 + CHARACTER * (int)strlen(why);
    int width = columns > text ? columns : text, height = y_of(rows + 1) + 60;

    fprintf(
        out,
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' font-family='monospace' "
        "font-size='12'>\n",
        width, height, width, height);
    fprintf(out,
            "<style>.s{font-size:10px}</style><defs><marker id='a' markerWidth='8' markerHeight='8' refX='7' refY='3' "
            "orient='auto'><path d='M0 0 L7 3 L0 6 z'/></marker></defs>\n<rect width='100%%' height='100%%' "
            "fill='white'/>\n");
    for (int t = 0; t < run_threads(); t++)
        fprintf(out, "<text x='%d' y='30' font-weight='bold'>T%d</text>\n", x_of(t), t);
}

void picture_write(const char *path)
{
    int count, *order = trace_order(&count), *row_of = calloc((size_t)G->count + 1, sizeof *row_of), other_row, rows;
    FILE *out = fopen(path, "w");
    char why[600];

    if (!out || !row_of)
        engine_bug("cannot write %s: %s", path, strerror(errno));
    rows = assign_rows(order, count, row_of, &other_row);
    trace_sentence(why, sizeof why);
    header(out, rows, why);
    for (int i = 0; i < count; i++) {
        const struct event *e = ev(order[i]);
        if (shown(e))
            box(out, e->thread, row_of[order[i]], trace_event(e), e->pc,
                e->pc == failure.pc && e->thread == failure.thread ? "#fcc"
                : e->weakened                                      ? "#ffd"
                                                                   : "#f4f4f4");
    }
    arrows(out, row_of);
    if (other_row >= 0)
        box(out, failure.other_thread, other_row, "the other access", failure.other_pc, "#fdd");
    box(out, failure.thread, rows++, error_name(failure.kind), failure.pc, "#fbb");
    fprintf(out, "<text x='%d' y='%d'>", LEFT, y_of(rows) + 20);
    escaped(out, failure.text);
    fprintf(out, "</text><text x='%d' y='%d'>", LEFT, y_of(rows) + 40);
    escaped(out, why);
    fprintf(out, "</text>\n</svg>\n");
    fclose(out);
    free(order);
    free(row_of);
}
