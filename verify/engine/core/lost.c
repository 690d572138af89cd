/* SPDX-License-Identifier: MIT */
/*
 * Accesses that are lost with an omitted iteration (spin.c), and whether one of them could race.
 *
 * Let thread T make access a in an iteration that changed nothing, and then continue; b is an access of another thread
 * U that conflicts with a. If b does not depend on what T did afterwards, the run in which T is blocked after the
 * iteration has both, and the race is found there. Otherwise b is causally after T continued (in porf), and yet not
 * ordered after it (in hb), or a would be ordered before it. Both sides are recorded for the whole exploration: the
 * lost accesses of T, with the index of the event at which the iteration began and the value of its first read; and the
 * accesses of U in such a gap between porf and hb, with the values that the graph offered then. When the two could
 * meet, the exploration restarts and keeps iterations (explore_again).
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8, BLOOM = 4 };

struct lost {
    int next;
    int16_t thread, from;
    bool write, atomic;
    uint8_t bytes; /* of the word */
    uint64_t saw; /* hash of a location and the value that it had */
};

struct gap {
    int next;
    int16_t thread;        /* the thread that continued */
    int16_t low, high;     /* indices of its events that are in porf, but not in hb */
    uint8_t bytes;
    bool write, atomic;
    uint64_t offer[BLOOM]; /* Bloom filter of what its reads could have seen */
};

struct spot {
    uintptr_t word;
    int lost, gaps; /* lists, from 1 */
};

bool lost_keeps, lost_alarm;

static struct spot *spot;
static size_t spots, spot_room;
static struct lost *lost;
static int losts, lost_room;
static struct gap *gap;
static int gaps, gap_room;

static uint64_t mix(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static void *room_for(void *p, int count, int *room, size_t size)
{
    if (count < *room)
        return p;
    *room = *room ? *room * 2 : 256;
    p = realloc(p, (size_t)*room * size);
    if (!p)
        engine_bug("out of memory");
    return p;
}

static struct spot *find(uintptr_t word)
{
    size_t h = mix(0, word);

    while (spot[h % spot_room].word && spot[h % spot_room].word != word)
        h++;
    return &spot[h % spot_room];
}

static struct spot *spot_of(uintptr_t addr)
{
    if (spots * 2 >= spot_room) {
        struct spot *old = spot;
        size_t room = spot_room;
        spot_room = room ? room * 2 : 1024;
        spot = calloc(spot_room, sizeof *spot);
        if (!spot)
            engine_bug("out of memory");
        for (size_t i = 0; i < room; i++)
            if (old[i].word)
                *find(old[i].word) = old[i];
        free(old);
    }
    struct spot *s = find(addr / WORD * WORD);
    if (!s->word) {
        s->word = addr / WORD * WORD;
        spots++;
    }
    return s;
}

static uint64_t sight(uintptr_t addr, word value)
{
    return mix(mix(mix(1, addr), (uint64_t)value), (uint64_t)(value >> 64));
}

static bool offered(const uint64_t *offer, uint64_t saw)
{
    return offer[saw % BLOOM] >> (saw >> 8) % 64 & 1 && offer[(saw >> 16) % BLOOM] >> (saw >> 24) % 64 & 1;
}

static void add_offer(uint64_t *offer, uint64_t saw)
{
    offer[saw % BLOOM] |= (uint64_t)1 << (saw >> 8) % 64;
    offer[(saw >> 16) % BLOOM] |= (uint64_t)1 << (saw >> 24) % 64;
}

static void compare(const struct lost *l, const struct gap *g)
{
    bool conflict = (l->write || g->write) && !(l->atomic && g->atomic) && (l->bytes & g->bytes);

    if (conflict && l->thread == g->thread && l->from >= g->low && l->from < g->high && offered(g->offer, l->saw))
        lost_alarm = true;
}

/* The bytes of the word at a that the access touches. */
static uint8_t bytes_of(uintptr_t a, uintptr_t addr, size_t size)
{
    unsigned first = addr > a ? (unsigned)(addr - a) : 0, end = addr + size < a + WORD ? (unsigned)(addr + size - a) : WORD;
    return (uint8_t)((1u << end) - (1u << first));
}

/* ---- the lost accesses ---- */

static void lose_from(const struct thread *t, int from, uintptr_t addr, size_t size, bool write, bool atomic, uint64_t saw)
{
    for (uintptr_t a = addr / WORD * WORD; a < addr + size; a += WORD) {
        struct spot *s = spot_of(a);
        uint8_t bytes = bytes_of(a, addr, size);
        int i = s->lost;
        while (i && !(lost[i].thread == t->id && lost[i].bytes == bytes && lost[i].from == from && lost[i].write == write &&
                      lost[i].atomic == atomic && lost[i].saw == saw))
            i = lost[i].next;
        if (i)
            continue;
        losts += !losts;
        lost = room_for(lost, losts, &lost_room, sizeof *lost);
        lost[losts] = (struct lost){s->lost, (int16_t)t->id, (int16_t)from, write, atomic, bytes, saw};
        s->lost = losts++;
        for (int g = s->gaps; g; g = gap[g].next)
            compare(&lost[s->lost], &gap[g]);
    }
}

/* Whether an iteration may contain this event. */
static bool goes(const struct event *e)
{
    return e->kind == E_READ || e->kind == E_FENCE || e->kind == E_CHOICE || (e->kind == E_WRITE && ((e->flags & F_RMW) || is_lock(e->op)));
}

/*
 * The iteration may be part of an iteration of an outer loop that is omitted as well. Its start is not known yet: it
 * may be any earlier read.
 */
static void lose(const struct thread *t, uintptr_t addr, size_t size, bool write, bool atomic)
{
    for (int i = t->spin_from; i >= 0; i--) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        if (!goes(e))
            break;
        if (e->kind == E_READ)
            lose_from(t, i, addr, size, write, atomic, sight(G->place[e->loc].addr, e->value));
    }
}

/* The thread is blocked after an iteration whose accesses, from this event on and before the other, are lost. */
void lost_iteration(const struct thread *t, int first, int end)
{
    const struct event *e = ev(G->thread[t->id].at[t->spin_from]);
    uintptr_t again = G->place[e->loc].addr; /* accessed once more in any case */

    for (int i = first; i < end; i++) {
        e = ev(G->thread[t->id].at[i]);
        if (e->loc >= 0 && (G->place[e->loc].addr != again || (e->kind == E_WRITE && (t->req.op == OP_LOAD || t->req.op == OP_CAS))))
            lose(t, G->place[e->loc].addr, e->size, e->kind == E_WRITE, true);
    }
    for (int i = 0; i < t->touches; i++) {
        bool made = t->touch[i].made && t->touch[i].epoch == t->done && t->skip == SKIP_RETRY;
        if (t->touch[i].epoch > first && t->touch[i].epoch <= end && !made)
            lose(t, t->touch[i].addr, t->touch[i].size, t->touch[i].write, false);
    }
}

/* ---- the gaps ---- */

/* Accesses of this run in a gap. They are entered when it ends: only then is it known what the graph offers. */
static struct pending {
    uintptr_t addr;
    uint32_t size;
    int16_t thread, low, high;
    bool write, atomic;
} *pending;
static int pendings, pending_room;

void lost_begin(void)
{
    pendings = 0;
}

/* Another thread accesses the stack of t; or a run is dropped although t read its own stack in the iteration. */
void lost_stack(int t, bool shared)
{
    static uint32_t known[2];

    known[shared] |= 1u << t;
    lost_alarm |= !lost_keeps && (known[0] & known[1] & 1u << t);
}

/* A thread whose last or current event is this one makes an access. */
void lost_access(const struct event *e, uintptr_t addr, size_t size, bool write, bool atomic)
{
    if (!memcmp(&e->porf, &e->hb, sizeof e->hb))
        return;
    for (int t = 0; t < run_threads(); t++)
        if (e->porf.n[t] > e->hb.n[t]) {
            pending = room_for(pending, pendings, &pending_room, sizeof *pending);
            pending[pendings++] = (struct pending){addr, (uint32_t)size, (int16_t)t, e->hb.n[t], e->porf.n[t], write, atomic};
        }
}

/* What a read of thread t could have seen that is not causally after the end of the gap. */
static void collect(uint64_t *offer, int t, int high)
{
    memset(offer, 0, BLOOM * sizeof *offer);
    for (int loc = 0; loc < G->places; loc++)
        if (G->place[loc].last >= 0)
            add_offer(offer, sight(G->place[loc].addr, G->place[loc].init));
    for (int s = 0; s < G->count; s++)
        if (ev(s)->kind == E_WRITE && ev(s)->porf.n[t] < high)
            add_offer(offer, sight(G->place[ev(s)->loc].addr, ev(s)->value));
}

static void enter(struct spot *s, struct gap new)
{
    int i = s->gaps;
    bool more = false;

    while (i && !(gap[i].thread == new.thread && gap[i].bytes == new.bytes && gap[i].write == new.write &&
                  gap[i].atomic == new.atomic))
        i = gap[i].next;
    if (!i) {
        gaps += !gaps;
        gap = room_for(gap, gaps, &gap_room, sizeof *gap);
        new.next = s->gaps;
        gap[gaps] = new;
        s->gaps = i = gaps++;
        more = true;
    }
    struct gap *g = &gap[i];
    more |= new.low < g->low || new.high > g->high;
    g->low = new.low < g->low ? new.low : g->low;
    g->high = new.high > g->high ? new.high : g->high;
    for (int k = 0; k < BLOOM; k++) {
        more |= (new.offer[k] & ~g->offer[k]) != 0;
        g->offer[k] |= new.offer[k];
    }
    for (int l = more ? s->lost : 0; l; l = lost[l].next)
        compare(&lost[l], g);
}

/* The run is over. */
void lost_end(void)
{
    struct gap known[MAX_THREADS]; /* the last gap after each thread, with its offer */

    for (int t = 0; t < MAX_THREADS; t++)
        known[t].high = -1;
    for (int i = 0; i < pendings; i++) {
        const struct pending *p = &pending[i];
        struct gap *g = &known[p->thread];
        if (g->high != p->high)
            collect(g->offer, p->thread, p->high);
        g->thread = p->thread;
        g->low = p->low;
        g->high = p->high;
        g->write = p->write;
        g->atomic = p->atomic;
        for (uintptr_t a = p->addr / WORD * WORD; a < p->addr + p->size; a += WORD) {
            g->bytes = bytes_of(a, p->addr, p->size);
            enter(spot_of(a), *g);
        }
    }
    pendings = 0;
}
