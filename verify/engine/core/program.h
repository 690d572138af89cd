/* SPDX-License-Identifier: MIT */
/*
 * What the core asks of the program's side, which is in a sibling folder. Included by engine.h.
 *
 * A thread of the program is parked at a request (struct request) that it has filled in: its next operation that other
 * threads can observe. The side reports plain accesses as they happen (shadow_plain), and errors by fail().
 */
#ifndef LADE_PROGRAM_H
#define LADE_PROGRAM_H

/* ---- running ---- */

enum stopped { STOPPED_NOT, STOPPED_ERROR, STOPPED_TIME };

void program_begin(void);                          /* before each run: memory as at the start */
enum stopped program_run(void (*work)(void));      /* calls it; an error or the time limit may end it early */
void program_start(struct thread *t);              /* parks a new thread at its start, with a clean state */
void program_resume(struct thread *t, word answer); /* runs it to its next request */
void program_ended(void);                          /* after a complete execution: leaks */
void program_failed(void);                         /* fail() was called; does not return in a thread of the program */
void program_check(const struct request *q);       /* fails an atomic access that is not modelled */

/* From where the function with the thread's request was called, from where that one was, and so on; then zeros. */
void program_callers(const struct thread *t, uint64_t out[CALLERS]);

/* ---- its state ---- */

uint64_t program_state(const struct thread *t);    /* hash of everything that determines what it will do */
void program_shoot(const struct thread *t, struct shot *s); /* keeps its state */

/*
 * Whether the thread would be in its current state, with the same memory, if its read at `from` had read this value.
 * Sets spin_end, and touch[].made of its accesses since its last event.
 */
bool program_same_with(struct thread *t, const struct shot *from, word value);
_Noreturn void guess_stop(void);                   /* the thread does what program_same_with cannot roll back */

/* ---- its memory ---- */

word read_memory(uintptr_t addr, int size);
void program_write(uintptr_t addr, word value, int size);
bool program_failed_exchange(struct thread *t, const struct event *e); /* stores what a failed compare-exchange has read */
bool program_private(uintptr_t addr);              /* no other thread can access it */
bool program_stale(uintptr_t addr);                /* memory with other content in each run, until it is stored to */
bool program_valid(const struct look *l, uintptr_t sp); /* false, and fails: out of bounds, freed */
void program_atomic(uintptr_t addr);               /* it is accessed atomically for the first time in this run */

/* ---- names ---- */

struct site {
    uint64_t pc;
    const char *file, *function;
    int line, column;
};

size_t symbol_sites(void);
struct site symbol_nth(size_t i);
struct site symbol_site(uint64_t pc);
const char *symbol_name(uintptr_t addr); /* this and the next two: overwritten by every fourth call */
const char *symbol_pointer(uintptr_t addr); /* a pointer with this value: n, &n[1], &flag */
const char *symbol_line(const char *file, int line);

/* ---- limits, saved executions, sharing work ---- */

bool stop_now(void);
double elapsed(void); /* seconds since the start */
_Noreturn void engine_bug(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool share_load(const char *path, struct graph *g);
bool share_hungry(void);
bool share_stopped(void);
bool share_give(const struct graph *g, const void *item, size_t size);
bool share_take(struct graph *g, void *item, size_t size);

#endif
