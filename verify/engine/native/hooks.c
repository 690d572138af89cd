/* SPDX-License-Identifier: MIT */
/*
 * The calls that gcc -fsanitize=thread inserts into the program: one before each plain access, one instead of each
 * atomic operation. Atomic hooks fill in a request and end in step(), as a tail call, so that they leave no stack
 * frame.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Atomic operations: the caller is looked for when the thread has parked (run.c). */
#define PC ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* The stores have been executed: reads the values that they wrote. */
void late_values(struct thread *t)
{
    for (int i = 0; i < t->late; i++) {
        struct late *l = &t->late_store[i];
        l->value = read_memory(l->addr, l->size);
        if (l->relaxed) /* the event stores it again */
            memcpy((void *)l->addr, &l->old, (size_t)l->size); /* NOLINT */
    }
    t->late_next = 0;
}

struct request late_request(struct thread *t)
{
    const struct late *l = &t->late_store[t->late_next++];

    t->late--;
    return (struct request){.op = l->relaxed ? OP_STORE : OP_PLAIN, .order = RELAXED, .size = (uint8_t)l->size, .addr = l->addr,
                            .pc = t->late_pc, .hook = t->late_pc, .operand = l->value};
}

/* Turns late stores into events before the thread continues to its next plain access (run.c: hold). */
void flush_plain(void)
{
    if (!self->late)
        return;
    late_values(self);
    while (self->late) {
        self->req = late_request(self);
        step();
    }
}

static void add_late(struct late store, uint64_t pc)
{
    if (self->late == self->late_room) {
        self->late_room = self->late_room ? self->late_room * 2 : 16;
        self->late_store = realloc(self->late_store, (size_t)self->late_room * sizeof *self->late_store);
        if (!self->late_store)
            engine_bug("out of memory");
    }
    self->late_store[self->late++] = store;
    self->late_pc = pc;
}

/* While a thread runs speculatively, its stores are logged and no access is checked. */
static void guess_access(uintptr_t addr, size_t size, bool write)
{
    guess_touch(addr, size, write);
    if (!write || (addr >= (uintptr_t)self->stack_low && addr < (uintptr_t)self->stack_high))
        return;
    for (size_t i = 0; i < size; i++)
        if (shadow_owner(addr + i) >= 0)
            guess_stop(); /* the store would be an event */
    int before = self->stores;
    spin_log(self, addr, size);
    if (self->stores == before)
        guess_stop();
}

/* The last plain store of the running thread that may have stored the address of a thread-local variable, for others to see. */
static struct {
    uintptr_t at;
    uint64_t pc;
} pointer_store;

void forget_pointer_store(void)
{
    pointer_store.at = 0;
}

/* It has been executed. */
void check_pointer_store(void)
{
    uintptr_t at = pointer_store.at;

    pointer_store.at = 0;
    if (at && program_private((uintptr_t)read_memory(at, sizeof(uintptr_t))))
        fail(ERR_UNSUPPORTED, pointer_store.pc, at, "the address of a thread-local variable goes to other threads");
}

void plain(uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc)
{
    if (!self)
        return; /* a specification, which the engine calls */
    if (__builtin_expect(guessing, 0)) {
        guess_access(addr, size, write);
        return;
    }
    if (__builtin_expect(self->late, 0))
        flush_plain();
    if (__builtin_expect(pointer_store.at, 0))
        check_pointer_store();
    view_end(self);
    if (write && size == sizeof(uintptr_t) && run_has_locals() && !program_private(addr) && (addr < (uintptr_t)self->stack_low || addr >= (uintptr_t)self->stack_high)) {
        pointer_store.at = addr;
        pointer_store.pc = pc;
    }
    if (__builtin_expect(!shadow_plain(addr, size, write, copy, pc) || !write, 1))
        return;
    for (size_t i = 0; i < size; i++) {
        int loc = shadow_owner(addr + i);
        if (loc < 0)
            continue;
        add_late((struct late){.addr = G->place[loc].addr, .size = G->place[loc].size}, pc);
        i += G->place[loc].size - 1u - (addr + i - G->place[loc].addr);
    }
}

/* ---- volatile accesses as relaxed ones (--volatile relaxed); otherwise g++ and gcc insert the plain hooks ---- */

/* The program's own load comes right after its hook: until the thread's next hook memory holds what the event reads. */
void view_begin(struct thread *t, const struct request *q, word value)
{
    if (!q->in_place)
        return;
    t->view.addr = q->addr;
    t->view.size = q->size;
    word newest = read_memory(q->addr, q->size);
    memcpy(t->view.newest, &newest, sizeof newest);
    memcpy((void *)q->addr, &value, q->size); /* NOLINT */
}

void view_end(struct thread *t)
{
    if (__builtin_expect(t->view.size != 0, 0))
        memcpy((void *)t->view.addr, t->view.newest, (size_t)t->view.size); /* NOLINT */
    t->view.size = 0;
}

static void volatile_store(uintptr_t addr, int size, uint64_t pc)
{
    if (!self)
        return;
    if (guessing)
        guess_stop(); /* it becomes an event */
    flush_plain();
    view_end(self);
    add_late((struct late){.addr = addr, .size = size, .relaxed = true, .old = read_memory(addr, size)}, pc);
}

#pragma GCC visibility push(default)

#define VOLATILE(SIZE)                                                                                                 \
    void __tsan_volatile_read##SIZE(void *p)                                                                           \
    {                                                                                                                  \
        self->req = (struct request){.op = OP_LOAD, .size = SIZE, .order = RELAXED, .addr = (uintptr_t)p, .pc = PC,    \
                                     .in_place = true};                                                                \
        step();                                                                                                        \
    }                                                                                                                  \
    void __tsan_volatile_write##SIZE(void *p) { volatile_store((uintptr_t)p, SIZE, HOOK_PC); }

VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)

#define PLAIN(SIZE)                                                                                   \
    void __tsan_read##SIZE(void *p) { plain((uintptr_t)p, SIZE, false, false, HOOK_PC); }           \
    void __tsan_write##SIZE(void *p) { plain((uintptr_t)p, SIZE, true, false, HOOK_PC); }           \
    void __tsan_unaligned_read##SIZE(void *p) { plain((uintptr_t)p, SIZE, false, false, HOOK_PC); } \
    void __tsan_unaligned_write##SIZE(void *p) { plain((uintptr_t)p, SIZE, true, false, HOOK_PC); }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)

static inline void copies(const void *p, bool write)
{
    if (self && write)
        self->copy_to = (uintptr_t)p;
}

/* An access of sixteen bytes is usually a copy of a structure including its padding. */
#define PLAIN16(NAME, WRITE) void __tsan_##NAME##16(void *p) { copies(p, WRITE), plain((uintptr_t)p, 16, WRITE, true, HOOK_PC); }
PLAIN16(read, false)
PLAIN16(write, true)
PLAIN16(unaligned_read, false)
PLAIN16(unaligned_write, true)
PLAIN16(volatile_read, false)
PLAIN16(volatile_write, true)

void __tsan_read_range(void *p, size_t size)
{
    plain((uintptr_t)p, size, false, true, HOOK_PC);
}

void __tsan_write_range(void *p, size_t size)
{
    copies(p, true);
    plain((uintptr_t)p, size, true, true, HOOK_PC);
}

/*
 * The wrapper inserts these where a structure is assigned, instead of the second hook: undefined bytes stay undefined.
 * The store has not been executed yet, so it must not become an event here.
 */
void __tsan_copy_range(void *p, size_t size)
{
    if (!self || guessing)
        return;
    shadow_plain((uintptr_t)p, size, false, true, HOOK_PC);
    shadow_copy(self->copy_to, (uintptr_t)p, size);
}

void __tsan_copy16(void *p)
{
    if (!self || guessing)
        return;
    shadow_plain((uintptr_t)p, 16, false, true, HOOK_PC);
    shadow_copy(self->copy_to, (uintptr_t)p, 16);
}

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }

/* The caller is about to return: the lifetime of its locals, below the frame pointer that it has saved, ends. */
void __tsan_func_exit(void)
{
    uintptr_t frame = *(uintptr_t *)__builtin_frame_address(0);

    if (!self || guessing || self->atomic_low >= frame)
        return;
    flush_plain();
    shadow_return(frame);
}

static inline word ask(int op, uintptr_t addr, int size, word operand, int order, uint64_t pc)
{
    self->req = (struct request){.op = (uint8_t)op, .size = (uint8_t)size, .order = (uint8_t)order, .addr = addr,
                                 .operand = operand, .pc = pc};
    return step();
}

static inline void ask_exchange(uintptr_t addr, int size, word expected, void *out, word desired, int order, int fail_order,
                                bool weak, uint64_t pc)
{
    self->req = (struct request){.op = OP_CAS, .size = (uint8_t)size, .order = (uint8_t)order, .addr = addr,
                                 .fail_order = (uint8_t)fail_order, .weak = weak,
                                 .operand = desired, .expected = expected, .out = out, .pc = pc};
}

#define RMW(BITS, T, NAME, OP)                                                          \
    word __tsan_atomic##BITS##_##NAME(volatile void *p, T v, int order)          \
    {                                                                                   \
        return ask(OP, (uintptr_t)p, BITS / 8, v, order, PC);                           \
    }

#define EXCHANGE(BITS, T, NAME, WEAK)                                                                        \
    word __tsan_atomic##BITS##_compare_exchange_##NAME(volatile void *p, T *expected, T v, int order, \
                                                              int fail_order)                                \
    {                                                                                                        \
        plain((uintptr_t)expected, BITS / 8, false, false, HOOK_PC);                                            \
        ask_exchange((uintptr_t)p, BITS / 8, *expected, expected, v, order, fail_order, WEAK, PC);           \
        return step();                                                                                       \
    }

#define ATOMIC(BITS, T)                                                                                \
    word __tsan_atomic##BITS##_load(const volatile void *p, int order)                          \
    {                                                                                                  \
        return ask(OP_LOAD, (uintptr_t)p, BITS / 8, 0, order, PC);                                     \
    }                                                                                                  \
    word __tsan_atomic##BITS##_compare_exchange_val(volatile void *p, T expected, T v, int order, \
                                                           int fail_order)                             \
    {                                                                                                  \
        T out = expected;                                                                              \
        ask_exchange((uintptr_t)p, BITS / 8, expected, &out, v, order, fail_order, false, PC);         \
        self->req.by_value = true;                                                                     \
        return step();                                                                                 \
    }                                                                                                  \
    RMW(BITS, T, store, OP_STORE)                                                                      \
    RMW(BITS, T, exchange, OP_XCHG)                                                                    \
    RMW(BITS, T, fetch_add, OP_ADD)                                                                    \
    RMW(BITS, T, fetch_sub, OP_SUB)                                                                    \
    RMW(BITS, T, fetch_and, OP_AND)                                                                    \
    RMW(BITS, T, fetch_or, OP_OR)                                                                      \
    RMW(BITS, T, fetch_xor, OP_XOR)                                                                    \
    RMW(BITS, T, fetch_nand, OP_NAND)                                                                  \
    EXCHANGE(BITS, T, strong, false)                                                                   \
    EXCHANGE(BITS, T, weak, true)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, word)

void __tsan_atomic_thread_fence(int order)
{
    ask(OP_FENCE, 0, 0, 0, order, PC);
}

void __tsan_atomic_signal_fence(int order)
{
    if (options.genmc)
        ask(OP_FENCE, 0, 0, 0, order, PC);
}

#pragma GCC visibility pop
