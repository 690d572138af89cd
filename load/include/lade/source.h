/* SPDX-License-Identifier: MIT */
/*
 * source: a data set as numbered samples of one shape, whatever file it lies in.
 *
 * A source has a number of samples, all of one shape and element type; sample i is read into the caller's buffer, with its
 * label. Elements come in the byte order of the machine, in C order. The same text opens the same samples in the same
 * order everywhere.
 *
 * When not to use it: for samples of different sizes that you do not want scaled to one, and for files that change while
 * they are open. A mapped file that becomes shorter ends the process with SIGBUS, as with every use of mmap.
 *
 * Threads      any number may read one source at the same time; opening and closing belong to one.
 * Progress     reading takes no lock. It waits for the disk where the bytes are not in memory.
 * Memory       in-memory arrays, CIFAR, IDX, npy and records: nothing per sample, files are mapped. synthetic: 128 KiB and
 *              twice the bytes of a sample (2 MiB at most), nothing per sample. images: 16 bytes and the length of its name plus 1 for each
 *              sample, and while a sample is read, the bytes of its file and of the decoded image.
 *              info.index_bytes says it for the source at hand.
 * Errors       a negative status, and the text in struct lade_error. LADE_INVALID: the text or an argument is wrong;
 *              LADE_IO: the system could not open or read; LADE_DAMAGED: the bytes are not what the format says;
 *              LADE_LIMITED: an image is larger than pixels=N allows (2^26), or takes more than 64 passes over so many pixels;
 *              LADE_NO_MEMORY. After an error of a read the content of the buffer is arbitrary; the source stays usable.
 */
#ifndef LADE_SOURCE_H
#define LADE_SOURCE_H

#include <lade/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

enum lade_dtype {
    LADE_BOOL, /* one byte, 0 or 1 */
    LADE_U8,
    LADE_I8,
    LADE_U16,
    LADE_I16,
    LADE_U32,
    LADE_I32,
    LADE_U64,
    LADE_I64,
    LADE_F16,
    LADE_F32,
    LADE_F64,
    LADE_C64, /* two LADE_F32 */
    LADE_C128,
};

/* "u8", "f32", ...; NULL outside the enumeration. */
LADE_API const char *lade_dtype_name(enum lade_dtype dtype);

/* Bytes of one element; 0 outside the enumeration. */
LADE_API size_t lade_dtype_size(enum lade_dtype dtype);

#define LADE_DIMS_MAX 32

/* Frozen, as arrays of it are passed. */
struct lade_shape {
    enum lade_dtype dtype;
    unsigned dims; /* 0: a single element */
    uint64_t dim[LADE_DIMS_MAX];
};

/* Bytes of a sample of this shape; 0 when a dimension is zero, the dtype is none or the product is above SIZE_MAX / 2. */
LADE_API size_t lade_shape_bytes(const struct lade_shape *shape);

#define LADE_ENDLESS UINT64_MAX /* number of samples of a stream */
#define LADE_NO_LABEL INT64_C(-1)
#define LADE_CLASSES_MAX (UINT64_C(1) << 24)

struct lade_source_info {
    const char *kind;               /* "cifar10", "synthetic", ... */
    uint64_t count;                 /* samples; LADE_ENDLESS: a stream, see lade_source_next() */
    struct lade_shape shape;        /* of one sample */
    size_t bytes;                   /* of one sample */
    uint64_t classes;               /* labels are below it; 0: there are no labels */
    const char *const *class_names; /* NULL, or one for each class */
    uint64_t index_bytes;           /* memory that the source keeps for its index, all samples together */
};

/*
 * What a source of one's own brings. read and key are called by any number of threads. Functions that are NULL: label (the
 * library reads the sample), name (the number), key (the number), next (not a stream), close (nothing to do), gather (many reads).
 * gather sets *done on an error, to the index in ids of the sample that failed; after LADE_OK it is not looked at.
 * Where there are classes, a label that is negative or not below them makes its sample LADE_DAMAGED.
 */
struct lade_source_ops {
    int (*read)(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error);
    int (*label)(void *self, uint64_t i, int64_t *label, struct lade_error *error);
    uint64_t (*key)(void *self, uint64_t i);
    void (*name)(void *self, uint64_t i, char *to, size_t size);
    int (*next)(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error);
    void (*close)(void *self);
    int (*gather)(void *self, const uint64_t *ids, uint64_t count, void *to, int64_t *labels, uint64_t *done,
                  struct lade_error *error);
};

struct lade_source;

/*
 * Opens what the text names:
 *
 *   synthetic[:count=N|endless,classes=N,shape=3x32x32,skew=R,duplicates=N|N%,seed=N|random]
 *   cifar10:DIR[,part=train|test|all] or cifar10:FILE[,FILE...]
 *   cifar100:DIR[,part=...][,labels=fine|coarse] or cifar100:FILE[,FILE...][,labels=...]
 *   idx:SAMPLES[,LABELS]
 *   npy:SAMPLES[,labels=FILE]
 *   records:FILE,size=N[,label=OFFSET:BYTES][,classes=N][,header=N][,shape=AxB...][,dtype=NAME]
 *   images:DIR[,size=HEIGHTxWIDTH][,pixels=N]
 *
 * A comma or backslash that belongs to a file's name is written with a backslash before it. docs/load.md says what each
 * format promises.
 */
LADE_API LADE_MUST_CHECK int lade_source_open(struct lade_source **source, const char *text, struct lade_error *error);

struct lade_source_array {
    const void *samples; /* count samples, one behind the other */
    uint64_t count;
    struct lade_shape shape;
    const void *labels; /* count integers of label_dtype, or NULL */
    enum lade_dtype label_dtype;
    uint64_t classes; /* 0: the largest label + 1 */
};

/* A source of arrays in memory, which must stay as they are until it is closed. */
LADE_API LADE_MUST_CHECK int lade_source_open_array_sized(struct lade_source **source,
                                                          const struct lade_source_array *array, size_t size,
                                                          struct lade_error *error);
static inline LADE_MUST_CHECK int
lade_source_open_array(struct lade_source **source, const struct lade_source_array *array, struct lade_error *error)
{
    return lade_source_open_array_sized(source, array, sizeof *array, error);
}

struct lade_source_synthetic {
    uint64_t count;          /* or LADE_ENDLESS */
    struct lade_shape shape; /* dtype LADE_U8 */
    uint64_t classes;
    uint64_t
        skew; /* the first class is this many times as frequent as the last, evenly falling between; 1: all equal */
    uint64_t duplicates; /* so many samples, strewn over the set, are copies of others that are none */
    uint64_t seed;       /* any value is as good as another, 0 included */
    bool random_seed;    /* draw one instead; lade_source_synthetic_seed() reports it */
};

/* 50,000 samples of CIFAR-10's shape and number of classes, no skew, no duplicates, seed 1. */
LADE_API void lade_source_synthetic_default_sized(struct lade_source_synthetic *synthetic, size_t size);
static inline void lade_source_synthetic_default(struct lade_source_synthetic *synthetic)
{
    lade_source_synthetic_default_sized(synthetic, sizeof *synthetic);
}

/*
 * Content and label are pure functions of seed, shape, classes, skew and the number of the sample (with duplicates, of
 * those two numbers as well), so that any thread makes any sample at any time. Each class has a pattern of its own under
 * noise, so that there is something to learn.
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

/* The seed in use: that of the struct, or the one that was drawn; 0 where the source is of another kind. */
LADE_API uint64_t lade_source_synthetic_seed(const struct lade_source *source);

/* The sample that sample i is a copy of, or i; i also where the source is of another kind. */
LADE_API uint64_t lade_source_synthetic_origin(const struct lade_source *source, uint64_t i);

/*
 * A source of one's own; info is copied, what it points to is not. self and what info points to live until close. When
 * this fails, close is not called.
 */
LADE_API LADE_MUST_CHECK int lade_source_open_custom_sized(struct lade_source **source,
                                                           const struct lade_source_ops *ops, size_t ops_size,
                                                           void *self, const struct lade_source_info *info,
                                                           size_t info_size, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_source_open_custom(struct lade_source **source,
                                                          const struct lade_source_ops *ops, void *self,
                                                          const struct lade_source_info *info, struct lade_error *error)
{
    return lade_source_open_custom_sized(source, ops, sizeof *ops, self, info, sizeof *info, error);
}

/* NULL is fine. No thread may be reading. */
LADE_API void lade_source_close(struct lade_source *source);

/* Valid until the source is closed. */
LADE_API const struct lade_source_info *lade_source_info(const struct lade_source *source);

/*
 * Reads sample i, info.bytes bytes, into the buffer, which needs no alignment, and its label (LADE_NO_LABEL where there
 * are none), unless label is NULL. LADE_INVALID when i is not below info.count; with an endless source any i will do that
 * the source can make, and LADE_INVALID says that it cannot.
 */
LADE_API LADE_MUST_CHECK int lade_source_read(struct lade_source *source, uint64_t i, void *to, int64_t *label,
                                              struct lade_error *error);

/*
 * Reads samples ids[0] to ids[count - 1], one behind the other, with their labels: faster than one by one. LADE_OK, and *done is
 * count; or the error of sample ids[*done], those before it being read.
 */
LADE_API LADE_MUST_CHECK int lade_source_gather(struct lade_source *source, const uint64_t *ids, uint64_t count,
                                                void *to, int64_t *labels, uint64_t *done, struct lade_error *error);

/* The label alone, without the sample where the format allows that. */
LADE_API LADE_MUST_CHECK int lade_source_label(struct lade_source *source, uint64_t i, int64_t *label,
                                               struct lade_error *error);

/*
 * A number that stays with the sample: a hash of the file's name below DIR for images, so that it survives files that
 * come and go; i for all others. Different samples have different keys, for images up to 64-bit collisions.
 */
LADE_API uint64_t lade_source_key(const struct lade_source *source, uint64_t i);

/* A name for people, cut to size bytes with its final zero: the file below DIR for images, the number for all others. */
LADE_API void lade_source_name(const struct lade_source *source, uint64_t i, char *to, size_t size);

/*
 * The next sample of a stream, with its key; LADE_EMPTY at its end, LADE_INVALID where the source is no stream. Any number
 * of threads may call it; each sample goes to one of them.
 */
LADE_API LADE_MUST_CHECK int lade_source_next(struct lade_source *source, void *to, int64_t *label, uint64_t *key,
                                              struct lade_error *error);

LADE_END

#endif
