/* SPDX-License-Identifier: MIT */
/* The internal structures of a bag, shared by lib/bag*.c. Internal. */
#ifndef LADE_LIB_BAG_H
#define LADE_LIB_BAG_H

#include <lade/bag.h>
#include <lade/random.h>
#include <lade/ring.h>

#include "alloc.h"
#include "step.h"
#include "event.h"

#include <stdatomic.h>

/* Checkers define smaller numbers. */
#ifndef LADE_BAG_GROUP
#define LADE_BAG_GROUP 64 /* slots in a group, at most 64 */
#endif
#ifndef LADE_BAG_TRIES
#define LADE_BAG_TRIES 64 /* minimum number of random slots that a draw probes before it scans the groups */
#endif
#ifndef LADE_BAG_BELOW
#define LADE_BAG_BELOW lade_random_below
#include "prefetch.h"
#define LADE_BAG_AHEAD 4 /* random words generated ahead of use; two slots each */
#else
#define LADE_BAG_AHEAD 0
#define lade_prefetch(place) ((void)(place))
#endif

/*
 * A slot is one word. Words: the word itself, 0 if empty. Other kinds: the number of a cell, which holds the element if
 * CELL_HELD is set and is free otherwise. So every slot and every handle owns a cell at any time, put and draw trade
 * cells, and nothing is written in place. The upper bits count how often the element was sampled. Under
 * LADE_BAG_EVICT_OLDEST, LAP distinguishes rounds; otherwise these bits name the handle that put the cell, so that the
 * handle recognises its own cells.
 */
#define TIMES_SHIFT 48
#define TIMES_ONE (UINT64_C(1) << TIMES_SHIFT)
#define TIMES_FULL UINT64_C(0xffff)
#define WORD_BITS (TIMES_ONE - 1)
#define CELL_BITS UINT64_C(0x7fffffff)
#define CELL_HELD UINT64_C(0x80000000)
#define LAP_SHIFT 32
#define LAP_BITS (UINT64_C(0xffff) << LAP_SHIFT)
#define LAPS_APART (UINT64_C(1) << 14) /* a put that is further behind does not rely on the bits */

/*
 * A group word: version and state. GROUP_EMPTY: it holds no element whose put has completed. FULL: it has no free slot
 * whose draw has completed.
 */
enum group_state { OPEN, CHECK_EMPTY, GROUP_EMPTY, CHECK_FULL, FULL };
#define STATE_BITS UINT64_C(7)
#define STATE_VERSION UINT64_C(8)

/* The active word: version, flags, and the number of groups in use. If no group is in use, the bag is empty. */
#define USED_BITS ((UINT64_C(1) << 30) - 1)
#define ACTIVE_CHECK (UINT64_C(1) << 30)
#define ACTIVE_CLOSED (UINT64_C(1) << 31)
#define ACTIVE_VERSION (UINT64_C(1) << 32)

/* Added to a cell's count of loans when its element leaves the bag. */
#define REMOVED (INT64_C(1) << 40)

enum count { PUT, DRAWN, EVICTED, SAMPLED, GIVEN_BACK, BYTES_IN, BYTES_OUT, SAW_FULL, SAW_EMPTY, SCANNED, COUNTS };

#define REMEMBERED 16 /* slots that a handle emptied or found free */

struct lade_bag_handle {
    _Alignas(LADE_CACHELINE_PAIR) struct lade_bag *bag;
    struct lade_mpmc_handle *pool;
    uint64_t half;                   /* unused half of a random word, and a bit above it; 0: none */
    uint64_t cursor;                 /* the next slot that a put inspects */
    uint64_t seen;                   /* the slot word that the last choice found */
    uint64_t slot;                   /* the slot that the last put filled */
    uint32_t free_hints[REMEMBERED]; /* slots probably still free, and in this core's cache */
    uint32_t last, remembered;
    uint32_t spare; /* the free cell that this handle owns */
    uint32_t number;
    struct lade_random random;
    _Atomic uint64_t count[COUNTS]; /* written by the owner, read by all */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint32_t taken;
    _Atomic uint32_t loans_out;
};

struct lade_bag {
    _Atomic uint64_t *slot;
    _Atomic uint64_t *group;
    uint64_t groups;
    uint64_t held; /* a slot word with one of these bits holds an element */
    bool cells;
    bool plain; /* words that only need to be moved */
    unsigned char *cell;
    size_t element; /* bytes */
    size_t stride;  /* of cells */
    uint64_t cell_count;
    _Atomic int64_t *cell_refs; /* per cell: loans taken minus loans given back, plus REMOVED if its element has left */
    struct lade_mpmc *pool;     /* free cells that no slot and no handle owns */
    struct lade_bag_handle *handle;
    struct lade_bag_config config;
    /* read by every operation, written rarely */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t active;
    _Atomic uint64_t full_state; /* version and OPEN, CHECK_FULL or FULL, of the whole bag */
    struct lade_event arrived, left;
    _Atomic uint32_t cancelled;
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t ticket; /* puts of LADE_BAG_EVICT_OLDEST */
};

/*
 * The path of every operation is compiled twice, for plain bags and for all bags. Rarely used code is kept out of it,
 * because it would cost registers.
 */
#define LADE_BAG_INLINE static inline __attribute__((always_inline))
#define LADE_BAG_NOINLINE static __attribute__((noinline))

enum act { DRAW, EXCHANGE, SAMPLE, VISIT };

/*
 * Chooses an element uniformly and acts on its slot: empties it, replaces the element by put, or counts a sample.
 * Records the previous slot word in the handle. LADE_OK, LADE_EMPTY, LADE_CLOSED.
 */
int lade_bag_choose(struct lade_bag_handle *h, enum act act, uint64_t put);

/* The same, after random probes failed: repeated scans of the groups. */
int lade_bag_choose_by_passes(struct lade_bag_handle *h, enum act act, uint64_t put);

/* Puts into any free slot and records it in the handle. LADE_OK or LADE_FULL. */
int lade_bag_fill_or_full(struct lade_bag_handle *h, uint64_t put);

/* Borrows the element of a slot; words are read. Records the slot word in the handle. LADE_OK or LADE_EMPTY. */
int lade_bag_borrow(struct lade_bag_handle *h, uint64_t slot);

/* Adds to a cell's loans. If the element has left and no thread borrows it, the cell becomes free. */
void lade_bag_cell_unref(struct lade_bag_handle *h, uint32_t cell, int64_t loans);

/* Returns a free cell from the pool. There always is one: see lade_bag_create(). */
uint32_t lade_bag_fresh(struct lade_bag_handle *h);

/* Subtracts the element of a slot word from the byte budget. */
void lade_bag_count_bytes_out(struct lade_bag_handle *h, uint64_t seen);

/* Puts an element that was already sampled times times; 0xffff stands for that or more. Statuses as lade_bag_put(). */
int lade_bag_put_sampled(struct lade_bag_handle *h, const void *element, uint64_t times);

/* As lade_bag_for_each(), but visit() also gets how often the element was sampled. */
size_t lade_bag_visit(struct lade_bag_handle *h, bool (*visit)(void *context, const void *element, uint64_t times),
                      void *context);

/* Whether the ratio limit allows another sample. */
bool lade_bag_may_sample(struct lade_bag_handle *h);

/* Whether the counts decide which operations may continue. */
static inline bool has_limits(const struct lade_bag *b)
{
    return b->config.samples_per_insert > 0 || b->config.bytes;
}

static inline void notify(const struct lade_bag *b, struct lade_event *event)
{
    if (has_limits(b))
        lade_event_notify_all(event);
    else
        lade_event_notify_all_seq_cst(event);
}

/* A cheap check: a put checks again after it has filled a slot, and unless_closed() returns CLOSED. */
static inline bool is_closed(struct lade_bag *b)
{
    LADE_STEP();
    return atomic_load_explicit(&b->active, memory_order_relaxed) & ACTIVE_CLOSED;
}

/*
 * Returns the status, or LADE_CLOSED if the bag is closed. Everything that the closing thread did before happens before
 * the return. That thread may have stopped before it woke the waiting threads, so every thread that finds the bag
 * closed wakes them. A thread that waits and is not woken here announced itself later; then its own check is
 * sequentially consistent with this load.
 */
static inline int unless_closed(struct lade_bag *b, int status)
{
    LADE_STEP();
    if (!(atomic_load_explicit(&b->active, memory_order_seq_cst) & ACTIVE_CLOSED)) /* [bag.closed] -> [bag.close] */
        return status;
    lade_event_notify_all_seq_cst(&b->arrived);
    lade_event_notify_all_seq_cst(&b->left);
    return LADE_CLOSED;
}

static inline uint64_t slots_in(const struct lade_bag *b, uint64_t groups)
{
    uint64_t n = groups * LADE_BAG_GROUP;

    return n < b->config.capacity ? n : b->config.capacity;
}

static inline unsigned char *cell_at(const struct lade_bag *b, uint32_t cell)
{
    return b->cell + cell * b->stride;
}

static inline struct lade_ref *ref_in(const struct lade_bag *b, uint32_t cell)
{
    return *(struct lade_ref **)(void *)cell_at(b, cell);
}

static inline uint64_t counted(struct lade_bag_handle *h, enum count which)
{
    return atomic_load_explicit(&h->count[which], memory_order_relaxed); /* only the owner writes it */
}

static inline void add(struct lade_bag_handle *h, enum count which, uint64_t n)
{
    atomic_store_explicit(&h->count[which], counted(h, which) + n, memory_order_relaxed);
}

#endif
