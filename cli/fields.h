/* SPDX-License-Identifier: MIT */
/* Fields of samples: how commands print, read and measure them. */
#ifndef LADE_CLI_FIELDS_H
#define LADE_CLI_FIELDS_H

#include <lade/source.h>
#include <stdio.h>

/* "tokens i32 up to 2,048 x 3". */
void print_field(FILE *to, const struct lade_field *field);
/* All fields of a sample in one line; without a schema type and shape only. */
void print_sample(FILE *to, const struct lade_source *source);

/* All fields of a sample, one after another, and where each is. */
struct whole {
    uint8_t *bytes;
    size_t size, room;
    struct lade_view view[LADE_FIELDS_MAX];
};
int whole_read(struct whole *w, struct lade_source *source, uint64_t i, struct lade_error *error);
void whole_free(struct whole *w);

#define LENGTH_BUCKETS 65

/* Steps of a field: bucket 0 counts samples without a step, bucket b those with 2^(b-1) to 2^b - 1. */
struct lengths {
    uint64_t samples, least, most, total, bucket[LENGTH_BUCKETS];
};

/* Adds a sample to the lengths of all fields. */
int lengths_add(struct lengths *lengths, struct lade_source *source, uint64_t i, struct lade_error *error);
void print_fields(FILE *to, const struct lade_source *source, const struct lengths *lengths);
void json_fields(FILE *to, const struct lade_source *source, const struct lengths *lengths);

#endif
