/* SPDX-License-Identifier: MIT */
/* JPEG by libturbojpeg and PNG by libspng, if they were found at build time. */
#include "heap.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

#if defined LADE_JPEG
#include <turbojpeg.h>
#endif
#if defined LADE_PNG
#include <spng.h>
#endif

bool lade_decode_offered(void)
{
#if defined LADE_JPEG || defined LADE_PNG
    return true;
#else
    return false;
#endif
}

#if defined LADE_JPEG || defined LADE_PNG
static int too_large(struct lade_bytes b, struct lade_picture p, uint64_t scans, struct lade_error *error)
{
    return lade_fail(
        error, LADE_LIMITED, b.name, LADE_NO_OFFSET,
        "%u x %u pixels in %llu passes are beyond the limit of %llu pixels (and %d passes of them); pixels=N "
        "raises it",
        p.height, p.width, (unsigned long long)scans, (unsigned long long)p.pixels_max, LADE_SCANS);
}

/* Memory is proportional to the pixels, time to the pixels decoded in all passes over the image. */
static bool is_too_large(struct lade_picture p, uint64_t scans)
{
    const uint64_t pixels = (uint64_t)p.height * p.width;

    return pixels > p.pixels_max || pixels * scans > p.pixels_max * LADE_SCANS;
}
#endif

#if defined LADE_JPEG
struct markers {
    uint64_t scans; /* passes over the image: one, or many if it is progressive */
    bool adobe;     /* its marker: CMYK is inverted */
};

/* Scans the segments of a JPEG, up to the first inconsistent one; the decoder checks them. */
static struct markers read_markers(struct lade_bytes b)
{
    struct markers m = {0, false};
    size_t at = 2;

    while (at + 4 <= b.size && b.data[at] == 0xff) {
        const uint8_t marker = b.data[at + 1];
        if (marker == 0xff) { /* fill byte */
            at++;
            continue;
        }
        if (marker == 0xd9)
            break;
        const size_t length = (size_t)b.data[at + 2] << 8 | b.data[at + 3];
        if (length < 2 || length > b.size - at - 2)
            break;
        m.adobe = m.adobe || (marker == 0xee && length >= 12 && memcmp(b.data + at + 4, "Adobe", 5) == 0);
        at += 2 + length;
        if (marker != 0xda)
            continue;
        m.scans++;
        /* Coded data ends at a marker that is neither a stuffed byte nor a restart. */
        while (at + 1 < b.size && !(b.data[at] == 0xff && b.data[at + 1] != 0 && (b.data[at + 1] & 0xf8) != 0xd0 &&
                                    b.data[at + 1] != 0xff))
            at++;
    }
    return m;
}

/* The library reports this only as text, not as a code. */
static int jpeg_failed(tjhandle handle, struct lade_bytes b, struct lade_error *error)
{
    const char *why = tjGetErrorStr2(handle);
    const bool memory = strstr(why, "emory") != NULL;

    return lade_fail(error, memory ? LADE_NO_MEMORY : LADE_DAMAGED, b.name, LADE_NO_OFFSET, "%s: %s",
                     memory ? "JPEG" : "damaged JPEG", why);
}

/* CMYK to RGB as on a white background, without a profile. */
static int cmyk(tjhandle handle, struct lade_picture p, struct lade_bytes b, bool inverted, uint8_t *to,
                const struct lade_alloc *alloc, struct lade_error *error)
{
    const size_t pixels = (size_t)p.height * p.width;
    uint8_t *ink = lade_heap_raw(alloc, pixels, 4);
    int status = LADE_OK;

    if (!ink)
        return lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory");
    if (tjDecompress2(handle, b.data, (unsigned long)b.size, ink, (int)p.width, 0, (int)p.height, TJPF_CMYK,
                      TJFLAG_STOPONWARNING) != 0)
        status = jpeg_failed(handle, b, error);
    for (size_t i = 0; status == LADE_OK && i < pixels; i++)
        for (size_t c = 0; c < 3; c++) {
            const unsigned paper = inverted ? ink[4 * i + c] : 255u - ink[4 * i + c];
            const unsigned light = inverted ? ink[4 * i + 3] : 255u - ink[4 * i + 3];
            to[3 * i + c] = (uint8_t)((paper * light + 127) / 255);
        }
    lade_heap_put(alloc, ink);
    return status;
}

/* Damage that the decoder would conceal is an error as well. */
static int jpeg(struct lade_picture *p, struct lade_bytes b, uint8_t *to, const struct lade_alloc *alloc,
                struct lade_error *error)
{
    int width = 0, height = 0, subsampling, space, status = LADE_OK;
    const struct markers markers = read_markers(b);
    tjhandle handle = tjInitDecompress();

    if (!handle)
        return lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory");
    bool good = tjDecompressHeader3(handle, b.data, (unsigned long)b.size, &width, &height, &subsampling, &space) == 0;
    const struct lade_picture is = {(uint32_t)height, (uint32_t)width, p->pixels_max};
    if (!good || width <= 0 || height <= 0)
        status = jpeg_failed(handle, b, error);
    else if (is_too_large(is, markers.scans))
        status = too_large(b, is, markers.scans, error);
    else if (to && (is.width != p->width || is.height != p->height))
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "the size of the image has changed");
    else if (to && (space == TJCS_CMYK || space == TJCS_YCCK))
        status = cmyk(handle, is, b, markers.adobe, to, alloc, error);
    else if (to && tjDecompress2(handle, b.data, (unsigned long)b.size, to, width, 0, height, TJPF_RGB,
                                 TJFLAG_STOPONWARNING) != 0)
        status = jpeg_failed(handle, b, error);
    if (status == LADE_OK)
        *p = is;
    (void)tjDestroy(handle);
    return status;
}
#else
static int jpeg(struct lade_picture *p, struct lade_bytes b, uint8_t *to, const struct lade_alloc *alloc,
                struct lade_error *error)
{
    (void)p, (void)to, (void)alloc;
    return lade_fail(
        error, LADE_INVALID, b.name, LADE_NO_OFFSET,
        "this build reads no JPEG: it was made without libturbojpeg; run tools/setup codecs and build again");
}
#endif

#if defined LADE_PNG
/* If zlib runs out of memory inside an image, libspng reports a damaged stream. */
static _Thread_local bool ran_out;

static void *noted(void *memory)
{
    ran_out = ran_out || !memory;
    return memory;
}

static void *png_malloc(size_t size)
{
    return noted(malloc(size));
}

static void *png_realloc(void *old, size_t size)
{
    return noted(realloc(old, size));
}

static void *png_calloc(size_t count, size_t size)
{
    return noted(calloc(count, size));
}

static int png_failed(int code, struct lade_bytes b, struct lade_error *error)
{
    return ran_out ? lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory")
                   : lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "damaged PNG: %s", spng_strerror(code));
}

static int png(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    static struct spng_alloc alloc = {png_malloc, png_realloc, png_calloc, free};
    struct spng_ihdr header;
    spng_ctx *context = spng_ctx_new2(&alloc, 0);
    int code, status = LADE_OK;

    ran_out = false;
    if (!context)
        return lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory");
    /* Chunks with texts and profiles are not needed; a hostile one must not use memory. */
    (void)spng_set_chunk_limits(context, 1 << 24, 1 << 24);
    code = spng_set_png_buffer(context, b.data, b.size);
    if (code == 0)
        code = spng_get_ihdr(context, &header);
    if (code != 0)
        status = png_failed(code, b, error);
    else if (is_too_large((struct lade_picture){header.height, header.width, p->pixels_max}, 1))
        status = too_large(b, (struct lade_picture){header.height, header.width, p->pixels_max}, 1, error);
    else if (to && (header.width != p->width || header.height != p->height))
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "the size of the image has changed");
    else if (to &&
             ((code = spng_decode_image(context, to, (size_t)3 * header.width * header.height, SPNG_FMT_RGB8, 0)) !=
                  0 ||
              (code = spng_decode_chunks(context)) != 0)) /* checks the last piece of the image, and reads to the end */
        status = png_failed(code, b, error);
    if (status == LADE_OK)
        *p = (struct lade_picture){header.height, header.width, p->pixels_max};
    spng_ctx_free(context);
    return status;
}
#else
static int png(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    (void)p, (void)to;
    return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET,
                     "this build reads no PNG: it was made without libspng; run tools/setup codecs and build again");
}
#endif

static int by_magic(struct lade_picture *p, struct lade_bytes b, uint8_t *to, const struct lade_alloc *alloc,
                    struct lade_error *error)
{
    static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    if (b.size >= 3 && b.data[0] == 0xff && b.data[1] == 0xd8 && b.data[2] == 0xff)
        return jpeg(p, b, to, alloc, error);
    if (b.size >= 8 && !memcmp(b.data, png_magic, 8))
        return png(p, b, to, error);
    return lade_fail(error, LADE_DAMAGED, b.name, 0, "is neither JPEG nor PNG: it begins with other bytes");
}

int lade_decode_size(struct lade_picture *picture, struct lade_bytes bytes, struct lade_error *error)
{
    return by_magic(picture, bytes, NULL, NULL, error);
}

int lade_decode(struct lade_picture picture, struct lade_bytes bytes, uint8_t *to, const struct lade_alloc *alloc,
                struct lade_error *error)
{
    return by_magic(&picture, bytes, to, alloc, error);
}
