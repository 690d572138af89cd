/* SPDX-License-Identifier: MIT */
/* Record batches as a source: what is measured when it is opened, and how samples are read. */
#include "arrow.h"

#include "heap.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_DEFAULT 16u
#define LABEL_NONE UINT64_MAX

static int no_memory(const struct lade_arrow *t, struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, t->file, LADE_NO_OFFSET, "out of memory");
}

static uint64_t hash_of(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a (Fowler, Noll, Vo 1991) */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* Where the number of a name is in the hash table, or would be. A name is preceded by its length. */
static uint32_t *find_name(const struct lade_arrow_type *type, const char *name, size_t length)
{
    for (uint64_t at = hash_of(name, length);; at++) {
        uint32_t *number = &type->hash[at & (type->spaces - 1)];
        size_t size;
        if (*number == 0)
            return number;
        memcpy(&size, type->names[*number - 1] - sizeof size, sizeof size);
        if (size == length && (length == 0 || !memcmp(type->names[*number - 1], name, length)))
            return number;
    }
}

/* Twice as much memory for names; the hash table is half empty. */
static bool grow_names(const struct lade_arrow *t, struct lade_arrow_type *type)
{
    const uint32_t spaces = type->spaces ? 2 * type->spaces : 64;
    char **names = lade_heap_resize(t->alloc, type->names, spaces / 2, sizeof *names);
    uint32_t *hash = names ? lade_heap_get(t->alloc, spaces, sizeof *hash) : NULL;

    type->names = names ? names : type->names;
    if (!hash)
        return false;
    lade_heap_put(t->alloc, type->hash);
    type->hash = hash;
    type->spaces = spaces;
    for (uint32_t i = 0; i < type->entries; i++) {
        size_t size;
        memcpy(&size, names[i] - sizeof size, sizeof size);
        *find_name(type, names[i], size) = i + 1;
    }
    return true;
}

uint32_t lade_arrow_name(const struct lade_arrow *t, struct lade_arrow_type *type, const char *name, size_t length,
                         bool grow)
{
    uint32_t *number = type->spaces ? find_name(type, name, length) : NULL;

    if (number && *number)
        return *number - 1;
    if (!grow)
        return UINT32_MAX;
    if (type->entries == LADE_ARROW_ENTRIES_MAX || (type->entries == type->spaces / 2 && !grow_names(t, type)))
        return UINT32_MAX - 1;
    char *copy = lade_heap_raw(t->alloc, sizeof length + length + 1, 1);
    if (!copy)
        return UINT32_MAX - 1;
    memcpy(copy, &length, sizeof length);
    copy += sizeof length;
    if (length > 0)
        memcpy(copy, name, length);
    copy[length] = 0;
    type->names[type->entries++] = copy;
    *find_name(type, name, length) = type->entries;
    return type->entries - 1;
}

void lade_arrow_drop_names(const struct lade_arrow *t, struct lade_arrow_type *type)
{
    for (uint32_t i = 0; i < type->entries; i++)
        lade_heap_put(t->alloc, type->names[i] - sizeof(size_t));
    lade_heap_put(t->alloc, type->names);
    lade_heap_put(t->alloc, type->hash);
}

void lade_arrow_close(void *self)
{
    struct lade_arrow *t = self;

    lade_arrow_cache_free(t);
    if (t->feed.close)
        t->feed.close(t->feed.self);
    for (uint64_t b = 0; b < t->blocks; b++) {
        lade_arrow_drop(t, &t->block[b]);
        lade_heap_put(t->alloc, t->block[b].kept);
    }
    for (unsigned c = 0; c < t->columns; c++) {
        lade_arrow_drop_names(t, &t->column[c]);
        lade_heap_put(t->alloc, t->length[c]);
    }
    if (t->schema.release)
        t->schema.release(&t->schema);
    lade_heap_put(t->alloc, t->block);
    lade_heap_put(t->alloc, t->first);
    lade_heap_put(t->alloc, t->size);
    lade_heap_put(t->alloc, t->file);
    lade_heap_put(t->alloc, t->index_file);
    lade_heap_put(t->alloc, t);
}

static bool is_here(const struct lade_arrow *t, unsigned column, const uint32_t *child)
{
    return child[t->column[column].top] != UINT32_MAX;
}

/* With LADE_NULLS_SKIP: lists the rows without nulls, unless all are. Sets rows to the samples. */
static int keep_rows(const struct lade_arrow *t, struct lade_arrow_block *b, const uint32_t *child)
{
    const uint64_t rows = (uint64_t)b->array.length;
    bool some = false;

    b->all = b->rows = rows;
    for (unsigned c = 0; c < t->columns && t->nulls == LADE_NULLS_SKIP; c++)
        some = some ||
               (is_here(t, c, child) && (b->piece[c].rows > 0 || b->piece[c].items > 0 || t->column[c].is_dictionary));
    if (!some || rows == 0)
        return LADE_OK;
    b->kept = lade_heap_raw(t->alloc, (size_t)rows, sizeof *b->kept);
    if (!b->kept)
        return LADE_NO_MEMORY;
    b->rows = 0;
    for (uint64_t r = 0; r < rows; r++) {
        bool null = false;
        for (unsigned c = 0; c < t->columns && !null; c++)
            null = is_here(t, c, child) && lade_arrow_is_null(t, c, &b->piece[c], r);
        if (!null)
            b->kept[b->rows++] = (uint32_t)r;
    }
    return LADE_OK;
}

static uint64_t row_of(const struct lade_arrow_block *b, uint64_t sample)
{
    return b->kept ? b->kept[sample] : sample;
}

static int measure_lengths(struct lade_arrow *t, const struct lade_arrow_block *b, unsigned column, bool indexed,
                           struct lade_error *error)
{
    struct lade_field *field = &t->column[column].value.field;
    const uint64_t at = t->first[t->blocks];

    for (uint64_t i = 0; i < b->rows; i++) {
        const uint64_t length = lade_arrow_length(t, column, &b->piece[column], row_of(b, i));
        if (length > UINT32_MAX && indexed)
            return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET, "column '%.64s' has 2^32 steps in a row",
                             t->column[column].name);
        if (indexed)
            t->length[column][at + i] = (uint32_t)length;
        field->ragged_max = length > field->ragged_max ? length : field->ragged_max;
    }
    return LADE_OK;
}

/* The largest label. A label that is null or damaged is a fault of its sample. */
static int measure_labels(struct lade_arrow *t, const struct lade_arrow_block *b, unsigned column,
                          struct lade_error *error)
{
    const struct lade_arrow_type *type = &t->column[column];
    uint8_t bytes[16] = {0};
    const struct lade_view view = {bytes, 0, 1};

    if (type->is_dictionary || type->is_list || type->items != 1 || !lade_dtype_is_integer(type->value.field.dtype))
        return LADE_OK; /* known, or refused with the schema */
    for (uint64_t i = 0; i < b->rows; i++) {
        int64_t label;
        if (lade_arrow_read(t, column, &b->piece[column], row_of(b, i), t->first[t->blocks] + i, &view, NULL) !=
            LADE_OK)
            continue;
        if (!lade_integer_at(type->value.field.dtype, bytes, &label) || label < 0 ||
            (uint64_t)label >= LADE_CLASSES_MAX)
            return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET,
                             "the label of sample %llu, column '%.64s', is negative or not below %llu",
                             (unsigned long long)(t->first[t->blocks] + i), type->name,
                             (unsigned long long)LADE_CLASSES_MAX);
        if (t->largest == LABEL_NONE || (uint64_t)label > t->largest)
            t->largest = (uint64_t)label;
    }
    return LADE_OK;
}

/* The size of the first image that has one. */
static void measure_image(struct lade_arrow *t, const struct lade_arrow_block *b, unsigned column)
{
    struct lade_arrow_type *type = &t->column[column];

    for (uint64_t i = 0; i < b->rows && type->value.size.height == 0; i++) {
        const struct lade_arrow_piece *p = &b->piece[column];
        const uint64_t row = row_of(b, i);
        const size_t size = (size_t)lade_arrow_length(t, column, p, row);
        struct lade_picture is = type->value.size;
        if (size == 0)
            continue;
        const uint8_t *bytes = p->values + lade_arrow_begin(type, p, row);
        if (lade_decode_size(&is, (struct lade_bytes){bytes, size, NULL}, NULL) == LADE_OK)
            type->value.size = is;
    }
}

bool lade_arrow_make_room(struct lade_arrow *t, uint64_t samples, bool indexed)
{
    if (t->blocks == t->space || !t->first) {
        const uint64_t space = t->space ? 2 * t->space : 16;
        struct lade_arrow_block *block = lade_heap_resize(t->alloc, t->block, (size_t)space, sizeof *block);
        t->block = block ? block : t->block;
        uint64_t *first = lade_heap_resize(t->alloc, t->first, (size_t)space + 1, sizeof *first);
        t->first = first ? first : t->first;
        uint64_t *size = lade_heap_resize(t->alloc, t->size, (size_t)space, sizeof *size);
        t->size = size ? size : t->size;
        if (!block || !first || !size)
            return false;
        if (t->blocks == 0)
            t->first[0] = 0;
        t->space = space;
    }
    const uint64_t most = t->first[t->blocks] + samples;
    if (!indexed || most <= t->lengths)
        return true;
    const uint64_t space = most > 2 * t->lengths ? most : 2 * t->lengths;
    for (unsigned c = 0; c < t->columns; c++) {
        uint32_t *more =
            t->column[c].is_list ? lade_heap_resize(t->alloc, t->length[c], (size_t)space, sizeof *more) : NULL;
        if (t->column[c].is_list && !more)
            return false;
        t->length[c] = more;
    }
    t->lengths = space;
    return true;
}

void lade_arrow_add_block(struct lade_arrow *t, const struct lade_arrow_block *b, uint64_t bytes)
{
    t->block[t->blocks] = *b;
    t->size[t->blocks] = bytes;
    t->bytes += bytes;
    t->first[t->blocks + 1] = t->first[t->blocks] + b->rows;
    t->blocks++;
}

int lade_arrow_measure(struct lade_arrow *t, struct lade_arrow_block *b, const uint32_t *child, bool indexed,
                       uint64_t bytes, struct lade_error *error)
{
    int status = keep_rows(t, b, child);

    if (status != LADE_OK || !lade_arrow_make_room(t, b->rows, indexed)) {
        lade_arrow_drop(t, b);
        lade_heap_put(t->alloc, b->kept);
        return no_memory(t, error);
    }
    for (unsigned c = 0; c < t->columns && status == LADE_OK; c++) {
        if (!is_here(t, c, child))
            continue;
        if (t->column[c].is_list)
            status = measure_lengths(t, b, c, indexed, error);
        if (t->column[c].is_image)
            measure_image(t, b, c);
        if (status == LADE_OK && (int)c == t->roles.label && t->classes == 0)
            status = measure_labels(t, b, c, error);
    }
    lade_arrow_add_block(t, b, bytes);
    return status;
}

static bool is_in(const struct lade_arrow *t, uint64_t sample, uint64_t block)
{
    return block < t->blocks && t->first[block] <= sample && sample < t->first[block + 1];
}

/* The block of a sample. near, and that where it is if all are of one size: where to look first. */
static uint64_t block_of(const struct lade_arrow *t, uint64_t sample, uint64_t near)
{
    uint64_t low = 0, high = t->blocks;

    if (is_in(t, sample, near))
        return near;
    near = (uint64_t)((double)sample * t->block_each);
    if (is_in(t, sample, near))
        return near;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (t->first[middle] <= sample)
            low = middle;
        else
            high = middle;
    }
    return low; /* the last of those that begin there: the others are empty */
}

static int read_one(const struct lade_arrow *t, const struct lade_arrow_piece *piece, uint64_t block, uint64_t sample,
                    const struct lade_view *views, struct lade_error *error)
{
    const uint64_t row = row_of(&t->block[block], sample - t->first[block]);
    int status = LADE_OK;

    for (unsigned c = 0; c < t->columns && status == LADE_OK; c++)
        if (views[c].data)
            status = lade_arrow_read(t, c, &piece[c], row, sample, &views[c], error);
    return status;
}

static int read_whole(void *self, const uint64_t *ids, uint64_t count, const struct lade_view *views,
                      struct lade_error *error)
{
    const struct lade_arrow *t = self;
    uint64_t block = 0;
    int status = LADE_OK;

    for (uint64_t i = 0; i < count && status == LADE_OK; i++) {
        block = block_of(t, ids[i], block);
        status = read_one(t, t->block[block].piece, block, ids[i], views + i * t->columns, error);
    }
    return status;
}

#define AT_ONCE 64

/* Samples of one call, up to AT_ONCE, and their blocks. */
struct batch {
    const uint64_t *ids;
    const struct lade_view *views;
    uint64_t count, blocks;
    uint64_t block[AT_ONCE];
    uint64_t row[AT_ONCE]; /* of each sample, in block[of] */
    uint8_t of[AT_ONCE];
    bool done[AT_ONCE]; /* of each block */
};

static void sort_samples(const struct lade_arrow *t, struct batch *b)
{
    uint64_t block = 0, k;

    for (uint64_t i = 0; i < b->count; i++) {
        block = block_of(t, b->ids[i], block);
        for (k = 0; k < b->blocks && b->block[k] != block; k++)
            continue;
        if (k == b->blocks)
            b->block[b->blocks++] = block;
        b->of[i] = (uint8_t)k;
        b->row[i] = row_of(&t->block[block], b->ids[i] - t->first[block]);
    }
}

/* Whether the values of a column lie in memory as they are read, without nulls. */
static bool is_plain(const struct lade_arrow_type *type, const struct lade_arrow_piece *p)
{
    return !type->is_list && !type->is_image && !type->is_dictionary && !type->is_bits && p->rows == 0 && p->items == 0;
}

/* bytes is a constant for common sizes: the cache misses of such copies overlap. */
static inline void copy_rows(const struct batch *b, const struct lade_view *view, unsigned columns,
                             const uint8_t *const *values, size_t bytes)
{
    for (uint64_t i = 0; i < b->count; i++, view += columns)
        if (values[b->of[i]] && view->data)
            memcpy(view->data, values[b->of[i]] + b->row[i] * bytes, bytes);
}

/* One column of those samples whose blocks have a piece. False: it is not plain in all of them. */
static bool read_plain(const struct lade_arrow *t, const struct batch *b, unsigned column,
                       const struct lade_arrow_piece *const *piece)
{
    const struct lade_arrow_type *type = &t->column[column];
    const size_t width = lade_dtype_size(type->raw), bytes = (size_t)type->items * width;
    const uint8_t *values[AT_ONCE];

    for (uint64_t k = 0; k < b->blocks; k++) {
        const struct lade_arrow_piece *p = piece[k] ? &piece[k][column] : NULL;
        if (p && !is_plain(type, p))
            return false;
        values[k] = p ? p->values + p->first * width : NULL;
    }
    if (bytes == 8)
        copy_rows(b, b->views + column, t->columns, values, 8);
    else if (bytes == 4)
        copy_rows(b, b->views + column, t->columns, values, 4);
    else
        copy_rows(b, b->views + column, t->columns, values, bytes);
    return true;
}

/* The samples whose blocks have a piece. */
static int read_pieces(const struct lade_arrow *t, struct batch *b, const struct lade_arrow_piece *const *piece,
                       struct lade_error *error)
{
    int status = LADE_OK;

    for (unsigned c = 0; c < t->columns && status == LADE_OK; c++) {
        if (read_plain(t, b, c, piece))
            continue;
        for (uint64_t i = 0; i < b->count && status == LADE_OK; i++)
            if (piece[b->of[i]] && b->views[i * t->columns + c].data)
                status = lade_arrow_read(t, c, &piece[b->of[i]][c], b->row[i], b->ids[i], &b->views[i * t->columns + c],
                                         error);
    }
    for (uint64_t k = 0; k < b->blocks; k++)
        b->done[k] = b->done[k] || piece[k];
    return status;
}

/* One block after another, of those that are left. A thread that holds one never waits for another. */
static int read_rest(struct lade_arrow *t, struct batch *b, bool wait, struct lade_error *error)
{
    const struct lade_arrow_piece *piece[AT_ONCE] = {NULL};
    int status = LADE_OK;

    for (uint64_t k = 0; k < b->blocks && status == LADE_OK; k++) {
        bool is_busy = false;
        if (b->done[k])
            continue;
        status = lade_arrow_acquire(t, b->block[k], wait, &is_busy, &piece[k], error);
        if (status == LADE_OK && !is_busy) {
            status = read_pieces(t, b, piece, error);
            lade_arrow_release(t, &b->block[k], &piece[k], 1);
        }
        piece[k] = NULL;
    }
    return status;
}

/*
 * First the blocks that are in memory, which takes the lock twice for all of them; then those that no other thread is
 * fetching, so that several threads fetch different ones.
 */
static int read_some(struct lade_arrow *t, const uint64_t *ids, uint64_t count, const struct lade_view *views,
                     struct lade_error *error)
{
    const struct lade_arrow_piece *piece[AT_ONCE];
    struct batch b = {.ids = ids, .views = views, .count = count};

    sort_samples(t, &b);
    int status = lade_arrow_acquire_present(t, b.block, piece, b.blocks, error);
    if (status != LADE_OK)
        return status;
    status = read_pieces(t, &b, piece, error);
    lade_arrow_release(t, b.block, piece, b.blocks);
    for (int pass = 0; pass < 2 && status == LADE_OK; pass++)
        status = read_rest(t, &b, pass == 1, error);
    return status;
}

static int read_cached(void *self, const uint64_t *ids, uint64_t count, const struct lade_view *views,
                       struct lade_error *error)
{
    struct lade_arrow *t = self;
    int status = LADE_OK;

    for (uint64_t i = 0; i < count && status == LADE_OK; i += AT_ONCE)
        status = read_some(t, ids + i, count - i < AT_ONCE ? count - i : AT_ONCE, views + i * t->columns, error);
    return status;
}

static int read_fields(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct lade_arrow *t = self;

    return t->cache ? read_cached(self, &i, 1, views, error) : read_whole(self, &i, 1, views, error);
}

static int length_of(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct lade_arrow *t = self;

    (void)error;
    if (t->cache) {
        *length = t->length[field][i];
        return LADE_OK;
    }
    const uint64_t b = block_of(t, i, 0);
    *length = lade_arrow_length(t, field, &t->block[b].piece[field], row_of(&t->block[b], i - t->first[b]));
    return LADE_OK;
}

static int falling(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

/*
 * The blocks of a window: two windows are in memory. If all blocks fit, and none is given, they are one window.
 * Returns 0 with the error if not even one fits.
 */
static uint64_t choose_window(const struct lade_arrow *t, const struct lade_source_arrow *config,
                              struct lade_error *error)
{
    const uint64_t memory = config->memory ? config->memory : LADE_ARROW_MEMORY;
    uint64_t window = config->window ? config->window : WINDOW_DEFAULT, held = 0, fit = 0;

    if (t->bytes <= memory && (config->window == 0 || config->window >= t->blocks))
        return t->blocks;
    uint64_t *size = lade_heap_raw(t->alloc, (size_t)t->blocks, sizeof *size);
    if (!size) {
        (void)no_memory(t, error);
        return 0;
    }
    memcpy(size, t->size, (size_t)t->blocks * sizeof *size);
    qsort(size, (size_t)t->blocks, sizeof *size, falling);
    const uint64_t largest = size[0];
    for (; fit < t->blocks && size[fit] <= memory - held; fit++)
        held += size[fit];
    lade_heap_put(t->alloc, size);
    fit = fit == t->blocks ? t->blocks : fit / 2;
    if (fit == 0 || config->window > fit) {
        (void)lade_fail(error, LADE_LIMITED, t->file, LADE_NO_OFFSET,
                        "row groups or record batches have up to %llu bytes; two windows of %llu of them are above "
                        "memory=%llu, which allows %llu: allow more memory, or a smaller window",
                        (unsigned long long)largest, (unsigned long long)(config->window ? config->window : 1),
                        (unsigned long long)memory, (unsigned long long)fit);
        return 0;
    }
    window = window < fit ? window : fit;
    return window < t->blocks ? window : t->blocks;
}

static int make_cache(struct lade_arrow *t, const struct lade_source_arrow *config, bool rising, uint32_t identity,
                      struct lade_error *error)
{
    struct lade_error inner = {.status = LADE_OK};
    const uint64_t window = choose_window(t, config, &inner);

    if (window == 0)
        return lade_fail(error, inner.status, NULL, LADE_NO_OFFSET, "%s", inner.text);
    t->order = (struct lade_blocks){.count = t->blocks,
                                    .first = t->first,
                                    .window = window < t->blocks ? (unsigned)window : 0,
                                    .rising = rising,
                                    .identity = identity};
    return lade_arrow_cache_create(t, 2 * window < t->blocks ? 2 * window : t->blocks, error);
}

static uint64_t index_bytes(const struct lade_arrow *t)
{
    uint64_t bytes = t->blocks * (sizeof *t->block + sizeof *t->first + sizeof *t->size);

    for (uint64_t b = 0; b < t->blocks; b++)
        bytes += t->block[b].kept ? t->block[b].rows * sizeof *t->block[b].kept : 0;
    for (unsigned c = 0; c < t->columns; c++)
        bytes += t->length[c] ? t->first[t->blocks] * sizeof **t->length : 0;
    return bytes;
}

/* What is known of the columns when all is measured. */
static int complete(struct lade_arrow *t, struct lade_source_info *info, struct lade_error *error)
{
    const struct lade_arrow_type *label = t->roles.label == LADE_NO_FIELD ? NULL : &t->column[t->roles.label];

    for (unsigned c = 0; c < t->columns; c++) {
        struct lade_arrow_type *type = &t->column[c];
        if (type->is_image && type->value.size.height == 0)
            return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET, "no image of column '%.64s' can be read",
                             type->name);
        if (type->is_image) {
            const uint64_t dim[] = {type->value.size.height, type->value.size.width, 3};
            type->value.field.dims = 3;
            memcpy(type->value.field.dim, dim, sizeof dim);
        }
        t->field[c] = type->value.field;
    }
    t->roles.fields = t->columns;
    t->roles.field = t->field;
    if (t->blocks > 0 && t->first[t->blocks] > 0)
        t->block_each = (double)t->blocks / (double)t->first[t->blocks];
    *info = (struct lade_source_info){.kind = t->kind,
                                      .count = t->blocks ? t->first[t->blocks] : 0,
                                      .schema = &t->roles,
                                      .index_bytes = index_bytes(t),
                                      .index_use = t->index_use,
                                      .index_file = t->index_file};
    if (!label)
        return LADE_OK;
    info->classes = t->classes ? t->classes : label->is_dictionary ? label->entries : t->largest + 1;
    if (label->is_dictionary && label->entries == info->classes)
        info->class_names = (const char *const *)label->names;
    return LADE_OK;
}

int lade_arrow_source(struct lade_source **source, struct lade_arrow *t, const struct lade_source_arrow *config,
                      bool rising, uint32_t identity, struct lade_error *error)
{
    static const struct lade_source_ops ops = {
        .close = lade_arrow_close, .length = length_of, .read_fields = read_fields};
    struct lade_source_info info;
    int status = complete(t, &info, error);

    if (status == LADE_OK && info.count > 0 && t->feed.fetch)
        status = make_cache(t, config, rising, identity, error);
    if (status == LADE_OK)
        status = lade_source_open_custom(source, &ops, t, &info, t->alloc, error);
    if (status != LADE_OK) {
        lade_arrow_close(t);
        return status;
    }
    (*source)->read_many = t->cache ? read_cached : read_whole;
    (*source)->blocks = t->order.window > 0 ? &t->order : NULL;
    return LADE_OK;
}
