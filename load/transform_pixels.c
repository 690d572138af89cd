/* SPDX-License-Identifier: MIT */
#include "transform.h"

#include <string.h>

void lade_taps(struct lade_tap *taps, uint32_t in, uint32_t out)
{
    for (uint32_t x = 0; x < out; x++) {
        /* (x + 1/2) * in / out - 1/2, over the denominator 2 * out. */
        int64_t above = ((int64_t)2 * x + 1) * in - out;
        uint64_t place = above < 0 ? 0 : ((uint64_t)above << LADE_TAP_BITS) / (2 * (uint64_t)out);
        taps[x] = (struct lade_tap){(uint32_t)(place >> LADE_TAP_BITS), (uint32_t)place & ((1 << LADE_TAP_BITS) - 1)};
        if (taps[x].at >= in - 1)
            taps[x] = (struct lade_tap){in - 1, 0};
    }
}

/* A plane with channels numbers per pixel; next is 0 if there is no next pixel. */
static void resize_bytes(const uint8_t *from, uint32_t in_width, uint32_t channels, uint32_t height,
                         const struct lade_tap *rows, uint32_t width, const struct lade_tap *columns, uint8_t *to)
{
    const uint32_t one = 1 << LADE_TAP_BITS, half = 1 << (2 * LADE_TAP_BITS - 1);
    size_t row = (size_t)in_width * channels;

    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *upper = from + rows[y].at * row, *lower = upper + (rows[y].weight ? row : 0);
        for (uint32_t x = 0; x < width; x++) {
            uint32_t wx = columns[x].weight, wy = rows[y].weight;
            size_t left = (size_t)columns[x].at * channels, right = left + (wx ? channels : 0);
            for (uint32_t c = 0; c < channels; c++) {
                uint32_t above = upper[left + c] * (one - wx) + upper[right + c] * wx;
                uint32_t below = lower[left + c] * (one - wx) + lower[right + c] * wx;
                *to++ = (uint8_t)((above * (one - wy) + below * wy + half) >> 2 * LADE_TAP_BITS);
            }
        }
    }
}

static void resize_floats(const float *from, uint32_t in_width, uint32_t channels, uint32_t height,
                          const struct lade_tap *rows, uint32_t width, const struct lade_tap *columns, float *to)
{
    const float unit = 1.0f / (1 << LADE_TAP_BITS);
    size_t row = (size_t)in_width * channels;

    for (uint32_t y = 0; y < height; y++) {
        const float *upper = from + rows[y].at * row, *lower = upper + (rows[y].weight ? row : 0);
        for (uint32_t x = 0; x < width; x++) {
            float wx = (float)columns[x].weight * unit, wy = (float)rows[y].weight * unit;
            size_t left = (size_t)columns[x].at * channels, right = left + (columns[x].weight ? channels : 0);
            for (uint32_t c = 0; c < channels; c++) {
                float above = upper[left + c] + (upper[right + c] - upper[left + c]) * wx;
                float below = lower[left + c] + (lower[right + c] - lower[left + c]) * wx;
                *to++ = above + (below - above) * wy;
            }
        }
    }
}

/* The planes of an image, and the contiguous numbers per pixel in each. */
static uint32_t pictures(const struct lade_image *image)
{
    return image->layout == LADE_CHW ? image->channels : 1;
}

static uint32_t together(const struct lade_image *image)
{
    return image->layout == LADE_CHW ? 1 : image->channels;
}

void lade_resize(const struct lade_image *input, const void *from, uint32_t height, const struct lade_tap *rows,
                 uint32_t width, const struct lade_tap *columns, void *to)
{
    uint32_t channels = together(input);
    size_t in = (size_t)input->height * input->width * channels, out = (size_t)height * width * channels;

    for (uint32_t p = 0; p < pictures(input); p++)
        if (input->dtype == LADE_U8)
            resize_bytes((const uint8_t *)from + p * in, input->width, channels, height, rows, width, columns,
                         (uint8_t *)to + p * out);
        else
            resize_floats((const float *)from + p * in, input->width, channels, height, rows, width, columns,
                          (float *)to + p * out);
}

void lade_window(const struct lade_image *input, const void *from, int64_t top, int64_t left, uint32_t height,
                 uint32_t width, void *to)
{
    size_t pixel = together(input) * lade_dtype_size(input->dtype);
    /* Columns of the rectangle that are inside the image: from first to before last. */
    int64_t first = left < 0 ? -left : 0, last = (int64_t)input->width - left;
    uint8_t *out = to;

    last = last > width ? width : last;
    for (uint32_t p = 0; p < pictures(input); p++)
        for (uint32_t y = 0; y < height; y++, out += width * pixel) {
            int64_t row = top + y;
            if (row < 0 || row >= input->height || first >= last) {
                memset(out, 0, width * pixel);
                continue;
            }
            size_t at = ((size_t)p * input->height + (size_t)row) * input->width + (size_t)(left + first);
            memset(out, 0, (size_t)first * pixel);
            memcpy(out + (size_t)first * pixel, (const uint8_t *)from + at * pixel, (size_t)(last - first) * pixel);
            memset(out + (size_t)last * pixel, 0, (size_t)(width - last) * pixel);
        }
}

void lade_mirror(const struct lade_image *image, const void *from, void *to)
{
    size_t pixel = together(image) * lade_dtype_size(image->dtype), width = image->width;
    size_t rows = (size_t)pictures(image) * image->height;
    const uint8_t *in = from;
    uint8_t *out = to;

    for (size_t y = 0; y < rows; y++, in += width * pixel, out += width * pixel) {
        if (pixel == 1)
            for (size_t x = 0; x < width; x++)
                out[x] = in[width - 1 - x];
        else
            for (size_t x = 0; x < width; x++)
                memcpy(out + x * pixel, in + (width - 1 - x) * pixel, pixel);
    }
}

void lade_layout_change(const struct lade_image *input, const void *from, void *to)
{
    size_t pixels = (size_t)input->height * input->width, size = lade_dtype_size(input->dtype);
    /* The image is a table of rows and columns; the other layout is its transpose. */
    size_t rows = input->layout == LADE_HWC ? pixels : input->channels;
    size_t columns = input->layout == LADE_HWC ? input->channels : pixels;
    const uint8_t *in = from;
    uint8_t *out = to;

    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++, out += size)
            if (size == 1)
                *out = in[r * columns + c];
            else
                memcpy(out, in + (r * columns + c) * size, size);
}

/* Plain loops over one type of number each, which compilers vectorise. */
static void line_bytes(const uint8_t *restrict from, size_t count, float a, float b, float *restrict to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i] * a + b;
}

static void line_floats(const float *restrict from, size_t count, float a, float b, float *restrict to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] * a + b;
}

void lade_normalise(const struct lade_image *input, const void *from, const float *a, const float *b, float *to)
{
    size_t pixels = (size_t)input->height * input->width, channels = input->channels;
    const uint8_t *bytes = from;
    const float *floats = from;

    if (input->layout == LADE_CHW)
        for (size_t c = 0; c < channels; c++)
            if (input->dtype == LADE_U8)
                line_bytes(bytes + c * pixels, pixels, a[c], b[c], to + c * pixels);
            else
                line_floats(floats + c * pixels, pixels, a[c], b[c], to + c * pixels);
    else if (input->dtype == LADE_U8)
        for (size_t p = 0; p < pixels; p++)
            for (size_t c = 0; c < channels; c++)
                to[p * channels + c] = (float)bytes[p * channels + c] * a[c] + b[c];
    else
        for (size_t p = 0; p < pixels; p++)
            for (size_t c = 0; c < channels; c++)
                to[p * channels + c] = floats[p * channels + c] * a[c] + b[c];
}

static uint8_t byte_of(float x)
{
    if (!(x > 0)) /* NaN comes here as well */
        return 0;
    return x >= 255 ? 255 : (uint8_t)(x + 0.5f);
}

void lade_cast(size_t elements, enum lade_dtype from_type, const void *from, enum lade_dtype to_type, float scale,
               void *to)
{
    const uint8_t *bytes = from;
    const float *floats = from;
    uint8_t *out = to;

    if (to_type == LADE_F32 && from_type == LADE_U8)
        line_bytes(from, elements, scale, 0, to);
    else if (to_type == LADE_F32)
        line_floats(from, elements, scale, 0, to);
    else
        for (size_t i = 0; i < elements; i++)
            out[i] = byte_of((from_type == LADE_U8 ? (float)bytes[i] : floats[i]) * scale);
}
