/* harness
 * property: a ring that returns EMPTY when the slot in front is not filled yet is linearizable (it is not: the next push has completed)
 * engines: explore
 * threads: 2
 * bound: capacity 2; two pushes, one of them followed by a pop
 * expect: FAIL linearizability
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define CAPACITY 2
#include "harness.h"

#include "../ring/lin.h"

static atomic_long slot[CAPACITY];
static atomic_int tail, head;

/* Reserves a slot, then fills it: in between, the ring has a hole. */
static bool push(int id, uint64_t word)
{
    (void)id;
    int at = atomic_fetch_add_explicit(&tail, 1, memory_order_relaxed);
    atomic_store_explicit(&slot[at], (long)word, memory_order_release);
    return true;
}

/* Checks only the slot in front. */
static uint64_t pop(int id)
{
    (void)id;
    int at = atomic_load_explicit(&head, memory_order_relaxed);
    long word = atomic_load_explicit(&slot[at], memory_order_acquire);
    if (word)
        atomic_store_explicit(&head, at + 1, memory_order_relaxed);
    return (uint64_t)word;
}

static void setup(void)
{
    lin_setup();
}

static void thread(int id)
{
    lin_push(id, (uint64_t)id + 1);
    if (id == 1)
        lin_pop(id);
}

static void finish(void) {}
