/* SPDX-License-Identifier: MIT */
/*
 * table: a hash table that many threads read and write at the same time, and that grows and shrinks while they do.
 *
 * Keys are 64-bit words, or byte strings; values are words up to LADE_TABLE_VALUE_MAX. The first insert of a key wins.
 * All threads get the winner's value, until a thread replaces or removes it.
 *
 * When not to use it: for values that do not fit into 63 bits (store an index here and the values elsewhere); when one
 * thread writes and the set of keys is known in advance (a plain array is faster).
 *
 * Threads      any number of threads may call every function at the same time, except create and destroy. Each thread
 *              calls lade_thread_enter() before its first call and lade_thread_leave() after its last (lade/thread.h).
 *              A thread may call from inside its own read section.
 * Progress     no operation waits for another thread. get is wait-free between growths. insert, replace and remove are
 *              lock-free; while the table grows, each also moves one block of LADE_TABLE_BLOCK cells. Exceptions:
 *              for_each, save, trim, reserve and stats scan the whole table; destroy waits for liburcu's readers.
 *              insert and replace of byte strings allocate a record, and are lock-free only if the allocator is, which
 *              malloc is not.
 * Ordering     everything that a thread did before its insert or replace happens before everything that another thread
 *              does after it got that value. Operations on one key are linearizable.
 * Memory       16 bytes per cell. The load is between 0.3 (0.15 below 2^22 cells) and 0.6; 0.7 after trim. Arrays come
 *              from mmap, never from malloc. While the table grows, the old and the new array exist. The library's
 *              thread frees the old one; the first create of a process starts that thread (LADE_NO_MEMORY if it
 *              cannot).
 * Stopped      a thread that stops forever inside an operation blocks no operation of another thread, except destroy,
 *              and growth continues. Its read section stays open, for which all grace periods of the process wait. So
 *              no table of the process frees old arrays or replaced byte strings, destroy does not return, and neither
 *              do deferred puts release nor lade_ref_barrier() return (ref.h); see also Fork. The old arrays of a table
 *              take at most twice the memory of the table at its largest during that time (or of 1 MiB), plus at most
 *              one array that the thread holds. While they wait, cells of removed keys are not reused: the table itself
 *              grows with the number of different keys inserted.
 * Signals      a signal handler may call get on a table that it interrupted, whatever the operation.
 * Fork         a child has its own copy and may use it. Exception: if a thread other than the one that forks was
 *              registered with liburcu directly, the child may only exec or _exit, because liburcu does not forget that
 *              thread. fork() waits for a grace period in progress, for at most one second, and not inside a read
 *              section. If the grace period is still in progress then, the child frees none of the pending memory, and
 *              create returns LADE_NO_MEMORY there.
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

/* Values are 0 to this maximum. (A cell's value needs two more codes, absent and removed, and one bit for "moved".) */
#define LADE_TABLE_VALUE_MAX (UINT64_MAX / 2 - 2)

#define LADE_TABLE_MAX (UINT64_C(1) << 40) /* cells */
#define LADE_TABLE_BLOCK 256               /* cells that a growing table moves at a time */
#define LADE_TABLE_BYTES_MAX UINT32_MAX    /* length of a byte-string key */

/* A table. */
struct lade_table;

/* What the keys are. */
enum lade_table_kind {
    LADE_TABLE_WORDS, /* keys are words */
    LADE_TABLE_BYTES, /* keys are byte strings, copied */
};

/*
 * How keys are mixed. For words: a bijection of 64-bit words and its inverse. The high bits choose the cell, so they
 * must look random. For byte strings: a hash. Keys with equal hashes are distinguished by their bytes.
 * Frozen.
 */
struct lade_table_hash {
    uint64_t (*mix)(void *context, uint64_t key);                   /* words: the bijection */
    uint64_t (*unmix)(void *context, uint64_t mixed);               /* words: its inverse */
    uint64_t (*bytes)(void *context, const void *key, size_t size); /* byte strings: the hash */
    void *context;                                                  /* argument of these functions */
};

/* If all fields are zero: words, a random seed, no limits. */
struct lade_table_config {
    enum lade_table_kind kind; /* default words */
    uint64_t reserve;          /* number of keys to allocate cells for at creation */
    uint64_t max_bytes;        /* of all arrays, including those not yet freed or being created; 0: no limit */
    bool huge_pages;           /* ask the kernel for huge pages */
    bool seeded;   /* use seed, for runs with repeatable timing; else a secret random seed, against chosen keys */
    uint64_t seed; /* results do not depend on it, except the order of for_each */
    const struct lade_table_hash *hash; /* NULL: the library's hash, keyed by the seed. The struct is copied */
    const struct lade_alloc
        *alloc; /* NULL: mmap for arrays, malloc for the strings of LADE_TABLE_BYTES. Any thread may free memory */
};

/*
 * Creates a table. *table is set on LADE_OK only. config may be NULL.
 * LADE_OK
 * LADE_INVALID     unknown kind, reserve too large, or functions of hash are missing.
 * LADE_NO_MEMORY
 * LADE_IO          the system has no random seed.
 */
LADE_API LADE_MUST_CHECK int lade_table_create_sized(struct lade_table **table, const struct lade_table_config *config,
                                                     size_t size);
static inline LADE_MUST_CHECK int lade_table_create(struct lade_table **table, const struct lade_table_config *config)
{
    return lade_table_create_sized(table, config, sizeof *config);
}

/*
 * Destroys a table that no other thread uses. Waits for liburcu; the caller must not be inside a read section. NULL is
 * allowed.
 */
LADE_API void lade_table_destroy(struct lade_table *table);

/*
 * Loads the value of a key. value may be NULL.
 * LADE_OK
 * LADE_ABSENT
 */
LADE_API LADE_MUST_CHECK int lade_table_get(struct lade_table *table, uint64_t key, uint64_t *value);

/*
 * Inserts a key. After LADE_OK and LADE_PRESENT, *winner (may be NULL) is the value of the key. The table stays
 * consistent in any case.
 * LADE_OK          inserted.
 * LADE_PRESENT     the key was already present.
 * LADE_INVALID     the value is too large.
 * LADE_NO_MEMORY   no larger array can be allocated (memory, max_bytes), and the load has reached 0.95.
 */
LADE_API LADE_MUST_CHECK int lade_table_insert(struct lade_table *table, uint64_t key, uint64_t value,
                                               uint64_t *winner);

/*
 * Changes the value of a key that is present. *old (may be NULL) is the previous value.
 * LADE_OK
 * LADE_ABSENT
 * LADE_INVALID     the value is too large.
 * LADE_NO_MEMORY   a move that ran out of memory is still unfinished; the key keeps its value.
 */
LADE_API LADE_MUST_CHECK int lade_table_replace(struct lade_table *table, uint64_t key, uint64_t value, uint64_t *old);

/*
 * Removes a key. *old (may be NULL) is the value that it had.
 * LADE_OK
 * LADE_ABSENT
 * LADE_NO_MEMORY   as for replace.
 */
LADE_API int lade_table_remove(struct lade_table *table, uint64_t key, uint64_t *old);

/*
 * The same for count keys, whose memory accesses overlap. Each key is a separate operation: operations of other threads
 * may come between. status[i] is what the single form returns for keys[i]. Returns the number of LADE_OK.
 */
LADE_API size_t lade_table_get_many(struct lade_table *table, const uint64_t *keys, size_t count, uint64_t *values,
                                    int *status);
LADE_API size_t lade_table_insert_many(struct lade_table *table, const uint64_t *keys, size_t count,
                                       const uint64_t *values, uint64_t *winners, int *status);

/*
 * The same for LADE_TABLE_BYTES. Besides the statuses of the forms above:
 * LADE_INVALID     a key longer than LADE_TABLE_BYTES_MAX, or a table of the other kind.
 */
LADE_API LADE_MUST_CHECK int lade_table_get_bytes(struct lade_table *table, const void *key, size_t size,
                                                  uint64_t *value);
LADE_API LADE_MUST_CHECK int lade_table_insert_bytes(struct lade_table *table, const void *key, size_t size,
                                                     uint64_t value, uint64_t *winner);
LADE_API LADE_MUST_CHECK int lade_table_replace_bytes(struct lade_table *table, const void *key, size_t size,
                                                      uint64_t value, uint64_t *old);
LADE_API int lade_table_remove_bytes(struct lade_table *table, const void *key, size_t size, uint64_t *old);

/*
 * An entry found by for_each and save: the key of a table of words, or the bytes of a table of byte strings (valid
 * during the call). Read it in place.
 */
struct lade_table_entry {
    uint64_t key;      /* words: the key */
    const void *bytes; /* byte strings: the key */
    size_t size;       /* of bytes */
    uint64_t value;    /* of the key */
};

/*
 * Calls visit for each key of the table until it returns false. A key that is present from the beginning to the end of
 * the call is visited exactly once, with a value that it has during the call. A key that is inserted or removed during
 * the call is visited at most once. visit may use the table. In a table of byte strings, no old array is freed until
 * the call ends. *visited (may be NULL) is the number of calls.
 * LADE_OK
 * LADE_CANCELLED   visit returned false.
 * LADE_NO_MEMORY   nothing was visited: a growth that ran out of memory is still unfinished.
 * LADE_INVALID     table or visit is NULL.
 */
LADE_API int lade_table_for_each(struct lade_table *table,
                                 bool (*visit)(void *context, const struct lade_table_entry *entry), void *context,
                                 uint64_t *visited);

/*
 * Reserves cells for keys in total: inserting up to that number will not grow a table from which no key was removed.
 * While old arrays are not yet freed, a table that must grow at least doubles, as far as memory allows.
 * LADE_OK
 * LADE_NO_MEMORY
 * LADE_INVALID     more than 2^39.
 */
LADE_API int lade_table_reserve(struct lade_table *table, uint64_t keys);

/*
 * Moves all keys to an array that is just large enough, and drops the cells of removed keys.
 * LADE_OK
 * LADE_NO_MEMORY
 * LADE_LIMITED     an earlier array is not yet freed: try again later.
 */
LADE_API int lade_table_trim(struct lade_table *table);

/* What a scan of the table counts. */
struct lade_table_stats {
    uint64_t keys;           /* present */
    uint64_t removed;        /* cells of removed keys */
    uint64_t cells;          /* of the array in use */
    uint64_t bytes;          /* of all arrays, without byte-string keys */
    uint64_t arrays_waiting; /* old arrays not yet freed */
    uint64_t longest_probe;  /* cells */
    double mean_probe;       /* cells inspected to find a present key */
    uint64_t moved_cells;    /* by growth, shrinking and cleaning, since creation */
    uint64_t growths;        /* arrays created after the first */
};

/*
 * Scans the whole table. Exact if no other thread changes it during the call.
 * LADE_OK
 * LADE_INVALID     table is NULL.
 * LADE_NO_MEMORY   a growth that ran out of memory is still unfinished; keys, removed, cells and probes are 0.
 */
LADE_API int lade_table_stats_sized(struct lade_table *table, struct lade_table_stats *stats, size_t size);
static inline int lade_table_stats(struct lade_table *table, struct lade_table_stats *stats)
{
    return lade_table_stats_sized(table, stats, sizeof *stats);
}

/*
 * Saves the table to a file. The file has a fixed byte order, a version and checksums. An entry takes 16 bytes for
 * words, 12 bytes plus the key for byte strings. It holds the entries that for_each would visit.
 *
 * save writes the file under a random name (".lade-" and 16 digits) in the same directory, syncs it, renames it, and
 * syncs the directory. So at every moment path is either the complete old file or the complete new one. On an error,
 * save removes what it wrote. If the process is killed, the next save in that directory removes the leftover file. The
 * new file has the permissions of the old one. A symbolic link is replaced. If path exists and is not a file, save
 * fails. error may be NULL, here and below.
 * LADE_OK
 * LADE_NO_MEMORY   also as for_each returns it.
 * LADE_IO          errno and the error give the reason. path is the old file, or the new one if only the sync of the
 *                  directory failed.
 * LADE_INVALID     table or path is NULL.
 */
LADE_API LADE_MUST_CHECK int lade_table_save(struct lade_table *table, const char *path, struct lade_error *error);

/*
 * Loads a file into a table of the same kind; keys that are already present keep their values. Each block is checked
 * before any of its entries is inserted. If load fails, error->offset is the beginning of the block that was not, or
 * not completely, inserted; all entries before it are in the table. LADE_NO_OFFSET: the file could not be opened.
 * LADE_OK
 * LADE_DAMAGED     not written by save, truncated, or followed by other bytes.
 * LADE_INVALID     of the other kind, from a later version, or table or path is NULL.
 * LADE_IO          errno and the error give the reason.
 * LADE_NO_MEMORY   as for insert.
 */
LADE_API LADE_MUST_CHECK int lade_table_load(struct lade_table *table, const char *path, struct lade_error *error);

LADE_END

#endif
