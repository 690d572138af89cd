/* SPDX-License-Identifier: MIT */
/* A source with several fields, some of them ragged, whose content follows from the number of a sample. */
#ifndef FIELDS_H
#define FIELDS_H

#include "loads.h"

enum { MANY_COUNT = 97, TOKENS = 11, POINTS = 4 };

static inline uint64_t tokens_of(uint64_t i)
{
    return i * 7 % TOKENS;
}

static inline uint64_t points_of(uint64_t i)
{
    return i * 3 % POINTS;
}

static inline int32_t token(uint64_t i, uint64_t k)
{
    return (int32_t)(i * 100 + k);
}

static struct {
    uint8_t image[MANY_COUNT][2][3];
    float target[MANY_COUNT][3];
    int16_t label[MANY_COUNT];
    int32_t token[MANY_COUNT * TOKENS];
    int64_t token_offsets[MANY_COUNT + 1];
    float point[MANY_COUNT * POINTS][2];
    int32_t point_offsets[MANY_COUNT + 1];
} many;

static inline void fill_many(void)
{
    for (uint64_t i = 0; i < MANY_COUNT; i++) {
        for (int k = 0; k < 6; k++)
            many.image[i][k / 3][k % 3] = (uint8_t)(i * 7 + (uint64_t)k);
        for (int k = 0; k < 3; k++)
            many.target[i][k] = (float)i + (float)k / 4;
        many.label[i] = (int16_t)(i % 5);
        many.token_offsets[i + 1] = many.token_offsets[i] + (int64_t)tokens_of(i);
        many.point_offsets[i + 1] = many.point_offsets[i] + (int32_t)points_of(i);
        for (uint64_t k = 0; k < tokens_of(i); k++)
            many.token[(uint64_t)many.token_offsets[i] + k] = token(i, k);
        for (uint64_t k = 0; k < points_of(i); k++) {
            many.point[(uint64_t)many.point_offsets[i] + k][0] = (float)token(i, k);
            many.point[(uint64_t)many.point_offsets[i] + k][1] = -1;
        }
    }
}

enum { IMAGE, TARGET, LABEL, TOKEN, POINT };

static inline struct lade_source *open_many(void)
{
    const struct lade_source_column column[] = {
        {.field = {.name = "image", .dtype = LADE_U8, .dims = 2, .dim = {2, 3}}, .values = many.image},
        {.field = {.name = "target", .dtype = LADE_F32, .dims = 1, .dim = {3}}, .values = many.target},
        {.field = {.name = "label", .dtype = LADE_I16}, .values = many.label},
        {.field = {.name = "tokens", .dtype = LADE_I32},
         .values = many.token,
         .offsets = many.token_offsets,
         .offset_dtype = LADE_I64,
         .steps = MANY_COUNT * TOKENS},
        {.field = {.name = "points", .dtype = LADE_F32, .dims = 1, .dim = {2}},
         .values = many.point,
         .offsets = many.point_offsets,
         .offset_dtype = LADE_I32,
         .steps = MANY_COUNT * POINTS}};
    const struct lade_source_arrays arrays = {.count = MANY_COUNT, .column = column, .columns = 5, .label = "label"};
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    fill_many();
    cr_assert_eq(lade_source_open_arrays(&source, &arrays, &error), LADE_OK, "%s", error.text);
    return source;
}

/* A custom source with the field "tokens", and callbacks that a test can make fail. */
struct sequences {
    uint64_t (*length)(uint64_t i); /* UINT64_MAX: it fails */
    bool (*fails)(uint64_t i);
};

static inline int length_of_sequence(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct sequences *s = self;

    (void)field;
    *length = s->length(i);
    if (*length != UINT64_MAX)
        return LADE_OK;
    error->status = LADE_IO;
    strcpy(error->text, "no length");
    return LADE_IO;
}

static inline int read_sequence(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct sequences *s = self;

    if (s->fails && s->fails(i)) {
        error->status = LADE_DAMAGED;
        strcpy(error->text, "as the test wants");
        return LADE_DAMAGED;
    }
    for (uint64_t k = 0; views[0].data && k < views[0].length; k++) {
        const int32_t value = token(i, views[0].from + k);
        memcpy((char *)views[0].data + k * sizeof value, &value, sizeof value);
    }
    return LADE_OK;
}

static inline struct lade_source *open_sequences(struct sequences *s, uint64_t count, uint64_t ragged_max)
{
    const struct lade_field field = {.name = "tokens", .dtype = LADE_I32, .ragged_max = ragged_max};
    const struct lade_schema schema = {1, &field, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};
    const struct lade_source_ops ops = {.length = length_of_sequence, .read_fields = read_sequence};
    const struct lade_source_info info = {.kind = "sequences", .count = count, .schema = &schema};
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open_custom(&source, &ops, s, &info, NULL, &error), LADE_OK, "%s", error.text);
    return source;
}

#endif
