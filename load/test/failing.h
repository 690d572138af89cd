/* SPDX-License-Identifier: MIT */
/*
 * Makes every allocation of the library fail once. Programs with this header are linked with a library whose
 * allocations call the functions below, which also count live allocations; a sanitizer detects leaks.
 */
#ifndef LADE_LOAD_TEST_FAILING_H
#define LADE_LOAD_TEST_FAILING_H

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int until_failure = -1; /* allocations that still succeed; below zero: all */

static _Atomic int asked; /* allocations that the library asked the C library for */

static _Atomic size_t bytes_out, bytes_most; /* held by the library, and at most since it was set */

static bool fails(void)
{
    int left = atomic_load(&until_failure);

    atomic_fetch_add(&asked, 1);
    while (left >= 0)
        if (atomic_compare_exchange_weak(&until_failure, &left, left - 1))
            return left == 0;
    return false;
}

/* Notes what was allocated. */
static inline void *hold(void *memory)
{
    size_t now = atomic_fetch_add(&bytes_out, malloc_usable_size(memory)) + malloc_usable_size(memory);
    size_t most = atomic_load(&bytes_most);

    while (now > most && !atomic_compare_exchange_weak(&bytes_most, &most, now))
        continue;
    return memory;
}

static inline void let_go(void *memory)
{
    (void)atomic_fetch_sub(&bytes_out, malloc_usable_size(memory));
}

void *failing_malloc(size_t size);
void *failing_calloc(size_t count, size_t size);
void *failing_realloc(void *memory, size_t size);
void *failing_aligned_alloc(size_t align, size_t size);
char *failing_strdup(const char *text);
char *failing_strndup(const char *text, size_t size);
void failing_free(void *memory);

void *failing_malloc(size_t size)
{
    return fails() ? NULL : hold(malloc(size));
}

void *failing_calloc(size_t count, size_t size)
{
    return fails() ? NULL : hold(calloc(count, size));
}

void *failing_realloc(void *memory, size_t size)
{
    if (fails())
        return NULL;
    let_go(memory);
    return hold(realloc(memory, size));
}

void *failing_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : hold(aligned_alloc(align, size));
}

char *failing_strdup(const char *text)
{
    return fails() ? NULL : hold(strdup(text));
}

char *failing_strndup(const char *text, size_t size)
{
    return fails() ? NULL : hold(strndup(text, size));
}

void failing_free(void *memory)
{
    let_go(memory);
    free(memory);
}

#endif
