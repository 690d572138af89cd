/* SPDX-License-Identifier: MIT */
/*
 * Files that keep what a source has scanned when it was opened, so that it opens without the scan next time: beside the
 * first data file or, where that cannot be written, in the cache folder. Internal.
 *
 * An index file is of one version of the library, one kind of source, its options and the names of its data files. It is
 * used if size, time and a sample of the content of each data file are what they were. It ends with its checksum; what
 * it has is checked like any input. It is replaced completely or not at all, so processes that write it at once do no
 * harm.
 */
#ifndef LADE_LOAD_INDEX_FILE_H
#define LADE_LOAD_INDEX_FILE_H

#include "source_text.h"

#include "file.h"

/* Data of less than this many bytes is scanned again, unless index=yes. */
#define LADE_INDEX_LEAST (UINT64_C(1) << 24)

struct lade_index {
    const struct lade_alloc *alloc;
    enum { INDEX_AUTO, INDEX_YES, INDEX_NO } want;
    uint64_t item[ITEMS_MAX]; /* hashes of the items */
    uint64_t key, bytes;      /* hash of kind, options and names; bytes of all data files */
    struct lade_stamp *stamp;
    uint64_t stamps, space;
    char *first; /* path of the first data file */
    bool failed; /* out of memory: there is no index */
    enum lade_index_use use;
    char *path; /* of the file that was read or written; the source takes it */
};

/* Takes index=yes|no|auto. Before other options, which change the text. */
int lade_index_begin(struct lade_index *index, struct items *it);
/* The options are those items that were taken before this call. */
void lade_index_options(struct lade_index *index, const struct items *it);
void lade_index_add(struct lade_index *index, const char *path, const struct lade_stamp *stamp);
/* Frees what is left. */
void lade_index_end(struct lade_index *index);

/* A checksum of some bytes in 16 places, the first and the last included. */
uint32_t lade_index_sample(struct lade_bytes file);

/* Reads an index. After a failure everything it returns is zero. */
struct lade_index_reader {
    struct lade_inlet from;
    const struct lade_alloc *alloc;
    uint64_t left; /* bytes before the checksum */
    uint32_t crc, stored;
    bool failed;
    size_t at, filled;
    uint8_t buffer[4096];
};
/* size: of the whole, with the checksum at its end, which is given. */
void lade_index_reader_init(struct lade_index_reader *reader, struct lade_inlet from, uint64_t size, uint32_t checksum,
                            const struct lade_alloc *alloc);
void lade_index_get(struct lade_index_reader *reader, void *to, size_t size);
uint64_t lade_index_get_number(struct lade_index_reader *reader);
/* An array on the heap, or NULL: the index is too short for it, or there is no memory. At least one byte is allocated. */
void *lade_index_get_array(struct lade_index_reader *reader, uint64_t count, size_t width);
/* A text of 1 to most characters on the heap, or NULL. */
char *lade_index_get_text(struct lade_index_reader *reader, uint64_t most);
/* Whether all was read, and the checksum is right. */
bool lade_index_complete(struct lade_index_reader *reader);

struct lade_index_writer {
    struct lade_file file;
    uint32_t crc;
    bool failed;
    size_t filled;
    uint8_t buffer[4096];
};
void lade_index_put(struct lade_index_writer *writer, const void *from, size_t size);
void lade_index_put_number(struct lade_index_writer *writer, uint64_t number);
void lade_index_put_text(struct lade_index_writer *writer, const char *text);

/* Whether the header of the index is that of these data files. */
bool lade_index_matches(const struct lade_index *index, struct lade_index_reader *reader);

/*
 * Finds an index of these data files, and calls take, which reads and checks it completely. Returns true if take did;
 * else take has left its object unchanged.
 */
bool lade_index_load(struct lade_index *index, bool (*take)(void *self, struct lade_index_reader *reader), void *self);
/* Writes the index, where it can. put writes what take will read. */
void lade_index_save(struct lade_index *index, void (*put)(const void *self, struct lade_index_writer *writer),
                     const void *self);

#endif
