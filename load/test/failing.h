/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the library fails once. Programs with this header are linked with a library whose allocations go
 * through the functions below; a sanitizer sees what is not given back.
 */
#ifndef LADE_LOAD_TEST_FAILING_H
#define LADE_LOAD_TEST_FAILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int until_failure = -1; /* allocations that still succeed; below zero: all */

static bool fails(void)
{
    int left = atomic_load(&until_failure);

    while (left >= 0)
        if (atomic_compare_exchange_weak(&until_failure, &left, left - 1))
            return left == 0;
    return false;
}

void *failing_malloc(size_t size);
void *failing_calloc(size_t count, size_t size);
void *failing_realloc(void *memory, size_t size);
void *failing_aligned_alloc(size_t align, size_t size);
char *failing_strdup(const char *text);
char *failing_strndup(const char *text, size_t size);

void *failing_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

void *failing_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

void *failing_realloc(void *memory, size_t size)
{
    return fails() ? NULL : realloc(memory, size);
}

void *failing_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : aligned_alloc(align, size);
}

char *failing_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

char *failing_strndup(const char *text, size_t size)
{
    return fails() ? NULL : strndup(text, size);
}

#endif
