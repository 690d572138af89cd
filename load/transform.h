/* SPDX-License-Identifier: MIT */
/* The implementation of the steps. Internal. */
#ifndef LADE_LOAD_TRANSFORM_H
#define LADE_LOAD_TRANSFORM_H

#include <lade/transform.h>

#define LADE_TAP_BITS 11

/* The input of a pixel of a resized image: pixels at and at + 1, the latter with weight / 2^LADE_TAP_BITS. */
struct lade_tap {
    uint32_t at, weight;
};

/* Fills one tap for each of out pixels that are computed from in pixels. */
void lade_taps(struct lade_tap *taps, uint32_t in, uint32_t out);

/* from has the form of input; to has the same, with height rows and width columns, one per tap. */
void lade_resize(const struct lade_image *input, const void *from, uint32_t height, const struct lade_tap *rows,
                 uint32_t width, const struct lade_tap *columns, void *to);

/* The rectangle at (top, left), which may reach outside: zeros there. */
void lade_window(const struct lade_image *input, const void *from, int64_t top, int64_t left, uint32_t height,
                 uint32_t width, void *to);

void lade_mirror(const struct lade_image *image, const void *from, void *to);
void lade_layout_change(const struct lade_image *input, const void *from, void *to);
void lade_normalise(const struct lade_image *input, const void *from, const float *a, const float *b, float *to);
void lade_cast(size_t elements, enum lade_dtype from_type, const void *from, enum lade_dtype to_type, float scale,
               void *to);

#endif
