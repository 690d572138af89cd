/* SPDX-License-Identifier: MIT */
/* The result for programs: JSON. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void quoted(FILE *out, const char *s)
{
    fputc('"', out);
    for (; s && *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < 32)
            fprintf(out, "\\u%04x", *s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

static void position(FILE *out, uint64_t pc)
{
    struct site s = symbol_site(pc);
    fprintf(out, "\"file\": ");
    if (s.file)
        quoted(out, s.file);
    else
        fprintf(out, "null");
    fprintf(out, ", \"line\": %d, \"column\": %d, \"function\": ", s.line, s.column);
    quoted(out, s.function ? s.function : "");
}

/* The source line, for the picture: the file may be gone when it is drawn. */
static void code(FILE *out, uint64_t pc)
{
    struct site s = symbol_site(pc);

    if (!s.file)
        return;
    fprintf(out, ", \"code\": ");
    quoted(out, symbol_line(s.file, s.line));
}

/* What an event is to others; shown_with: it is the second half of an event before it. */
static void relations(FILE *out, const struct event *e, const int *id)
{
    if (e->loc >= 0) {
        fprintf(out, ", \"location\": ");
        quoted(out, symbol_name(G->place[e->loc].addr));
        fprintf(out, ", \"mo\": %d, \"value\": ", pos_of(e));
        quoted(out, trace_value(e->value));
    }
    if (e->kind == E_WRITE)
        fprintf(out, ", \"writes\": true");
    if (e->kind == E_READ)
        fprintf(out, ", \"reads\": true");
    if (e->kind == E_START || e->kind == E_END)
        fprintf(out, ", \"quiet\": true");
    if (e->rf >= 0)
        fprintf(out, ", \"reads_from\": %d", id[e->rf]);
    if (e->kind == E_READ && e->rf >= 0 && ev(e->rf)->thread != e->thread && in_clock(&e->hb, ev(e->rf)))
        fprintf(out, ", \"synchronises\": true");
    if (e->weakened)
        fprintf(out, ", \"weakened\": true");
    if (trace_hidden(e) && e->index > 0)
        fprintf(out, ", \"shown_with\": %d", id[G->thread[e->thread].at[e->index - 1]]);
}

/* The last plain stores of a value, and the thread's next event; for stepping through the execution. */
static void plain_stores(FILE *out, const int *id)
{
    enum { MOST = 1000 };
    const char *separator = "";
    int first = shadow_logged;

    for (int n = 0; first > 0 && n < MOST; first--)
        n += shadow_log[first - 1].stored;
    fprintf(out, ",\n      \"plain\": [");
    for (int i = first; i < shadow_logged; i++) {
        const struct access *a = &shadow_log[i];
            if (!a->stored)
            continue;
        fprintf(out, "%s\n        {\"thread\": %d, \"location\": ", separator, a->thread);
        quoted(out, symbol_name(a->addr));
        fprintf(out, ", \"value\": ");
        quoted(out, trace_value(a->value));
        fprintf(out, ", ");
        position(out, a->pc);
        if (a->epoch < G->thread[a->thread].count)
            fprintf(out, ", \"before\": %d", id[G->thread[a->thread].at[a->epoch]]);
        fprintf(out, "}");
        separator = ",";
    }
    fprintf(out, "\n      ]");
}

/* The event before which the other access of a race is shown, or -1. */
static int events(FILE *out)
{
    int count, *order = trace_order(&count), *id = calloc((size_t)G->count + 1, sizeof *id), before = -1;
    bool first = true;

    if (!id)
        engine_bug("out of memory");
    for (int i = 0; i < count; i++)
        id[order[i]] = i;
    fprintf(out, "      \"events\": [");
    for (int i = 0; i < count; i++) {
        const struct event *e = ev(order[i]);
        fprintf(out, "%s\n        {\"id\": %d, \"thread\": %d, \"text\": ", first ? "" : ",", i, e->thread);
        quoted(out, trace_event(e));
        fprintf(out, ", ");
        position(out, e->pc);
        code(out, e->pc);
        relations(out, e, id);
        fprintf(out, "}");
        first = false;
        if (before < 0 && trace_other_precedes(e))
            before = i;
    }
    fprintf(out, "\n      ]");
    plain_stores(out, id);
    free(order);
    free(id);
    return before;
}

static void error(FILE *out)
{
    char why[600];

    trace_sentence(why, sizeof why);
    fprintf(out, "\n    {\n      \"kind\": \"%s\", \"thread\": %d, ", error_name(failure.kind), failure.thread);
    position(out, failure.pc);
    code(out, failure.pc);
    fprintf(out, ",\n      \"text\": ");
    quoted(out, trace_failure());
    fprintf(out, ",\n      \"message\": ");
    quoted(out, failure.text);
    fprintf(out, ",\n      \"why\": ");
    quoted(out, why);
    fprintf(out, ",\n      \"address\": ");
    quoted(out, failure.addr ? symbol_name(failure.addr) : "");
    fprintf(out, ",\n");
    int before = events(out);
    if (failure.other_pc) {
        fprintf(out, ",\n      \"other\": {\"thread\": %d, ", failure.other_thread);
        position(out, failure.other_pc);
        code(out, failure.other_pc);
        if (trace_other()) {
            fprintf(out, ", \"text\": ");
            quoted(out, trace_other());
        }
        if (before >= 0)
            fprintf(out, ", \"before\": %d", before);
        fprintf(out, "}");
    }
    fprintf(out, "\n    }\n  ");
}

static int outcomes;

static void outcome(FILE *out, const char *line, uint64_t count)
{
    fprintf(out, "%s\n    {\"outcome\": ", outcomes++ ? "," : "");
    quoted(out, line);
    fprintf(out, ", \"executions\": %llu}", (unsigned long long)count);
}

static int reasons;

static void reason(FILE *out, const char *text)
{
    fputs(reasons++ ? ", " : "", out);
    quoted(out, text);
}

static void sites(FILE *out)
{
    static const char *const names[] = {"load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or",
                                        "fetch_xor", "fetch_nand", "compare_exchange"};

    fprintf(out, "  \"sites\": [");
    for (int i = 0; i < used_site_count; i++) {
        const struct used_site *u = &used_sites[i];
        fprintf(out, "%s\n    {", i ? "," : "");
        position(out, u->pc);
        fprintf(out, ", \"callers\": [");
        for (int k = 0; k < CALLERS && u->callers[k]; k++) {
            fputs(k ? ", {" : "{", out);
            position(out, u->callers[k]);
            fputc('}', out);
        }
        fprintf(out, "], \"op\": \"%s\", \"order\": \"%s\", \"own_order\": \"%s\"", u->op == OP_FENCE ? "fence" : names[u->op],
                order_name(u->order), order_name(u->own_order));
        if (u->op == OP_CAS)
            fprintf(out, ", \"failure_order\": \"%s\", \"own_failure_order\": \"%s\"", order_name(u->fail_order),
                    order_name(u->own_fail_order));
        fprintf(out, ", \"weakened\": %s, \"several\": %s}", u->weakened ? "true" : "false",
                u->several ? "true" : "false");
    }
    fprintf(out, "%s],\n", used_site_count ? "\n  " : "");
}

void report_write(const char *path, const char *verdict, double seconds)
{
    static const char *const models[] = {"rc11", "ra", "sc", "tso"};
    FILE *out = !strcmp(path, "-") ? stdout : fopen(path, "w");

    if (!out)
        engine_bug("cannot write %s: %s", path, strerror(errno));
    fprintf(out, "{\n  \"verdict\": \"%s\", \"model\": \"%s\",\n", verdict, models[options.model]);
    fprintf(out, "  \"executions\": %llu, \"blocked\": %llu, \"runs\": %llu,\n", (unsigned long long)statistics.executions,
            (unsigned long long)statistics.blocked, (unsigned long long)statistics.runs);
    fprintf(out, "  \"seconds\": %.6f, \"longest_graph\": %d, \"deepest_revisit\": %d, \"bound_hit\": %s,\n", seconds,
            statistics.longest, statistics.frames, statistics.cut ? "true" : "false");
    fprintf(out, "  \"stops\": %d, \"repeated\": %llu,\n", statistics.stops, (unsigned long long)statistics.again);
    if (options.search)
        fprintf(out, "  \"search\": {\"runs\": %llu, \"distinct\": %llu, \"once\": %llu, \"seed\": %llu, \"failing_run\": %llu},\n",
                (unsigned long long)found.runs, (unsigned long long)found.distinct, (unsigned long long)found.once,
                (unsigned long long)options.seed, (unsigned long long)found.failing);
    fprintf(out, "  \"weaker\": [");
    weaker_each(reason, out);
    fprintf(out, "],\n  \"covered\": [");
    for (int i = 0; i < COVER_NAMES && statistics.covered[i][0]; i++) {
        fputs(i ? ", " : "", out);
        quoted(out, statistics.covered[i]);
    }
    fprintf(out, "],\n");
    fprintf(out, "  \"outcomes\": [");
    outcome_each(outcome, out);
    fprintf(out, "],\n");
    sites(out);
    fprintf(out, "  \"errors\": [");
    if (failure.kind)
        error(out);
    fprintf(out, "]\n}\n");
    if (out != stdout)
        fclose(out);
}
