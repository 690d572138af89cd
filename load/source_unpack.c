/* SPDX-License-Identifier: MIT */
/* gzip and deflate by zlib, if it was found at build time. What is unpacked is a mapping, as that of a file. */
#define _GNU_SOURCE
#include "source_zip.h"

#include "heap.h"

#include <string.h>
#include <sys/mman.h>

bool lade_is_gzip(struct lade_bytes b)
{
    return b.size >= 2 && b.data[0] == 0x1f && b.data[1] == 0x8b;
}

#if defined LADE_ZLIB
#define ZLIB_CONST
#include <zlib.h>

enum { FIRST = 1 << 16 };

struct unpack {
    z_stream z;
    struct lade_bytes in;
    enum lade_packing packing;
    uint64_t base; /* of in, in its file */
    uint8_t *data;
    size_t size, space;
    uint64_t limit;
    struct lade_error *error;
};

static uint64_t position(const struct unpack *u)
{
    return u->base + (uint64_t)(u->z.next_in - u->in.data);
}

static int wrong(const struct unpack *u, const char *what)
{
    return lade_fail(u->error, LADE_DAMAGED, u->in.name, position(u), "%s", what);
}

static int no_memory(const struct unpack *u)
{
    return lade_fail(u->error, LADE_NO_MEMORY, u->in.name, LADE_NO_OFFSET, "out of memory");
}

/* Twice the space, up to the limit. */
static int grow(struct unpack *u)
{
    size_t space = u->space ? 2 * u->space : FIRST;
    void *more;

    if (space > u->limit)
        space = (size_t)u->limit;
    if (u->space)
        more = mremap(u->data, u->space, space, MREMAP_MAYMOVE);
    else
        more = mmap(NULL, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        return no_memory(u);
    u->data = more;
    u->space = space;
    return LADE_OK;
}

/* One call of the decoder. At the limit it gets one byte, to see whether there is more. */
static int step(struct unpack *u, bool *done)
{
    uint8_t beyond;
    const bool full = u->size == u->limit;
    int status = !full && u->size == u->space ? grow(u) : LADE_OK;

    if (status != LADE_OK)
        return status;
    const size_t out = full ? 1 : u->space - u->size, left = (size_t)(u->in.data + u->in.size - u->z.next_in);
    u->z.next_out = full ? &beyond : u->data + u->size;
    u->z.avail_out = (unsigned)(out < 1u << 30 ? out : 1u << 30);
    u->z.avail_in = (unsigned)(left < 1u << 30 ? left : 1u << 30);
    const unsigned offered = u->z.avail_out;
    const int code = inflate(&u->z, Z_NO_FLUSH);
    const unsigned made = offered - u->z.avail_out;
    if (full && made > 0)
        return lade_fail(u->error, LADE_LIMITED, u->in.name, u->base,
                         "unpacks to more than %llu bytes; unpacked=N raises the limit", (unsigned long long)u->limit);
    u->size += made;
    *done = code == Z_STREAM_END;
    if (code == Z_OK || code == Z_STREAM_END)
        return LADE_OK;
    if (code == Z_MEM_ERROR)
        return no_memory(u);
    return wrong(u, code == Z_BUF_ERROR ? "ends inside the compressed data"
                    : u->z.msg          ? u->z.msg
                                        : "the compressed data is damaged");
}

/* A file of gzip may have several members. */
static int unpack_all(struct unpack *u)
{
    bool done = false;
    int status = LADE_OK;

    while (status == LADE_OK && !done) {
        status = step(u, &done);
        const struct lade_bytes rest = {u->z.next_in, (size_t)(u->in.data + u->in.size - u->z.next_in), NULL};
        if (status == LADE_OK && done && rest.size > 0) {
            if (u->packing != LADE_GZIP || !lade_is_gzip(rest) || inflateReset(&u->z) != Z_OK)
                return wrong(u, "continues after the compressed data");
            done = false;
        }
    }
    if (status == LADE_OK && u->size == 0)
        status = wrong(u, "unpacks to nothing");
    return status;
}

int lade_unpack(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing, uint64_t limit,
                const struct lade_alloc *alloc, struct lade_error *error)
{
    struct unpack u = {.in = from, .packing = packing, .base = base, .limit = limit, .error = error};
    char *copy = lade_heap_text(alloc, from.name);

    *to = (struct lade_bytes){NULL, 0, NULL};
    if (u.limit > SIZE_MAX / 4)
        u.limit = SIZE_MAX / 4;
    u.z.next_in = from.data;
    int status = copy && inflateInit2(&u.z, packing == LADE_GZIP ? 15 + 16 : -15) == Z_OK ? LADE_OK : no_memory(&u);
    if (status == LADE_OK) {
        status = unpack_all(&u);
        (void)inflateEnd(&u.z);
    }
    if (status == LADE_OK && mremap(u.data, u.space, u.size, 0) == MAP_FAILED)
        status = no_memory(&u);
    if (status == LADE_OK) {
        *to = (struct lade_bytes){u.data, u.size, copy};
        return LADE_OK;
    }
    if (u.data)
        (void)munmap(u.data, u.space);
    lade_heap_put(alloc, copy);
    return status;
}

bool lade_zip_checks(struct lade_bytes b, uint32_t checksum)
{
    unsigned long sum = crc32(0, NULL, 0);

    for (size_t at = 0; at < b.size;) {
        const size_t some = b.size - at < 1u << 30 ? b.size - at : 1u << 30;
        sum = crc32(sum, b.data + at, (unsigned)some);
        at += some;
    }
    return sum == checksum;
}
#else
int lade_unpack(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing, uint64_t limit,
                const struct lade_alloc *alloc, struct lade_error *error)
{
    (void)packing, (void)limit, (void)alloc;
    *to = (struct lade_bytes){NULL, 0, NULL};
    return lade_fail(error, LADE_INVALID, from.name, base,
                     "is compressed, and this build unpacks nothing: it was made without zlib; run tools/setup codecs "
                     "and build again");
}

bool lade_zip_checks(struct lade_bytes b, uint32_t checksum)
{
    (void)b, (void)checksum;
    return true;
}
#endif

int lade_map_unpacked(struct lade_bytes *bytes, const char *path, uint64_t limit, const struct lade_alloc *alloc,
                      struct lade_error *error)
{
    struct lade_bytes file;
    int status = lade_map(&file, path, alloc, error);

    if (status != LADE_OK || !lade_is_gzip(file)) {
        *bytes = file;
        return status;
    }
    status = lade_unpack(bytes, file, 0, LADE_GZIP, limit, alloc, error);
    lade_unmap(&file, alloc);
    return status;
}
