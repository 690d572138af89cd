/* SPDX-License-Identifier: MIT */
/*
 * Plain accesses, and whether they race.
 *
 * Plain accesses are not events of the graph: they run in an order that extends program order and reads-from. For every
 * byte the last plain store and the plain loads since are kept as epochs (a thread and the number of events that it had
 * executed), and two accesses are ordered when the later one's happens-before clock covers the earlier epoch (Flanagan
 * and Freund, PLDI 2009). A byte of memory that starts undefined and was never stored to is uninitialised.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8, MOST_REGIONS = 2 };
enum { LOGGED = 1, ATOMIC = 2 };
enum { UNDEFINED = 1u << 31, MANY = 0x7f };

/* An epoch: thread + 1 in bits 24 to 30, count of events below, 0 when there is none. */
struct cell {
    uint32_t w, r;
};

struct region {
    uintptr_t low, high;
    struct cell *cell;
    uint8_t *touched; /* per word */
    uint16_t *owner;  /* per byte: atomic location + 1 */
    uintptr_t defined_below;
    bool checked; /* program_valid knows which addresses are valid */
};

static struct region regions[MOST_REGIONS];
static int region_count;

static uintptr_t *touched;
static int touches, touch_room;

static struct clock *readers; /* epochs + 1 per thread, where several threads have read */
static int reader_sets, reader_room;

bool race_freeing; /* the current plain store is a free */

bool shadow_logging;
struct access *shadow_log;
int shadow_logged;
static int log_room;

/* Memory whose accesses are checked, in order of frequency: `defined_below`, from there on it starts undefined. */
void race_region(uintptr_t low, uintptr_t high, uintptr_t defined_below, bool checked, void *(*reserve)(size_t size))
{
    struct region *r = &regions[region_count++];
    size_t bytes = (high - low + 4096) & ~(size_t)4095;

    r->low = low;
    r->high = high;
    r->defined_below = defined_below;
    r->checked = checked;
    r->cell = reserve(bytes * sizeof(struct cell));
    r->touched = reserve(bytes / WORD);
    r->owner = reserve(bytes * sizeof(uint16_t));
}

static inline struct region *region_of(uintptr_t a)
{
    if (a >= regions[0].low && a < regions[0].high)
        return &regions[0];
    if (a >= regions[1].low && a < regions[1].high)
        return &regions[1];
    return NULL;
}

static inline void touch(struct region *r, uintptr_t a)
{
    uint8_t *flag = &r->touched[(a - r->low) / WORD];
    if (*flag)
        return;
    *flag = LOGGED;
    if (touches == touch_room) {
        touch_room = touch_room ? touch_room * 2 : 1024;
        touched = realloc(touched, (size_t)touch_room * sizeof *touched);
        if (!touched)
            engine_bug("out of memory");
    }
    touched[touches++] = a & ~(uintptr_t)(WORD - 1);
}

/* Clears the state of the previous run. */
void race_begin(void)
{
    for (int i = 0; i < touches; i++) {
        struct region *r = region_of(touched[i]);
        size_t at = touched[i] - r->low;
        if (r->touched[at / WORD] & ATOMIC)
            memset(&r->owner[at], 0, WORD * sizeof *r->owner);
        r->touched[at / WORD] = 0;
        memset(&r->cell[at], 0, WORD * sizeof *r->cell);
    }
    touches = 0;
    reader_sets = 0;
    shadow_logged = 0;
}

/* ---- races ---- */

static inline uint32_t pack(int t, int epoch)
{
    return (uint32_t)(t + 1) << 24 | (uint32_t)epoch;
}

static inline bool covered(const struct clock *c, int me, uint32_t e)
{
    int t = (int)(e >> 24 & 0x7f) - 1;
    return t == me || c->n[t] > (int)(e & 0xffffff);
}

void race_found(const struct look *l, uintptr_t at, int t, int epoch, bool other_write, bool other_atomic)
{
    failure.other_thread = t;
    failure.other_epoch = epoch;
    failure.other_write = other_write;
    failure.other_atomic = other_atomic;
    failure.write = l->write;
    failure.atomic = l->atomic;
    failure.size = (int)l->size;
    failure.freeing = race_freeing;
    if (race_freeing)
        fail(ERR_FREED, l->pc, at, "the block is freed although %s %s%s of T%d is not ordered before",
             other_atomic ? "an" : "a", other_atomic ? "atomic " : "", other_write ? "store" : "load", t);
    fail(ERR_RACE, l->pc, at, "%s%s and %s%s are not ordered", l->atomic ? "atomic " : "",
         l->write ? "store" : "load", other_atomic ? "atomic " : "", other_write ? "store" : "load");
}

static bool check_readers(const struct look *l, uintptr_t at, uint32_t r)
{
    if (!r)
        return true;
    if (r >> 24 != MANY) {
        if (covered(l->now, l->me, r))
            return true;
        race_found(l, at, (int)(r >> 24) - 1, (int)(r & 0xffffff), false, false);
        return false;
    }
    const struct clock *set = &readers[r & 0xffffff];
    for (int t = 0; t < MAX_THREADS; t++)
        if (set->n[t] && t != l->me && l->now->n[t] <= set->n[t] - 1) {
            race_found(l, at, t, set->n[t] - 1, false, false);
            return false;
        }
    return true;
}

static uint32_t add_reader(uint32_t r, const struct look *l)
{
    uint32_t mine = pack(l->me, l->epoch);

    if (!r || (r >> 24 != MANY && covered(l->now, l->me, r)))
        return mine;
    if (r >> 24 != MANY) {
        if (reader_sets == reader_room) {
            reader_room = reader_room ? reader_room * 2 : 64;
            readers = realloc(readers, (size_t)reader_room * sizeof *readers);
            if (!readers)
                engine_bug("out of memory");
        }
        struct clock *set = &readers[reader_sets];
        memset(set, 0, sizeof *set);
        set->n[(r >> 24) - 1] = (int16_t)((r & 0xffffff) + 1);
        r = (uint32_t)MANY << 24 | (uint32_t)reader_sets++;
    }
    readers[r & 0xffffff].n[l->me] = (int16_t)(l->epoch + 1);
    return r;
}

/* A plain access to a location that was also accessed atomically: the atomic accesses are in the graph. */
static bool check_atomics(const struct look *l, int loc)
{
    for (int x = G->place[loc].last; x >= 0; x = ev(x)->prev) {
        const struct event *e = ev(x);
        bool conflict = (l->write || e->kind == E_WRITE) && e->op != OP_SLEEP; /* a thread that is woken uses it no more */
        if (!conflict || e->thread == l->me || thread[e->thread].done <= e->index || in_clock(l->now, e))
            continue;
        failure.other_pc = e->pc;
        race_found(l, G->place[loc].addr, e->thread, e->index, e->kind == E_WRITE, true);
        return false;
    }
    for (int t = 0; t < run_threads() && l->write; t++) /* reads of loops that wait are not in the graph */
        for (int i = 0; i < thread[t].awaited && t != l->me; i++)
            if (thread[t].awaits[i].loc == loc && options.races) {
                failure.other_pc = thread[t].req.pc;
                race_found(l, G->place[loc].addr, t, thread[t].done, false, true);
                return false;
            }
    return true;
}

/* ---- accesses ---- */

void shadow_log_value(void)
{
    struct access *a = shadow_logged ? &shadow_log[shadow_logged - 1] : NULL;

    if (!a || !a->write || a->freeing || a->stored || a->size > sizeof a->value)
        return;
    const struct thread *t = &thread[a->thread];
    if (a->addr < (uintptr_t)t->stack_low || a->addr >= (uintptr_t)t->stack_high) { /* not a local */
        a->value = (uint64_t)read_memory(a->addr, (int)a->size);
        a->stored = true;
    }
}

static void log_access(const struct look *l)
{
    shadow_log_value();
    if (shadow_logged == log_room) {
        log_room = log_room ? log_room * 2 : 1024;
        shadow_log = realloc(shadow_log, (size_t)log_room * sizeof *shadow_log);
        if (!shadow_log)
            engine_bug("out of memory");
    }
    shadow_log[shadow_logged++] = (struct access){.addr = l->addr, .size = (uint32_t)l->size, .thread = (uint8_t)l->me,
                                                  .write = l->write, .freeing = race_freeing, .epoch = l->epoch, .pc = l->pc};
}

/* Whether the byte has a defined value. A plain store leaves an epoch, an atomic one is in the graph. */
static bool defined(const struct region *r, uintptr_t a)
{
    uint32_t w = r->cell[a - r->low].w;
    int loc = w ? -1 : shadow_owner(a);

    for (int x = loc < 0 ? -1 : G->place[loc].last; x >= 0; x = ev(x)->prev)
        if (ev(x)->kind == E_WRITE && ev(x)->op != OP_PLAIN && thread[ev(x)->thread].done > ev(x)->index)
            return true;
    return w && !(w & UNDEFINED);
}

/*
 * A change of the shadow by a thread, so that an iteration can be undone completely (spin.c): count cells from the
 * first, which all were `old`; or its epoch in a set of readers, where cell is NULL.
 */
struct change {
    struct cell *cell;
    uint32_t count;
    struct cell old;
};

static void note_change(struct thread *t, struct cell *cell, uint32_t count, struct cell old)
{
    if (t->changes == t->change_room) {
        t->change_room = t->change_room ? t->change_room * 2 : 256;
        t->change = realloc(t->change, t->change_room * sizeof *t->change);
        if (!t->change)
            engine_bug("out of memory");
    }
    t->change[t->changes++] = (struct change){cell, count, old};
}

void shadow_undo(struct thread *t, uint32_t since)
{
    while (t->changes > since) {
        const struct change *c = &t->change[--t->changes];
        for (uint32_t i = 0; c->cell && i < c->count; i++)
            c->cell[i] = c->old;
        if (!c->cell)
            readers[c->count].n[t->id] = (int16_t)c->old.r;
    }
}

static const struct clock after_all = {{[0 ... MAX_THREADS - 1] = INT16_MAX}};

/*
 * Plain access by the running thread. copy: the bytes are only copied (struct assignment, memcpy), so that padding may
 * be undefined.
 */
static bool access_byte(struct region *r, const struct look *l, uintptr_t a, bool heap, bool copy, uint32_t mine)
{
    struct cell *c = &r->cell[a - r->low];

    if (c->w && !covered(l->now, l->me, c->w)) {
        race_found(l, a, (int)(c->w >> 24 & 0x7f) - 1, (int)(c->w & 0xffffff), true, false);
        return false;
    }
    if (l->write) {
        if (c->r && c->r != mine && !check_readers(l, a, c->r))
            return false;
        touch(r, a);
        note_change(&thread[l->me], c, 1, *c);
        c->w = mine;
        c->r = 0;
        return true;
    }
    if (heap && !copy && options.uninit && !defined(r, a)) {
        fail(ERR_UNINIT, l->pc, a, "load of %zu bytes that were never stored", l->size);
        return false;
    }
    if (c->r != mine) {
        touch(r, a);
        if (c->r >> 24 == MANY)
            note_change(&thread[l->me], NULL, c->r & 0xffffff, (struct cell){.r = (uint32_t)readers[c->r & 0xffffff].n[l->me]});
        else
            note_change(&thread[l->me], c, 1, *c);
        c->r = add_reader(c->r, l);
    }
    return true;
}

static void access_bytes(struct region *r, const struct look *l, bool copy)
{
    uint32_t mine = pack(l->me, l->epoch);
    bool heap = l->addr >= r->defined_below;
    struct cell *c = &r->cell[l->addr - r->low], old = c[0];
    size_t same = 1;

    if (!access_byte(r, l, l->addr, heap, copy, mine))
        return;
    /*
     * Usually all bytes of a word have the same state: the result for the first byte then holds for all. But the shadow
     * does not show what an atomic store has defined.
     */
    bool known = l->write || !heap || (old.w && !(old.w & UNDEFINED));
    if (known && (l->addr & (WORD - 1)) + l->size <= WORD && c[0].r >> 24 != MANY)
        for (; same < l->size && c[same].w == old.w && c[same].r == old.r; same++)
            c[same] = c[0];
    if (same > 1 && (c[0].w != old.w || c[0].r != old.r))
        note_change(&thread[l->me], c + 1, (uint32_t)same - 1, old);
    for (; same < l->size; same++)
        if (!access_byte(r, l, l->addr + same, heap, copy, mine))
            return;
}

/* Whether this run has accessed any of these bytes atomically. */
static bool any_atomic(const struct region *r, uintptr_t addr, size_t size)
{
    size_t first = (addr - r->low) / WORD, last = (addr + size - 1 - r->low) / WORD;

    for (size_t i = first; i <= last; i++)
        if (r->touched[i] & ATOMIC)
            return true;
    return false;
}

/* True when some of the bytes belong to an atomic location. */
static bool check_owners(struct region *r, const struct look *l)
{
    bool owned = false;

    for (uintptr_t a = l->addr; a < l->addr + l->size; a++) {
        int loc = r->touched[(a - r->low) / WORD] & ATOMIC ? r->owner[a - r->low] - 1 : -1;
        owned |= loc >= 0;
        if (loc >= 0 && !check_atomics(l, loc))
            break;
    }
    return owned;
}

static inline void note_touch(struct thread *t, uintptr_t addr, size_t size, bool write)
{
    if (t->touches == t->touch_room) {
        t->touch_room = t->touch_room ? t->touch_room * 2 : 256;
        t->touch = realloc(t->touch, (size_t)t->touch_room * sizeof *t->touch);
        if (!t->touch)
            engine_bug("out of memory");
    }
    t->touch[t->touches++] = (struct touch){.addr = addr, .size = (uint32_t)size, .epoch = (int16_t)t->done, .write = write};
}

/* True when some of the bytes belong to a location that this run has accessed atomically. */
static inline bool plain_of(struct thread *t, uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc, uintptr_t sp)
{
    struct region *r = region_of(addr);
    struct look l = {addr, size, &t->now, t->id, t->done, write, false, pc};

    bool own = addr >= (uintptr_t)t->stack_low && addr < (uintptr_t)t->stack_high;
    if (!own) {
        if (write)
            spin_log(t, addr, size);
        t->effects += write;
        t->plain = !t->plain ? addr : (t->plain ^ addr) < 16 ? t->plain : 1;
    }
    if (!r || !size)
        return false;
    if (addr + size > r->high)
        l.size = r->high - addr;
    if (shadow_logging)
        log_access(&l);
    note_touch(t, addr, l.size, write);
    if (!lost_keeps && options.spin)
        lost_access(ev(G->thread[t->id].at[t->done - 1]), addr, l.size, write, false);
    if (r->checked && !program_valid(&l, sp))
        return false;
    if (!options.races)
        l.now = &after_all;
    bool mixed = any_atomic(r, addr, l.size) && check_owners(r, &l);
    if (!failure.kind)
        access_bytes(r, &l, copy);
    return mixed;
}

bool shadow_plain(uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc)
{
    return plain_of(self, addr, size, write, copy, pc, (uintptr_t)__builtin_frame_address(0));
}

/* The same for a thread that is parked, with its stack at sp. */
bool shadow_plain_of(struct thread *t, uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc, uintptr_t sp)
{
    return plain_of(t, addr, size, write, copy, pc, sp);
}

/* Whether this address belongs to a location that this run has accessed atomically. */
int shadow_owner(uintptr_t a)
{
    struct region *r = region_of(a);
    if (!r || !(r->touched[(a - r->low) / WORD] & ATOMIC))
        return -1;
    return r->owner[a - r->low] - 1;
}

/* Whether the shadow tracks which bytes belong to atomic locations. */
bool shadow_tracks(uintptr_t a)
{
    return region_of(a) != NULL;
}

/* First atomic access to a location in this run. False when another one overlaps it. */
bool shadow_own(uintptr_t addr, int size, int loc)
{
    struct region *r = region_of(addr);
    bool fits = true;

    program_atomic(addr);
    for (uintptr_t a = addr; r && a < addr + (uintptr_t)size && a < r->high; a++) {
        touch(r, a);
        r->touched[(a - r->low) / WORD] |= ATOMIC;
        uint16_t *o = &r->owner[a - r->low];
        if (*o && *o != loc + 1)
            fits = false;
        *o = (uint16_t)(loc + 1);
    }
    return fits;
}

/* True when all bytes of the location have a defined value; only memory that starts undefined can. */
bool shadow_defined(uintptr_t addr, int size)
{
    const struct region *r = region_of(addr);

    if (!r || addr < r->defined_below || !options.uninit)
        return true;
    for (int i = 0; i < size; i++)
        if (!defined(r, addr + (uintptr_t)i))
            return false;
    return true;
}

/* An atomic store to memory that holds a copied undefined value. */
void shadow_define(uintptr_t addr, int size)
{
    struct region *r = region_of(addr);

    for (int i = 0; i < size && r && addr >= r->defined_below; i++)
        r->cell[addr - r->low + (uintptr_t)i].w &= ~(uint32_t)UNDEFINED;
}

/* Atomic access by thread me, whose happens-before clock it has; the engine calls this. */
void shadow_atomic(int me, const struct event *e, uintptr_t addr, int size, bool write)
{
    struct region *r = region_of(addr);
    struct look l = {addr, (size_t)size, &e->hb, me, e->index, write, true, e->pc};

    if (!r)
        return;
    if (r->checked && !program_valid(&l, (uintptr_t)thread[me].sp))
        return;
    if (!lost_keeps && options.spin)
        lost_access(e, addr, l.size, write, !(e->op == OP_UNLOCK && e->value == destroyed(size)));
    if (!options.races)
        return;
    for (int i = 0; i < size; i++) {
        const struct cell *c = &r->cell[addr - r->low + (uintptr_t)i];
        if (c->w && !covered(&e->hb, me, c->w)) {
            race_found(&l, addr, (int)(c->w >> 24 & 0x7f) - 1, (int)(c->w & 0xffffff), true, false);
            return;
        }
        if (write && !check_readers(&l, addr, c->r))
            return;
    }
}

/* Whether the event, whatever it reads, neither races with a plain store so far nor loads uninitialised memory. */
bool shadow_quiet(const struct event *e)
{
    const struct place *p = &G->place[e->loc];
    struct region *r = region_of(p->addr);

    if (!r)
        return true;
    for (int i = 0; i < p->size; i++) {
        const struct cell *c = &r->cell[p->addr - r->low + (uintptr_t)i];
        if (c->w && !covered(&e->hb, e->thread, c->w))
            return false;
    }
    return !p->fresh;
}

/* memcpy and memmove: the target is as defined as the source. */
void shadow_copy(uintptr_t to, uintptr_t from, size_t size)
{
    struct region *r = region_of(to), *q = region_of(from);

    if (guessing)
        return;
    if (!r || to < r->defined_below)
        return;
    for (size_t i = 0; i < size; i++) {
        struct cell *c = &r->cell[to - r->low + i];
        if (q && from >= q->defined_below && !defined(q, from + i))
            c->w |= UNDEFINED;
    }
}

/* Whether this run has accessed any of these bytes atomically. */
bool race_any_atomic(uintptr_t addr, size_t size)
{
    const struct region *r = region_of(addr);
    return r && any_atomic(r, addr, size);
}

/* The bytes stop being an atomic location. */
void race_forget(uintptr_t addr, size_t size)
{
    struct region *r = region_of(addr);

    for (uintptr_t a = addr; a < addr + size; a++) {
        touch(r, a);
        r->cell[a - r->low] = (struct cell){.w = pack(self->id, self->done) | UNDEFINED};
    }
}

void race_disown(uintptr_t addr, size_t size)
{
    struct region *r = region_of(addr);
    memset(&r->owner[addr - r->low], 0, size * sizeof *r->owner);
}
