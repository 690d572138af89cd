/* SPDX-License-Identifier: MIT */
/* What the fuzz programs of the sources share. */
#ifndef LADE_FUZZ_SOURCE_H
#define LADE_FUZZ_SOURCE_H

#include "source.h"

#include <stdlib.h>
#include <string.h>

static void must(bool good)
{
    if (!good)
        abort();
}

/* An error has a text, and lies in the file. */
static void check_error(int status, const struct lade_error *error, size_t size)
{
    must(status == error->status && status < 0);
    must(error->offset <= size || error->offset == LADE_NO_OFFSET);
    must(error->text[0] && memchr(error->text, 0, sizeof error->text));
}

/* What a parser accepts can be read, all of it, and is not more than the file holds. */
static inline void check_flat(const struct lade_flat *flat, size_t size)
{
    must(flat->count > 0 && flat->bytes > 0 && flat->bytes == lade_shape_bytes(&flat->shape));
    must(flat->count <= size && flat->bytes <= size && flat->count * flat->bytes <= size);
    uint8_t *to = malloc(flat->bytes);
    must(to);
    for (uint64_t i = 0; i < flat->count; i++) {
        struct lade_error error = {.status = 0};
        int64_t label = -2;
        int status = lade_flat_read(flat, i, to, &label, &error);
        if (status != LADE_OK)
            check_error(status, &error, size);
        else
            must(label == LADE_NO_LABEL || (label >= 0 && (uint64_t)label < flat->classes));
    }
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
