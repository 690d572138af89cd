/* SPDX-License-Identifier: MIT */
/*
 * Zeroed memory from the caller's allocator, or from calloc() if there is none (NULL). The size is stored in front of
 * the memory, so that callers that free it need not know it. Internal.
 */
#ifndef LADE_LIB_HEAP_H
#define LADE_LIB_HEAP_H

#include <lade/alloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LADE_HEAP_HEAD 64 /* also keeps the alignment */

static inline void *lade_heap_get(const struct lade_alloc *a, size_t count, size_t size)
{
    if (!a)
        return calloc(count, size);
    if (size > 0 && count > (SIZE_MAX - 2 * LADE_HEAP_HEAD) / size)
        return NULL;
    size_t whole = (count * size + 2 * LADE_HEAP_HEAD - 1) / LADE_HEAP_HEAD * LADE_HEAP_HEAD;
    char *block = a->get(a->context, whole, LADE_HEAP_HEAD);
    if (!block)
        return NULL;
    memset(block, 0, whole);
    memcpy(block, &whole, sizeof whole);
    return block + LADE_HEAP_HEAD;
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

#endif
