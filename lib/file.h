/* SPDX-License-Identifier: MIT */
/*
 * Files that are replaced whole or not at all, and streams of bytes from and to them. Internal to the libraries
 * of lade.
 *
 * A new file is written under a random name (".lade-" and 16 hexadecimal digits) in the directory of the old one, synced,
 * and renamed; the directory is synced as well. At every moment the path is the old file or the new one. The random name is
 * created exclusively and never through a link. A process that is killed may leave that file, and nothing else; the next
 * create in the directory removes it. A writer holds a lock on its file, so files of live writers are left alone.
 *
 * Where a function returns LADE_IO, errno has the reason.
 */
#ifndef LADE_LIB_FILE_H
#define LADE_LIB_FILE_H

#include <lade/error.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where bytes go. put writes all of them or answers false, with the reason in errno. */
struct lade_sink {
    bool (*put)(void *context, const void *bytes, size_t size);
    void *context;
};

/*
 * Where bytes come from. get answers LADE_OK when it has read all of them, LADE_EMPTY when the end comes before that, and
 * LADE_IO. What it has read when it does not answer LADE_OK is lost.
 */
struct lade_inlet {
    int (*get)(void *context, void *bytes, size_t size);
    void *context;
    uint64_t at; /* offset of what get will read next, kept by those that call it */
};

struct lade_file {
    int file, directory; /* -1: not open */
    int guard;           /* holds the lock until the file has its final name; -1: none */
    char base[256];      /* the last part of the path */
    char name[48];       /* of the file that will replace it; empty: none */
    bool bulk;
};

/*
 * Begins a file that will replace path, with the permissions of the old one. LADE_OK or LADE_IO; after LADE_OK the file ends
 * with replace or drop. A path that is something else than a file is refused, and a
 * symbolic link is replaced itself.
 */
int lade_file_create(struct lade_file *f, const char *path);

/*
 * The same for one of many files that can be made again, such as the images of a data set: nothing is synced, so the old or
 * the new file survives a kill, but not a loss of power; and nothing is cleaned (lade_file_clean() does it, once).
 */
int lade_file_create_bulk(struct lade_file *f, const char *path);

/* Removes what killed writers have left in a directory, as far as possible. */
void lade_file_clean(const char *path);

/* Everything is written: puts it into the place of path. After LADE_IO path is the old file or the new one, whole. */
int lade_file_replace(struct lade_file *f);

/* For reading: LADE_OK, then drop; or LADE_IO. */
int lade_file_open(struct lade_file *f, const char *path);

/* Closes it, and removes one that was begun. Keeps errno. */
void lade_file_drop(struct lade_file *f);

/* put and get of a sink and a source whose context is the struct lade_file. Short transfers and signals do not matter. */
bool lade_file_put(void *file, const void *bytes, size_t size);
int lade_file_get(void *file, void *bytes, size_t size);

/*
 * Fills the error, if there is one, with what a save or load of a file returned: LADE_IO (errno says why), LADE_DAMAGED,
 * LADE_NO_MEMORY or another one; nothing for LADE_OK. "PATH: cannot VERB: ..." Returns status, keeps errno.
 */
int lade_file_explain(struct lade_error *error, int status, const char *path, uint64_t offset, const char *verb);

/* Bytes of a file; UINT64_MAX when that is not known. */
uint64_t lade_file_size(const struct lade_file *f);

/*
 * Reads the last bytes of a file and answers how many bytes the file holds, or 0 when that is not known. A file with holes
 * counts as at most four times what it takes on the disk, so that a small one cannot pretend to be huge.
 */
uint64_t lade_file_tail(struct lade_file *f, void *bytes, size_t size);

#endif
