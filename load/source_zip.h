/* SPDX-License-Identifier: MIT */
/* zip, and what is compressed by deflate, gzip or zstd. Internal. */
#ifndef LADE_LOAD_SOURCE_ZIP_H
#define LADE_LOAD_SOURCE_ZIP_H

#include "source.h"

#include <lade/alloc.h>

#define LADE_UNPACKED_MAX (UINT64_C(1) << 30) /* bytes, unless unpacked=N raises it */

/* Which of gzip and zstd has compressed a file, by its first bytes; LADE_STORED: neither. */
enum lade_packing lade_packing_of(struct lade_bytes bytes);

/* Unpacks into memory that lade_unmap() frees, at most limit bytes. base: of from, in its file, for errors. */
int lade_unpack(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing, uint64_t limit,
                const struct lade_alloc *alloc, struct lade_error *error);

/* The same into memory of the allocator: to->data. */
int lade_unpack_value(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing,
                      uint64_t limit, const struct lade_alloc *alloc, struct lade_error *error);

/* Maps a file; what gzip or zstd has compressed is unpacked. */
int lade_map_unpacked(struct lade_bytes *bytes, const char *path, uint64_t limit, const struct lade_alloc *alloc,
                      struct lade_error *error);

/* Whether the bytes have this CRC-32; true without zlib. */
bool lade_zip_checks(struct lade_bytes bytes, uint32_t checksum);

/* The directory of a zip file. */
struct lade_zip {
    struct lade_bytes file;
    uint64_t at, end, left; /* next entry, end of the directory, entries left */
};

struct lade_zip_member {
    const char *name; /* not ended by a zero */
    size_t length;
    unsigned method; /* 0: stored, 8: deflate */
    uint32_t checksum;
    uint64_t size, packed; /* bytes unpacked, and in the file */
    uint64_t data;         /* where they begin */
};

int lade_zip_open(struct lade_zip *zip, struct lade_bytes file, struct lade_error *error);
/* LADE_OK; LADE_EMPTY at the end; LADE_DAMAGED. */
int lade_zip_next(struct lade_zip *zip, struct lade_zip_member *member, struct lade_error *error);

/* npz: NumPy's zip file of arrays. The first dimension of all is that of the samples. */
struct lade_npz {
    unsigned arrays;
    struct lade_flat flat[LADE_FIELDS_MAX];
    char name[LADE_FIELDS_MAX][64];
    struct lade_bytes map[LADE_FIELDS_MAX]; /* unpacked arrays; data NULL: it lies in the file */
};
/*
 * Finds the arrays: those named, or all if count is 0. Allocates memory for compressed ones only, limit bytes in all,
 * which lade_npz_drop() frees, also after a failure. check: also verifies the checksums of stored arrays.
 */
int lade_npz_parse(struct lade_npz *npz, struct lade_bytes file, const char *const *names, unsigned count,
                   uint64_t limit, bool check, const struct lade_alloc *alloc, struct lade_error *error);
void lade_npz_drop(struct lade_npz *npz, const struct lade_alloc *alloc);

struct lade_npz_config {
    const char *names[LADE_FIELDS_MAX]; /* of arrays; the first of them is field 0 */
    unsigned count;                     /* 0: all */
    const char *label;                  /* NULL: "label", "labels" or "y", if it has integers */
    uint64_t limit;
    const char *key, *group;        /* arrays, or NULL */
    bool unchecked;                 /* checksums of stored arrays are not verified */
    const struct lade_alloc *alloc; /* NULL: the C library's */
};
/* Takes ownership of the map, also on failure. */
int lade_npz_open(struct lade_source **source, struct lade_bytes file, const struct lade_npz_config *config,
                  struct lade_error *error);

#endif
