/* SPDX-License-Identifier: MIT */
/*
 * Memory from the caller's allocator, or from the C library if there is none (NULL). The size is stored in front of
 * the memory, so that callers that free it need not know it. Sizes that overflow are out of memory. Internal.
 */
#ifndef LADE_LIB_HEAP_H
#define LADE_LIB_HEAP_H

#include <lade/alloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LADE_HEAP_HEAD 64 /* also keeps the alignment */

/* Arbitrary contents. */
static inline void *lade_heap_raw(const struct lade_alloc *a, size_t count, size_t size)
{
    if (size > 0 && count > (SIZE_MAX - 2 * LADE_HEAP_HEAD) / size)
        return NULL;
    if (!a)
        return malloc(count * size);
    size_t whole = (count * size + 2 * LADE_HEAP_HEAD - 1) / LADE_HEAP_HEAD * LADE_HEAP_HEAD;
    char *block = a->get(a->context, whole, LADE_HEAP_HEAD);
    if (!block)
        return NULL;
    memcpy(block, &whole, sizeof whole);
    return block + LADE_HEAP_HEAD;
}

/* Zeroed. */
static inline void *lade_heap_get(const struct lade_alloc *a, size_t count, size_t size)
{
    if (!a)
        return calloc(count, size);
    void *memory = lade_heap_raw(a, count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

static inline void lade_heap_put(const struct lade_alloc *a, void *memory)
{
    size_t whole;

    if (!a || !memory) {
        free(memory);
        return;
    }
    char *block = (char *)memory - LADE_HEAP_HEAD;
    memcpy(&whole, block, sizeof whole);
    a->put(a->context, block, whole);
}

/* As realloc(): keeps the contents up to the smaller size; NULL leaves memory, which may be NULL, unchanged. */
static inline void *lade_heap_resize(const struct lade_alloc *a, void *memory, size_t count, size_t size)
{
    size_t old;

    if (size > 0 && count > (SIZE_MAX - 2 * LADE_HEAP_HEAD) / size)
        return NULL;
    if (!a)
        return realloc(memory, count * size);
    void *other = lade_heap_raw(a, count, size);
    if (!other || !memory)
        return other;
    memcpy(&old, (char *)memory - LADE_HEAP_HEAD, sizeof old);
    old -= LADE_HEAP_HEAD;
    memcpy(other, memory, old < count * size ? old : count * size);
    lade_heap_put(a, memory);
    return other;
}

/* A copy of a text. */
static inline char *lade_heap_text(const struct lade_alloc *a, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lade_heap_raw(a, size, 1);

    return copy ? memcpy(copy, text, size) : NULL;
}

#endif
