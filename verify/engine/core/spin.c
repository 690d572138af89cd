/* SPDX-License-Identifier: MIT */
/*
 * Iterations that change nothing and can be omitted: of loops that wait, and retries.
 *
 * A thread that returns to the same instruction with the same stack and registers, and has changed nothing in between
 * that others could observe, only waited. A thread that read a location again, and is in the state that it would have
 * if it had read that value the first time, only retried. In both cases the execution without the iteration is explored
 * too, and has the same errors except for those of the iteration's own accesses (lost.c). docs/explore.md, "What is
 * left out", gives the arguments.
 */
#include "engine.h"

#include <string.h>

uint64_t spin_state(struct thread *t)
{
    if (!t->hashed)
        t->hash = program_state(t);
    t->hashed = true;
    return t->hash;
}

/* The write of a read-modify-write that put back what it read, as a test-and-set does on a lock that is taken. */
static bool writes_back(const struct event *e)
{
    return e->kind == E_WRITE && (e->flags & F_RMW) && e->value == ev(G->thread[e->thread].at[e->index - 1])->value;
}

/* What the events of the thread before this index have acquired, and what an acquire fence after them would. */
static struct clock acquired(const struct thread *t, int index)
{
    struct clock c = ev(G->thread[t->id].at[index - 1])->hb;

    for (int i = 0; i < index; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (e->kind == E_READ && e->rf >= 0)
            clock_join(&c, &ev(e->rf)->rel);
    }
    c.n[t->id] = 0;
    return c;
}

/* Whether others could acquire something from this write that they could not from the one before it. */
static bool releases(const struct event *e)
{
    static const struct clock nothing;

    if (e->kind != E_WRITE)
        return false;
    int rf = (e->flags & F_RMW) ? ev(G->thread[e->thread].at[e->index - 1])->rf : INIT;
    return memcmp(&e->rel, rf < 0 ? &nothing : &ev(rf)->rel, sizeof e->rel) != 0;
}

/* Linearizability is the one check that needs happens-before edges: omitting an iteration must not lose one. */
static bool loses_order(const struct thread *t, int from, struct clock without)
{
    struct clock with = acquired(t, t->done);

    for (int i = from; i < t->done && lin_active(); i++)
        if (releases(ev(G->thread[t->id].at[i])))
            return true;
    without.n[t->id] = 0;
    return lin_active() && memcmp(&with, &without, sizeof with) != 0;
}

/* Locks that were unlocked further on and are not yet locked, seen backwards; likewise the other pairs. */
struct locked {
    int loc[4], depth;
};

/* The second of two writes that undo each other: unlock, read-unlock, post, the end of a wait for no reason. */
static bool undoes(const struct event *e)
{
    return e->kind == E_WRITE && ((e->op == OP_UNLOCK && e->value == 0) || e->op == OP_RUNLOCK || e->op == OP_POST || e->op == OP_SLEEP || e->op == OP_LEAVE);
}

/* And the first of them. */
static bool is_undone(const struct event *e)
{
    return e->kind == E_WRITE && (e->op == OP_LOCK || e->op == OP_RLOCK || e->op == OP_TAKE || e->op == OP_ENTER);
}

/*
 * Whether this event can be omitted with its iteration. It restores the previous value, at the latest when the
 * iteration ends.
 */
static bool removable(const struct event *e, struct locked *m)
{
    if (e->kind == E_READ || e->kind == E_FENCE || e->kind == E_CHOICE || writes_back(e))
        return true;
    if (undoes(e) && m->depth < 4) {
        m->loc[m->depth++] = e->loc;
        return true;
    }
    if (!is_undone(e))
        return false;
    for (int i = m->depth; i-- > 0;)
        if (m->loc[i] == e->loc) {
            m->loc[i] = m->loc[--m->depth];
            return true;
        }
    return false;
}

/* Whether the thread has been in this state before, with no write, create or visible plain store since. */
static bool repeats(struct thread *t, uint64_t state)
{
    struct locked m = {.depth = 0};
    bool polls = false;

    for (int i = t->done - 1; i >= 0; i--) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (!removable(e, &m) || e->effects != t->effects)
            return false;
        polls |= undoes(e);
        if (e->kind == E_READ && e->state == state && e->pc == t->req.pc && !m.depth) {
            t->spin_from = i;
            t->spin_end = t->done;
            if (loses_order(t, i, acquired(t, i)) || (polls && statistics.tries))
                return false; /* a try-lock sees that the mutex is taken */
            statistics.polls |= polls;
            return true;
        }
    }
    return false;
}

/* Whether the next iteration makes all accesses of this one before it can do anything else. */
static bool bare(const struct thread *t)
{
    for (int i = t->spin_from; i < t->done; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (e->kind == E_CHOICE || (is_lock(e->op) && e->op < OP_TRYLOCK) || (i > t->spin_from && e->plain))
            return false;
        if (e->loc >= 0 && G->place[e->loc].addr != t->req.addr)
            return false;
        if (e->kind == E_WRITE && (t->req.op == OP_LOAD || t->req.op == OP_CAS)) /* which may fail the next time */
            return false;
    }
    return !t->plain && !(lost_keeps && t->touches && t->touch[t->touches - 1].epoch > t->spin_from);
}

/* A plain store to memory that others may access is about to happen. */
void spin_log(struct thread *t, uintptr_t addr, size_t size)
{
    if (t->stores == STORED || size > sizeof(word) || program_private(addr))
        return;
    struct stored *s = &t->stored[t->stores++];
    *s = (struct stored){.addr = addr, .size = (int)size, .old = read_memory(addr, (int)size)};
}

/* The thread is about to read. */
void spin_shoot(struct thread *t)
{
    if (t->shots == SHOTS) {
        struct shot oldest = t->shot[0];
        memmove(t->shot, t->shot + 1, (SHOTS - 1) * sizeof *t->shot);
        t->shot[--t->shots] = oldest;
    }
    struct shot *s = &t->shot[t->shots++];
    s->index = t->done;
    s->req = t->req;
    s->effects = t->effects;
    s->stores = t->stores;
    s->prints = t->prints;
    program_shoot(t, s);
}

static int strength(int order)
{
    return order == SEQ_CST ? 2 : order_acquires(order);
}

/* The thread's last event: a load, or a compare-exchange that failed, of what an earlier one has read. */
static bool retries(struct thread *t)
{
    const struct event *last = ev(G->thread[t->id].at[t->done - 1]);

    if (last->kind != E_READ || (last->flags & F_RMW) || last->op > OP_CAS)
        return false;
    for (int k = t->shots - 1; k >= 0; k--) {
        const struct shot *s = &t->shot[k];
        const struct event *e = ev(G->thread[t->id].at[s->index]);
        if (t->effects - s->effects != (uint32_t)(t->stores - s->stores) || t->prints != s->prints)
            return false; /* it did more than store */
        if (s->index >= last->index || e->loc != last->loc || strength(order_of(e)) > strength(order_of(last)))
            continue;
        if (e->op == OP_CAS && e->expected == last->value && !(e->flags & F_WEAK))
            continue; /* it would not have failed */
        struct clock without = acquired(t, s->index);
        if (last->rf >= 0 && order_acquires(order_of(e)))
            clock_join(&without, &ev(last->rf)->rel);
        if (loses_order(t, s->index, without) || !program_same_with(t, s, last->value))
            continue;
        t->spin_from = s->index;
        return true;
    }
    return false;
}

/*
 * If the accesses that omitting this iteration would lose are also in the iteration that was kept, this one is kept
 * too.
 */
static bool within_kept(const struct thread *t)
{
    const struct event *kept = explore_went_on();

    return kept && kept->thread == t->id && (int)kept->extra < t->spin_end && t->spin_from < (int)kept->expected;
}

/* Calls that a loop may repeat without any effect. */
static bool begins_iteration(int op)
{
    return op == OP_LOCK || op == OP_RLOCK || op == OP_TAKE || op == OP_PEEK || op == OP_TRYLOCK || op == OP_TRYRLOCK || op == OP_TRYTAKE;
}

/* The thread is parked: whether its last iteration only waited. */
static bool waited(struct thread *t)
{
    int op = t->req.op;

    return ((op <= OP_CAS && op != OP_STORE) || begins_iteration(op)) && repeats(t, spin_state(t));
}

/* The thread is parked: whether its last iteration can be omitted. */
enum skip spin_skips(struct thread *t)
{
    int op = t->req.op;
    enum skip skip = SKIP_NOT;

    if (waited(t))
        skip = bare(t) ? SKIP_BARE : SKIP_WAIT;
    else if ((op <= OP_UNLOCK || op == OP_FENCE || op == OP_ASSUME || op == OP_END) && retries(t))
        skip = SKIP_RETRY;
    return skip != SKIP_NOT && within_kept(t) ? SKIP_NOT : skip;
}

/* Written by a loop that waits, this one or another, and as before when its iteration ends: a load would find nothing new. */
static bool idle(const struct event *w)
{
    const struct thread *t = &thread[w->thread];
    return (writes_back(w) || is_lock(w->op)) && t->state == T_BLOCKED && t->why == WHY_SPIN && w->index >= t->spin_from;
}

/*
 * Whether the blocked loop would continue forever: each read of its last iteration has the newest value, and none was a
 * compare-exchange that failed spuriously. With a choice in it, it may; `whatever`: that is enough. A retry whose first
 * read is older than its last is not reported here, but in the execution in which both read the newest value.
 */
bool spin_stuck(const struct thread *t, bool whatever)
{
    for (int i = t->spin_from; i < t->done; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (e->op == OP_CHOOSE && !whatever)
            return false;
        if (e->kind != E_READ)
            continue;
        int newest = G->place[e->loc].count - 1;
        while (newest > pos_of(e) && idle(ev(G->place[e->loc].mo[newest])))
            newest--;
        if ((e->flags & F_SPURIOUS) || pos_of(e) != newest)
            return false;
    }
    return true;
}

/*
 * The thread has just completed an iteration that only waited, alone and with the newest values, and its state is
 * unchanged. So the iteration is undone, and the thread waits until one of these values changes.
 */
bool spin_rewind(struct thread *t, int since)
{
    int from = G->thread[t->id].at[t->spin_from], n = 0;

    if (t->stays || t->done > LONG || from < since || from != G->count - (t->done - t->spin_from))
        return false;
    for (int x = from; x < G->count; x++) {
        if (ev(x)->kind == E_CHOICE || is_lock(ev(x)->op))
            return false;
        if (ev(x)->kind != E_READ)
            continue;
        if (n == LOOP)
            return false;
        t->awaits[n].loc = ev(x)->loc;
        t->awaits[n++].value = ev(x)->value;
    }
    outcome_cut(ev(from)->printed);
    t->plain = ev(from)->plain;
    t->awaited = n;
    t->done = t->spin_from;
    t->skip = SKIP_NOT;
    t->now = ev(G->thread[t->id].at[t->done - 1])->hb;
    while (t->shots && t->shot[t->shots - 1].index >= t->done)
        t->shots--;
    shadow_undo(t, ev(from)->cells);
    while (t->touches && t->touch[t->touches - 1].epoch > t->done)
        t->touches--;
    explore_undo(from);
    return true;
}

/*
 * With --search: whether the last iteration of the thread only waited, with values that are still the newest. Retries count
 * only in a thread that has taken many steps: most end soon.
 */
bool spin_sleeps(struct thread *t)
{
    if (t->done > LONG && t->done % LONG == 0)
        t->shots = t->stores = 0; /* what is kept of the last iterations has limits: it begins anew */
    if (t->done > LONG ? spin_skips(t) == SKIP_NOT : !waited(t))
        return false;
    t->awaited = 0;
    for (int i = t->spin_from; i < t->done; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (e->kind == E_CHOICE || (e->flags & F_SPURIOUS) || t->awaited == LOOP) {
            t->awaited = 0;
            return false;
        }
        if (e->kind == E_READ) {
            t->awaits[t->awaited].loc = e->loc;
            t->awaits[t->awaited++].value = e->value;
        }
    }
    if (!spin_waits(t))
        t->awaited = 0;
    return t->awaited > 0;
}

/* Whether the newest values are still those that the loop waits on. */
bool spin_waits(const struct thread *t)
{
    for (int i = 0; i < t->awaited; i++) {
        const struct place *p = &G->place[t->awaits[i].loc];
        int newest = p->mo[p->count - 1];
        if ((newest == INIT ? p->init : ev(newest)->value) != t->awaits[i].value)
            return false;
    }
    return true;
}

/*
 * Whether the thread has accessed something outside of its stack since its last event that the run without the retry
 * does not.
 */
static bool loses_outside(const struct thread *t)
{
    for (int i = t->touches; i-- > 0 && t->touch[i].epoch == t->done;)
        if (!t->touch[i].made && (t->touch[i].addr < (uintptr_t)t->stack_low || t->touch[i].addr >= (uintptr_t)t->stack_high))
            return true;
    return false;
}

/*
 * Whether the loop is blocked permanently: its last read already had an old value when it was added, or failed
 * spuriously. Then no write may revisit the read, nor delete it in a revisit (explore.c: only events that were added
 * maximally are deleted), so every run from here ends blocked. What the other threads do in those runs they also do
 * where this one reads the newest.
 */
bool spin_hopeless(const struct thread *t)
{
    int i = t->done - 1;

    if (t->skip == SKIP_RETRY ? loses_outside(t) : t->plain != 0)
        return false;
    for (; ev(G->thread[t->id].at[i])->kind != E_READ; i--)
        if (ev(G->thread[t->id].at[i])->plain)
            return false;
    if (t->touches && t->touch[t->touches - 1].epoch > i)
        lost_stack(t->id, false);
    int stamp = G->thread[t->id].at[i];
    const struct event *e = ev(stamp);
    if ((e->op == OP_CAS || e->op == OP_SLEEP) && (e->flags & F_RMW))
        return false; /* with the newest value it might not have stored */
    if (e->flags & F_SPURIOUS)
        return true;
    for (int pos = pos_of(e) + 1; pos < G->place[e->loc].count; pos++)
        if (G->place[e->loc].mo[pos] < stamp)
            return true;
    return false;
}

/*
 * A loop of a single load that accesses only its own stack: a thread in this state that reads this value returns to
 * this state. A load in this state need not try the value when it is old: the run would end blocked.
 */
static uint64_t known[1 << 16];

static uint64_t key(uint64_t state, word value)
{
    uint64_t h = (state ^ (uint64_t)value ^ (uint64_t)(value >> 64)) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 31) | 1;
}

void spin_learn(const struct thread *t)
{
    const struct event *e = ev(G->thread[t->id].at[t->done - 1]);

    if (t->spin_from != t->done - 1 || e->kind != E_READ || (e->flags & F_SPURIOUS))
        return;
    uint64_t k = key(e->state, e->value);
    known[k >> 48] = k;
    if (t->touches && t->touch[t->touches - 1].epoch > t->spin_from)
        lost_stack(t->id, false);
}

/* The exploration restarts with other rules. */
void spin_forget(void)
{
    memset(known, 0, sizeof known);
}

bool spin_known(uint64_t state, word value)
{
    uint64_t k = key(state, value);
    return state && known[k >> 48] == k;
}
