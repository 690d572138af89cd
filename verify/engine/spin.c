/* SPDX-License-Identifier: MIT */
/*
 * Loops that only wait.
 *
 * A thread that comes back to the same instruction with the same stack and registers, and has changed nothing in
 * between that anybody could see, will do the same again: its iteration only waited. It is blocked there. Nothing is
 * lost: leaving a failed iteration out of a consistent graph gives a consistent graph, and a later write may still
 * revisit the reads of the iteration that failed.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* Leftovers at a call that its function overwrites before it looks at them again (liveness.py). */
struct dead {
    uint64_t pc, registers; /* rbx, r12 to r15 */
    struct {
        int32_t offset, size; /* from the frame pointer */
    } slot[12];
};

static struct dead *table;
static size_t table_count;

static int by_pc(const void *a, const void *b)
{
    const struct dead *x = a, *y = b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

void spin_init(const void *from, const void *to)
{
    size_t size = from ? (size_t)((const char *)to - (const char *)from) : 0;

    table = malloc(size + 1);
    if (!table)
        engine_bug("out of memory");
    memcpy(table, from, size);
    table_count = size / sizeof *table;
    qsort(table, table_count, sizeof *table, by_pc);
}

/* Clears the dead slots of one frame in a copy of the stack; gives the mask of dead registers. */
static uint64_t clear_frame(char *copy, size_t size, uint64_t pc, size_t frame)
{
    struct dead key = {.pc = pc};
    const struct dead *d = bsearch(&key, table, table_count, sizeof *table, by_pc);

    if (!d)
        return 0;
    for (int i = 0; i < 12 && d->slot[i].size; i++) {
        size_t at = frame + (size_t)(intptr_t)d->slot[i].offset;
        if (at < size && at + (size_t)d->slot[i].size <= size)
            memset(copy + at, 0, (size_t)d->slot[i].size);
    }
    return d->registers;
}

/* Walks the frames of the program's functions, innermost first. Only that one's registers are known to be its own. */
static void clear_dead(char *copy, size_t size, const struct thread *t)
{
    uint64_t *saved = (uint64_t *)(void *)copy; /* r15 r14 r13 r12 rbx rbp, as switch.S pushes them */
    uint64_t frame = saved[5], pc = t->req.pc, dead = 0;
    bool first = true;

    while (frame >= (uintptr_t)t->sp && frame + 16 <= (uintptr_t)t->stack_high) {
        size_t at = frame - (uintptr_t)t->sp;
        uint64_t up, registers = clear_frame(copy, size, pc, at);
        memcpy(&pc, copy + at + 8, 8);
        memcpy(&up, copy + at, 8);
        if (first)
            dead = registers;
        first = false;
        if (up <= frame)
            break;
        frame = up;
    }
    for (int i = 0; i < 5; i++) /* rbx is saved[4], r12 saved[3] and so on */
        if (dead >> i & 1)
            saved[4 - i] = 0;
}

/* The stack of a parked thread holds its callee-saved registers too, so it is the whole state. */
static uint64_t state_of(const struct thread *t)
{
    static _Alignas(16) char copy[STACK_SIZE];
    size_t size = (size_t)(t->stack_high - (char *)t->sp);
    uint64_t h = t->req.pc * 0x9e3779b97f4a7c15u ^ t->effects;

    memcpy(copy, t->sp, size);
    clear_dead(copy, size, t);
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t w;
        memcpy(&w, copy + i, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h = (h ^ (uint64_t)t->req.addr) * 0xff51afd7ed558ccdu;
    h = (h ^ (uint64_t)t->req.operand) * 0xff51afd7ed558ccdu;
    h = (h ^ (uint64_t)t->req.expected) * 0xff51afd7ed558ccdu;
    return h ^ h >> 29;
}

uint64_t spin_state(struct thread *t)
{
    if (!t->hashed)
        t->hash = state_of(t);
    t->hashed = true;
    return t->hash;
}

/* The write of a read-modify-write that put back what it read, as a test-and-set does on a lock that is taken. */
static bool writes_back(const struct event *e)
{
    return e->kind == E_WRITE && (e->flags & F_RMW) && e->value == ev(G->thread[e->thread].at[e->index - 1])->value;
}

/* Has the thread been in this state before, with no write, lock, create or visible plain store since? */
bool spin_repeats(struct thread *t, uint64_t state)
{
    for (int i = t->done - 1; i >= 0; i--) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (e->kind != E_READ && e->kind != E_FENCE && !writes_back(e))
            return false;
        if (e->effects != t->effects)
            return false;
        if (e->kind == E_READ && e->state == state && e->pc == t->req.pc) {
            t->spin_from = i;
            return true;
        }
    }
    return false;
}

/* Written back by a loop that waits, this one or another: a load of it would find nothing new. */
static bool idle(const struct event *w)
{
    const struct thread *t = &thread[w->thread];
    return writes_back(w) && t->state == T_BLOCKED && t->why == WHY_SPIN && w->index >= t->spin_from;
}

/*
 * Would the blocked loop go on for ever? Yes when each read of its last iteration has the newest value, and none was a
 * compare-exchange that failed for no reason.
 */
bool spin_stuck(const struct thread *t)
{
    for (int i = t->spin_from; i < t->done; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
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
 * The thread has just gone through an iteration that only waited, on its own and with newest values, and is where it was
 * before. So the iteration is taken back, and the thread waits until one of these values changes.
 */
bool spin_rewind(struct thread *t, int since)
{
    int from = G->thread[t->id].at[t->spin_from], n = 0;

    if (t->stays || t->done > LONG || from < since || from != G->count - (t->done - t->spin_from))
        return false;
    for (int x = from; x < G->count; x++) {
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
    explore_undo(from);
    return true;
}

/* Are the newest values still those that the loop waits at? */
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
 * Is the blocked loop blocked for good? Its last read had an old value already when it was added, or failed for no reason.
 * Then nobody may revisit the read, nor delete it in a revisit (explore.c: only what was added in the standard way goes), so
 * every run from here ends blocked. What the other threads do in those runs they also do where this one reads the newest.
 */
bool spin_hopeless(const struct thread *t)
{
    int i = t->done - 1;

    while (ev(G->thread[t->id].at[i])->kind != E_READ)
        i--;
    int stamp = G->thread[t->id].at[i];
    const struct event *e = ev(stamp);
    if (e->flags & F_SPURIOUS)
        return true;
    for (int pos = pos_of(e) + 1; pos < G->place[e->loc].count; pos++)
        if (G->place[e->loc].mo[pos] < stamp)
            return true;
    return false;
}

/*
 * A loop of a single load that looks at nothing but its own stack: whoever is in this state and reads this value will be back
 * here. A load in this state need not try the value where it is old: the run would be hopeless.
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

    if (t->spin_from != t->done - 1 || e->kind != E_READ || (e->flags & F_SPURIOUS) || t->plain)
        return;
    uint64_t k = key(e->state, e->value);
    known[k >> 48] = k;
}

bool spin_known(uint64_t state, word value)
{
    uint64_t k = key(state, value);
    return state && known[k >> 48] == k;
}
