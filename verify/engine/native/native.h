/* SPDX-License-Identifier: MIT */
/*
 * The native side: C programs, compiled with gcc's thread instrumentation and linked with this library.
 *
 *     run.c      the program's threads as coroutines, its memory restored before each run
 *     hooks.c    the calls that gcc -fsanitize=thread inserts into the program
 *     libc.c     threads, memory and output as the program sees them; sync.c locks and what else waits; marks.c operations
 *     lifetime.c what runs before and after main; cxx.c what C++ programs call; futex.c the system call
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
bool run_has_locals(void); /* the program has thread-local variables */
int run_child(int parent, int n);
void guess_touch(uintptr_t addr, size_t size, bool write);

/* ---- hooks.c ---- */

struct late {
    uintptr_t addr;
    int size;
    bool relaxed; /* a volatile store, which becomes a relaxed one */
    word value, old;
};

void flush_plain(void);
void check_pointer_store(void);
void forget_pointer_store(void);
void view_begin(struct thread *t, const struct request *q, word value);
void view_end(struct thread *t);
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
const void *shadow_queue(const void *word, uint64_t pc);
uintptr_t shadow_queued(uintptr_t queue);
int shadow_block_number(uintptr_t addr);
bool shadow_block_of(uintptr_t addr, uintptr_t *start, size_t *size, uint64_t *pc);

/* ---- state.c ---- */

void state_init(const void *from, const void *to);

/* ---- symbol.c ---- */

void symbol_init(const void *from, const void *to);
uintptr_t symbol_function(const char *name);
uint64_t symbol_caller_far(uint64_t pc, uintptr_t frame);
void symbol_callers(uint64_t pc, uintptr_t frame, uint64_t out[CALLERS]);

extern bool symbol_wrapped; /* the program has calls in standard C++ headers */

/* The call from the program's own code that led to this one; frame: of the function that makes the call. */
static inline uint64_t symbol_caller(uint64_t pc, uintptr_t frame)
{
    return __builtin_expect(symbol_wrapped, 0) ? symbol_caller_far(pc, frame) : pc;
}

/* Where the program called the function in which this stands. */
#define HOOK_PC symbol_caller((uint64_t)(uintptr_t)__builtin_return_address(0), *(const uintptr_t *)__builtin_frame_address(0))

/* ---- lifetime.c ---- */

void lifetime_init(const void *from, const void *to);
void lifetime_begin_run(void);
void lifetime_start(void);
void lifetime_thread_ends(void);
void lifetime_end(void);

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
