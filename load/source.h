/* SPDX-License-Identifier: MIT */
/* Declarations shared by the sources. Internal. */
#ifndef LADE_LOAD_SOURCE_H
#define LADE_LOAD_SOURCE_H

#include "fail.h"

#include <lade/source.h>

/*
 * Samples that lie in blocks, each of which is decoded as a whole. A shuffled epoch has windows of several blocks: the
 * blocks are permuted, unless they rise, then the samples inside each window. See order_blocks.h.
 */
struct lade_blocks {
    uint64_t count;
    const uint64_t *first; /* sample of each block, and the number of all samples */
    unsigned window;       /* blocks; count > window */
    bool rising;
    uint32_t identity; /* a checksum of what the source knows of its samples without reading them */
};

struct lade_source {
    const struct lade_blocks *blocks; /* NULL: reading any sample at any time costs the same */
    /*
     * NULL, or reads fields of up to 64 samples, as read_fields does each: count times as many views as there are fields.
     * On an error any of them may be unread.
     */
    int (*read_many)(void *self, const uint64_t *ids, uint64_t count, const struct lade_view *views,
                     struct lade_error *error);
    struct lade_source_ops ops;
    void *self;
    struct lade_source_info info;
    struct lade_schema schema; /* of info, or derived */
    struct lade_field field[LADE_FIELDS_MAX];
    const struct lade_alloc *alloc; /* NULL: the C library's, here and below */
};

/* What a function of a custom source gets: never NULL. */
static inline struct lade_error *lade_error_or(struct lade_error *error, struct lade_error *scratch)
{
    return error ? error : scratch;
}

/* LADE_OK, or LADE_INVALID with the field that is wrong, or LADE_LIMITED with a key or group that is too long. */
int lade_schema_check(const struct lade_schema *schema, const char *kind, struct lade_error *error);
/* Sets schema and fields of a source whose info is set and checked. */
void lade_source_describe(struct lade_source *source);
/* lade_source_read_fields() without checks: i, and views that do not reach beyond the lengths. */
int lade_source_read_views(struct lade_source *source, uint64_t i, const struct lade_view *views,
                           struct lade_error *error);
/* The integer of this dtype at an address without alignment. False: above 2^63 - 1. */
bool lade_integer_at(enum lade_dtype dtype, const void *at, int64_t *to);
bool lade_dtype_is_integer(enum lade_dtype dtype);
/* Reads the value of a key or group: the integer, or else a hash of the bytes. */
int lade_source_number(const struct lade_source *source, uint64_t i, unsigned field, uint64_t *number,
                       struct lade_error *error);
/* lade_source_key() and lade_source_group() of a sample that exists, with the error of a field that cannot be read. */
int lade_source_read_key(const struct lade_source *source, uint64_t i, uint64_t *key, struct lade_error *error);
int lade_source_read_group(const struct lade_source *source, uint64_t i, uint64_t *group, struct lade_error *error);
/* Whether the group is read from a field. */
bool lade_source_reads_group(const struct lade_source *source);
/* Of the label of sample i. LADE_OK, or LADE_DAMAGED if it is not below the number of classes. */
int lade_source_check_label(const struct lade_source *source, uint64_t i, int64_t label, struct lade_error *error);

static inline bool lade_machine_is_big(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

/* Bytes of a file, or of a test; the name is for messages. */
struct lade_bytes {
    const uint8_t *data;
    size_t size;
    const char *name;
};

/*
 * The error of a parser that got a part of a file, without its name: the part begins at byte base, and what names it.
 * inner is changed. Returns its status.
 */
int lade_fail_inside(struct lade_error *error, struct lade_error *inner, const char *file, uint64_t base,
                     const char *what);

/* Maps a file for reading. An empty file is an error. */
int lade_map(struct lade_bytes *bytes, const char *path, const struct lade_alloc *alloc, struct lade_error *error);
/* A file, as it is: for index files. */
struct lade_stamp {
    uint64_t size;
    int64_t seconds; /* of its last change */
    uint32_t nanoseconds, sample;
};
/* lade_map() that also stores size and time. */
int lade_map_stamped(struct lade_bytes *bytes, struct lade_stamp *stamp, const char *path,
                     const struct lade_alloc *alloc, struct lade_error *error);
void lade_unmap(struct lade_bytes *bytes, const struct lade_alloc *alloc);

/*
 * Reads a small file into memory, up to 2^30 bytes. For many files this is better than mapping each: mapping serialises
 * the threads, and here a file that is truncated is an error instead of a signal.
 */
int lade_read_file(struct lade_bytes *bytes, const char *path, const struct lade_alloc *alloc,
                   struct lade_error *error);
void lade_free_file(struct lade_bytes *bytes, const struct lade_alloc *alloc);

/* How bytes are compressed. */
enum lade_packing { LADE_STORED, LADE_GZIP, LADE_DEFLATE, LADE_ZSTD_FRAMES };

/* Location of the labels: in each record (data is NULL) or in a separate table. */
struct lade_labels {
    const uint8_t *data;
    uint64_t stride; /* bytes between labels, in a table */
    uint64_t at;     /* first byte in the record, or of the table in its file */
    unsigned width;  /* bytes; 0: there are none */
    bool is_signed, big;
    const char *name;
};

#define LADE_EXTENTS_MAX 16

/* Samples at a fixed stride in a few extents of memory: the form of every format but images. */
struct lade_flat {
    struct lade_extent {
        const uint8_t *data; /* its first record */
        uint64_t first;      /* number of that record */
        uint64_t offset;     /* of that record in the file */
        const char *name;
    } extent[LADE_EXTENTS_MAX];
    unsigned extents;
    unsigned swap; /* bytes to reverse in each element; below 2: none */
    uint64_t count;
    struct lade_shape shape;
    size_t bytes;    /* of a sample */
    uint64_t stride; /* bytes of a record */
    /* The sample is the record without these bytes. */
    uint64_t hole_at, hole_size;
    struct lade_labels labels;
    uint64_t classes;
};

/* Both accept any i below count and check the label against classes. */
int lade_flat_read(const struct lade_flat *flat, uint64_t i, void *to, int64_t *label, struct lade_error *error);
int lade_flat_label(const struct lade_flat *flat, uint64_t i, int64_t *label, struct lade_error *error);

/* Takes the labels of flat from a file of integers, one for each sample, and counts the classes. */
int lade_flat_take_labels(struct lade_flat *flat, const struct lade_flat *labels, struct lade_error *error);

/* Reverses the bytes of each element. */
void lade_swap_elements(uint8_t *bytes, size_t size, unsigned width);

/* Scans all labels: classes becomes the largest + 1. */
int lade_flat_count_classes(struct lade_flat *flat, struct lade_error *error);

/* The parsers. They read only the bytes, and allocate nothing. */
int lade_idx_parse(struct lade_flat *flat, struct lade_bytes bytes, struct lade_error *error);
int lade_npy_parse(struct lade_flat *flat, struct lade_bytes bytes, struct lade_error *error);

enum lade_cifar_labels { LADE_CIFAR_10, LADE_CIFAR_100_COARSE, LADE_CIFAR_100_FINE };

/* Adds a file to flat, which is all zero before the first. */
int lade_cifar_add(struct lade_flat *flat, enum lade_cifar_labels kind, struct lade_bytes bytes,
                   struct lade_error *error);

struct lade_records {
    uint64_t size, header, label_at, classes;
    unsigned label_width; /* 0: no label */
    bool shaped;          /* shape is given; otherwise bytes in one dimension */
    struct lade_shape shape;
};
int lade_records_parse(struct lade_flat *flat, const struct lade_records *records, struct lade_bytes bytes,
                       struct lade_error *error);

struct lade_tokens {
    enum lade_dtype dtype;
    uint64_t length, stride; /* of a sequence, and from one to the next, in tokens */
    uint64_t header;         /* bytes before the first token */
};
/* Adds a file to flat, which is all zero before the first. */
int lade_tokens_add(struct lade_flat *flat, const struct lade_tokens *tokens, struct lade_bytes bytes,
                    struct lade_error *error);

/* Lines of a text of class names, at most classes of them; NULL if there are fewer, or out of memory. */
char **lade_class_names(struct lade_bytes bytes, uint64_t classes, const struct lade_alloc *alloc);

/* A source of mapped files, which close unmaps; takes ownership of maps and names also on failure. */
int lade_flat_source(struct lade_source **source, const char *kind, const struct lade_flat *flat,
                     const struct lade_bytes *maps, unsigned count, char **names, const struct lade_alloc *alloc,
                     struct lade_error *error);

/* One field of a source of arrays. */
struct lade_array {
    struct lade_field field; /* ragged_max is computed */
    const uint8_t *values;
    const uint8_t *offsets; /* NULL: a fixed field */
    bool wide;              /* offsets have 8 bytes, else 4 */
    uint64_t steps;         /* in values, with offsets */
    unsigned swap;          /* bytes to reverse in each element; below 2: none */
    const char *file;       /* for messages */
};

struct lade_arrays {
    const char *kind;
    uint64_t count;
    struct lade_array array[LADE_FIELDS_MAX];
    unsigned arrays;
    int label, key, group;
    uint64_t classes; /* 0: the largest label + 1 */
};

/*
 * A source of arrays, and of up to 2 * LADE_FIELDS_MAX mapped files, which close unmaps; takes ownership of maps also on
 * failure. Copies the names of the fields.
 */
int lade_arrays_source(struct lade_source **source, const struct lade_arrays *arrays, const struct lade_bytes *maps,
                       unsigned count, const struct lade_alloc *alloc, struct lade_error *error);

/* Reverses the bytes of each element. */
void lade_swap_elements(uint8_t *bytes, size_t size, unsigned width);

/* Whether reading any sample is a memory copy. */
bool lade_source_is_flat(const struct lade_source *source);

/* Decoding to 3 bytes per pixel. */
struct lade_picture {
    uint32_t height, width;
    uint64_t pixels_max; /* LADE_LIMITED above it, or above LADE_SCANS passes over this many pixels */
};
#define LADE_PIXELS_MAX (UINT64_C(1) << 26)
#define LADE_SCANS 64
bool lade_decode_offered(void);
/* Reads the size only; the limit is in *picture. */
int lade_decode_size(struct lade_picture *picture, struct lade_bytes bytes, struct lade_error *error);
/* Decodes an image of exactly this size into 3 * height * width bytes. */
int lade_decode(struct lade_picture picture, struct lade_bytes bytes, uint8_t *to, const struct lade_alloc *alloc,
                struct lade_error *error);

/* Decodes an image that has the size is, and scales it to the other. */
int lade_decode_scaled(struct lade_picture is, struct lade_picture size, struct lade_bytes bytes, uint8_t *to,
                       const struct lade_alloc *alloc, struct lade_error *error);

int lade_images_open(struct lade_source **source, const char *folder, struct lade_picture size,
                     const struct lade_alloc *alloc, struct lade_error *error);

#endif
