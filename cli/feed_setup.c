/* SPDX-License-Identifier: MIT */
/* Source, split and transforms of lade feed, and the samples per class and part. */
#include "feed.h"

#include "lade.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* Sources up to this size are scanned before the run, to count classes and parts and to check each arrival. */
static const uint64_t check_max = 100000000;

int feed_trouble(const struct lade_error *error)
{
    print_error("feed: %s", *error->text ? error->text : lade_status_text(error->status));
    switch (error->status) {
    case LADE_INVALID:
    case LADE_CONFLICT: /* a state of another source, seed or order */
    case LADE_EMPTY:    /* a part without samples */
        return EXIT_USAGE;
    case LADE_DAMAGED:
    case LADE_LIMITED: /* more faults than allowed */
    case LADE_ABSENT:  /* a sample that is not in the table */
        return EXIT_WRONG;
    default:
        return EXIT_TROUBLE;
    }
}

static int wrong(const char *why)
{
    print_error("feed: %s", why);
    return EXIT_USAGE;
}

static int system_trouble(const char *what, const char *why)
{
    print_error("feed: %s: %s", what, why);
    return EXIT_TROUBLE;
}

/* The image form of a shape, if it has one: with three dimensions, channels are 1, 3 or 4. */
static bool image_of(const struct lade_shape *shape, struct lade_image *image)
{
    const uint64_t *d = shape->dim;

    if ((shape->dtype != LADE_U8 && shape->dtype != LADE_F32) || shape->dims < 2 || shape->dims > 3)
        return false;
    for (unsigned i = 0; i < shape->dims; i++)
        if (d[i] > LADE_IMAGE_MAX)
            return false;
    *image = (struct lade_image){shape->dtype, LADE_CHW, (uint32_t)d[0], (uint32_t)d[1], 1};
    if (shape->dims == 2)
        return true;
    if (d[2] == 1 || d[2] == 3 || d[2] == 4) {
        *image = (struct lade_image){shape->dtype, LADE_HWC, (uint32_t)d[0], (uint32_t)d[1], (uint32_t)d[2]};
        return true;
    }
    *image = (struct lade_image){shape->dtype, LADE_CHW, (uint32_t)d[1], (uint32_t)d[2], (uint32_t)d[0]};
    return d[0] == 1 || d[0] == 3 || d[0] == 4;
}

static int add_normalise(struct lade_pipeline *p, const struct feed_transforms *t)
{
    const struct lade_image *image = lade_pipeline_output(p);
    double mean[LADE_CHANNELS_MAX], deviation[LADE_CHANNELS_MAX];

    if ((t->means > 1 && t->means != image->channels) || (t->deviations > 1 && t->deviations != image->channels))
        return LADE_INVALID;
    for (uint32_t c = 0; c < image->channels; c++) {
        mean[c] = t->means == 0 ? 0.5 : t->mean[t->means > 1 ? c : 0];
        deviation[c] = t->deviations == 0 ? 0.25 : t->deviation[t->deviations > 1 ? c : 0];
    }
    return lade_pipeline_normalise(p, image->dtype == LADE_U8 ? 1.0 / 255 : 1, mean, deviation);
}

/* Adds the steps in order. Without chance, random steps are left out, for the samples of a test. */
static const char *add_steps(struct lade_pipeline *p, const struct feed_transforms *t, bool chance)
{
    if (t->resize_height && lade_pipeline_resize(p, (uint32_t)t->resize_height, (uint32_t)t->resize_width) != LADE_OK)
        return "--resize: this size is out of range";
    if (t->crop_height && lade_pipeline_crop_centre(p, (uint32_t)t->crop_height, (uint32_t)t->crop_width) != LADE_OK)
        return "--crop: the rectangle is larger than the image";
    const struct lade_image now = *lade_pipeline_output(p);
    if (chance && t->crop_random &&
        lade_pipeline_crop_random(p, (uint32_t)t->padding, now.height, now.width) != LADE_OK)
        return "--crop-random: the padding is too large";
    if (chance && t->flip && lade_pipeline_flip(p) != LADE_OK)
        return "--flip: the step cannot be added to the transforms";
    if (t->normalise && add_normalise(p, t) != LADE_OK)
        return "--mean and --deviation take one number, or one for each channel, and no deviation may be zero";
    if (t->layout >= 0 && lade_pipeline_layout(p, (enum lade_layout)t->layout) != LADE_OK)
        return "--layout: the step cannot be added to the transforms";
    return NULL;
}

static int open_pipelines(struct feed *f)
{
    const struct feed_transforms *t = &f->o.transforms;
    struct lade_image form;

    f->shape = f->info->shape;
    if (!t->resize_height && !t->crop_height && !t->crop_random && !t->flip && !t->normalise && t->layout < 0)
        return EXIT_DONE;
    if (!image_of(&f->info->shape, &form))
        return wrong(
            "transforms need images: u8 or f32 with 2 dimensions, or 3 of which the first or last is 1, 3 or 4");
    if (lade_pipeline_create(&f->pipeline, &form, NULL) != LADE_OK ||
        lade_pipeline_create(&f->test_pipeline, &form, NULL) != LADE_OK)
        return system_trouble("transforms", "out of memory, or the images are too large");
    const char *why = add_steps(f->pipeline, t, true);
    if (!why)
        why = add_steps(f->test_pipeline, t, false);
    if (why)
        return wrong(why);
    const struct lade_image *out = lade_pipeline_output(f->pipeline);
    const bool chw = out->layout == LADE_CHW;
    f->shape = (struct lade_shape){
        out->dtype,
        3,
        {chw ? out->channels : out->height, chw ? out->height : out->width, chw ? out->width : out->channels}};
    return EXIT_DONE;
}

/* Splits the source as the options ask, and finds the part to feed. */
static int open_parts(struct feed *f)
{
    struct parts p = {.command = "feed",
                      .source = f->source,
                      .table = f->o.table,
                      .part_name = f->o.part_name,
                      .memory = f->o.memory,
                      .seed = f->o.split_seed,
                      .parts = f->o.parts,
                      .ended = feed_signal};

    memcpy(p.weight, f->o.weight, sizeof p.weight);
    const int code = parts_open(&p);
    f->split = p.split;
    f->parts = p.parts;
    f->o.part = p.part;
    memcpy(f->weight, p.weight, sizeof f->weight);
    return code;
}

/* The first ragged field, or LADE_NO_FIELD. */
static int first_ragged(const struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);

    for (unsigned i = 0; i < schema->fields; i++)
        if (schema->field[i].ragged_max > 0)
            return (int)i;
    return LADE_NO_FIELD;
}

int feed_open(struct feed *f)
{
    if (f->o.mixes > 0) {
        const int mixed = feed_mix_open(f);
        if (mixed != EXIT_DONE)
            return mixed;
    } else if (lade_source_open(&f->source, f->o.source, NULL, &f->error) != LADE_OK) {
        return feed_trouble(&f->error);
    }
    f->info = lade_source_info(f->source);
    f->classes = f->info->classes ? (unsigned)f->info->classes : 1;
    if (f->info->count == LADE_ENDLESS && f->o.stream == 0)
        return wrong("an endless source needs --stream N, which shuffles through a buffer of N samples");
    f->sequence = first_ragged(f->source);
    if (f->o.pack && f->sequence == LADE_NO_FIELD)
        return wrong("--pack needs a source with a ragged field; lade inspect shows the fields");
    int code = open_pipelines(f);
    return code == EXIT_DONE ? open_parts(f) : code;
}

/* Whether packing drops the sample. */
static bool is_dropped(struct feed *f, uint64_t i)
{
    uint64_t length;

    return f->o.pack && f->o.pack_longer == LADE_LONGER_DROP &&
           lade_source_length(f->source, i, (unsigned)f->sequence, &length, NULL) == LADE_OK && length > f->o.pack;
}

/* Counts one sample, and marks it if it is in the part that is fed. */
static void classify(struct feed *f, uint64_t i)
{
    unsigned part = 0;
    int64_t label = 0;
    struct lade_error error;

    if (f->split && lade_split_route_word(f->split, lade_source_group(f->source, i), &part) != LADE_OK)
        return; /* in no part */
    if (f->tally.on && part == f->o.part && !is_dropped(f, i))
        tally_member(&f->tally, i);
    /* The loader handles a sample that cannot be read. */
    if (f->info->classes == 0 || lade_source_label(f->source, i, &label, &error) == LADE_OK) {
        f->count[(size_t)label * f->parts + part]++;
        f->size[part]++;
        f->classified++;
    }
}

int feed_classify(struct feed *f)
{
    const uint64_t count = f->info->count;

    f->drawn = calloc(f->classes, sizeof *f->drawn);
    if (!f->drawn)
        return system_trouble("classes", "out of memory");
    if (f->o.check == 0 || count == LADE_ENDLESS || (f->o.check < 0 && count > check_max))
        return EXIT_DONE;
    f->count = calloc((size_t)f->classes * f->parts, sizeof *f->count);
    if (!f->count || !tally_create(&f->tally, count))
        return system_trouble("--check", "out of memory");
    for (uint64_t i = 0; i < count && !feed_signal(); i++) {
        classify(f, i);
        if (i % 256 == 0)
            progress_line("classes", "samples", i, count);
    }
    progress_line("classes", "samples", 1, 1);
    return EXIT_DONE;
}

void feed_close(struct feed *f)
{
    if (f->consumer)
        f->consumer->close(f->consumer_self);
    tally_free(&f->tally);
    free(f->count);
    free(f->drawn);
    lade_split_destroy(f->split);
    lade_pipeline_destroy(f->pipeline);
    lade_pipeline_destroy(f->test_pipeline);
    lade_source_close(f->source);
}
