/* SPDX-License-Identifier: MIT */
/*
 * Candidate: cds_lfq of liburcu: lock-free, operations inside read sections (memb flavour), nodes reused after a grace
 * period. Nodes as in urcu_wfcq.c, except that a consumer gives back LIMBO of them at a time, after one grace period for
 * all, or what it has when it has waited long; each producer has 4 * LIMBO nodes more, so that it seldom waits for that.
 * The capacity is still that of the others: node i is pushed when node i - capacity was popped.
 */
#define _LGPL_SOURCE
#define URCU_INLINE_SMALL_FUNCTIONS
#include "queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>
#include <urcu/rculfqueue.h>

#define NAME_SHARED 1

/* Nodes lie close together, or each on a separate line: which is faster depends on the case, so both are measured. */
#ifdef NODES_APART
#define NODE_ALIGN _Alignas(64)
#else
#define NODE_ALIGN
#endif
#define LIMBO 4096
#define PATIENCE 1024 /* failed tries before nodes are given back early */

enum { FREE, QUEUED, POPPED };

struct node {
    NODE_ALIGN struct cds_lfq_node_rcu link;
    uint64_t word;
    _Atomic uint64_t state;
};

struct queue {
    _Alignas(128) struct cds_lfq_queue_rcu list;
    _Alignas(128) struct node *node;
    uint64_t share, room; /* of a producer */
};

struct seat {
    struct queue *queue;
    struct node *node;
    uint64_t next, behind, share;
    struct node **limbo;
    size_t waiting;
    unsigned misses;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    size_t size;

    q->room = plan->capacity / plan->producers;
    q->share = q->room + 4 * LIMBO;
    size = (size_t)q->share * plan->producers * sizeof *q->node;
    q->node = aligned_alloc(128, (size + 127) / 128 * 128);
    if (!q->node)
        return false;
    for (uint64_t i = 0; i < q->share * plan->producers; i++) {
        cds_lfq_node_init_rcu(&q->node[i].link);
        q->node[i].word = 0;
        atomic_init(&q->node[i].state, FREE);
    }
    cds_lfq_init_rcu(&q->list, urcu_memb_call_rcu);
    return true;
}

static void queue_close(struct queue *q)
{
    cds_lfq_destroy_rcu(&q->list);
    free(q->node);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    urcu_memb_register_thread();
    seat->queue = q;
    seat->node = role == CONSUMER ? NULL : q->node + number * q->share;
    seat->share = role == CONSUMER ? 0 : q->share;
    seat->next = 0;
    seat->behind = q->share - q->room;
    seat->waiting = 0;
    seat->misses = 0;
    seat->limbo = malloc(LIMBO * sizeof(struct node *));
    return seat->limbo != NULL;
}

static void give_back(struct seat *seat)
{
    urcu_memb_synchronize_rcu();
    while (seat->waiting > 0)
        atomic_store_explicit(&seat->limbo[--seat->waiting]->state, FREE, memory_order_release);
}

/* Others may wait for the nodes that this thread holds. */
static bool miss(struct seat *seat)
{
    if (seat->waiting > 0 && ++seat->misses % PATIENCE == 0)
        give_back(seat);
    return false;
}

static void seat_close(struct seat *seat)
{
    give_back(seat);
    free(seat->limbo);
    urcu_memb_unregister_thread();
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    struct node *node = &seat->node[seat->next];

    if (atomic_load_explicit(&seat->node[seat->behind].state, memory_order_relaxed) == QUEUED)
        return miss(seat);
    /* The grace period is over. */
    if (atomic_load_explicit(&node->state, memory_order_acquire) != FREE)
        return miss(seat);
    atomic_store_explicit(&node->state, QUEUED, memory_order_relaxed);
    seat->next = seat->next + 1 == seat->share ? 0 : seat->next + 1;
    seat->behind = seat->behind + 1 == seat->share ? 0 : seat->behind + 1;
    node->word = word;
    cds_lfq_node_init_rcu(&node->link);
    urcu_memb_read_lock();
    cds_lfq_enqueue_rcu(&seat->queue->list, &node->link);
    urcu_memb_read_unlock();
    return true;
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    struct cds_lfq_node_rcu *link;
    struct node *node;

    urcu_memb_read_lock();
    link = cds_lfq_dequeue_rcu(&seat->queue->list);
    urcu_memb_read_unlock();
    if (!link)
        return miss(seat);
    node = caa_container_of(link, struct node, link);
    *word = node->word;
    atomic_store_explicit(&node->state, POPPED, memory_order_relaxed);
    seat->limbo[seat->waiting++] = node;
    if (seat->waiting == LIMBO)
        give_back(seat);
    return true;
}

#include "workload.h"
