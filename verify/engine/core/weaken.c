/* SPDX-License-Identifier: MIT */
/*
 * Orders changed at run time, by position: --weaken FILE:LINE[:COLUMN]=ORDER[,FAILURE_ORDER]. FILE is matched from its
 * end, so that ring.c:41 means lib/ring.c:41 too. All atomic calls and fences there are changed. --order is the same for
 * calls that may turn out not to be executed.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { RULES = 64 };

static struct {
    char file[512];
    int line, column, order, fail_order; /* column 0: any */
    bool used, optional;
} rule[RULES];
static int rules;

static struct {
    uint64_t pc;
    int rule;
} *changed;

int weaken_count;

static int order_named(const char *name)
{
    for (int o = RELAXED; o <= SEQ_CST; o++)
        if (!strcmp(name, order_name(o)))
            return o;
    return -1;
}

/* Cuts ":NUMBER" off the end and returns the number, or 0 when there is none. */
static int cut_number(char *text)
{
    char *colon = strrchr(text, ':');

    if (!colon || colon[1 + strspn(colon + 1, "0123456789")])
        return 0;
    *colon = 0;
    return atoi(colon + 1);
}

/* Parses one rule; false when it is malformed. */
bool weaken_parse(const char *text, bool optional)
{
    char copy[600], *equals, *comma;

    snprintf(copy, sizeof copy, "%s", text);
    equals = strrchr(copy, '=');
    if (rules == RULES || !equals)
        return false;
    *equals++ = 0;
    comma = strchr(equals, ',');
    int last = cut_number(copy), before = cut_number(copy);
    if (!last)
        return false;
    if (comma)
        *comma++ = 0;
    snprintf(rule[rules].file, sizeof rule->file, "%.511s", copy);
    rule[rules].line = before ? before : last;
    rule[rules].column = before ? last : 0;
    rule[rules].optional = optional;
    rule[rules].order = *equals ? order_named(equals) : -2;
    rule[rules].fail_order = comma ? order_named(comma) : -2;
    return rule[rules].order != -1 && rule[rules++].fail_order != -1;
}

static bool ends_with(const char *path, const char *tail)
{
    size_t n = strlen(path), m = strlen(tail);
    return n >= m && !strcmp(path + n - m, tail) && (n == m || path[n - m - 1] == '/' || tail[0] == '/');
}

/* Finds the call sites of the rules; false when a rule's line has no call at all. */
bool weaken_resolve(void)
{
    changed = calloc(symbol_sites() + 1, sizeof *changed);
    if (!changed)
        engine_bug("out of memory");
    for (size_t i = 0; i < symbol_sites(); i++) {
        struct site s = symbol_nth(i);
        for (int r = 0; r < rules; r++)
            if (s.line == rule[r].line && (!rule[r].column || s.column == rule[r].column) && ends_with(s.file, rule[r].file)) {
                rule[r].used = true;
                changed[weaken_count].pc = s.pc;
                changed[weaken_count++].rule = r;
                break;
            }
    }
    for (int r = 0; r < rules; r++)
        if (!rule[r].used) {
            fprintf(stderr, "explore: no call at %s:%d to weaken\n", rule[r].file, rule[r].line);
            return false;
        }
    return true;
}

/* False when the calls of some rule's line were never executed: the result then shows nothing about the rule. */
bool weaken_used(void)
{
    for (int r = 0; r < rules; r++)
        if (!(statistics.weakened >> r & 1) && !rule[r].optional) {
            fprintf(stderr, "explore: no atomic call at %s:%d was executed, nothing was weakened\n", rule[r].file,
                    rule[r].line);
            return false;
        }
    return true;
}

void weaken_request(struct request *q)
{
    if (q->op > OP_CAS && q->op != OP_FENCE)
        return;
    for (int i = 0; i < weaken_count; i++)
        if (changed[i].pc == q->pc) {
            if (rule[changed[i].rule].order >= 0)
                q->order = (uint8_t)rule[changed[i].rule].order;
            if (rule[changed[i].rule].fail_order >= 0)
                q->fail_order = (uint8_t)rule[changed[i].rule].fail_order;
            q->weakened = 1;
            statistics.weakened |= (uint64_t)1 << changed[i].rule;
            return;
        }
}
