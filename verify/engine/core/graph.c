/* SPDX-License-Identifier: MIT */
/*
 * Execution graphs.
 *
 * Events are stored in one array in the order in which they were inserted; the index is the event's stamp. Truncating
 * the graph to a stamp undoes everything that came later, and keeping a subset is a compaction that preserves the
 * order, so clocks of kept events (which count events per thread) stay valid.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

struct graph *G;

static void *grow(void *old, int *room, int need, size_t size)
{
    if (need <= *room)
        return old;
    int more = *room ? *room * 2 : 32;
    while (more < need)
        more *= 2;
    void *p = realloc(old, (size_t)more * size);
    if (!p)
        engine_bug("out of memory");
    memset((char *)p + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *room = more;
    return p;
}

void clock_join(struct clock *a, const struct clock *b)
{
    for (int i = 0; i < MAX_THREADS; i++)
        a->n[i] = a->n[i] > b->n[i] ? a->n[i] : b->n[i];
}

void graph_reset(struct graph *g)
{
    g->count = 0;
    for (int i = 0; i < g->places; i++) {
        g->place[i].last = -1;
        g->place[i].count = 0;
    }
    for (int t = 0; t < MAX_THREADS; t++)
        g->thread[t].count = 0;
    g->threads = 0;
}

void graph_free(struct graph *g)
{
    for (int i = 0; i < g->place_room; i++)
        free(g->place[i].mo);
    for (int t = 0; t < MAX_THREADS; t++)
        free(g->thread[t].at);
    free(g->place);
    free(g->event);
    memset(g, 0, sizeof *g);
}

/* Appends an event to a thread; clocks start as those of its predecessor, plus itself. */
struct event *graph_add(struct graph *g, int t)
{
    if (t >= g->threads)
        g->threads = t + 1;
    g->event = grow(g->event, &g->room, g->count + 1, sizeof *g->event);
    g->thread[t].at = grow(g->thread[t].at, &g->thread[t].room, g->thread[t].count + 1, sizeof(int32_t));
    struct event *e = &g->event[g->count];
    int index = g->thread[t].count;
    memset(e, 0, sizeof *e);
    e->thread = (uint8_t)t;
    e->index = (int16_t)index;
    e->loc = -1;
    e->fence = -1;
    e->prev = -1;
    e->rf = NONE;
    if (index) {
        const struct event *p = &g->event[g->thread[t].at[index - 1]];
        e->fence = p->fence;
    }
    g->thread[t].at[index] = g->count++;
    g->thread[t].count = index + 1;
    return e;
}

/* The global numbering of locations, shared by all graphs so that a number means the same address everywhere. */
static struct {
    uint64_t *addr;
    int count, room;
    int32_t *hash;
    int hash_room;
} atlas;

static int atlas_find(uint64_t addr)
{
    if (atlas.count * 2 >= atlas.hash_room) {
        atlas.hash_room = atlas.hash_room ? atlas.hash_room * 2 : 1024;
        free(atlas.hash);
        atlas.hash = calloc((size_t)atlas.hash_room, sizeof(int32_t));
        if (!atlas.hash)
            engine_bug("out of memory");
        for (int i = 0; i < atlas.count; i++) {
            size_t h = (atlas.addr[i] * 0x9e3779b97f4a7c15u) >> 32;
            while (atlas.hash[h % (size_t)atlas.hash_room])
                h++;
            atlas.hash[h % (size_t)atlas.hash_room] = i + 1;
        }
    }
    size_t h = (addr * 0x9e3779b97f4a7c15u) >> 32;
    for (;; h++) {
        int32_t at = atlas.hash[h % (size_t)atlas.hash_room];
        if (at && atlas.addr[at - 1] == addr)
            return at - 1;
        if (!at)
            break;
    }
    if (atlas.count == INT16_MAX)
        engine_bug("more than %d atomic locations", INT16_MAX);
    atlas.addr = grow(atlas.addr, &atlas.room, atlas.count + 1, sizeof(uint64_t));
    atlas.addr[atlas.count] = addr;
    atlas.hash[h % (size_t)atlas.hash_room] = ++atlas.count;
    return atlas.count - 1;
}

static void places_up_to(struct graph *g, int id)
{
    g->place = grow(g->place, &g->place_room, id + 1, sizeof *g->place);
    for (; g->places <= id; g->places++) {
        g->place[g->places].last = -1;
        g->place[g->places].count = 0;
    }
}

static int place_id(struct graph *g, uintptr_t addr, int life)
{
    int id = atlas_find(addr | (uint64_t)life << 48); /* addresses have 47 bits */
    places_up_to(g, id);
    return id;
}

bool graph_has_place(struct graph *g, uintptr_t addr, int life)
{
    int id = place_id(g, addr, life); /* may reallocate the places */
    return g->place[id].last >= 0;
}

/* Number of the location; the first access in this graph fixes its size and initial value. */
int graph_place(struct graph *g, uintptr_t addr, int life, int size, word init, bool *clash)
{
    int id = place_id(g, addr, life);
    struct place *p = &g->place[id];
    if (p->last < 0) {
        p->addr = addr;
        p->life = (uint16_t)life;
        p->size = (uint8_t)size;
        p->init = init;
        p->count = 1;
        p->mo = grow(p->mo, &p->room, 1, sizeof(int32_t));
        p->mo[0] = INIT;
    }
    *clash = p->size != size;
    return id;
}

void graph_link(struct graph *g, int stamp, int loc)
{
    struct event *e = &g->event[stamp];
    e->loc = (int16_t)loc;
    e->prev = g->place[loc].last;
    g->place[loc].last = stamp;
}

void graph_mo_insert(struct graph *g, int stamp, int pos)
{
    struct place *p = &g->place[g->event[stamp].loc];
    p->mo = grow(p->mo, &p->room, p->count + 1, sizeof(int32_t));
    for (int i = p->count; i > pos; i--) {
        p->mo[i] = p->mo[i - 1];
        g->event[p->mo[i]].pos = i;
    }
    p->mo[pos] = stamp;
    g->event[stamp].pos = pos;
    p->count++;
}

void graph_mo_remove(struct graph *g, int stamp)
{
    struct place *p = &g->place[g->event[stamp].loc];
    p->count--;
    for (int i = g->event[stamp].pos; i < p->count; i++) {
        p->mo[i] = p->mo[i + 1];
        g->event[p->mo[i]].pos = i;
    }
}

/* Drops every event that was inserted after the given one. */
void graph_cut(struct graph *g, int stamp)
{
    while (g->count > stamp + 1) {
        int last = g->count - 1;
        struct event *e = &g->event[last];
        if (e->kind == E_WRITE && e->pos > 0)
            graph_mo_remove(g, last);
        if (e->loc >= 0)
            g->place[e->loc].last = e->prev;
        g->thread[e->thread].count--;
        g->count--;
    }
}

/* Copies the events marked in keep; map receives their stamps in the copy. */
void graph_keep(const struct graph *from, struct graph *to, const bool *keep, int32_t *map)
{
    int n = 0;

    graph_reset(to);
    for (int i = 0; i < from->count; i++)
        map[i] = keep[i] ? n++ : NONE;
    to->event = grow(to->event, &to->room, n, sizeof *to->event);
    to->count = n;
    to->threads = from->threads;
    if (from->places)
        places_up_to(to, from->places - 1);
    for (int t = 0; t < from->threads; t++) {
        int c = 0;
        to->thread[t].at = grow(to->thread[t].at, &to->thread[t].room, from->thread[t].count, sizeof(int32_t));
        while (c < from->thread[t].count && keep[from->thread[t].at[c]]) {
            to->thread[t].at[c] = map[from->thread[t].at[c]];
            c++;
        }
        to->thread[t].count = c;
    }
    for (int i = 0; i < from->count; i++) {
        if (!keep[i])
            continue;
        struct event *e = &to->event[map[i]];
        *e = from->event[i];
        if (e->rf >= 0)
            e->rf = map[e->rf];
        if (e->loc >= 0) {
            e->prev = to->place[e->loc].last;
            to->place[e->loc].last = map[i];
        }
    }
    for (int i = 0; i < from->places; i++) {
        const struct place *p = &from->place[i];
        struct place *q = &to->place[i];
        if (q->last < 0)
            continue;
        q->addr = p->addr;
        q->life = p->life;
        q->size = p->size;
        q->init = p->init;
        q->mo = grow(q->mo, &q->room, p->count, sizeof(int32_t));
        q->mo[0] = INIT;
        q->count = 1;
        for (int k = 1; k < p->count; k++)
            if (keep[p->mo[k]]) {
                to->event[map[p->mo[k]]].pos = q->count;
                q->mo[q->count++] = map[p->mo[k]];
            }
    }
}

bool graph_porf_before(const struct graph *g, int a, int b)
{
    return a == INIT || (a != b && in_clock(&g->event[b].porf, &g->event[a]));
}

bool graph_hb_before(const struct graph *g, int a, int b)
{
    return a == INIT || (a != b && in_clock(&g->event[b].hb, &g->event[a]));
}
