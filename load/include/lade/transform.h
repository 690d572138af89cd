/* SPDX-License-Identifier: MIT */
/*
 * transform: steps that change one sample: resize, crop, flip, normalise, cast, and functions of one's own.
 *
 * A pipeline is a list of steps. It is made for one form of sample and says which form comes out. Running it is a pure
 * function of the sample and of (seed, epoch, id): random numbers come from these three and the place of the step in the
 * list, from nothing else, so that the result is the same in any thread and at any time.
 *
 * When not to use it: for samples that are not images in bytes or single-precision numbers.
 *
 * Threads      once its steps are added, any number may run a pipeline at the same time, each with a scratch of its own.
 * Progress     wait-free, but for a function of one's own and the drawing of a crop's place, which repeats with a
 *              probability below 2^-31.
 * Memory       two numbers for each row and column of a resized image, while the pipeline lives; running allocates nothing.
 * Alignment    numbers of LADE_F32 lie at multiples of 4 bytes, in all buffers.
 * Errors       LADE_INVALID, LADE_NO_MEMORY; a step that was refused is not in the list.
 */
#ifndef LADE_TRANSFORM_H
#define LADE_TRANSFORM_H

#include <lade/api.h>
#include <lade/random.h>
#include <lade/source.h>
#include <lade/status.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

enum lade_layout {
    LADE_HWC, /* the channels of a pixel lie together */
    LADE_CHW, /* each channel is a picture of its own */
};

#define LADE_IMAGE_MAX 16384   /* height and width */
#define LADE_CHANNELS_MAX 1024 /* and no image has more than 2^31 bytes */

struct lade_image {
    enum lade_dtype dtype; /* LADE_U8 or LADE_F32 */
    enum lade_layout layout;
    uint32_t height, width, channels;
};

/* Bytes of such an image; 0 when it is outside the limits above. */
LADE_API size_t lade_image_bytes(const struct lade_image *image);

/* What the random numbers of a run depend on. */
struct lade_rng_context {
    uint64_t seed, epoch, id;
};

struct lade_pipeline;

/* A pipeline without steps, which copies. */
LADE_API LADE_MUST_CHECK int lade_pipeline_create(struct lade_pipeline **pipeline, const struct lade_image *input);

/* NULL is fine. */
LADE_API void lade_pipeline_destroy(struct lade_pipeline *pipeline);

/* The form that goes in. Valid as long as the pipeline. */
LADE_API const struct lade_image *lade_pipeline_input(const struct lade_pipeline *pipeline);

/* The form that comes out behind the steps so far. Valid until a step is added. */
LADE_API const struct lade_image *lade_pipeline_output(const struct lade_pipeline *pipeline);

/* Bytes of scratch that a run needs; may be 0. */
LADE_API size_t lade_pipeline_scratch(const struct lade_pipeline *pipeline);

/*
 * Bilinear, without smoothing before shrinking. The centre of pixel x of n lies at (x + 1/2) / n; places outside the
 * centres take the pixel at the edge. Places are rounded down to 1/2048 of a pixel. Bytes are computed in integers and
 * rounded to the nearest, halves up; LADE_F32 as a + (b - a) * w along the row, then down the column.
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_resize(struct lade_pipeline *pipeline, uint32_t height, uint32_t width);

/* The rectangle that begins at row top and column left; it lies inside the image. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop(struct lade_pipeline *pipeline, uint32_t top, uint32_t left,
                                                uint32_t height, uint32_t width);

/* As crop, with what is left over halved, the larger half below and right. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop_centre(struct lade_pipeline *pipeline, uint32_t height, uint32_t width);

/* Puts padding rows and columns of zeros around the image and takes a rectangle of it, each place equally likely. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop_random(struct lade_pipeline *pipeline, uint32_t padding,
                                                       uint32_t height, uint32_t width);

/* Left becomes right, with probability 1/2. */
LADE_API LADE_MUST_CHECK int lade_pipeline_flip(struct lade_pipeline *pipeline);

/*
 * To LADE_F32: x * a + b, where a = scale / deviation and b = -mean / deviation of the channel, computed in double and
 * rounded. One mean and deviation for each channel. For bytes and statistics in [0, 1] scale is 1 / 255.
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_normalise(struct lade_pipeline *pipeline, double scale, const double *mean,
                                                     const double *deviation);

/* x * scale in the other type; to LADE_U8 rounded to the nearest, halves up, cut to 0 .. 255, and 0 for what is no number. */
LADE_API LADE_MUST_CHECK int lade_pipeline_cast(struct lade_pipeline *pipeline, enum lade_dtype dtype, float scale);

LADE_API LADE_MUST_CHECK int lade_pipeline_layout(struct lade_pipeline *pipeline, enum lade_layout layout);

/*
 * A function of one's own, which gives an image of the form output. It is called by many threads. random stands at
 * numbers that only this step uses. A negative status ends the run, which returns it.
 */
typedef int lade_transform(void *context, const struct lade_image *input, const void *from,
                           const struct lade_image *output, void *to, struct lade_random *random);
LADE_API LADE_MUST_CHECK int lade_pipeline_call(struct lade_pipeline *pipeline, lade_transform *function, void *context,
                                                const struct lade_image *output);

/* All steps in order. The three buffers do not overlap. */
LADE_API LADE_MUST_CHECK int lade_pipeline_run(const struct lade_pipeline *pipeline, const struct lade_rng_context *rng,
                                               const void *from, void *to, void *scratch);

LADE_END

#endif
