/* SPDX-License-Identifier: MIT */
/* Fields of samples: how commands print, read and measure them. */
#include "fields.h"

#include "lade.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long big;

void print_field(FILE *to, const struct lade_field *field)
{
    fprintf(to, "%s %s", shown(field->name), lade_dtype_name(field->dtype));
    if (field->ragged_max > 0)
        fprintf(to, " up to %s", grouped(field->ragged_max));
    for (unsigned d = 0; d < field->dims; d++)
        fprintf(to, "%s%llu", d || field->ragged_max ? " x " : " ", (big)field->dim[d]);
}

void print_sample(FILE *to, const struct lade_source *source)
{
    const struct lade_source_info *info = lade_source_info(source);
    const struct lade_schema *schema = lade_source_schema(source);

    if (info->schema) {
        for (unsigned f = 0; f < schema->fields; f++) {
            fputs(f ? ", " : "", to);
            print_field(to, &schema->field[f]);
        }
        return;
    }
    fputs(lade_dtype_name(info->shape.dtype), to);
    for (unsigned d = 0; d < info->shape.dims; d++)
        fprintf(to, "%s%llu", d ? " x " : " ", (big)info->shape.dim[d]);
}

int whole_read(struct whole *w, struct lade_source *source, uint64_t i, struct lade_error *error)
{
    const struct lade_schema *schema = lade_source_schema(source);
    struct lade_view *const views = w->view;
    size_t need = 0, at = 0;
    int status = LADE_OK;

    memset(views, 0, sizeof w->view);
    for (unsigned f = 0; f < schema->fields && status == LADE_OK; f++) {
        status = lade_source_length(source, i, f, &views[f].length, error);
        if (status == LADE_OK) /* a field has at most SIZE_MAX / 2 bytes */
            need += lade_field_bytes(&schema->field[f]) * (size_t)views[f].length;
        if (need > SIZE_MAX / 4)
            break;
    }
    if (status == LADE_OK && need > w->room) {
        uint8_t *more = need <= SIZE_MAX / 4 ? realloc(w->bytes, need) : NULL;
        if (!more) {
            (void)snprintf(error->text, sizeof error->text, "out of memory for sample %llu", (big)i);
            return error->status = LADE_NO_MEMORY;
        }
        w->bytes = more;
        w->room = need;
    }
    for (unsigned f = 0; f < schema->fields && status == LADE_OK; f++) {
        views[f].data = w->bytes ? w->bytes + at : NULL;
        at += lade_field_bytes(&schema->field[f]) * (size_t)views[f].length;
    }
    w->size = at;
    return status == LADE_OK ? lade_source_read_fields(source, i, views, error) : status;
}

void whole_free(struct whole *w)
{
    free(w->bytes);
    *w = (struct whole){.bytes = NULL};
}

static unsigned bucket_of(uint64_t length)
{
    unsigned bucket = 0;

    for (; length > 0; length /= 2)
        bucket++;
    return bucket;
}

int lengths_add(struct lengths *lengths, struct lade_source *source, uint64_t i, struct lade_error *error)
{
    const struct lade_schema *schema = lade_source_schema(source);

    for (unsigned f = 0; f < schema->fields; f++) {
        struct lengths *l = &lengths[f];
        uint64_t length;
        int status = lade_source_length(source, i, f, &length, error);
        if (status != LADE_OK)
            return status;
        l->least = l->samples == 0 || length < l->least ? length : l->least;
        l->most = length > l->most ? length : l->most;
        l->total += length;
        l->samples++;
        l->bucket[bucket_of(length)]++;
    }
    return LADE_OK;
}

/* Prints the lengths of a ragged field, and how many samples have 0, 1, 2 to 3, 4 to 7, ... steps. */
static void print_lengths(FILE *to, const struct lengths *l)
{
    const char *comma = "";

    if (l->samples == 0)
        return;
    fprintf(to, ", %s to", grouped(l->least));
    fprintf(to, " %s steps, %.1f on average\n    samples by steps:", grouped(l->most),
            (double)l->total / (double)l->samples);
    for (unsigned b = 0; b < LENGTH_BUCKETS; b++) {
        const uint64_t first = b > 0 ? UINT64_C(1) << (b - 1) : 0;
        if (l->bucket[b] == 0)
            continue;
        fprintf(to, "%s %llu", comma, (big)first);
        if (b > 1)
            fprintf(to, " to %llu", (big)(2 * (first - 1) + 1));
        fprintf(to, ": %s", grouped(l->bucket[b]));
        comma = ";";
    }
}

void print_fields(FILE *to, const struct lade_source *source, const struct lengths *lengths)
{
    const struct lade_schema *schema = lade_source_schema(source);

    for (unsigned f = 0; f < schema->fields; f++) {
        fputs("  field     ", to);
        print_field(to, &schema->field[f]);
        fputs((int)f == schema->label ? ", the label" : "", to);
        fputs((int)f == schema->key ? ", the key" : "", to);
        fputs((int)f == schema->group ? ", the group" : "", to);
        if (schema->field[f].ragged_max > 0)
            print_lengths(to, &lengths[f]);
        fputc('\n', to);
    }
}

static void json_lengths(FILE *to, const struct lengths *l)
{
    unsigned last = LENGTH_BUCKETS;

    fprintf(to, ", \"lengths\": {\"samples\": %llu, \"least\": %llu, \"most\": %llu, \"total\": %llu, \"by_power\": [",
            (big)l->samples, (big)l->least, (big)l->most, (big)l->total);
    while (last > 0 && l->bucket[last - 1] == 0)
        last--;
    for (unsigned b = 0; b < last; b++)
        fprintf(to, "%s%llu", b ? ", " : "", (big)l->bucket[b]);
    fputs("]}", to);
}

void json_fields(FILE *to, const struct lade_source *source, const struct lengths *lengths)
{
    const struct lade_schema *schema = lade_source_schema(source);

    fputs(", \"fields\": [", to);
    for (unsigned f = 0; f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        fprintf(to, "%s{\"name\": ", f ? ", " : "");
        json_quoted(to, field->name);
        fprintf(to, ", \"dtype\": \"%s\", \"shape\": [", lade_dtype_name(field->dtype));
        for (unsigned d = 0; d < field->dims; d++)
            fprintf(to, "%s%llu", d ? ", " : "", (big)field->dim[d]);
        fprintf(to, "], \"ragged_max\": %llu", (big)field->ragged_max);
        if (field->ragged_max > 0)
            json_lengths(to, &lengths[f]);
        fputc('}', to);
    }
    fprintf(to, "], \"label\": %d, \"key\": %d, \"group\": %d", schema->label, schema->key, schema->group);
}
