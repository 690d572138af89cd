/* SPDX-License-Identifier: MIT */
/*
 * moodycamel's readerwriterqueue (issue 171, pull request 172, 2026; a crash of size_approx on AArch64). A new block
 * is linked into the chain of blocks before the release fence instead of after it, so a reader follows a link that is
 * not yet written.
 *
 * repair: release instead of relaxed
 */
#define THREADS 2
#include "harness.h"

struct block {
    _Atomic(struct block *) next;
};
static struct block first, added;

static void setup(void)
{
    atomic_store_explicit(&first.next, &first, memory_order_relaxed);
}

static void enqueue(void)
{
    atomic_store_explicit(&added.next, &first, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&first.next, &added, memory_order_relaxed);
#ifdef BROKEN
    atomic_thread_fence(memory_order_release); /* before the store to the tail, which is left out */
#endif
}

static void size_approx(void)
{
    const struct block *b = &first;

    do {
        b = atomic_load_explicit(&b->next, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        assert(b != NULL); /* the error */
    } while (b != &first);
}

static void thread(int id)
{
    if (id == 0)
        enqueue();
    else
        size_approx();
}

static void finish(void)
{
}
