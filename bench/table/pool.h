/* SPDX-License-Identifier: MIT */
/*
 * Nodes for the tables that link what their callers allocate: each thread cuts them from its own chunks. A removed node is
 * not used again before the end of the program, so that it needs no grace period; that is cheaper than what users do.
 */
#ifndef LADE_BENCH_TABLE_POOL_H
#define LADE_BENCH_TABLE_POOL_H

#include <stddef.h>
#include <stdlib.h>

struct pool {
    char *next, *end;
};

static inline void *pool_take(struct pool *pool, size_t size)
{
    enum { CHUNK = 1 << 16 };
    char *node;

    if ((size_t)(pool->end - pool->next) < size) {
        pool->next = malloc(CHUNK);
        if (!pool->next)
            abort();
        pool->end = pool->next + CHUNK;
    }
    node = pool->next;
    pool->next += size;
    return node;
}

/* Only for the node taken last. */
static inline void pool_return(struct pool *pool, size_t size)
{
    pool->next -= size;
}

#endif
