/* SPDX-License-Identifier: MIT */
/* One exploration of a program of the lab, as JSON; names; and a command that prints it. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

static char *out;
static size_t length, room;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
    va_list list;
    char text[1200];

    va_start(list, format);
    size_t n = (size_t)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    n = n < sizeof text ? n : sizeof text - 1;
    if (length + n + 1 > room) {
        room = (length + n + 1) * 2;
        out = realloc(out, room);
        if (!out)
            engine_bug("out of memory");
    }
    memcpy(out + length, text, n + 1);
    length += n;
}

static void quoted(const char *s)
{
    add("\"");
    for (; *s; s++)
        if ((unsigned char)*s < 32 || *s == '"' || *s == '\\')
            add("\\u%04x", (unsigned char)*s);
        else
            add("%c", *s);
    add("\"");
}

/* ---- names ---- */

size_t symbol_sites(void)
{
    return 0;
}

struct site symbol_nth(size_t i)
{
    return symbol_site(i);
}

struct site symbol_site(uint64_t pc)
{
    struct site s = {.pc = pc, .file = pc ? "line" : NULL, .function = "thread"};

    if (pc)
        lab_line((int)pc - 1, &s.line, &s.column);
    return s;
}

/* The language has no pointers. */
const char *symbol_pointer(uintptr_t addr)
{
    return symbol_name(addr);
}

const char *symbol_name(uintptr_t addr)
{
    static char text[4][40];
    static int turn;
    char *name = text[turn = (turn + 1) % 4];
    int cell = (int)((addr - BASE) / 4);

    snprintf(name, sizeof *text, "%d", (int)addr);
    for (int i = 0; i < lab.variables && addr >= BASE; i++) {
        const struct variable *v = &lab.variable[i];
        if (cell >= v->first && cell < v->first + v->count)
            snprintf(name, sizeof *text, v->array ? "%s[%d]" : "%s", v->name, cell - v->first);
    }
    return name;
}

const char *symbol_line(const char *file, int line)
{
    static char text[120];
    const char *s = lab.text;

    (void)file;
    while (--line > 0 && strchr(s, '\n'))
        s = strchr(s, '\n') + 1;
    s += strspn(s, " \t");
    snprintf(text, sizeof text, "%.*s", (int)strcspn(s, "\n"), s);
    return text;
}

/* ---- what the core asks for ---- */

void engine_bug(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(4);
}

double elapsed(void)
{
    return 0;
}
bool share_load(const char *path, struct graph *g)
{
    return (void)path, (void)g, false;
}
bool share_hungry(void)
{
    return false;
}
bool share_stopped(void)
{
    return false;
}
bool share_give(const struct graph *g, const void *item, size_t size)
{
    return (void)g, (void)item, (void)size, false;
}
bool share_take(struct graph *g, void *item, size_t size)
{
    return (void)g, (void)item, (void)size, false;
}

/* ---- executions ---- */

enum { OUTCOMES = 512 };

static struct {
    char *text, *events;
    uint64_t count;
} seen[OUTCOMES];
static int seens;

static void position(uint64_t pc)
{
    struct site s = symbol_site(pc);
    add("\"line\": %d, \"column\": %d, \"code\": ", s.line, s.column);
    quoted(pc ? symbol_line("", s.line) : "");
}

/* The current graph as in the engine's report. */
static void events(void)
{
    int count, *order = trace_order(&count), *id = calloc((size_t)G->count + 1, sizeof *id);

    if (!id)
        engine_bug("out of memory");
    for (int i = 0; i < count; i++)
        id[order[i]] = i;
    add("[");
    for (int i = 0; i < count; i++) {
        const struct event *e = ev(order[i]);
        add("%s{\"id\": %d, \"thread\": %d, \"text\": ", i ? ", " : "", i, e->thread);
        quoted(trace_event(e));
        add(", ");
        position(e->pc);
        if (e->loc >= 0) {
            add(", \"location\": ");
            quoted(symbol_name(G->place[e->loc].addr));
            add(", \"mo\": %d, \"value\": %d", pos_of(e), (int)(int32_t)(uint32_t)e->value);
        }
        if (e->kind == E_WRITE)
            add(", \"writes\": true");
        if (e->rf >= 0)
            add(", \"reads_from\": %d", id[e->rf]);
        if (e->kind == E_READ)
            add(", \"reads\": true");
        if (e->kind == E_READ && e->rf >= 0 && ev(e->rf)->thread != e->thread && in_clock(&e->hb, ev(e->rf)))
            add(", \"synchronises\": true");
        if (e->kind == E_START || e->kind == E_END || e->thread == 0)
            add(", \"quiet\": true"); /* of main, the text has nothing */
        if (trace_hidden(e) && e->index > 0)
            add(", \"shown_with\": %d", id[G->thread[e->thread].at[e->index - 1]]);
        add("}");
    }
    add("]");
    free(order);
    free(id);
}

static void forget(void)
{
    while (seens) {
        free(seen[--seens].text);
        free(seen[seens].events);
        seen[seens].count = 0;
    }
}

/* Called after each finished run: notes its outcome, and draws the first execution of each. */
bool stop_now(void)
{
    static uint64_t last;
    const char *text;

    if (lab_finished(&text) && !failure.kind && !explore_went_on() && statistics.executions) {
        int i = 0;
        if (statistics.executions <= last) /* the exploration has restarted with other rules (core/lost.c) */
            forget();
        last = statistics.executions;
        while (i < seens && strcmp(seen[i].text, text))
            i++;
        if (i == seens && seens < OUTCOMES) {
            size_t from = length;
            events();
            seen[i].text = strdup(text);
            seen[i].events = strdup(out + from);
            if (!seen[i].text || !seen[i].events)
                engine_bug("out of memory");
            length = from;
            seens++;
        }
        if (i < OUTCOMES)
            seen[i].count++;
    }
    if (statistics.executions + statistics.blocked >= options.most)
        statistics.cut |= CUT_EXECUTIONS;
    return (statistics.cut & CUT_EXECUTIONS) != 0;
}

static void error(void)
{
    char why[800];

    if (failure.thread >= 0 && failure.kind < ERR_UNSUPPORTED && failure.pc) {
        struct failure first = failure;
        shadow_logging = true;
        enum outcome o = run_once();
        if (o != RUN_ERROR)
            finish_run(o);
        shadow_logging = false;
        first.other_pc = first.other_pc ? first.other_pc : failure.other_pc;
        failure = first;
        trace_partner();
    }
    trace_sentence(why, sizeof why);
    add(", \"error\": {\"kind\": \"%s\", \"thread\": %d, \"at\": %d, ", error_name(failure.kind), failure.thread,
        (int)failure.pc - 1);
    position(failure.pc);
    add(", \"message\": ");
    quoted(failure.text);
    add(", \"why\": ");
    quoted(why);
    add(", \"text\": ");
    quoted(trace_failure());
    if (failure.addr) {
        add(", \"address\": ");
        quoted(symbol_name(failure.addr));
    }
    add(", \"events\": ");
    events();
    if (failure.other_pc) {
        int count, *order = trace_order(&count);
        add(", \"other\": {\"thread\": %d, ", failure.other_thread);
        position(failure.other_pc);
        if (trace_other()) {
            add(", \"text\": ");
            quoted(trace_other());
        }
        for (int i = 0; i < count; i++)
            if (trace_other_precedes(ev(order[i]))) {
                add(", \"before\": %d", i);
                break;
            }
        add("}");
        free(order);
    }
    add("}");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *lab_orders(void)
{
    length = 0;
    add("[");
    for (int i = 0; i < lab.orders; i++) {
        const struct lab_order *o = &lab.order[i];
        add("%s{\"at\": %d, \"length\": %d, \"order\": \"%s\", \"call\": \"%s\", \"failure\": %s, \"kinds\": [",
            i ? ", " : "", o->at, o->length, lab_order_names[o->order], o->call, o->failure ? "true" : "false");
        const char *comma = "";
        for (const char *k = o->allowed; *k; k++)
            if (*k != 'c') { /* consume is not offered */
                add("%s\"%s\"", comma, lab_order_names[strchr(lab_order_letters, *k) - lab_order_letters]);
                comma = ", ";
            }
        add("]}");
    }
    add("]");
    return out;
}

const char *lab_run(enum model model, double most)
{
    static const char *const models[] = {"rc11", "ra", "sc", "tso"};

    length = 0;
    if (!lab_parse()) {
        int line, column;
        lab_line(lab.error_at, &line, &column);
        add("{\"verdict\": \"text\", \"message\": ");
        quoted(lab.error);
        add(", \"at\": %d, \"length\": %d, \"line\": %d, \"column\": %d}", lab.error_at, lab.error_length, line,
            column);
        return out;
    }
    options.model = model;
    options.leaks = options.uninit = false;
    options.most = (uint64_t)most;
    options.bound = 300;
    lab_init();
    explore_all(true);
    if (statistics.polls && statistics.tries)
        statistics.cut |= CUT_POLL;
    if (!failure.kind && !statistics.executions && !statistics.cut && (!statistics.blocked || !statistics.assumed))
        fail(ERR_LIVELOCK, 0, 0, "no execution completes");
    const char *verdict = failure.kind             ? failure.kind < ERR_UNSUPPORTED ? "error" : "unsupported"
                          : statistics.cut         ? "bound"
                          : !statistics.executions ? "vacuous"
                                                   : "pass";
    add("{\"verdict\": \"%s\", \"model\": \"%s\", \"executions\": %llu, \"blocked\": %llu, \"outcomes\": [", verdict,
        models[model], (unsigned long long)statistics.executions, (unsigned long long)statistics.blocked);
    if (seens)
        qsort(seen, (size_t)seens, sizeof *seen, by_text);
    for (int i = 0; i < seens; i++) {
        add("%s{\"outcome\": ", i ? ", " : "");
        quoted(seen[i].text);
        add(", \"executions\": %llu, \"events\": ", (unsigned long long)seen[i].count);
        for (const char *s = seen[i].events; *s; s += strnlen(s, 1000))
            add("%.1000s", s);
        add("}");
    }
    add("]");
    if (failure.kind)
        error();
    add("}");
    return out;
}

#ifdef __wasm__

__attribute__((export_name("lab_text"))) char *lab_text(int size)
{
    return size < (int)sizeof lab.text ? lab.text : NULL;
}

__attribute__((export_name("lab_explore"))) const char *lab_explore(int model, double most)
{
    return lab_run((enum model)model, most);
}

__attribute__((export_name("lab_c"))) const char *lab_c(void)
{
    return lab_parse() ? lab.c : "";
}

__attribute__((export_name("lab_orders_of"))) const char *lab_orders_of(void)
{
    return lab_parse() ? lab_orders() : "[]";
}

#else

int main(int argc, char **argv)
{
    static const char *const models[] = {"rc11", "ra", "sc", "tso"};
    FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;

    if (!f) {
        fprintf(stderr, "usage: lade-lab rc11|ra|sc|tso|c|orders FILE [EXECUTIONS]\n");
        return 2;
    }
    size_t n = fread(lab.text, 1, sizeof lab.text - 1, f);
    const bool whole = fgetc(f) == EOF;
    lab.text[n] = 0;
    fclose(f);
    if (!whole) {
        fprintf(stderr, "%s: the program is too long\n", argv[2]);
        return 2;
    }
    if (!strcmp(argv[1], "c") || !strcmp(argv[1], "orders")) {
        if (!lab_parse()) {
            fprintf(stderr, "%s: %s\n", argv[2], lab.error);
            return 2;
        }
        fputs(argv[1][0] == 'c' ? lab.c : lab_orders(), stdout);
        return 0;
    }
    for (int m = 0; m < 4; m++)
        if (!strcmp(argv[1], models[m])) {
            puts(lab_run((enum model)m, argc > 3 ? atof(argv[3]) : 1e6));
            return 0;
        }
    return 2;
}

#endif
