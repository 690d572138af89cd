/* SPDX-License-Identifier: MIT */
/*
 * Candidate: cds_wfcq of liburcu: wait-free enqueue, dequeue under its mutex. A single consumer needs no mutex and takes
 * none. The form of dequeue that never sleeps is used, and the mutex is not taken for a queue that looks empty.
 *
 * The queue links nodes that the caller owns. Each producer has its share of as many nodes as the rings hold,
 * and uses them in order; a consumer gives a node back by clearing a flag in it, so that no second queue is needed. A
 * thread that pops and pushes keeps the node that it popped last for its next push.
 */
#define _LGPL_SOURCE
#include "queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <urcu/wfcqueue.h>

#define NAME_SHARED 1

/* Nodes lie close together, or each on a separate line: which is faster depends on the case, so both are measured. */
#ifdef NODES_APART
#define NODE_ALIGN _Alignas(64)
#else
#define NODE_ALIGN
#endif

struct node {
    NODE_ALIGN struct cds_wfcq_node link;
    uint64_t word;
    _Atomic uint64_t busy;
};

struct queue {
    _Alignas(128) struct cds_wfcq_head head;
    _Alignas(128) struct cds_wfcq_tail tail;
    _Alignas(128) struct node *node;
    uint64_t share; /* of a producer */
    bool shared;    /* several consumers */
};

struct seat {
    struct queue *queue;
    struct node *node;
    struct node *spare;
    uint64_t next, share;
    bool keep, shared;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    size_t size;

    q->share = plan->capacity / plan->producers;
    q->shared = plan->consumers > 1;
    size = (size_t)q->share * plan->producers * sizeof *q->node;
    q->node = aligned_alloc(128, (size + 127) / 128 * 128);
    if (!q->node)
        return false;
    for (uint64_t i = 0; i < q->share * plan->producers; i++) {
        cds_wfcq_node_init(&q->node[i].link);
        q->node[i].word = 0;
        atomic_init(&q->node[i].busy, 0);
    }
    cds_wfcq_init(&q->head, &q->tail);
    return true;
}

static void queue_close(struct queue *q)
{
    cds_wfcq_destroy(&q->head, &q->tail);
    free(q->node);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    seat->queue = q;
    seat->node = role == CONSUMER ? NULL : q->node + number * q->share;
    seat->share = role == CONSUMER ? 0 : q->share;
    seat->spare = NULL;
    seat->next = 0;
    seat->keep = role == BOTH;
    seat->shared = q->shared;
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    struct queue *q = seat->queue;
    struct node *node = seat->spare;

    if (node) {
        seat->spare = NULL;
    } else {
        node = &seat->node[seat->next];
        /* The thread that popped it has read it. */
        if (atomic_load_explicit(&node->busy, memory_order_acquire))
            return false;
        atomic_store_explicit(&node->busy, 1, memory_order_relaxed);
        seat->next = seat->next + 1 == seat->share ? 0 : seat->next + 1;
    }
    node->word = word;
    cds_wfcq_node_init(&node->link);
    cds_wfcq_enqueue(&q->head, &q->tail, &node->link);
    return true;
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    struct queue *q = seat->queue;
    struct cds_wfcq_node *link;
    struct node *node;

    if (cds_wfcq_empty(&q->head, &q->tail))
        return false;
    if (seat->shared)
        cds_wfcq_dequeue_lock(&q->head, &q->tail);
    link = __cds_wfcq_dequeue_nonblocking(&q->head, &q->tail);
    if (seat->shared)
        cds_wfcq_dequeue_unlock(&q->head, &q->tail);
    if (!link || link == CDS_WFCQ_WOULDBLOCK)
        return false;
    node = caa_container_of(link, struct node, link);
    *word = node->word;
    if (seat->keep && !seat->spare)
        seat->spare = node;
    else
        atomic_store_explicit(&node->busy, 0, memory_order_release);
    return true;
}

#ifndef QUEUE_ONLY
#include "workload.h"
#endif
