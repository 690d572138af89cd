/* SPDX-License-Identifier: MIT */
/*
 * Flat files of token ids, little-endian, without a header or after one of given length (nanoGPT, llm.c): cut into
 * sequences of one length. Tokens behind the last whole sequence of a file are left out.
 */
#include "source.h"

static int too_short(const struct lade_tokens *t, uint64_t tokens, struct lade_bytes b, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, b.name, b.size, "has %llu tokens, less than a sequence of length=%llu",
                     (unsigned long long)tokens, (unsigned long long)t->length);
}

int lade_tokens_add(struct lade_flat *flat, const struct lade_tokens *t, struct lade_bytes b, struct lade_error *error)
{
    const size_t width = lade_dtype_size(t->dtype);

    if (width == 0 || t->length == 0 || t->stride == 0 || t->length > SIZE_MAX / 2 / width ||
        t->stride > SIZE_MAX / 2 / width)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "length or stride is zero, or above 2^60");
    if (flat->extents == LADE_EXTENTS_MAX)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "more than %d files", LADE_EXTENTS_MAX);
    if (b.size < t->header)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends inside the header of %llu bytes",
                         (unsigned long long)t->header);
    const uint64_t bytes = b.size - t->header, tokens = bytes / width;
    if (bytes % width != 0)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size - bytes % width, "ends inside a token of %zu bytes",
                         width);
    if (tokens < t->length)
        return too_short(t, tokens, b, error);
    flat->extent[flat->extents++] =
        (struct lade_extent){.data = b.data + t->header, .first = flat->count, .offset = t->header, .name = b.name};
    flat->count += 1 + (tokens - t->length) / t->stride;
    flat->shape = (struct lade_shape){.dtype = t->dtype, .dims = 1, .dim = {t->length}};
    flat->bytes = (size_t)t->length * width;
    flat->stride = t->stride * width;
    flat->swap = lade_machine_is_big() ? (unsigned)width : 1;
    return LADE_OK;
}
