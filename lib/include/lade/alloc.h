/* SPDX-License-Identifier: MIT */
/*
 * The allocator of a structure. Each create function takes a pointer to one; NULL selects the C library's
 * aligned_alloc() and free(). The allocator must stay valid until the structure is destroyed. Structures allocate
 * during create and free during destroy, never in between, unless their header states otherwise.
 */
#ifndef LADE_ALLOC_H
#define LADE_ALLOC_H

#include <lade/api.h>
#include <stddef.h>

LADE_BEGIN

/* Frozen. */
struct lade_alloc {
    /* Returns size bytes, aligned to align (a power of two), with arbitrary contents; NULL if there is no memory. */
    void *(*get)(void *context, size_t size, size_t align);
    /* Frees memory that get() returned for the same size. */
    void (*put)(void *context, void *memory, size_t size);
    void *context;
};

LADE_END

#endif
