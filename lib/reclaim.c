/* SPDX-License-Identifier: MIT */
#include "reclaim.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <urcu/urcu-memb.h>

static _Atomic(struct lade_later *) waiting; /* no thread takes a single node, so the list needs no tags */

/* Held by the thread that takes the list, waits for the readers and runs the callbacks in it. */
pthread_mutex_t lade_reclaim_mutex = PTHREAD_MUTEX_INITIALIZER;
_Thread_local bool lade_reclaim_inside;
static struct lade_later *to_run;

void lade_reclaim_later(struct lade_later *later, void (*run)(struct lade_later *later))
{
    struct lade_later *first = atomic_load_explicit(&waiting, memory_order_relaxed);

    later->run = run;
    do
        later->next = first;
    while (!atomic_compare_exchange_strong_explicit(&waiting, &first, later, memory_order_release,
                                                    memory_order_relaxed)); /* [reclaim.later] -> [reclaim.take] */
    lade_reclaim_wake();
}

bool lade_reclaim_has_work(void)
{
    return atomic_load_explicit(&waiting, memory_order_relaxed);
}

static void run_all(void)
{
    while (to_run) {
        struct lade_later *later = to_run;
        to_run = later->next;
        later->run(later);
    }
}

/* A callback may enter this function again, for example because it destroys a table: then it runs the rest first. */
static void take_turn(void)
{
    run_all();
    to_run = atomic_exchange_explicit(
        &waiting, NULL,
        memory_order_acquire); /* [reclaim.take] -> [reclaim.later] keep: liburcu has a fence, which it does not promise */
    if (to_run)
        urcu_memb_synchronize_rcu();
    run_all();
}

void lade_reclaim_barrier(void)
{
    if (lade_reclaim_is_lost())
        return;
    if (lade_reclaim_inside) {
        take_turn();
        return;
    }
    pthread_mutex_lock(&lade_reclaim_mutex);
    lade_reclaim_inside = true;
    take_turn();
    lade_reclaim_inside = false;
    pthread_mutex_unlock(&lade_reclaim_mutex);
}

/*
 * A callback may have read sections. But this thread must not be registered with liburcu during a fork(): the child's
 * memory for a new thread may be the same, and would then be twice in liburcu's list.
 */
void lade_reclaim_turn(void)
{
    pthread_mutex_lock(&lade_reclaim_mutex);
    lade_reclaim_inside = true;
    urcu_memb_register_thread();
    take_turn();
    urcu_memb_unregister_thread();
    lade_reclaim_inside = false;
    pthread_mutex_unlock(&lade_reclaim_mutex);
}
