/* SPDX-License-Identifier: MIT */
/*
 * The native side: C programs, compiled with gcc's thread instrumentation and linked with this library.
 *
 *     run.c      the program's threads as coroutines, its memory restored before each run
 *     hooks.c    the calls that gcc -fsanitize=thread inserts into the program
 *     libc.c     threads, memory and output as the program sees them; sync.c locks and what else waits; marks.c operations
 *     shadow.c   stacks and heap blocks; state.c the state of a thread
 *     share.c    several processes on one exploration
 *     symbol.c   names of addresses
 *     main.c     options
 */
#ifndef LADE_NATIVE_H
#define LADE_NATIVE_H

#include "engine.h"

#include <sys/types.h>

#pragma GCC visibility push(hidden)

enum { STACK_SIZE = 1 << 20 };

/* ---- run.c ---- */

void run_init(int (*entry)(int, char **), uintptr_t data, uintptr_t end);
word step(void); /* called by a thread with self->req filled */
_Noreturn void thread_exit(void);
_Noreturn void run_abandon(void);
void run_hangs(bool expired);
uintptr_t run_main_locals(size_t *size);
int run_child(int parent, int n);
void guess_touch(uintptr_t addr, size_t size, bool write);

/* ---- hooks.c ---- */

struct late {
    uintptr_t addr;
    int size;
    word value;
};

void flush_plain(void);
void late_values(struct thread *t);
struct request late_request(struct thread *t);
void plain(uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc);

/* ---- libc.c ---- */

bool cover_add(const char *name);
void keys_end(void);

/* ---- shadow.c ---- */

void shadow_init(uintptr_t data, uintptr_t end);
void shadow_begin(void);
void shadow_return(uintptr_t frame);
bool shadow_on_stack(uintptr_t addr);
void *shadow_alloc(size_t size, size_t align, bool zero, uint64_t pc);
size_t shadow_usable(const void *p);
void shadow_free(void *p, uint64_t pc);
char *shadow_stack(int t);
int shadow_block_number(uintptr_t addr);
bool shadow_block_of(uintptr_t addr, uintptr_t *start, size_t *size, uint64_t *pc);

/* ---- state.c ---- */

void state_init(const void *from, const void *to);

/* ---- symbol.c ---- */

void symbol_init(const void *from, const void *to);
uintptr_t symbol_function(const char *name);

/* ---- share.c ---- */

void share_save(const char *path);
bool share_start(void);
bool share_finish(bool failed, int *code);

/* ---- main.c ---- */

void end_with_parent(pid_t parent); /* this process is killed when its parent ends */
#pragma GCC visibility push(default)
void lade_explore_failed(void);
#pragma GCC visibility pop

#pragma GCC visibility pop

#endif
