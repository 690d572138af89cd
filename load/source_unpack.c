/* SPDX-License-Identifier: MIT */
/* gzip and deflate by zlib, zstd by libzstd, where they were found at build time. */
#define _GNU_SOURCE
#include "source_zip.h"

#include "heap.h"

#include <string.h>
#include <sys/mman.h>
#if defined LADE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if defined LADE_ZSTD
#include <zstd.h>
#endif

enum lade_packing lade_packing_of(struct lade_bytes b)
{
    static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};

    if (b.size >= 2 && b.data[0] == 0x1f && b.data[1] == 0x8b)
        return LADE_GZIP;
    return b.size >= sizeof zstd && !memcmp(b.data, zstd, sizeof zstd) ? LADE_ZSTD_FRAMES : LADE_STORED;
}

/* Memory that grows: a mapping, as that of a file, or of the heap. */
struct unpack {
    struct lade_bytes in;
    size_t at; /* in it */
    enum lade_packing packing;
    uint64_t base; /* of in, in its file */
    bool mapped;
    const struct lade_alloc *alloc;
    uint8_t *data;
    size_t size, space;
    uint64_t limit;
    void *decoder;
    struct lade_error *error;
};

#if !defined LADE_ZLIB || !defined LADE_ZSTD
static int no_codec(const struct unpack *u, const char *library)
{
    return lade_fail(u->error, LADE_INVALID, u->in.name, u->base,
                     "is compressed, and this build does not unpack it: it was made without %s; run tools/setup codecs "
                     "and build again",
                     library);
}
#endif

#if defined LADE_ZLIB || defined LADE_ZSTD
enum { FIRST = 1 << 16 };

static int wrong(const struct unpack *u, const char *what)
{
    return lade_fail(u->error, LADE_DAMAGED, u->in.name, u->base + u->at, "%s", what);
}

static int no_memory(const struct unpack *u)
{
    return lade_fail(u->error, LADE_NO_MEMORY, u->in.name, LADE_NO_OFFSET, "out of memory");
}

static int take_space(struct unpack *u, size_t space)
{
    void *more;

    if (!u->mapped)
        more = lade_heap_resize(u->alloc, u->data, space, 1);
    else if (u->space)
        more = mremap(u->data, u->space, space, MREMAP_MAYMOVE);
    else
        more = mmap(NULL, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED || !more)
        return no_memory(u);
    u->data = more;
    u->space = space;
    return LADE_OK;
}

/* Twice the space, up to the limit. */
static int grow(struct unpack *u)
{
    size_t space = u->space ? 2 * u->space : u->mapped ? FIRST : 4 * (u->in.size < FIRST ? u->in.size : FIRST);

    return take_space(u, space > u->limit ? (size_t)u->limit : space);
}

/* The next output of the decoder, up to space bytes; *done: a whole stream has ended. It may continue with the next one. */
typedef int decode(struct unpack *u, uint8_t *to, size_t space, size_t *made, bool *done);

/* One call of the decoder. At the limit it gets one byte, to see whether there is more. */
static int step(struct unpack *u, decode *some, bool *done)
{
    uint8_t beyond;
    const bool full = u->size == u->limit;
    int status = !full && u->size == u->space ? grow(u) : LADE_OK;
    size_t made = 0;

    if (status != LADE_OK)
        return status;
    status = some(u, full ? &beyond : u->data + u->size, full ? 1 : u->space - u->size, &made, done);
    if (full && made > 0)
        return lade_fail(u->error, LADE_LIMITED, u->in.name, u->base,
                         "unpacks to more than %llu bytes; unpacked=N raises the limit", (unsigned long long)u->limit);
    u->size += made;
    return status;
}

/* A file may have several members of gzip, or frames of zstd. */
static int unpack_all(struct unpack *u, decode *some)
{
    bool done = false;
    int status = LADE_OK;

    while (status == LADE_OK && !(done && u->at == u->in.size)) {
        if (done && u->packing == LADE_DEFLATE)
            return wrong(u, "continues after the compressed data");
        done = false;
        status = step(u, some, &done);
    }
    if (status == LADE_OK && u->size == 0 && u->mapped)
        status = wrong(u, "unpacks to nothing");
    return status;
}
#endif

#if defined LADE_ZLIB
static int inflate_some(struct unpack *u, uint8_t *to, size_t space, size_t *made, bool *done)
{
    z_stream *z = u->decoder;
    const size_t left = u->in.size - u->at, most = 1u << 30;
    const struct lade_bytes rest = {u->in.data + u->at, left, NULL};

    /* After the end of a member, another one must begin. */
    if (u->at > 0 && z->total_in == 0 && lade_packing_of(rest) != LADE_GZIP)
        return wrong(u, "continues after the compressed data");
    z->next_in = rest.data;
    z->avail_in = (unsigned)(left < most ? left : most);
    z->next_out = to;
    z->avail_out = (unsigned)(space < most ? space : most);
    const unsigned offered = z->avail_out;
    const int code = inflate(z, Z_NO_FLUSH);
    *made = offered - z->avail_out;
    u->at = (size_t)(z->next_in - u->in.data);
    *done = code == Z_STREAM_END;
    if (code == Z_OK)
        return LADE_OK;
    if (code == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? LADE_OK : no_memory(u);
    if (code == Z_MEM_ERROR)
        return no_memory(u);
    return wrong(u, code == Z_BUF_ERROR ? "ends inside the compressed data"
                    : z->msg            ? z->msg
                                        : "the compressed data is damaged");
}

static int unpack_zlib(struct unpack *u)
{
    z_stream z = {.next_in = u->in.data};

    if (inflateInit2(&z, u->packing == LADE_GZIP ? 15 + 16 : -15) != Z_OK)
        return no_memory(u);
    u->decoder = &z;
    const int status = unpack_all(u, inflate_some);
    (void)inflateEnd(&z);
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
static int unpack_zlib(struct unpack *u)
{
    return no_codec(u, "zlib");
}

bool lade_zip_checks(struct lade_bytes b, uint32_t checksum)
{
    (void)b, (void)checksum;
    return true;
}
#endif

#if defined LADE_ZSTD
static int zstd_some(struct unpack *u, uint8_t *to, size_t space, size_t *made, bool *done)
{
    ZSTD_inBuffer in = {u->in.data, u->in.size, u->at};
    ZSTD_outBuffer out = {to, space, 0};
    const size_t code = ZSTD_decompressStream(u->decoder, &out, &in);
    const bool stuck = in.pos == u->at && out.pos == 0;

    u->at = in.pos;
    *made = out.pos;
    *done = code == 0;
    if (ZSTD_isError(code))
        return wrong(u, ZSTD_getErrorName(code));
    return code > 0 && stuck ? wrong(u, "ends inside the compressed data") : LADE_OK;
}

/* The library allocates at most a window of 2^27 bytes. */
static int unpack_zstd(struct unpack *u)
{
    u->decoder = ZSTD_createDStream();
    if (!u->decoder)
        return no_memory(u);
    const int status = unpack_all(u, zstd_some);
    (void)ZSTD_freeDStream(u->decoder);
    return status;
}
#else
static int unpack_zstd(struct unpack *u)
{
    return no_codec(u, "libzstd");
}
#endif

static int unpack(struct unpack *u)
{
    if (u->limit > SIZE_MAX / 4)
        u->limit = SIZE_MAX / 4;
    return u->packing == LADE_ZSTD_FRAMES ? unpack_zstd(u) : unpack_zlib(u);
}

int lade_unpack(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing, uint64_t limit,
                const struct lade_alloc *alloc, struct lade_error *error)
{
    struct unpack u = {
        .in = from, .packing = packing, .base = base, .limit = limit, .mapped = true, .alloc = alloc, .error = error};
    char *copy = lade_heap_text(alloc, from.name);

    *to = (struct lade_bytes){NULL, 0, NULL};
    int status = copy ? unpack(&u) : lade_fail(error, LADE_NO_MEMORY, from.name, LADE_NO_OFFSET, "out of memory");
    if (status == LADE_OK && mremap(u.data, u.space, u.size, 0) == MAP_FAILED)
        status = lade_fail(error, LADE_NO_MEMORY, from.name, LADE_NO_OFFSET, "out of memory");
    if (status == LADE_OK) {
        *to = (struct lade_bytes){u.data, u.size, copy};
        return LADE_OK;
    }
    if (u.data)
        (void)munmap(u.data, u.space);
    lade_heap_put(alloc, copy);
    return status;
}

int lade_unpack_value(struct lade_bytes *to, struct lade_bytes from, uint64_t base, enum lade_packing packing,
                      uint64_t limit, const struct lade_alloc *alloc, struct lade_error *error)
{
    struct unpack u = {.in = from, .packing = packing, .base = base, .limit = limit, .alloc = alloc, .error = error};
    const int status = unpack(&u);

    *to = (struct lade_bytes){u.data, u.size, from.name};
    if (status != LADE_OK) {
        lade_heap_put(alloc, u.data);
        *to = (struct lade_bytes){NULL, 0, NULL};
    }
    return status;
}

int lade_map_unpacked(struct lade_bytes *bytes, const char *path, uint64_t limit, const struct lade_alloc *alloc,
                      struct lade_error *error)
{
    struct lade_bytes file;
    int status = lade_map(&file, path, alloc, error);
    const enum lade_packing packing = status == LADE_OK ? lade_packing_of(file) : LADE_STORED;

    if (packing == LADE_STORED) {
        *bytes = file;
        return status;
    }
    status = lade_unpack(bytes, file, 0, packing, limit, alloc, error);
    lade_unmap(&file, alloc);
    return status;
}
