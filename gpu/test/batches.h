/* SPDX-License-Identifier: MIT */
/* Batches of images, labels and ids whose bytes identify their batch, for the tests of the feeder. */
#ifndef LADE_TEST_BATCHES_H
#define LADE_TEST_BATCHES_H

#include <lade/feeder.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 4, PIXELS = 5 * 3 * 3, TENSORS = 3, IMAGES = 0, LABELS = 1, IDS = 2 };

static const struct lade_shape shapes[TENSORS] = {
    {LADE_U8, 4, {ROWS, 5, 3, 3}},
    {LADE_I32, 1, {ROWS}},
    {LADE_U64, 1, {ROWS}},
};

static inline uint8_t pixel_of(uint64_t number, size_t i)
{
    return (uint8_t)((number * 151 + i * 29 + (number >> 8)) % 211);
}

static inline int32_t label_of(uint64_t number, size_t row)
{
    return (int32_t)(number * 3 + row);
}

static inline uint64_t id_of(uint64_t number, size_t row)
{
    return number * ROWS + row;
}

struct producer {
    uint64_t batches;   /* number of batches */
    uint64_t last_rows; /* of the last one; 0: all */
    uint64_t fails_at;  /* batch whose fill returns LADE_DAMAGED; 0: none */
    atomic_ullong calls;
    atomic_bool held; /* fill does not return while it is set */
    atomic_bool inside;
};

static inline int fill_batch(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    struct producer *p = self;

    atomic_fetch_add(&p->calls, 1);
    atomic_store(&p->inside, true);
    while (atomic_load(&p->held))
        ;
    if (slot->number >= p->batches)
        return LADE_EMPTY;
    if (p->fails_at && slot->number == p->fails_at) {
        snprintf(error->text, sizeof error->text, "batch %llu is damaged", (unsigned long long)slot->number);
        return LADE_DAMAGED;
    }
    if (slot->number + 1 == p->batches && p->last_rows)
        slot->rows = p->last_rows;
    memset(slot->data[IMAGES], 0xFE, slot->bytes[IMAGES]);
    for (size_t i = 0; i < slot->rows * PIXELS; i++)
        ((uint8_t *)slot->data[IMAGES])[i] = pixel_of(slot->number, i);
    for (size_t row = 0; row < slot->rows; row++) {
        ((int32_t *)slot->data[LABELS])[row] = label_of(slot->number, row);
        ((uint64_t *)slot->data[IDS])[row] = id_of(slot->number, row);
    }
    return LADE_OK;
}

/* Counts the wrong elements in the tensors of batch number. */
static inline size_t wrong_in(uint64_t number, uint64_t rows, const void *images, const void *labels, const void *ids)
{
    size_t wrong = 0;

    for (size_t i = 0; i < rows * PIXELS; i++)
        wrong += ((const uint8_t *)images)[i] != pixel_of(number, i);
    for (size_t row = 0; row < rows; row++) {
        wrong += ((const int32_t *)labels)[row] != label_of(number, row);
        wrong += ((const uint64_t *)ids)[row] != id_of(number, row);
    }
    return wrong;
}

static inline struct lade_feeder_config config_of(struct producer *producer)
{
    return (struct lade_feeder_config){.fill = fill_batch, .self = producer, .tensors = TENSORS, .shape = shapes};
}

#endif
