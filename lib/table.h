/* SPDX-License-Identifier: MIT */
/*
 * The cells of a table, and how one is found. Internal.
 *
 * An array of cells {key, val}, probed one after another from a key's home. Keys are stored mixed. The mixed key, as a
 * fraction, gives the home as a position in the array. So arrays of any size keep the same order, and a move to a
 * larger array scans both from beginning to end.
 *
 *   key   KEY_EMPTY, then once and permanently a mixed key, or MOVED
 *   val   ABSENT, then values and codes for "removed"; FROZEN is added once, and then it never changes again
 *
 * A table that grows, shrinks or is cleaned has a second array in `next`. Then an empty cell becomes MOVED and a filled
 * one FROZEN, and pairs that are present are copied: only into an ABSENT val, so that a late copy never undoes a later
 * change. A frozen val is valid as long as the later arrays have nothing newer, so that readers need not help.
 */
#ifndef LADE_LIB_TABLE_H
#define LADE_LIB_TABLE_H

#include <lade/ref.h>
#include <lade/table.h>

#include "alloc.h"
#include "rcu_read.h"
#include "reclaim.h"
#include "step.h"
#include "table_mix.h"

#include <stdatomic.h>
#include <string.h>

/* Checkers define smaller numbers. */
#ifndef LADE_TABLE_FIRST
#define LADE_TABLE_FIRST 128 /* homes of the first array */
#endif
#ifndef LADE_TABLE_MOVE
#define LADE_TABLE_MOVE LADE_TABLE_BLOCK
#endif
#ifndef LADE_TABLE_SAMPLED
#define LADE_TABLE_SAMPLED 65536 /* number of cells from which on only every SAMPLE-th is counted */
#endif
#define LADE_TABLE_SAMPLE 64
#ifndef LADE_TABLE_LINE
#define LADE_TABLE_LINE 4 /* cells of a cache line; arrays have whole lines */
#endif

/*
 * Adds to a counter that affects only the choice of sizes; returns the previous value. Checkers leave these counters
 * out: each order in which threads count would be a separate execution.
 */
#ifndef LADE_TABLE_COUNT
#define LADE_TABLE_COUNT(place, n) atomic_fetch_add_explicit(place, n, memory_order_relaxed)
#endif

/* Whether a cell is counted. */
#ifndef LADE_TABLE_COUNTED
#define LADE_TABLE_COUNTED(a, c) (!((uint64_t)((c) - (a)->cell) & (a)->sample))
#endif

/*
 * Writes the current value back: the kernel maps a page twice if it is read before it is written. Checkers leave it
 * out.
 */
#ifndef LADE_TABLE_TOUCH
#define LADE_TABLE_TOUCH(place) ((void)atomic_fetch_or_explicit(place, 0, memory_order_relaxed))
#endif

#define KEY_EMPTY UINT64_C(0)
#define MOVED UINT64_MAX

#define ABSENT UINT64_C(0)
#define TOMB UINT64_C(1)    /* removed; in a table of byte strings this bit is set in the pointer to the record */
#define VALUE_0 UINT64_C(2) /* the value 0 */
#define FROZEN (UINT64_C(1) << 63)

struct cell {
    _Atomic uint64_t key, val;
};

/* A byte-string key with its value; immutable once it can be found. */
struct record {
    union {
        struct lade_later grace;
        struct record *limbo; /* the next record that is freed with the same array */
    };
    struct lade_table *table;
    uint64_t value;
    size_t size;
    unsigned char bytes[];
};

struct array {
    uint64_t cells;
    uint64_t blocks;
    uint64_t sample;        /* a cell is counted if its number has none of these bits */
    uint64_t limit;         /* counted cells at which a larger array is requested */
    uint64_t most;          /* maximum of counted cells if no larger array can be allocated */
    uint64_t size;          /* bytes of this mapping */
    _Atomic uint8_t *moved; /* a flag for each block, after the cells */
    struct lade_table *table;
    _Atomic(struct array *) next;
    _Atomic uint32_t starved; /* no larger array could be allocated */
    struct lade_later grace;
    struct lade_ref ref;
    _Atomic(struct record *) limbo;                      /* records that are freed with this array */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t used; /* counted cells */
    _Atomic uint64_t dead;                               /* counted cells of removed keys */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t turn; /* the block to move next */
    _Atomic uint64_t done;                               /* blocks moved */
    _Alignas(LADE_CACHELINE_PAIR) struct cell cell[];
};

struct lade_table {
    _Atomic(struct array *) root;
    struct lade_table_mixer
        quick; /* the same as mixer where is_plain(); else zero, which mixes every key to KEY_EMPTY */
    struct lade_table_mixer mixer;
    struct lade_table_config config;
    struct lade_table_hash hash;                            /* config.hash, or not in use */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t side[2]; /* vals of the keys that are mixed to KEY_EMPTY and MOVED */
    _Alignas(LADE_CACHELINE_PAIR) _Atomic uint64_t bytes;   /* of all arrays */
    _Atomic uint64_t waiting;                               /* arrays that wait to be freed */
    _Atomic uint64_t moved_cells, growths;
};

/* The key to find: a mixed key, or a hash and the bytes. */
struct sought {
    uint64_t h;
    const void *bytes;
    size_t size;
    bool is_bytes;
};

/* Field by field, because every checker supports that. */
static inline void seek(struct sought *s, uint64_t h, bool is_bytes)
{
    s->h = h;
    s->bytes = NULL;
    s->size = 0;
    s->is_bytes = is_bytes;
}

static inline bool is_live(const struct sought *s, uint64_t val)
{
    return s->is_bytes ? val != ABSENT && !(val & TOMB) : val >= VALUE_0;
}

static inline struct record *record_of(uint64_t val)
{
    return (struct record *)(uintptr_t)(val & ~(FROZEN | TOMB)); // NOLINT
}

static inline void seek_record(struct sought *s, uint64_t h, const struct record *r)
{
    seek(s, h, true);
    s->bytes = r->bytes;
    s->size = r->size;
}

/*
 * Whether a cell with the hash of the sought key belongs to that key. A cell without a val belongs to the thread that
 * stores one.
 */
static inline bool is_of(const struct sought *s, uint64_t val)
{
    const struct record *r;

    if (!s->is_bytes || (val & ~FROZEN) == ABSENT)
        return true;
    r = record_of(val);
    return r->size == s->size && memcmp(r->bytes, s->bytes, s->size) == 0;
}

static inline uint64_t home_of(const struct array *a, uint64_t h)
{
    uint64_t low;

    return lade_multiply(h, a->cells, &low);
}

/*
 * Returns the n-th cell in the probe order of a key with this home: first the cells of the home's cache line, from the
 * home on with wrap-around, because they arrive together; then those of the next line.
 */
static inline struct cell *nth_cell(struct array *a, uint64_t home, uint64_t n)
{
    uint64_t i = home - home % LADE_TABLE_LINE + (home + n) % LADE_TABLE_LINE + (n - n % LADE_TABLE_LINE);

    return a->cell + (i < a->cells ? i : i - a->cells);
}

static inline struct array *root_of(struct lade_table *t)
{
    /* The array is complete, and so is everything that was moved to it. */
    return atomic_load_explicit(&t->root, memory_order_acquire); /* [table.enter] -> [table.swing] */
}

static inline struct array *next_of(struct array *a)
{
    return atomic_load_explicit(&a->next, memory_order_acquire); /* [table.next] -> [table.install] */
}

static inline uint64_t load_key(struct cell *c)
{
    /* A thread that finds MOVED also finds the next array. */
    return atomic_load_explicit(&c->key, memory_order_acquire); /* [table.key] -> [table.move], [table.claim] */
}

static inline uint64_t load_val(struct cell *c)
{
    /* Observes everything before the store of the value; for a frozen one also the next array. */
    return atomic_load_explicit(&c->val,
                                memory_order_acquire); /* [table.val] -> [table.change], [table.freeze], [table.copy] */
}

/* Returns the val of the sought key in a and the later arrays, without FROZEN. Call it inside a read section. */
static inline uint64_t look_up(struct array *a, const struct sought *s)
{
    uint64_t old = ABSENT;

    for (; a; a = next_of(a)) {
        uint64_t home = home_of(a, s->h);
        for (uint64_t n = 0; n < a->cells; n++) {
            struct cell *c = nth_cell(a, home, n);
            uint64_t key = load_key(c);
            if (key == s->h) {
                uint64_t val = load_val(c);
                if (!is_of(s, val))
                    continue;
                if (!(val & FROZEN))
                    return val == ABSENT ? old : val;
                if (val != (FROZEN | ABSENT))
                    old = val & ~FROZEN;
                break;
            }
            if (key == KEY_EMPTY)
                return old;
            if (key == MOVED)
                break;
        }
    }
    return old;
}

/*
 * Returns the cell where the search for a word ends, between its home and the end of a, and stores the key there: the
 * word, KEY_EMPTY, or another key if look_up() or find_cell() must decide. Cells are probed in the order of nth_cell().
 */
static inline struct cell *find_near(struct array *a, uint64_t home, uint64_t h, uint64_t *key)
{
    uint64_t i = home;

    do {
        do {
            struct cell *c = a->cell + i;
            *key = load_key(c);
            if (*key == h || *key == KEY_EMPTY || *key == MOVED)
                return c;
            i = i - i % LADE_TABLE_LINE + (i + 1) % LADE_TABLE_LINE;
        } while (i != home);
        home = i += LADE_TABLE_LINE;
    } while (i < a->cells);
    *key = ~h;
    return NULL;
}

enum want {
    LOOK, /* do not take a cell */
    TAKE, /* a cell for a new key */
    COPY, /* a cell for a key from another array: also if no new key would be accepted */
};

enum find {
    FOUND,   /* the cell */
    NOTHING, /* the search ends in this array: there is no cell, and none was wanted */
    ON,      /* there is no cell, and never will be: continue in the next array */
    NO_ROOM, /* no cell is free, and there is no next array */
};

/*
 * Finds the cell of s in a, with its val; takes an empty one if one is wanted and the table does not grow. *counted is
 * set if the cell was empty and is one of those that are counted.
 */
static inline enum find find_cell(struct array *a, const struct sought *s, enum want want, struct cell **cell,
                                  uint64_t *val, bool *counted)
{
    uint64_t home = home_of(a, s->h);

    for (uint64_t n = 0; n < a->cells; n++) {
        struct cell *c = nth_cell(a, home, n);
        uint64_t key = load_key(c);
        if (key == KEY_EMPTY) {
            uint64_t take = s->h;
            if (want == LOOK)
                return NOTHING;
            if (next_of(a))
                take = MOVED;
            else if (want == TAKE && atomic_load_explicit(&a->starved, memory_order_relaxed) &&
                     atomic_load_explicit(&a->used, memory_order_relaxed) >= a->most)
                return NO_ROOM;
            LADE_STEP();
            /*
             * On failure this thread may load MOVED and must then find the next array. A thread that finds MOVED may
             * load it from this store.
             */
            if (atomic_compare_exchange_strong_explicit(
                    &c->key, &key, take, memory_order_acq_rel,
                    memory_order_acquire)) { /* [table.claim] -> [table.move], [table.key] */
                key = take;
                *counted = take == s->h && LADE_TABLE_COUNTED(a, c);
            }
        }
        if (key == MOVED)
            return ON;
        if (key == s->h) {
            *val = load_val(c);
            if (!is_of(s, *val))
                continue;
            *cell = c;
            return FOUND;
        }
    }
    return next_of(a) ? ON : want == LOOK ? NOTHING : NO_ROOM;
}

/*
 * Returns whether a has a next array; creates one if necessary, with the given number of cells, or if that is 0, with
 * as many as a needs.
 */
bool lade_table_grow(struct lade_table *t, struct array *a, uint64_t cells, bool tight);

/* Moves one block of a, whose next array exists. */
void lade_table_help(struct lade_table *t, struct array *a);

/*
 * Moves the remaining blocks of the root array until it has no next one. Returns that array: at some moment of the call
 * it had all keys. NULL if memory ran out.
 */
struct array *lade_table_complete(struct lade_table *t);

/* Returns the number of cells for a number of keys; tight: as trim packs them. */
uint64_t lade_table_cells_for(uint64_t keys, bool tight);

/*
 * Returns the number of cells of the next array after a, if a larger one is requested: the given number, or more while
 * old arrays wait to be freed.
 */
uint64_t lade_table_cells_after(struct lade_table *t, const struct array *a, uint64_t cells);

/*
 * Creates an empty array; NULL if that fails. A tight one is filled to a higher load before a larger one is requested.
 */
struct array *lade_table_array(struct lade_table *t, uint64_t cells, bool tight);
void lade_table_array_free(struct array *a);
void lade_table_array_put(struct array *a);

/* Returns zeroed memory from the table's allocator, or NULL. */
void *lade_table_map(const struct lade_table *t, size_t size);
void lade_table_unmap(const struct lade_table *t, void *memory, size_t size);

/* Requests pages that will be written soon, all at once. A hint. */
void lade_table_populate(const struct lade_table *t, void *memory, size_t size);

struct record *lade_table_record(struct lade_table *t, const void *key, size_t size, uint64_t value);
void lade_table_record_free(struct record *r);

/*
 * Frees a record after a grace period. before is the array through which the caller reached the one from which it
 * removed the record, or NULL. That array still leads new operations to the record, so the record is freed with it.
 */
void lade_table_retire(struct array *before, struct record *r);

#endif
