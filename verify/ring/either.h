/* SPDX-License-Identifier: MIT */
/*
 * One harness for both rings, with waits; SPSC selects the spsc ring. Under SPSC at most one thread pushes and one
 * pops.
 */
#ifdef SPSC
#include "spsc.h"

#define push(id, word) lade_spsc_push(ring, word)
#define pop(id, word) lade_spsc_pop(ring, word)
#define push_wait(id, word, timeout) lade_spsc_push_wait(ring, word, timeout)
#define pop_wait(id, word, timeout) lade_spsc_pop_wait(ring, word, timeout)
#define waiting_pop(id, word) ((struct ring_call){spsc_pop_once, ring, NULL, &ring->wait, 0, word, 0})
#define waiting_push(id, word) ((struct ring_call){spsc_push_once, ring, NULL, &ring->wait, word, NULL, 0})
#define close_ring() assert(lade_spsc_close(ring) == LADE_OK)
#define mark_closed() spsc_mark_closed(ring)
#define cancel_ring() assert(lade_spsc_cancel(ring) == LADE_OK)
#define count_of_ring() lade_spsc_count(ring)
#define destroy_ring() lade_spsc_destroy(ring)
#else
#include "mpmc.h"

#define push(id, word) lade_mpmc_push(handle[id], word)
#define pop(id, word) lade_mpmc_pop(handle[id], word)
#define push_wait(id, word, timeout) lade_mpmc_push_wait(handle[id], word, timeout)
#define pop_wait(id, word, timeout) lade_mpmc_pop_wait(handle[id], word, timeout)
#define waiting_pop(id, word) ((struct ring_call){mpmc_pop_once, NULL, handle[id], &ring->wait, 0, word, 0})
#define waiting_push(id, word) ((struct ring_call){mpmc_push_once, NULL, handle[id], &ring->wait, word, NULL, 0})
#define close_ring() assert(lade_mpmc_close(ring) == LADE_OK)
#define mark_closed() mpmc_mark_closed(ring)
#define cancel_ring() assert(lade_mpmc_cancel(ring) == LADE_OK)
#define count_of_ring() lade_mpmc_count(ring)
#define destroy_ring() lade_mpmc_destroy(ring)
#endif

/* In static memory: GenMC may place a local of an inlined function at the address of one that is still in use. */
static uint64_t out[THREADS + 1];
