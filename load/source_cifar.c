/* SPDX-License-Identifier: MIT */
/*
 * The binary versions of CIFAR-10 and CIFAR-100 (Krizhevsky 2009): records of one label byte (CIFAR-100: coarse, then
 * fine) and 3,072 bytes, channel by channel. Nothing else is in the file.
 */
#include "heap.h"
#include "source.h"

#include <string.h>

enum { SAMPLE = 3072 };

int lade_cifar_add(struct lade_flat *flat, enum lade_cifar_labels kind, struct lade_bytes b, struct lade_error *error)
{
    uint64_t labels = kind == LADE_CIFAR_10 ? 1 : 2, stride = labels + SAMPLE;
    uint64_t rest = b.size % stride;

    if (flat->extents == LADE_EXTENTS_MAX)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "more than %d files", LADE_EXTENTS_MAX);
    if (b.size == 0 || rest != 0)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size - rest,
                         "the last record is cut: %llu bytes, not a multiple of %llu", (unsigned long long)b.size,
                         (unsigned long long)stride);
    flat->extent[flat->extents] = (struct lade_extent){.data = b.data, .first = flat->count, .name = b.name};
    flat->extents++;
    flat->count += b.size / stride;
    flat->shape = (struct lade_shape){.dtype = LADE_U8, .dims = 3, .dim = {3, 32, 32}};
    flat->bytes = SAMPLE;
    flat->stride = stride;
    flat->hole_size = labels;
    flat->labels = (struct lade_labels){.at = kind == LADE_CIFAR_100_FINE, .width = 1};
    flat->classes = kind == LADE_CIFAR_10 ? 10 : kind == LADE_CIFAR_100_FINE ? 100 : 20;
    return LADE_OK;
}

/* The lines are copied after the pointers, so that a single free suffices. */
char **lade_class_names(struct lade_bytes b, uint64_t classes, const struct lade_alloc *alloc)
{
    if (classes == 0 || classes > 4096 || b.size > 1 << 20)
        return NULL;
    size_t table = (size_t)classes * sizeof(char *);
    char **names = lade_heap_raw(alloc, table + b.size + 1, 1);
    if (!names)
        return NULL;
    char *text = (char *)names + table, *end = text + b.size;
    uint64_t found = 0;

    memcpy(text, b.data, b.size);
    *end = 0;
    while (text < end && found < classes) {
        size_t length = strcspn(text, "\r\n");
        bool line = length > 0;
        if (line)
            names[found++] = text;
        text += length;
        if (text < end)
            *text++ = 0;
    }
    if (found == classes)
        return names;
    lade_heap_put(alloc, names);
    return NULL;
}
