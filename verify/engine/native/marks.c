/* SPDX-License-Identifier: MIT */
/* The program marks its operations, for the check that they are linearizable (core/lin.c). */
#include "calls.h"

#pragma GCC visibility push(default)

void X(explore_spec)(size_t size, bool (*step_function)(void *, int, long, long)) { lin_specify(size, step_function, PC); }

/* A mark is an event, so that it is part of happens-before. */
static void mark(bool end, int op, long value, uint64_t pc)
{
    self->req = (struct request){.op = OP_MARK, .extra = end, .operand = (word)(unsigned long)value,
                                 .expected = (word)(unsigned)op, .pc = pc};
    step();
}

void X(explore_begin)(int op, long arg) { mark(false, op, arg, PC); }
void X(explore_end)(long result) { mark(true, 0, result, PC); }

#pragma GCC visibility pop
