/* SPDX-License-Identifier: MIT */
/*
 * A table that is small enough for a checker: arrays of as many cells as the harness defines, blocks and lines of one
 * cell, keys that are not hashed (home = key * cells / 2^64), and growth only when the harness requests it. With
 * NATURAL the table counts its cells and grows automatically; without it, an array that needs a next one gets one with
 * one more cell.
 *
 * The harness defines work(id) instead of thread(id); threads are registered with liburcu around it.
 */
#define LADE_TABLE_FIRST 1
#define LADE_TABLE_MOVE 1
#ifndef LADE_TABLE_LINE
#define LADE_TABLE_LINE 1
#endif
#ifndef NATURAL
#define GROW_AT 1024 /* four times the cells: never */
#define SIZE_AFTER(t, a) ((void)size_after, (a)->cells + 1)
#endif

#include <string.h>
#include <sys/random.h>

#ifndef ENGINE_NATIVE
#ifndef NATURAL
static inline uint64_t no_count(const void *place)
{
    (void)place;
    return 0;
}
#define LADE_TABLE_COUNT(place, n) no_count(place)
#define LADE_TABLE_COUNTED(a, c) ((void)(a), (void)(c), false)
#endif
#define LADE_TABLE_TOUCH(place) ((void)(place))

/* Checkers support neither these nor copies of whole structures. */
#include <lade/table.h>
static void *copy_bytes(void *to, const void *from, size_t size)
{
    if (size == sizeof(struct lade_table_config)) {
        struct lade_table_config *t = to;
        const struct lade_table_config *f = from;
        t->kind = f->kind, t->reserve = f->reserve, t->max_bytes = f->max_bytes, t->huge_pages = f->huge_pages;
        t->seeded = f->seeded, t->seed = f->seed, t->hash = f->hash, t->alloc = f->alloc;
        return to;
    }
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

static int compare_bytes(const void *a, const void *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i])
            return 1;
    return 0;
}
static void *clear_words(void *to, int zero, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] = (uint64_t)zero;
    return to;
}
#define memcpy copy_bytes
#define memset clear_words
#define memcmp compare_bytes
#define getrandom(seed, size, flags) (-1)
#endif

#include "table_mix.h"
/* Multiplies by 1: keys below 2^32 are unchanged. */
static void plain_mixer(struct lade_table_mixer *m)
{
    m->first = m->second = m->unfirst = m->unsecond = 1;
}
#define lade_table_mixer_init(m, seed) ((void)(seed), plain_mixer(m))

#include <urcu/urcu-memb.h>
#ifdef ENGINE_NATIVE
#include <urcu/static/urcu-memb.h> /* before rcu_read.h, so that read sections check what the kernel supports */
#endif
#if defined ENGINE_NATIVE && (defined __SANITIZE_THREAD__ || !defined RECLAIM)
/*
 * Here a grace period lasts until finish(), which is a valid choice. ThreadSanitizer does not see the ordering of
 * liburcu, and a round that does not test reclamation should not wait for it.
 */
#define RECLAIMS (harness_id < 0)
#else
#define RECLAIMS true
#endif
#include "reclaim/without_thread.h"

#include "ref.c"

#include "table_grow.c"

#include "table.c"
#include "table_create.c"

#ifdef ARRAYS
static _Atomic int arrays_left; /* number of further arrays that can be allocated */
#endif

/* Field by field, since no access may cover two fields. */
void *lade_table_map(const struct lade_table *t, size_t size)
{
    struct array *a = NULL;
    uint64_t cells = (size - sizeof *a) / sizeof(struct cell);

    (void)t;
#ifdef ARRAYS
    if (atomic_fetch_sub_explicit(&arrays_left, 1, memory_order_relaxed) <= 0)
        return NULL;
#endif
    a = aligned_alloc(LADE_CACHELINE_PAIR,
                      (size + LADE_CACHELINE_PAIR - 1) / LADE_CACHELINE_PAIR * LADE_CACHELINE_PAIR);
    atomic_init(&a->next, NULL);
    atomic_init(&a->starved, 0);
    atomic_init(&a->limbo, NULL);
    atomic_init(&a->used, 0);
    atomic_init(&a->dead, 0);
    atomic_init(&a->turn, 0);
    atomic_init(&a->done, 0);
    for (uint64_t i = 0; i < cells; i++) {
        atomic_init((_Atomic uint8_t *)((char *)a + flags_at(cells) + i), 0);
        atomic_init(&a->cell[i].key, KEY_EMPTY);
        atomic_init(&a->cell[i].val, ABSENT);
    }
    return a;
}

void lade_table_populate(const struct lade_table *t, void *memory, size_t size)
{
    (void)t;
    (void)memory;
    (void)size;
}

void lade_table_unmap(const struct lade_table *t, void *memory, size_t size)
{
    (void)t;
    (void)size;
    free(memory);
}

static uint64_t same(void *context, uint64_t key)
{
    (void)context;
    return key;
}

/* The hash of a byte string is its first byte: "a" and "ab" collide. */
static uint64_t first_byte(void *context, const void *key, size_t size)
{
    (void)context;
    (void)size;
    return *(const unsigned char *)key;
}

#ifdef ENGINE_NATIVE
bool lade_rcu_read_is_light(void)
{
    return true;
}

#ifndef LADE_RCU_READ_CALLS
int lade_rcu_read_wake(int status)
{
    urcu_common_wake_up_gp(&urcu_memb_gp);
    return status;
}
#endif
#endif

static const struct lade_table_hash hash = {same, same, first_byte, NULL};
static struct lade_table *table;

#define HALF (UINT64_C(1) << 63) /* the home of this key is the middle of every array */

/* The first array has this number of cells. */
static void make(enum lade_table_kind kind, uint64_t cells)
{
    static struct lade_table_config config;
    struct array *first = NULL;

    urcu_memb_register_thread();
    config.kind = kind;
    config.seeded = true;
#ifndef INJECTED
    config.hash = kind == LADE_TABLE_BYTES ? &hash : NULL; /* words: the path of most tables */
#else
    config.hash = &hash;
#endif
    assert(lade_table_create(&table, &config) == LADE_OK);
    lade_table_array_free(atomic_load_explicit(&table->root, memory_order_relaxed));
    first = lade_table_array(table, cells, false);
    first->limit = UINT64_MAX; /* setup() may fill it */
    atomic_init(&table->root, first);
}

static void unmake(void)
{
    lade_table_destroy(table);
    urcu_memb_unregister_thread();
}

/* In static memory: GenMC may place a local of an inlined function at the address of one that is still in use. */
static uint64_t out[THREADS + 1];

#define NONE UINT64_C(1000)

/* Each returns the value that the call returns, or NONE. */
#pragma GCC diagnostic ignored "-Wunused-function"
static uint64_t get_(int id, uint64_t key)
{
    return lade_table_get(table, key, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

static uint64_t insert_(int id, uint64_t key, uint64_t value)
{
    int status = lade_table_insert(table, key, value, &out[id + 1]);

    assert(status == LADE_OK || status == LADE_PRESENT);
    assert(status == LADE_PRESENT || out[id + 1] == value);
    return out[id + 1];
}

static uint64_t replace_(int id, uint64_t key, uint64_t value)
{
    return lade_table_replace(table, key, value, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

static uint64_t remove_(int id, uint64_t key)
{
    return lade_table_remove(table, key, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

/* Byte strings: one or two letters. */
static uint64_t get_text(int id, const char *key, size_t size)
{
    return lade_table_get_bytes(table, key, size, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

static uint64_t insert_text(int id, const char *key, size_t size, uint64_t value)
{
    int status = lade_table_insert_bytes(table, key, size, value, &out[id + 1]);

    assert(status == LADE_OK || status == LADE_PRESENT);
    assert(status == LADE_PRESENT || out[id + 1] == value);
    return out[id + 1];
}

static uint64_t replace_text(int id, const char *key, size_t size, uint64_t value)
{
    return lade_table_replace_bytes(table, key, size, value, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

static uint64_t remove_text(int id, const char *key, size_t size)
{
    return lade_table_remove_bytes(table, key, size, &out[id + 1]) == LADE_OK ? out[id + 1] : NONE;
}

/* Number of cells of the current array that hold the key with a value. */
static uint64_t cells_of(uint64_t key)
{
    struct array *a = root_of(table);
    uint64_t h = table->config.kind == LADE_TABLE_BYTES ? key : mixed(table, key);
    uint64_t count = 0;

    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t val = atomic_load_explicit(&a->cell[i].val, memory_order_relaxed);
        count += atomic_load_explicit(&a->cell[i].key, memory_order_relaxed) == h && val >= VALUE_0 &&
                 !(val & FROZEN) && !(table->config.kind == LADE_TABLE_BYTES && val & TOMB);
    }
    return count;
}

/* Gives the table a second array with this number of cells. */
static void grow(uint64_t cells)
{
    urcu_memb_read_lock();
    assert(lade_table_grow(table, root_of(table), cells, false));
    urcu_memb_read_unlock();
}

/* Moves everything to it. */
static void complete(void)
{
    urcu_memb_read_lock();
    assert(lade_table_complete(table));
    urcu_memb_read_unlock();
}

/* Moves one block. */
static void help(void)
{
    urcu_memb_read_lock();
    struct array *a = root_of(table);
    if (next_of(a))
        lade_table_help(table, a);
    urcu_memb_read_unlock();
}

/* Acts as the library's thread: frees retired memory once its readers have left. */
static void reclaim(void)
{
    if (RECLAIMS)
        lade_reclaim_barrier();
}

static void work(int id);

static void thread(int id)
{
    urcu_memb_register_thread();
    work(id);
    urcu_memb_unregister_thread();
}
