/* SPDX-License-Identifier: MIT */
/*
 * Histories of concurrent operations, and whether they are linearizable (Herlihy, Wing 1990).
 *
 * Stamps. An operation is stamped before its call and after its return by history_now(), one read-modify-write of a
 * shared counter. That makes the checker free of false alarms. When operation A carries a smaller return stamp than the
 * invocation stamp of B, the read-modify-write after A is followed in the counter's order by the one before B, and so
 * all of A happens before B. A stamp from a plain clock says less: the store that publishes A's word may still lie in
 * the store buffer when the clock is read, B in another thread then truly finds nothing, and a correct ring stands
 * accused. A read-modify-write (like a full fence) drains the buffer first; on x86 it is the locked instruction that
 * does. The price: such stamps order the threads more than the operations alone do, so orders that are too weak may be
 * hidden. They are the business of verify/.
 *
 * Search. Wing, Gong, "Testing and verifying concurrent objects" (1993): take some operation that no other one wholly
 * precedes, apply it to the sequential specification, go on with the rest, go back where the answer does not fit. Lowe,
 * "Testing for linearizability" (2017): never visit the same pair of done operations and state twice.
 *
 * All operations of a history must have returned.
 */
#ifndef LADE_STRESS_HISTORY_H
#define LADE_STRESS_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct history_op {
    uint64_t invoked, returned; /* stamps */
    unsigned thread;
    int kind;      /* which operation: the specification's own numbers */
    int status;    /* what it answered */
    uint64_t word; /* what it was given, or gave */
};

/*
 * A sequential object. State is plain bytes; equal states must have equal bytes. apply() does one operation and says
 * whether it would have answered what op says; if not, the state does not matter any more.
 */
struct history_spec {
    size_t state_size;
    void (*begin)(void *state, uint64_t parameter);
    bool (*apply)(void *state, const struct history_op *op);
    void (*print)(FILE *to, const struct history_op *op);
};

/* The bounded first-in first-out queue of words, empty at the beginning. The parameter is its capacity. */
enum { HISTORY_PUSH, HISTORY_POP };
#define HISTORY_QUEUE_MAX 16
extern const struct history_spec history_queue;

/*
 * The multiset of at most so many words below 2^32, empty at the beginning. A draw gives any word. Exchange puts one and
 * takes another, EMPTY when there is none; it has a pair of words, what went in and what came out.
 */
enum { HISTORY_PUT, HISTORY_DRAW, HISTORY_EXCHANGE };
#define HISTORY_PAIR(in, out) ((uint64_t)(in) << 32 | (out))
#define HISTORY_BAG_MAX 16
extern const struct history_spec history_bag;

/*
 * One key of a map: a value below 2^32, or none. The parameter is the value at the beginning, 0 for none. The pair of words
 * is the value that was given and the one that was answered; an insert answers the value that the key has afterwards.
 */
enum { HISTORY_GET, HISTORY_INSERT, HISTORY_REPLACE, HISTORY_REMOVE };
extern const struct history_spec history_key;

enum history_verdict {
    HISTORY_LINEARIZABLE,
    HISTORY_NOT,     /* no order explains the answers */
    HISTORY_GAVE_UP, /* HISTORY_LIMIT states were not enough to tell */
    HISTORY_INVALID, /* an operation that returns before it is invoked, or two of one thread that do not follow */
};
#define HISTORY_LIMIT 2000000u

/*
 * Operations of one thread stand in op[] in the order in which they took place, and take effect in it; they may share
 * stamps, as the parts of a batch do. order, when not NULL, has room for count numbers: a witness. visited, when not
 * NULL, is set to the number of states looked at.
 */
enum history_verdict history_check(const struct history_spec *spec, uint64_t parameter, const struct history_op *op,
                                   size_t count, size_t *order, size_t *visited);

/* Is order a witness? Written without the search's means, to check it. */
bool history_replay(const struct history_spec *spec, uint64_t parameter, const struct history_op *op, size_t count,
                    const size_t *order);

/* Whether operations of two threads took place at the same time. */
bool history_overlaps(const struct history_op *op, size_t count);

void history_print(FILE *to, const struct history_spec *spec, const struct history_op *op, size_t count);

/* One thread's part of a history while it is recorded. */
#define HISTORY_LOG_MAX 64
struct history_log {
    _Alignas(128) _Atomic uint64_t *clock;
    unsigned thread;
    size_t count;
    uint64_t invoked;
    struct history_op op[HISTORY_LOG_MAX];
};

static inline uint64_t history_now(_Atomic uint64_t *clock)
{
    return atomic_fetch_add_explicit(clock, 1, memory_order_seq_cst);
}

static inline void history_invoke(struct history_log *log)
{
    log->invoked = history_now(log->clock);
}

/* The operation or batch begun by history_invoke() is over; add its parts then. The stamp to give to them. */
static inline uint64_t history_return(struct history_log *log)
{
    return history_now(log->clock);
}

void history_add(struct history_log *log, uint64_t returned, int kind, int status, uint64_t word);

#endif
