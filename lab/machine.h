/* SPDX-License-Identifier: MIT */
/* What the lab keeps of a thread: its place and its registers. They are its whole state. */
#ifndef LADE_MACHINE_H
#define LADE_MACHINE_H

#include <stdint.h>

enum { REGISTERS = 16, DEPTH = 24 };

struct machine {
    void *sp; /* unused: no thread has a stack in memory */
    int pc, depth;
    int32_t reg[REGISTERS], stack[DEPTH];
};

struct machine_shot {
    struct machine saved;
};

#endif
