/* SPDX-License-Identifier: MIT */
/*
 * convert: images from bytes, with the channels of a pixel contiguous, to normalised numbers, one plane per channel.
 *
 * Only bytes cross the bus, a quarter of the size of single-precision numbers. The device converts them with the source
 * text that these functions are compiled from (gpu/convert.inc), see lade_converter_run(). The result equals that of
 * lade_pipeline_normalise() and lade_pipeline_layout() in every bit: x * a + b, where the product is rounded, then the
 * sum. Halves are these numbers rounded to the nearest, ties to even. An OpenCL device without denormal numbers gives
 * zero for them.
 *
 * When not to use it: for images that are planes already, and for steps that differ from sample to sample
 * (transform.h).
 *
 * Threads      the host functions are pure. A converter: one thread at a time.
 * Progress     wait-free on the host. run enqueues work on a stream and does not wait; create and destroy may wait for
 *              the device.
 * Memory       a converter keeps 8 bytes per channel on the device, and up to 512 bytes on the host. Buffers must not
 *              overlap; numbers are aligned to their size.
 * Fork         in a child, a converter of the host may be used. For the others run returns LADE_INVALID, and destroy
 *              frees the host memory without calling the driver.
 * Errors       a negative status and a text in struct lade_error.
 */
#ifndef LADE_CONVERT_H
#define LADE_CONVERT_H

#include <lade/feeder.h>

LADE_BEGIN

/*
 * Fills 2 * channels numbers: a = scale / deviation of each channel, then b = -mean / deviation of each, computed in
 * double and rounded.
 * LADE_OK
 * LADE_INVALID     no channel, or a deviation that is not above 0.
 */
LADE_API LADE_MUST_CHECK int lade_convert_table(float *table, uint32_t channels, double scale, const double *mean,
                                                const double *deviation);

/* Converts contiguous images, each of the given number of pixels and channels. */
LADE_API void lade_convert_f32(const uint8_t *from, float *to, const float *table, uint32_t images, uint32_t pixels,
                               uint32_t channels);
LADE_API void lade_convert_f16(const uint8_t *from, uint16_t *to, const float *table, uint32_t images, uint32_t pixels,
                               uint32_t channels);

/* Rounds floats to the nearest halves. */
LADE_API void lade_convert_half(const float *from, uint16_t *to, uint64_t count);

/* What a converter converts, and where. */
struct lade_converter_config {
    const char *backend;            /* as for the feeder */
    unsigned device;                /* cuda: device number */
    void *native[2];                /* opencl: cl_context and cl_device_id, see lade_feeder_native() */
    uint32_t pixels;                /* of an image */
    uint32_t channels;              /* of a pixel */
    enum lade_dtype dtype;          /* LADE_F32 or LADE_F16 */
    const float *table;             /* see lade_convert_table(); copied */
    const struct lade_alloc *alloc; /* of its host memory, until destroy; default the C library's */
};

/* A conversion of images on a device. */
struct lade_converter;

/*
 * *converter is set on LADE_OK only. error may be NULL.
 * LADE_OK
 * LADE_INVALID     a field out of range or missing.
 * LADE_NO_MEMORY
 * LADE_ABSENT      no such backend or device.
 * LADE_DEVICE      the driver failed; the error names the call and what it returned.
 */
LADE_API LADE_MUST_CHECK int lade_converter_create_sized(struct lade_converter **converter,
                                                         const struct lade_converter_config *config, size_t size,
                                                         struct lade_error *error);
static inline LADE_MUST_CHECK int lade_converter_create(struct lade_converter **converter,
                                                        const struct lade_converter_config *config,
                                                        struct lade_error *error)
{
    return lade_converter_create_sized(converter, config, sizeof *config, error);
}

/*
 * Enqueues the conversion of all rows of from, LADE_U8 images, on the stream (cl_command_queue, cudaStream_t; host:
 * done at once). to is memory on the device (opencl: a cl_mem), written from its beginning: rows * channels * pixels
 * numbers.
 * LADE_OK
 * LADE_INVALID     from does not hold images of this converter, or a child of fork().
 * LADE_DEVICE      the driver failed; the error names the call and what it returned.
 */
LADE_API LADE_MUST_CHECK int lade_converter_run(struct lade_converter *converter, const struct lade_tensor *from,
                                                void *to, void *stream, struct lade_error *error);

/* All conversions that were enqueued must have completed. NULL is allowed. */
LADE_API void lade_converter_destroy(struct lade_converter *converter);

LADE_END

#endif
