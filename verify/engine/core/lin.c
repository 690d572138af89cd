/* SPDX-License-Identifier: MIT */
/*
 * Linearizability (Herlihy and Wing, 1990) of operations that the program marks, against its own sequential
 * specification. "Ended before the other began" is read as happens-before.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 24, STATE = 4096 };

struct operation {
    int thread, begin, end; /* stamps of the marks */
    int op;
    long arg, result;
};

static bool (*spec)(void *, int, long, long);
static size_t spec_size;
static struct operation list[MOST];
static int count;

void lin_specify(size_t size, bool (*step_function)(void *, int, long, long), uint64_t pc)
{
    if (size > STATE)
        fail(ERR_UNSUPPORTED, pc, 0, "the specification's state may have at most %d bytes", STATE);
    spec = step_function;
    spec_size = size;
}

void lin_begin_run(void)
{
    spec = NULL;
}

bool lin_active(void)
{
    return spec != NULL;
}

static void collect(void)
{
    int open[MAX_THREADS];

    count = 0;
    memset(open, -1, sizeof open);
    for (int s = 0; s < G->count; s++) {
        const struct event *e = ev(s);
        if (e->kind != E_MARK)
            continue;
        if (e->extra && open[e->thread] >= 0) {
            list[open[e->thread]].end = s;
            list[open[e->thread]].result = (long)e->operand;
            open[e->thread] = -1;
        } else if (!e->extra && open[e->thread] < 0 && count < MOST) {
            open[e->thread] = count;
            list[count++] = (struct operation){e->thread, s, -1, (int)e->expected, (long)e->operand, 0};
        } else {
            fail(ERR_UNSUPPORTED, e->pc, 0, count < MOST ? "explore_begin and explore_end do not alternate"
                                                         : "more than 24 marked operations");
            return;
        }
    }
    for (int i = 0; i < count; i++)
        if (list[i].end < 0)
            fail(ERR_UNSUPPORTED, ev(list[i].begin)->pc, 0, "explore_begin without explore_end");
}

/* Whether there is an order of the operations not in `done` that the specification allows from this state. */
static bool order_exists(unsigned done, const char *state)
{
    char next[STATE];

    if (done == (1u << count) - 1)
        return true;
    for (int i = 0; i < count; i++) {
        bool first = !(done >> i & 1);
        for (int k = 0; k < count && first; k++)
            if (k != i && !(done >> k & 1) && graph_hb_before(G, list[k].end, list[i].begin))
                first = false;
        if (!first)
            continue;
        memcpy(next, state, spec_size);
        if (spec(next, list[i].op, list[i].arg, list[i].result) && order_exists(done | 1u << i, next))
            return true;
    }
    return false;
}

void lin_check(void)
{
    static const char start[STATE];
    char text[sizeof failure.text] = "";
    size_t n = 0;

    collect();
    if (failure.kind || order_exists(0, start))
        return;
    for (int i = 0; i < count && n + 60 < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sT%d: op %d(%ld) = %ld", i ? ", " : "", list[i].thread, list[i].op,
                              list[i].arg, list[i].result);
    failure.thread = list[0].thread;
    fail(ERR_LIN, ev(list[count - 1].end)->pc, 0, "no order of the operations explains their results: %s", text);
}
