/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the parts of lade convert. convert.c reads the options and reports, convert_plan.c chooses how
 * each field is written, convert_write.c writes the files, convert_encode.c encodes samples for tar and TFRecord,
 * convert_state.c keeps what is done, convert_check.c reads the result back.
 */
#ifndef LADE_CLI_CONVERT_H
#define LADE_CLI_CONVERT_H

#include "fields.h"
#include "lade.h"
#include "parts.h"

#include <lade/random.h>

typedef unsigned long long big; /* for printf */

enum convert_format { TO_RECORDS, TO_NPY, TO_TAR, TO_TFRECORD, FORMATS };
extern const char *const convert_formats[FORMATS];

enum { SHARDS_MAX = 65536, NAME_SPACE = LADE_FIELD_NAME_MAX + 8 };

/* How the values of a field are written. */
enum encoding {
    AS_ELEMENTS, /* little-endian; in records and npy in the order of the machine */
    AS_ARRAY,    /* a file of NumPy in a member of tar */
    AS_DIGITS,   /* an integer in decimal digits */
    AS_INTEGERS, /* Int64List */
    AS_FLOATS    /* FloatList */
};

/* A field of the result. */
struct column {
    unsigned from;         /* its field in the source */
    char name[NAME_SPACE]; /* in the result */
    enum encoding encoding;
    struct lade_field field; /* as it is read back */
    uint64_t steps;          /* of all samples, if it is ragged */
};

struct shard {
    uint64_t bytes;                     /* of its files */
    uint32_t checksum[LADE_FIELDS_MAX]; /* of each column */
    bool done, kept;                    /* kept: an earlier run has written it */
};

struct convert {
    const char *text, *out, *json, *field[LADE_FIELDS_MAX]; /* field: of --field, NAME or NAME=AS */
    unsigned chosen;                                        /* fields of --field; 0: all */
    struct parts parts;
    bool weights_given, split_seeded, shuffled, random_seed, replace, unchecked;
    uint64_t seed, shard_size;
    enum convert_format format;
    struct lade_source *source;
    const struct lade_source_info *info;
    uint64_t *member; /* samples of the part; NULL: all */
    uint64_t count;
    struct lade_permutation permutation;
    struct column column[LADE_FIELDS_MAX];
    unsigned columns;
    int label, key, group; /* columns, or LADE_NO_FIELD */
    unsigned label_width;  /* of records */
    char *base;            /* out without the end of the format's name */
    char *opens;           /* the text that opens the result */
    uint64_t plan;         /* a hash of all that decides what is written */
    struct shard *shard;
    uint64_t shards;
    struct whole sample;
    uint8_t *integers; /* a value as i64 */
    size_t integers_room;
};

/* A value of the current sample, as it is read back. */
struct value {
    const uint8_t *data;
    size_t size;
    uint64_t steps; /* 1 if the field is fixed */
};

/* These return exit codes, after a message unless EXIT_DONE. */
int convert_plan(struct convert *c);  /* fields and names of the result, and its text */
int convert_write(struct convert *c); /* the shards that are not done */
int convert_check(struct convert *c);
int convert_load_state(struct convert *c);
int convert_save_state(const struct convert *c);

int convert_trouble(const char *what, const char *why);
int convert_no_memory(void);

/* The sample at a position of the result. */
uint64_t convert_sample(const struct convert *c, uint64_t position);
/* Reads that sample. */
int convert_read(struct convert *c, uint64_t position);
/* A value of the sample that was read, valid until the next call. */
int convert_value(struct convert *c, unsigned column, uint64_t position, struct value *value);
uint32_t convert_checksum(uint32_t before, const uint8_t *data, size_t size);

/* The name of a file of the result; column and offsets: of npy. The caller frees it; NULL: out of memory. */
char *convert_file(const struct convert *c, uint64_t shard, unsigned column, bool offsets);
/* The text of the state's name. */
char *convert_state_file(const struct convert *c);
/* Bytes of all files of a shard; UINT64_MAX if one is missing. */
uint64_t convert_shard_bytes(const struct convert *c, uint64_t shard);

/* The header of a file of NumPy: bytes written to a buffer of this size. */
#define NPY_HEADER 512
size_t convert_npy_header(uint8_t *to, const struct lade_field *field, uint64_t lead);
/* Writes the current sample. */
int convert_put_members(struct convert *c, struct output *o, uint64_t position);
int convert_put_record(struct convert *c, struct output *o, uint64_t position);

#endif
