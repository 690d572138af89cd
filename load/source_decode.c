/* SPDX-License-Identifier: MIT */
/* JPEG by libturbojpeg and PNG by libspng, where they were found when the library was built. */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#if defined LADE_JPEG
#include <turbojpeg.h>
#endif
#if defined LADE_PNG
#include <spng.h>
#endif

#define PIXELS_MAX (UINT64_C(1) << 28)

bool lade_decode_offered(void)
{
#if defined LADE_JPEG || defined LADE_PNG
    return true;
#else
    return false;
#endif
}

#if defined LADE_JPEG || defined LADE_PNG
static int too_large(struct lade_bytes b, uint64_t height, uint64_t width, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET,
                     "an image of %llu x %llu pixels; at most 2^28 pixels are read", (unsigned long long)height,
                     (unsigned long long)width);
}
#endif

#if defined LADE_JPEG
/* Damage that the decoder would paper over is an error as well. */
static int jpeg(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    int width = 0, height = 0, subsampling, space, status = LADE_OK;
    tjhandle handle = tjInitDecompress();

    if (!handle)
        return lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory");
    if (tjDecompressHeader3(handle, b.data, (unsigned long)b.size, &width, &height, &subsampling, &space) != 0 ||
        width <= 0 || height <= 0)
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "damaged JPEG: %s", tjGetErrorStr2(handle));
    else if ((uint64_t)width * (uint64_t)height > PIXELS_MAX)
        status = too_large(b, (uint64_t)height, (uint64_t)width, error);
    else if (to && ((uint32_t)width != p->width || (uint32_t)height != p->height))
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "the size of the image has changed");
    else if (to && tjDecompress2(handle, b.data, (unsigned long)b.size, to, width, 0, height, TJPF_RGB,
                                 TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0)
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "damaged JPEG: %s", tjGetErrorStr2(handle));
    if (status == LADE_OK)
        *p = (struct lade_picture){(uint32_t)height, (uint32_t)width};
    (void)tjDestroy(handle);
    return status;
}
#else
static int jpeg(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    (void)p, (void)to;
    return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET,
                     "this build reads no JPEG: libturbojpeg was not there");
}
#endif

#if defined LADE_PNG
static int png(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    struct spng_ihdr header;
    spng_ctx *context = spng_ctx_new(0);
    int code, status = LADE_OK;

    if (!context)
        return lade_fail(error, LADE_NO_MEMORY, b.name, LADE_NO_OFFSET, "out of memory");
    /* Chunks with texts and profiles are no use here; a hostile one must not take memory. */
    (void)spng_set_chunk_limits(context, 1 << 24, 1 << 24);
    code = spng_set_png_buffer(context, b.data, b.size);
    if (code == 0)
        code = spng_get_ihdr(context, &header);
    if (code != 0)
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "damaged PNG: %s", spng_strerror(code));
    else if ((uint64_t)header.width * header.height > PIXELS_MAX)
        status = too_large(b, header.height, header.width, error);
    else if (to && (header.width != p->width || header.height != p->height))
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "the size of the image has changed");
    else if (to &&
             (code = spng_decode_image(context, to, (size_t)3 * header.width * header.height, SPNG_FMT_RGB8, 0)) != 0)
        status = lade_fail(error, LADE_DAMAGED, b.name, LADE_NO_OFFSET, "damaged PNG: %s", spng_strerror(code));
    if (status == LADE_OK)
        *p = (struct lade_picture){header.height, header.width};
    spng_ctx_free(context);
    return status;
}
#else
static int png(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    (void)p, (void)to;
    return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "this build reads no PNG: libspng was not there");
}
#endif

static int by_magic(struct lade_picture *p, struct lade_bytes b, uint8_t *to, struct lade_error *error)
{
    static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    if (b.size >= 3 && b.data[0] == 0xff && b.data[1] == 0xd8 && b.data[2] == 0xff)
        return jpeg(p, b, to, error);
    if (b.size >= 8 && !memcmp(b.data, png_magic, 8))
        return png(p, b, to, error);
    return lade_fail(error, LADE_DAMAGED, b.name, 0, "is neither JPEG nor PNG: it begins with other bytes");
}

int lade_decode_size(struct lade_picture *picture, struct lade_bytes bytes, struct lade_error *error)
{
    return by_magic(picture, bytes, NULL, error);
}

int lade_decode(struct lade_picture picture, struct lade_bytes bytes, uint8_t *to, struct lade_error *error)
{
    return by_magic(&picture, bytes, to, error);
}
