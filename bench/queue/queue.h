/* SPDX-License-Identifier: MIT */
/*
 * What a candidate defines before it includes workload.h. The loops then see the queue's own functions, so that each
 * candidate is called as its users call it: inlined where its header allows that.
 *
 *   NAME_SHARED                  1 when several threads may push, and several pop
 *   struct queue, struct seat    the queue; one thread's place at it
 *   bool queue_open(struct queue *, const struct plan *)
 *   void queue_close(struct queue *)                              it is empty by then
 *   bool seat_open(struct seat *, struct queue *, unsigned number, enum role)
 *   void seat_close(struct seat *)
 *   bool seat_push(struct seat *, uint64_t word)                  false: full
 *   bool seat_pop(struct seat *, uint64_t *word)                  false: empty
 *   size_t seat_push_many(struct seat *, const uint64_t *, size_t)  with NAME_BATCH only
 *   size_t seat_pop_many(struct seat *, uint64_t *, size_t)
 */
#ifndef LADE_BENCH_QUEUE_H
#define LADE_BENCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum role { PRODUCER, CONSUMER, BOTH };

struct plan {
    uint64_t capacity;  /* words that must fit */
    unsigned producers; /* threads that push; they have the lowest numbers */
    unsigned consumers; /* threads that pop */
    unsigned threads;   /* all of them; one more seat empties the queue in the end */
};

#endif
