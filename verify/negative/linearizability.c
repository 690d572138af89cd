/* harness
 * property: a queue that returns EMPTY while the push in front is incomplete is linearizable (it is not: the next push has completed)
 * engines: genmc/rc11
 * threads: 3
 * bound: two pushes, one pop
 * expect: FAIL linearizability
 * lin-spec: linearizability.c
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include <genmc.h>

static atomic_int slot[2], first, count;
#ifdef LIN_SPEC
static __VERIFIER_plock_t turn;

static void push(int word)
{
    __VERIFIER_plock_lock(&turn);
    int n = atomic_load_explicit(&count, memory_order_relaxed);
    atomic_store_explicit(&slot[n], word, memory_order_release);
    atomic_store_explicit(&count, n + 1, memory_order_relaxed);
    __VERIFIER_plock_unlock(&turn);
}

static int pop(void)
{
    int word = 0;

    __VERIFIER_plock_lock(&turn);
    int at = atomic_load_explicit(&first, memory_order_relaxed);
    if (at < atomic_load_explicit(&count, memory_order_relaxed)) {
        word = atomic_load_explicit(&slot[at], memory_order_acquire);
        atomic_store_explicit(&first, at + 1, memory_order_relaxed);
    }
    __VERIFIER_plock_unlock(&turn);
    return word;
}
#else
static void push(int word)
{
    int at = atomic_fetch_add_explicit(&count, 1, memory_order_acq_rel);
    atomic_store_explicit(&slot[at], word, memory_order_release);
}

static int pop(void)
{
    int word = atomic_load_explicit(&slot[0], memory_order_acquire);
    if (word)
        atomic_store_explicit(&first, 1, memory_order_relaxed);
    return word;
}
#endif

static void setup(void)
{
    __VERIFIER_method_begin("make", 0);
    atomic_store_explicit(&slot[0], 0, memory_order_relaxed);
    atomic_store_explicit(&slot[1], 0, memory_order_relaxed);
    __VERIFIER_method_end("make", 0);
}

static void thread(int id)
{
    if (id < 2) {
        __VERIFIER_method_begin("push", id + 1);
        push(id + 1);
        __VERIFIER_method_end("push", 0);
    } else {
        __VERIFIER_method_begin("pop", 0);
        int word = pop();
        __VERIFIER_method_end("pop", word);
    }
}

static void finish(void)
{
    __VERIFIER_method_begin("unmake", 0);
    __VERIFIER_method_end("unmake", 0);
}
