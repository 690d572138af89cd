/* SPDX-License-Identifier: MIT */
/*
 * Record batches: checked against the schema once, then read. After the check every element is at a place that follows
 * from its number, whatever is nested around it; offsets of lists are checked to rise, so that no read needs it.
 */
#include "arrow.h"

#include "heap.h"

#include <string.h>

#define SLOTS_MAX (INT64_C(1) << 56)
#define NO_NAME UINT32_MAX

/* The walk down one column of a batch. */
struct descent {
    const struct lade_arrow *t;
    const struct lade_arrow_type *type;
    struct lade_arrow_piece *piece;
    uint64_t number; /* of the batch */
    struct lade_error *error;
};

static int damaged(const struct descent *d, const char *why)
{
    return lade_fail(d->error, LADE_DAMAGED, d->t->file, LADE_NO_OFFSET, "column '%.64s', record batch %llu: %s",
                     d->type->name, (unsigned long long)d->number, why);
}

/* Any zero among the bits from number first on. */
static bool any_zero(const uint8_t *bits, uint64_t first, uint64_t count)
{
    uint64_t i = first;

    for (; i < first + count && i % 8 != 0; i++)
        if (!(bits[i / 8] >> i % 8 & 1))
            return true;
    for (; i + 8 <= first + count; i += 8)
        if (bits[i / 8] != 0xff)
            return true;
    for (; i < first + count; i++)
        if (!(bits[i / 8] >> i % 8 & 1))
            return true;
    return false;
}

/* Checks what all arrays have: slots base, ... are in it. Adds the validity bits, if one of these is null. */
static int check_array(const struct descent *d, const struct ArrowArray *a, int64_t buffers, int64_t children,
                       uint64_t base, uint64_t count, uint64_t per, struct lade_arrow_bits *to, unsigned *bits)
{
    if (!a || a->length < 0 || a->offset < 0 || a->length > SLOTS_MAX || a->offset > SLOTS_MAX)
        return damaged(d, "an array is missing, or its length or offset is out of range");
    if (a->n_buffers != buffers || !a->buffers || a->n_children != children || (children > 0 && !a->children))
        return damaged(d, "an array does not have the buffers or children of its type");
    if (count > (uint64_t)a->length || base > (uint64_t)a->length - count)
        return damaged(d, "an array is shorter than what it is part of");
    if (a->null_count < -1 || a->null_count > a->length || (a->null_count > 0 && !a->buffers[0]))
        return damaged(d, "the number of nulls is out of range, or their buffer is missing");
    const uint64_t first = base + (uint64_t)a->offset;
    if (a->null_count != 0 && a->buffers[0] && any_zero(a->buffers[0], first, count))
        to[(*bits)++] = (struct lade_arrow_bits){a->buffers[0], first, per};
    return LADE_OK;
}

/* Fixed-size lists and the elements in them: count steps from number base on. */
static int take_values(const struct descent *d, const struct ArrowArray *a, uint64_t base, uint64_t count)
{
    const struct lade_arrow_type *type = d->type;
    struct lade_arrow_piece *p = d->piece;
    uint64_t per = type->items;

    for (unsigned l = 0; l < type->levels; l++) {
        int status = check_array(d, a, 1, 1, base, count, per, p->item, &p->items);
        if (status != LADE_OK)
            return status;
        if (base + count + (uint64_t)a->offset > SLOTS_MAX / type->size[l])
            return damaged(d, "a fixed-size list is too long");
        base = (base + (uint64_t)a->offset) * type->size[l];
        count *= type->size[l];
        per /= type->size[l];
        a = a->children[0];
    }
    int status = check_array(d, a, 2, 0, base, count, per, p->item, &p->items);
    if (status != LADE_OK)
        return status;
    p->values = a->buffers[1];
    if (base + count + (uint64_t)a->offset > SLOTS_MAX / type->slot)
        return damaged(d, "there are too many values");
    p->first = (base + (uint64_t)a->offset) * type->slot;
    return count > 0 && !p->values ? damaged(d, "the buffer of the values is missing") : LADE_OK;
}

static uint64_t offset_at(const uint8_t *offsets, bool wide, uint64_t i)
{
    int32_t narrow;
    int64_t large;

    if (wide) {
        memcpy(&large, offsets + i * sizeof large, sizeof large);
        return (uint64_t)large;
    }
    memcpy(&narrow, offsets + i * sizeof narrow, sizeof narrow);
    return (uint64_t)(int64_t)narrow; /* a negative offset becomes large */
}

/* The offsets of count lists rise, from a number that is not negative; *end is the last of them. */
static int check_offsets(const struct descent *d, const uint8_t *offsets, bool wide, uint64_t count, uint64_t *end)
{
    *end = 0;
    if (count == 0)
        return LADE_OK; /* an empty array may lack the buffer */
    if (!offsets)
        return damaged(d, "the buffer of the offsets is missing");
    uint64_t last = offset_at(offsets, wide, 0);
    for (uint64_t i = 1; i <= count && last <= (uint64_t)SLOTS_MAX; i++) {
        const uint64_t next = offset_at(offsets, wide, i);
        if (next < last)
            return damaged(d, "the offsets of its lists fall");
        last = next;
    }
    *end = last;
    return last <= (uint64_t)SLOTS_MAX ? LADE_OK : damaged(d, "the offsets of its lists are out of range");
}

/* The offsets of an array of lists, strings or binary, and the end of what they name. */
static int take_offsets(const struct descent *d, const struct ArrowArray *a, bool wide, uint64_t base, uint64_t count,
                        const uint8_t **offsets, uint64_t *end)
{
    const uint64_t shift = (base + (uint64_t)a->offset) * (wide ? 8 : 4);

    *offsets = a->buffers[1];
    if (*offsets)
        *offsets += shift;
    return check_offsets(d, *offsets, wide, count, end);
}

static int take_list(const struct descent *d, const struct ArrowArray *a, uint64_t base, uint64_t count)
{
    struct lade_arrow_piece *p = d->piece;
    const bool bytes = d->type->is_bytes;
    uint64_t end;
    int status = check_array(d, a, bytes ? 3 : 2, bytes ? 0 : 1, base, count, 1, p->row, &p->rows);

    if (status == LADE_OK)
        status = take_offsets(d, a, d->type->wide, base, count, &p->offsets, &end);
    if (status != LADE_OK)
        return status;
    if (!bytes)
        return take_values(d, a->children[0], 0, end);
    p->values = a->buffers[2];
    return end > 0 && !p->values ? damaged(d, "the buffer of the bytes is missing") : LADE_OK;
}

/* The entries of a dictionary as numbers of names. */
static int take_entries(const struct descent *d, struct lade_arrow_type *type, const struct ArrowArray *a, bool wide,
                        bool grow)
{
    struct lade_arrow_piece *p = d->piece;
    struct lade_arrow_bits valid = {NULL, 0, 1};
    unsigned nulls = 0;
    uint64_t end;
    const uint8_t *offsets;

    if (!a || a->length < 0 || a->length > LADE_ARROW_ENTRIES_MAX)
        return damaged(d, "its dictionary is missing, or too long");
    p->entries = (uint64_t)a->length;
    int status = check_array(d, a, 3, 0, 0, p->entries, 1, &valid, &nulls);
    if (status == LADE_OK)
        status = take_offsets(d, a, wide, 0, p->entries, &offsets, &end);
    if (status == LADE_OK && end > 0 && !a->buffers[2])
        status = damaged(d, "the buffer of the bytes of its dictionary is missing");
    if (status != LADE_OK)
        return status;
    p->map = lade_heap_raw(d->t->alloc, (size_t)p->entries + 1, sizeof *p->map);
    if (!p->map)
        return lade_members_no_memory(d->error);
    for (uint64_t e = 0; e < p->entries; e++) {
        const uint64_t bit = valid.first + e, from = offset_at(offsets, wide, e);
        p->map[e] = NO_NAME;
        if (nulls && !(valid.bits[bit / 8] >> bit % 8 & 1))
            continue;
        const char *bytes = a->buffers[2] ? (const char *)a->buffers[2] + from : "";
        p->map[e] = lade_arrow_name(d->t, type, bytes, (size_t)(offset_at(offsets, wide, e + 1) - from), grow);
        if (p->map[e] == NO_NAME)
            return damaged(d, "its dictionary has a name that was not there when the source was opened");
        if (p->map[e] == NO_NAME - 1)
            return type->entries < LADE_ARROW_ENTRIES_MAX
                       ? lade_members_no_memory(d->error)
                       : lade_fail(d->error, LADE_LIMITED, d->t->file, LADE_NO_OFFSET,
                                   "column '%.64s' has more than 2^24 names", type->name);
    }
    return LADE_OK;
}

/* From the table down to the column. */
static int take_piece(const struct descent *d, const struct ArrowArray *table, const uint32_t *child, bool grow)
{
    const struct lade_arrow_type *type = d->type;
    const struct ArrowSchema *schema = &d->t->schema;
    const struct ArrowArray *a = table;
    const uint64_t count = (uint64_t)table->length;
    uint64_t base = 0;

    for (unsigned l = 0; l < type->depth; l++) {
        const uint32_t number = l == 0 ? child[type->top] : type->path[l];
        /* The table may have fewer columns than its schema. */
        int status = check_array(d, a, 1, l == 0 ? table->n_children : schema->n_children, base, count, 1,
                                 d->piece->row, &d->piece->rows);
        if (status != LADE_OK)
            return status;
        if ((int64_t)number >= a->n_children)
            return damaged(d, "a struct lacks the column");
        base += (uint64_t)a->offset;
        a = a->children[number];
        schema = schema->children[type->path[l]];
    }
    if (type->is_list || type->is_image)
        return take_list(d, a, base, count);
    int status = take_values(d, a, base, count);
    if (status != LADE_OK || !type->is_dictionary)
        return status;
    return take_entries(d, (struct lade_arrow_type *)(uintptr_t)type, a->dictionary,
                        strchr("UZ", schema->dictionary->format[0]) != NULL, grow);
}

/* Bytes of a column, offsets included. */
static uint64_t bytes_of(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t rows)
{
    const uint64_t element = lade_dtype_size(type->raw);
    const uint64_t steps = !p->offsets ? rows
                           : rows > 0  ? offset_at(p->offsets, type->wide, rows) - offset_at(p->offsets, type->wide, 0)
                                       : 0;
    const uint64_t bytes = type->is_bits ? steps * type->items / 8 : steps * type->items * element;

    return bytes + (p->offsets ? rows * (type->wide ? 8 : 4) : 0) + (p->rows + p->items ? rows / 8 : 0);
}

int lade_arrow_resolve(struct lade_arrow *t, struct lade_arrow_block *block, struct ArrowArray *array,
                       const uint32_t *child, uint64_t number, bool grow, struct lade_error *error)
{
    int status = LADE_OK;

    block->array = *array;
    array->release = NULL;
    block->bytes = 0;
    block->piece = lade_heap_get(t->alloc, t->columns, sizeof *block->piece);
    if (!block->piece)
        status = lade_members_no_memory(error);
    else if (block->array.length < 0 || block->array.length > UINT32_MAX || block->array.offset < 0)
        status = lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET,
                           "record batch %llu has a negative offset or number of rows, or 2^32 rows or more",
                           (unsigned long long)number);
    for (unsigned c = 0; c < t->columns && status == LADE_OK; c++) {
        const struct descent d = {t, &t->column[c], &block->piece[c], number, error};
        if (child[t->column[c].top] == UINT32_MAX)
            continue;
        status = take_piece(&d, &block->array, child, grow);
        if (status == LADE_OK)
            block->bytes += bytes_of(&t->column[c], &block->piece[c], (uint64_t)block->array.length);
    }
    if (status != LADE_OK)
        lade_arrow_drop(t, block);
    return status;
}

void lade_arrow_drop(struct lade_arrow *t, struct lade_arrow_block *block)
{
    for (unsigned c = 0; block->piece && c < t->columns; c++)
        lade_heap_put(t->alloc, block->piece[c].map);
    lade_heap_put(t->alloc, block->piece);
    block->piece = NULL;
    if (block->array.release)
        block->array.release(&block->array);
    block->array.release = NULL;
}

static bool is_zero(const struct lade_arrow_bits *b, uint64_t number)
{
    const uint64_t bit = b->first + number / b->per;

    return !(b->bits[bit / 8] >> bit % 8 & 1);
}

uint64_t lade_arrow_begin(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t row)
{
    return p->offsets ? offset_at(p->offsets, type->wide, row) : row;
}

/* The elements of a row, counted as struct lade_arrow_piece does. */
static void extent_of(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t row,
                      uint64_t *from, uint64_t *steps)
{
    *from = lade_arrow_begin(type, p, row);
    *steps = p->offsets ? offset_at(p->offsets, type->wide, row + 1) - *from : 1;
}

static bool is_row_null(const struct lade_arrow_piece *p, uint64_t row)
{
    for (unsigned i = 0; i < p->rows; i++)
        if (is_zero(&p->row[i], row))
            return true;
    return false;
}

static bool is_element_null(const struct lade_arrow_piece *p, uint64_t element)
{
    for (unsigned i = 0; i < p->items; i++)
        if (is_zero(&p->item[i], element))
            return true;
    return false;
}

/* The number of an entry of the dictionary; negative as large. */
static uint64_t entry_at(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t element)
{
    int64_t number;

    return lade_integer_at(type->raw, p->values + (p->first + element) * lade_dtype_size(type->raw), &number)
               ? (uint64_t)number
               : UINT64_MAX;
}

bool lade_arrow_is_null(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *p, uint64_t row)
{
    const struct lade_arrow_type *type = &t->column[column];
    uint64_t from, steps;

    if (is_row_null(p, row))
        return true;
    if (p->items == 0 && !type->is_dictionary)
        return false;
    extent_of(type, p, row, &from, &steps);
    for (uint64_t e = from * type->items; e < (from + steps) * type->items; e++) {
        if (is_element_null(p, e))
            return true;
        if (type->is_dictionary && entry_at(type, p, e) < p->entries && p->map[entry_at(type, p, e)] == NO_NAME)
            return true;
    }
    return false;
}

uint64_t lade_arrow_length(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *p, uint64_t row)
{
    uint64_t from, steps;

    if (is_row_null(p, row))
        return 0;
    extent_of(&t->column[column], p, row, &from, &steps);
    return steps;
}

static int null_here(const struct lade_arrow *t, unsigned column, uint64_t row, uint64_t sample,
                     struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET,
                     "column '%.64s' of sample %llu, row %llu of its record batch, is null or has one",
                     t->column[column].name, (unsigned long long)sample, (unsigned long long)row);
}

static int read_image(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t row,
                      uint64_t sample, const char *file, const struct lade_view *view, struct lade_error *error)
{
    uint64_t from, size;
    struct lade_error inner = {.status = LADE_OK};

    extent_of(type, p, row, &from, &size);
    const struct lade_value value = {
        .data = p->values ? p->values + from : (const uint8_t *)"", .size = (size_t)size, .kind = LADE_VALUE_IMAGE};
    int status = lade_value_read(&type->value, &value, view, &inner);
    return status == LADE_OK ? status
                             : lade_fail(error, status, file, LADE_NO_OFFSET, "sample %llu: %s",
                                         (unsigned long long)sample, inner.text);
}

static void fill(const struct lade_arrow_type *type, uint8_t *to, uint64_t elements)
{
    const size_t width = lade_dtype_size(type->value.field.dtype);

    for (uint64_t i = 0; i < elements; i++)
        memcpy(to + i * width, type->fill, width);
}

/* Number of a name; of a null that is filled, fill. */
static int read_entry(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *p, uint64_t row,
                      uint64_t sample, uint8_t *to, struct lade_error *error)
{
    const struct lade_arrow_type *type = &t->column[column];
    const uint64_t entry = entry_at(type, p, row);

    if (entry >= p->entries)
        return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET,
                         "column '%.64s' of sample %llu has no entry in its dictionary of %llu", type->name,
                         (unsigned long long)sample, (unsigned long long)p->entries);
    if (p->map[entry] != NO_NAME)
        memcpy(to, &p->map[entry], sizeof *p->map);
    else
        fill(type, to, 1);
    return LADE_OK;
}

/* Elements from number from on, count of them. */
static void read_elements(const struct lade_arrow_type *type, const struct lade_arrow_piece *p, uint64_t from,
                          uint64_t count, uint8_t *to)
{
    const size_t width = lade_dtype_size(type->raw);

    if (!type->is_bits)
        memcpy(to, p->values + (p->first + from) * width, (size_t)count * width);
    for (uint64_t i = 0; type->is_bits && i < count; i++) {
        const uint64_t bit = p->first + from + i;
        to[i] = p->values[bit / 8] >> bit % 8 & 1;
    }
    for (uint64_t i = 0; p->items > 0 && i < count; i++)
        if (is_element_null(p, from + i))
            fill(type, to + i * width, 1);
}

int lade_arrow_read(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *p, uint64_t row,
                    uint64_t sample, const struct lade_view *view, struct lade_error *error)
{
    const struct lade_arrow_type *type = &t->column[column];
    uint64_t from, steps;

    if ((p->rows > 0 || p->items > 0 || type->is_dictionary) && lade_arrow_is_null(t, column, p, row)) {
        if (t->nulls != LADE_NULLS_FILL || type->is_image)
            return null_here(t, column, row, sample, error);
        if (is_row_null(p, row) && !type->is_list) {
            fill(type, view->data, type->items);
            return LADE_OK;
        }
    }
    if (type->is_image)
        return read_image(type, p, row, sample, t->file, view, error);
    if (type->is_dictionary)
        return is_element_null(p, row) ? (fill(type, view->data, 1), LADE_OK)
                                       : read_entry(t, column, p, row, sample, view->data, error);
    extent_of(type, p, row, &from, &steps);
    if (is_row_null(p, row))
        steps = 0; /* a list; the length that an index file has of it may be wrong */
    if (type->is_list && (view->from > steps || view->length > steps - view->from))
        return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET, "column '%.64s' of sample %llu has %llu steps",
                         type->name, (unsigned long long)sample, (unsigned long long)steps);
    const uint64_t count = type->is_list ? view->length : 1;
    if (count > 0)
        read_elements(type, p, (from + (type->is_list ? view->from : 0)) * type->items, count * type->items,
                      view->data);
    return LADE_OK;
}
