/* SPDX-License-Identifier: MIT */
/*
 * What a candidate defines before it includes workload.h. The loops then see the candidate's own functions, so that
 * each is called as its users call it: inlined where its source is available, a call where it is a library.
 *
 *   struct bag, struct seat      the container; one thread's place at it
 *   bool bag_open(struct bag *, const struct plan *)
 *   void bag_close(struct bag *)                                  it is empty by then
 *   bool seat_open(struct seat *, struct bag *, unsigned number, enum role)
 *   void seat_close(struct seat *)
 *   bool seat_put(struct seat *, const struct element *)          false: full
 *   bool seat_draw(struct seat *, struct element *)               false: empty
 *
 *   with HAS_EXCHANGE            else draw, then put
 *   bool seat_exchange(struct seat *, const struct element *in, struct element *out)  false: empty
 *   with HAS_BATCH
 *   size_t seat_put_many(struct seat *, const struct element *, size_t)
 *   size_t seat_draw_many(struct seat *, struct element *, size_t)
 *   with HAS_ROOM                elements are made and read where the container keeps them
 *   struct element *seat_room(struct seat *)
 *   with HAS_SCANS
 *   uint64_t bag_scans(struct bag *)                              draws so far that scanned all of it
 *
 * Compiled with RECORD=N an element has N bytes, else it is one word.
 */
#ifndef LADE_BENCH_BAG_H
#define LADE_BENCH_BAG_H

#include "../queue/queue.h"

#include <lade/random.h>

#ifdef RECORD
#define ELEMENT_WORDS (RECORD / 8)
#else
#define ELEMENT_WORDS 1
#endif

struct element {
    uint64_t word[ELEMENT_WORDS];
};

/* Every candidate has its random numbers from the library's generator, each seat its own stream. */
static inline void seat_random(struct lade_random *random, unsigned number)
{
    lade_random_init(random, lade_key_make(1, 2, 3), number);
}

#endif
