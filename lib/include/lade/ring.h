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
 *              lade_mpmc_join() and lade_mpmc_leave() by any thread. count, close and cancel by any thread. create and
 *              destroy: no other thread uses the ring.
 * Progress     spsc: wait-free. mpmc: lock-free; an operation repeats only when another one succeeded meanwhile. A thread
 *              that loses many races in a row is let through by the others; how long that takes, bench/run ring says. Only
 *              the functions named _wait wait.
 * Ordering     what a thread did before a push happens before what the thread that pops the word does after the pop. What
 *              it did before a close happens before every return of LADE_CLOSED.
 * EMPTY, FULL  mpmc is linearizable: each operation takes effect at one instant of its call; EMPTY: at that instant the
 *              ring held nothing; FULL: at that instant it held exactly capacity words. Close is the exception, see
 *              lade_mpmc_close(). spsc without waits publishes with a
 *              plain store, which may reach the other side after the call has returned: EMPTY and FULL are true of what
 *              had arrived, and both sides can be refused at once. With a seq_cst fence after each call, or with waits, it
 *              is linearizable too.
 * Waits        a ring whose config sets waits has the _wait forms, close and cancel. Each push and pop then looks for waiting
 *              threads and wakes all of them. Price: mpmc a load or two; spsc publishes with a read-modify-write or a
 *              seq_cst store. Without waits these functions return LADE_INVALID, and push and pop cost nothing more.
 * Capacity     exact, any number from 1 to LADE_RING_MAX, not rounded.
 * Batches      words go in and come out in the given order; a short count says how many were done. mpmc: a sequence of
 *              single operations up to the first FULL or EMPTY; words of others may come between. spsc: one look and
 *              one publication for all; a short count means that there was no more room, or no more words, at the
 *              look, which comes before the batch takes effect.
 * Memory       allocated once, less than 1 KiB and: spsc 8 bytes a slot, rounded up to a power of two of slots; mpmc 16 bytes a slot and
 *              136 a handle.
 * Stopped      a thread that stops for ever hinders nobody. It keeps at most the word that it was about to push or has
 *              popped, and its handle; the ring loses no capacity. (spsc: the other side then meets FULL or EMPTY.) If it
 *              stops before it has woken the threads that wait, the next push or pop on its side wakes them; in place
 *              of a close, the first operation that returns LADE_CLOSED.
 * Fork         a child has its own copy of the ring and may use it. To the child, a thread that was inside an operation
 *              at the fork is one that stopped for ever there: see Stopped. Nobody is woken across a fork.
 * Lifetime     an mpmc ring makes 2^63 / (1 + handles / capacity) operations or more. Then its turn numbers are used up, and
 *              it returns only LADE_FULL and LADE_EMPTY. The least is 2^47 - 2, for 1 word and 65,536 handles: 163 days at 10
 *              million operations a second. With no more handles than words it is 2^62 or more.
 */
#ifndef LADE_RING_H
#define LADE_RING_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_RING_MAX (UINT64_C(1) << 31)
#define LADE_RING_HANDLES_MAX 65536u

/* Zero means the default where one is named. */
struct lade_ring_config {
    uint64_t capacity;              /* words at most, 1 to LADE_RING_MAX */
    unsigned handles;               /* mpmc only: threads at most at a time, 1 to LADE_RING_HANDLES_MAX */
    bool waits;                     /* the _wait forms, close and cancel can be used */
    const struct lade_alloc *alloc; /* default aligned_alloc() and free() */
};

struct lade_spsc;

/* *ring is set on LADE_OK only. LADE_INVALID: NULL, or a number out of range (spsc: handles is 0). LADE_NO_MEMORY. */
LADE_API LADE_MUST_CHECK int lade_spsc_create_sized(struct lade_spsc **ring, const struct lade_ring_config *config,
                                                    size_t size);
LADE_MUST_CHECK static inline int lade_spsc_create(struct lade_spsc **ring, const struct lade_ring_config *config)
{
    return lade_spsc_create_sized(ring, config, sizeof *config);
}

/* Frees the ring; words still in it are dropped. NULL is fine. */
LADE_API void lade_spsc_destroy(struct lade_spsc *ring);

/* LADE_OK, LADE_FULL, LADE_CLOSED. Producer only. */
LADE_API LADE_MUST_CHECK int lade_spsc_push(struct lade_spsc *ring, uint64_t word);

/* LADE_OK, LADE_EMPTY; LADE_CLOSED: closed, and every word whose push returned LADE_OK has been popped. Consumer only. */
LADE_API LADE_MUST_CHECK int lade_spsc_pop(struct lade_spsc *ring, uint64_t *word);

/* Pushes word[0] .. as far as there is room; one publication for all. The number pushed; 0 when closed. Producer only. */
LADE_API LADE_MUST_CHECK size_t lade_spsc_push_many(struct lade_spsc *ring, const uint64_t *word, size_t count);

/* Pops up to count words. The number popped. Consumer only. */
LADE_API LADE_MUST_CHECK size_t lade_spsc_pop_many(struct lade_spsc *ring, uint64_t *word, size_t count);

/*
 * Waiting forms: as the ones above, but for LADE_FULL and LADE_EMPTY they wait. timeout is in nanoseconds; LADE_FOREVER: none;
 * any other negative one is the same as 0. Also LADE_TIMEOUT, LADE_CANCELLED, and LADE_INVALID: a ring without waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_push_wait(struct lade_spsc *ring, uint64_t word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_spsc_pop_wait(struct lade_spsc *ring, uint64_t *word, int64_t timeout);

/*
 * No push that begins from here on succeeds; what is inside can be popped. Wakes all threads that wait. A push that is under way
 * succeeds or returns LADE_CLOSED; after a pop has returned LADE_CLOSED none succeeds. LADE_OK; LADE_INVALID: a ring without
 * waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_close(struct lade_spsc *ring);

/*
 * Every call that is waiting returns LADE_CANCELLED. Later ones wait as usual, and so does a call that is about to wait: one
 * that was refused, but has not yet noted how often the ring was cancelled, misses this cancel. LADE_OK; LADE_INVALID: a
 * ring without waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_cancel(struct lade_spsc *ring);

/*
 * The words inside. Exact when no push or pop is under way. Otherwise at least the words whose push happens before the call less
 * all whose pop does not happen after it, and at most the words whose push does not happen after the call less those whose
 * pop happens before it; never more than capacity. So it is off by at most the words of operations under way.
 */
LADE_API uint64_t lade_spsc_count(const struct lade_spsc *ring);

struct lade_mpmc;
struct lade_mpmc_handle;

/* As lade_spsc_create(), for at most config->handles threads at a time. */
LADE_API LADE_MUST_CHECK int lade_mpmc_create_sized(struct lade_mpmc **ring, const struct lade_ring_config *config,
                                                    size_t size);
LADE_MUST_CHECK static inline int lade_mpmc_create(struct lade_mpmc **ring, const struct lade_ring_config *config)
{
    return lade_mpmc_create_sized(ring, config, sizeof *config);
}

/* Frees the ring and its handles; words still in it are dropped. NULL is fine. */
LADE_API void lade_mpmc_destroy(struct lade_mpmc *ring);

/* A free handle, for one thread. LADE_TOO_MANY: each of them was in use when it was looked at. Lock-free. */
LADE_API LADE_MUST_CHECK int lade_mpmc_join(struct lade_mpmc *ring, struct lade_mpmc_handle **handle);

/* Gives the handle back for others. NULL is fine. */
LADE_API void lade_mpmc_leave(struct lade_mpmc_handle *handle);

/* LADE_OK, LADE_FULL, LADE_CLOSED. */
LADE_API LADE_MUST_CHECK int lade_mpmc_push(struct lade_mpmc_handle *handle, uint64_t word);

/* LADE_OK, LADE_EMPTY; LADE_CLOSED: closed, and every word whose push returned LADE_OK has been popped. */
LADE_API LADE_MUST_CHECK int lade_mpmc_pop(struct lade_mpmc_handle *handle, uint64_t *word);

/* The number pushed, in order, up to the first that would not return LADE_OK. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_push_many(struct lade_mpmc_handle *handle, const uint64_t *word,
                                                    size_t count);

/* The number popped, up to the first that would not return LADE_OK. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_pop_many(struct lade_mpmc_handle *handle, uint64_t *word, size_t count);

/*
 * Waiting forms, close, cancel and count, as those of spsc. count is lock-free. Close takes two steps: a push that is under way
 * at the close may succeed after another push returned LADE_CLOSED, until a pop has returned LADE_CLOSED.
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_push_wait(struct lade_mpmc_handle *handle, uint64_t word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_mpmc_pop_wait(struct lade_mpmc_handle *handle, uint64_t *word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_mpmc_close(struct lade_mpmc *ring);
LADE_API LADE_MUST_CHECK int lade_mpmc_cancel(struct lade_mpmc *ring);
LADE_API uint64_t lade_mpmc_count(const struct lade_mpmc *ring);

LADE_END

#endif
