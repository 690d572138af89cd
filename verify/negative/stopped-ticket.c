/* harness
 * property: a thread stopped forever inside a push blocks no other thread (it does: the thread with the next ticket waits for its word)
 * engines: explore
 * threads: 2
 * bound: capacity 2; a push, a push and a pop; each thread stopped after each of its steps
 * flags explore: --stop-threads
 * expect: FAIL blocking
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

enum { SLOTS = 2 };
static struct {
    atomic_uint turn; /* 2k: waits for the push of round k; 2k + 1: for its pop */
    uint64_t word;
} slot[SLOTS];
static atomic_uint pushed, popped; /* tickets */

static void await(atomic_uint *turn, unsigned mine)
{
    while (atomic_load_explicit(turn, memory_order_acquire) != mine)
        continue;
}

static void push(uint64_t word)
{
    unsigned ticket = atomic_fetch_add_explicit(&pushed, 1, memory_order_relaxed);

    await(&slot[ticket % SLOTS].turn, ticket / SLOTS * 2);
    slot[ticket % SLOTS].word = word;
    atomic_store_explicit(&slot[ticket % SLOTS].turn, ticket / SLOTS * 2 + 1, memory_order_release);
}

static uint64_t pop(void)
{
    unsigned ticket = atomic_fetch_add_explicit(&popped, 1, memory_order_relaxed);

    await(&slot[ticket % SLOTS].turn, ticket / SLOTS * 2 + 1);
    uint64_t word = slot[ticket % SLOTS].word;
    atomic_store_explicit(&slot[ticket % SLOTS].turn, ticket / SLOTS * 2 + 2, memory_order_release);
    return word;
}

static void setup(void) {}

static void thread(int id)
{
    push((uint64_t)id + 1);
    if (id == 1)
        assert(pop() != 0);
}

static void finish(void) {}
