/* SPDX-License-Identifier: MIT */
/*
 * The cells of a table, and how one is found. Internal.
 *
 * An array of cells {key, val}, probed one after another from a key's home. Keys are stored mixed; the home is where the
 * mixed key, taken as a fraction, falls in the array: arrays of any size keep the same order, and moving to a larger one goes
 * through both from beginning to end.
 *
 *   key   KEY_EMPTY, then once and for ever a mixed key, or MOVED
 *   val   ABSENT, then values and codes for "removed"; FROZEN is added once, and then it never changes again
 *
 * A table that grows, shrinks or is cleaned has a second array behind `next`. Then an empty cell becomes MOVED and a filled
 * one FROZEN, and pairs that are present are copied: into an ABSENT val only, so that a late copy never undoes a later
 * change. What is frozen is right as long as the arrays behind have nothing newer, so that readers need not help.
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

/* Checkers take smaller ones. */
#ifndef LADE_TABLE_FIRST
#define LADE_TABLE_FIRST 128 /* homes of the first array */
#endif
#ifndef LADE_TABLE_MOVE
#define LADE_TABLE_MOVE LADE_TABLE_BLOCK
#endif
#ifndef LADE_TABLE_SAMPLED
#define LADE_TABLE_SAMPLED 65536 /* cells of an array from which on only every SAMPLE-th is counted */
#endif
#define LADE_TABLE_SAMPLE 64
#ifndef LADE_TABLE_LINE
#define LADE_TABLE_LINE 4 /* cells of a cache line; arrays have whole lines */
#endif

/*
 * Adds to a counter that only the choice of sizes depends on; answers what it was. Checkers leave them out: each order in
 * which threads count would be an execution of its own.
 */
#ifndef LADE_TABLE_COUNT
#define LADE_TABLE_COUNT(place, n) atomic_fetch_add_explicit(place, n, memory_order_relaxed)
#endif

/* Whether a cell is one of those that are counted. */
#ifndef LADE_TABLE_COUNTED
#define LADE_TABLE_COUNTED(a, c) (!((uint64_t)((c) - (a)->cell) & (a)->sample))
#endif

/* Writes what is there: the kernel maps a page twice when it is read before it is written. Checkers leave it out. */
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

/* A byte-string key with its value; never changed once it can be found. */
struct record {
    union {
        struct lade_later grace;
        struct record *limbo; /* the next one that is freed with the same array */
    };
    struct lade_table *table;
    uint64_t value;
    size_t size;
    unsigned char bytes[];
};

struct array {
    uint64_t cells;
    uint64_t blocks;
    uint64_t sample;        /* cells are counted whose number has none of these bits */
    uint64_t limit;         /* counted cells at which a larger array is wanted */
    uint64_t most;          /* counted cells that are taken when there is none */
    uint64_t size;          /* bytes of this mapping */
    _Atomic uint8_t *moved; /* a flag for each block, behind the cells */
    struct lade_table *table;
    _Atomic(struct array *) next;
    _Atomic uint32_t starved; /* no larger array was to be had */
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
    _Atomic uint64_t waiting;                               /* arrays on their way to be freed */
    _Atomic uint64_t moved_cells, growths;
};

/* What is looked for: a mixed key, or a hash and the bytes. */
struct sought {
    uint64_t h;
    const void *bytes;
    size_t size;
    bool is_bytes;
};

/* Field by field, which every checker understands. */
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

/* Whether a cell with the sought key's hash belongs to it. One without a val belongs to whoever gives it one. */
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
 * Where a key with this home is looked for in turn: in the cells of its line from there on and round, since they come with the
 * first, then in those of the next line.
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
    /* Who finds MOVED finds the next array. */
    return atomic_load_explicit(&c->key, memory_order_acquire); /* [table.key] -> [table.move], [table.claim] */
}

static inline uint64_t load_val(struct cell *c)
{
    /* What was done before the value was given, and for a frozen one the next array. */
    return atomic_load_explicit(&c->val,
                                memory_order_acquire); /* [table.val] -> [table.change], [table.freeze], [table.copy] */
}

/* The val of what is sought in a and the arrays behind, without FROZEN. Inside a read section. */
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
 * Where the search for a word ends between its home and the end of a, and the key there: the word, KEY_EMPTY, or something else
 * when look_up() and find_cell() know more. Cells come in the order of nth_cell().
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
    LOOK, /* no cell, if there is none */
    TAKE, /* a cell for a new key */
    COPY, /* a cell for a key from another array: also when no new key would be taken */
};

enum find {
    FOUND,   /* the cell */
    NOTHING, /* the array ends the search: there is none, and none was wanted */
    ON,      /* there is none, and never will be: go on in the next array */
    NO_ROOM, /* no cell is free, and there is no next array */
};

/*
 * Finds the cell of s in a, with its val; takes an empty one when one is wanted and the table does not grow. *counted is
 * set when the cell is newly taken and one of those that are counted.
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
            /* Who loses may find MOVED, and then the next array; who finds MOVED may have it from here. */
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

/* Answers whether a has a next array, if need be a new one: of so many cells, or of as many as a needs when that is 0. */
bool lade_table_grow(struct lade_table *t, struct array *a, uint64_t cells, bool tight);

/* Moves one block of a, whose next array exists. */
void lade_table_help(struct lade_table *t, struct array *a);

/*
 * Moves what is left of the root array until it has no next one. Answers that array: at some moment of the call it had all
 * keys. NULL when memory ran out.
 */
struct array *lade_table_complete(struct lade_table *t);

/* Cells for so many keys; tight: as trim packs them. */
uint64_t lade_table_cells_for(uint64_t keys, bool tight);

/* The cells of the array after a, if that is to have some more than a: that many, or more where old arrays wait. */
uint64_t lade_table_cells_after(struct lade_table *t, const struct array *a, uint64_t cells);

/* An empty array, or NULL. A tight one is filled to a higher load before a larger one is wanted. */
struct array *lade_table_array(struct lade_table *t, uint64_t cells, bool tight);
void lade_table_array_free(struct array *a);
void lade_table_array_put(struct array *a);

/* Zeroed memory of the table's allocator, or NULL. */
void *lade_table_map(const struct lade_table *t, size_t size);
void lade_table_unmap(const struct lade_table *t, void *memory, size_t size);

/* Asks for pages that will be written soon, all at once. A hint. */
void lade_table_populate(const struct lade_table *t, void *memory, size_t size);

struct record *lade_table_record(struct lade_table *t, const void *key, size_t size, uint64_t value);
void lade_table_record_free(struct record *r);

/*
 * Frees a record after a grace period. before is the array through which the caller came to the one where it took the
 * record out, or NULL: it still leads new operations to the record, which is then freed with it.
 */
void lade_table_retire(struct array *before, struct record *r);

#endif
