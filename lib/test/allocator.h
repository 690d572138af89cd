/* SPDX-License-Identifier: MIT */
/* An allocator that fails at a chosen call and counts live allocations, for tests of error paths. For any threads. */
#include <lade/alloc.h>
#include <stdatomic.h>
#include <stdlib.h>

struct failing {
    int fail_at; /* number of the call that fails, from 1; 0: none */
    size_t most; /* larger requests fail; 0: no limit */
    _Atomic int calls;
    _Atomic int live;
    _Atomic size_t bytes;
};

static void *failing_get(void *context, size_t size, size_t align)
{
    struct failing *f = context;

    if (++f->calls == f->fail_at || (f->most > 0 && size > f->most))
        return NULL;
    f->live++;
    f->bytes += size;
    return aligned_alloc(align, size);
}

static void failing_put(void *context, void *memory, size_t size)
{
    struct failing *f = context;

    f->live--;
    f->bytes -= size;
    free(memory);
}
