/* SPDX-License-Identifier: MIT */
/*
 * convert: images as bytes, the channels of a pixel together, to normalised numbers, each channel a plane of its own.
 *
 * What crosses the bus are bytes, a quarter of what single-precision numbers would be; a device does the rest with the same
 * text that these functions are compiled from (gpu/convert.inc): lade_converter_run(). The result is that of lade_pipeline_normalise() and
 * lade_pipeline_layout() to the last bit: x * a + b, the product and the sum rounded one after the other. Halves are these
 * numbers rounded to the nearest, halfway to the even one. An OpenCL device that has no denormal numbers gives zero for
 * them.
 *
 * When not to use it: for images that are planes already, and for steps that differ from sample to sample (transform.h).
 *
 * Threads      the functions on the host are pure. A converter belongs to one thread at a time.
 * Progress     wait-free on the host. run puts work into a stream and does not wait; create and destroy may wait for the
 *              device.
 * Memory       none on the host; a converter keeps 8 bytes for each channel on the device. Buffers do not overlap; numbers
 *              lie at multiples of their size.
 * Fork         in a child, a converter of the host may be used; of others run returns LADE_INVALID and destroy frees the host
 *              memory without calling the driver.
 * Errors       LADE_INVALID, LADE_NO_MEMORY, LADE_ABSENT (no such backend or device), LADE_DEVICE (a call failed; the
 *              text names it and what it returned).
 */
#ifndef LADE_CONVERT_H
#define LADE_CONVERT_H

#include <lade/feeder.h>

LADE_BEGIN

/*
 * Fills 2 * channels numbers: a = scale / deviation of each channel, then b = -mean / deviation of each, computed in double
 * and rounded. LADE_INVALID: no channel, or a deviation that is not above 0.
 */
LADE_API LADE_MUST_CHECK int lade_convert_table(float *table, uint32_t channels, double scale, const double *mean,
                                                const double *deviation);

/* images of so many pixels and channels each, one behind the other. */
LADE_API void lade_convert_f32(const uint8_t *from, float *to, const float *table, uint32_t images, uint32_t pixels,
                               uint32_t channels);
LADE_API void lade_convert_f16(const uint8_t *from, uint16_t *to, const float *table, uint32_t images, uint32_t pixels,
                               uint32_t channels);

/* The nearest halves of floats. */
LADE_API void lade_convert_half(const float *from, uint16_t *to, uint64_t count);

struct lade_converter_config {
    const char *backend;   /* as that of the feeder */
    unsigned device;       /* cuda: which */
    void *native[2];       /* opencl: cl_context and cl_device_id, see lade_feeder_native() */
    uint32_t pixels;       /* of an image */
    uint32_t channels;     /* of a pixel */
    enum lade_dtype dtype; /* LADE_F32 or LADE_F16 */
    const float *table;    /* see lade_convert_table(); copied */
};

struct lade_converter;

/* *converter is set on LADE_OK only. error may be NULL. */
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
 * Puts the conversion of all rows of from, LADE_U8 images, into the stream (cl_command_queue, cudaStream_t; host: done at
 * once). to is memory on the device (opencl: a cl_mem), written from its beginning: rows * channels * pixels numbers.
 */
LADE_API LADE_MUST_CHECK int lade_converter_run(struct lade_converter *converter, const struct lade_tensor *from,
                                                void *to, void *stream, struct lade_error *error);

/* What was put into streams has been done. NULL is fine. */
LADE_API void lade_converter_destroy(struct lade_converter *converter);

LADE_END

#endif
