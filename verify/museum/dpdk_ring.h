/* SPDX-License-Identifier: MIT */
/*
 * DPDK rte_ring (commit a4ad0eba9d, 2025; found with herd7). A consumer that observes a head moved by another one may
 * still observe a tail of the producer that is older than the one that the other consumer used, so that tail - head is
 * negative, a huge unsigned number.
 *
 * repair: acquire instead of relaxed, release instead of relaxed
 */
#define THREADS 3
#include "harness.h"

#ifdef BROKEN
#define LOAD_HEAD memory_order_relaxed
#define MOVE_HEAD memory_order_relaxed
#else
#define LOAD_HEAD memory_order_acquire
#define MOVE_HEAD memory_order_release
#endif

static _Atomic uint32_t producer_tail, consumer_head;

static void setup(void)
{
}

static void produce(void)
{
    atomic_store_explicit(&producer_tail, 1, memory_order_release); /* the entry itself is left out */
}

static void consume(void)
{
    uint32_t head = atomic_load_explicit(&consumer_head, LOAD_HEAD);
    const uint32_t entries = atomic_load_explicit(&producer_tail, memory_order_acquire) - head;

    assert(entries <= 1); /* the error */
    if (entries > 0)
        atomic_compare_exchange_strong_explicit(&consumer_head, &head, head + 1, MOVE_HEAD, memory_order_relaxed);
}

static void thread(int id)
{
    if (id == 0)
        produce();
    else
        consume();
}

static void finish(void)
{
}
