/* SPDX-License-Identifier: MIT */
/* A parsed program run for the core (core/program.h): each thread up to its next request. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 20000 }; /* instructions between two requests */

static int32_t memory[MEMORY];
static char outcome[1 << 14]; /* of the largest program */
static bool finished;
static struct {
    bool is;
    int thread;
    uint64_t pc;
} freed[VARIABLES];

/* ---- a speculative run: what it stores is undone, what it accesses is compared ---- */

static struct guess {
    struct touch touch[64];
    struct stored stored[64];
    int touches, stores;
    bool failed;
} guess;

static uintptr_t address(int cell)
{
    return BASE + (uintptr_t)cell * sizeof *memory;
}

word read_memory(uintptr_t addr, int size)
{
    (void)size;
    return (word)(uint32_t)memory[(addr - BASE) / sizeof *memory];
}

void program_write(uintptr_t addr, word value, int size)
{
    (void)size;
    memory[(addr - BASE) / sizeof *memory] = (int32_t)value;
}

static void plain_access(struct thread *t, int cell, bool write, uint64_t pc)
{
    if (!guessing) {
        shadow_plain_of(t, address(cell), sizeof *memory, write, false, pc, 0);
        return;
    }
    if (guess.touches < 64)
        guess.touch[guess.touches++] = (struct touch){.addr = address(cell), .size = sizeof *memory, .write = write};
    if (write && guess.stores < 64)
        guess.stored[guess.stores++] = (struct stored){.addr = address(cell), .old = (word)(uint32_t)memory[cell]};
    else if (write)
        guess.failed = true;
}

static void wrong(struct thread *t, enum error kind, uint64_t pc, const char *text)
{
    if (guessing)
        guess.failed = true;
    else {
        failure.thread = t->id;
        fail(kind, pc, 0, "%s", text);
    }
}

/* ---- instructions ---- */

static int32_t pop(struct thread *t)
{
    return t->depth ? t->stack[--t->depth] : 0;
}

static void push(struct thread *t, int32_t n)
{
    if (t->depth == DEPTH)
        wrong(t, ERR_UNSUPPORTED, 0, "an expression is too large");
    else
        t->stack[t->depth++] = n;
}

static int32_t combine(const struct instruction *i, int32_t a, int32_t b)
{
    switch (i->op) {
    case '+':
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case '-':
        return (int32_t)((uint32_t)a - (uint32_t)b);
    case '*':
        return (int32_t)((uint32_t)a * (uint32_t)b);
    case '%':
        return b ? (int32_t)((int64_t)a % b) : 0;
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return i->weak ? a <= b : a < b;
    default:
        return i->weak ? a >= b : a > b;
    }
}

/* The cell that the instruction accesses: the index is on the stack. -1: it is out of bounds, an error. */
static int cell_of(struct thread *t, const struct instruction *i)
{
    const struct variable *v = &lab.variable[i->n];
    int32_t index = pop(t);

    if (index >= 0 && index < v->count)
        return v->first + index;
    wrong(t, ERR_BOUNDS, (uint64_t)i->at + 1, "the index is outside of the array");
    return -1;
}

/* A plain store to the whole variable, which races with every access that it is not ordered with. */
static void release(struct thread *t, const struct instruction *i)
{
    const struct variable *v = &lab.variable[i->n];
    const uint64_t pc = (uint64_t)i->at + 1;

    if (guessing) {
        guess.failed = true;
        return;
    }
    if (freed[i->n].is) {
        failure.other_pc = freed[i->n].pc;
        failure.other_thread = freed[i->n].thread;
        failure.thread = t->id;
        fail(ERR_DOUBLE_FREE, pc, address(v->first), "second free of the same block");
        return;
    }
    t->effects++; /* not only a store */
    race_freeing = true;
    shadow_plain_of(t, address(v->first), (size_t)v->count * sizeof *memory, true, false, pc, 0);
    race_freeing = false;
    freed[i->n].is = true;
    freed[i->n].thread = t->id;
    freed[i->n].pc = pc;
}

static bool request(struct thread *t, const struct instruction *i)
{
    bool two = i->code == I_CAS || (i->code == I_ATOMIC && i->op != OP_LOAD);
    int32_t operand = two ? pop(t) : 0;
    int cell = cell_of(t, i);

    if (cell < 0)
        return false;
    t->req = (struct request){.op = i->op,
                              .size = sizeof *memory,
                              .order = i->order,
                              .fail_order = i->fail_order,
                              .weak = i->weak,
                              .addr = address(cell),
                              .operand = (word)(uint32_t)operand,
                              .pc = (uint64_t)i->at + 1};
    if (i->code == I_CAS)
        t->req.expected = (word)(uint32_t)t->reg[-1 - lab.code[t->pc].n];
    return true;
}

static void note(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    size_t n = strlen(outcome);
    vsnprintf(outcome + n, sizeof outcome - n, format, list);
    va_end(list);
}

/* What the program shows at its end: the same text as the C program's. */
static void finish(struct thread *t)
{
    outcome[0] = 0;
    for (int i = 1; i < lab.threads; i++)
        for (int k = 0; k < lab.thread[i].registers; k++)
            note("%s%d:%s=%d", *outcome ? " " : "", i, lab.thread[i].reg[k], thread[i].reg[k]);
    for (int i = 0; i < lab.variables; i++)
        for (int k = 0; k < lab.variable[i].count && !lab.variable[i].freed; k++) {
            note(lab.variable[i].array ? "%s%s[%d]=" : "%s%s=", *outcome ? " " : "", lab.variable[i].name, k);
            note("%d", memory[lab.variable[i].first + k]);
        }
    finished = true;
    t->prints++;
}

/* Executes one instruction; true when the thread has a request. */
static bool instruction(struct thread *t)
{
    const struct instruction *i = &lab.code[t->pc++];
    uint64_t pc = (uint64_t)i->at + 1;
    int32_t a;
    int cell;

    switch (i->code) {
    case I_PUSH:
        push(t, i->n);
        break;
    case I_GET:
        push(t, t->reg[i->n]);
        break;
    case I_SET:
        if (i->n >= 0)
            t->reg[i->n] = pop(t);
        break;
    case I_PLAIN_LOAD:
        cell = cell_of(t, i);
        if (cell < 0)
            break;
        plain_access(t, cell, false, pc);
        push(t, memory[cell]);
        break;
    case I_PLAIN_STORE:
        a = pop(t);
        cell = cell_of(t, i);
        if (cell < 0)
            break;
        plain_access(t, cell, true, pc);
        memory[cell] = a;
        break;
    case I_NEG:
        push(t, (int32_t)(0 - (uint32_t)pop(t)));
        break;
    case I_NOT:
        push(t, !pop(t));
        break;
    case I_TRUTH:
        push(t, pop(t) != 0);
        break;
    case I_BINARY:
        a = pop(t);
        push(t, combine(i, pop(t), a));
        break;
    case I_JUMP:
        t->pc = i->n;
        break;
    case I_JUMP_IF_NOT:
        a = pop(t);
        if (!a && i->weak)
            push(t, a);
        if (!a)
            t->pc = i->n;
        break;
    case I_ATOMIC:
    case I_CAS:
        return request(t, i);
    case I_FENCE:
        t->req = (struct request){.op = OP_FENCE, .order = i->order, .pc = pc};
        return true;
    case I_ASSERT:
        if (!pop(t))
            wrong(t, ERR_ASSERT, pc, "the assertion does not hold");
        break;
    case I_ASSUME:
        if (!pop(t)) {
            t->req = (struct request){.op = OP_ASSUME, .pc = pc};
            return true;
        }
        break;
    case I_FREE:
        release(t, i);
        break;
    case I_POP:
        pop(t);
        break;
    case I_CREATE:
    case I_JOIN:
        t->req = (struct request){.op = i->code == I_CREATE ? OP_CREATE : OP_JOIN, .extra = (uint32_t)i->n};
        return true;
    case I_FINISH:
        finish(t);
        break;
    default:
        t->req = (struct request){.op = OP_END};
        main_returned |= t->id == 0;
        return true;
    }
    return false;
}

/* Up to the next request, from the result of the last one. */
static void run_on(struct thread *t, word answer)
{
    bool answers = (t->req.op <= OP_CAS && t->req.op != OP_STORE);

    if (answers)
        push(t, (int32_t)(uint32_t)answer);
    for (int n = 0; n < LONGEST; n++)
        if (instruction(t) || failure.kind || (guessing && guess.failed))
            return;
    wrong(t, ERR_LIVELOCK, t->req.pc, "the thread runs for long without an atomic access");
}

void program_resume(struct thread *t, word answer)
{
    run_on(t, answer);
}

/* ---- runs ---- */

void program_begin(void)
{
    memset(memory, 0, sizeof memory);
    memset(freed, 0, sizeof freed);
    for (int i = 0; i < lab.variables; i++)
        for (int k = 0; k < lab.variable[i].count; k++)
            memory[lab.variable[i].first + k] = lab.variable[i].init;
    finished = false;
}

enum stopped program_run(void (*work)(void))
{
    work();
    return STOPPED_NOT;
}

void program_start(struct thread *t)
{
    t->pc = lab.thread[t->id].start;
    t->depth = 0;
    memset(t->reg, 0, sizeof t->reg);
    memset(t->stack, 0, sizeof t->stack);
}

static void *zeroed(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        engine_bug("out of memory");
    return p;
}

void lab_init(void)
{
    for (int t = 0; t < MAX_THREADS; t++)
        thread[t].id = t;
    race_region(BASE, BASE + sizeof memory, BASE + sizeof memory, true, zeroed);
}

bool lab_finished(const char **text)
{
    *text = outcome;
    return finished;
}

void program_ended(void)
{
}
void program_failed(void)
{
}
/* The language has no functions. */
void program_callers(const struct thread *t, uint64_t out[CALLERS])
{
    (void)t;
    memset(out, 0, CALLERS * sizeof *out);
}

void program_check(const struct request *q)
{
    (void)q;
}

/* ---- states ---- */

static uint64_t mix(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

uint64_t program_state(const struct thread *t)
{
    uint64_t h = mix(mix(1, (uint64_t)t->pc), t->effects);

    for (int i = 0; i < REGISTERS; i++)
        h = mix(h, (uint32_t)t->reg[i]);
    for (int i = 0; i < t->depth; i++)
        h = mix(h, (uint32_t)t->stack[i]);
    return mix(mix(h, t->req.addr), (uint64_t)t->req.operand);
}

void program_shoot(const struct thread *t, struct shot *s)
{
    s->saved.pc = t->pc;
    s->saved.depth = t->depth;
    memcpy(s->saved.reg, t->reg, sizeof t->reg);
    memcpy(s->saved.stack, t->stack, sizeof t->stack);
}

bool program_failed_exchange(struct thread *t, const struct event *e)
{
    t->reg[-1 - lab.code[t->pc].n] = (int32_t)(uint32_t)e->value;
    return true;
}

/* Marks the accesses since the last event of the thread that were made in that run too. True when all were. */
static bool guessed_all(struct thread *t)
{
    bool all = true;

    for (int i = t->touches; i-- > 0 && t->touch[i].epoch == t->done;) {
        int k = 0;
        while (k < guess.touches &&
               (guess.touch[k].addr != t->touch[i].addr || guess.touch[k].write != t->touch[i].write))
            k++;
        t->touch[i].made = k < guess.touches;
        all = all && k < guess.touches;
    }
    return all;
}

bool program_same_with(struct thread *t, const struct shot *from, word value)
{
    static struct thread before;
    static int32_t now[MEMORY];
    bool ended = main_returned;

    memcpy(&before, t, offsetof(struct thread, shot));
    memcpy(now, memory, sizeof memory);
    for (int i = t->stores; i-- > from->stores;)
        program_write(t->stored[i].addr, t->stored[i].old, t->stored[i].size);
    t->pc = from->saved.pc;
    t->depth = from->saved.depth;
    memcpy(t->reg, from->saved.reg, sizeof t->reg);
    memcpy(t->stack, from->saved.stack, sizeof t->stack);
    t->req = from->req;
    guess.touches = guess.stores = 0;
    guess.failed = false;
    guessing = true;
    if (t->req.op == OP_CAS) /* it fails */
        t->reg[-1 - lab.code[t->pc].n] = (int32_t)(uint32_t)value;
    run_on(t, t->req.op == OP_CAS ? 0 : value);
    guessing = false;
    const struct request *a = &t->req, *b = &before.req;
    bool same = !guess.failed && a->pc == b->pc && a->op == b->op && a->addr == b->addr && a->operand == b->operand &&
                a->expected == b->expected && t->pc == before.pc && t->depth == before.depth &&
                !memcmp(t->reg, before.reg, sizeof t->reg) &&
                !memcmp(t->stack, before.stack, (size_t)t->depth * sizeof *t->stack) &&
                !memcmp(memory, now, sizeof memory);
    memcpy(memory, now, sizeof memory);
    memcpy(t, &before, offsetof(struct thread, shot));
    main_returned = ended;
    t->spin_end = t->done - guessed_all(t);
    return same;
}

void guess_stop(void)
{
    engine_bug("an access that cannot be undone");
}

bool program_private(uintptr_t addr)
{
    return (void)addr, false;
}
bool program_stale(uintptr_t addr)
{
    return (void)addr, false;
}
bool program_valid(const struct look *l, uintptr_t sp)
{
    (void)sp;
    for (int i = 0; i < lab.variables; i++) {
        const struct variable *v = &lab.variable[i];
        if (!freed[i].is || l->addr < address(v->first) || l->addr >= address(v->first + v->count))
            continue;
        failure.other_pc = freed[i].pc;
        failure.other_thread = freed[i].thread;
        failure.thread = l->me;
        fail(ERR_FREED, l->pc, l->addr, "%s of freed memory", l->write ? "store" : "load");
        return false;
    }
    return true;
}
void program_atomic(uintptr_t addr)
{
    (void)addr;
}
