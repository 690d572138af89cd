/* SPDX-License-Identifier: MIT */
/* Zeroed memory for the arrays of tables. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* mmap's flags */
#endif
#include "table.h"

#include <sys/mman.h>

void *lade_table_map(const struct lade_table *t, size_t size)
{
    const struct lade_alloc *a = t->config.alloc;
    void *memory;

    if (a) {
        memory = lade_array_get(a, size, 1);
        return memory ? memset(memory, 0, size) : NULL;
    }
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (t->config.huge_pages)
        (void)madvise(memory, size, MADV_HUGEPAGE); /* optional */
    return memory;
}

void lade_table_unmap(const struct lade_table *t, void *memory, size_t size)
{
    if (t->config.alloc)
        lade_array_put(t->config.alloc, memory, size, 1);
    else
        (void)munmap(memory, size);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define PAGE ((uintptr_t)4096)

void lade_table_populate(const struct lade_table *t, void *memory, size_t size)
{
    uintptr_t from = (uintptr_t)memory & ~(PAGE - 1);
    uintptr_t to = ((uintptr_t)memory + size) & ~(PAGE - 1);

    if (!t->config.alloc)
        (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE); /* older kernels map the pages one by one */
}
