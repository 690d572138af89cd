/* SPDX-License-Identifier: MIT */
/* A file of records of one size, with or without a label in each; the elements are in the machine's byte order. */
#include "source.h"

int lade_records_parse(struct lade_flat *flat, const struct lade_records *r, struct lade_bytes b,
                       struct lade_error *error)
{
    *flat = (struct lade_flat){.extents = 1};
    if (r->size == 0 || r->label_width > 8 || r->label_width >= r->size || r->label_at > r->size - r->label_width)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET,
                         "size must be larger than the label, which is 1 to 8 bytes inside the record");
    if (r->label_width > 1 && r->classes == 0)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "labels of %u bytes need classes=N",
                         r->label_width);
    if (r->classes > LADE_CLASSES_MAX)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET, "more than %llu classes",
                         (unsigned long long)LADE_CLASSES_MAX);
    flat->bytes = (size_t)(r->size - r->label_width);
    flat->shape = r->shape;
    if (!r->shaped)
        flat->shape = (struct lade_shape){.dtype = LADE_U8, .dims = 1, .dim = {flat->bytes}};
    if (lade_shape_bytes(&flat->shape) != flat->bytes)
        return lade_fail(error, LADE_INVALID, b.name, LADE_NO_OFFSET,
                         "the shape has %llu bytes, a record without its label %llu",
                         (unsigned long long)lade_shape_bytes(&flat->shape), (unsigned long long)flat->bytes);
    if (b.size <= r->header)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends inside the header of %llu bytes",
                         (unsigned long long)r->header);
    uint64_t rest = (b.size - r->header) % r->size;
    if (rest != 0)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size - rest,
                         "the last record is cut: it has %llu of %llu bytes", (unsigned long long)rest,
                         (unsigned long long)r->size);
    flat->count = (b.size - r->header) / r->size;
    flat->stride = r->size;
    flat->extent[0] = (struct lade_extent){.data = b.data + r->header, .offset = r->header, .name = b.name};
    if (r->label_width) {
        flat->hole_at = r->label_at;
        flat->hole_size = r->label_width;
        flat->labels = (struct lade_labels){.at = r->label_at, .width = r->label_width};
        flat->classes = r->classes ? r->classes : 256;
    }
    return LADE_OK;
}
