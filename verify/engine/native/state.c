/* SPDX-License-Identifier: MIT */
/* The state of a parked thread, as a hash: its stack, without what is overwritten before it is read again. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Dead values at a call, which its function overwrites before it reads them again (liveness.py). */
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

void state_init(const void *from, const void *to)
{
    size_t size = from ? (size_t)((const char *)to - (const char *)from) : 0;

    table = malloc(size + 1);
    if (!table)
        engine_bug("out of memory");
    memcpy(table, from, size);
    table_count = size / sizeof *table;
    qsort(table, table_count, sizeof *table, by_pc);
}

/* Clears the dead slots of one frame in a copy of the stack; returns the mask of dead registers. */
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
    uint64_t frame = saved[5], pc = t->req.hook, dead = 0;
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
uint64_t program_state(const struct thread *t)
{
    static _Alignas(16) char copy[STACK_SIZE];
    size_t size = (size_t)(t->stack_high - (char *)t->sp);
    uint64_t h = t->req.hook * 0x9e3779b97f4a7c15u ^ t->effects;

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
    h = (h ^ (uint64_t)(uintptr_t)t->req.out) * 0xff51afd7ed558ccdu;
    h = (h ^ (uint64_t)((unsigned)t->req.order << 8 | t->req.fail_order)) * 0xff51afd7ed558ccdu; /* these may be variables */
    h = (h ^ (uint64_t)(unsigned)t->error) * 0xff51afd7ed558ccdu; /* library functions set it without a plain store */
    return h ^ h >> 29;
}
