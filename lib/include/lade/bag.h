/* SPDX-License-Identifier: MIT */
/*
 * bag: a container that many threads fill and draw from uniformly at random, without a lock.
 *
 * Use it as a shuffle buffer (put until full, then exchange), a work pool (put and draw), or a replay buffer (put with
 * eviction, sample and give back). It is the bucket container of Lin 2026 with slots in place of locked buckets.
 *
 * When not to use it: when elements must come out in the order in which they went in (see ring), or by weight: there is
 * no prioritised sampling.
 *
 * Elements     words    uint64_t from 1 to LADE_BAG_WORD_MAX: numbers, indices, pointers. The fastest kind.
 *              refs     struct lade_ref *, a counted object. put transfers the caller's reference to the bag, draw
 *                       transfers it to the caller.
 *              records  a fixed number of bytes, copied into and out of memory that the bag owns.
 *              Functions take and return elements by address: uint64_t *, struct lade_ref **, or the bytes of a record.
 * Threads      each thread uses its own handle. Any thread may call lade_bag_join(), lade_bag_leave(),
 *              lade_bag_close(), lade_bag_cancel() and lade_bag_stats(). create and destroy: no other thread uses the
 *              bag.
 * Uniform      a draw inspects a slot and then claims it. Given the attempt that succeeds, every element that was in
 *              the bag from the beginning of the call to that claim is equally likely, for every schedule that does not
 *              depend on the random numbers. Nothing is promised about elements that arrive or leave during that time,
 *              nor about a schedule that observes the caches. exchange, sample and evict choose in the same way.
 * EMPTY, FULL  EMPTY is about completed puts: at some instant of the call, every element whose put had completed was
 *              drawn. FULL is about completed draws: at some instant of the call, no slot was free. A slot becomes free
 *              when the draw that emptied it has completed. A put or draw in progress counts for neither. Therefore
 *              EMPTY and FULL of overlapping operations can contradict each other: there are runs in which no order of
 *              the operations explains both a FULL and an EMPTY. So a bag is not linearizable as a bounded multiset. A
 *              put, draw or exchange that returns LADE_OK takes effect in one step. A put that evicts uniformly has
 *              observed the bag full earlier in the call.
 * Capacity     exact. Slots come into use only as they are needed, so a draw from a bag with few elements is fast.
 * Progress     lock-free: an operation repeats only if another operation succeeded in the meantime. Only the functions
 *              named _wait wait.
 * Ordering     everything that a thread did before a put happens before everything that the thread that draws,
 *              exchanges or samples the element does afterwards. Everything that it did before a close happens before
 *              every return of LADE_CLOSED.
 * Memory       allocated at creation, none afterwards. 8 bytes per slot, 8 per group of 64 slots, about 1 KiB per
 *              handle. For refs and records (and words under LADE_BAG_EVICT_OLDEST) there are also cells: one per slot,
 *              and 3 + max_loans spare ones per handle. A cell takes the size of the element, rounded up to 8 bytes, or
 *              to 64 if at least 64; plus 8 bytes.
 * Stopped      a thread that stops forever inside an operation blocks no other thread. If it stops inside close, the
 *              first operation that returns LADE_CLOSED wakes the waiting threads. A stopped thread costs at most one
 *              element, one slot for a time (put_many of words: up to 64; draw_many: also the elements that it drew
 *              before), and its handle with the cells of it, which must not be used again. docs/bag.md has a table of
 *              the cost of each operation.
 * Lifetime     some internal counters wrap around. A put under LADE_BAG_EVICT_OLDEST may overwrite a newer element with
 *              its own if it sleeps, between its last read of the slot and its update, for exactly 2^16 rounds of
 *              capacity puts, or a multiple of that. A check for EMPTY may miss an element if it sleeps while the bag's
 *              active word changes 2^32 times.
 * Fork         a child has its own copy of the bag and may use it. For the child, a thread that was inside an operation
 *              at the fork has stopped there forever: see Stopped. No thread is woken across a fork.
 */
#ifndef LADE_BAG_H
#define LADE_BAG_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/error.h>
#include <lade/ref.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

/*
 * Limits: slots of a bag, values of a word, bytes of a record, handles, loans of a handle, samples of an element
 * (max_times_sampled).
 */
#define LADE_BAG_MAX (UINT64_C(1) << 30)
#define LADE_BAG_WORD_MAX ((UINT64_C(1) << 48) - 1)
#define LADE_BAG_RECORD_MAX ((size_t)1 << 30)
#define LADE_BAG_HANDLES_MAX 4096u
#define LADE_BAG_LOANS_MAX 65536u
#define LADE_BAG_TIMES_MAX 65534u

/* What the elements are, see Elements above. */
enum lade_bag_kind {
    LADE_BAG_WORDS,   /* uint64_t from 1 to LADE_BAG_WORD_MAX */
    LADE_BAG_REFS,    /* struct lade_ref * */
    LADE_BAG_RECORDS, /* record_size bytes, copied */
};

/* What put does if the bag is full. */
enum lade_bag_full {
    LADE_BAG_REJECT,        /* returns LADE_FULL */
    LADE_BAG_EVICT_UNIFORM, /* after observing it full, replaces an element, each equally likely */
    /*
     * Put number t replaces the element of put number t - capacity if it is still in the bag, even if other slots are
     * free. For puts that sleep very long see Lifetime.
     */
    LADE_BAG_EVICT_OLDEST,
};

/* Zero means the default where one is named. */
struct lade_bag_config {
    uint64_t capacity;          /* maximum number of elements, 1 to LADE_BAG_MAX */
    unsigned handles;           /* maximum number of threads at a time, 1 to LADE_BAG_HANDLES_MAX */
    enum lade_bag_kind kind;    /* of the elements; default words */
    size_t record_size;         /* records only */
    unsigned max_loans;         /* records only: maximum number of loans at a time per handle; default 1 */
    enum lade_bag_full full;    /* what put does if the bag is full; default LADE_BAG_REJECT */
    unsigned max_times_sampled; /* the sample that reaches it removes the element; default: no limit */
    /*
     * Words and refs: the total size of the elements does not exceed byte_budget. bytes() returns the size of an
     * element, which must be the same at put and at removal. A put that would exceed the budget finds the bag full, or
     * evicts until the element fits. Each other handle in the middle of a put may exceed it by one element. exchange
     * does not check it. Default: no budget. Not with LADE_BAG_EVICT_OLDEST.
     */
    uint64_t byte_budget;
    size_t (*bytes)(void *context, const void *element);
    /*
     * Keeps samples - samples_per_insert * puts between -ratio_slack and ratio_slack: put or sample, whichever is
     * ahead, returns LADE_LIMITED. Each other handle in the middle of an operation may exceed it by one element.
     * exchange counts as a put and is not limited. A closed bag returns LADE_CLOSED in place of LADE_LIMITED. Default:
     * no limit. ratio_slack must be at least samples_per_insert and at least 1. max_times_sampled, if set, must be at
     * least samples_per_insert. If elements are drawn or evicted before they were sampled that often, the bag can reach
     * a state in which put returns LADE_LIMITED and sample returns LADE_EMPTY.
     */
    double samples_per_insert;
    double ratio_slack;
    uint64_t seed;                         /* of every handle's generator; every value is equally good, 0 included */
    bool random_seed;                      /* draw a random seed instead; lade_bag_stats.seed reports it */
    void (*release)(struct lade_ref *ref); /* refs: called when the bag drops the last reference */
    void (*drop)(void *context,
                 uint64_t word);    /* words: called for each word evicted or left at destroy; default: none */
    void *context;                  /* argument of bytes() and drop() */
    const struct lade_alloc *alloc; /* default aligned_alloc() and free() */
};

/* A bag; its fields belong to the library. */
struct lade_bag;
/* The access of one thread to a bag, see lade_bag_join(). */
struct lade_bag_handle;

/*
 * Creates a bag. *bag is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     NULL, a number out of range, or a field that the kind does not support.
 * LADE_NO_MEMORY
 * LADE_IO          the system has no random seed.
 */
LADE_API LADE_MUST_CHECK int lade_bag_create_sized(struct lade_bag **bag, const struct lade_bag_config *config,
                                                   size_t size);
static inline LADE_MUST_CHECK int lade_bag_create(struct lade_bag **bag, const struct lade_bag_config *config)
{
    return lade_bag_create_sized(bag, config, sizeof *config);
}

/*
 * Drops the remaining elements and frees the bag and its handles. All threads must have left and all loans must be
 * given back. NULL is allowed.
 */
LADE_API void lade_bag_destroy(struct lade_bag *bag);

/*
 * Acquires a free handle, for one thread. Lock-free.
 * LADE_OK
 * LADE_TOO_MANY    no free handle was found.
 */
LADE_API LADE_MUST_CHECK int lade_bag_join(struct lade_bag *bag, struct lade_bag_handle **handle);

/*
 * Releases the handle for other threads, for instance at thread exit. No operation on it may be in progress. NULL is
 * allowed.
 */
LADE_API void lade_bag_leave(struct lade_bag_handle *handle);

/*
 * Puts an element. On LADE_OK it belongs to the bag.
 * LADE_OK
 * LADE_FULL        under LADE_BAG_REJECT; or the element alone exceeds the byte budget; or operations of other handles
 *                  use up the budget and there is no element to evict.
 * LADE_LIMITED     samples_per_insert.
 * LADE_CLOSED
 * LADE_INVALID     a word or pointer outside 1 to LADE_BAG_WORD_MAX.
 */
LADE_API LADE_MUST_CHECK int lade_bag_put(struct lade_bag_handle *handle, const void *element);

/*
 * Removes an element and stores it.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      closed, and every element whose put returned LADE_OK has been drawn.
 */
LADE_API LADE_MUST_CHECK int lade_bag_draw(struct lade_bag_handle *handle, void *element);

/*
 * Puts one element and removes another in a single step, never the one that it puts. in and out may be the same
 * address.
 * LADE_OK
 * LADE_EMPTY       the bag is empty; nothing was put.
 * LADE_CLOSED
 * LADE_INVALID     as for put, or a bag with LADE_BAG_EVICT_OLDEST.
 */
LADE_API LADE_MUST_CHECK int lade_bag_exchange(struct lade_bag_handle *handle, const void *in, void *out);

/* The same for bags of words, with type checking of the word by the compiler. */
static inline LADE_MUST_CHECK int lade_bag_put_word(struct lade_bag_handle *handle, uint64_t word)
{
    return lade_bag_put(handle, &word);
}
static inline LADE_MUST_CHECK int lade_bag_draw_word(struct lade_bag_handle *handle, uint64_t *word)
{
    return lade_bag_draw(handle, word);
}
static inline LADE_MUST_CHECK int lade_bag_exchange_word(struct lade_bag_handle *handle, uint64_t in, uint64_t *out)
{
    return lade_bag_exchange(handle, &in, out);
}

/* Draws an element and drops it. Statuses as for draw. */
LADE_API int lade_bag_evict(struct lade_bag_handle *handle);

/*
 * Batches. Each returns the number of elements done. It is below count only if the single form would have failed. The
 * elements of a put_many arrive in any order; its puts are complete when it returns.
 */
LADE_API LADE_MUST_CHECK size_t lade_bag_put_many(struct lade_bag_handle *handle, const void *elements, size_t count);
LADE_API LADE_MUST_CHECK size_t lade_bag_draw_many(struct lade_bag_handle *handle, void *elements, size_t count);
LADE_API LADE_MUST_CHECK size_t lade_bag_exchange_many(struct lade_bag_handle *handle, const void *in, void *out,
                                                       size_t count);
LADE_API size_t lade_bag_evict_many(struct lade_bag_handle *handle, size_t count);

/* Batches of words, with type checking of the words by the compiler. */
static inline LADE_MUST_CHECK size_t lade_bag_put_words(struct lade_bag_handle *handle, const uint64_t *words,
                                                        size_t count)
{
    return lade_bag_put_many(handle, words, count);
}
static inline LADE_MUST_CHECK size_t lade_bag_draw_words(struct lade_bag_handle *handle, uint64_t *words, size_t count)
{
    return lade_bag_draw_many(handle, words, count);
}
static inline LADE_MUST_CHECK size_t lade_bag_exchange_words(struct lade_bag_handle *handle, const uint64_t *in,
                                                             uint64_t *out, size_t count)
{
    return lade_bag_exchange_many(handle, in, out, count);
}

/* Draws and drops elements until EMPTY. Returns the number dropped. */
LADE_API size_t lade_bag_drain(struct lade_bag_handle *handle);

/*
 * Records without a copy. Returns the scratch memory of the handle, for one record: fill it, then put with element
 * NULL. After a draw or exchange with element (out) NULL, it holds the record drawn. Valid until the next put, draw,
 * exchange, sample, evict or restore through this handle. NULL for other kinds.
 */
LADE_API LADE_MUST_CHECK void *lade_bag_scratch(struct lade_bag_handle *handle);

/* A sampled element. Frozen, because callers pass arrays of it. */
struct lade_loan {
    union {
        uint64_t word;        /* the element of a bag of words */
        struct lade_ref *ref; /* the loan holds its own reference */
        const void *record;   /* the bytes, inside the bag */
    };
    /*
     * How often this element was sampled, this time included; 65535 stands for that or more. Words are counted only
     * with max_times_sampled or under LADE_BAG_EVICT_OLDEST; otherwise the number does not grow.
     */
    uint32_t times;
    uint32_t cell, from;
};

/*
 * Chooses an element as draw does, and leaves it in the bag. The loan stays valid until it is given back, even if the
 * element is drawn or evicted in the meantime.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      as draw.
 * LADE_LIMITED     samples_per_insert.
 * LADE_TOO_MANY    config.max_loans loans are in use already.
 */
LADE_API LADE_MUST_CHECK int lade_bag_sample(struct lade_bag_handle *handle, struct lade_loan *loan);

/* Ends a loan, through any handle of the bag. refs: the same as lade_ref_put(). words: no effect. */
LADE_API void lade_bag_give_back(struct lade_bag_handle *handle, struct lade_loan *loan);

/*
 * Batches of sample and give_back. sample_many returns the number of loans; it is below count only if the single form
 * would have failed.
 */
LADE_API LADE_MUST_CHECK size_t lade_bag_sample_many(struct lade_bag_handle *handle, struct lade_loan *loans,
                                                     size_t count);
LADE_API void lade_bag_give_back_many(struct lade_bag_handle *handle, struct lade_loan *loans, size_t count);

/*
 * Calls visit(context, element) for each element until it returns false. An element that is in the bag from the
 * beginning to the end of the call is visited exactly once; others are visited at most once for each time that they are
 * put. visit() may read the element until it returns, and must not use the handle. A visit increments the
 * element's number of times sampled (lade_loan.times), except for words without LADE_BAG_EVICT_OLDEST. It never removes
 * the element, and counts neither in lade_bag_stats.sampled nor for samples_per_insert. Under
 * LADE_BAG_EVICT_OLDEST, older elements come first. *visited (may be NULL) is the number of calls.
 * LADE_OK
 * LADE_CANCELLED   visit returned false.
 */
LADE_API int lade_bag_for_each(struct lade_bag_handle *handle, bool (*visit)(void *context, const void *element),
                               void *context, uint64_t *visited);

/*
 * Waiting forms: as put, draw, exchange and sample, but they wait instead of returning LADE_EMPTY, LADE_FULL or
 * LADE_LIMITED. timeout is in nanoseconds; LADE_FOREVER: wait forever; any other negative timeout is the same as 0.
 * put_wait of an element that alone exceeds the byte budget returns LADE_FULL at once. Besides the other statuses of
 * these functions:
 * LADE_TIMEOUT
 * LADE_CANCELLED   by lade_bag_cancel().
 */
LADE_API LADE_MUST_CHECK int lade_bag_put_wait(struct lade_bag_handle *handle, const void *element, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_bag_draw_wait(struct lade_bag_handle *handle, void *element, int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_bag_exchange_wait(struct lade_bag_handle *handle, const void *in, void *out,
                                                    int64_t timeout);
LADE_API LADE_MUST_CHECK int lade_bag_sample_wait(struct lade_bag_handle *handle, struct lade_loan *loan,
                                                  int64_t timeout);

/*
 * Closes the bag: no put that begins after this call succeeds; elements in the bag can still be drawn. Wakes all
 * waiting threads. A put in progress either fails, or its element is drawn before any return of LADE_CLOSED. An
 * exchange, an evicting put or a put_many in progress may leave elements for drain or destroy. Equal words are not
 * distinguished: of two puts of the same word, the one that fails may be the one whose word was drawn.
 */
LADE_API void lade_bag_close(struct lade_bag *bag);

/*
 * Every waiting call returns LADE_CANCELLED. Later calls wait as usual: unlike that of a loader, this cancel is not
 * permanent. A call that is about to wait can miss this cancel: that is a call that had to wait, but has not yet read
 * the number of cancels.
 */
LADE_API void lade_bag_cancel(struct lade_bag *bag);

/*
 * Counts since creation; put == drawn + evicted + held. Exact when quiescent, otherwise off by the operations in
 * progress.
 */
struct lade_bag_stats {
    uint64_t put;        /* successful puts and exchanges */
    uint64_t drawn;      /* by draw, exchange, and the sample that reached max_times_sampled */
    uint64_t evicted;    /* by evict, drain, and put on a full bag */
    uint64_t held;       /* elements in the bag */
    uint64_t sampled;    /* successful samples */
    uint64_t given_back; /* loans that were ended */
    uint64_t bytes;      /* of the elements held, if config.bytes is set */
    /*
     * How often an operation found the bag full or empty, also if it then evicted, or returned LADE_CLOSED. full stays
     * 0 under LADE_BAG_EVICT_OLDEST, where puts do not check.
     */
    uint64_t full, empty;
    uint64_t scanned; /* draws and puts whose random probes failed and that scanned the groups */
    uint64_t seed;    /* in use: from the config, or drawn at random */
};

/* Stores the counts. Any thread. */
LADE_API void lade_bag_stats_sized(const struct lade_bag *bag, struct lade_bag_stats *counts, size_t size);
static inline void lade_bag_stats(const struct lade_bag *bag, struct lade_bag_stats *counts)
{
    lade_bag_stats_sized(bag, counts, sizeof *counts);
}

/*
 * Writes a snapshot: the elements of a bag of words or records, and how often each was sampled, as far as
 * lade_loan.times counts it. It is a stream of bytes with checksums that does not depend on the machine. It holds the
 * elements that for_each would visit, in that order. write() and read() return whether all bytes were transferred.
 * error may be NULL.
 * LADE_OK
 * LADE_INVALID     a bag of refs.
 * LADE_IO          write() failed.
 */
LADE_API LADE_MUST_CHECK int lade_bag_snapshot(struct lade_bag_handle *handle,
                                               bool (*write)(void *context, const void *bytes, size_t size),
                                               void *context, struct lade_error *error);

/*
 * Puts the elements of a snapshot, in its order, as lade_bag_put() would: elements in the bag stay; the evictions and
 * limits of this bag apply.
 *
 * A snapshot is read and checked in parts: a header, and blocks of about 4 KiB. error->offset (error may be NULL) is
 * the beginning of the part that failed. The elements before it have been put. After LADE_DAMAGED and LADE_IO, no
 * element of that part was put. Bytes after the snapshot are not read.
 * LADE_OK
 * LADE_INVALID     a bag of refs.
 * LADE_DAMAGED     not a snapshot, or modified, or of another kind or record size.
 * LADE_IO          read() failed, as it does if bytes are missing at the end.
 * LADE_FULL        as the put that returned it.
 * LADE_LIMITED     as the put that returned it.
 * LADE_CLOSED      as the put that returned it.
 */
LADE_API LADE_MUST_CHECK int lade_bag_restore(struct lade_bag_handle *handle,
                                              bool (*read)(void *context, void *bytes, size_t size), void *context,
                                              struct lade_error *error);

LADE_END

#endif
