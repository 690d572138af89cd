/* SPDX-License-Identifier: MIT */
/*
 * The algorithm: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022).
 *
 * A graph grows by one event of the program at a time. A read tries every write that coherence allows; a write tries
 * every position in modification order, and also revisits the reads that were inserted earlier and could have read it:
 * the read is changed to read this write, and events that were inserted after the read and do not lead to the write are
 * deleted. A revisit is taken only if everything it deletes had been added in the one way that a fresh run would add it
 * (maximally), so that each consistent graph is reached exactly once.
 *
 * Alternatives without a revisit are stored as (stamp, choice) and undone by truncating the graph; a revisit opens a
 * frame with a separate graph. Memory is bounded by the depth of nested revisits, not by the number of executions.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum choice { C_READ, C_PLACE, C_REVISIT, C_VALUE };

struct item {
    enum choice kind;
    int32_t stamp;   /* the event that is still there when the choice is taken */
    int32_t pos;     /* position in modification order to read from or to insert at; value of a choice */
    int32_t reader;  /* a revisited read, or -1 */
    bool spurious;
    double weight;
};

struct frame {
    struct graph graph;
    struct item *item;
    int count, room;
};

static struct frame **frame;
static int frames, frame_room;
static struct frame *top;
static double weight;
struct statistics statistics;

static struct frame *frame_push(void)
{
    if (frames == frame_room) {
        frame = realloc(frame, (size_t)(frame_room + 16) * sizeof *frame);
        if (!frame)
            engine_bug("out of memory");
        memset(frame + frame_room, 0, 16 * sizeof *frame);
        frame_room += 16;
    }
    if (!frame[frames] && !(frame[frames] = calloc(1, sizeof **frame)))
        engine_bug("out of memory");
    top = frame[frames++];
    top->count = 0;
    if (frames > statistics.frames)
        statistics.frames = frames;
    return top;
}

static void push(enum choice kind, int stamp, int pos, int reader, bool spurious)
{
    if (top->count == top->room) {
        top->room = top->room ? top->room * 2 : 64;
        top->item = realloc(top->item, (size_t)top->room * sizeof *top->item);
        if (!top->item)
            engine_bug("out of memory");
    }
    top->item[top->count++] = (struct item){kind, stamp, pos, reader, spurious, 0};
}

/* Shares the weight of the current branch between it and the items pushed since there were `before`. */
static void split_weight(int before)
{
    weight /= top->count - before + 1;
    for (int i = before; i < top->count; i++)
        top->item[i].weight = weight;
}

/* ---- revisits ---- */

/* Whether e was added before `limit`, or leads to the write w. */
static bool previous(int e, int limit, int w)
{
    return e < 0 || (e != w && (e <= limit || in_clock(&ev(w)->porf, ev(e))));
}

/* Whether a fresh run would have added e this way. Previous: events that existed then, or that lead to w. */
static bool maximally_added(int e, int w)
{
    const struct event *x = ev(e);

    if (x->kind == E_CHOICE)
        return x->value == 0;
    if (x->kind != E_READ && x->kind != E_WRITE)
        return true;
    if (x->op == OP_SIGNAL && x->kind == E_WRITE && x->extra)
        return false;
    if (x->kind == E_READ && ((x->flags & F_SPURIOUS) || !previous(x->rf, e, w)))
        return false;
    if (x->kind == E_WRITE)
        for (int r = G->place[x->loc].last; r >= 0; r = ev(r)->prev)
            if (ev(r)->kind == E_READ && ev(r)->rf == e && previous(r, e, w))
                return false;
    const struct place *p = &G->place[x->loc];
    for (int i = pos_of(x) + 1; i < p->count; i++)
        if (previous(p->mo[i], e, w))
            return false;
    return true;
}

static bool deleted(int e, int read, int w)
{
    return e > read && e != w && !in_clock(&ev(w)->porf, ev(e));
}

static bool may_revisit(int read, int w)
{
    if (!maximally_added(read, w))
        return false;
    for (int e = read + 1; e < G->count && !time_is_up; e++)
        if (deleted(e, read, w) && !maximally_added(e, w))
            return false;
    return true;
}

static void push_revisits(int w)
{
    if (options.search) /* which tries no alternatives in order */
        return;
    for (int r = ev(w)->prev; r >= 0; r = ev(r)->prev)
        if (ev(r)->kind == E_READ && !in_clock(&ev(w)->porf, ev(r)) && may_revisit(r, w))
            push(C_REVISIT, w, 0, r, false);
}

/* ---- adding events ---- */

/* The set of waiting threads without its n-th. */
static word without(word set, uint32_t n)
{
    word rest = set;

    while (n--)
        rest &= rest - 1;
    return set & ~(rest & -rest);
}

static word apply(const struct event *r, int thread_id)
{
    word v = r->value, o = r->operand;

    switch (r->op) {
    case OP_ARRIVE:
    case OP_POST:
    case OP_RLOCK:
    case OP_TRYRLOCK:
    case OP_RUNLOCK:
    case OP_ADD: v += o; break;
    case OP_TAKE:
    case OP_TRYTAKE: v--; break;
    case OP_ENTER: v |= o; break;
    case OP_LEAVE:
    case OP_SLEEP: v &= ~o; break;
    case OP_SIGNAL: v = o ? without(v, 0) : 0; break;
    case OP_ONCE: v = ONCE_RUNS; break;
    case OP_SUB: v -= o; break;
    case OP_AND: v &= o; break;
    case OP_OR: v |= o; break;
    case OP_XOR: v ^= o; break;
    case OP_NAND: v = ~(v & o); break;
    case OP_LOCK:
    case OP_TRYLOCK: v = (word)(thread_id + 1); break;
    default: v = o; break;
    }
    return r->size == 16 ? v : v & (((word)1 << r->size * 8) - 1);
}

/* Adds the write of a read-modify-write whose read is in the graph; false when there is no position for it. */
static bool add_rmw_write(int read)
{
    int t = ev(read)->thread, loc = ev(read)->loc;
    struct event *w = graph_add(G, t);
    const struct event *r = ev(read);
    int stamp = G->count - 1;

    w->kind = E_WRITE;
    w->op = r->op;
    w->flags = F_RMW;
    w->order = r->order;
    w->size = r->size;
    w->pc = r->pc;
    w->weakened = r->weakened;
    w->effects = r->effects;
    w->value = apply(r, t);
    graph_link(G, stamp, loc);
    model_clocks(stamp);
    int pos = pos_of(ev(read)) + 1;
    bool taken = model_rmw_taken(loc, pos - 1), newest = pos == G->place[loc].count;
    if (!taken)
        graph_mo_insert(G, stamp, pos);
    if (ev(stamp)->op == OP_SIGNAL && ev(read)->operand) /* one of the threads that wait: each is tried */
        for (int n = __builtin_popcount((unsigned)ev(read)->value); n-- > 1;)
            push(C_VALUE, stamp, n, -1, false);
    push_revisits(stamp);
    return !taken && (newest || model_consistent(stamp, read));
}

static bool may_fail_spuriously(const struct event *r, word value)
{
    return (r->flags & F_WEAK) && (r->op == OP_CAS ? value == r->expected : model_waits(r, value));
}

static word value_at(int loc, int pos)
{
    int w = G->place[loc].mo[pos];
    return w == INIT ? G->place[loc].init : ev(w)->value;
}

static void describe(struct event *e, const struct thread *t)
{
    const struct request *q = &t->req;

    e->op = q->op;
    e->order = q->order;
    e->fail_order = q->fail_order;
    e->weakened = q->weakened;
    e->size = q->size;
    e->pc = q->pc;
    e->operand = q->operand;
    e->expected = q->expected;
    e->extra = q->extra;
    e->effects = t->effects;
    e->plain = t->plain;
    e->printed = (int16_t)outcome_length();
}

/* Which location at this address: the one that owns it, or else one that the graph does not have yet. */
static int life_of(const struct request *q)
{
    int owner = shadow_owner(q->addr), life = 0;

    if (owner >= 0 && G->place[owner].addr == q->addr && G->place[owner].size == q->size)
        return G->place[owner].life;
    while (shadow_tracks(q->addr) && graph_has_place(G, q->addr, life))
        life++;
    return life;
}

static int locate(const struct thread *t)
{
    const struct request *q = &t->req;
    bool clash;
    word now = read_memory(q->addr, q->size); /* also if only the engine uses the value: the address must be valid */
    int loc = graph_place(G, q->addr, life_of(q), q->size, is_lock(q->op) ? 0 : now, &clash);

    program_check(q);
    if (clash)
        fail(ERR_UNSUPPORTED, q->pc, q->addr, "atomic accesses of different sizes to one address");
    if (q->addr & (q->size - 1u))
        fail(ERR_UNSUPPORTED, q->pc, q->addr, "an atomic access that is not aligned to its size");
    return loc;
}

static bool add_read(struct thread *t)
{
    int loc = locate(t);
    struct event *e = graph_add(G, t->id);
    int stamp = G->count - 1;

    bool timed = is_lock(t->req.op) && t->req.extra;

    statistics.tries |= (t->req.op >= OP_TRYLOCK && t->req.op <= OP_TRYTAKE) || t->req.op == OP_PEEK || (timed && t->req.op != OP_SLEEP);
    e->kind = E_READ;
    describe(e, t);
    e->flags = t->req.weak && (options.spurious || timed) ? F_WEAK : 0;
    e->state = options.spin ? spin_state(t) : 0;
    e->rf = INIT;
    graph_link(G, stamp, loc);
    model_clocks(stamp); /* clocks as far as program order gives them */
    int floor = model_floor(stamp), newest = G->place[loc].count - 1;
    for (int pos = floor; pos < newest; pos++) {
        word v = value_at(loc, pos);
        if (spin_known(e->state, v) && shadow_quiet(e))
            continue;
        if (!model_waits(e, v)) /* waiting matters only at the newest value */
            push(C_READ, stamp, pos, -1, false);
        if (may_fail_spuriously(e, v))
            push(C_READ, stamp, pos, -1, true);
    }
    if (may_fail_spuriously(e, value_at(loc, newest)))
        push(C_READ, stamp, newest, -1, true);
    e->rf = G->place[loc].mo[newest];
    model_read(stamp);
    return !(ev(stamp)->flags & F_RMW) || add_rmw_write(stamp);
}

static bool add_write(const struct thread *t)
{
    int loc = locate(t);
    struct event *e = graph_add(G, t->id);
    int stamp = G->count - 1;

    e->kind = E_WRITE;
    describe(e, t);
    e->value = t->req.operand;
    graph_link(G, stamp, loc);
    model_clocks(stamp);
    int newest = G->place[loc].count;
    for (int pos = model_floor(stamp) + 1; pos < newest; pos++)
        if (!model_rmw_taken(loc, pos - 1))
            push(C_PLACE, stamp, pos, -1, false);
    graph_mo_insert(G, stamp, newest);
    push_revisits(stamp);
    return true;
}

static bool add_other(const struct thread *t, enum kind kind, int rf)
{
    struct event *e = graph_add(G, t->id);

    e->kind = (uint8_t)kind;
    describe(e, t);
    e->rf = rf;
    model_clocks(G->count - 1);
    return true;
}

static bool someone_went_on; /* in any graph so far */

/* A choice of 0 to limit - 1; values above 0 are alternatives. */
static void add_choice(const struct thread *t, word limit)
{
    int stamp = G->count;

    add_other(t, E_CHOICE, NONE);
    for (word v = limit; v-- > 1;)
        push(C_VALUE, stamp, (int)v, -1, false);
}

/* The event after an iteration that changed nothing and was followed by others; no graph has more than one. */
const struct event *explore_went_on(void)
{
    for (int s = 0; s < G->count && someone_went_on; s++)
        if (ev(s)->op == OP_AGAIN && ev(s)->value)
            return ev(s);
    return NULL;
}

/* The thread has completed an iteration that changed nothing: it stops here, or continues (spin.c). */
void explore_again(int t)
{
    int before = top->count;
    struct request wanted = thread[t].req;

    thread[t].req = (struct request){.op = OP_AGAIN, .pc = wanted.pc, .extra = (uint32_t)thread[t].spin_from,
                                     .expected = (word)thread[t].spin_end};
    add_choice(&thread[t], explore_went_on() ? 1 : 2);
    thread[t].req = wanted;
    split_weight(before);
}

static struct {
    bool *keep;
    int32_t *map;
    int room;
} copy;

static void copy_room(void)
{
    if (copy.room >= G->count)
        return;
    copy.room = G->count * 2;
    copy.keep = realloc(copy.keep, (size_t)copy.room * sizeof *copy.keep);
    copy.map = realloc(copy.map, (size_t)copy.room * sizeof *copy.map);
    if (!copy.keep || !copy.map)
        engine_bug("out of memory");
}

static bool add_event(struct thread *t)
{
    switch (t->req.op) {
    case OP_FENCE:
        return add_other(t, E_FENCE, NONE);
    case OP_CREATE:
        return add_other(t, E_CREATE, NONE);
    case OP_START:
        return add_other(t, E_START, t->id ? t->creator : NONE);
    case OP_END:
        return add_other(t, E_END, NONE);
    case OP_MARK:
        return add_other(t, E_MARK, NONE);
    case OP_CHOOSE:
        add_choice(t, t->req.operand);
        return true;
    case OP_JOIN: {
        int other = (int)t->req.extra;
        return add_other(t, E_JOIN, G->thread[other].at[G->thread[other].count - 1]);
    }
    case OP_STORE:
    case OP_UNLOCK:
    case OP_PLAIN:
        return add_write(t);
    default:
        return add_read(t);
    }
}

struct used_site *used_sites;
int used_site_count;

void explore_note_site(const struct thread *t)
{
    static int room;
    const struct request *q = &t->req;

    if (q->op > OP_CAS && q->op != OP_FENCE)
        return;
    struct used_site s = {.pc = q->pc, .op = q->op, .order = q->order, .fail_order = q->fail_order, .weakened = q->weakened,
                          .own_order = q->weakened ? q->own_order : q->order,
                          .own_fail_order = q->weakened ? q->own_fail_order : q->fail_order};
    program_callers(t, s.callers);
    for (int i = 0; i < used_site_count; i++)
        if (used_sites[i].pc == s.pc && !memcmp(used_sites[i].callers, s.callers, sizeof s.callers)) {
            used_sites[i].several |= used_sites[i].own_order != s.own_order ||
                                     (s.op == OP_CAS && used_sites[i].own_fail_order != s.own_fail_order);
            return;
        }
    if (used_site_count == room) {
        room = room ? room * 2 : 64;
        used_sites = realloc(used_sites, (size_t)room * sizeof *used_sites);
        if (!used_sites)
            engine_bug("out of memory");
    }
    used_sites[used_site_count++] = s;
    statistics.consume |= s.op != OP_FENCE && (s.order == CONSUME || (s.op == OP_CAS && s.fail_order == CONSUME));
}

static void add_picked(struct thread *t);

bool explore_add(int t)
{
    int before = top->count;
    explore_note_site(&thread[t]);
    if (options.search) {
        add_picked(&thread[t]);
        return true;
    }
    bool placed = add_event(&thread[t]);

    split_weight(before);
    if (G->count > statistics.longest)
        statistics.longest = G->count;
    return placed;
}

void explore_undo(int stamp)
{
    while (top->count && top->item[top->count - 1].stamp >= stamp)
        weight += top->item[--top->count].weight;
    graph_cut(G, stamp - 1);
}

/* ---- taking an alternative ---- */

static bool take_read(const struct item *c)
{
    struct event *e = ev(c->stamp);

    e->rf = G->place[e->loc].mo[c->pos];
    e->flags = (uint8_t)(c->spurious ? e->flags | F_SPURIOUS : e->flags & ~F_SPURIOUS);
    model_read(c->stamp);
    if (c->pos + 1 < G->place[e->loc].count && !model_consistent(c->stamp, -1))
        return false;
    return !(e->flags & F_RMW) || add_rmw_write(c->stamp);
}

/* A signal wakes another one of the threads that wait. */
static bool take_signal(const struct item *c)
{
    struct event *w = ev(c->stamp);
    int read = G->thread[w->thread].at[w->index - 1];

    w->extra = (uint32_t)c->pos;
    w->value = without(ev(read)->value, w->extra);
    push_revisits(c->stamp);
    return w->pos > 0 && (w->pos + 1 == G->place[w->loc].count || model_consistent(c->stamp, read));
}

static bool take_value(const struct item *c)
{
    if (ev(c->stamp)->kind == E_WRITE)
        return take_signal(c);
    ev(c->stamp)->value = (word)c->pos;
    someone_went_on |= ev(c->stamp)->op == OP_AGAIN;
    return true;
}

/* The write is in its position; checks it, and completes a read-modify-write that reads it. */
static bool settle(int write, int reader, bool spurious)
{
    if (reader >= 0) {
        struct event *r = ev(reader);
        r->flags = (uint8_t)(spurious ? r->flags | F_SPURIOUS : r->flags & ~F_SPURIOUS);
        model_read(reader);
    }
    const struct event *w = ev(write);
    if (w->pos + 1 < G->place[w->loc].count && !model_consistent(write, reader))
        return false;
    return reader < 0 || !(ev(reader)->flags & F_RMW) || add_rmw_write(reader);
}

static bool take_place(const struct item *c)
{
    graph_mo_remove(G, c->stamp);
    graph_mo_insert(G, c->stamp, c->pos);
    return settle(c->stamp, c->reader, c->spurious);
}

/* Opens a frame with the events that the revisit keeps; returns the new stamps of the write and the read. */
static void open_revisit(const struct item *c, int *write, int *reader)
{
    copy_room();
    for (int e = 0; e < G->count; e++)
        copy.keep[e] = !deleted(e, c->reader, c->stamp);
    const struct graph *from = G;
    G = &frame_push()->graph;
    graph_keep(from, G, copy.keep, copy.map);
    *write = copy.map[c->stamp];
    *reader = copy.map[c->reader];
    if (ev(*write)->pos)
        graph_mo_remove(G, *write);
    ev(*write)->pos = 0;
}

static bool take_revisit(const struct item *c)
{
    int w, r;

    open_revisit(c, &w, &r);
    struct event *read = ev(r), *write = ev(w);
    int loc = write->loc, count = G->place[loc].count;
    read->rf = w;
    model_read(r);
    int low = model_floor(w), low_r = model_floor(r), high = count;
    low = (low > low_r ? low : low_r) + 1;
    if (write->flags & F_RMW) {
        int only = pos_of(ev(G->thread[write->thread].at[write->index - 1])) + 1;
        if (only < low)
            return false;
        low = high = only;
    }
    int first = 0;
    bool spurious = may_fail_spuriously(read, write->value);
    for (int pos = low; pos <= high; pos++) {
        if (model_rmw_taken(loc, pos - 1))
            continue;
        if (first)
            push(C_PLACE, w, first, r, false);
        if (spurious)
            push(C_PLACE, w, pos, r, true);
        first = pos;
    }
    if (!first)
        return false;
    graph_mo_insert(G, w, first);
    int before = 0;
    bool placed = settle(w, r, false);
    split_weight(before);
    return placed;
}

static bool take(const struct item *c)
{
    switch (c->kind) {
    case C_REVISIT:
        return take_revisit(c);
    case C_READ:
        return take_read(c);
    case C_PLACE:
        return take_place(c);
    default:
        return take_value(c);
    }
}

/* Backtracks to the newest alternative that can be taken; false when there is none left. */
static bool backtrack(void)
{
    while (frames && !time_is_up) {
        if (!top->count) {
            if (--frames) {
                top = frame[frames - 1];
                G = &top->graph;
            }
            continue;
        }
        struct item c = top->item[--top->count];
        int before = top->count;
        weight = c.weight;
        graph_cut(G, c.stamp);
        bool placed = take(&c);
        if (c.kind != C_REVISIT)
            split_weight(before);
        if (placed)
            return true;
        statistics.share += weight;
    }
    if (frames)
        statistics.cut |= CUT_TIME;
    return false;
}

/* ---- executions at random (search.c) ---- */

/* The alternatives that the search may take instead of the newest value or position, moved to the front. */
static int candidates(const struct event *e, bool *values)
{
    int n = 0;

    *values = false;
    for (int i = 0; i < top->count; i++)
        *values |= top->item[i].kind == C_VALUE;
    for (int i = 0; i < top->count; i++) {
        struct item c = top->item[i];
        if (*values ? c.kind != C_VALUE : (e->flags & F_WAITS) && !c.spurious)
            continue;
        top->item[i] = top->item[n];
        top->item[n++] = c;
    }
    return n;
}

/* Adds the event of the thread with the newest value or position, or one of the alternatives. */
static void add_picked(struct thread *t)
{
    int stamp = G->count;
    bool values;

    add_event(t);
    int count = candidates(ev(stamp), &values), n = search_picks(ev(stamp), count, values);
    if (n < count) {
        struct item c = top->item[n];
        graph_cut(G, c.stamp);
        if (!take(&c)) { /* inconsistent; the newest never is */
            int newest = ev(c.stamp)->loc >= 0 ? G->place[ev(c.stamp)->loc].count - 1 : 0;
            graph_cut(G, c.stamp);
            c.pos = c.kind == C_VALUE ? 0 : newest;
            c.spurious = false;
            take(&c);
        }
    }
    top->count = 0;
}

/* Whether the thread's lock or the like would wait, for what the newest value is. */
bool explore_waits(const struct thread *t)
{
    const struct request *q = &t->req;
    struct event e = {.op = q->op, .size = q->size, .operand = q->operand};
    int loc = locate(t), newest = G->place[loc].mo[G->place[loc].count - 1];

    return model_waits(&e, newest == INIT ? G->place[loc].init : ev(newest)->value);
}

/* An empty graph, for the next execution. */
void explore_empty(void)
{
    frames = 0;
    G = &frame_push()->graph;
    graph_reset(G);
}

/* Another process is idle: it gets the oldest choice, with the graph to take it on. */
static void give_away(void)
{
    static struct graph part;

    for (int f = 0; f < frames; f++) {
        struct frame *x = frame[f];
        if (!x->count || (f == frames - 1 && x->count < 2))
            continue;
        G = &x->graph;
        copy_room();
        for (int e = 0; e < G->count; e++)
            copy.keep[e] = e <= x->item[0].stamp;
        graph_keep(G, &part, copy.keep, copy.map);
        G = &top->graph;
        if (share_give(&part, &x->item[0], sizeof *x->item)) {
            memmove(x->item, x->item + 1, (size_t)(x->count - 1) * sizeof *x->item);
            x->count--;
        }
        return;
    }
}

static bool get_work(void)
{
    struct item c;

    do {
        frames = 0;
        G = &frame_push()->graph;
        graph_reset(G);
        if (!share_take(G, &c, sizeof c))
            return false;
        push(c.kind, c.stamp, c.pos, c.reader, c.spurious);
        top->item[0].weight = c.weight;
        someone_went_on = true; /* perhaps, in another process */
    } while (!backtrack());
    return true;
}

static void note_run(enum outcome o)
{
    statistics.share += weight;
    if (explore_went_on())
        statistics.again++;
    else if (o == RUN_COMPLETE)
        statistics.executions++;
    else if (o == RUN_BLOCKED)
        statistics.blocked++;
    for (int t = 0; t < G->threads; t++)
        if (G->thread[t].count > statistics.most_events[t])
            statistics.most_events[t] = G->thread[t].count;
}

/* Explores everything; begins is false in a helper process, which only takes work from others. */
void explore_all(bool begins)
{
    struct statistics before = statistics;

    frames = 0;
    G = &frame_push()->graph;
    graph_reset(G);
    weight = 1;
    lost_keeps |= options.jobs > 1; /* lost accesses are known to one process only */
    if (!begins && !get_work())
        return;
    do {
        enum outcome o = run_once();
        if (o == RUN_ERROR)
            return;
        lost_end();
        if (lost_alarm) {
            lost_alarm = false;
            lost_keeps = true;
            spin_forget();
            statistics = before;
            outcome_forget();
            explore_all(true);
            return;
        }
        note_run(o);
        finish_run(o);
        if (failure.kind || stop_now() || share_stopped())
            return;
        if (share_hungry())
            give_away();
    } while (backtrack() || get_work());
}

/* Replays one saved execution. */
void explore_replay(void)
{
    frames = 0;
    G = &frame_push()->graph;
    if (!share_load(options.replay, G)) {
        fprintf(stderr, "explore: %s is not a saved execution of this program\n", options.replay);
        exit(2);
    }
    someone_went_on = true; /* perhaps */
    enum outcome o = run_once();
    if (o != RUN_ERROR) {
        note_run(o);
        finish_run(o);
    }
}
