/* SPDX-License-Identifier: MIT */
/*
 * table: a hash table that many threads read and write at once, and that grows and shrinks under them.
 *
 * Keys are 64-bit words, or byte strings; values are words up to LADE_TABLE_VALUE_MAX. The first insert of a key wins and
 * everybody learns the winner's value, until somebody replaces or removes it.
 *
 * When not to use it: for values that do not fit into 63 bits (keep an index here and the values elsewhere); when one thread
 * writes and the set of keys is known before (a plain array is faster).
 *
 * Threads      every function but create and destroy may be called by any number of threads at once. Each of them
 *              calls lade_thread_enter() before its first call and lade_thread_leave() after its last (lade/thread.h). It
 *              may call from inside a read section of its own.
 * Progress     no operation waits for another thread. get is wait-free between growths. insert, replace and remove are
 *              lock-free; while the table grows, each also moves one block of LADE_TABLE_BLOCK cells. Exceptions: for_each,
 *              save, trim, reserve and stats go over the whole table; destroy waits for liburcu's readers. insert and
 *              replace of byte strings allocate a record, and are lock-free only if the allocator is, which malloc is not.
 * Ordering     what a thread did before its insert or replace happens before what a thread does after it got that value.
 *              Operations on one key take effect one after another (linearizable).
 * Memory       16 bytes a cell, cells used to between 0.3 (0.15 below 2^22 cells) and 0.6; 0.7 after trim. Arrays come
 *              from mmap, never from malloc.
 *              While it grows, the old and the new array exist; the old one is freed by a thread of the
 *              library's, which the first create of a process starts (LADE_NO_MEMORY when it cannot).
 * Stopped      a thread that stops for ever inside an operation holds back the release of old arrays, which then take at
 *              most twice as much memory as the table at its largest meanwhile (or as 1 MiB), besides one array that it
 *              may have in hands, and nothing else: all others go on, and growth goes on. But cells of removed keys are
 *              then not used again: the table itself grows with the number of different keys inserted meanwhile.
 * Signals      a handler may call get on a table that it interrupted, whatever the operation.
 * Fork         a child has its own copy and may use it, unless a thread other than the one that forks was registered with
 *              liburcu directly, which liburcu does not forget: then it may only exec or _exit. fork() waits for a grace period that is going on, for a second at most, and not inside a read
 *              section. If it is still going on then, the child frees nothing of what waits, and gets LADE_NO_MEMORY for
 *              new tables.
 */
#ifndef LADE_TABLE_H
#define LADE_TABLE_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/error.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

/* Values are 0 to this one. (A cell's value takes two more codes, absent and removed, and one bit that says "moved".) */
#define LADE_TABLE_VALUE_MAX (UINT64_MAX / 2 - 2)

#define LADE_TABLE_MAX (UINT64_C(1) << 40) /* cells */
#define LADE_TABLE_BLOCK 256
#define LADE_TABLE_BYTES_MAX UINT32_MAX /* length of a byte-string key */

struct lade_table;

enum lade_table_kind {
    LADE_TABLE_WORDS, /* keys are words */
    LADE_TABLE_BYTES, /* keys are byte strings, copied */
};

/*
 * How keys are mixed. For words: a bijection of 64-bit words and its inverse; the high bits choose the cell, so they must
 * look random. For byte strings: a hash; equal hashes are told apart by the bytes.
 */
struct lade_table_hash {
    uint64_t (*mix)(void *context, uint64_t key);
    uint64_t (*unmix)(void *context, uint64_t mixed);
    uint64_t (*bytes)(void *context, const void *key, size_t size);
    void *context;
};

/* All zero: words, a random seed, no limits. */
struct lade_table_config {
    enum lade_table_kind kind;
    uint64_t reserve;   /* room for so many keys at once */
    uint64_t max_bytes; /* of all arrays together, those not yet freed or just being made included; 0: no limit */
    bool huge_pages;    /* ask the kernel for them */
    bool seeded;   /* take seed, for runs that must repeat in time; else a secret random one, against chosen keys */
    uint64_t seed; /* what a table returns does not depend on it, but for the order of for_each */
    const struct lade_table_hash *hash; /* NULL: the library's, keyed by the seed; it is copied */
    const struct lade_alloc
        *alloc; /* NULL: mmap for arrays, malloc for the strings of LADE_TABLE_BYTES. Memory is given
                                           back in any thread */
};

/*
 * *table is set on LADE_OK only. config may be NULL.
 * LADE_OK
 * LADE_INVALID     no such kind, too much to reserve, or functions of hash are missing.
 * LADE_NO_MEMORY
 * LADE_IO          the system has no random seed.
 */
LADE_API LADE_MUST_CHECK int lade_table_create_sized(struct lade_table **table, const struct lade_table_config *config,
                                                     size_t size);
static inline LADE_MUST_CHECK int lade_table_create(struct lade_table **table, const struct lade_table_config *config)
{
    return lade_table_create_sized(table, config, sizeof *config);
}

/* After all other threads have left. Waits for liburcu; the caller must not be inside a read section. NULL is allowed. */
LADE_API void lade_table_destroy(struct lade_table *table);

/*
 * value may be NULL.
 * LADE_OK
 * LADE_ABSENT
 */
LADE_API LADE_MUST_CHECK int lade_table_get(struct lade_table *table, uint64_t key, uint64_t *value);

/*
 * After LADE_OK and LADE_PRESENT *winner (may be NULL) is the value that the key has. The table stays whole in any case.
 * LADE_OK          inserted.
 * LADE_PRESENT     the key was there.
 * LADE_INVALID     the value is too large.
 * LADE_NO_MEMORY   no larger array can be had (memory, max_bytes), and the load has reached 0.95.
 */
LADE_API LADE_MUST_CHECK int lade_table_insert(struct lade_table *table, uint64_t key, uint64_t value,
                                               uint64_t *winner);

/*
 * Changes the value of a key that is there. *old (may be NULL) is the value before.
 * LADE_OK
 * LADE_ABSENT
 * LADE_INVALID     the value is too large.
 * LADE_NO_MEMORY   a move for which memory did not suffice has still to be finished; the key keeps its value.
 */
LADE_API LADE_MUST_CHECK int lade_table_replace(struct lade_table *table, uint64_t key, uint64_t value, uint64_t *old);

/*
 * *old (may be NULL) is the value that the key had.
 * LADE_OK
 * LADE_ABSENT
 * LADE_NO_MEMORY   as for replace.
 */
LADE_API int lade_table_remove(struct lade_table *table, uint64_t key, uint64_t *old);

/*
 * The same for count keys, which are fetched from memory side by side. Each key for itself: other threads may come between.
 * status[i] is what the single form returns for keys[i]. Returns the number of LADE_OK.
 */
LADE_API size_t lade_table_get_many(struct lade_table *table, const uint64_t *keys, size_t count, uint64_t *values,
                                    int *status);
LADE_API size_t lade_table_insert_many(struct lade_table *table, const uint64_t *keys, size_t count,
                                       const uint64_t *values, uint64_t *winners, int *status);

/* The same for LADE_TABLE_BYTES. LADE_INVALID for a key longer than LADE_TABLE_BYTES_MAX, or a table of the other kind. */
LADE_API LADE_MUST_CHECK int lade_table_get_bytes(struct lade_table *table, const void *key, size_t size,
                                                  uint64_t *value);
LADE_API LADE_MUST_CHECK int lade_table_insert_bytes(struct lade_table *table, const void *key, size_t size,
                                                     uint64_t value, uint64_t *winner);
LADE_API LADE_MUST_CHECK int lade_table_replace_bytes(struct lade_table *table, const void *key, size_t size,
                                                      uint64_t value, uint64_t *old);
LADE_API int lade_table_remove_bytes(struct lade_table *table, const void *key, size_t size, uint64_t *old);

/* What for_each and save find: key of a table of words, or the bytes of one of byte strings (valid during the call). */
struct lade_table_entry {
    uint64_t key;
    const void *bytes;
    size_t size;
    uint64_t value;
};

/*
 * Calls visit for the keys of the table until it returns false. A key that is there from beginning to end is visited exactly
 * once, with a value that it has during the call; one that comes or goes meanwhile at most once. visit may use the table.
 * In a table of byte strings no old array is freed until it ends. *visited (may be NULL) is the number of calls.
 * LADE_OK
 * LADE_CANCELLED   visit returned false.
 * LADE_NO_MEMORY   nothing was visited: a growth for which memory did not suffice has still to be finished.
 * LADE_INVALID     table or visit is NULL.
 */
LADE_API int lade_table_for_each(struct lade_table *table,
                                 bool (*visit)(void *context, const struct lade_table_entry *entry), void *context,
                                 uint64_t *visited);

/*
 * Makes room for keys in all, so that inserting up to that many will not grow a table in which none was removed. While old
 * arrays are not yet freed, a table that must grow at least doubles, as far as there is memory.
 * LADE_OK
 * LADE_NO_MEMORY
 * LADE_INVALID     more than 2^39.
 */
LADE_API int lade_table_reserve(struct lade_table *table, uint64_t keys);

/*
 * Moves everything to an array that is just large enough, and drops what removed keys left behind.
 * LADE_OK
 * LADE_NO_MEMORY
 * LADE_LIMITED     an array from before is not yet freed: try again later.
 */
LADE_API int lade_table_trim(struct lade_table *table);

struct lade_table_stats {
    uint64_t keys;           /* present */
    uint64_t removed;        /* cells that removed keys left behind */
    uint64_t cells;          /* of the array in use */
    uint64_t bytes;          /* of all arrays, without byte-string keys */
    uint64_t arrays_waiting; /* old arrays not yet freed */
    uint64_t longest_probe;  /* cells */
    double mean_probe;       /* cells looked at to find a present key */
    uint64_t moved_cells;    /* by growth, shrinking and cleaning, since creation */
    uint64_t growths;        /* arrays made after the first */
};

/*
 * Scans the whole table. Exact when no other thread changes it meanwhile.
 * LADE_OK
 * LADE_INVALID     no table.
 * LADE_NO_MEMORY   a growth for which memory did not suffice has still to be finished; keys, removed, cells and probes are 0.
 */
LADE_API int lade_table_stats_sized(struct lade_table *table, struct lade_table_stats *stats, size_t size);
static inline int lade_table_stats(struct lade_table *table, struct lade_table_stats *stats)
{
    return lade_table_stats_sized(table, stats, sizeof *stats);
}

/*
 * Save to a file, and load: numbers in a fixed byte order, a version, checksums; 16 bytes an entry of words, 12 and the key for
 * byte strings. What for_each visits is what is saved.
 *
 * save writes the file under a random name (".lade-" and 16 digits) in the same directory, syncs it, renames it, and syncs the
 * directory, so that at every moment path is the old file or the new one, whole. An error removes what was written; what a
 * process leaves that is killed, the next save in that directory removes. The new file has the permissions of the old one. A symbolic link is replaced, and what is
 * neither absent nor a file is refused. error may be NULL, here and below.
 * LADE_OK
 * LADE_NO_MEMORY   also as for_each returns it.
 * LADE_IO          errno and the error say why; path is the old file, or, when only the directory could not be synced, the
 *                  new one.
 * LADE_INVALID     no table, or no path.
 */
LADE_API LADE_MUST_CHECK int lade_table_save(struct lade_table *table, const char *path, struct lade_error *error);

/*
 * Inserts into a table of the same kind; keys that are there keep their values. Each block is checked before something of it is
 * inserted. Where it ends early, error->offset is the beginning of the block that was not, or not completely, inserted; all
 * before it is in the table. LADE_NO_OFFSET: the file could not be opened.
 * LADE_OK
 * LADE_DAMAGED     not what save wrote, cut short, or something follows.
 * LADE_INVALID     of the other kind, from a later version, no table, or no path.
 * LADE_IO          errno and the error say why.
 * LADE_NO_MEMORY   as for insert.
 */
LADE_API LADE_MUST_CHECK int lade_table_load(struct lade_table *table, const char *path, struct lade_error *error);

LADE_END

#endif
