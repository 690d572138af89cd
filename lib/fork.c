/* SPDX-License-Identifier: MIT */
#include <lade/fork.h>

#include "reader.h"
#include "reclaim.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic uint32_t generation;
static _Atomic uint32_t forks_counted; /* 1: yes */

/* The only place where locks are taken for fork(), so that their order is always the same. */
static void before_fork(void)
{
    lade_reclaim_before_fork();
    lade_readers_before_fork();
}

static void after_fork(void)
{
    lade_readers_after_fork();
    lade_reclaim_after_fork();
}

static void in_child(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed); /* the child has one thread */
    lade_readers_in_child();
    lade_reclaim_in_child();
    after_fork();
}

uint32_t lade_fork_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

bool lade_fork_is_counted(void)
{
    /*
     * No lock and no pthread_once(): a concurrent fork() could leave it held by a thread that the child does not have.
     */
    if (atomic_load_explicit(&forks_counted, memory_order_relaxed) ||
        atomic_exchange_explicit(&forks_counted, 1, memory_order_relaxed))
        return true;
    if (pthread_atfork(before_fork, after_fork, in_child) == 0)
        return true;
    atomic_store_explicit(&forks_counted, 0, memory_order_relaxed);
    return false;
}

/* While the library is being loaded, no thread can be inside one of its functions. */
__attribute__((constructor)) static void count_from_loading(void)
{
    (void)lade_fork_is_counted();
}
