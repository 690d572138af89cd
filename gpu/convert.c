/* SPDX-License-Identifier: MIT */
#include <lade/convert.h>

#include "convert_dialect.h"
#include "convert.inc"

void lade_convert_f32(const uint8_t *from, float *to, const float *table, uint32_t images, uint32_t pixels,
                      uint32_t channels)
{
    lade_kernel_f32(from, 0, to, table, images, pixels, channels);
}

void lade_convert_f16(const uint8_t *from, uint16_t *to, const float *table, uint32_t images, uint32_t pixels,
                      uint32_t channels)
{
    lade_kernel_f16(from, 0, to, table, images, pixels, channels);
}

void lade_convert_half(const float *from, uint16_t *to, uint64_t count)
{
    lade_kernel_half(from, to, count);
}

int lade_convert_table(float *table, uint32_t channels, double scale, const double *mean, const double *deviation)
{
    if (channels == 0)
        return LADE_INVALID;
    for (uint32_t c = 0; c < channels; c++) {
        if (!(deviation[c] > 0))
            return LADE_INVALID;
        table[c] = (float)(scale / deviation[c]);
        table[channels + c] = (float)(-mean[c] / deviation[c]);
    }
    return LADE_OK;
}
