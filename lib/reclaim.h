/* SPDX-License-Identifier: MIT */
/*
 * Frees memory that readers may still reference after a grace period of liburcu, in the library's own thread. liburcu's
 * call_rcu is not used: it ends the process if there is no memory or no thread for its helper. Internal.
 */
#ifndef LADE_LIB_RECLAIM_H
#define LADE_LIB_RECLAIM_H

#include <pthread.h>
#include <stdbool.h>

struct lade_later {
    struct lade_later *next;
    void (*run)(struct lade_later *later);
};

/* Starts the thread unless it is running. LADE_OK, or LADE_NO_MEMORY if it cannot be started. */
int lade_reclaim_start(void);

/*
 * Calls run(later) after the end of every read section in progress. Lock-free once the thread is running; else tries to
 * start it.
 */
void lade_reclaim_later(struct lade_later *later, void (*run)(struct lade_later *later));

/*
 * Returns after all callbacks given to lade_reclaim_later() before this call have run, with or without a thread. Not
 * inside a read section.
 */
void lade_reclaim_barrier(void);

/* ---- between reclaim.c and reclaim_thread.c ---- */

/* Whether this process is a child that can free nothing. */
bool lade_reclaim_is_lost(void);

/* Notifies the thread that there is work. */
void lade_reclaim_wake(void);

/* A barrier, in a thread that is not registered with liburcu. */
void lade_reclaim_turn(void);
bool lade_reclaim_has_work(void);

/* For fork.c. In the child, in_child runs first, then after_fork. */
void lade_reclaim_before_fork(void);
void lade_reclaim_after_fork(void);
void lade_reclaim_in_child(void);

/*
 * Held by the thread that takes the list, waits for the readers and runs the callbacks in it; inside: this thread does
 * that.
 */
extern pthread_mutex_t lade_reclaim_mutex;
extern _Thread_local bool lade_reclaim_inside;

#endif
