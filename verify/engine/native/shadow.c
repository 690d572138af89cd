/* SPDX-License-Identifier: MIT */
/*
 * The state of each byte of the program's memory in this run.
 *
 * Plain accesses are not events of the graph: they run natively, in an order that extends program order and reads-from.
 * For every byte the last plain store and the plain loads since are kept as epochs (a thread and the number of events
 * that it had executed), and two accesses are ordered when the later one's happens-before clock covers the earlier
 * epoch (Flanagan and Freund, PLDI 2009). A heap byte that was never stored to is uninitialised.
 *
 * Heap blocks come from one bump allocator per thread, so that addresses do not depend on the schedule, and are never
 * reused within a run, so that a stale pointer always hits a freed block.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA ((uintptr_t)0x100000000000)
enum { HEAP_SIZE = 1 << 24, RED = 16, MOST_RED = 1024, WORD = 8 };
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
};

struct block {
    uintptr_t start;
    size_t size;
    uint64_t alloc_pc, free_pc;
    int thread, epoch, free_thread;
    int frees; /* by its thread, before this one was freed */
    bool freed, reached, reused;
    int next; /* in the list of those that were reached: block + 1 */
};

static struct region regions[2]; /* the program's static data; stacks and heap */
static uintptr_t heap_low;
static uint32_t *block_map; /* per word of the heap: block + 1 */
static struct block *block;
static int blocks, block_room;
static uintptr_t bump[MAX_THREADS];

static uintptr_t *touched;
static int touches, touch_room;

static struct clock *readers; /* epochs + 1 per thread, where several threads have read */
static int reader_sets, reader_room;

static bool freeing; /* the current plain store is a free */

bool shadow_logging;
struct access *shadow_log;
int shadow_logged;
static int log_room;

static void *reserve(size_t size, uintptr_t at)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags, -1, 0); /* NOLINT */
    if (p == MAP_FAILED || (at && p != (void *)at))
        engine_bug("cannot reserve %zu bytes of address space", size);
    return p;
}

static void region_init(struct region *r, uintptr_t low, uintptr_t high)
{
    size_t bytes = (high - low + 4096) & ~(size_t)4095;

    r->low = low;
    r->high = high;
    r->cell = reserve(bytes * sizeof(struct cell), 0);
    r->touched = reserve(bytes / WORD, 0);
    r->owner = reserve(bytes * sizeof(uint16_t), 0);
}

/*
 * The threads that wait at a word (futex.c) are a location of their own, in memory that has the place of each word and
 * nothing else.
 */
static char *queues[2];

const void *shadow_queue(const void *word, uint64_t pc)
{
    uintptr_t a = (uintptr_t)word;

    for (int i = 0; i < 2; i++)
        if (a >= regions[i].low && a < regions[i].high && a % 4 == 0)
            return queues[i] + (a - regions[i].low);
    fail(ERR_UNSUPPORTED, pc, a, "a futex that is not aligned, or outside of the program's memory");
    return NULL;
}

/* The word of a queue, or 0. */
uintptr_t shadow_queued(uintptr_t queue)
{
    for (int i = 0; i < 2; i++)
        if (queue - (uintptr_t)queues[i] < regions[i].high - regions[i].low)
            return queue - (uintptr_t)queues[i] + regions[i].low;
    return 0;
}

void shadow_init(uintptr_t data, uintptr_t end)
{
    size_t size = (size_t)MAX_THREADS * (STACK_SIZE + HEAP_SIZE);

    reserve(size, ARENA);
    heap_low = ARENA + (uintptr_t)MAX_THREADS * STACK_SIZE;
    block_map = reserve((size_t)MAX_THREADS * HEAP_SIZE / WORD * sizeof(uint32_t), 0);
    region_init(&regions[0], data & ~(uintptr_t)15, (end + 15) & ~(uintptr_t)15);
    region_init(&regions[1], ARENA, ARENA + size);
    for (int i = 0; i < 2; i++)
        queues[i] = reserve(regions[i].high - regions[i].low, 0);
    for (int t = 0; t < MAX_THREADS; t++) {
        mprotect(shadow_stack(t), 4096, PROT_NONE); /* catches overflow */
        bump[t] = heap_low + (uintptr_t)t * HEAP_SIZE;
    }
}

char *shadow_stack(int t)
{
    return (char *)ARENA + (size_t)t * STACK_SIZE; /* NOLINT */
}

static inline struct region *region_of(uintptr_t a)
{
    if (a >= regions[1].low && a < regions[1].high)
        return &regions[1];
    if (a >= regions[0].low && a < regions[0].high)
        return &regions[0];
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
void shadow_begin(void)
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
    for (int i = 0; i < blocks; i++) {
        size_t words = (block[i].size + WORD - 1) / WORD;
        memset(&block_map[(block[i].start - heap_low) / WORD], 0, (words ? words : 1) * sizeof *block_map);
    }
    if (blocks)
        for (int t = 0; t < MAX_THREADS; t++)
            bump[t] = heap_low + (uintptr_t)t * HEAP_SIZE;
    blocks = 0;
    freeing = false;
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

struct look {
    uintptr_t addr;
    size_t size;
    const struct clock *now;
    int me, epoch;
    bool write, atomic;
    uint64_t pc;
};

static void race(const struct look *l, uintptr_t at, int t, int epoch, bool other_write, bool other_atomic)
{
    failure.other_thread = t;
    failure.other_epoch = epoch;
    failure.other_write = other_write;
    failure.other_atomic = other_atomic;
    failure.write = l->write;
    failure.atomic = l->atomic;
    failure.size = (int)l->size;
    failure.freeing = freeing;
    if (freeing)
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
        race(l, at, (int)(r >> 24) - 1, (int)(r & 0xffffff), false, false);
        return false;
    }
    const struct clock *set = &readers[r & 0xffffff];
    for (int t = 0; t < MAX_THREADS; t++)
        if (set->n[t] && t != l->me && l->now->n[t] <= set->n[t] - 1) {
            race(l, at, t, set->n[t] - 1, false, false);
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
        race(l, G->place[loc].addr, e->thread, e->index, e->kind == E_WRITE, true);
        return false;
    }
    for (int t = 0; t < run_threads() && l->write; t++) /* reads of loops that wait are not in the graph */
        for (int i = 0; i < thread[t].awaited && t != l->me; i++)
            if (thread[t].awaits[i].loc == loc && options.races) {
                failure.other_pc = thread[t].req.pc;
                race(l, G->place[loc].addr, t, thread[t].done, false, true);
                return false;
            }
    return true;
}

/* ---- heap ---- */

static struct block *block_at(uintptr_t a)
{
    uint32_t b = block_map[(a - heap_low) / WORD];
    return b ? &block[b - 1] : NULL;
}

/* The block before an address that belongs to none: the one whose bounds were exceeded. */
static struct block *block_near(uintptr_t a)
{
    struct block *best = NULL;
    for (int i = 0; i < blocks; i++)
        if (block[i].start <= a + RED && (!best || block[i].start > best->start))
            best = &block[i];
    return best;
}

bool shadow_block_of(uintptr_t a, uintptr_t *start, size_t *size, uint64_t *pc)
{
    if (a < heap_low || a >= regions[1].high)
        return false;
    struct block *b = block_at(a);
    if (!b)
        b = block_near(a);
    if (!b)
        return false;
    *start = b->start;
    *size = b->size;
    *pc = b->alloc_pc;
    return true;
}

static bool check_block(const struct look *l)
{
    struct block *b = block_at(l->addr);

    if (!b || l->addr < b->start || l->addr + l->size > b->start + b->size) {
        struct block *n = b ? b : block_near(l->addr);
        failure.size = (int)l->size;
        failure.other_pc = n ? n->alloc_pc : 0;
        if (n)
            fail(ERR_BOUNDS, l->pc, l->addr, "%s of %zu bytes at offset %ld of a block of %zu", l->write ? "store" : "load",
                 l->size, (long)(l->addr - n->start), n->size);
        else
            fail(ERR_BOUNDS, l->pc, l->addr, "%s of %zu bytes outside of every block", l->write ? "store" : "load", l->size);
        return false;
    }
    if (b->freed) {
        failure.other_pc = b->free_pc;
        failure.other_thread = b->free_thread;
        fail(ERR_FREED, l->pc, l->addr, "%s of freed memory", l->write ? "store" : "load");
        return false;
    }
    if (options.races && b->thread != l->me && l->now->n[b->thread] <= b->epoch) {
        failure.other_pc = b->alloc_pc;
        race(l, l->addr, b->thread, b->epoch, true, false);
        return false;
    }
    return true;
}

/* The stack of a thread that has ended, or below its stack pointer: no object lives there. */
static bool check_stack(const struct look *l, uintptr_t own_sp)
{
    const struct thread *t = &thread[(l->addr - ARENA) / STACK_SIZE];
    bool dead = t->id == l->me ? l->addr < own_sp : t->state == T_DONE || t->state == T_NONE || l->addr < (uintptr_t)t->top;

    if (t->id != l->me)
        lost_stack(t->id, true);
    if (dead)
        fail(ERR_FREED, l->pc, l->addr, "%s of a local variable whose function has returned", l->write ? "store" : "load");
    return !dead;
}

/* ---- accesses ---- */

static void log_access(const struct look *l)
{
    if (shadow_logged == log_room) {
        log_room = log_room ? log_room * 2 : 1024;
        shadow_log = realloc(shadow_log, (size_t)log_room * sizeof *shadow_log);
        if (!shadow_log)
            engine_bug("out of memory");
    }
    shadow_log[shadow_logged++] = (struct access){.addr = l->addr, .size = (uint32_t)l->size, .thread = (uint8_t)l->me,
                                                  .write = l->write, .epoch = l->epoch, .pc = l->pc};
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
        race(l, a, (int)(c->w >> 24 & 0x7f) - 1, (int)(c->w & 0xffffff), true, false);
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
    bool heap = r == &regions[1] && l->addr >= heap_low;
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
    if (r == &regions[1] && !(addr >= heap_low ? check_block(&l) : check_stack(&l, sp)))
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

bool shadow_on_stack(uintptr_t a)
{
    return a >= ARENA && a < heap_low;
}

/* First atomic access to a location in this run. False when another one overlaps it. */
bool shadow_own(uintptr_t addr, int size, int loc)
{
    struct region *r = region_of(addr);
    bool fits = true;

    if (shadow_on_stack(addr)) {
        struct thread *t = &thread[(addr - ARENA) / STACK_SIZE];
        t->atomic_low = addr < t->atomic_low ? addr : t->atomic_low;
    }
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

/* Whether every access of the location in the graph happens before the current operation of the running thread. */
static bool settled(const struct place *p)
{
    for (int x = p->last; x >= 0; x = ev(x)->prev)
        if (ev(x)->thread != self->id && !in_clock(&self->now, ev(x)))
            return false;
    return true;
}

/*
 * A function returns: its atomic locals end, and the next function may use the stack in another way. A local that
 * another thread may still access stays atomic: its accesses are not ordered with those of any later object there.
 */
void shadow_return(uintptr_t frame)
{
    uint16_t *owner = regions[1].owner;
    uintptr_t low = regions[1].low, kept = frame;

    for (uintptr_t a = self->atomic_low; a < frame; a++) {
        const struct place *p = owner[a - low] ? &G->place[owner[a - low] - 1] : NULL;
        if (p && settled(p))
            memset(&owner[p->addr - low], 0, p->size * sizeof *owner);
        else if (p && p->addr < kept)
            kept = p->addr;
        a += p ? p->addr + p->size - 1 - a : 0;
    }
    self->atomic_low = kept;
}

/* True when all bytes of the location have a defined value; only heap bytes can be undefined. */
bool shadow_defined(uintptr_t addr, int size)
{
    if (addr < heap_low || addr >= regions[1].high || !options.uninit)
        return true;
    for (int i = 0; i < size; i++)
        if (!defined(&regions[1], addr + (uintptr_t)i))
            return false;
    return true;
}

/* An atomic store to memory that holds a copied undefined value. */
void shadow_define(uintptr_t addr, int size)
{
    for (int i = 0; i < size && addr >= heap_low && addr < regions[1].high; i++)
        regions[1].cell[addr - regions[1].low + (uintptr_t)i].w &= ~(uint32_t)UNDEFINED;
}

/* Atomic access by thread me, whose happens-before clock it has; the engine calls this. */
void shadow_atomic(int me, const struct event *e, uintptr_t addr, int size, bool write)
{
    struct region *r = region_of(addr);
    struct look l = {addr, (size_t)size, &e->hb, me, e->index, write, true, e->pc};

    if (!r)
        return;
    if (r == &regions[1] && !(addr >= heap_low ? check_block(&l) : check_stack(&l, (uintptr_t)thread[me].sp)))
        return;
    if (!lost_keeps && options.spin)
        lost_access(e, addr, l.size, write, !(e->op == OP_UNLOCK && e->value == destroyed(size)));
    if (!options.races)
        return;
    for (int i = 0; i < size; i++) {
        const struct cell *c = &r->cell[addr - r->low + (uintptr_t)i];
        if (c->w && !covered(&e->hb, me, c->w)) {
            race(&l, addr, (int)(c->w >> 24 & 0x7f) - 1, (int)(c->w & 0xffffff), true, false);
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
    if (!r || r != &regions[1] || to < heap_low)
        return;
    for (size_t i = 0; i < size; i++) {
        struct cell *c = &r->cell[to - r->low + i];
        if (q == &regions[1] && from >= heap_low && !defined(q, from + i))
            c->w |= UNDEFINED;
    }
}

/* ---- allocation ---- */

/*
 * With --reuse a thread may get back the address of a block of the same size that it has freed: the one that it freed
 * last, the one before, and so on. Other threads' blocks it never gets, so that no address is handed out twice.
 */
static struct block *freed_before(size_t size, size_t align, int below)
{
    struct block *best = NULL;

    for (int i = 0; i < blocks; i++) {
        struct block *b = &block[i];
        bool fits = b->freed && !b->reused && b->free_thread == self->id && b->size == size && b->start % align == 0;
        if (fits && b->frees < below && (!best || b->frees > best->frees))
            best = b;
    }
    return best;
}

static struct block *reused(size_t size, size_t align, uint64_t pc)
{
    int n = 0;

    for (struct block *b = freed_before(size, align, INT32_MAX); b; b = freed_before(size, align, b->frees))
        n++;
    long pick = choose(n + 1, pc);
    struct block *b = NULL;
    for (long i = 0; i < pick; i++)
        b = freed_before(size, align, b ? b->frees : INT32_MAX);
    return b;
}

/* Memory that is handed out again has no defined value, and its allocation is a store. */
static void forget_values(uintptr_t start, size_t size)
{
    struct region *r = &regions[1];

    for (uintptr_t a = start; a < start + size; a++) {
        touch(r, a);
        r->cell[a - r->low] = (struct cell){.w = pack(self->id, self->done) | UNDEFINED};
    }
}

static struct block *fresh_block(size_t size, size_t align, uint64_t pc)
{
    int t = self->id;
    uintptr_t limit = heap_low + (uintptr_t)(t + 1) * HEAP_SIZE;
    uintptr_t start = (bump[t] + RED + align - 1) & ~(uintptr_t)(align - 1);

    if (start > limit || size > limit - start || start + size + RED > limit)
        fail(ERR_UNSUPPORTED, pc, 0, "a thread may allocate at most %d bytes", HEAP_SIZE);
    size_t red = size < RED ? RED : size < MOST_RED ? size : MOST_RED; /* an index out of bounds must not reach the next block */
    bump[t] = (start + size + red + 15) & ~(uintptr_t)15;
    if (blocks == block_room) {
        block_room = block_room ? block_room * 2 : 64;
        block = realloc(block, (size_t)block_room * sizeof *block);
        if (!block)
            engine_bug("out of memory");
    }
    block[blocks++] = (struct block){.start = start, .size = size};
    return &block[blocks - 1];
}

void *shadow_alloc(size_t size, size_t align, bool zero, uint64_t pc)
{
    if (guessing)
        guess_stop();

    if (align & (align - 1) || !align)
        fail(ERR_ALLOCATION, pc, 0, "the alignment %zu is not a power of two", align);
    if (size > PTRDIFF_MAX)
        fail(ERR_ALLOCATION, pc, 0, "an allocation of %zu bytes", size);
    if (align < 16)
        align = 16;
    struct block *old = options.reuse ? reused(size, align, pc) : NULL;
    uintptr_t start = old ? old->start : 0;
    if (old)
        old->reused = true;
    struct block *b = fresh_block(size, align, pc);
    if (start) {
        b->start = start;
        forget_values(start, size);
    }
    b->alloc_pc = pc;
    b->thread = self->id;
    b->epoch = self->done;
    size_t words = (size + WORD - 1) / WORD;
    for (size_t i = 0; i < (words ? words : 1); i++)
        block_map[(b->start - heap_low) / WORD + i] = (uint32_t)blocks;
    start = b->start;
    memset((void *)start, zero ? 0 : 0xa5, size); /* NOLINT */
    self->effects++;
    if (zero)
        plain(start, size, true, false, pc);
    return (void *)start; /* NOLINT */
}

size_t shadow_usable(const void *p)
{
    uintptr_t a = (uintptr_t)p;
    struct block *b = a >= heap_low && a < regions[1].high ? block_at(a) : NULL;
    return b && b->start == a && !b->freed ? b->size : 0;
}

/* A held mutex must not be freed. */
static void check_unlocked(uintptr_t a, size_t size, uint64_t pc)
{
    for (uintptr_t at = a; at < a + size; at++) {
        int loc = shadow_owner(at);
        const struct place *p = loc < 0 ? NULL : &G->place[loc];
        const struct event *e = p && p->count > 1 ? ev(p->mo[p->count - 1]) : NULL;
        bool lock = e && (e->op == OP_LOCK || e->op == OP_TRYLOCK || e->op == OP_RLOCK || e->op == OP_TRYRLOCK);
        if (lock && thread[e->thread].done > e->index)
            fail(ERR_MUTEX, pc, at, "the block is freed while a lock in it is held");
    }
}

/* How many the thread has freed. */
static int blocks_freed(void)
{
    int n = 0;

    for (int i = 0; i < blocks; i++)
        n += block[i].freed && block[i].free_thread == self->id;
    return n;
}

/* Freeing is a plain store to the whole block: it races with every access that it is not ordered with. */
void shadow_free(void *p, uint64_t pc)
{
    if (guessing)
        guess_stop();
    uintptr_t a = (uintptr_t)p;
    struct block *b = a >= heap_low && a < regions[1].high ? block_at(a) : NULL;

    if (!p)
        return;
    if (!b || b->start != a) {
        fail(ERR_BAD_FREE, pc, a, "free of an address that no allocation returned");
        return;
    }
    if (b->freed) {
        failure.other_pc = b->free_pc;
        failure.other_thread = b->free_thread;
        fail(ERR_DOUBLE_FREE, pc, a, "second free of the same block");
        return;
    }
    self->effects++; /* not only a store */
    freeing = true;
    shadow_plain(a, b->size, true, false, pc);
    freeing = false;
    if (any_atomic(&regions[1], a, b->size ? b->size : 1))
        check_unlocked(a, b->size, pc);
    b->freed = true;
    b->free_pc = pc;
    b->free_thread = self->id;
    b->frees = options.reuse ? blocks_freed() : 0;
}

/* Adds the blocks that this memory points to, anywhere into them, to the list; returns its new start. */
static int reach(uintptr_t from, uintptr_t to, int list)
{
    for (uintptr_t v, a = from; a + sizeof v <= to; a += sizeof v) {
        memcpy(&v, (const void *)a, sizeof v); /* NOLINT */
        struct block *b = v >= heap_low && v < regions[1].high ? block_at(v) : NULL;
        if (!b || b->freed || b->reached)
            continue;
        b->reached = true;
        b->next = list;
        list = (int)(b - block) + 1;
    }
    return list;
}

/* Memory reachable from static memory and main's thread-local variables is still in use when the process ends. */
static void reach_all(void)
{
    size_t size;
    uintptr_t local = run_main_locals(&size);
    int list = reach(local, local + size, reach(regions[0].low, regions[0].high, 0));

    while (list) {
        const struct block *b = &block[list - 1];
        list = reach(b->start, b->start + b->size, b->next);
    }
}

/* At the end of a complete execution. */
void shadow_end(void)
{
    int i = 0;

    for (int t = 0; t < run_threads(); t++)
        if (thread[t].state != T_DONE)
            return; /* the process ends, and the memory of a thread that waits with it */
    while (i < blocks && block[i].freed)
        i++;
    if (i == blocks || !options.leaks)
        return;
    if (!options.all_leaks)
        reach_all();
    for (; i < blocks; i++)
        if (!block[i].freed && !block[i].reached) {
            failure.thread = block[i].thread;
            fail(ERR_LEAK, block[i].alloc_pc, block[i].start, "%zu bytes were never freed", block[i].size);
            return;
        }
}
