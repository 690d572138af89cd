/* SPDX-License-Identifier: MIT */
/*
 * Orders changed at run time, by source line: --weaken FILE:LINE=ORDER[,FAILURE_ORDER]. FILE is matched from its end,
 * so that ring.c:41 means lib/ring.c:41 too. All atomic calls and fences of the line are changed.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

static struct {
    char file[512];
    int line, order, fail_order;
    bool used;
} rule[32];
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

/* Parses one rule; false when it is malformed. */
bool weaken_parse(const char *text)
{
    char copy[600], *colon, *equals, *comma;

    snprintf(copy, sizeof copy, "%s", text);
    equals = strrchr(copy, '=');
    if (rules == 32 || !equals)
        return false;
    *equals++ = 0;
    colon = strrchr(copy, ':');
    comma = strchr(equals, ',');
    if (!colon)
        return false;
    *colon++ = 0;
    if (comma)
        *comma++ = 0;
    snprintf(rule[rules].file, sizeof rule->file, "%.511s", copy);
    rule[rules].line = atoi(colon);
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
            if (s.line == rule[r].line && ends_with(s.file, rule[r].file)) {
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
        if (!(statistics.weakened & (1u << r))) {
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
            statistics.weakened |= 1u << changed[i].rule;
            return;
        }
}
