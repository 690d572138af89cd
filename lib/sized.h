/* SPDX-License-Identifier: MIT */
/*
 * Structs that grow at their end: the caller passes the size of its struct, which may be smaller or larger than the one
 * that this library knows. Internal; docs/abi.md has the rules.
 */
#ifndef LADE_LIB_SIZED_H
#define LADE_LIB_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool lade_is_zero(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != 0)
            return false;
    return true;
}

/* A loop, as GenMC refuses memcpy() and memset() of a length that is not constant. */
static inline void lade_copy_or_zero(void *to, size_t size, const void *from, size_t both)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = i < both ? ((const unsigned char *)from)[i] : 0;
}

/*
 * Returns a struct that the caller filled, as this library knows it: the caller's struct if the sizes agree, else a
 * copy in *copy, which has known bytes. Fields that the caller does not have are zero. NULL: the caller sets a field
 * that this library does not know.
 */
static inline const void *lade_sized_in(const void *from, size_t size, void *copy, size_t known)
{
    if (size == known)
        return from;
    size_t both = size < known ? size : known;
    if (!lade_is_zero((const char *)from + both, size - both))
        return NULL;
    lade_copy_or_zero(copy, known, from, both);
    return copy;
}

/* Copies as much of a struct as fits into the caller's memory; sets fields that this library does not know to zero. */
static inline void lade_sized_out(void *to, size_t size, const void *from, size_t known)
{
    if (size == known)
        memcpy(to, from, known);
    else
        lade_copy_or_zero(to, size, from, size < known ? size : known);
}

#endif
