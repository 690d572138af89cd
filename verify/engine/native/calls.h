/* SPDX-License-Identifier: MIT */
/* For the files that provide library functions: the wrapper renames the program's calls, malloc to lade_x_malloc. */
#ifndef LADE_CALLS_H
#define LADE_CALLS_H

#include "native.h"

#define X(NAME) lade_x_##NAME
/* Address of the call; also records where the program's own part of the stack ends. */
#define PC (self->top = (char *)__builtin_frame_address(0) + 16, HOOK_PC)

#pragma GCC visibility push(hidden)

/* libc.c, sync.c: the same for C++, which calls by other names. */
int thread_spawn(unsigned long *handle, void *(*start)(void *), int (*start11)(void *), void *arg, uint64_t pc);
void *thread_join(unsigned long handle, uint64_t pc);
void thread_detach(unsigned long handle, uint64_t pc);
void cond_wait(void *c, void *m, uint64_t pc);
void cond_wake(void *c, bool all, uint64_t pc);
void cond_destroy(void *c, uint64_t pc);

#pragma GCC visibility pop

/* The running thread makes this request and returns with its result. */
static inline word ask(int op, const void *addr, int size, word operand, int order, uint32_t extra, uint64_t pc)
{
    self->req = (struct request){.op = (uint8_t)op, .size = (uint8_t)size, .order = (uint8_t)order, .extra = extra,
                                 .addr = (uintptr_t)addr, .operand = operand, .pc = pc};
    return step();
}

/* One of 0 to n - 1: every value is tried. */
static inline long choose(long n, uint64_t pc)
{
    if (n < 1)
        fail(ERR_UNSUPPORTED, pc, 0, "a choice among %ld values", n);
    return n == 1 ? 0 : (long)ask(OP_CHOOSE, NULL, 0, (word)n, RELAXED, 0, pc);
}

#endif
