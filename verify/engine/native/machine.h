/* SPDX-License-Identifier: MIT */
/* What the native side keeps of a thread, and of its state at a read. */
#ifndef LADE_MACHINE_H
#define LADE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPECIFICS = 16 };

struct late;

struct machine {
    void *sp;          /* first: the assembly of the switch relies on it */
    char *deepest;
    uintptr_t atomic_low; /* its lowest atomic location on the stack */
    char *top;         /* where the program's own part of the stack ends while the thread is parked */
    uintptr_t copy_to; /* of the current structure assignment */
    struct late *late_store; /* plain stores to atomic locations that have not become events yet */
    int late_room;
    int late, late_next; /* how many are left, and which comes next */
    bool holds;          /* the engine turns them into events, and then continues with another request (run.c) */
    uint64_t late_pc;
    struct {             /* memory that holds what the thread's volatile load reads, and not the newest value */
        uintptr_t addr;
        int size;
        unsigned char newest[16];
    } view;
    void *(*start)(void *);
    int (*start11)(void *);
    void *arg;
    int spawned;
    int error; /* its errno */
    int keys_created, specifics;
    struct specific { /* values for keys of thread-specific data */
        unsigned key;
        void *value;
    } specific[SPECIFICS];
};

struct machine_shot {
    void *sp;
    char *stack;
    size_t room;
    int error;
};

#endif
