/* SPDX-License-Identifier: MIT */
/*
 * Memory for the structures. Each creation function takes one of these, or NULL for the C library's aligned_alloc and
 * free. It must stay valid until the structure is destroyed. The structures allocate while they are created and free while
 * they are destroyed, never in between, unless their header says so.
 */
#ifndef LADE_ALLOC_H
#define LADE_ALLOC_H

#include <lade/api.h>
#include <stddef.h>

LADE_BEGIN

/* Frozen. */
struct lade_alloc {
    /* size bytes at a multiple of align (a power of two), contents arbitrary; NULL when there are none. */
    void *(*get)(void *context, size_t size, size_t align);
    /* Gives back what get returned for the same size. */
    void (*put)(void *context, void *memory, size_t size);
    void *context;
};

LADE_END

#endif
