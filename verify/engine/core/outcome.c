/* SPDX-License-Identifier: MIT */
/*
 * The output of complete executions, with --outcomes: each distinct output and the number of executions that printed
 * it. Otherwise output is suppressed: it would appear thousands of times.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char text[4096];
static size_t length;

static struct {
    char *text;
    uint64_t count;
} *seen;
static int seen_count, seen_room;

void outcome_begin(void)
{
    length = 0;
    text[0] = 0;
}

/* Discards the counts so far. */
void outcome_forget(void)
{
    while (seen_count)
        free(seen[--seen_count].text);
}

int outcome_length(void)
{
    return (int)length;
}

void outcome_cut(int to)
{
    length = (size_t)to;
    text[length] = 0;
}

void outcome_text(const char *format, va_list list)
{
    if (guessing)
        guess_stop();
    if (!options.outcomes)
        return;
    self->prints++;
    int n = vsnprintf(text + length, sizeof text - length, format, list);
    if (n > 0)
        length = length + (size_t)n < sizeof text ? length + (size_t)n : sizeof text - 1;
}

void outcome_count(const char *line, uint64_t count)
{
    for (int i = 0; i < seen_count; i++)
        if (!strcmp(seen[i].text, line)) {
            seen[i].count += count;
            return;
        }
    if (seen_count == seen_room) {
        seen_room = seen_room ? seen_room * 2 : 64;
        seen = realloc(seen, (size_t)seen_room * sizeof *seen);
    }
    if (!seen || !(seen[seen_count].text = strdup(line)))
        engine_bug("out of memory");
    seen[seen_count++].count = count;
}

void outcome_end(void)
{
    if (!options.outcomes)
        return;
    for (size_t n = length; n && (text[n - 1] == '\n' || text[n - 1] == ' '); n--)
        text[n - 1] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    outcome_count(text, 1);
    if (options.show && !strcmp(text, options.show))
        fail(ERR_SHOWN, 0, 0, "%s", text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void outcome_each(void (*report)(FILE *out, const char *line, uint64_t count), FILE *out)
{
    if (seen_count)
        qsort(seen, (size_t)seen_count, sizeof *seen, by_text);
    for (int i = 0; i < seen_count; i++)
        report(out, seen[i].text, seen[i].count);
}

static void print_row(FILE *out, const char *line, uint64_t count)
{
    fprintf(out, "outcome: %s%s(%llu execution%s)\n", line, *line ? " " : "", (unsigned long long)count, count == 1 ? "" : "s");
}

void outcome_print(FILE *out)
{
    outcome_each(print_row, out);
}
