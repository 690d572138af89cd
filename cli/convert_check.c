/* SPDX-License-Identifier: MIT */
/* lade convert: reads the result back and compares the checksum of every field of every shard. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

/* Marks a shard so that the next run writes it again. */
static int differs(struct convert *c, uint64_t shard, const char *field)
{
    char *path = convert_file(c, shard, 0, false);

    print_error("convert: %s: field '%s' does not read back unchanged; the same command writes it again",
                path ? path : c->out, field);
    free(path);
    c->shard[shard].done = false;
    (void)convert_save_state(c);
    return EXIT_WRONG;
}

static int check_shard(struct convert *c, uint64_t shard, const uint32_t *checksum)
{
    for (unsigned f = 0; f < c->columns; f++)
        if (checksum[f] != c->shard[shard].checksum[f])
            return differs(c, shard, c->column[f].name);
    return EXIT_DONE;
}

static int add_sample(struct convert *c, struct lade_source *result, struct whole *sample, uint64_t position,
                      uint32_t *checksum)
{
    const struct lade_schema *schema = lade_source_schema(result);
    struct lade_error error;

    if (whole_read(sample, result, position, &error) != LADE_OK) {
        print_error("convert: %s", error.text);
        return differs(c, c->shard_size ? position / c->shard_size : 0, c->column[0].name);
    }
    for (unsigned f = 0; f < c->columns; f++) {
        const int field = lade_schema_find(schema, c->column[f].name);
        const struct lade_view *view = &sample->view[field];
        checksum[f] =
            convert_checksum(checksum[f], view->data, lade_field_bytes(&schema->field[field]) * (size_t)view->length);
    }
    return EXIT_DONE;
}

static int check_samples(struct convert *c, struct lade_source *result)
{
    uint32_t checksum[LADE_FIELDS_MAX] = {0};
    struct whole sample = {.bytes = NULL};
    int code = EXIT_DONE;

    for (uint64_t p = 0; p < c->count && code == EXIT_DONE; p++) {
        if (p % 64 == 0)
            progress_line("checking", "samples", p, c->count);
        code = add_sample(c, result, &sample, p, checksum);
        if (code == EXIT_DONE && (p + 1 == c->count || (c->shard_size && (p + 1) % c->shard_size == 0))) {
            code = check_shard(c, c->shard_size ? p / c->shard_size : 0, checksum);
            memset(checksum, 0, sizeof checksum);
        }
    }
    progress_line("checking", "samples", 1, 1);
    whole_free(&sample);
    return code;
}

/* The fields that the result must have. */
static int check_schema(struct convert *c, struct lade_source *result)
{
    const struct lade_schema *schema = lade_source_schema(result);

    if (lade_source_info(result)->count != c->count) {
        print_error("convert: the result has %llu samples instead of %llu", (big)lade_source_info(result)->count,
                    (big)c->count);
        return EXIT_WRONG;
    }
    for (unsigned f = 0; f < c->columns; f++) {
        const int field = lade_schema_find(schema, c->column[f].name);
        if (field == LADE_NO_FIELD || schema->field[field].dtype != c->column[f].field.dtype) {
            print_error("convert: the result has no field '%s' of type %s", c->column[f].name,
                        lade_dtype_name(c->column[f].field.dtype));
            return EXIT_WRONG;
        }
    }
    return EXIT_DONE;
}

int convert_check(struct convert *c)
{
    struct lade_source *result;
    struct lade_error error;

    if (lade_source_open(&result, c->opens, NULL, &error) != LADE_OK) {
        print_error("convert: the result cannot be read back: %s; the same command writes it again", error.text);
        for (uint64_t s = 0; s < c->shards; s++)
            c->shard[s].done = false;
        (void)convert_save_state(c);
        return error.status == LADE_DAMAGED ? EXIT_WRONG : EXIT_TROUBLE;
    }
    int code = check_schema(c, result);
    if (code == EXIT_DONE)
        code = check_samples(c, result);
    lade_source_close(result);
    return code;
}
