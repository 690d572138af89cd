/* SPDX-License-Identifier: MIT */
#include "transform.h"

#include "fail.h"
#include "heap.h"

#include <string.h>

enum { STEPS_MAX = 32, PURPOSE = 0x74726e31 }; /* "trn1" */

enum work { RESIZE, CROP, CROP_RANDOM, FLIP, NORMALISE, CAST, LAYOUT, CALL };

struct step {
    enum work work;
    struct lade_image input, output;
    union {
        struct {
            uint32_t top, left;
        } crop;
        uint32_t padding;
        float scale;
        struct {
            lade_transform *function;
            void *context;
        } call;
    } u;
    void *table; /* taps of rows, then of columns; or factors, then summands, of the channels */
};

struct lade_pipeline {
    const struct lade_alloc *alloc; /* NULL: the C library's */
    struct lade_image input, output;
    size_t largest; /* bytes of the largest image between two steps */
    unsigned steps;
    struct step step[STEPS_MAX];
};

size_t lade_image_bytes(const struct lade_image *i)
{
    uint64_t size = i->dtype == LADE_U8 ? 1 : i->dtype == LADE_F32 ? 4 : 0;

    if (i->height == 0 || i->width == 0 || i->channels == 0 || i->height > LADE_IMAGE_MAX ||
        i->width > LADE_IMAGE_MAX || i->channels > LADE_CHANNELS_MAX ||
        (i->layout != LADE_HWC && i->layout != LADE_CHW))
        return 0;
    size *= (uint64_t)i->height * i->width * i->channels;
    return size > UINT64_C(1) << 31 ? 0 : (size_t)size;
}

int lade_pipeline_create(struct lade_pipeline **pipeline, const struct lade_image *input,
                         const struct lade_alloc *alloc)
{
    *pipeline = NULL;
    if (lade_image_bytes(input) == 0)
        return LADE_INVALID;
    struct lade_pipeline *p = lade_heap_get(alloc, 1, sizeof *p);
    if (!p)
        return LADE_NO_MEMORY;
    p->alloc = alloc;
    p->input = p->output = *input;
    *pipeline = p;
    return LADE_OK;
}

void lade_pipeline_destroy(struct lade_pipeline *p)
{
    if (!p)
        return;
    for (unsigned s = 0; s < p->steps; s++)
        lade_heap_put(p->alloc, p->step[s].table);
    lade_heap_put(p->alloc, p);
}

const struct lade_image *lade_pipeline_input(const struct lade_pipeline *pipeline)
{
    return &pipeline->input;
}

const struct lade_image *lade_pipeline_output(const struct lade_pipeline *p)
{
    return &p->output;
}

static size_t apart(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Two buffers that the steps in between use alternately. */
size_t lade_pipeline_scratch(const struct lade_pipeline *p)
{
    return p->steps < 2 ? 0 : (p->steps < 3 ? 1 : 2) * apart(p->largest);
}

/* Adds a step whose fields are complete; its table is freed if it is rejected. */
static int add(struct lade_pipeline *p, struct step *step)
{
    size_t bytes = lade_image_bytes(&step->output), between = lade_image_bytes(&p->output);

    step->input = p->output;
    if (bytes == 0 || p->steps == STEPS_MAX) {
        lade_heap_put(p->alloc, step->table);
        return LADE_INVALID;
    }
    if (p->steps > 0 && between > p->largest)
        p->largest = between;
    p->output = step->output;
    p->step[p->steps++] = *step;
    return LADE_OK;
}

int lade_pipeline_resize(struct lade_pipeline *p, uint32_t height, uint32_t width)
{
    struct step step = {.work = RESIZE, .output = p->output};

    step.output.height = height;
    step.output.width = width;
    if (lade_image_bytes(&step.output) == 0)
        return LADE_INVALID;
    struct lade_tap *taps = lade_heap_get(p->alloc, (size_t)height + width, sizeof *taps);
    if (!taps)
        return LADE_NO_MEMORY;
    lade_taps(taps, p->output.height, height);
    lade_taps(taps + height, p->output.width, width);
    step.table = taps;
    return add(p, &step);
}

int lade_pipeline_crop(struct lade_pipeline *p, uint32_t top, uint32_t left, uint32_t height, uint32_t width)
{
    struct step step = {.work = CROP, .output = p->output, .u.crop = {top, left}};

    if ((uint64_t)top + height > p->output.height || (uint64_t)left + width > p->output.width)
        return LADE_INVALID;
    step.output.height = height;
    step.output.width = width;
    return add(p, &step);
}

int lade_pipeline_crop_centre(struct lade_pipeline *p, uint32_t height, uint32_t width)
{
    if (height > p->output.height || width > p->output.width)
        return LADE_INVALID;
    return lade_pipeline_crop(p, (p->output.height - height) / 2, (p->output.width - width) / 2, height, width);
}

int lade_pipeline_crop_random(struct lade_pipeline *p, uint32_t padding, uint32_t height, uint32_t width)
{
    struct step step = {.work = CROP_RANDOM, .output = p->output, .u.padding = padding};
    uint64_t around = (uint64_t)2 * padding;

    if (padding > LADE_IMAGE_MAX || height > p->output.height + around || width > p->output.width + around)
        return LADE_INVALID;
    step.output.height = height;
    step.output.width = width;
    return add(p, &step);
}

int lade_pipeline_flip(struct lade_pipeline *p)
{
    struct step step = {.work = FLIP, .output = p->output};

    return add(p, &step);
}

int lade_pipeline_normalise(struct lade_pipeline *p, double scale, const double *mean, const double *deviation)
{
    struct step step = {.work = NORMALISE, .output = p->output};
    uint32_t channels = p->output.channels;

    for (uint32_t c = 0; c < channels; c++)
        if (!(deviation[c] > 0))
            return LADE_INVALID;
    float *table = lade_heap_get(p->alloc, channels, 2 * sizeof *table);
    if (!table)
        return LADE_NO_MEMORY;
    for (uint32_t c = 0; c < channels; c++) {
        table[c] = (float)(scale / deviation[c]);
        table[channels + c] = (float)(-mean[c] / deviation[c]);
    }
    step.output.dtype = LADE_F32;
    step.table = table;
    return add(p, &step);
}

int lade_pipeline_cast(struct lade_pipeline *p, enum lade_dtype dtype, float scale)
{
    struct step step = {.work = CAST, .output = p->output, .u.scale = scale};

    step.output.dtype = dtype;
    return add(p, &step);
}

int lade_pipeline_layout(struct lade_pipeline *p, enum lade_layout layout)
{
    struct step step = {.work = LAYOUT, .output = p->output};

    step.output.layout = layout;
    return add(p, &step);
}

int lade_pipeline_call(struct lade_pipeline *p, lade_transform *function, void *context,
                       const struct lade_image *output)
{
    struct step step = {.work = CALL, .output = *output, .u.call = {function, context}};

    return function ? add(p, &step) : LADE_INVALID;
}

/* Each step has its own 2^20 words of the sample's stream. */
struct words {
    struct lade_key key;
    uint64_t id, position;
};

static uint64_t below(struct words *w, uint64_t n)
{
    uint64_t low, high;

    do
        high = lade_multiply(lade_random_at(w->key, w->id, w->position++), n, &low);
    while (low < (0 - n) % n);
    return high;
}

static int run_call(const struct step *s, const struct words *w, const void *from, void *to, struct lade_error *error)
{
    struct lade_random random;
    struct lade_error reason = {.offset = LADE_NO_OFFSET};

    lade_random_init(&random, w->key, w->id);
    lade_random_seek(&random, w->position);
    int status = s->u.call.function(s->u.call.context, &s->input, from, &s->output, to, &random, &reason);
    if (status >= 0)
        return LADE_OK;
    return lade_fail(error, status, NULL, LADE_NO_OFFSET, "a transform failed: %s",
                     reason.text[0] ? reason.text : lade_status_text(status));
}

static int run_step(const struct step *s, struct words *w, const void *from, void *to, struct lade_error *error)
{
    const struct lade_image *in = &s->input, *out = &s->output;
    const struct lade_tap *taps = s->table;
    const float *factors = s->table;

    switch (s->work) {
    case RESIZE:
        lade_resize(in, from, out->height, taps, out->width, taps + out->height, to);
        break;
    case CROP:
        lade_window(in, from, s->u.crop.top, s->u.crop.left, out->height, out->width, to);
        break;
    case CROP_RANDOM: {
        int64_t padding = s->u.padding;
        int64_t top = (int64_t)below(w, (uint64_t)(in->height + 2 * padding - out->height + 1)) - padding;
        int64_t left = (int64_t)below(w, (uint64_t)(in->width + 2 * padding - out->width + 1)) - padding;
        lade_window(in, from, top, left, out->height, out->width, to);
        break;
    }
    case FLIP:
        if (below(w, 2))
            lade_mirror(in, from, to);
        else
            memcpy(to, from, lade_image_bytes(in));
        break;
    case NORMALISE:
        lade_normalise(in, from, factors, factors + in->channels, to);
        break;
    case CAST:
        lade_cast((size_t)in->height * in->width * in->channels, in->dtype, from, out->dtype, s->u.scale, to);
        break;
    case LAYOUT:
        if (in->layout == out->layout)
            memcpy(to, from, lade_image_bytes(in));
        else
            lade_layout_change(in, from, to);
        break;
    case CALL:
        return run_call(s, w, from, to, error);
    }
    return LADE_OK;
}

int lade_pipeline_run(const struct lade_pipeline *p, const struct lade_rng_context *rng, const void *from, void *to,
                      void *scratch, struct lade_error *error)
{
    struct words w = {lade_key_make(rng->seed, rng->epoch, PURPOSE), rng->id, 0};
    unsigned char *half[2] = {scratch, NULL};

    if (p->steps == 0)
        memcpy(to, from, lade_image_bytes(&p->input));
    if (p->steps > 2)
        half[1] = half[0] + apart(p->largest);
    for (unsigned s = 0; s < p->steps; s++) {
        void *next = s + 1 == p->steps ? to : half[s % 2];
        w.position = (uint64_t)s << 20;
        int status = run_step(&p->step[s], &w, from, next, error);
        if (status != LADE_OK)
            return status;
        from = next;
    }
    return LADE_OK;
}
