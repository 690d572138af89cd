/* SPDX-License-Identifier: MIT */
/*
 * Memory of the program: stacks, and heap blocks with their bounds.
 *
 * Heap blocks come from one bump allocator per thread, so that addresses do not depend on the schedule, and without
 * --reuse are never reused within a run, so that a stale pointer always hits a freed block.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA ((uintptr_t)0x100000000000)
#define ARENA_END (ARENA + (uintptr_t)MAX_THREADS * (STACK_SIZE + HEAP_SIZE))
enum { HEAP_SIZE = 1 << 24, RED = 16, MOST_RED = 1024, WORD = 8 };

struct block {
    uintptr_t start;
    size_t size;
    uint64_t alloc_pc, free_pc;
    int thread, epoch, free_thread;
    int frees; /* by its thread, before this one was freed */
    bool freed, reached, reused;
    int next; /* in the list of those that were reached: block + 1 */
};

static uintptr_t data_low, data_high; /* the program's static data */
static uintptr_t heap_low;
static uint32_t *block_map; /* per word of the heap: block + 1 */
static struct block *block;
static int blocks, block_room;
static uintptr_t bump[MAX_THREADS];

static void *reserve(size_t size, uintptr_t at)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags, -1, 0); /* NOLINT */
    if (p == MAP_FAILED || (at && p != (void *)at))
        engine_bug("cannot reserve %zu bytes of address space", size);
    return p;
}

static void *reserve_anywhere(size_t size)
{
    return reserve(size, 0);
}

/*
 * The threads that wait at a word (futex.c) are a separate location, in memory that has the place of each word and
 * nothing else.
 */
static char *queues[2];

static uintptr_t queues_low(int i) { return i ? ARENA : data_low; }
static uintptr_t queues_high(int i) { return i ? ARENA_END : data_high; }

const void *shadow_queue(const void *word, uint64_t pc)
{
    uintptr_t a = (uintptr_t)word;

    for (int i = 0; i < 2; i++)
        if (a >= queues_low(i) && a < queues_high(i) && a % 4 == 0)
            return queues[i] + (a - queues_low(i));
    fail(ERR_UNSUPPORTED, pc, a, "a futex that is not aligned, or outside of the program's memory");
    return NULL;
}

/* The word of a queue, or 0. */
uintptr_t shadow_queued(uintptr_t queue)
{
    for (int i = 0; i < 2; i++)
        if (queue - (uintptr_t)queues[i] < queues_high(i) - queues_low(i))
            return queue - (uintptr_t)queues[i] + queues_low(i);
    return 0;
}

void shadow_init(uintptr_t data, uintptr_t end)
{
    size_t size = (size_t)MAX_THREADS * (STACK_SIZE + HEAP_SIZE);

    reserve(size, ARENA);
    heap_low = ARENA + (uintptr_t)MAX_THREADS * STACK_SIZE;
    block_map = reserve((size_t)MAX_THREADS * HEAP_SIZE / WORD * sizeof(uint32_t), 0);
    data_low = data & ~(uintptr_t)15;
    data_high = (end + 15) & ~(uintptr_t)15;
    race_region(ARENA, ARENA + size, heap_low, true, reserve_anywhere);
    race_region(data_low, data_high, data_high, false, reserve_anywhere);
    for (int i = 0; i < 2; i++)
        queues[i] = reserve(queues_high(i) - queues_low(i), 0);
    for (int t = 0; t < MAX_THREADS; t++) {
        mprotect(shadow_stack(t), 4096, PROT_NONE); /* catches overflow */
        bump[t] = heap_low + (uintptr_t)t * HEAP_SIZE;
    }
}

char *shadow_stack(int t)
{
    return (char *)ARENA + (size_t)t * STACK_SIZE; /* NOLINT */
}

void shadow_begin(void)
{
    for (int i = 0; i < blocks; i++) {
        size_t words = (block[i].size + WORD - 1) / WORD;
        memset(&block_map[(block[i].start - heap_low) / WORD], 0, (words ? words : 1) * sizeof *block_map);
    }
    if (blocks)
        for (int t = 0; t < MAX_THREADS; t++)
            bump[t] = heap_low + (uintptr_t)t * HEAP_SIZE;
    blocks = 0;
    race_freeing = false;
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

/* Which of the blocks that its call has allocated, from 1; 0 where there is only one. */
int shadow_block_number(uintptr_t a)
{
    const struct block *b = a >= heap_low && a < ARENA_END ? block_at(a) : NULL;
    int before = 0, all = 0;

    for (int i = 0; i < blocks && b; i++)
        if (block[i].alloc_pc == b->alloc_pc) {
            before += &block[i] <= b;
            all++;
        }
    return all > 1 ? before : 0;
}

bool shadow_block_of(uintptr_t a, uintptr_t *start, size_t *size, uint64_t *pc)
{
    if (a < heap_low || a >= ARENA_END)
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
        race_found(l, l->addr, b->thread, b->epoch, true, false);
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

bool program_valid(const struct look *l, uintptr_t sp)
{
    return l->addr >= heap_low ? check_block(l) : check_stack(l, sp);
}

bool shadow_on_stack(uintptr_t a)
{
    return a >= ARENA && a < heap_low;
}

bool program_stale(uintptr_t a)
{
    return shadow_on_stack(a);
}

void program_atomic(uintptr_t addr)
{
    if (!shadow_on_stack(addr))
        return;
    struct thread *t = &thread[(addr - ARENA) / STACK_SIZE];
    t->atomic_low = addr < t->atomic_low ? addr : t->atomic_low;
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
    uintptr_t kept = frame;

    for (uintptr_t a = self->atomic_low; a < frame; a++) {
        int loc = shadow_owner(a);
        const struct place *p = loc >= 0 ? &G->place[loc] : NULL;
        if (p && settled(p))
            race_disown(p->addr, p->size);
        else if (p && p->addr < kept)
            kept = p->addr;
        a += p ? p->addr + p->size - 1 - a : 0;
    }
    self->atomic_low = kept;
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
        race_forget(start, size);
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
    struct block *b = a >= heap_low && a < ARENA_END ? block_at(a) : NULL;
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
    struct block *b = a >= heap_low && a < ARENA_END ? block_at(a) : NULL;

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
    race_freeing = true;
    shadow_plain(a, b->size, true, false, pc);
    race_freeing = false;
    if (race_any_atomic(a, b->size ? b->size : 1))
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
        struct block *b = v >= heap_low && v < ARENA_END ? block_at(v) : NULL;
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
    int list = reach(local, local + size, reach(data_low, data_high, 0));

    while (list) {
        const struct block *b = &block[list - 1];
        list = reach(b->start, b->start + b->size, b->next);
    }
}

/* At the end of a complete execution. */
void program_ended(void)
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
