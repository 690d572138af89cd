/* SPDX-License-Identifier: MIT */
/*
 * Histories of concurrent operations, and whether they are linearizable (Herlihy, Wing 1990).
 *
 * Stamps. An operation is stamped before its call and after its return by history_now(), one read-modify-write of a
 * shared counter. This rules out false alarms. When operation A carries a smaller return stamp than the invocation
 * stamp of B, the read-modify-write after A is followed in the counter's order by the one before B, and so all of A
 * happens before B. A stamp from a plain clock guarantees less: the store that publishes A's word may still be in the
 * store buffer when the clock is read. B in another thread then correctly finds nothing, and a correct ring would be
 * reported. A read-modify-write (like a full fence) drains the buffer first; on x86 it is the locked instruction that
 * does. The cost: such stamps order the threads more than the operations alone do, which may hide memory orders that
 * are too weak. verify/ checks those.
 *
 * Search. Wing, Gong, "Testing and verifying concurrent objects" (1993): take some operation that no other one wholly
 * precedes, apply it to the sequential specification, continue with the rest, and backtrack where the result does not
 * fit. Lowe, "Testing for linearizability" (2017): never visit the same pair of done operations and state twice.
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
    int status;    /* its result */
    uint64_t word; /* its argument or returned word */
};

/*
 * A sequential object. State is plain bytes; equal states must have equal bytes. apply() does one operation and returns
 * whether the specification allows the result in op; if not, the state is discarded.
 */
struct history_spec {
    size_t state_size;
    void (*begin)(void *state, uint64_t parameter);
    bool (*apply)(void *state, const struct history_op *op);
    void (*print)(FILE *to, const struct history_op *op);
};

/* A bounded FIFO queue of words, initially empty. The parameter is its capacity. */
enum { HISTORY_PUSH, HISTORY_POP };
#define HISTORY_QUEUE_MAX 16
extern const struct history_spec history_queue;

/*
 * A bounded multiset of words below 2^32, initially empty. The parameter is its capacity. A draw returns any word.
 * Exchange puts one and takes another, EMPTY when there is none; it has a pair of words, the one put and the one taken.
 */
enum { HISTORY_PUT, HISTORY_DRAW, HISTORY_EXCHANGE };
#define HISTORY_PAIR(in, out) ((uint64_t)(in) << 32 | (out))
#define HISTORY_BAG_MAX 16
extern const struct history_spec history_bag;

/*
 * One key of a map: a value below 2^32, or none. The parameter is the initial value, 0 for none. The pair of words is
 * the argument and the returned value; an insert returns the value that the key has afterwards.
 */
enum { HISTORY_GET, HISTORY_INSERT, HISTORY_REPLACE, HISTORY_REMOVE };
extern const struct history_spec history_key;

enum history_verdict {
    HISTORY_LINEARIZABLE,
    HISTORY_NOT,     /* no order explains the results */
    HISTORY_GAVE_UP, /* HISTORY_LIMIT states were not enough to decide */
    HISTORY_INVALID, /* an operation that returns before it is invoked, or two of one thread that overlap */
};
#define HISTORY_LIMIT 2000000u

/*
 * Operations of one thread stand in op[] in the order in which they took place, and take effect in it; they may share
 * stamps, as the parts of a batch do. order, when not NULL, has space for count numbers: a witness. visited, when not
 * NULL, is set to the number of states visited.
 */
enum history_verdict history_check(const struct history_spec *spec, uint64_t parameter, const struct history_op *op,
                                   size_t count, size_t *order, size_t *visited);

/* Whether order is a witness. Independent of the search, in order to check it. */
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

/* Ends the operation or batch begun by history_invoke(); add its parts afterwards. Returns the stamp for them. */
static inline uint64_t history_return(struct history_log *log)
{
    return history_now(log->clock);
}

void history_add(struct history_log *log, uint64_t returned, int kind, int status, uint64_t word);

#endif
