/* SPDX-License-Identifier: MIT */
/* The formats of lade synth, except images. */
#include "synth.h"

#include <string.h>

static int unfit(const char *why)
{
    print_error("synth: %s", why);
    return EXIT_USAGE;
}

void synth_opens(struct synth *s, const char *kind, const char *first, const char *between, const char *second,
                 const char *rest)
{
    size_t used = 0;
    const char *const pieces[] = {kind, NULL, first, between, *second ? NULL : "", second, rest};

    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
        for (const char *at = pieces[p] ? pieces[p] : s->folder; *at && used + 2 < sizeof s->opens; at++) {
            if (!pieces[p] && (*at == ',' || *at == '\\'))
                s->opens[used++] = '\\';
            s->opens[used++] = *at;
        }
    s->opens[used] = 0;
}

/* Low byte first, or high byte first. */
static void integer(uint8_t *to, uint64_t value, unsigned width, bool big)
{
    for (unsigned b = 0; b < width; b++)
        to[b] = (uint8_t)(value >> 8 * (big ? width - 1 - b : b));
}

/* Writes samples first to last - 1, each after its label of label_width bytes. */
static int put_samples(struct synth *s, struct output *o, uint64_t first, uint64_t last, unsigned label_width)
{
    uint8_t bytes[8];
    int64_t label;

    for (uint64_t i = first; i < last; i++) {
        int code = synth_read(s, i, &label);
        if (code != EXIT_DONE)
            return code;
        integer(bytes, (uint64_t)label, label_width, false);
        if (!synth_put(s, o, bytes, label_width) || !synth_put(s, o, s->sample, s->info->bytes))
            break; /* output_end() reports it */
    }
    return EXIT_DONE;
}

static int put_labels(struct synth *s, struct output *o, unsigned width, bool big)
{
    uint8_t bytes[8];

    for (uint64_t i = 0; i < s->info->count; i++) {
        struct lade_error error;
        int64_t label;
        if (lade_source_label(s->source, i, &label, &error) != LADE_OK)
            return source_trouble("synth", &error);
        integer(bytes, (uint64_t)label, width, big);
        if (!synth_put(s, o, bytes, width))
            break;
    }
    return EXIT_DONE;
}

/* One file: a header, then the samples or the labels. */
static int put_file(struct synth *s, const char *name, const void *header, size_t size, unsigned label_width,
                    bool labels, bool big)
{
    struct output o;
    int code = synth_begin(s, &o, name, false);

    if (code != EXIT_DONE)
        return code;
    (void)synth_put(s, &o, header, size);
    code = labels ? put_labels(s, &o, label_width, big) : put_samples(s, &o, 0, s->info->count, label_width);
    return synth_end(&o, code);
}

int write_cifar10(struct synth *s)
{
    const struct lade_shape *shape = &s->info->shape;
    struct output o;
    int code = EXIT_DONE;

    if (shape->dims != 3 || shape->dim[0] != 3 || shape->dim[1] != 32 || shape->dim[2] != 32 || s->info->classes > 10 ||
        s->info->count < 5)
        return unfit("cifar10 has the shape 3x32x32, at most 10 classes and at least 5 samples");
    for (uint64_t f = 0; f < 5 && code == EXIT_DONE; f++) {
        char name[32];
        (void)snprintf(name, sizeof name, "data_batch_%d.bin", (int)f + 1);
        code = synth_begin(s, &o, name, false);
        if (code != EXIT_DONE)
            break;
        code = synth_end(&o, put_samples(s, &o, s->info->count * f / 5, s->info->count * (f + 1) / 5, 1));
    }
    if (code == EXIT_DONE)
        code = synth_begin(s, &o, "batches.meta.txt", false);
    if (code != EXIT_DONE)
        return code;
    for (int c = 0; c < 10; c++)
        s->bytes += (uint64_t)fprintf(o.to, "class-%d\n", c);
    synth_opens(s, "cifar10:", "", "", "", "");
    return synth_end(&o, EXIT_DONE);
}

int write_idx(struct synth *s)
{
    const struct lade_shape *shape = &s->info->shape;
    uint8_t header[4 + 4 * (LADE_DIMS_MAX + 1)] = {0, 0, 8, (uint8_t)(shape->dims + 1)};
    uint8_t labels[8] = {0, 0, 8, 1};
    unsigned width = 1;
    bool fits = s->info->count <= UINT32_MAX && shape->dims < LADE_DIMS_MAX;

    integer(header + 4, s->info->count, 4, true);
    for (unsigned d = 0; d < shape->dims; d++) {
        fits = fits && shape->dim[d] <= UINT32_MAX;
        integer(header + 8 + 4 * d, shape->dim[d], 4, true);
    }
    if (!fits)
        return unfit("idx holds up to 2^32 samples of up to 31 dimensions");
    if (s->info->classes > 256) {
        labels[2] = 0xc;
        width = 4;
    }
    integer(labels + 4, s->info->count, 4, true);
    int code = put_file(s, "samples.idx", header, 8 + 4 * (size_t)shape->dims, 0, false, true);
    if (code == EXIT_DONE)
        code = put_file(s, "labels.idx", labels, sizeof labels, width, true, true);
    synth_opens(s, "idx:", "/samples.idx", ",", "/labels.idx", "");
    return code;
}

/* A header of version 1.0, padded so that the elements begin at a multiple of 64; returns its length. */
static size_t npy_header(uint8_t to[2048], const char *type, uint64_t count, const struct lade_shape *shape)
{
    char *text = (char *)to + 10;
    size_t room = 2048 - 10;
    int used = snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,", type,
                        (unsigned long long)count);

    for (unsigned d = 0; shape && d < shape->dims; d++)
        used += snprintf(text + used, room - (size_t)used, " %llu,", (unsigned long long)shape->dim[d]);
    used += snprintf(text + used, room - (size_t)used, "), }");
    size_t size = (10 + (size_t)used + 1 + 63) / 64 * 64;
    memset(text + used, ' ', size - 10 - (size_t)used);
    to[size - 1] = '\n';
    memcpy(to, "\x93NUMPY\1", 8);
    integer(to + 8, size - 10, 2, false);
    return size;
}

int write_npy(struct synth *s)
{
    uint8_t header[2048];

    if (s->info->shape.dims == LADE_DIMS_MAX)
        return unfit("npy holds samples of up to 31 dimensions");
    size_t size = npy_header(header, "|u1", s->info->count, &s->info->shape);
    int code = put_file(s, "samples.npy", header, size, 0, false, false);
    size = npy_header(header, "<i8", s->info->count, NULL);
    if (code == EXIT_DONE)
        code = put_file(s, "labels.npy", header, size, 8, true, false);
    synth_opens(s, "npy:", "/samples.npy", ",labels=", "/labels.npy", "");
    return code;
}

int write_records(struct synth *s)
{
    const struct lade_shape *shape = &s->info->shape;
    unsigned width = s->info->classes > 256 ? 4 : 1;
    char rest[1024];
    int used = snprintf(rest, sizeof rest,
                        ",size=%llu,label=0:%u,classes=%llu,shape=", (unsigned long long)s->info->bytes + width, width,
                        (unsigned long long)s->info->classes);

    for (unsigned d = 0; d < shape->dims; d++)
        used += snprintf(rest + used, sizeof rest - (size_t)used, "%s%llu", d ? "x" : "",
                         (unsigned long long)shape->dim[d]);
    synth_opens(s, "records:", "/samples.bin", "", "", rest);
    return put_file(s, "samples.bin", "", 0, width, false, false);
}
