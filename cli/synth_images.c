/* SPDX-License-Identifier: MIT */
/* lade synth images: a folder for each class, a file for each sample. */
#include "synth.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined LADE_JPEG && defined LADE_PNG
#include <spng.h>
#include <turbojpeg.h>

/* Samples have one plane per channel; images have the channels of a pixel together. */
static void interleave(const uint8_t *from, uint8_t *to, size_t pixels)
{
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < 3; c++)
            to[3 * p + c] = from[c * pixels + p];
}

static bool put_jpeg(struct synth *s, struct output *o, const uint8_t *pixels, uint32_t height, uint32_t width)
{
    tjhandle handle = tjInitCompress();
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    bool good = handle && tjCompress2(handle, pixels, (int)width, 0, (int)height, TJPF_RGB, &bytes, &size, TJSAMP_420,
                                      90, 0) == 0;

    good = good && synth_put(s, o, bytes, size);
    tjFree(bytes);
    if (handle)
        (void)tjDestroy(handle);
    return good;
}

static bool put_png(struct synth *s, struct output *o, const uint8_t *pixels, uint32_t height, uint32_t width)
{
    struct spng_ihdr header = {
        .width = width, .height = height, .bit_depth = 8, .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    void *bytes = NULL;
    size_t size = 0;
    int code = 0;

    /* A higher compression level does not make noise smaller. */
    if (context && spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1) == 0 &&
        spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 1) == 0 && spng_set_ihdr(context, &header) == 0 &&
        spng_encode_image(context, pixels, (size_t)3 * height * width, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) == 0)
        bytes = spng_get_png_buffer(context, &size, &code);
    bool good = bytes && synth_put(s, o, bytes, size);
    free(bytes);
    spng_ctx_free(context);
    return good;
}

static int put_image(struct synth *s, uint64_t i, int64_t label, const uint8_t *pixels)
{
    const struct lade_shape *shape = &s->info->shape;
    uint32_t height = (uint32_t)shape->dim[1], width = (uint32_t)shape->dim[2];
    struct output o;
    char name[64];

    (void)snprintf(name, sizeof name, "class-%05d/%010llu.%s", (int)label, (unsigned long long)i,
                   s->jpeg ? "jpg" : "png");
    int code = synth_begin(s, &o, name, true);
    if (code != EXIT_DONE)
        return code;
    bool good = s->jpeg ? put_jpeg(s, &o, pixels, height, width) : put_png(s, &o, pixels, height, width);
    if (!good)
        print_error("synth: %s: the image could not be made", o.path);
    return synth_end(&o, good ? EXIT_DONE : EXIT_TROUBLE);
}

/*
 * The first name in a folder that is not hidden and, if below is set, is a folder that is not empty. 1: found; 0: not
 * found; -1: the folder cannot be read, see errno.
 */
static int holds(const char *path, bool below, char *name, size_t size)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int found = 0;

    if (!folder)
        return errno == ENOTDIR ? 0 : -1;
    while (found == 0 && (errno = 0, entry = readdir(folder))) {
        char inside[4096], ignored[256];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, size, "%s", entry->d_name);
        if (!below)
            found = 1;
        else if (snprintf(inside, sizeof inside, "%s/%s", path, name) < (int)sizeof inside)
            found = holds(inside, false, ignored, sizeof ignored);
    }
    int error = errno;
    (void)closedir(folder);
    errno = error;
    return found == 0 && error ? -1 : found;
}

int write_images(struct synth *s)
{
    char other[256];
    const struct lade_shape *shape = &s->info->shape;
    int code = EXIT_DONE;
    int64_t label;

    if (shape->dims != 3 || shape->dim[0] != 3 || shape->dim[1] > 16384 || shape->dim[2] > 16384) {
        fputs("lade synth: images have the shape 3xHEIGHTxWIDTH, each up to 16384\n", stderr);
        return EXIT_USAGE;
    }
    /* Files that are there already would be read together with those written. */
    int used = holds(s->folder, true, other, sizeof other);
    if (used < 0) {
        print_error("synth: %s: %s", s->folder, strerror(errno));
        return EXIT_TROUBLE;
    }
    if (used) {
        print_error("synth: %s: its folder %s has files already, which would count as samples; choose an empty folder",
                    s->folder, other);
        return EXIT_USAGE;
    }
    uint8_t *pixels = malloc(s->info->bytes);
    for (uint64_t c = 0; c < s->info->classes && pixels; c++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/class-%05d", s->folder, (int)c) >= (int)sizeof path ||
            (mkdir(path, 0777) != 0 && errno != EEXIST)) {
            print_error("synth: %s: %s", path, strerror(errno));
            free(pixels);
            return EXIT_TROUBLE;
        }
        lade_file_clean(path);
    }
    for (uint64_t i = 0; i < s->info->count && pixels && code == EXIT_DONE; i++) {
        code = synth_read(s, i, &label);
        if (code != EXIT_DONE)
            break;
        interleave(s->sample, pixels, (size_t)(shape->dim[1] * shape->dim[2]));
        code = put_image(s, i, label, pixels);
    }
    if (!pixels)
        fputs("lade synth: out of memory\n", stderr);
    code = pixels ? code : EXIT_TROUBLE;
    free(pixels);
    synth_opens(s, "images:", "", "", "", "");
    return code;
}

#else

int write_images(struct synth *s)
{
    (void)s;
    fputs(
        "lade synth: this build writes no images: it was made without libturbojpeg and libspng; run tools/setup codecs "
        "and build again\n",
        stderr);
    return EXIT_USAGE;
}

#endif
