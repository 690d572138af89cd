/* SPDX-License-Identifier: MIT */
/*
 * ring: bounded first-in first-out queues of 64-bit words.
 *
 * spsc  one producer thread, one consumer thread. Cached indices; slots are plain memory.
 * mpmc  any number of threads that push and pop, each through a handle of its own.
 *
 * When not to use them: when the order does not matter (see bag), or when more threads take part than there are handles.
 *
 * Threads      spsc: push by one thread at a time, pop by one thread at a time. mpmc: a handle by one thread at a time;
 *              lade_mpmc_join() and lade_mpmc_leave() by anyone. create and destroy: nobody else uses the ring.
 * Progress     spsc: wait-free. mpmc: lock-free; an operation repeats only when another one succeeded meanwhile. A thread
 *              that loses many races in a row is let through by the others; how long that takes, bench/run ring says.
 * Ordering     what a thread did before a push happens before what the thread that pops the word does after the pop.
 * EMPTY, FULL  mpmc is linearizable: each operation takes effect at one instant of its call; EMPTY: at that instant the
 *              ring held nothing; FULL: at that instant it held exactly capacity words. spsc publishes with a plain
 *              store, which may reach the other side after the call has returned: EMPTY and FULL are true of what had
 *              arrived, and both sides can be refused at once. With a seq_cst fence after each call it is linearizable
 *              too.
 * Capacity     exact, any number from 1 to LADE_RING_MAX, not rounded.
 * Batches      words go in and come out in the given order; a short count says how many were done. mpmc: a sequence of
 *              single operations up to the first FULL or EMPTY; words of others may come between. spsc: one look and
 *              one publication for all; a short count means that there was no more room, or no more words, at the
 *              look, which comes before the batch takes effect.
 * Memory       allocated once: spsc 8 bytes a slot, rounded up to a power of two of slots; mpmc 16 bytes a slot and
 *              136 a handle.
 * Stopped      a thread that stops for ever hinders nobody. It keeps at most the word that it was about to push or has
 *              popped, and its handle; the ring loses no capacity. (spsc: the other side then meets FULL or EMPTY.)
 * Fork         a child has its own copy of the ring and may use it. To the child, a thread that was inside an operation
 *              at the fork is one that stopped for ever there: see Stopped.
 * Lifetime     an mpmc ring makes 2^63 / (1 + handles / capacity) operations or more. Then its turn numbers are used up, and
 *              it returns only LADE_FULL and LADE_EMPTY. The least is 2^47 - 2, for 1 word and 65,536 handles: 163 days at 10
 *              million operations a second. With no more handles than words it is 2^62 or more.
 */
#ifndef LADE_RING_H
#define LADE_RING_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/status.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_RING_MAX (UINT64_C(1) << 31)
#define LADE_RING_HANDLES_MAX 65536u

struct lade_spsc;

/* *ring is set on LADE_OK only. LADE_INVALID: ring is NULL or the capacity out of range. LADE_NO_MEMORY. */
LADE_API LADE_MUST_CHECK int lade_spsc_create(struct lade_spsc **ring, uint64_t capacity,
                                              const struct lade_alloc *alloc);

/* Frees the ring; words still in it are dropped. NULL is fine. */
LADE_API void lade_spsc_destroy(struct lade_spsc *ring);

/* LADE_OK or LADE_FULL. Producer only. */
LADE_API LADE_MUST_CHECK int lade_spsc_push(struct lade_spsc *ring, uint64_t word);

/* LADE_OK or LADE_EMPTY. Consumer only. */
LADE_API LADE_MUST_CHECK int lade_spsc_pop(struct lade_spsc *ring, uint64_t *word);

/* Pushes word[0] .. as far as there is room; one publication for all. The number pushed. Producer only. */
LADE_API LADE_MUST_CHECK size_t lade_spsc_push_many(struct lade_spsc *ring, const uint64_t *word, size_t count);

/* Pops up to count words. The number popped. Consumer only. */
LADE_API LADE_MUST_CHECK size_t lade_spsc_pop_many(struct lade_spsc *ring, uint64_t *word, size_t count);

struct lade_mpmc;
struct lade_mpmc_handle;

/*
 * A ring for at most handles threads at a time (1 to LADE_RING_HANDLES_MAX).
 * *ring is set on LADE_OK only. LADE_INVALID: ring is NULL or a number out of range. LADE_NO_MEMORY.
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_create(struct lade_mpmc **ring, uint64_t capacity, unsigned handles,
                                              const struct lade_alloc *alloc);

/* Frees the ring and its handles; words still in it are dropped. NULL is fine. */
LADE_API void lade_mpmc_destroy(struct lade_mpmc *ring);

/* A free handle, for one thread. LADE_TOO_MANY: each of them was in use when it was looked at. Lock-free. */
LADE_API LADE_MUST_CHECK int lade_mpmc_join(struct lade_mpmc *ring, struct lade_mpmc_handle **handle);

/* Gives the handle back for others. NULL is fine. */
LADE_API void lade_mpmc_leave(struct lade_mpmc_handle *handle);

/* LADE_OK or LADE_FULL. */
LADE_API LADE_MUST_CHECK int lade_mpmc_push(struct lade_mpmc_handle *handle, uint64_t word);

/* LADE_OK or LADE_EMPTY. */
LADE_API LADE_MUST_CHECK int lade_mpmc_pop(struct lade_mpmc_handle *handle, uint64_t *word);

/* The number pushed, in order, up to the first FULL. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_push_many(struct lade_mpmc_handle *handle, const uint64_t *word,
                                                    size_t count);

/* The number popped, up to the first EMPTY. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_pop_many(struct lade_mpmc_handle *handle, uint64_t *word, size_t count);

LADE_END

#endif
