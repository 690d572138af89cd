/* SPDX-License-Identifier: MIT */
/*
 * Files that are replaced completely or not at all, and streams of bytes from and to them. Internal to the libraries of
 * lade.
 *
 * A new file is written under a random name (".lade-" and 16 hexadecimal digits) in the directory of the old one,
 * synced, and renamed; the directory is synced as well. At every moment the path is the old file or the new one. The
 * random name is created exclusively and never through a link. A process that is killed may leave that file, and
 * nothing else; the next create in the directory removes it. A writer holds a lock on its file, so that files of live
 * writers are kept.
 *
 * If a function returns LADE_IO, errno has the reason.
 */
#ifndef LADE_LIB_FILE_H
#define LADE_LIB_FILE_H

#include <lade/error.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A destination of bytes. put writes all of them, or returns false with the reason in errno. */
struct lade_sink {
    bool (*put)(void *context, const void *bytes, size_t size);
    void *context;
};

/*
 * A source of bytes. get returns LADE_OK if it has read all of them, LADE_EMPTY if the end comes before that, and
 * LADE_IO. Unless it returns LADE_OK, the bytes that it has read are lost.
 */
struct lade_inlet {
    int (*get)(void *context, void *bytes, size_t size);
    void *context;
    uint64_t at; /* offset of the next read; maintained by the callers of get */
};

struct lade_file {
    int file, directory; /* -1: not open */
    int guard;           /* holds the lock until the file has its final name; -1: none */
    char base[256];      /* the last part of the path */
    char name[48];       /* of the file that will replace it; empty: none */
    bool bulk;
};

/*
 * Begins a file that will replace path, with the permissions of the old one. After LADE_OK the file ends with replace
 * or drop. A path that exists and is not a file is rejected; a symbolic link is replaced itself.
 * LADE_OK
 * LADE_IO
 */
int lade_file_create(struct lade_file *f, const char *path);

/*
 * The same for one of many files that can be regenerated, such as the images of a data set. Nothing is synced, so the
 * old or the new file survives a kill, but not a loss of power. Nothing is cleaned (lade_file_clean() does it, once).
 */
int lade_file_create_bulk(struct lade_file *f, const char *path);

/* Removes files that killed writers have left in a directory, as far as possible. */
void lade_file_clean(const char *path);

/* Completes the file and renames it to path. After LADE_IO, path is the complete old file or the complete new one. */
int lade_file_replace(struct lade_file *f);

/* Opens a file for reading. LADE_OK, then drop ends it; or LADE_IO. */
int lade_file_open(struct lade_file *f, const char *path);

/* Closes the file, and removes it if it was begun but not completed. Preserves errno. */
void lade_file_drop(struct lade_file *f);

/* put and get of a sink and a source whose context is the struct lade_file. Handle short transfers and signals. */
bool lade_file_put(void *file, const void *bytes, size_t size);
int lade_file_get(void *file, void *bytes, size_t size);

/*
 * Fills the error, unless it is NULL, with the result of a save or load of a file: LADE_IO (errno has the reason),
 * LADE_DAMAGED, LADE_NO_MEMORY or another status; nothing for LADE_OK. "PATH: cannot VERB: ..." Returns status,
 * preserves errno.
 */
int lade_file_explain(struct lade_error *error, int status, const char *path, uint64_t offset, const char *verb);

/* Returns the size of a file in bytes; UINT64_MAX if it is not known. */
uint64_t lade_file_size(const struct lade_file *f);

/*
 * Reads the last bytes of a file. Returns the size of the file, or 0 if it is not known. A file with holes counts as at
 * most four times its size on disk, so that a small one cannot pretend to be huge.
 */
uint64_t lade_file_tail(struct lade_file *f, void *bytes, size_t size);

#endif
