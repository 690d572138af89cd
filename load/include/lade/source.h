/* SPDX-License-Identifier: MIT */
/*
 * source: a data set as numbered samples, independent of the file format.
 *
 * A source has a number of samples. Most have one tensor of one shape for each sample, and a label: sample i is read
 * into the caller's buffer, with its label. Others have several named fields, some of which may be ragged: see
 * lade_source_schema(). Elements are in the byte order of the machine, in C order. The same text opens the same samples
 * in the same order everywhere.
 *
 * When not to use it: for files that change while they are open. If a mapped file is truncated, SIGBUS ends the
 * process, as with every use of mmap.
 *
 * Threads      any number of threads may read one source concurrently; opening and closing: one thread.
 * Progress     reading takes no lock, except of parquet (twice for up to 64 samples of a batch; see arrow.h). It waits
 *              for the disk where the bytes are not in memory.
 * Memory       in-memory arrays, CIFAR, IDX, npy and records: nothing per sample, files are mapped.
 *              synthetic: 128 KiB and twice the bytes of a sample (2 MiB at most), nothing per sample.
 *              images: for each sample 16 bytes and the length of its name plus 1; while a sample is read, the bytes of
 *              its file and of the decoded image.
 *              tokens, megatron: nothing per sample. npz: unpacked bytes of compressed arrays, also of IDX and npy by
 *              gzip or zstd.
 *              tfrecord, tar: 8 bytes per sample, and 4 for each ragged field; files that are compressed as a whole,
 *              unpacked; while a sample is read, the decoded image if it is scaled, and members that are compressed.
 *              parquet: memory=N bytes of decoded row groups, of each that is being decoded also its pages; 4 bytes per
 *              sample for each ragged field, and for each row that is kept with nulls=skip.
 *              info.index_bytes reports the size of the index.
 *              All of it is from the alloc that open gets (NULL: the C library's), except mappings, which files and
 *              unpacked files are, and memory of the codecs, of zlib and of libzstd. alloc must stay valid until close.
 *              Threads that read images or compressed members, or labels of a custom source without label, call it
 *              concurrently.
 * Errors       a negative status, and the text in struct lade_error:
 *              LADE_INVALID    the text or an argument is wrong.
 *              LADE_IO         the system could not open or read.
 *              LADE_DAMAGED    the bytes do not match the format.
 *              LADE_LIMITED    an image is larger than pixels=N allows (2^26), or takes more than 64 passes over N
 *                              pixels; compressed data is larger than unpacked=N allows (2^30 bytes); a key or
 *                              group can have more than LADE_KEY_MAX bytes.
 *              LADE_NO_MEMORY
 *              After a failed read the content of the buffer is arbitrary; the source stays usable.
 */
#ifndef LADE_SOURCE_H
#define LADE_SOURCE_H

#include <lade/alloc.h>
#include <lade/error.h>
#include <lade/schema.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_ENDLESS UINT64_MAX              /* number of samples of a stream */
#define LADE_NO_LABEL INT64_C(-1)            /* of a sample without a label */
#define LADE_CLASSES_MAX (UINT64_C(1) << 24) /* of a source */

/* What became of the index file of a source; see docs/load.md, "Index files". */
enum lade_index_use {
    LADE_INDEX_NONE,    /* the source has none, was opened with index=no, or has less than 2^24 bytes */
    LADE_INDEX_READ,    /* it was read, and the files were not scanned */
    LADE_INDEX_WRITTEN, /* the files were scanned, and it was written */
    LADE_INDEX_REFUSED /* the files were scanned, and it could be written neither beside them nor in the cache folder */
};

/* What a source is. */
struct lade_source_info {
    const char *kind;               /* "cifar10", "synthetic", ... */
    uint64_t count;                 /* samples; LADE_ENDLESS: a stream, see lade_source_next() */
    struct lade_shape shape;        /* of one sample */
    size_t bytes;                   /* of one sample */
    uint64_t classes;               /* labels are less than this; 0: there are no labels */
    const char *const *class_names; /* NULL, or one for each class */
    uint64_t index_bytes;           /* memory of the source's index, for all samples */
    /*
     * NULL: one field of the shape above, and the label. Else the library sets shape and bytes: to those of field 0, or
     * to 0 if it is ragged.
     */
    const struct lade_schema *schema;
    enum lade_index_use index_use; /* tar, tfrecord, parquet */
    const char *index_file;        /* the path of what was read or written, or NULL */
};

/*
 * The functions of a custom source. Any number of threads call read and key concurrently. A function may be NULL: label
 * (the library reads the sample), name (the number), key (the number), next (not a stream), close (nothing to do),
 * gather (repeated reads). On an error gather sets *done to the index in ids of the sample that failed; after LADE_OK
 * *done is ignored. error is never NULL. If there are classes, a sample whose label is negative or not less than
 * classes is LADE_DAMAGED.
 */
struct lade_source_ops {
    int (*read)(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error); /* as lade_source_read() */
    int (*label)(void *self, uint64_t i, int64_t *label, struct lade_error *error); /* as lade_source_label() */
    uint64_t (*key)(void *self, uint64_t i);                                        /* as lade_source_key() */
    void (*name)(void *self, uint64_t i, char *to, size_t size);                    /* as lade_source_name() */
    /* As lade_source_next(). */
    int (*next)(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error);
    void (*close)(void *self); /* frees self */
    /* As lade_source_gather(). */
    int (*gather)(void *self, const uint64_t *ids, uint64_t count, void *to, int64_t *labels, uint64_t *done,
                  struct lade_error *error);
    /* With a schema. Steps of the ragged dimension of a field of sample i, from the index, without reading the data. */
    int (*length)(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error);
    /*
     * With a schema. Reads the wanted parts of all fields of sample i, one view for each field. A part that reaches
     * beyond the length of the field is an error. read may be NULL then.
     */
    int (*read_fields)(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error);
};

/* A source. */
struct lade_source;

/*
 * Opens the source that the text names:
 *
 *   synthetic[:count=N|endless,classes=N,shape=3x32x32,skew=R,duplicates=N|N%,seed=N|random]
 *   cifar10:DIR[,part=train|test|all] or cifar10:FILE[,FILE...]
 *   cifar100:DIR[,part=...][,labels=fine|coarse] or cifar100:FILE[,FILE...][,labels=...]
 *   idx:SAMPLES[,LABELS][,unpacked=N]
 *   npy:SAMPLES[,labels=FILE] or npy:NAME=FILE[,NAME=FILE...]
 *   records:FILE,size=N[,label=OFFSET:BYTES][,classes=N][,header=N][,shape=AxB...][,dtype=NAME]
 *   images:DIR[,size=HEIGHTxWIDTH][,pixels=N]
 *   tokens:FILE[,FILE...],length=N[,stride=N][,dtype=u16][,header=N]
 *   megatron:PREFIX[,samples=documents|sequences]
 *   tfrecord:FILES[,field=NAME[:TYPE[:SHAPE]]...][,label=NAME][,key=NAME][,group=NAME][,classes=N]
 *            [,size=HEIGHTxWIDTH][,pixels=N][,unpacked=N][,check=no][,index=auto|yes|no]
 *   tar:FILES, with the same options but check
 *   npz:FILE[,field=NAME...][,label=NAME][,key=NAME][,group=NAME][,unpacked=N]
 *   parquet:FILES[,field=NAME[:image]...][,label=NAME][,key=NAME][,group=NAME][,classes=N][,nulls=fail|skip|fill]
 *           [,fill=N][,size=HEIGHTxWIDTH][,pixels=N][,memory=BYTES][,window=K][,index=auto|yes|no]
 *
 * npy: an item that is the name of an existing file as a whole, such as day=1.npy, is that file.
 * A backslash escapes a comma or backslash in a file name. docs/load.md lists the guarantees of each format.
 * LADE_OK
 * LADE_INVALID     the text is wrong, a folder has no images, or this build cannot decode them.
 * LADE_IO          the system could not open or read a file, or has no random seed.
 * LADE_DAMAGED     the bytes do not match the format.
 * LADE_LIMITED     an image is larger than pixels=N allows, or takes more than 64 passes over N pixels; compressed data
 *                  is larger than unpacked=N allows; row groups of Parquet are larger than memory=N allows.
 * LADE_ABSENT      parquet: the shared object liblade-parquet.so is missing, or of another version.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open(struct lade_source **source, const char *text,
                                              const struct lade_alloc *alloc, struct lade_error *error);

/* Samples, and labels, that are arrays in memory. */
struct lade_source_array {
    const void *samples;            /* count samples, contiguous */
    uint64_t count;                 /* samples */
    struct lade_shape shape;        /* of one sample */
    const void *labels;             /* count integers of label_dtype, or NULL */
    enum lade_dtype label_dtype;    /* an integer type */
    uint64_t classes;               /* 0: the largest label + 1 */
    const struct lade_alloc *alloc; /* default the C library's */
};

/*
 * A source of arrays in memory, which must stay unchanged until it is closed.
 * LADE_OK
 * LADE_INVALID     no samples, an invalid shape, labels that are not integers, more than LADE_CLASSES_MAX classes,
 *                  or more than SIZE_MAX / 2 bytes.
 * LADE_DAMAGED     classes is 0, and a label is negative or not less than LADE_CLASSES_MAX.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_array_sized(struct lade_source **source,
                                                          const struct lade_source_array *array, size_t size,
                                                          struct lade_error *error);
static inline LADE_MUST_CHECK int
lade_source_open_array(struct lade_source **source, const struct lade_source_array *array, struct lade_error *error)
{
    return lade_source_open_array_sized(source, array, sizeof *array, error);
}

/* One named array. Frozen, because arrays of it are passed. */
struct lade_source_column {
    struct lade_field field; /* ragged_max is ignored: with offsets it becomes the length of the longest sample */
    const void *values;      /* contiguous; a fixed field has one for each sample */
    /* NULL: the field is fixed. Else sample i has the steps from offsets[i] to offsets[i + 1] of values. */
    const void *offsets;
    enum lade_dtype offset_dtype; /* LADE_I32 or LADE_I64 */
    uint64_t steps;               /* in values, with offsets */
};

/* Fields that are arrays in memory. */
struct lade_source_arrays {
    uint64_t count;                          /* samples */
    const struct lade_source_column *column; /* one for each field */
    unsigned columns;                        /* number of column */
    const char *label, *key, *group;         /* names of columns, or NULL */
    uint64_t classes;                        /* with a label; 0: the largest label + 1 */
    const struct lade_alloc *alloc;          /* default the C library's */
};

/*
 * A source of several arrays in memory, one for each field. The struct, its columns and the names are copied; values
 * and offsets must stay unchanged until the source is closed.
 * LADE_OK
 * LADE_INVALID     no samples, an invalid field, two fields with one name, a label that is not one integer, more than
 *                  LADE_CLASSES_MAX classes, more than SIZE_MAX / 2 bytes, or values or offsets that are NULL.
 * LADE_DAMAGED     offsets that fall or exceed steps; classes is 0, and a label is negative or not less than
 *                  LADE_CLASSES_MAX.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_arrays_sized(struct lade_source **source,
                                                           const struct lade_source_arrays *arrays, size_t size,
                                                           struct lade_error *error);
static inline LADE_MUST_CHECK int
lade_source_open_arrays(struct lade_source **source, const struct lade_source_arrays *arrays, struct lade_error *error)
{
    return lade_source_open_arrays_sized(source, arrays, sizeof *arrays, error);
}

/* Samples that are computed. */
struct lade_source_synthetic {
    uint64_t count;          /* or LADE_ENDLESS */
    struct lade_shape shape; /* dtype LADE_U8 */
    uint64_t classes;        /* number of classes */
    /* The first class is this many times as frequent as the last, with even steps in between; 1: all equal. */
    uint64_t skew;
    uint64_t duplicates; /* number of samples, scattered over the set, that copy a sample that is no copy itself */
    uint64_t seed;       /* any value, 0 included */
    bool random_seed;    /* draw a seed instead; lade_source_synthetic_seed() reports it */
    const struct lade_alloc *alloc; /* default the C library's */
};

/* 50,000 samples with the shape and number of classes of CIFAR-10, no skew, no duplicates, seed 1. */
LADE_API void lade_source_synthetic_default_sized(struct lade_source_synthetic *synthetic, size_t size);
static inline void lade_source_synthetic_default(struct lade_source_synthetic *synthetic)
{
    lade_source_synthetic_default_sized(synthetic, sizeof *synthetic);
}

/*
 * Content and label are pure functions of seed, shape, classes, skew and the sample number (with duplicates, also of
 * count and duplicates), so any thread can make any sample at any time. Each class has its own pattern under noise, so
 * that a model can learn it.
 * LADE_OK
 * LADE_INVALID     a field out of range.
 * LADE_IO          the system has no random seed.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_synthetic_sized(struct lade_source **source,
                                                              const struct lade_source_synthetic *synthetic,
                                                              size_t size, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_source_open_synthetic(struct lade_source **source,
                                                             const struct lade_source_synthetic *synthetic,
                                                             struct lade_error *error)
{
    return lade_source_open_synthetic_sized(source, synthetic, sizeof *synthetic, error);
}

/* The seed in use, from the struct or drawn; 0 if the source is of another kind. */
LADE_API uint64_t lade_source_synthetic_seed(const struct lade_source *source);

/* The sample that sample i is a copy of, or i; i also if the source is of another kind. */
LADE_API uint64_t lade_source_synthetic_origin(const struct lade_source *source, uint64_t i);

/*
 * A custom source. ops, info, its schema and the fields are copied; self, alloc, kind, class_names and the names of
 * fields must live until close. On failure close is not called.
 * LADE_OK
 * LADE_INVALID     neither read nor next, next without an endless count or the reverse, no samples, a shape that does
 *                  not match bytes, more than LADE_CLASSES_MAX classes, or a schema that is wrong: no field or more
 *                  than LADE_FIELDS_MAX, a name that is missing, too long or used twice, a field whose bytes, times
 *                  ragged_max, exceed SIZE_MAX / 2, a label that is not one integer; no read_fields, or no length for a
 *                  ragged field; an endless count.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_custom_sized(struct lade_source **source,
                                                           const struct lade_source_ops *ops, size_t ops_size,
                                                           void *self, const struct lade_source_info *info,
                                                           size_t info_size, const struct lade_alloc *alloc,
                                                           struct lade_error *error);
static inline LADE_MUST_CHECK int lade_source_open_custom(struct lade_source **source,
                                                          const struct lade_source_ops *ops, void *self,
                                                          const struct lade_source_info *info,
                                                          const struct lade_alloc *alloc, struct lade_error *error)
{
    return lade_source_open_custom_sized(source, ops, sizeof *ops, self, info, sizeof *info, alloc, error);
}

/* NULL is allowed. No thread may be reading. */
LADE_API void lade_source_close(struct lade_source *source);

/* Valid until the source is closed. */
LADE_API const struct lade_source_info *lade_source_info(const struct lade_source *source);

/*
 * The fields of the samples; never NULL, valid until the source is closed. Of a source without a schema: "sample", and
 * "label" (LADE_I64) if it has labels.
 */
LADE_API const struct lade_schema *lade_source_schema(const struct lade_source *source);

/*
 * Stores the number of steps of a field of sample i: 1 for a fixed field. Does not read the data.
 * LADE_OK
 * LADE_INVALID     i is not less than info.count, or there is no such field.
 * LADE_DAMAGED     more than ragged_max.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_source_length(struct lade_source *source, uint64_t i, unsigned field,
                                                uint64_t *length, struct lade_error *error);

/*
 * Reads parts of fields of sample i: one view for each field of the schema, those with data NULL are not read.
 * LADE_OK
 * LADE_INVALID     i is not less than info.count, or a view reaches beyond the length of its field.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_source_read_fields(struct lade_source *source, uint64_t i,
                                                     const struct lade_view *views, struct lade_error *error);

/*
 * Reads sample i, info.bytes bytes, into the buffer, which needs no alignment, and its label (LADE_NO_LABEL if there
 * are none), unless label is NULL. With a schema: field 0 and the label.
 * LADE_OK
 * LADE_INVALID     i is not less than info.count; with an endless source: it cannot make sample i; field 0 is ragged.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_source_read(struct lade_source *source, uint64_t i, void *to, int64_t *label,
                                              struct lade_error *error);

/*
 * Reads samples ids[0] to ids[count - 1] into contiguous memory, with their labels: faster than single reads.
 * LADE_OK          *done is count.
 * else             the error of sample ids[*done]; the samples before it were read.
 */
LADE_API LADE_MUST_CHECK int lade_source_gather(struct lade_source *source, const uint64_t *ids, uint64_t count,
                                                void *to, int64_t *labels, uint64_t *done, struct lade_error *error);

/*
 * Reads the label alone, without the sample where the format allows that.
 * LADE_OK
 * LADE_INVALID     i is not less than info.count.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_source_label(struct lade_source *source, uint64_t i, int64_t *label,
                                               struct lade_error *error);

/*
 * A number that identifies the sample permanently. images: a hash of the file name below DIR, so that adding and
 * removing files does not change it; tar: a hash of the name that the members of the sample share. With a key in the
 * schema: its integer, or a hash of its bytes (i if it cannot be read). All others: i. Different samples have different
 * keys; hashes up to 64-bit collisions.
 */
LADE_API uint64_t lade_source_key(const struct lade_source *source, uint64_t i);

/*
 * The number that a split routes sample i by: equal for all samples of a group, see lade_schema.group; without one the
 * key. Of integers the value, of other fields a hash of the bytes; i if it cannot be read. A loader does not use that
 * i: its creation fails with the error of the source.
 */
LADE_API uint64_t lade_source_group(const struct lade_source *source, uint64_t i);

/*
 * A readable name, cut to size bytes including the final zero. images: the file below DIR; tar: what the members of the
 * sample share; all others: the number.
 */
LADE_API void lade_source_name(const struct lade_source *source, uint64_t i, char *to, size_t size);

/*
 * Reads the next sample of a stream, with its key. Any number of threads may call it; each sample goes to one of them.
 * LADE_OK
 * LADE_EMPTY       the stream has ended.
 * LADE_INVALID     the source is no stream.
 * else             an error of the source.
 */
LADE_API LADE_MUST_CHECK int lade_source_next(struct lade_source *source, void *to, int64_t *label, uint64_t *key,
                                              struct lade_error *error);

LADE_END

#endif
