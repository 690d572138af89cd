/* SPDX-License-Identifier: MIT */
/*
 * bag: a container that many threads fill and draw from uniformly at random, without a lock.
 *
 * A shuffle buffer (put until full, then exchange), a work pool (put and draw), a replay buffer (put with eviction,
 * sample and give back). It is the bucket container of Lin 2026 with slots in place of locked buckets.
 *
 * When not to use it: when elements must come out in the order in which they went in (see ring), or by weight: there is no
 * prioritised sampling.
 *
 * Elements     words    uint64_t from 1 to LADE_BAG_WORD_MAX: numbers, indices, pointers. The fastest kind.
 *              refs     struct lade_ref *, a counted object. put hands the caller's reference over, draw hands it out.
 *              records  a fixed number of bytes, copied in and out of memory that the bag owns.
 *              Functions take and give elements by address: uint64_t *, struct lade_ref **, or the bytes of a record.
 * Threads      each thread uses a handle of its own. lade_bag_join(), lade_bag_leave(), lade_bag_close(),
 *              lade_bag_cancel() and lade_bag_stats() by anyone. create and destroy: nobody else uses the bag.
 * Uniform      a draw looks at a slot and then claims it. Given the attempt that succeeds, every element that was in
 *              the bag from the beginning of the call to that claim is equally likely, for every schedule that does not
 *              depend on the random numbers. Not promised: anything about elements that arrive or leave in between, and
 *              independence of a schedule that watches the caches. exchange, sample and evict choose in the same way.
 * EMPTY, FULL  EMPTY is about completed puts: at some instant of the call every element whose put had completed was drawn.
 *              FULL is about completed draws: at some instant of the call no slot was free, where a slot is free again when
 *              the draw that emptied it has completed. A put or draw under way counts for neither. Therefore the two can
 *              contradict each other across operations that overlap: there are runs in which no order of the operations
 *              explains both a FULL and an EMPTY, so a bag is not linearizable as a bounded multiset. A put, draw or
 *              exchange that returns LADE_OK takes effect in one step; a put that evicts uniformly has seen the bag full
 *              earlier in the call.
 * Capacity     exact. Slots come into use as they are needed, so that a bag with few elements is quick to draw from.
 * Progress     lock-free: an operation repeats only when another one succeeded meanwhile. Only the functions named
 *              _wait wait.
 * Ordering     what a thread did before a put happens before what the thread that draws, exchanges or samples the
 *              element does afterwards. What it did before a close happens before every return of LADE_CLOSED.
 * Memory       allocated at creation, none afterwards. 8 bytes a slot, 8 a group of 64, about 1 KiB a handle; refs and
 *              records (and words under LADE_BAG_EVICT_OLDEST): the element, rounded up to a multiple of 8 bytes, from 64
 *              bytes on of 64, and 8 bytes more for each slot, and for each handle 3 + max_loans spare ones.
 * Stopped      a thread that stops for ever inside an operation hinders nobody. If it stops inside close, the first operation
 *              that returns LADE_CLOSED wakes the waiting threads in its place. It costs at most the element or the
 *              slot that the operation held (put_many: of words, up to 64), and its handle, which must not be used again.
 * Lifetime     some numbers repeat. A put under LADE_BAG_EVICT_OLDEST that sleeps between its last look at the slot and its
 *              step for just 2^16 rounds of capacity puts, or a multiple of that, may leave its element in place of a newer
 *              one. A check for EMPTY that sleeps while the bag's active word changes 2^32 times may miss an element.
 * Fork         a child has its own copy of the bag and may use it. To the child, a thread that was inside an operation at
 *              the fork is one that stopped for ever there: see Stopped. Nobody is woken across a fork.
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

#define LADE_BAG_MAX (UINT64_C(1) << 30)
#define LADE_BAG_WORD_MAX ((UINT64_C(1) << 48) - 1)
#define LADE_BAG_RECORD_MAX ((size_t)1 << 30)
#define LADE_BAG_HANDLES_MAX 4096u
#define LADE_BAG_LOANS_MAX 65536u
#define LADE_BAG_TIMES_MAX 65534u

enum lade_bag_kind { LADE_BAG_WORDS, LADE_BAG_REFS, LADE_BAG_RECORDS };

/* What put does when the bag is full. */
enum lade_bag_full {
    LADE_BAG_REJECT,        /* answers LADE_FULL */
    LADE_BAG_EVICT_UNIFORM, /* having seen it full, replaces an element, each equally likely */
    /*
     * Put number t replaces the element of put number t - capacity if it is still there, also when others are gone. For
     * puts that sleep very long see Lifetime.
     */
    LADE_BAG_EVICT_OLDEST,
};

/* Zero means the default where one is named. */
struct lade_bag_config {
    uint64_t capacity; /* elements at most, 1 to LADE_BAG_MAX */
    unsigned handles;  /* threads at most at a time, 1 to LADE_BAG_HANDLES_MAX */
    enum lade_bag_kind kind;
    size_t record_size; /* records only */
    unsigned max_loans; /* records only: borrowed at a time through one handle; default 1 */
    enum lade_bag_full full;
    unsigned max_times_sampled; /* the sample that reaches it removes the element; default no limit */
    /*
     * Words and refs: the elements' bytes together do not pass byte_budget, by their sizes as bytes() says, which must
     * be the same at put and at removal. A put that would pass it finds the bag full, or evicts until there is room. Each
     * other handle in the middle of a put may add one element. exchange does not look at it. Default no budget. Not
     * with LADE_BAG_EVICT_OLDEST.
     */
    uint64_t byte_budget;
    size_t (*bytes)(void *context, const void *element);
    /*
     * Keeps samples - samples_per_insert * puts between -ratio_slack and ratio_slack: put or sample, whichever is ahead,
     * answers LADE_LIMITED. Each other handle in the middle of an operation may add one element. exchange counts as a
     * put and is not held back. On a closed bag LADE_CLOSED takes the place of LADE_LIMITED. Default no limit. ratio_slack
     * is at least samples_per_insert and 1, max_times_sampled, if set, at least samples_per_insert. Elements that are drawn
     * or evicted before they were sampled so often can leave a bag where put answers LADE_LIMITED and sample LADE_EMPTY.
     */
    double samples_per_insert;
    double ratio_slack;
    uint64_t seed;    /* of every handle's generator; any value is as good as another, 0 included */
    bool random_seed; /* draw one instead; lade_bag_stats.seed reports it */
    void (*release)(struct lade_ref *ref); /* refs: run when the bag gives back the last reference */
    void (*drop)(void *context,
                 uint64_t word);    /* words: told of each word evicted, and left at destroy; default none */
    void *context;                  /* of bytes() and drop() */
    const struct lade_alloc *alloc; /* default aligned_alloc() and free() */
};

struct lade_bag;
struct lade_bag_handle;

/*
 * *bag is set on LADE_OK only.
 * LADE_OK
 * LADE_INVALID     NULL, a number out of range, or a field that does not go with the kind.
 * LADE_NO_MEMORY
 * LADE_IO          the system has no random seed.
 */
LADE_API LADE_MUST_CHECK int lade_bag_create_sized(struct lade_bag **bag, const struct lade_bag_config *config,
                                                   size_t size);
static inline LADE_MUST_CHECK int lade_bag_create(struct lade_bag **bag, const struct lade_bag_config *config)
{
    return lade_bag_create_sized(bag, config, sizeof *config);
}

/* Drops what is left and frees the bag and its handles. Everybody has left, loans are given back. NULL is fine. */
LADE_API void lade_bag_destroy(struct lade_bag *bag);

/*
 * A free handle, for one thread. Lock-free.
 * LADE_OK
 * LADE_TOO_MANY    no free handle was found.
 */
LADE_API LADE_MUST_CHECK int lade_bag_join(struct lade_bag *bag, struct lade_bag_handle **handle);

/* Gives the handle back for others, for instance at thread exit; outside any operation on it. NULL is fine. */
LADE_API void lade_bag_leave(struct lade_bag_handle *handle);

/*
 * On LADE_OK the element belongs to the bag.
 * LADE_OK
 * LADE_FULL        under LADE_BAG_REJECT; or the element alone is larger than the byte budget; or operations of other handles
 *                  keep the budget used up and nothing is there to evict.
 * LADE_LIMITED     samples_per_insert.
 * LADE_CLOSED
 * LADE_INVALID     a word or pointer outside 1 to LADE_BAG_WORD_MAX.
 */
LADE_API LADE_MUST_CHECK int lade_bag_put(struct lade_bag_handle *handle, const void *element);

/*
 * Removes an element.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      closed, and every put that returned LADE_OK has been drawn.
 */
LADE_API LADE_MUST_CHECK int lade_bag_draw(struct lade_bag_handle *handle, void *element);

/*
 * Puts one element and removes another in a single step, never the one that it puts. in and out may be the same address.
 * LADE_OK
 * LADE_EMPTY       nothing was put.
 * LADE_CLOSED
 * LADE_INVALID     as for put, or a bag with LADE_BAG_EVICT_OLDEST.
 */
LADE_API LADE_MUST_CHECK int lade_bag_exchange(struct lade_bag_handle *handle, const void *in, void *out);

/* The same for bags of words: the compiler checks that a word goes in and out. */
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
 * Batches: the number done; it is short only where the single form would have failed. The
 * elements of a put_many arrive in any order; its puts are complete when it returns.
 */
LADE_API LADE_MUST_CHECK size_t lade_bag_put_many(struct lade_bag_handle *handle, const void *elements, size_t count);
LADE_API LADE_MUST_CHECK size_t lade_bag_draw_many(struct lade_bag_handle *handle, void *elements, size_t count);
LADE_API LADE_MUST_CHECK size_t lade_bag_exchange_many(struct lade_bag_handle *handle, const void *in, void *out,
                                                       size_t count);
LADE_API size_t lade_bag_evict_many(struct lade_bag_handle *handle, size_t count);

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

/* Draws and drops until EMPTY. The number dropped. */
LADE_API size_t lade_bag_drain(struct lade_bag_handle *handle);

/*
 * Records without a copy. The handle owns scratch memory for one record: fill it and put it with element NULL. After a draw or
 * exchange with element (out) NULL it holds the record drawn. Valid until the next put, draw, exchange, sample, evict or
 * restore through this handle; NULL for other kinds.
 */
LADE_API LADE_MUST_CHECK void *lade_bag_scratch(struct lade_bag_handle *handle);

/* What sample lends. Frozen, as arrays of it are passed. */
struct lade_loan {
    union {
        uint64_t word;
        struct lade_ref *ref; /* a reference of the borrower's own */
        const void *record;
    };
    /*
     * This element has been sampled, this time included; 65535 stands for that or more. Of words it is counted only with
     * max_times_sampled or under LADE_BAG_EVICT_OLDEST, and else does not grow.
     */
    uint32_t times;
    uint32_t cell, from;
};

/*
 * Chooses an element as draw does and leaves it in the bag. It stays valid until it is given back, also when it is drawn
 * or evicted meanwhile.
 * LADE_OK
 * LADE_EMPTY
 * LADE_CLOSED      as draw.
 * LADE_LIMITED     samples_per_insert.
 * LADE_TOO_MANY    config.loans are out already.
 */
LADE_API LADE_MUST_CHECK int lade_bag_sample(struct lade_bag_handle *handle, struct lade_loan *loan);

/* Ends a loan, through any handle of the bag. refs: the same as lade_ref_put(). words: nothing to do. */
LADE_API void lade_bag_give_back(struct lade_bag_handle *handle, struct lade_loan *loan);

LADE_API LADE_MUST_CHECK size_t lade_bag_sample_many(struct lade_bag_handle *handle, struct lade_loan *loans,
                                                     size_t count);
LADE_API void lade_bag_give_back_many(struct lade_bag_handle *handle, struct lade_loan *loans, size_t count);

/*
 * Calls visit(context, element) until it returns false. An element that is in the bag from the beginning to the end is
 * visited exactly once, others at most once for each time that they are put. visit() may read the element until it
 * returns, and does not use the handle. A visit counts in an element's times sampled, except for words (but also for
 * those under LADE_BAG_EVICT_OLDEST). Under LADE_BAG_EVICT_OLDEST older elements come first. *visited (may be NULL) is the
 * number of calls.
 * LADE_OK
 * LADE_CANCELLED   visit returned false.
 */
LADE_API int lade_bag_for_each(struct lade_bag_handle *handle, bool (*visit)(void *context, const void *element),
                               void *context, uint64_t *visited);

/*
 * Waiting forms: as the ones above, but for LADE_EMPTY, LADE_FULL and LADE_LIMITED they wait. timeout is in
 * nanoseconds; LADE_FOREVER: no limit; any other negative one is the same as 0. put_wait of an element that alone is larger
 * than the byte budget returns LADE_FULL at once. Besides the statuses of the forms above:
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
 * No put that begins from here on succeeds; what is inside can be drawn. Wakes everybody who waits. A put that is under way
 * is refused or drawn before anybody hears LADE_CLOSED; an exchange, an evicting put or a put_many that is under way may
 * leave elements for drain or destroy. Equal words are not told apart: of two puts of the same word, the one that is
 * refused may be the one whose word was drawn.
 */
LADE_API void lade_bag_close(struct lade_bag *bag);

/*
 * Every call that is waiting returns LADE_CANCELLED. Later ones wait as usual, and so does a call that is about to wait: one
 * that has found nothing, but has not yet noted how often the bag was cancelled, misses this cancel.
 */
LADE_API void lade_bag_cancel(struct lade_bag *bag);

/* What was done so far; put == drawn + evicted + held. Exact at rest, else off by the operations under way. */
struct lade_bag_stats {
    uint64_t put;     /* LADE_OK of put and exchange */
    uint64_t drawn;   /* by draw, exchange, and the sample that reached max_times_sampled */
    uint64_t evicted; /* by evict, drain, and put on a full bag */
    uint64_t held;
    uint64_t sampled;
    uint64_t given_back;
    uint64_t bytes; /* of what is held, where the configuration says how to tell */
    /*
     * Times that an operation found it so, also when it then evicted, or answered LADE_CLOSED. full stays 0 under
     * LADE_BAG_EVICT_OLDEST, where puts do not look.
     */
    uint64_t full, empty;
    uint64_t scanned; /* draws and puts that found nothing by trying and went through the groups */
    uint64_t seed;    /* in use: that of the config, or the one that was drawn */
};

LADE_API void lade_bag_stats_sized(const struct lade_bag *bag, struct lade_bag_stats *counts, size_t size);
static inline void lade_bag_stats(const struct lade_bag *bag, struct lade_bag_stats *counts)
{
    lade_bag_stats_sized(bag, counts, sizeof *counts);
}

/*
 * Snapshot: the elements of a bag of words or records, and how often each was sampled, as far as lade_loan.times counts
 * it, as a stream of bytes with checksums that does not depend on the machine. It holds what for_each would visit, in that
 * order. write() and read() return whether all bytes were transferred. error may be NULL.
 * LADE_OK
 * LADE_INVALID     a bag of refs.
 * LADE_IO          write() failed.
 */
LADE_API LADE_MUST_CHECK int lade_bag_snapshot(struct lade_bag_handle *handle,
                                               bool (*write)(void *context, const void *bytes, size_t size),
                                               void *context, struct lade_error *error);

/*
 * Puts the elements of a snapshot, in its order, as lade_bag_put() would: what is inside stays, evictions and limits
 * are those of this bag.
 *
 * A snapshot is read and checked in parts, a header and blocks of about 4 KiB. error->offset (error may be NULL) is where the
 * part begins that ended it. What comes before has been put; of the part itself nothing was put after LADE_DAMAGED and
 * LADE_IO. Bytes after the snapshot are not read.
 * LADE_OK
 * LADE_INVALID     a bag of refs.
 * LADE_DAMAGED     not a snapshot, or changed, or of another kind or record size.
 * LADE_IO          read() failed, as it does when bytes are missing at the end.
 * LADE_FULL        as the put that returned it.
 * LADE_LIMITED     as the put that returned it.
 * LADE_CLOSED      as the put that returned it.
 */
LADE_API LADE_MUST_CHECK int lade_bag_restore(struct lade_bag_handle *handle,
                                              bool (*read)(void *context, void *bytes, size_t size), void *context,
                                              struct lade_error *error);

LADE_END

#endif
