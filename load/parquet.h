/* SPDX-License-Identifier: MIT */
/*
 * The shared object for Parquet, over Arrow C++, loaded on the first use of parquet: one struct with the version of the
 * sources that it was compiled from. The library accepts only an object of the same version. Internal.
 */
#ifndef LADE_LOAD_PARQUET_H
#define LADE_LOAD_PARQUET_H

#include <lade/arrow.h>

LADE_BEGIN

#define LADE_PARQUET_OBJECT "liblade-parquet.so"
#define LADE_PARQUET_OBJECT_SYMBOL "lade_parquet_object"
#define LADE_PARQUET_TEXT 512 /* bytes of a reason */

struct lade_parquet_file;

/* The offsets of the first two fields are the same in all versions. Functions return LADE_OK, or a status and a reason. */
struct lade_parquet_object {
    uint32_t version; /* LADE_VERSION_NUMBER */
    uint32_t size;    /* of this struct */
    int (*open)(struct lade_parquet_file **file, const char *path, struct ArrowSchema *schema, char *reason);
    void (*close)(struct lade_parquet_file *file);
    uint64_t (*groups)(const struct lade_parquet_file *file);
    uint64_t (*rows)(const struct lade_parquet_file *file, uint64_t group);
    /* Bytes of a column in a row group, encoded, but not compressed. */
    uint64_t (*bytes)(const struct lade_parquet_file *file, uint64_t group, uint32_t column);
    /* Of the footer: it has the place and the statistics of each column of each row group. */
    uint32_t (*identity)(const struct lade_parquet_file *file);
    /* Decodes some columns of a row group, in the order asked for. Any number of threads. */
    int (*read)(const struct lade_parquet_file *file, uint64_t group, const uint32_t *columns, unsigned count,
                struct ArrowArray *array, char *reason);
};

/* Inside the object. */
extern LADE_API const struct lade_parquet_object lade_parquet_object;

LADE_END

#endif
