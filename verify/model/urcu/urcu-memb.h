/* SPDX-License-Identifier: MIT */
/*
 * A model of liburcu's memb flavour for the checkers. It stands in for the real header, whose code (assembly, system
 * calls) they cannot run, and gives what liburcu's documentation promises and no more:
 *
 *   for a read section R and a grace period G, either what precedes G happens before R, or R happens before what
 *   follows G.
 *
 * Each reader has a word that it changes when it enters and leaves, and that a grace period looks at by a read-modify-write.
 * In the order of these, an entry comes after the look, and then has what precedes G; or before, and then G goes on only
 * in executions in which the section has ended before the look, and has what the reader did. (A G that waits is one that
 * looks later.) There is no fence on the reader's side, since liburcu promises none: read sections order nothing among
 * readers, nor what a reader does around them. Waiting is an assumption, so an execution whose grace period cannot end is
 * blocked, not an error.
 *
 * A thread of the harness is a reader by its id; setup() and finish() have a place of their own.
 */
#ifndef LADE_MODEL_URCU_MEMB_H
#define LADE_MODEL_URCU_MEMB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static _Atomic uint64_t urcu_model_reader[THREADS + 1]; /* 0: outside */
static _Thread_local int urcu_model_nesting;

static inline void urcu_memb_register_thread(void)
{
}

static inline void urcu_memb_unregister_thread(void)
{
}

static inline void urcu_memb_read_lock(void)
{
    if (urcu_model_nesting++ == 0)
        atomic_fetch_add_explicit(&urcu_model_reader[harness_id + 1], 1, memory_order_acquire);
}

static inline void urcu_memb_read_unlock(void)
{
    if (--urcu_model_nesting == 0)
        atomic_store_explicit(&urcu_model_reader[harness_id + 1], 0, memory_order_release);
}

static inline int urcu_memb_read_ongoing(void)
{
    return urcu_model_nesting;
}

static inline void urcu_memb_synchronize_rcu(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i <= THREADS; i++) {
        uint64_t inside = atomic_fetch_add_explicit(&urcu_model_reader[i], 0, memory_order_release);
        assume(inside == 0);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

#endif
