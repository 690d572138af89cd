/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include "fork.h"

#include <pthread.h>
#include <stddef.h>
#include <urcu/urcu-memb.h>

#include <urcu/static/urcu-memb.h>

/* Held while a thread is inside liburcu's own registration as well, so that fork() finds liburcu's list whole. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lade_reader *first;

static void take_out(struct lade_reader *reader)
{
    if (reader->before)
        reader->before->next = reader->next;
    else
        first = reader->next;
    if (reader->next)
        reader->next->before = reader->before;
}

void lade_reader_register(struct lade_reader *reader)
{
    (void)lade_fork_is_counted(); /* whoever made the thread has seen to it */
    pthread_mutex_lock(&lock);
    urcu_memb_register_thread();
    reader->node = &URCU_TLS(urcu_memb_reader).node;
    reader->before = NULL;
    reader->next = first;
    if (first)
        first->before = reader;
    first = reader;
    pthread_mutex_unlock(&lock);
}

void lade_reader_unregister(struct lade_reader *reader)
{
    pthread_mutex_lock(&lock);
    take_out(reader);
    urcu_memb_unregister_thread();
    pthread_mutex_unlock(&lock);
}

void lade_readers_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void lade_readers_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The memory of the other threads is still there, since no thread was started yet. */
void lade_readers_in_child(void)
{
    const void *own = &URCU_TLS(urcu_memb_reader).node;

    for (struct lade_reader *reader = first, *next; reader; reader = next) {
        next = reader->next;
        if (reader->node != own) {
            cds_list_del(reader->node);
            take_out(reader);
        }
    }
}
