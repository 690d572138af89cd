/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <lade/fork.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

#include <urcu/static/urcu-memb.h>

/* A thread that has entered; a node in the list of all such threads. */
struct entered_thread {
    struct entered_thread *next, *before;
    void *node;     /* in liburcu's list */
    unsigned depth; /* enters without a leave */
    bool is_listed; /* else the program itself had registered the thread */
};

static _Thread_local struct entered_thread this_thread;

/* Also held while a thread is inside liburcu's own registration, so that fork() finds liburcu's list consistent. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entered_thread *first_reader;

static void take_out(struct entered_thread *reader)
{
    if (reader->before)
        reader->before->next = reader->next;
    else
        first_reader = reader->next;
    if (reader->next)
        reader->next->before = reader->before;
}

static void register_self(void)
{
    pthread_mutex_lock(&lock);
    urcu_memb_register_thread();
    this_thread.node = &URCU_TLS(urcu_memb_reader).node;
    this_thread.before = NULL;
    this_thread.next = first_reader;
    if (first_reader)
        first_reader->before = &this_thread;
    first_reader = &this_thread;
    pthread_mutex_unlock(&lock);
}

static void unregister_self(void)
{
    pthread_mutex_lock(&lock);
    take_out(&this_thread);
    urcu_memb_unregister_thread();
    pthread_mutex_unlock(&lock);
}

int lade_thread_enter(void)
{
    if (!lade_fork_is_counted())
        return LADE_NO_MEMORY;
    if (this_thread.depth++ == 0) {
        this_thread.is_listed = !URCU_TLS(urcu_memb_reader).registered;
        if (this_thread.is_listed)
            register_self();
    }
    return LADE_OK;
}

void lade_thread_leave(void)
{
    if (this_thread.depth > 0 && --this_thread.depth == 0 && this_thread.is_listed)
        unregister_self();
}

#ifdef LADE_DIAGNOSE
void lade_thread_check(void)
{
    if (URCU_TLS(urcu_memb_reader).registered)
        return;
    (void)fputs("lade: a thread uses a table or an exact split without lade_thread_enter(), see lade/thread.h\n",
                stderr);
    abort();
}
#endif

void lade_readers_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void lade_readers_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The memory of the other threads is still valid, because no thread was started yet. */
void lade_readers_in_child(void)
{
    const void *own = &URCU_TLS(urcu_memb_reader).node;

    for (struct entered_thread *reader = first_reader, *next; reader; reader = next) {
        next = reader->next;
        if (reader->node != own) {
            cds_list_del(reader->node);
            take_out(reader);
        }
    }
}
