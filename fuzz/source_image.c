/* SPDX-License-Identifier: MIT */
/* Any bytes as an image: an error, or as many pixels as it claims. The limit is a million pixels. */
#include "source_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct lade_bytes bytes = {data, size, "input"};
    struct lade_error error = {.status = 0};
    struct lade_picture picture = {.pixels_max = 1 << 20};
    int status = lade_decode_size(&picture, bytes, &error);

    if (status == LADE_OK) {
        size_t pixels = (size_t)picture.height * picture.width;
        must(pixels > 0 && pixels <= 1 << 20);
        uint8_t *to = malloc(3 * pixels);
        must(to);
        status = lade_decode(picture, bytes, to, NULL, &error);
        free(to);
    }
    if (status != LADE_OK)
        check_error(status, &error, size);
    return 0;
}
