/* SPDX-License-Identifier: MIT */
/*
 * Orders changed at run time, by position: --weaken FILE:LINE[:COLUMN]=ORDER[,FAILURE_ORDER]. FILE is matched from its
 * end, so that ring.c:41 means lib/ring.c:41 too. All atomic calls and fences there are changed. POSITION<POSITION<POSITION
 * means the call at the first one in a function that is called at the second one, and so on; an empty one that nothing of
 * the program calls it. The first rule that fits is taken. --order is the same for calls that may turn out not to be executed.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { RULES = 512, REQUIRED = 64, LEVELS = CALLERS + 1 };

static struct {
    struct {
        char *file;
        int line, column; /* column 0: any */
        bool found;
    } at[LEVELS];
    int levels, order, fail_order;
    bool optional;
} rule[RULES];
static int rules;

/* Calls at the positions of rules. */
static struct {
    uint64_t pc;
    int rule, level;
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

static bool parse_position(char *text, int r, int level)
{
    int last = cut_number(text), before = cut_number(text);

    rule[r].at[level].file = text;
    rule[r].at[level].line = before ? before : last;
    rule[r].at[level].column = before ? last : 0;
    return last || (level && !*text);
}

/* Parses one rule; false when it is malformed. */
bool weaken_parse(const char *text, bool optional)
{
    char *copy = strdup(text), *equals = copy ? strrchr(copy, '=') : NULL, *comma; /* kept: the rule has its parts */

    if (rules == (optional ? RULES : REQUIRED) || !equals)
        return false;
    *equals++ = 0;
    comma = strchr(equals, ',');
    if (comma)
        *comma++ = 0;
    rule[rules].levels = 0;
    for (char *part = copy; part;) {
        char *next = strchr(part, '<');
        if (next)
            *next++ = 0;
        if (rule[rules].levels == LEVELS || !parse_position(part, rules, rule[rules].levels++))
            return false;
        part = next;
    }
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

/* Whether the call is at this position of the rule; it is noted then. */
static bool at_position(struct site s, int r, int level)
{
    if (s.line != rule[r].at[level].line || (rule[r].at[level].column && s.column != rule[r].at[level].column) ||
        !ends_with(s.file, rule[r].at[level].file))
        return false;
    if (!(weaken_count & (weaken_count + 1)) && !(changed = realloc(changed, (2 * (size_t)weaken_count + 2) * sizeof *changed)))
        engine_bug("out of memory");
    changed[weaken_count].pc = s.pc;
    changed[weaken_count].rule = r;
    changed[weaken_count++].level = level;
    return true;
}

/* Finds the call sites of the rules; false when a rule's line has no call at all. */
bool weaken_resolve(void)
{
    for (int r = 0; r < rules; r++)
        for (int k = 0; k < rule[r].levels; k++) {
            bool any = k && !rule[r].at[k].line;
            for (size_t i = 0; i < symbol_sites(); i++)
                any |= at_position(symbol_nth(i), r, k);
            if (!any) {
                fprintf(stderr, "explore: no call at %s:%d to weaken\n", rule[r].at[k].file, rule[r].at[k].line);
                return false;
            }
        }
    return true;
}

/* False when the calls of some rule's line were never executed: the result then shows nothing about the rule. */
bool weaken_used(void)
{
    for (int r = 0; r < rules; r++)
        if (!rule[r].optional && !(statistics.weakened >> r & 1)) {
            fprintf(stderr, "explore: no atomic call at %s:%d was executed, nothing was weakened\n", rule[r].at[0].file,
                    rule[r].at[0].line);
            return false;
        }
    return true;
}

static bool called_there(uint64_t pc, int r, int level)
{
    if (!rule[r].at[level].line)
        return !pc;
    for (int i = 0; i < weaken_count; i++)
        if (changed[i].pc == pc && changed[i].rule == r && changed[i].level == level)
            return true;
    return false;
}

static bool applies(const struct thread *t, int r)
{
    uint64_t callers[CALLERS];

    if (rule[r].levels == 1)
        return true;
    program_callers(t, callers);
    for (int k = 1; k < rule[r].levels; k++)
        if (!called_there(callers[k - 1], r, k))
            return false;
    return true;
}

void weaken_request(struct thread *t)
{
    struct request *q = &t->req;

    if (q->op > OP_CAS && q->op != OP_FENCE)
        return;
    for (int i = 0; i < weaken_count; i++)
        if (changed[i].pc == q->pc && !changed[i].level && applies(t, changed[i].rule)) {
            q->own_order = q->order;
            q->own_fail_order = q->fail_order;
            if (rule[changed[i].rule].order >= 0)
                q->order = (uint8_t)rule[changed[i].rule].order;
            if (rule[changed[i].rule].fail_order >= 0)
                q->fail_order = (uint8_t)rule[changed[i].rule].fail_order;
            q->weakened = 1;
            if (!rule[changed[i].rule].optional)
                statistics.weakened |= (uint64_t)1 << changed[i].rule;
            return;
        }
}
