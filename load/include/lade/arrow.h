/* SPDX-License-Identifier: MIT */
/*
 * arrow: a source of record batches, taken by the Arrow C stream interface from any producer.
 *
 * Columns become fields: numbers, booleans (a byte each), dates, times and durations (their integers), fixed-size
 * lists, lists (ragged), strings and binary (ragged LADE_U8, or an image that is decoded as it is read), and
 * dictionaries of strings (LADE_I32: the number of the name in the order of first appearance). Columns of a struct are
 * named "struct.column". Buffers are not copied, but read where the producer has them.
 *
 * Kept whole: all record batches stay until the source is closed, and samples are read in any order. If they exceed
 * memory, and reopen can produce the same stream again, the stream is read through in windows instead: see
 * lade_source_arrow.memory.
 *
 * When not to use it: for a stream that does not end.
 *
 * Threads      as for all sources. Functions of a stream, and reopen, are called by one thread at a time, not always
 *              the same. Different record batches may be released by several threads at once. Windows: reading takes a
 *              lock, twice for up to 64 samples of a batch, and holds it while it calls the producer: a thread that
 *              stops inside the producer stops all readers of the source, which a loader's replacement of late workers
 *              does not cure.
 * Memory       kept whole: what the producer has allocated, about 400 bytes for each column of each record batch, the
 *              names of dictionaries, and with LADE_NULLS_SKIP 4 bytes for each row of a batch that has nulls.
 *              Windows: see lade_source_arrow.memory; and 4 bytes for each row and each ragged column.
 * Release      the stream, its schema and each record batch are released exactly once: by close, or on failure by open.
 * Errors       all of a batch's structure that the interface shows is checked before it is used: lengths, offsets,
 *              numbers of buffers and children. The interface does not carry the sizes of buffers; these are trusted.
 */
#ifndef LADE_ARROW_H
#define LADE_ARROW_H

#include <lade/source.h>

LADE_BEGIN

/* The structs of https://arrow.apache.org/docs/format/CDataInterface.html, under the guards that it names. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/*
 * Bits of ArrowSchema.flags: the names of a dictionary are ordered, the column may have nulls, the keys of a map are
 * sorted.
 */
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* The type of a column, or of a record batch with its columns as children. The standard describes the fields. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

/* The values of a column, or of a record batch with its columns as children. The standard describes the fields. */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A stream of record batches with one schema. The standard describes the fields. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};
#endif

/* What a null in a chosen column does. */
enum lade_nulls {
    LADE_NULLS_FAIL, /* reading that sample is LADE_DAMAGED, with column and row; config.fault of a loader decides */
    LADE_NULLS_SKIP, /* its row is no sample */
    LADE_NULLS_FILL, /* an element becomes lade_source_arrow.fill; a list, a string or binary becomes empty */
};

/* A column to read. Frozen, because arrays of it are passed. */
struct lade_arrow_column {
    const char *name; /* of the column; a column of a struct: STRUCT.COLUMN */
    bool image;       /* binary: JPEG or PNG, decoded to 3 bytes a pixel */
};

/* Default of lade_source_arrow.memory, limit of lade_source_arrow.window. */
#define LADE_ARROW_MEMORY (UINT64_C(1) << 30)
#define LADE_WINDOW_MAX 64u

/* What to read of a stream, and how. Zero means the default where one is named. */
struct lade_source_arrow {
    struct ArrowArrayStream *stream;        /* moved: its release is NULL afterwards, also on failure */
    const char *name;                       /* of the data, for messages; default "arrow" */
    const struct lade_arrow_column *column; /* NULL: all */
    unsigned columns;                       /* number of column */
    const char *label, *key, *group;        /* columns, or NULL */
    uint64_t classes;                       /* with a label; 0: the largest label + 1, or the names of a dictionary */
    enum lade_nulls nulls;                  /* default LADE_NULLS_FAIL */
    double fill;                            /* LADE_NULLS_FILL; each column's type must have this value */
    uint32_t height, width;                 /* images are scaled to it; 0: all have the size of the first */
    uint64_t pixels;                        /* of an image; default 2^26 */
    /*
     * Bytes of the chosen columns that may be in memory; default LADE_ARROW_MEMORY. A stream that has more is
     * LADE_LIMITED without reopen. With it, the source is read in windows of consecutive record batches, each read once
     * an epoch; two windows are in memory, and the record batches between the window and what was read of the stream. A
     * loader's order permutes the rows inside each window, in the order of the stream. A loader that resumes skips to
     * its window. Opening reads the stream to its end once.
     */
    uint64_t memory;
    unsigned window; /* record batches, up to LADE_WINDOW_MAX; default: what memory allows */
    /* Produces the same stream again, from its beginning. Returns LADE_OK, or an error, which is reported. */
    int (*reopen)(void *context, struct ArrowArrayStream *stream);
    void *context;
    const struct lade_alloc *alloc;
};

/*
 * LADE_OK
 * LADE_INVALID     no stream; a column that is not there, is there twice, or has a type that no field has; the value
 *                  fill does not fit; label, key or group names no column; no rows; see lade_source_open_custom().
 * LADE_DAMAGED     an array contradicts its schema: lengths, offsets, buffers or children; a label is negative or too
 *                  large; with images: none can be read.
 * LADE_IO          the stream or reopen failed; the text is the stream's.
 * LADE_LIMITED     more than memory bytes, and no reopen; a record batch alone has more than half of it; more than 2^24
 *                  names in a dictionary.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_arrow_sized(struct lade_source **source,
                                                          const struct lade_source_arrow *arrow, size_t size,
                                                          struct lade_error *error);
static inline LADE_MUST_CHECK int
lade_source_open_arrow(struct lade_source **source, const struct lade_source_arrow *arrow, struct lade_error *error)
{
    return lade_source_open_arrow_sized(source, arrow, sizeof *arrow, error);
}

LADE_END

#endif
