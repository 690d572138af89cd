/* SPDX-License-Identifier: MIT */
/*
 * Memory models.
 *
 * RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017) with the release sequences of C++20. Events are inserted as the
 * newest of their thread, so no cycle in program order and reads-from can arise; coherence is a lower limit on the
 * position in modification order (model_floor), atomicity is adjacency there, and the order of seq_cst events (psc)
 * remains, which is a search for a cycle. RA is the same without that search. SC and TSO treat every access as acquire
 * and release and have a separate search for a cycle.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

static bool strong(void)
{
    return options.model == SC || options.model == TSO;
}

bool order_acquires(int order)
{
    return order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST;
}

bool order_releases(int order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

/* The effective order: a compare-exchange that failed has only its failure order, a wait that ended for no reason none. */
int order_of(const struct event *e)
{
    bool tries = e->op == OP_CAS || (e->op >= OP_TRYLOCK && e->op <= OP_TRYTAKE) || (e->flags & F_SPURIOUS);
    bool failed = e->kind == E_READ && tries && (!(e->flags & F_RMW) || e->op == OP_SLEEP);

    return failed && !options.genmc ? e->fail_order : e->order;
}

bool is_sc(const struct event *e)
{
    return (e->kind <= E_FENCE) && e->op != OP_PLAIN && order_of(e) == SEQ_CST;
}

static void from_predecessor(struct event *e)
{
    if (e->index) {
        const struct event *p = ev(G->thread[e->thread].at[e->index - 1]);
        e->porf = p->porf;
        e->hb = p->hb;
    } else {
        memset(&e->porf, 0, sizeof e->porf);
        memset(&e->hb, 0, sizeof e->hb);
    }
    e->porf.n[e->thread] = (int16_t)(e->index + 1);
    e->hb.n[e->thread] = (int16_t)(e->index + 1);
}

static bool succeeds(const struct event *e)
{
    switch (e->op) {
    case OP_LOAD:
    case OP_PEEK:
    case OP_AWAIT:
        return false;
    case OP_CAS:
        return e->value == e->expected && !(e->flags & F_SPURIOUS);
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_ONCE:
        return e->value == 0;
    case OP_RLOCK:
    case OP_TRYRLOCK:
        return (e->value & UINT8_MAX) == 0;
    case OP_TAKE:
    case OP_TRYTAKE:
        return e->value != 0;
    case OP_SIGNAL: /* that of a futex is ordered with waits that begin later, also if it wakes none */
        return e->value != 0 || e->order == ACQ_REL;
    case OP_SLEEP: /* the thread leaves the set by itself */
        return (e->flags & F_SPURIOUS) != 0;
    default:
        return true;
    }
}

bool model_waits(const struct event *e, word value)
{
    switch (e->op) {
    case OP_LOCK:
        return value != 0;
    case OP_RLOCK:
        return (value & UINT8_MAX) != 0;
    case OP_TAKE:
        return value == 0;
    case OP_ONCE:
        return value == ONCE_RUNS;
    case OP_AWAIT:
        return value != e->operand;
    case OP_SLEEP:
        return value != destroyed(e->size) && (value & e->operand) != 0;
    default:
        return false;
    }
}

void model_read(int stamp)
{
    struct event *e = ev(stamp);
    const struct event *w = e->rf == INIT ? NULL : ev(e->rf);

    e->value = w ? w->value : G->place[e->loc].init;
    e->flags &= (uint8_t)~(F_RMW | F_WAITS);
    if (succeeds(e))
        e->flags |= F_RMW;
    else if (model_waits(e, e->value) && !(e->flags & F_SPURIOUS))
        e->flags |= F_WAITS;
    from_predecessor(e);
    if (!w)
        return;
    clock_join(&e->porf, &w->porf);
    if (strong() || order_acquires(order_of(e)))
        clock_join(&e->hb, &w->rel);
}

/* An acquire fence acquires what earlier reads of its thread could have acquired. */
static void acquire_earlier(struct event *e)
{
    for (int i = 0; i < e->index; i++) {
        const struct event *r = ev(G->thread[e->thread].at[i]);
        if (r->kind == E_READ && r->rf >= 0)
            clock_join(&e->hb, &ev(r->rf)->rel);
    }
}

void model_clocks(int stamp)
{
    struct event *e = ev(stamp);

    from_predecessor(e);
    if (e->kind == E_START || e->kind == E_JOIN) {
        if (e->rf >= 0) {
            clock_join(&e->porf, &ev(e->rf)->porf);
            clock_join(&e->hb, &ev(e->rf)->hb);
        }
    } else if (e->kind == E_FENCE) {
        if (order_acquires(e->order))
            acquire_earlier(e);
        if (order_releases(e->order))
            e->fence = e->index;
    } else if (e->kind == E_WRITE) {
        memset(&e->rel, 0, sizeof e->rel);
        if (e->op == OP_PLAIN)
            return;
        if (strong() || order_releases(e->order))
            e->rel = e->hb;
        else if (e->fence >= 0)
            e->rel = ev(G->thread[e->thread].at[e->fence])->hb;
        if (e->flags & F_RMW) {
            int rf = ev(G->thread[e->thread].at[e->index - 1])->rf;
            if (rf >= 0)
                clock_join(&e->rel, &ev(rf)->rel);
        }
    }
}

/* The newest position in mo of loc that an event inside the clock wrote or read; `except` is ignored. */
static int floor_in(const struct clock *c, int loc, int except)
{
    int floor = 0;

    for (int x = G->place[loc].last; x >= 0; x = ev(x)->prev) {
        const struct event *a = ev(x);
        if (x == except || !in_clock(c, a))
            continue;
        int p = pos_of(a);
        if (p > floor)
            floor = p;
    }
    return floor;
}

int model_floor(int stamp)
{
    return floor_in(&ev(stamp)->hb, ev(stamp)->loc, stamp);
}

bool model_rmw_taken(int loc, int pos)
{
    const struct place *p = &G->place[loc];
    if (pos + 1 >= p->count)
        return false;
    const struct event *w = ev(p->mo[pos + 1]);
    return (w->flags & F_RMW) != 0;
}

/* ---- psc: the partial order of seq_cst events ---- */

static struct {
    int32_t *node;
    uint8_t *colour;
    int count, room;
} psc;

static bool hb(int a, int b)
{
    return in_clock(&ev(b)->hb, ev(a)) && a != b;
}

static bool hb_or_same(int a, int b)
{
    return a == b || hb(a, b);
}

static int po_next(const struct event *e)
{
    return e->index + 1 < G->thread[e->thread].count ? G->thread[e->thread].at[e->index + 1] : -1;
}

static int po_prev(const struct event *e)
{
    return e->index ? G->thread[e->thread].at[e->index - 1] : -1;
}

/* Extended coherence order between two accesses of one location: rf, mo, rb and their compositions. */
static bool eco(const struct event *x, int xs, const struct event *y)
{
    int p = pos_of(x), q = pos_of(y);
    return p < q || (x->kind == E_WRITE && y->kind == E_READ && y->rf == xs);
}

static bool psc_fences(int f, int g)
{
    if (hb(f, g))
        return true;
    for (int loc = 0; loc < G->places; loc++)
        for (int x = G->place[loc].last; x >= 0; x = ev(x)->prev) {
            if (!hb(f, x))
                continue;
            for (int y = G->place[loc].last; y >= 0; y = ev(y)->prev)
                if (y != x && hb(y, g) && eco(ev(x), x, ev(y)))
                    return true;
        }
    return false;
}

/* mo or rb from x to the write y */
static bool mo_or_rb(const struct event *x, const struct event *y)
{
    return y->kind == E_WRITE && pos_of(x) < y->pos;
}

static bool psc_fence_access(int f, int b)
{
    int before = po_prev(ev(b));
    if (before >= 0 && hb_or_same(f, before))
        return true;
    for (int x = G->place[ev(b)->loc].last; x >= 0; x = ev(x)->prev)
        if (x != b && hb(f, x) && (hb(x, b) || mo_or_rb(ev(x), ev(b))))
            return true;
    return false;
}

static bool psc_access_fence(int a, int f)
{
    int after = po_next(ev(a));
    if (after >= 0 && hb_or_same(after, f))
        return true;
    for (int y = G->place[ev(a)->loc].last; y >= 0; y = ev(y)->prev)
        if (y != a && hb(y, f) && (hb(a, y) || mo_or_rb(ev(a), ev(y))))
            return true;
    return false;
}

/* Whether the thread made a plain access to another location just before this event. */
static bool plain_before(const struct event *e, int loc)
{
    return e->plain && e->plain - G->place[loc].addr >= G->place[loc].size;
}

/* Whether this step of program order stays at the location. Marks and choices are not accesses. */
static bool stays_at(const struct event *e, int loc)
{
    return e->loc == loc || e->kind == E_MARK || e->kind == E_CHOICE;
}

static bool psc_accesses(int a, int b)
{
    const struct event *x = ev(a), *y = ev(b);

    if (x->thread == y->thread)
        return x->index < y->index;
    if (x->loc == y->loc && (hb(a, b) || mo_or_rb(x, y)))
        return true;
    /* sb, hb, sb; RC11 requires that both sb steps change the location, GenMC does not. */
    int from = po_next(x), to = po_prev(y), last = b;
    while (from >= 0 && !options.genmc && stays_at(ev(from), x->loc) && !plain_before(ev(from), x->loc))
        from = po_next(ev(from));
    while (to >= 0 && !options.genmc && stays_at(ev(to), y->loc) && !plain_before(ev(last), y->loc)) {
        last = to;
        to = po_prev(ev(to));
    }
    return from >= 0 && to >= 0 && hb(from, to);
}

static bool psc_edge(int a, int b)
{
    bool fa = ev(a)->kind == E_FENCE, fb = ev(b)->kind == E_FENCE;

    if (fa && fb)
        return psc_fences(a, b);
    if (fa)
        return psc_fence_access(a, b);
    return fb ? psc_access_fence(a, b) : psc_accesses(a, b);
}

static bool psc_cycle_from(int i)
{
    psc.colour[i] = 1;
    for (int j = 0; j < psc.count; j++)
        if (j != i && psc.colour[j] != 2 && psc_edge(psc.node[i], psc.node[j]))
            if (psc.colour[j] == 1 || psc_cycle_from(j))
                return true;
    psc.colour[i] = 2;
    return false;
}

static bool psc_acyclic(int stamp, int other)
{
    bool start[2] = {is_sc(ev(stamp)), other >= 0 && is_sc(ev(other))};
    bool fences = false;

    if (psc.room < G->count) {
        psc.room = G->count * 2;
        psc.node = realloc(psc.node, (size_t)psc.room * sizeof *psc.node);
        psc.colour = realloc(psc.colour, (size_t)psc.room);
        if (!psc.node || !psc.colour)
            engine_bug("out of memory");
    }
    psc.count = 0;
    for (int i = 0; i < G->count; i++)
        if (is_sc(ev(i))) {
            psc.colour[psc.count] = 0;
            psc.node[psc.count++] = i;
            fences |= ev(i)->kind == E_FENCE;
        }
    if (psc.count < 2 || !(fences || start[0] || start[1]))
        return true;
    /* A new cycle runs through the new event itself or, by way of it, through a fence. */
    for (int i = 0; i < psc.count; i++) {
        int s = psc.node[i];
        bool from = (s == stamp && start[0]) || (s == other && start[1]) || ev(s)->kind == E_FENCE;
        if (from && !psc.colour[i] && psc_cycle_from(i))
            return false;
    }
    return true;
}

/* ---- SC and TSO: one search over all events ---- */

static struct {
    uint8_t *seen;
    int32_t *stack;
    int room, top;
} walk;

static void walk_to(int stamp)
{
    if (stamp >= 0 && !walk.seen[stamp]) {
        walk.seen[stamp] = 1;
        walk.stack[walk.top++] = stamp;
    }
}

/* Under TSO a store may be delayed: only later stores, read-modify-writes and full fences wait for it. */
static bool drains(const struct event *e)
{
    if (e->kind == E_WRITE)
        return (e->flags & F_RMW) || (!options.genmc && e->order == SEQ_CST);
    return e->kind != E_READ && (e->kind != E_FENCE || e->order == SEQ_CST);
}

static void walk_po(const struct event *e)
{
    if (options.model == SC) {
        walk_to(po_next(e));
        return;
    }
    bool lingers = e->kind == E_WRITE && !drains(e), read = false, write = false;
    for (int i = e->index + 1; i < G->thread[e->thread].count; i++) {
        int s = G->thread[e->thread].at[i];
        const struct event *f = ev(s);
        if (f->kind == E_MARK || f->kind == E_CHOICE)
            continue;
        bool full = f->kind != E_READ && f->kind != E_WRITE && drains(f);
        bool waits = options.genmc && e->order == SEQ_CST && is_sc(f); /* GenMC: seq_cst accesses stay in order */
        if (f->kind == E_READ && !read && (!lingers || waits || (f->flags & F_RMW))) {
            walk_to(s);
            read = true;
        } else if (f->kind == E_WRITE && !write) {
            walk_to(s);
            write = true;
        } else if (full) {
            walk_to(s);
            return;
        }
    }
}

static void walk_across(int stamp, const struct event *e)
{
    if (e->loc >= 0) {
        const struct place *p = &G->place[e->loc];
        int next = pos_of(e) + 1;
        if (next < p->count)
            walk_to(p->mo[next]);
    }
    if (e->kind == E_READ || e->kind == E_FENCE)
        return;
    for (int i = 0; i < G->count; i++) /* readers, and what a create or an end starts */
        if (ev(i)->rf == stamp && (options.model == SC || ev(i)->thread != e->thread))
            walk_to(i);
}

static bool walk_returns(int stamp)
{
    if (walk.room < G->count) {
        walk.room = G->count * 2;
        walk.seen = realloc(walk.seen, (size_t)walk.room);
        walk.stack = realloc(walk.stack, (size_t)walk.room * sizeof *walk.stack);
        if (!walk.seen || !walk.stack)
            engine_bug("out of memory");
    }
    memset(walk.seen, 0, (size_t)G->count);
    walk.top = 0;
    walk.stack[walk.top++] = stamp;
    while (walk.top) {
        int s = walk.stack[--walk.top];
        walk_po(ev(s));
        walk_across(s, ev(s));
        if (walk.seen[stamp])
            return true;
    }
    return false;
}

/* other is a second event that changed with this one, or -1 */
bool model_consistent(int stamp, int other)
{
    if (options.model == RA)
        return true;
    if (options.model == RC11)
        return psc_acyclic(stamp, other);
    return !walk_returns(stamp) && (other < 0 || !walk_returns(other));
}
