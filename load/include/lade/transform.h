/* SPDX-License-Identifier: MIT */
/*
 * transform: steps that change one sample: resize, crop, flip, normalise, cast, and custom functions.
 *
 * A pipeline is a list of steps. It is created for one form of image, and each step determines the form of its output.
 * Running it is a pure function of the sample and of (seed, epoch, id). Random numbers depend only on these three and
 * on the position of the step in the list, so the result is the same in any thread and at any time.
 *
 * When not to use it: for samples that are not images in bytes or single-precision numbers.
 *
 * Threads      after its steps are added, any number of threads may run a pipeline concurrently, each with its own
 *              scratch.
 * Progress     wait-free, except for custom functions and for the position of a random crop, whose draw repeats with a
 *              probability below 2^-31.
 * Memory       two numbers for each row and column of a resized image, until destroy; running allocates nothing. All of
 *              it is from the alloc that create gets, which must stay valid until destroy.
 * Alignment    LADE_F32 numbers are aligned to 4 bytes, in all buffers.
 * Errors       each function that adds a step returns one of these; a rejected step is not in the list:
 *              LADE_OK
 *              LADE_INVALID    an argument out of range, or more than 32 steps.
 *              LADE_NO_MEMORY
 */
#ifndef LADE_TRANSFORM_H
#define LADE_TRANSFORM_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/error.h>
#include <lade/random.h>
#include <lade/source.h>
#include <lade/status.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

/* The order of the numbers of an image. */
enum lade_layout {
    LADE_HWC, /* the channels of a pixel are contiguous */
    LADE_CHW, /* each channel is a separate plane */
};

#define LADE_IMAGE_MAX 16384   /* height and width */
#define LADE_CHANNELS_MAX 1024 /* and no image has more than 2^31 bytes */

/* The form of an image. Frozen. */
struct lade_image {
    enum lade_dtype dtype;            /* LADE_U8 or LADE_F32 */
    enum lade_layout layout;          /* order of the numbers */
    uint32_t height, width, channels; /* up to LADE_IMAGE_MAX and LADE_CHANNELS_MAX */
};

/* Bytes of such an image; 0 if it is outside the limits above. */
LADE_API size_t lade_image_bytes(const struct lade_image *image);

/* What the random numbers of a run depend on. Frozen. */
struct lade_rng_context {
    uint64_t seed, epoch, id; /* of the run, and of the sample */
};

/* A list of steps. */
struct lade_pipeline;

/*
 * Creates a pipeline without steps, which copies. alloc may be NULL: the C library's.
 * LADE_OK
 * LADE_INVALID     an image outside the limits above.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_create(struct lade_pipeline **pipeline, const struct lade_image *input,
                                                  const struct lade_alloc *alloc);

/* NULL is allowed. */
LADE_API void lade_pipeline_destroy(struct lade_pipeline *pipeline);

/* The form of the input. Valid as long as the pipeline. */
LADE_API const struct lade_image *lade_pipeline_input(const struct lade_pipeline *pipeline);

/* The form of the output after the steps so far. Valid until a step is added. */
LADE_API const struct lade_image *lade_pipeline_output(const struct lade_pipeline *pipeline);

/* Bytes of scratch that a run needs; may be 0. */
LADE_API size_t lade_pipeline_scratch(const struct lade_pipeline *pipeline);

/*
 * Bilinear, without smoothing before shrinking. The centre of pixel x of n is at (x + 1/2) / n; positions outside the
 * centres take the pixel at the edge. Positions are rounded down to 1/2048 of a pixel. Bytes are computed in integers
 * and rounded to the nearest, halves up; LADE_F32 as a + (b - a) * w along the row, then down the column.
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_resize(struct lade_pipeline *pipeline, uint32_t height, uint32_t width);

/* The rectangle that begins at row top and column left; it must be inside the image. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop(struct lade_pipeline *pipeline, uint32_t top, uint32_t left,
                                                uint32_t height, uint32_t width);

/* As crop, centred. If a margin is odd, the larger half is below or on the right. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop_centre(struct lade_pipeline *pipeline, uint32_t height, uint32_t width);

/* Adds padding rows and columns of zeros on each side and takes a rectangle, each position with equal probability. */
LADE_API LADE_MUST_CHECK int lade_pipeline_crop_random(struct lade_pipeline *pipeline, uint32_t padding,
                                                       uint32_t height, uint32_t width);

/* Mirrors left and right, with probability 1/2. */
LADE_API LADE_MUST_CHECK int lade_pipeline_flip(struct lade_pipeline *pipeline);

/*
 * To LADE_F32: x * a + b, where a = scale / deviation and b = -mean / deviation of the channel, computed in double and
 * rounded. One mean and deviation for each channel. For bytes and statistics in [0, 1] scale is 1 / 255.
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_normalise(struct lade_pipeline *pipeline, double scale, const double *mean,
                                                     const double *deviation);

/* x * scale in the other type; to LADE_U8 rounded to the nearest, halves up, clamped to 0 .. 255, and 0 for NaN. */
LADE_API LADE_MUST_CHECK int lade_pipeline_cast(struct lade_pipeline *pipeline, enum lade_dtype dtype, float scale);

/* Changes the order of the numbers; their values stay. */
LADE_API LADE_MUST_CHECK int lade_pipeline_layout(struct lade_pipeline *pipeline, enum lade_layout layout);

/*
 * Adds a custom function, which produces an image of the form output. Many threads call it concurrently. random yields
 * numbers that only this step uses. A negative status ends the run, which returns it. error is never NULL: the function
 * may write the reason to error->text.
 */
typedef int lade_transform(void *context, const struct lade_image *input, const void *from,
                           const struct lade_image *output, void *to, struct lade_random *random,
                           struct lade_error *error);
LADE_API LADE_MUST_CHECK int lade_pipeline_call(struct lade_pipeline *pipeline, lade_transform *function, void *context,
                                                const struct lade_image *output);

/*
 * Runs all steps in order. The three buffers must not overlap. error may be NULL.
 * LADE_OK
 * else             the negative status of a custom function.
 */
LADE_API LADE_MUST_CHECK int lade_pipeline_run(const struct lade_pipeline *pipeline, const struct lade_rng_context *rng,
                                               const void *from, void *to, void *scratch, struct lade_error *error);

LADE_END

#endif
