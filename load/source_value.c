/* SPDX-License-Identifier: MIT */
/* Encoded values of a sample as elements: raw bytes, images, npy, decimal digits, JSON and lists of tf.train. */
#include "source_members.h"

#include <string.h>

static int wrong(const struct lade_value *v, const char *what, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, v->file, v->offset, "%s", what);
}

int lade_fail_inside(struct lade_error *error, struct lade_error *inner, const char *file, uint64_t base,
                     const char *what)
{
    char *at = strstr(inner->text, ", at byte ");

    if (at)
        *at = 0;
    const uint64_t offset = inner->offset == LADE_NO_OFFSET ? base : base + inner->offset;
    return lade_fail(error, inner->status, file, offset, "'%.64s': %s", what, inner->text);
}

static int moved(const struct lade_value_field *f, const struct lade_value *v, struct lade_error *inner,
                 struct lade_error *error)
{
    return lade_fail_inside(error, inner, v->file, v->offset, f->field.name);
}

static struct lade_bytes bytes_of(const struct lade_value *v)
{
    return (struct lade_bytes){v->data, v->size, NULL};
}

uint64_t lade_field_elements(const struct lade_field *field)
{
    uint64_t elements = 1;

    for (unsigned d = 0; d < field->dims; d++)
        elements *= field->dim[d];
    return elements;
}

/* Optional sign and digits, with white space around. */
static bool parse_integer(const struct lade_value *v, int64_t *to)
{
    size_t at = 0, end = v->size;
    uint64_t value = 0;

    while (end > 0 && strchr(" \t\r\n", v->data[end - 1]) && v->data[end - 1])
        end--;
    while (at < end && strchr(" \t\r\n", v->data[at]) && v->data[at])
        at++;
    const bool negative = at < end && v->data[at] == '-';
    at += negative;
    if (at == end || end - at > 19)
        return false;
    for (; at < end; at++) {
        if (v->data[at] < '0' || v->data[at] > '9')
            return false;
        value = value * 10 + (uint64_t)(v->data[at] - '0'); /* 19 digits are below 2^64 */
    }
    if (value > INT64_MAX)
        return false;
    *to = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static int shape_raw(const struct lade_value_field *f, const struct lade_value *v, struct lade_shape *shape,
                     struct lade_error *error)
{
    const size_t width = lade_dtype_size(f->field.dtype);
    const uint64_t row = width * lade_field_elements(&f->field);

    *shape = (struct lade_shape){.dtype = f->field.dtype, .dims = 1, .dim = {v->size / width}};
    if (v->size % row != 0 || (f->shaped && f->field.ragged_max == 0 && v->size != row))
        return lade_fail(error, LADE_DAMAGED, v->file, v->offset, "the value has %zu bytes, not %s%llu", v->size,
                         f->field.ragged_max ? "a multiple of " : "", (unsigned long long)row);
    if (!f->shaped)
        return LADE_OK;
    shape->dims = f->field.dims;
    memcpy(shape->dim, f->field.dim, sizeof f->field.dim);
    if (f->field.ragged_max) {
        memmove(shape->dim + 1, shape->dim, f->field.dims * sizeof *shape->dim);
        shape->dim[0] = v->size / row;
        shape->dims++;
    }
    return LADE_OK;
}

static int shape_npy(const struct lade_value_field *f, const struct lade_value *v, struct lade_shape *shape,
                     struct lade_error *error)
{
    struct lade_error inner = {.status = LADE_OK};
    struct lade_flat flat;
    int status = lade_npy_parse(&flat, bytes_of(v), &inner);

    if (status != LADE_OK)
        return moved(f, v, &inner, error);
    if (flat.shape.dims >= LADE_FIELD_DIMS_MAX)
        return wrong(v, "the array has more than 8 dimensions", error);
    *shape = (struct lade_shape){.dtype = flat.shape.dtype, .dims = flat.shape.dims + 1, .dim = {flat.count}};
    memcpy(shape->dim + 1, flat.shape.dim, flat.shape.dims * sizeof *shape->dim);
    return LADE_OK;
}

static int shape_image(const struct lade_value_field *f, const struct lade_value *v, struct lade_shape *shape,
                       struct lade_error *error)
{
    struct lade_picture is = f->size;

    if (f->size.height == 0) {
        struct lade_error inner = {.status = LADE_OK};
        int status = lade_decode_size(&is, bytes_of(v), &inner);
        if (status != LADE_OK)
            return moved(f, v, &inner, error);
    }
    *shape = (struct lade_shape){.dtype = LADE_U8, .dims = 3, .dim = {is.height, is.width, 3}};
    return LADE_OK;
}

int lade_value_shape(const struct lade_value_field *f, const struct lade_value *v, struct lade_shape *shape,
                     struct lade_error *error)
{
    struct lade_json json;
    int64_t number;
    int status;

    switch (v->kind) {
    case LADE_VALUE_RAW:
        return shape_raw(f, v, shape, error);
    case LADE_VALUE_IMAGE:
        return shape_image(f, v, shape, error);
    case LADE_VALUE_NPY:
        return shape_npy(f, v, shape, error);
    case LADE_VALUE_INTEGER:
        *shape = (struct lade_shape){.dtype = LADE_I64};
        return parse_integer(v, &number) ? LADE_OK : wrong(v, "the value is not a decimal integer", error);
    case LADE_VALUE_JSON:
        status = lade_json_numbers(&json, v, f->member, NULL, 0, 0, error);
        *shape = (struct lade_shape){.dtype = LADE_F64, .dims = json.is_array, .dim = {json.count}};
        return status;
    case LADE_VALUE_INT64S:
    case LADE_VALUE_FLOATS:
        *shape = (struct lade_shape){.dtype = v->kind == LADE_VALUE_INT64S ? LADE_I64 : LADE_F32, .dims = 1};
        return lade_list_read(v, &shape->dim[0], NULL, 0, 0, error);
    }
    return wrong(v, "the value has no known encoding", error);
}

/* Whether the dimensions from number d on are those of the field; a list has one, however the field arranges it. */
static bool same_rows(const struct lade_field *field, const struct lade_shape *shape, unsigned d)
{
    if (shape->dims <= 1)
        return true;
    return shape->dims == field->dims + d && !memcmp(shape->dim + d, field->dim, field->dims * sizeof *field->dim);
}

bool lade_value_steps(const struct lade_field *field, const struct lade_shape *shape, uint64_t *steps)
{
    const uint64_t row = lade_field_elements(field);
    uint64_t elements = 1;

    for (unsigned d = 0; d < shape->dims; d++)
        elements *= shape->dim[d];
    *steps = field->ragged_max ? elements / row : 1;
    if (shape->dtype != field->dtype || !same_rows(field, shape, field->ragged_max > 0))
        return false;
    return field->ragged_max ? elements % row == 0 && *steps <= field->ragged_max : elements == row;
}

static int read_image(const struct lade_value_field *f, const struct lade_value *v, uint8_t *to,
                      struct lade_error *error)
{
    struct lade_error inner = {.status = LADE_OK};
    struct lade_picture is = {.pixels_max = f->size.pixels_max};
    int status = lade_decode_size(&is, bytes_of(v), &inner);

    if (status == LADE_OK && is.height == f->size.height && is.width == f->size.width)
        status = lade_decode(is, bytes_of(v), to, f->alloc, &inner);
    else if (status == LADE_OK && f->scaled)
        status = lade_decode_scaled(is, f->size, bytes_of(v), to, f->alloc, &inner);
    else if (status == LADE_OK)
        return lade_fail(error, LADE_DAMAGED, v->file, v->offset,
                         "the image has %u x %u pixels, the first one %u x %u; size=HEIGHTxWIDTH scales all to one",
                         is.height, is.width, f->size.height, f->size.width);
    return status == LADE_OK ? status : moved(f, v, &inner, error);
}

static int outside(const struct lade_value *v, uint64_t steps, const struct lade_view *view, struct lade_error *error)
{
    return lade_fail(error, LADE_INVALID, v->file, v->offset,
                     "the view asks for steps %llu to %llu; the value has %llu", (unsigned long long)view->from,
                     (unsigned long long)(view->from + view->length), (unsigned long long)steps);
}

static int read_npy(const struct lade_value *v, uint64_t from, uint64_t bytes, uint8_t *to, struct lade_error *error)
{
    struct lade_flat flat;
    int status = lade_npy_parse(&flat, bytes_of(v), error);

    if (status != LADE_OK)
        return status;
    memcpy(to, flat.extent[0].data + from, (size_t)bytes);
    if (flat.swap > 1)
        lade_swap_elements(to, (size_t)bytes, flat.swap);
    return LADE_OK;
}

/* Elements from, ..., count of them, as they are in the value. */
static int read_elements(const struct lade_value_field *f, const struct lade_value *v, uint64_t from, uint64_t count,
                         void *to, struct lade_error *error)
{
    const size_t width = lade_dtype_size(f->field.dtype);
    uint64_t all;
    int64_t number = 0;

    switch (v->kind) {
    case LADE_VALUE_RAW:
        memcpy(to, v->data + from * width, (size_t)count * width);
        if (lade_machine_is_big() && width > 1) /* the two halves of a complex number are swapped separately */
            lade_swap_elements(to, (size_t)count * width, (unsigned)width / (f->field.dtype >= LADE_C64 ? 2 : 1));
        return LADE_OK;
    case LADE_VALUE_NPY:
        return read_npy(v, from * width, count * width, to, error);
    case LADE_VALUE_INTEGER:
        (void)parse_integer(v, &number);
        memcpy(to, &number, sizeof number);
        return LADE_OK;
    case LADE_VALUE_JSON: {
        struct lade_json json;
        return lade_json_numbers(&json, v, f->member, to, from, count, error);
    }
    default:
        return lade_list_read(v, &all, to, from, count, error);
    }
}

static int unlike(const struct lade_value_field *f, const struct lade_value *v, const struct lade_shape *shape,
                  struct lade_error *error)
{
    uint64_t elements = 1;

    for (unsigned d = 0; d < shape->dims; d++)
        elements *= shape->dim[d];
    return lade_fail(error, LADE_DAMAGED, v->file, v->offset,
                     "the value of field '%.64s' has %llu elements of %s in %u dimensions, unlike the field",
                     f->field.name, (unsigned long long)elements, lade_dtype_name(shape->dtype), shape->dims);
}

int lade_value_read(const struct lade_value_field *f, const struct lade_value *v, const struct lade_view *view,
                    struct lade_error *error)
{
    struct lade_shape shape;
    uint64_t steps;

    if (v->kind == LADE_VALUE_IMAGE)
        return read_image(f, v, view->data, error);
    int status = lade_value_shape(f, v, &shape, error);
    if (status != LADE_OK)
        return status;
    if (!lade_value_steps(&f->field, &shape, &steps))
        return unlike(f, v, &shape, error);
    if (f->field.ragged_max && (view->from > steps || view->length > steps - view->from))
        return outside(v, steps, view, error);
    const uint64_t row = lade_field_elements(&f->field);
    const uint64_t from = f->field.ragged_max ? view->from * row : 0;
    const uint64_t count = f->field.ragged_max ? view->length * row : row;
    return count ? read_elements(f, v, from, count, view->data, error) : LADE_OK;
}
