/* SPDX-License-Identifier: MIT */
/*
 * The core: it explores the executions of a program that it knows only through an interface (program.h).
 *
 *     graph.c    execution graphs: events in order of insertion, modification orders, vector clocks
 *     model.c    which graphs a memory model allows
 *     explore.c  the algorithm: each consistent graph of the program once
 *     replay.c   one run of the program against a graph
 *     race.c     plain accesses: races by clocks, initialisation
 *     spin.c     loops that only wait, and retries
 *     lost.c     accesses that are lost with an omitted iteration
 *     search.c   executions at random, for programs that are too large to exhaust
 *     lin.c      linearizability of marked operations
 *     check.c    errors, and the checks on a finished run
 *     trace.c    a counterexample as text; report.c as JSON, of which draw/ makes the picture
 *     weaken.c   orders changed at run time; outcome.c what executions print; weaker.c what a pass does not show
 *
 * Two programs' sides implement the interface: native/ runs C programs, and lab/ interprets a small language. Each has a
 * machine.h with what it keeps of a thread. The core needs a C compiler and libc's memory, string and print functions.
 */
#ifndef LADE_ENGINE_H
#define LADE_ENGINE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "machine.h"

/* Avoids clashes with names of the program: only what it calls is exported. */
#pragma GCC visibility push(hidden)

enum { MAX_THREADS = 32, INIT = -1, NONE = -2, LOOP = 8, LONG = 100, SHOTS = 12, STORED = 16, CALLERS = 3 };

__extension__ typedef unsigned __int128 word;

/* ---- graph.c ---- */

/* How many events of each thread come before (and include) this one, in some order. */
struct clock {
    int16_t n[MAX_THREADS];
};

enum kind { E_READ, E_WRITE, E_FENCE, E_CREATE, E_START, E_END, E_JOIN, E_MARK, E_CHOICE };

enum op {
    OP_LOAD, OP_STORE, OP_XCHG, OP_ADD, OP_SUB, OP_AND, OP_OR, OP_XOR, OP_NAND, OP_CAS,
    OP_ARRIVE,          /* at a barrier */
    OP_POST, OP_PEEK,   /* a semaphore */
    OP_RUNLOCK,         /* a read lock */
    OP_ENTER, OP_LEAVE, OP_SIGNAL, /* a condition variable or futex: begin to wait, do not wait after all; wake one thread, or with operand 0 all */
    OP_LOCK, OP_RLOCK, OP_TAKE, OP_ONCE, OP_AWAIT, OP_SLEEP, /* these wait (model_waits) */
    OP_TRYLOCK, OP_TRYRLOCK, OP_TRYTAKE, OP_UNLOCK, OP_PLAIN, /* a plain store to a location that is otherwise atomic */
    OP_FENCE, OP_CREATE, OP_START, OP_END, OP_JOIN, OP_MARK,
    OP_CHOOSE, /* a choice of the program */
    OP_AGAIN,  /* after an iteration that changed nothing: 0 stop here, 1 continue */
    OP_ASSUME, OP_EXIT /* these two never become events */
};

enum order { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

enum flag {
    F_RMW = 1,      /* half of a read-modify-write that succeeded (or of one that may: reads keep it only on success) */
    F_WEAK = 2,     /* compare-exchange that may fail spuriously; wait that may end for no reason, or time out */
    F_SPURIOUS = 4, /* and did */
    F_WAITS = 8     /* its thread is blocked here until there is something else to read */
};

struct event {
    uint8_t kind, op, thread, flags;
    uint8_t order, fail_order, size, weakened;
    int16_t index; /* position in its thread */
    int16_t loc;
    int16_t fence; /* index of the thread's last release fence up to here, or -1 */
    int16_t printed; /* how much the program had printed */
    int32_t rf;    /* stamp of what it reads: a write or INIT; a start reads its create, a join its end */
    int32_t pos;   /* writes: position in the modification order, from 1; the initial value has position 0 */
    int32_t prev;  /* the access to this location that was inserted before this one, or -1 */
    uint32_t effects; /* plain stores of the thread so far that are visible to others */
    uint32_t extra;   /* create, join: the other thread; mark: what; again: where the iteration begins (expected: its end);
                         waits: whether they may time out; the write of a signal: which of the waiting threads it wakes */
    uint32_t cells;   /* changes of the shadow by the thread before it, in the run that added it (shadow.c) */
    uint64_t pc;
    uintptr_t plain; /* address of the thread's plain accesses since its previous event: 0 none, 1 several */
    uint64_t state; /* hash of the thread's stack and registers on arrival */
    word value;     /* read or written */
    word operand, expected;
    struct clock porf, hb, rel;
};

struct place {
    uintptr_t addr;
    word init;
    int32_t last; /* newest access in order of insertion, or -1 */
    int32_t count, room;
    int32_t *mo; /* mo[0] is INIT */
    uint8_t size, fresh;
    uint16_t life; /* which one at this address: on a stack, locations of functions that have returned come before */
};

struct graph {
    struct event *event;
    int count, room;
    struct place *place;
    int places, place_room;
    struct {
        int32_t *at;
        int count, room;
    } thread[MAX_THREADS];
    int threads;
};

extern struct graph *G; /* the current graph */

void graph_reset(struct graph *g);
void graph_free(struct graph *g);
struct event *graph_add(struct graph *g, int thread);
void graph_cut(struct graph *g, int stamp);
void graph_keep(const struct graph *from, struct graph *to, const bool *keep, int32_t *map);
int graph_place(struct graph *g, uintptr_t addr, int life, int size, word init, bool *clash);
bool graph_has_place(struct graph *g, uintptr_t addr, int life);
void graph_link(struct graph *g, int stamp, int loc);
void graph_mo_insert(struct graph *g, int stamp, int pos);
void graph_mo_remove(struct graph *g, int stamp);
bool graph_porf_before(const struct graph *g, int a, int b);
bool graph_hb_before(const struct graph *g, int a, int b);
void clock_join(struct clock *a, const struct clock *b);

static inline struct event *ev(int stamp)
{
    return &G->event[stamp];
}

/* Position in modification order of the value that this event wrote or read. */
static inline int pos_of(const struct event *e)
{
    if (e->kind == E_WRITE)
        return e->pos;
    return e->rf == INIT ? 0 : G->event[e->rf].pos;
}

static inline bool in_clock(const struct clock *c, const struct event *e)
{
    return c->n[e->thread] > e->index;
}

/* ---- model.c ---- */

enum model { RC11, RA, SC, TSO };

bool order_acquires(int order);
bool order_releases(int order);
void model_read(int stamp);          /* value, success and clocks of a read whose rf is set */
void model_clocks(int stamp);        /* clocks of anything else */
int model_floor(int stamp);          /* lowest position in mo that coherence lets this access read or follow */
bool model_consistent(int stamp, int other); /* no cycle through these, given that there was none before */
bool model_rmw_taken(int loc, int pos); /* does a read-modify-write already follow this write? */
bool model_waits(const struct event *e, word value); /* whether it waits when it reads this value */
bool is_sc(const struct event *e);
int order_of(const struct event *e);

/* Locks and the like: only the engine uses the value, which starts at 0. */
static inline bool is_lock(int op)
{
    return op >= OP_ARRIVE && op <= OP_UNLOCK;
}

enum { ONCE_RUNS = 1, ONCE_DONE = 2 };

/* The value of a lock or the like that has been destroyed; locations of mutexes have one byte, all others four. */
static inline word destroyed(int size)
{
    return size == 1 ? UINT8_MAX : UINT32_MAX;
}

/* ---- replay.c ---- */

struct request {
    uint8_t op, size, order, fail_order;
    bool weak, by_value; /* by_value: the call returns what was read */
    bool in_place; /* the program loads what was read from memory itself: a volatile access */
    uint8_t weakened, own_order, own_fail_order; /* weakened: what the program asks for is in the other two */
    uintptr_t addr;
    word operand, expected;
    void *out;  /* where a failed compare-exchange stores the value that it read */
    uint64_t pc, hook; /* hook: where the hook was called, in a standard header perhaps; pc: where the program called that */
    uint32_t extra;
};

enum state { T_NONE, T_PARKED, T_BLOCKED, T_DONE };
enum why { WHY_NOTHING, WHY_ASSUME, WHY_EXIT, WHY_SPIN, WHY_LOCK, WHY_JOIN, WHY_STOPPED, WHY_BOUND };

/* Classification of the iteration that a thread has just completed (spin.c). */
enum skip {
    SKIP_NOT,
    SKIP_BARE, /* it waited, and made no access that the next iteration does not make too */
    SKIP_WAIT, /* it waited: state and memory are unchanged since it began */
    SKIP_RETRY /* state and memory are as if its first read had returned the value of its last one */
};

/*
 * A snapshot of a thread at a read, and of what plain stores have overwritten: to see what it would do with another
 * value.
 */
struct shot {
    struct machine_shot; /* of the program's side */
    int index;           /* of the event */
    struct request req;
    uint32_t effects;
    int stores, prints;
};

struct stored {
    uintptr_t addr;
    int size;
    word old;
};

struct touch {
    uintptr_t addr;
    uint32_t size;
    int16_t epoch;
    bool write;
    bool made; /* since the last event: the run without the retry makes it too (run_guess) */
};

struct thread {
    struct machine; /* of the program's side */
    int id;
    enum state state;
    enum why why;
    struct request req;
    int done;         /* events executed in this run */
    int spin_from;    /* a waiting loop: index of its first event */
    int spin_end;     /* accesses up to this index are lost when the iteration is omitted */
    struct {          /* a loop that was run to see whether it waits: what it read */
        int loc;
        word value;
    } awaits[LOOP];
    int awaited;      /* how many; 0 when the thread is not known to wait */
    bool stays;       /* its iteration is added to the graph although it waits */
    uint64_t hash;    /* of its state, when hashed */
    bool hashed;
    bool decided;     /* skip is known */
    enum skip skip;
    uint32_t effects;
    uintptr_t plain; /* as in an event */
    struct clock now; /* hb clock of its last executed event */
    struct change *change; /* of shadow cells by this thread, in this run (shadow.c) */
    uint32_t changes, change_room;
    int shots, stores; /* how many of those at the end */
    struct touch *touch; /* all plain accesses, since it last changed something */
    int touches, touch_room;
    char *stack_low, *stack_high; /* separate addresses, for locals; none where both are equal */
    void *result;
    int creator;
    bool detached, joined;
    int prints; /* how often it has printed */
    struct shot shot[SHOTS]; /* its latest reads, since it last changed something that is not in stored */
    struct stored stored[STORED]; /* plain stores to memory that others may access, since then */
};

extern struct thread thread[MAX_THREADS];
extern struct thread *self; /* the thread whose code runs, NULL inside the engine */
extern bool guessing;       /* it runs speculatively and is rolled back (program_same_with) */
extern bool main_returned;  /* set by the program's side */

enum outcome { RUN_COMPLETE, RUN_BLOCKED, RUN_PRUNED, RUN_ERROR };

enum outcome run_once(void);
bool run_over(const struct thread *t);
bool run_stuck(const struct thread *t);
int run_threads(void);

/* ---- explore.c ---- */

enum cut { CUT_EVENTS = 1, CUT_EXECUTIONS = 2, CUT_TIME = 4, CUT_UNROLL = 8, CUT_POLL = 16 };

enum { COVER_NAMES = 64, COVER_LENGTH = 48 };

struct statistics {
    uint64_t executions, blocked, runs, steps;
    uint64_t again; /* complete or blocked, after an iteration that changed nothing and was followed by others */
    int longest, frames;
    int most_events[MAX_THREADS]; /* of each thread */
    int stops;                    /* points where a thread was stopped */
    double share; /* explored part of the tree */
    int cut;      /* which bounds were reached, as bits of enum cut */
    uint64_t weakened; /* which rules of --weaken changed a call, as bits */
    bool assumed; /* an assume failed */
    bool polls;   /* an iteration with a lock and its unlock was omitted */
    bool tries;   /* a try-lock, or a lock that may time out, was added */
    uint64_t called; /* which functions of --allow, as bits */
    bool clock;   /* the program has read the clock, which stands still */
    bool consume; /* a load has order consume, which is taken as acquire */
    bool ranges;  /* the program used a nondeterministic integer */
    uint64_t unrolled; /* call site of a loop that --unroll has truncated */
    char covered[COVER_NAMES][COVER_LENGTH]; /* names that explore_cover reached, then an empty one */
};

extern struct statistics statistics;
extern volatile bool time_is_up;

bool explore_add(int t); /* adds the pending event of thread t; false when no option is consistent */
void explore_again(int t);
const struct event *explore_went_on(void);
void explore_undo(int stamp); /* removes this event and those after it, which were added in this run */
bool explore_waits(const struct thread *t);
void explore_empty(void);
void explore_all(bool begins);
void explore_replay(void);
void finish_run(enum outcome o); /* check.c */

/* ---- race.c ---- */

/* A plain or atomic access that is checked. */
struct look {
    uintptr_t addr;
    size_t size;
    const struct clock *now;
    int me, epoch;
    bool write, atomic;
    uint64_t pc;
};

extern bool race_freeing; /* the current plain store is a free */

void race_region(uintptr_t low, uintptr_t high, uintptr_t defined_below, bool checked, void *(*reserve)(size_t size));
void race_begin(void);
void race_found(const struct look *l, uintptr_t at, int t, int epoch, bool other_write, bool other_atomic);
bool race_any_atomic(uintptr_t addr, size_t size);
void race_disown(uintptr_t addr, size_t size);
void race_forget(uintptr_t addr, size_t size); /* the running thread gets this memory again, without a defined value */
bool shadow_plain(uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc);
bool shadow_plain_of(struct thread *t, uintptr_t addr, size_t size, bool write, bool copy, uint64_t pc, uintptr_t sp);
void shadow_atomic(int me, const struct event *e, uintptr_t addr, int size, bool write);
bool shadow_quiet(const struct event *e);
int shadow_owner(uintptr_t addr);
bool shadow_own(uintptr_t addr, int size, int loc);
bool shadow_tracks(uintptr_t addr);
bool shadow_defined(uintptr_t addr, int size);
void shadow_define(uintptr_t addr, int size);
void shadow_copy(uintptr_t to, uintptr_t from, size_t size);
void shadow_undo(struct thread *t, uint32_t since);

struct access {
    uintptr_t addr;
    uint32_t size;
    uint8_t thread;
    bool write, freeing, stored; /* stored: `value` is known */
    int epoch;
    uint64_t pc, value;
};

extern bool shadow_logging;
extern struct access *shadow_log;
extern int shadow_logged;
void shadow_log_value(void); /* the last logged access has been executed: keeps what it has stored, but for locals */

/* ---- spin.c ---- */

uint64_t spin_state(struct thread *t);
void spin_log(struct thread *t, uintptr_t addr, size_t size);
void spin_shoot(struct thread *t);
enum skip spin_skips(struct thread *t);
bool spin_rewind(struct thread *t, int since);
bool spin_waits(const struct thread *t);
bool spin_sleeps(struct thread *t);
bool spin_hopeless(const struct thread *t);
void spin_learn(const struct thread *t);
void spin_forget(void);
bool spin_known(uint64_t state, word value);
bool spin_stuck(const struct thread *t, bool whatever);

/* ---- lost.c ---- */

extern bool lost_keeps; /* iterations that change nothing may be followed by others, at a cost */
extern bool lost_alarm; /* an access that was lost could race: the exploration must start again and keep them */
void lost_begin(void);
void lost_iteration(const struct thread *t, int first, int end);
void lost_access(const struct event *e, uintptr_t addr, size_t size, bool write, bool atomic);
void lost_end(void);
void lost_stack(int t, bool shared);

/* ---- search.c ---- */

struct found { /* what --search has seen */
    uint64_t runs, distinct, once; /* once: executions seen in one run only */
    uint64_t failing;              /* number of the run that failed */
};

extern struct found found;
void search_all(void);
void search_smaller(void (*diagnose)(void));
int search_picks(const struct event *e, int count, bool values);
bool search_goes(struct thread *t);
struct thread *search_next(bool (*enabled)(struct thread *t));

/* ---- check.c ---- */

enum error {
    ERR_NONE, ERR_ASSERT, ERR_RACE, ERR_UNINIT, ERR_FREED, ERR_DOUBLE_FREE, ERR_BAD_FREE, ERR_BOUNDS, ERR_LEAK,
    ERR_ALLOCATION, ERR_MUTEX, ERR_DEADLOCK, ERR_LIVELOCK, ERR_BLOCKING, ERR_CRASH, ERR_THREAD, ERR_LIN, ERR_SHOWN, ERR_UNSUPPORTED, ERR_DIVERGED,
    ERR_KINDS
};

struct failure {
    enum error kind;
    int thread;
    uint64_t pc;       /* of the access or call that failed */
    uint64_t other_pc; /* its partner, where there is one */
    int other_thread, other_epoch;
    bool other_write, write;
    bool other_atomic, atomic;
    bool freeing; /* the access was a free */
    bool hangs;   /* the thread did not return: it must not run again */
    uintptr_t addr;
    int size;
    char text[400];
};

extern struct failure failure;

void fail(enum error kind, uint64_t pc, uintptr_t addr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *error_name(enum error kind);

struct options {
    enum model model;
    bool outcomes, search, stop_threads, genmc, leaks, all_leaks, liveness, races, spurious, spin, replaying, quiet, check_asm, uninit, reuse;
    int jobs;
    int bound;          /* most events of one thread */
    int unroll;         /* most events of one call site in one thread, or 0 */
    long low, high;     /* values of a nondeterministic integer */
    double timeout;
    double seconds;     /* of --search */
    uint64_t seed;
    uint64_t most;      /* executions; of --search: runs */
    const char *json[4], *save, *replay, *entry, *show;
    int jsons;
    int stop_thread, stop_at;
};

extern struct options options;

/* ---- outcome.c ---- */

void outcome_begin(void);
void outcome_forget(void);
int outcome_length(void);
void outcome_cut(int length);
void outcome_text(const char *format, va_list list);
void outcome_end(void);
void outcome_count(const char *line, uint64_t count);
void outcome_each(void (*report)(FILE *out, const char *line, uint64_t count), FILE *out);
void outcome_print(FILE *out);

/* ---- weaken.c ---- */

bool weaken_parse(const char *text, bool optional);
void weaken_request(struct thread *t);
extern int weaken_count;
bool weaken_resolve(void);
bool weaken_used(void);

/* ---- weaker.c ---- */

void weaker_init(const void *from, const void *to);
void weaker_each(void (*report)(FILE *out, const char *reason), FILE *out);
bool weaker(void);
void weaker_calls(void);

/* ---- trace.c and friends ---- */

void trace_print(FILE *out);
const char *trace_event(const struct event *e);
const char *trace_value(word v); /* overwritten by every eighth call */
void trace_sentence(char *out, size_t room);
int *trace_order(int *count);
int trace_switches(void);
void report_write(const char *path, const char *verdict, double seconds);
void trace_partner(void);
bool trace_hidden(const struct event *e);

/* What failed: the plain access of a race, or the kind of error. */
const char *trace_failure(void);
/* What it conflicts with if that is no event: the other plain access of a race, a free, an allocation; or NULL. */
const char *trace_other(void);
/* Whether the other access of a race is shown right before this event of its thread. */
bool trace_other_precedes(const struct event *e);
const char *order_name(int order);

/* Atomic call sites that were executed, with their orders; one for each chain of callers. */
struct used_site {
    uint64_t pc, callers[CALLERS];
    uint8_t op, order, fail_order, weakened, own_order, own_fail_order;
    bool several; /* the program asked for other orders, too */
};

extern struct used_site *used_sites;
extern int used_site_count;
void explore_note_site(const struct thread *t);

/* ---- lin.c ---- */

void lin_begin_run(void);
void lin_specify(size_t size, bool (*step_function)(void *, int, long, long), uint64_t pc);
bool lin_active(void);
void lin_check(void);

#include "program.h"

#pragma GCC visibility pop

#endif
