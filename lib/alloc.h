/* SPDX-License-Identifier: MIT */
/* The default allocator, and arrays whose size cannot overflow. Internal. */
#ifndef LADE_LIB_ALLOC_H
#define LADE_LIB_ALLOC_H

#include <lade/alloc.h>
#include <stdint.h>
#include <stdlib.h>

/* Two lines: current x86 processors fetch neighbouring lines in pairs. */
#define LADE_CACHELINE_PAIR 128

static void *lade_default_get(void *context, size_t size, size_t align)
{
    (void)context;
    return aligned_alloc(align, size);
}

static void lade_default_put(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static const struct lade_alloc lade_default = {lade_default_get, lade_default_put, NULL};

/*
 * Returns the bytes for count elements, rounded up to whole LADE_CACHELINE_PAIR units; 0 if that does not fit into
 * size_t.
 */
static inline size_t lade_array_size(uint64_t count, size_t element)
{
    if (count == 0 || count > (SIZE_MAX - LADE_CACHELINE_PAIR) / element)
        return 0;
    return ((size_t)count * element + LADE_CACHELINE_PAIR - 1) / LADE_CACHELINE_PAIR * LADE_CACHELINE_PAIR;
}

static inline void *lade_array_get(const struct lade_alloc *a, uint64_t count, size_t element)
{
    size_t size = lade_array_size(count, element);

    return size ? a->get(a->context, size, LADE_CACHELINE_PAIR) : NULL;
}

static inline void lade_array_put(const struct lade_alloc *a, void *memory, uint64_t count, size_t element)
{
    if (memory)
        a->put(a->context, memory, lade_array_size(count, element));
}

#endif
