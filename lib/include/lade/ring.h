/* SPDX-License-Identifier: MIT */
/*
 * ring: bounded first-in first-out queues of 64-bit words.
 *
 * spsc  one producer thread, one consumer thread. Cached indices; slots are plain memory.
 * mpmc  any number of threads push and pop, each through its own handle.
 *
 * When not to use them: when the order does not matter (see bag), or when there can be more threads than handles.
 *
 * Threads      spsc: push by one thread at a time, pop by one thread at a time. mpmc: a handle by one thread at a time;
 *              lade_mpmc_join() and lade_mpmc_leave() by any thread. count, close and cancel by any thread. create and
 *              destroy: no other thread uses the ring.
 * Progress     spsc: wait-free. mpmc: lock-free; an operation repeats only if another operation succeeded in the
 *              meantime. After a thread has lost many races in a row, the other threads let it pass; bench/run ring
 *              measures how long that takes. Only the functions named _wait wait.
 * Ordering     everything that a thread did before a push happens before everything that the thread that pops the word
 *              does after the pop. Everything that it did before a close happens before every return of LADE_CLOSED.
 * EMPTY, FULL  mpmc is linearizable: each operation takes effect at one instant during its call. EMPTY: at that instant
 *              the ring held nothing. FULL: at that instant it held exactly capacity words. The exception is
 *              close, see lade_mpmc_close(). spsc without waits publishes with a plain store, which may become
 *              visible to the other side after the call has returned. There, EMPTY and FULL are true of what was
 *              visible, and both sides can fail at the same time. With a seq_cst fence after each call, or with waits,
 *              spsc is linearizable too.
 * Waits        the _wait forms, close and cancel require a ring whose config sets waits. Each push and pop on such a
 *              ring checks for waiting threads and wakes all of them. Cost: mpmc one or two loads; spsc publishes with
 *              a read-modify-write or a seq_cst store. Without waits these functions return LADE_INVALID, and push and
 *              pop have no extra cost.
 * Capacity     exact, any number from 1 to LADE_RING_MAX, not rounded.
 * Batches      words are pushed and popped in the given order; the return value is the number of words done. mpmc: a
 *              batch is a sequence of single operations up to the first FULL or EMPTY; words of other threads may come
 *              between. spsc: a batch checks once and publishes once. If it does fewer than count, no more free slots,
 *              or no more words, were visible at the check, which precedes the effect of the batch.
 * Memory       allocated once: less than 1 KiB, plus for spsc 8 bytes per slot, with the number of slots rounded up to
 *              a power of two; for mpmc 16 bytes per slot and 136 per handle.
 * Stopped      a thread that stops forever blocks no other thread. It keeps at most the word that it was pushing or has
 *              popped, and its handle; the ring loses no capacity. (spsc: the other side then gets FULL or EMPTY.) If
 *              it stops before it has woken the waiting threads, the next push or pop on its side wakes them. If it
 *              stops inside close, the first operation that returns LADE_CLOSED wakes them.
 * Fork         a child has its own copy of the ring and may use it. For the child, a thread that was inside an
 *              operation at the fork has stopped there forever: see Stopped. No thread is woken across a fork.
 * Lifetime     an mpmc ring supports at least 2^63 / (1 + handles / capacity) operations. After that its turn numbers
 *              are used up, and it returns only LADE_FULL and LADE_EMPTY. The minimum is 2^47 - 2, for 1 word and
 *              65,536 handles: 163 days at 10 million operations per second. With no more handles than words it is at
 *              least 2^62.
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

/* Limits of struct lade_ring_config: capacity and handles. */
#define LADE_RING_MAX (UINT64_C(1) << 31)
#define LADE_RING_HANDLES_MAX 65536u

/* Zero means the default where one is named. */
struct lade_ring_config {
    uint64_t capacity;              /* maximum number of words, 1 to LADE_RING_MAX */
    unsigned handles;               /* mpmc only: maximum number of threads at a time, 1 to LADE_RING_HANDLES_MAX */
    bool waits;                     /* enables the _wait forms, close and cancel */
    const struct lade_alloc *alloc; /* default aligned_alloc() and free() */
};

/* A ring of one producer and one consumer. */
struct lade_spsc;

/*
 * Creates a ring. *ring is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     NULL, or a number out of range. spsc: handles must be 0.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_spsc_create_sized(struct lade_spsc **ring, const struct lade_ring_config *config,
                                                    size_t size);
LADE_MUST_CHECK static inline int lade_spsc_create(struct lade_spsc **ring, const struct lade_ring_config *config)
{
    return lade_spsc_create_sized(ring, config, sizeof *config);
}

/* Frees the ring and drops the words that are still in it. NULL is allowed. */
LADE_API void lade_spsc_destroy(struct lade_spsc *ring);

/*
 * Pushes a word. Producer only.
 * LADE_OK
 * LADE_FULL
 * LADE_CLOSED
 */
LADE_API LADE_MUST_CHECK int lade_spsc_push(struct lade_spsc *ring, uint64_t word);

/*
 * Pops a word. Consumer only.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      closed, and every word whose push returned LADE_OK has been popped.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_pop(struct lade_spsc *ring, uint64_t *word);

/*
 * Pushes word[0], word[1], ... while there are free slots, with one publication for all. Returns the number pushed; 0
 * if closed. Producer only.
 */
LADE_API LADE_MUST_CHECK size_t lade_spsc_push_many(struct lade_spsc *ring, const uint64_t *word, size_t count);

/* Pops up to count words. Returns the number popped. Consumer only. */
LADE_API LADE_MUST_CHECK size_t lade_spsc_pop_many(struct lade_spsc *ring, uint64_t *word, size_t count);

/*
 * Waiting forms: as push and pop above, but they wait instead of returning LADE_FULL or LADE_EMPTY. timeout is in
 * nanoseconds; LADE_FOREVER: wait forever; any other negative timeout is the same as 0.
 * LADE_OK
 * LADE_CLOSED      as push and pop.
 * LADE_TIMEOUT
 * LADE_CANCELLED   by a cancel during the wait.
 * LADE_INVALID     the ring was created without waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_push_wait(struct lade_spsc *ring, uint64_t word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_spsc_pop_wait(struct lade_spsc *ring, uint64_t *word, int64_t timeout);

/*
 * Closes the ring: no push that begins after this call succeeds; words in the ring can still be popped. Wakes all
 * waiting threads. A push that is in progress succeeds or returns LADE_CLOSED; after a pop has returned LADE_CLOSED, no
 * push succeeds.
 * LADE_OK
 * LADE_INVALID     the ring was created without waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_close(struct lade_spsc *ring);

/*
 * Ends all waits in progress with LADE_CANCELLED. Later calls wait as usual; push and pop are not affected. (The cancel
 * of a loader is permanent, unlike this one.) A waiting form that has found the ring full or empty, but has not yet
 * begun to wait, can miss this cancel.
 * LADE_OK
 * LADE_INVALID     the ring was created without waits.
 */
LADE_API LADE_MUST_CHECK int lade_spsc_cancel(struct lade_spsc *ring);

/*
 * Returns the number of words in the ring. Exact if no push or pop is in progress.
 * Lower bound otherwise: the words whose push happens before the call, minus all whose pop does not happen after it.
 * Upper bound otherwise: the words whose push does not happen after the call, minus those whose pop happens before it;
 * never more than capacity.
 * So the result is off by at most the words of the operations in progress.
 */
LADE_API uint64_t lade_spsc_count(const struct lade_spsc *ring);

/* A ring of any number of threads. */
struct lade_mpmc;
/* The access of one thread to an mpmc ring, see lade_mpmc_join(). */
struct lade_mpmc_handle;

/*
 * Creates a ring for at most config->handles threads at a time. *ring is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     NULL, or a number out of range.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_create_sized(struct lade_mpmc **ring, const struct lade_ring_config *config,
                                                    size_t size);
LADE_MUST_CHECK static inline int lade_mpmc_create(struct lade_mpmc **ring, const struct lade_ring_config *config)
{
    return lade_mpmc_create_sized(ring, config, sizeof *config);
}

/* Frees the ring and its handles, and drops the words that are still in it. NULL is allowed. */
LADE_API void lade_mpmc_destroy(struct lade_mpmc *ring);

/*
 * Acquires a free handle, for one thread. Lock-free.
 * LADE_OK
 * LADE_TOO_MANY    no free handle was found.
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_join(struct lade_mpmc *ring, struct lade_mpmc_handle **handle);

/* Releases the handle for other threads. NULL is allowed. */
LADE_API void lade_mpmc_leave(struct lade_mpmc_handle *handle);

/*
 * Pushes a word.
 * LADE_OK
 * LADE_FULL
 * LADE_CLOSED
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_push(struct lade_mpmc_handle *handle, uint64_t word);

/*
 * Pops a word.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      closed, and every word whose push returned LADE_OK has been popped.
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_pop(struct lade_mpmc_handle *handle, uint64_t *word);

/* Pushes words in order, up to the first push that would not return LADE_OK. Returns the number pushed. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_push_many(struct lade_mpmc_handle *handle, const uint64_t *word,
                                                    size_t count);

/* Pops words, up to the first pop that would not return LADE_OK. Returns the number popped. */
LADE_API LADE_MUST_CHECK size_t lade_mpmc_pop_many(struct lade_mpmc_handle *handle, uint64_t *word, size_t count);

/*
 * Waiting forms, close, cancel and count: contracts and statuses as for the lade_spsc_ functions of the same names.
 * count is lock-free. One difference: close takes two steps. A push in progress at the close may succeed after another
 * push has returned LADE_CLOSED, until a pop returns LADE_CLOSED.
 */
LADE_API LADE_MUST_CHECK int lade_mpmc_push_wait(struct lade_mpmc_handle *handle, uint64_t word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_mpmc_pop_wait(struct lade_mpmc_handle *handle, uint64_t *word, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_mpmc_close(struct lade_mpmc *ring);
LADE_API LADE_MUST_CHECK int lade_mpmc_cancel(struct lade_mpmc *ring);
LADE_API uint64_t lade_mpmc_count(const struct lade_mpmc *ring);

LADE_END

#endif
