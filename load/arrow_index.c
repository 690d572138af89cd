/* SPDX-License-Identifier: MIT */
/* What an index file has of record batches. */
#include "arrow.h"

#include "heap.h"

#define BLOCK_BYTES_MAX (UINT64_C(1) << 48)

static void put_column(const struct lade_arrow *t, unsigned c, struct lade_index_writer *w)
{
    const struct lade_arrow_type *type = &t->column[c];

    lade_index_put_number(w, type->value.size.height);
    lade_index_put_number(w, type->value.size.width);
    lade_index_put_number(w, type->entries);
    for (uint32_t i = 0; i < type->entries; i++) {
        size_t length; /* in front of the name */
        memcpy(&length, type->names[i] - sizeof length, sizeof length);
        lade_index_put_number(w, length);
        lade_index_put(w, type->names[i], length);
    }
    if (type->is_list)
        lade_index_put(w, t->length[c], (size_t)t->first[t->blocks] * sizeof *t->length[c]);
}

void lade_arrow_put(const struct lade_arrow *t, struct lade_index_writer *w)
{
    for (uint64_t b = 0; b < t->blocks; b++) {
        const struct lade_arrow_block *block = &t->block[b];
        lade_index_put_number(w, block->all);
        lade_index_put_number(w, block->rows);
        lade_index_put_number(w, t->size[b]);
        lade_index_put_number(w, block->kept != NULL);
        if (block->kept)
            lade_index_put(w, block->kept, (size_t)block->rows * sizeof *block->kept);
    }
    lade_index_put_number(w, t->largest);
    for (unsigned c = 0; c < t->columns; c++)
        put_column(t, c, w);
}

static bool take_block(struct lade_arrow *t, struct lade_index_reader *r, uint64_t rows)
{
    struct lade_arrow_block block = {.all = lade_index_get_number(r), .rows = lade_index_get_number(r)};
    const uint64_t bytes = lade_index_get_number(r), kept = lade_index_get_number(r);
    bool good = block.all == rows && block.rows <= rows && bytes < BLOCK_BYTES_MAX && (kept || block.rows == rows);

    if (good && kept)
        good = (block.kept = lade_index_get_array(r, block.rows, sizeof *block.kept)) != NULL;
    for (uint64_t i = 0; good && kept && i < block.rows; i++)
        good = block.kept[i] < rows && (i == 0 || block.kept[i] > block.kept[i - 1]);
    if (good && lade_arrow_make_room(t, block.rows, true)) {
        lade_arrow_add_block(t, &block, bytes);
        return true;
    }
    lade_heap_put(t->alloc, block.kept);
    return false;
}

static bool take_names(struct lade_arrow *t, struct lade_arrow_type *type, struct lade_index_reader *r)
{
    const uint64_t entries = lade_index_get_number(r);
    bool good = entries == 0 || (type->is_dictionary && entries <= LADE_ARROW_ENTRIES_MAX);

    for (uint64_t i = 0; i < entries && good; i++) {
        const uint64_t length = lade_index_get_number(r);
        char *name = lade_index_get_array(r, length, 1);
        good = name && lade_arrow_name(t, type, name, (size_t)length, true) == i; /* no name is there twice */
        lade_heap_put(t->alloc, name);
    }
    return good;
}

/* The size of images, unless the options give it. */
static bool take_size(struct lade_arrow_type *type, struct lade_index_reader *r)
{
    struct lade_picture *size = &type->value.size;
    const uint64_t height = lade_index_get_number(r), width = lade_index_get_number(r);

    if (!type->is_image || size->height > 0)
        return height == size->height && width == size->width;
    if (height == 0 || width == 0 || width > size->pixels_max || height > size->pixels_max / width)
        return false;
    size->height = (uint32_t)height;
    size->width = (uint32_t)width;
    return true;
}

static bool take_column(struct lade_arrow *t, unsigned c, struct lade_index_reader *r)
{
    struct lade_arrow_type *type = &t->column[c];
    const uint64_t samples = t->first[t->blocks];

    if (!take_size(type, r) || !take_names(t, type, r))
        return false;
    if (type->is_list && samples > 0)
        lade_index_get(r, t->length[c], (size_t)samples * sizeof *t->length[c]);
    for (uint64_t i = 0; i < samples && type->is_list; i++)
        if (t->length[c][i] > type->value.field.ragged_max)
            type->value.field.ragged_max = t->length[c][i];
    return !r->failed;
}

static bool take_all(struct lade_arrow *t, struct lade_index_reader *r, uint64_t blocks,
                     uint64_t (*rows)(const void *self, uint64_t block), const void *self)
{
    for (uint64_t b = 0; b < blocks; b++)
        if (!take_block(t, r, rows(self, b)))
            return false;
    t->largest = lade_index_get_number(r);
    if (blocks == 0 || (t->largest >= LADE_CLASSES_MAX && t->largest != UINT64_MAX))
        return false;
    for (unsigned c = 0; c < t->columns; c++)
        if (!take_column(t, c, r))
            return false;
    return lade_index_complete(r);
}

bool lade_arrow_take(struct lade_arrow *t, struct lade_index_reader *r, uint64_t blocks,
                     uint64_t (*rows)(const void *self, uint64_t block), const void *self)
{
    if (take_all(t, r, blocks, rows, self))
        return true;
    while (t->blocks > 0)
        lade_heap_put(t->alloc, t->block[--t->blocks].kept);
    t->bytes = 0;
    t->largest = UINT64_MAX;
    for (unsigned c = 0; c < t->columns; c++) {
        struct lade_arrow_type *type = &t->column[c];
        lade_arrow_drop_names(t, type);
        type->names = NULL;
        type->hash = NULL;
        type->entries = type->spaces = 0;
        if (type->is_list)
            type->value.field.ragged_max = 1;
        if (type->is_image && !type->value.scaled)
            type->value.size.height = type->value.size.width = 0;
    }
    return false;
}
