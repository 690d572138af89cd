/* SPDX-License-Identifier: MIT */
/*
 * Executions at random, for programs that are too large to exhaust.
 *
 * Each run builds one consistent graph from nothing. The thread with the highest random priority takes the next step, and
 * priorities change from time to time; a load sometimes reads an older value that coherence allows, a store sometimes goes
 * before others in modification order. How often is drawn anew for each run: some are nearly sequentially consistent with
 * few switches, others have many of both. Priorities with few changes are those of PCT (Burckhardt, Kothari, Musuvathi,
 * Nagarakatte, ASPLOS 2010), the choice among old values is as in C11Tester (Luo and Demsky, ASPLOS 2021) and PCTWM (Gao,
 * Chakraborty, Ozkan, ASPLOS 2023). There are no revisits: a load reads what is there when its thread comes to it.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

struct found found;

static uint64_t state;
static int priority[MAX_THREADS];
static struct {
    uint32_t old, place, change; /* one step in N; 0 never */
} rate;
static bool forced; /* no thread can continue: those that wait are let into their waits */

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)((draw() >> 32) * n >> 32);
}

static bool one_in(uint32_t n)
{
    return n && !below(n);
}

static void begin_run(void)
{
    static const uint32_t olds[] = {2, 3, 4, 32}, places[] = {0, 0, 8, 32}, changes[] = {8, 16, 32, 64};

    state = options.seed * 0xd1342543de82ef95u ^ found.runs * 0x2545f4914f6cdd1du;
    rate.old = olds[below(4)];
    rate.place = places[below(4)];
    rate.change = changes[below(4)];
    for (int t = 0; t < MAX_THREADS; t++)
        priority[t] = (int)below(1 << 20);
}

/* ---- what the next step is ---- */

/* Whether the parked thread may continue. One that waits may not, until that ends, or until no other thread can continue. */
bool search_goes(struct thread *t)
{
    if (!t->decided && options.spin)
        spin_sleeps(t);
    t->decided = true;
    if (t->awaited) {
        if (forced) {
            t->state = T_BLOCKED;
            t->why = WHY_SPIN;
        }
        return false;
    }
    if (!is_lock(t->req.op) || forced)
        return true;
    return !explore_waits(t) || (t->req.weak && options.spurious && one_in(8));
}

static struct thread *highest(bool (*enabled)(struct thread *t))
{
    struct thread *best = NULL;

    for (int t = 0; t < run_threads(); t++)
        if (enabled(&thread[t]) && (!best || priority[t] > priority[best->id]))
            best = &thread[t];
    return best;
}

struct thread *search_next(bool (*enabled)(struct thread *t))
{
    struct thread *next = highest(enabled);

    forced = !next;
    if (!next)
        next = highest(enabled);
    if (next && one_in(rate.change))
        priority[next->id] = (int)below(1 << 20) - (below(2) ? 1 << 20 : 0);
    return next;
}

/* Which of `count` alternatives the new event takes; count: none, it stays with what is newest. */
int search_picks(const struct event *e, int count, bool values)
{
    if (!count)
        return 0;
    if (values)
        return (int)below((uint32_t)count + 1);
    if ((e->flags & F_WAITS) && forced && !e->extra)
        return count; /* it waits forever, unless for no reason */
    if (!(e->flags & F_WAITS) && !one_in(e->kind == E_READ ? rate.old : rate.place))
        return count;
    return (int)below((uint32_t)count);
}

/* ---- distinct executions ---- */

enum { MOST_KNOWN = 1 << 24 };

static uint64_t *known; /* hashes; the lowest bit states that it came more than once */
static size_t known_room;

static uint64_t mix(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* Equal for equal graphs, in whatever order the events were added. */
static uint64_t fingerprint(void)
{
    uint64_t h = 1;

    for (int t = 0; t < G->threads; t++)
        for (int i = 0; i < G->thread[t].count; i++) {
            const struct event *e = ev(G->thread[t].at[i]), *w = e->rf >= 0 ? ev(e->rf) : NULL;
            h = mix(h, (uint64_t)t << 56 ^ (uint64_t)e->op << 48 ^ (uint64_t)(uint16_t)e->loc << 32 ^ (uint64_t)(e->flags & F_SPURIOUS));
            h = mix(h, (uint64_t)e->value ^ (w ? (uint64_t)w->thread << 48 ^ (uint64_t)w->index << 32 : 0) ^ (uint64_t)(uint32_t)e->pos << 8);
        }
    return h | 1;
}

static uint64_t *slot_of(uint64_t h)
{
    size_t i = h >> 20;

    while (known[i % known_room] && (known[i % known_room] | 1) != h)
        i++;
    return &known[i % known_room];
}

static void make_room(void)
{
    uint64_t *old = known;
    size_t count = known_room;

    known_room = count ? count * 2 : 1 << 12;
    known = calloc(known_room, sizeof *known);
    if (!known)
        engine_bug("out of memory");
    for (size_t i = 0; i < count; i++)
        if (old[i])
            *slot_of(old[i] | 1) = old[i];
    free(old);
}

/* Counts the execution in G. */
static void note(void)
{
    uint64_t h = fingerprint(), *slot;

    if (found.distinct * 2 >= known_room)
        make_room();
    slot = slot_of(h);
    if (!*slot) {
        *slot = h;
        found.distinct++;
        found.once++;
    } else if (*slot & 1) {
        *slot = h & ~(uint64_t)1;
        found.once--;
    }
}

static bool over(void)
{
    return elapsed() >= options.seconds || (options.most && found.runs >= options.most) || found.distinct >= MOST_KNOWN || stop_now();
}

void search_all(void)
{
    while (!over()) {
        begin_run();
        found.runs++;
        explore_empty();
        enum outcome o = run_once();
        if (o == RUN_COMPLETE)
            statistics.executions++;
        else if (o == RUN_BLOCKED)
            statistics.blocked++;
        if (o != RUN_ERROR)
            finish_run(o);
        if (failure.kind) {
            found.failing = found.runs;
            return;
        }
        if (o == RUN_COMPLETE || o == RUN_BLOCKED)
            note();
    }
}

/* ---- a shorter counterexample ---- */

enum { TRIES = 400, STEPS = 40000 };

/* What a person has to read. */
static int length(void)
{
    int n = 0;

    for (int s = 0; s < G->count; s++)
        n += !trace_hidden(ev(s)) && ev(s)->kind != E_START && ev(s)->kind != E_END;
    return 4 * n + trace_switches();
}

static void keep(struct graph *to)
{
    bool *every = malloc((size_t)G->count + 1);
    int32_t *map = malloc(((size_t)G->count + 1) * sizeof *map);

    if (!every || !map)
        engine_bug("out of memory");
    memset(every, 1, (size_t)G->count + 1);
    graph_keep(G, to, every, map);
    free(every);
    free(map);
}

/* Runs at random for a moment: G and failure become the shortest execution with the same error, at the same places. */
void search_smaller(void (*diagnose)(void))
{
    static struct graph best;
    struct options before = options;
    struct statistics counted = statistics;
    struct failure first = failure;
    struct found all = found;
    int least = length();
    uint64_t end = statistics.steps + STEPS;

    keep(&best);
    options.search = true;
    for (int i = 0; i < TRIES && statistics.steps < end && !time_is_up; i++) {
        found.runs++;
        begin_run();
        explore_empty();
        enum outcome o = run_once();
        if (o != RUN_ERROR)
            finish_run(o);
        if (failure.hangs || failure.kind != first.kind || failure.pc != first.pc || length() >= least)
            continue;
        diagnose();
        if (failure.other_pc != first.other_pc || failure.addr != first.addr)
            continue;
        least = length();
        keep(&best);
    }
    G = &best;
    failure = first;
    options = before;
    found = all;
    diagnose(); /* the threads are where that execution has left them */
    statistics = counted;
}
