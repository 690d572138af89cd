/* SPDX-License-Identifier: MIT */
/*
 * IDX, the format of MNIST (LeCun, Cortes, Burges): two zero bytes, the type, the number of dimensions, each dimension
 * as four bytes, then the elements, all big-endian.
 */
#include "source.h"

static bool dtype_of(uint8_t code, enum lade_dtype *dtype)
{
    switch (code) {
    case 0x08:
        *dtype = LADE_U8;
        return true;
    case 0x09:
        *dtype = LADE_I8;
        return true;
    case 0x0b:
        *dtype = LADE_I16;
        return true;
    case 0x0c:
        *dtype = LADE_I32;
        return true;
    case 0x0d:
        *dtype = LADE_F32;
        return true;
    case 0x0e:
        *dtype = LADE_F64;
        return true;
    }
    return false;
}

static uint32_t word_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

int lade_idx_parse(struct lade_flat *flat, struct lade_bytes b, struct lade_error *error)
{
    struct lade_shape *shape = &flat->shape;
    uint64_t count;

    *flat = (struct lade_flat){.extents = 1};
    if (b.size >= 2 && b.data[0] == 0x1f && b.data[1] == 0x8b)
        return lade_fail(error, LADE_DAMAGED, b.name, 0, "is compressed by gzip; unpack it first");
    if (b.size < 4)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends inside the header of IDX");
    if (b.data[0] || b.data[1])
        return lade_fail(error, LADE_DAMAGED, b.name, 0, "is not IDX: it does not begin with two zero bytes");
    if (!dtype_of(b.data[2], &shape->dtype))
        return lade_fail(error, LADE_DAMAGED, b.name, 2, "IDX has no type 0x%02x", b.data[2]);
    unsigned dims = b.data[3];
    if (dims == 0 || dims > LADE_DIMS_MAX)
        return lade_fail(error, LADE_DAMAGED, b.name, 3, "%u dimensions; 1 to %d are read", dims, LADE_DIMS_MAX);
    uint64_t header = 4 + 4 * (uint64_t)dims;
    if (b.size < header)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends inside the header, which has %llu bytes",
                         (unsigned long long)header);
    for (unsigned d = 0; d < dims; d++)
        if (word_at(b.data + 4 + 4 * d) == 0)
            return lade_fail(error, LADE_DAMAGED, b.name, 4 + 4 * d, "dimension %u is zero", d);
    count = word_at(b.data + 4);
    shape->dims = dims - 1;
    for (unsigned d = 1; d < dims; d++)
        shape->dim[d - 1] = word_at(b.data + 4 + 4 * d);
    flat->bytes = lade_shape_bytes(shape);
    if (flat->bytes == 0 || (b.size - header) / flat->bytes < count)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends too early: the header promises %llu samples",
                         (unsigned long long)count);
    if (b.size - header != count * flat->bytes)
        return lade_fail(error, LADE_DAMAGED, b.name, header + count * flat->bytes,
                         "has extra bytes after the last sample");
    flat->count = count;
    flat->stride = flat->bytes;
    flat->swap = lade_machine_is_big() ? 1 : (unsigned)lade_dtype_size(shape->dtype);
    flat->extent[0] = (struct lade_extent){.data = b.data + header, .offset = header, .name = b.name};
    return LADE_OK;
}
