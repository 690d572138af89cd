/* SPDX-License-Identifier: MIT */
/*
 * What both tables of Concurrency Kit need: one writer at a time, any number of readers, which must be gone before old
 * arrays are freed. Readers are inside read sections of liburcu, writers take a mutex, arrays are freed by call_rcu.
 */
#ifndef LADE_BENCH_TABLE_CK_H
#define LADE_BENCH_TABLE_CK_H

#define _LGPL_SOURCE
#define URCU_INLINE_SMALL_FUNCTIONS
#include <ck_malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

#define CK_FIRST 64 /* entries at first */

/* In front of every array. */
union ck_head {
    struct rcu_head rcu;
    _Alignas(64) char line[64];
};

static void ck_release(struct rcu_head *rcu)
{
    free(rcu);
}

static void *ck_take(size_t size)
{
    union ck_head *head = aligned_alloc(64, (size + sizeof *head + 63) / 64 * 64);

    return head ? head + 1 : NULL;
}

static void ck_give(void *memory, size_t size, bool defer)
{
    union ck_head *head = (union ck_head *)memory - 1;

    (void)size;
    if (defer)
        urcu_memb_call_rcu(&head->rcu, ck_release);
    else
        free(head);
}

static struct ck_malloc ck_memory = {.malloc = ck_take, .free = ck_give};

#endif
