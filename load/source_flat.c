/* SPDX-License-Identifier: MIT */
/* Samples at a fixed stride: arrays in memory and mapped files. */
#include "source.h"

#include "heap.h"
#include "prefetch.h"
#include "sized.h"

#include <string.h>

static const struct lade_extent *extent_of(const struct lade_flat *flat, uint64_t i)
{
    unsigned p = flat->extents - 1;

    while (flat->extent[p].first > i)
        p--;
    return &flat->extent[p];
}

/*
 * The label's bytes as a number. Most labels have the width of an integer type; those of records may have any up to 8.
 */
static uint64_t word_of(const struct lade_labels *labels, const uint8_t *at)
{
    const bool swap = labels->big != lade_machine_is_big();
    uint16_t two;
    uint32_t four;
    uint64_t eight, value = 0;

    switch (labels->width) {
    case 1:
        return *at;
    case 2:
        memcpy(&two, at, sizeof two);
        return swap ? __builtin_bswap16(two) : two;
    case 4:
        memcpy(&four, at, sizeof four);
        return swap ? __builtin_bswap32(four) : four;
    case 8:
        memcpy(&eight, at, sizeof eight);
        return swap ? __builtin_bswap64(eight) : eight;
    default:
        for (unsigned b = 0; b < labels->width; b++)
            value = value << 8 | at[labels->big ? b : labels->width - 1 - b];
        return value;
    }
}

/* False if the number does not fit. */
static bool integer(const struct lade_labels *labels, const uint8_t *at, int64_t *to)
{
    uint64_t value = word_of(labels, at);

    if (labels->is_signed && labels->width < 8 && value >> (8 * labels->width - 1) & 1)
        value |= ~UINT64_C(0) << (8 * labels->width);
    if (!labels->is_signed && value > INT64_MAX)
        return false;
    *to = value > INT64_MAX ? -(int64_t)(UINT64_MAX - value) - 1 : (int64_t)value;
    return true;
}

static int wrong_label(const struct lade_flat *flat, const struct lade_extent *extent, uint64_t i, uint64_t offset,
                       const char *why, struct lade_error *error)
{
    const char *name = flat->labels.data ? flat->labels.name : extent->name;

    return lade_fail(error, LADE_DAMAGED, name, offset, "the label of sample %llu is %s", (unsigned long long)i, why);
}

int lade_flat_label(const struct lade_flat *flat, uint64_t i, int64_t *label, struct lade_error *error)
{
    const struct lade_labels *labels = &flat->labels;
    const struct lade_extent *extent = extent_of(flat, i);
    const uint8_t *at;
    uint64_t offset;

    *label = LADE_NO_LABEL;
    if (labels->width == 0)
        return LADE_OK;
    if (labels->data) {
        at = labels->data + i * labels->stride;
        offset = labels->at + i * labels->stride;
    } else {
        uint64_t record = (i - extent->first) * flat->stride + labels->at;
        at = extent->data + record;
        offset = extent->offset + record;
    }
    if (!integer(labels, at, label))
        return wrong_label(flat, extent, i, offset, "above 2^63", error);
    if (*label < 0)
        return wrong_label(flat, extent, i, offset, "negative", error);
    if ((uint64_t)*label >= flat->classes)
        return wrong_label(flat, extent, i, offset, "not below the number of classes", error);
    return LADE_OK;
}

void lade_swap_elements(uint8_t *bytes, size_t size, unsigned width)
{
    for (size_t e = 0; e + width <= size; e += width)
        for (unsigned b = 0; b < width / 2; b++) {
            uint8_t t = bytes[e + b];
            bytes[e + b] = bytes[e + width - 1 - b];
            bytes[e + width - 1 - b] = t;
        }
}

int lade_flat_read(const struct lade_flat *flat, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct lade_extent *extent = extent_of(flat, i);
    const uint8_t *record = extent->data + (i - extent->first) * flat->stride;
    uint8_t *out = to;

    if (flat->hole_at == 0) {
        memcpy(out, record + flat->hole_size, flat->bytes);
    } else {
        memcpy(out, record, (size_t)flat->hole_at);
        memcpy(out + flat->hole_at, record + flat->hole_at + flat->hole_size, flat->bytes - (size_t)flat->hole_at);
    }
    if (flat->swap > 1)
        lade_swap_elements(out, flat->bytes, flat->swap);
    return lade_flat_label(flat, i, label, error);
}

int lade_flat_count_classes(struct lade_flat *flat, struct lade_error *error)
{
    int64_t label, most = 0;

    flat->classes = LADE_CLASSES_MAX;
    for (uint64_t i = 0; i < flat->count; i++) {
        int status = lade_flat_label(flat, i, &label, error);
        if (status != LADE_OK)
            return status;
        most = label > most ? label : most;
    }
    flat->classes = (uint64_t)most + 1;
    return LADE_OK;
}

static bool is_signed(enum lade_dtype dtype)
{
    return dtype == LADE_I8 || dtype == LADE_I16 || dtype == LADE_I32 || dtype == LADE_I64;
}

int lade_flat_take_labels(struct lade_flat *flat, const struct lade_flat *labels, struct lade_error *error)
{
    const struct lade_extent *extent = &labels->extent[0];
    enum lade_dtype dtype = labels->shape.dtype;

    if (labels->shape.dims != 0 || !lade_dtype_is_integer(dtype))
        return lade_fail(error, LADE_DAMAGED, extent->name, LADE_NO_OFFSET,
                         "labels are integers in one dimension, not %s in %u", lade_dtype_name(dtype),
                         labels->shape.dims + 1);
    if (labels->count != flat->count)
        return lade_fail(error, LADE_DAMAGED, extent->name, LADE_NO_OFFSET, "%llu labels for %llu samples",
                         (unsigned long long)labels->count, (unsigned long long)flat->count);
    flat->labels = (struct lade_labels){.data = extent->data,
                                        .stride = labels->stride,
                                        .at = extent->offset,
                                        .width = (unsigned)labels->bytes,
                                        .is_signed = is_signed(dtype),
                                        .big = lade_machine_is_big() != (labels->swap > 1),
                                        .name = extent->name};
    return lade_flat_count_classes(flat, error);
}

/* A source with its maps and names. */
struct flat_source {
    struct lade_flat flat;
    struct lade_bytes map[LADE_EXTENTS_MAX + 1];
    unsigned maps;
    char **names;
    const struct lade_alloc *alloc;
};

static int read_flat(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct flat_source *s = self;

    return lade_flat_read(&s->flat, i, to, label, error);
}

static int label_flat(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    const struct flat_source *s = self;

    return lade_flat_label(&s->flat, i, label, error);
}

#define LINE 64
#define FIRST 1024  /* bytes prefetched per sample; after that the hardware prefetcher has detected the stream */
#define AHEAD 4096  /* bytes of samples that are prefetched */
#define AHEAD_MAX 8 /* samples */

/* Prefetches a sample and its label. */
static void fetch(const struct lade_flat *flat, uint64_t i)
{
#ifdef __GNUC__
    __asm__ volatile(""); /* GCC drops calls of a function that only prefetches */
#endif
    const struct lade_extent *extent = extent_of(flat, i);
    const uint8_t *record = extent->data + (i - extent->first) * flat->stride;
    const uint64_t first = flat->stride < FIRST ? flat->stride : FIRST;

    for (uint64_t at = 0; at < first; at += LINE)
        lade_prefetch_read(record + at);
    if (flat->labels.data)
        lade_prefetch_read(flat->labels.data + i * flat->labels.stride);
}

static int gather_flat(void *self, const uint64_t *ids, uint64_t count, void *to, int64_t *labels, uint64_t *done,
                       struct lade_error *error)
{
    const struct lade_flat *flat = &((const struct flat_source *)self)->flat;
    /* While a sample is copied, the next ones are prefetched: as much as a processor can have outstanding. */
    const uint64_t some = AHEAD / flat->stride, ahead = some < 1 ? 1 : some > AHEAD_MAX ? AHEAD_MAX : some;
    int status = LADE_OK;

    for (uint64_t i = 0; i < ahead && i < count; i++)
        fetch(flat, ids[i]);
    for (*done = 0; *done < count; ++*done) {
        if (*done + ahead < count)
            fetch(flat, ids[*done + ahead]);
        status = lade_flat_read(flat, ids[*done], (uint8_t *)to + *done * flat->bytes, &labels[*done], error);
        if (status != LADE_OK)
            break;
    }
    return status;
}

bool lade_source_is_flat(const struct lade_source *source)
{
    return source->ops.gather == gather_flat;
}

static void close_flat(void *self)
{
    struct flat_source *s = self;

    for (unsigned m = 0; m < s->maps; m++)
        lade_unmap(&s->map[m], s->alloc);
    lade_heap_put(s->alloc, s->names);
    lade_heap_put(s->alloc, s);
}

int lade_flat_source(struct lade_source **source, const char *kind, const struct lade_flat *flat,
                     const struct lade_bytes *maps, unsigned count, char **names, const struct lade_alloc *alloc,
                     struct lade_error *error)
{
    static const struct lade_source_ops ops = {
        .read = read_flat, .label = label_flat, .close = close_flat, .gather = gather_flat};
    struct flat_source *s = lade_heap_get(alloc, 1, sizeof *s);
    int status = LADE_NO_MEMORY;

    *source = NULL;
    if (!s) {
        for (unsigned m = 0; m < count; m++) {
            struct lade_bytes map = maps[m];
            lade_unmap(&map, alloc);
        }
        lade_heap_put(alloc, names);
        return lade_fail(error, status, kind, LADE_NO_OFFSET, "out of memory");
    }
    s->flat = *flat;
    s->maps = count;
    for (unsigned m = 0; m < count; m++)
        s->map[m] = maps[m];
    s->names = names;
    s->alloc = alloc;
    const struct lade_source_info info = {.kind = kind,
                                          .count = flat->count,
                                          .shape = flat->shape,
                                          .bytes = flat->bytes,
                                          .classes = flat->labels.width ? flat->classes : 0,
                                          .class_names = (const char *const *)names};
    status = lade_source_open_custom(source, &ops, s, &info, alloc, error);
    if (status != LADE_OK)
        close_flat(s);
    return status;
}

static int open_array(struct lade_source **source, const struct lade_source_array *array, struct lade_error *error)
{
    struct lade_flat flat = {.extents = 1, .count = array->count, .shape = array->shape};

    *source = NULL;
    flat.bytes = lade_shape_bytes(&array->shape);
    flat.stride = flat.bytes;
    flat.extent[0] = (struct lade_extent){.data = array->samples, .name = "array"};
    if (!array->samples || array->count == 0 || flat.bytes == 0 || array->count > SIZE_MAX / 2 / flat.bytes)
        return lade_fail(error, LADE_INVALID, "array", LADE_NO_OFFSET, "no samples, or a shape without bytes");
    if (array->labels) {
        if (!lade_dtype_is_integer(array->label_dtype) || array->classes > LADE_CLASSES_MAX)
            return lade_fail(error, LADE_INVALID, "array", LADE_NO_OFFSET,
                             "labels are integers, below at most %llu classes", (unsigned long long)LADE_CLASSES_MAX);
        flat.labels = (struct lade_labels){.data = array->labels,
                                           .stride = lade_dtype_size(array->label_dtype),
                                           .width = (unsigned)lade_dtype_size(array->label_dtype),
                                           .is_signed = is_signed(array->label_dtype),
                                           .big = lade_machine_is_big(),
                                           .name = "array"};
        flat.classes = array->classes;
        int status = flat.classes ? LADE_OK : lade_flat_count_classes(&flat, error);
        if (status != LADE_OK)
            return status;
    }
    return lade_flat_source(source, "array", &flat, NULL, 0, NULL, array->alloc, error);
}

int lade_source_open_array_sized(struct lade_source **source, const struct lade_source_array *array, size_t size,
                                 struct lade_error *error)
{
    struct lade_source_array copy;

    array = lade_sized_in(array, size, &copy, sizeof copy);
    return array ? open_array(source, array, error) : lade_fail_unknown(error);
}
