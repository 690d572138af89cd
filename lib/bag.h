/* SPDX-License-Identifier: MIT */
/* The parts of a bag, shared by lib/bag*.c. Internal. */
#ifndef LADE_LIB_BAG_H
#define LADE_LIB_BAG_H

#include <lade/bag.h>
#include <lade/random.h>
#include <lade/ring.h>

#include "alloc.h"
#include "step.h"
#include "event.h"

#include <stdatomic.h>

/* Checkers take smaller ones. */
#ifndef LADE_BAG_GROUP
#define LADE_BAG_GROUP 64 /* slots in a group, at most 64 */
#endif
#ifndef LADE_BAG_TRIES
#define LADE_BAG_TRIES 64 /* random slots that a draw looks at, at least, before it goes through the groups */
#endif
#ifndef LADE_BAG_BELOW
#define LADE_BAG_BELOW lade_random_below
#include "prefetch.h"
#define LADE_BAG_AHEAD 4 /* random words that are known before their turn; two slots each */
#else
#define LADE_BAG_AHEAD 0
#define lade_prefetch(place) ((void)(place))
#endif

/*
 * A slot is one word. Words: the word itself, 0 when empty. Other kinds: the number of a cell, which holds the element
 * when CELL_HELD is set and is free otherwise; so every slot and every handle owns a cell at any time, put and draw
 * trade cells, and nothing is written in place. The upper bits count how often the element was sampled; LAP tells rounds
 * of LADE_BAG_EVICT_OLDEST apart; otherwise these bits name the handle that put the cell, so that it knows its own.
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

/* A group word: version and state. GROUP_EMPTY: no completed put is left undrawn in it. FULL: no completed draw left a slot. */
enum group_state { OPEN, CHECK_EMPTY, GROUP_EMPTY, CHECK_FULL, FULL };
#define STATE_BITS UINT64_C(7)
#define STATE_VERSION UINT64_C(8)

/* The active word: version, flags, and how many groups are in use. None in use: the bag is empty. */
#define USED_BITS ((UINT64_C(1) << 30) - 1)
#define ACTIVE_CHECK (UINT64_C(1) << 30)
#define ACTIVE_CLOSED (UINT64_C(1) << 31)
#define ACTIVE_VERSION (UINT64_C(1) << 32)

/* Added to a cell's count of loans when its element leaves the bag. */
#define REMOVED (INT64_C(1) << 40)

enum count { PUT, DRAWN, EVICTED, SAMPLED, GIVEN_BACK, BYTES_IN, BYTES_OUT, SAW_FULL, SAW_EMPTY, SCANNED, COUNTS };

#define REMEMBERED 16 /* slots that a handle emptied or saw free */

struct lade_bag_handle {
    _Alignas(LADE_CACHELINE_PAIR) struct lade_bag *bag;
    struct lade_mpmc_handle *pool;
    uint64_t half;                   /* of a random word, not yet used, and a bit above it; 0: none */
    uint64_t cursor;                 /* the next slot that a put looks at */
    uint64_t seen;                   /* the slot word that the last choice found */
    uint64_t slot;                   /* the slot that the last put filled */
    uint32_t free_hints[REMEMBERED]; /* by this handle, or seen free: likely to be so still, and in this core's cache */
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
    bool plain; /* words that need nothing but to be moved */
    unsigned char *cell;
    size_t element; /* bytes */
    size_t stride;  /* of cells */
    uint64_t cell_count;
    _Atomic int64_t *cell_refs; /* of each cell: taken through it minus given back, REMOVED when its element has left */
    struct lade_mpmc *pool;     /* free cells that no slot and no handle owns */
    struct lade_bag_handle *handle;
    struct lade_bag_config config;
    /* read by every operation, written now and then */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t active;
    _Atomic uint64_t full_state; /* version and OPEN, CHECK_FULL or FULL, of the whole bag */
    struct lade_event arrived, left;
    _Atomic uint32_t cancelled;
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t ticket; /* puts of LADE_BAG_EVICT_OLDEST */
};

/*
 * What every operation passes through is compiled twice, for plain bags and for all, and what is seldom needed is kept
 * out of it, for it would cost registers.
 */
#define LADE_BAG_INLINE static inline __attribute__((always_inline))
#define LADE_BAG_NOINLINE static __attribute__((noinline))

enum act { DRAW, EXCHANGE, SAMPLE, VISIT };

/*
 * Chooses an element uniformly and acts on its slot: empties it, replaces it by put, or counts a sampling. The handle
 * knows the slot word as it was. LADE_OK, LADE_EMPTY, LADE_CLOSED.
 */
int lade_bag_choose(struct lade_bag_handle *h, enum act act, uint64_t put);

/* The same, after trying did not help: one pass after the other through the groups. */
int lade_bag_choose_by_passes(struct lade_bag_handle *h, enum act act, uint64_t put);

/* Puts into whichever slot is free. The handle knows which. LADE_OK or LADE_FULL. */
int lade_bag_fill_or_full(struct lade_bag_handle *h, uint64_t put);

/* Borrows the element of a slot; words are read. The handle knows the slot word. LADE_OK or LADE_EMPTY. */
int lade_bag_borrow(struct lade_bag_handle *h, uint64_t slot);

/* Adds to a cell's loans; when the element has left and nobody borrows it any more, the cell is free. */
void lade_bag_cell_unref(struct lade_bag_handle *h, uint32_t cell, int64_t loans);

/* A free cell from the pool. There is one: see lade_bag_create(). */
uint32_t lade_bag_fresh(struct lade_bag_handle *h);

/* The element of a slot word leaves the byte budget. */
void lade_bag_count_bytes_out(struct lade_bag_handle *h, uint64_t seen);

/* A put of an element that was sampled times often already; 0xffff stands for that or more. As lade_bag_put(). */
int lade_bag_put_sampled(struct lade_bag_handle *h, const void *element, uint64_t times);

/* lade_bag_for_each(), whose visit() also hears how often the element was sampled. */
size_t lade_bag_visit(struct lade_bag_handle *h, bool (*visit)(void *context, const void *element, uint64_t times),
                      void *context);

/* The ratio limit lets another sample pass. */
bool lade_bag_may_sample(struct lade_bag_handle *h);

/* Whether what was counted decides who may go on. */
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

/* A cheap check: a put checks again when its element is inside, and CLOSED is returned by unless_closed(). */
static inline bool is_closed(struct lade_bag *b)
{
    LADE_STEP();
    return atomic_load_explicit(&b->active, memory_order_relaxed) & ACTIVE_CLOSED;
}

/*
 * The status, or LADE_CLOSED if the bag is closed. What the closing thread did before happens before the return. It may have
 * stopped before it woke the waiting threads, so every thread that finds the bag closed wakes them. A thread that waits
 * without being woken here announced itself later, and then this is sequentially consistent with its own check.
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
