/* SPDX-License-Identifier: MIT */
/*
 * Memory that readers may still have in hand is given back after a grace period of liburcu, by a thread of ours: liburcu's
 * own way, call_rcu, ends the process when there is no memory or no thread for its helper. Internal.
 */
#ifndef LADE_LIB_RECLAIM_H
#define LADE_LIB_RECLAIM_H

#include <pthread.h>
#include <stdbool.h>

struct lade_later {
    struct lade_later *next;
    void (*run)(struct lade_later *later);
};

/* Makes sure that the thread is there: LADE_OK, or LADE_NO_MEMORY when there is none to be had. */
int lade_reclaim_start(void);

/* run(later) comes after every read section that is going on. Lock-free once the thread is there; else tries to start it. */
void lade_reclaim_later(struct lade_later *later, void (*run)(struct lade_later *later));

/*
 * What lade_reclaim_later() was given before this call has run when it returns, whether there is a thread or not. Not in a
 * read section.
 */
void lade_reclaim_barrier(void);

/* ---- between reclaim.c and reclaim_thread.c ---- */

/* This process is a child that can free nothing. */
bool lade_reclaim_is_lost(void);

/* Something is to be done. */
void lade_reclaim_wake(void);

/* A barrier, in a thread that is not registered with liburcu. */
void lade_reclaim_turn(void);
bool lade_reclaim_has_work(void);

/* For fork.c. In the child in_child comes first, then after_fork. */
void lade_reclaim_before_fork(void);
void lade_reclaim_after_fork(void);
void lade_reclaim_in_child(void);

/* Held by whoever takes the list, waits for the readers and runs what was in it; inside: this thread is at that. */
extern pthread_mutex_t lade_reclaim_mutex;
extern _Thread_local bool lade_reclaim_inside;

#endif
