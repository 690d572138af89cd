/* SPDX-License-Identifier: MIT */
/* A checksum of what an order depends on. */
#include "checksum.h"
#include "ignore.h"
#include "order.h"
#include "source.h"

#include <string.h>

static uint32_t add_number(uint32_t crc, uint64_t number)
{
    unsigned char bytes[8];

    lade_write_number(bytes, number, 8);
    return lade_crc32c(crc, bytes, sizeof bytes);
}

/* Names, types and shapes of the fields; nothing for a source without a schema. */
static uint32_t add_schema(uint32_t crc, const struct lade_schema *schema)
{
    for (unsigned f = 0; schema && f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        crc = lade_crc32c(crc, field->name, strlen(field->name) + 1);
        crc = add_number(crc, (uint64_t)field->dtype << 32 | field->dims);
        crc = add_number(crc, field->ragged_max);
        for (unsigned d = 0; d < field->dims; d++)
            crc = add_number(crc, field->dim[d]);
    }
    return schema ? add_number(add_number(add_number(crc, (uint64_t)schema->label), (uint64_t)schema->key),
                               (uint64_t)schema->group)
                  : crc;
}

/* Lengths of the ragged fields of a sample. */
static uint32_t add_lengths(uint32_t crc, struct lade_source *source, uint64_t i)
{
    const struct lade_schema *schema = lade_source_info(source)->schema;

    for (unsigned f = 0; schema && f < schema->fields; f++) {
        uint64_t length = UINT64_MAX;
        if (schema->field[f].ragged_max == 0)
            continue;
        if (lade_source_length(source, i, f, &length, NULL) != LADE_OK)
            length = UINT64_MAX;
        crc = add_number(crc, length);
    }
    return crc;
}

/* Identifies a source among those of the same length: its shape or schema; key, label and lengths of some samples. */
static uint32_t source_identity(const struct lade_order *o)
{
    enum { LOOKED_AT = 64 };
    const struct lade_source_info *info = lade_source_info(o->source);
    uint32_t crc = lade_crc32c(0, info->kind, strlen(info->kind));
    unsigned char bytes[16];

    lade_write_number(bytes, (uint64_t)info->shape.dtype << 32 | info->shape.dims, 8);
    lade_write_number(bytes + 8, info->classes, 8);
    crc = lade_crc32c(crc, bytes, sizeof bytes);
    for (unsigned d = 0; d < info->shape.dims; d++) {
        lade_write_number(bytes, info->shape.dim[d], 8);
        crc = lade_crc32c(crc, bytes, 8);
    }
    crc = add_schema(crc, info->schema);
    if (o->source->blocks) /* samples that are far from each other take long to read */
        return add_number(add_number(crc, o->source->blocks->window), o->source->blocks->identity);
    const uint64_t count = o->mixture ? info->count : o->places;
    const uint64_t samples = count < LOOKED_AT ? count : LOOKED_AT;
    for (uint64_t k = 0; k < samples; k++) {
        /* Evenly spread, both ends included. */
        const uint64_t step = samples > 1 ? (count - 1) / (samples - 1) : 0;
        const uint64_t i = k + 1 == samples ? count - 1 : k * step;
        int64_t label = LADE_NO_LABEL;
        if ((o->source->ops.label || info->schema) && info->classes > 0)
            lade_ignore(lade_source_label(o->source, i, &label, NULL)); /* a sample that cannot be read has none */
        lade_write_number(bytes, lade_source_key(o->source, i), 8);
        lade_write_number(bytes + 8, (uint64_t)label, 8);
        crc = lade_crc32c(crc, bytes, sizeof bytes);
        crc = add_lengths(crc, o->source, i);
    }
    return crc;
}

uint32_t lade_order_identity(const struct lade_order *o)
{
    struct lade_split_config split = {0};
    uint64_t word[10] = {o->places, o->members, o->sequential, (uint64_t)o->draw, o->split != NULL, o->part, o->law};
    unsigned char bytes[sizeof word];
    uint32_t crc;

    if (o->mixture) /* its weights may change */
        word[0] = word[1] = lade_source_info(o->source)->count;
    if (o->split) {
        lade_split_get_config(o->split, &split);
        word[7] = split.seed;
        word[8] = (uint64_t)split.rule << 32 | split.parts;
    }
    word[9] = source_identity(o);
    for (int i = 0; i < 10; i++)
        lade_write_number(bytes + 8 * i, word[i], 8);
    crc = lade_crc32c(0, bytes, sizeof bytes);
    for (unsigned p = 0; p < split.parts; p++) {
        lade_write_number(bytes, split.weights ? split.weights[p] : 1, 4);
        crc = lade_crc32c(crc, bytes, 4);
    }
    for (unsigned s = 0; o->mixture && s <= o->mixture->sources; s++)
        crc = add_number(crc, o->mixture->first[s]);
    return o->mixture ? add_number(crc, o->mixture->end) : crc;
}
