/* SPDX-License-Identifier: MIT */
/*
 * npy, NumPy's file of one array, versions 1.0 to 3.0: a magic text, the version, the length of the header, the header
 * as a literal of a Python dictionary, then the elements.
 */
#include "source.h"

#include <string.h>

/* A reader of the header. It never reads beyond end. */
struct text {
    const uint8_t *begin, *at, *end; /* begin: of the file */
    const char *name;
    struct lade_error *error;
};

struct header {
    bool has_descr, has_order, has_shape;
    char order; /* of bytes: '<', '>', '|', '=' */
    char kind;
    uint64_t width; /* the number after the kind */
    unsigned dims;
    uint64_t dim[LADE_DIMS_MAX];
};

static int wrong(const struct text *t, const char *what)
{
    return lade_fail(t->error, LADE_DAMAGED, t->name, (uint64_t)(t->at - t->begin), "%s", what);
}

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
        t->at++;
}

static bool take(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != (uint8_t)c)
        return false;
    t->at++;
    return true;
}

/* A quoted text without escapes. */
static bool take_quoted(struct text *t, const uint8_t **begin, size_t *length)
{
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    const uint8_t *close = memchr(t->at + 1, *t->at, (size_t)(t->end - t->at) - 1);
    if (!close)
        return false;
    *begin = t->at + 1;
    *length = (size_t)(close - *begin);
    if (memchr(*begin, '\\', *length))
        return false;
    t->at = close + 1;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t length = strlen(word);

    skip_space(t);
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

static bool take_number(struct text *t, uint64_t *to)
{
    bool some = false;

    skip_space(t);
    for (*to = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++, some = true) {
        unsigned digit = (unsigned)(*t->at - '0');
        if (*to > (UINT64_MAX - digit) / 10)
            return false;
        *to = *to * 10 + digit;
    }
    if (some && t->at < t->end && *t->at == 'L') /* Python 2 wrote long integers like this */
        t->at++;
    return some;
}

static int read_shape(struct text *t, struct header *h)
{
    if (!take(t, '('))
        return wrong(t, "the shape is not a tuple");
    while (!take(t, ')')) {
        if (h->dims > LADE_DIMS_MAX - 1)
            return wrong(t, "the shape has more than 32 dimensions");
        if (!take_number(t, &h->dim[h->dims]))
            return wrong(t, "the shape has something that is not a number below 2^64");
        h->dims++;
        if (!take(t, ',') && (t->at == t->end || *t->at != ')'))
            return wrong(t, "the shape has no comma where one should be");
    }
    h->has_shape = true;
    return LADE_OK;
}

static int read_descr(struct text *t, struct header *h)
{
    const uint8_t *begin;
    size_t length;

    skip_space(t);
    if (t->at < t->end && *t->at == '[')
        return wrong(t, "arrays of structures are not read; save each field by itself");
    struct text before = *t;
    if (!take_quoted(t, &begin, &length) || length < 2)
        return wrong(&before, "the element type is not a quoted text");
    struct text digits = {t->begin, begin, begin + length, t->name, t->error};
    h->order = '|';
    if (memchr("<>|=", *digits.at, 4))
        h->order = (char)*digits.at++;
    if (digits.at == digits.end)
        return wrong(&before, "the element type is not one of NumPy's");
    h->kind = (char)*digits.at++;
    bool counted = take_number(&digits, &h->width);
    /* The unit of a time, "[ns]", follows the number. */
    if (counted && (h->kind == 'M' || h->kind == 'm') && digits.at < digits.end && *digits.at == '[')
        digits.at = digits.end;
    if (h->kind == 'O')
        return wrong(&before, "arrays of Python objects are not read");
    if (!counted || digits.at != digits.end)
        return wrong(&before, "the element type is not one of NumPy's");
    h->has_descr = true;
    return LADE_OK;
}

static int read_entry(struct text *t, struct header *h)
{
    const uint8_t *key;
    size_t length;
    struct text before = *t;

    if (!take_quoted(t, &key, &length))
        return wrong(t, "the header is not a dictionary of 'descr', 'fortran_order' and 'shape'");
    if (!take(t, ':'))
        return wrong(t, "the header has no colon where one should be");
    if (length == 5 && !memcmp(key, "descr", 5) && !h->has_descr)
        return read_descr(t, h);
    if (length == 5 && !memcmp(key, "shape", 5) && !h->has_shape)
        return read_shape(t, h);
    if (length == 13 && !memcmp(key, "fortran_order", 13) && !h->has_order) {
        h->has_order = true;
        if (take_word(t, "False"))
            return LADE_OK;
        if (take_word(t, "True"))
            return wrong(&before, "the array is in Fortran order; save numpy.ascontiguousarray of it");
        return wrong(t, "fortran_order is neither True nor False");
    }
    return wrong(&before, "the header has an unknown key, or one twice");
}

static int read_header(struct text *t, struct header *h)
{
    for (const uint8_t *c = t->at; c < t->end; c++)
        if (*c >= 0x7f || (*c < ' ' && *c != '\n' && *c != '\t' && *c != '\r')) {
            t->at = c;
            return wrong(t, "the header has a byte that is not ASCII text");
        }
    if (!take(t, '{'))
        return wrong(t, "the header is not a dictionary");
    while (!take(t, '}')) {
        int status = read_entry(t, h);
        if (status != LADE_OK)
            return status;
        if (!take(t, ',') && (t->at == t->end || *t->at != '}'))
            return wrong(t, "the header has no comma where one should be");
    }
    skip_space(t);
    if (t->at != t->end)
        return wrong(t, "there are bytes after the dictionary in the header");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return wrong(t, "the header lacks one of 'descr', 'fortran_order' and 'shape'");
    return LADE_OK;
}

/* The element type; texts and raw bytes get one more dimension. */
static int read_dtype(const struct text *t, struct header *h, struct lade_flat *flat)
{
    static const struct {
        char kind;
        uint8_t width, swap;
        enum lade_dtype dtype;
    } known[] = {
        {'b', 1, 1, LADE_BOOL}, {'u', 1, 1, LADE_U8},    {'i', 1, 1, LADE_I8},  {'u', 2, 2, LADE_U16},
        {'i', 2, 2, LADE_I16},  {'u', 4, 4, LADE_U32},   {'i', 4, 4, LADE_I32}, {'u', 8, 8, LADE_U64},
        {'i', 8, 8, LADE_I64},  {'f', 2, 2, LADE_F16},   {'f', 4, 4, LADE_F32}, {'f', 8, 8, LADE_F64},
        {'c', 8, 4, LADE_C64},  {'c', 16, 8, LADE_C128}, {'M', 8, 8, LADE_I64}, {'m', 8, 8, LADE_I64},
    };
    bool foreign = h->order == (lade_machine_is_big() ? '<' : '>');

    if ((h->kind == 'S' || h->kind == 'a' || h->kind == 'V' || h->kind == 'U') && h->width > 0) {
        if (h->dims > LADE_DIMS_MAX - 1)
            return wrong(t, "the shape has more than 31 dimensions of texts");
        flat->shape.dtype = h->kind == 'U' ? LADE_U32 : LADE_U8;
        flat->swap = h->kind == 'U' && foreign ? 4 : 1;
        h->dim[h->dims++] = h->width;
        return LADE_OK;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].kind == h->kind && known[k].width == h->width) {
            flat->shape.dtype = known[k].dtype;
            flat->swap = foreign ? known[k].swap : 1;
            return LADE_OK;
        }
    return lade_fail(t->error, LADE_DAMAGED, t->name, (uint64_t)(t->at - t->begin),
                     "elements of type %c%llu are not read", h->kind, (unsigned long long)h->width);
}

/* Version, length and position of the header. */
static int find_header(struct text *t, struct lade_bytes b, struct lade_error *error)
{
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    uint64_t length = 0, begin;

    if (b.size < 6 || memcmp(b.data, magic, 6) != 0)
        return lade_fail(error, LADE_DAMAGED, b.name, 0, "is not npy: it begins with other bytes");
    if (b.size < 12)
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends inside the header");
    if (b.data[6] < 1 || b.data[6] > 3 || b.data[7] != 0)
        return lade_fail(error, LADE_DAMAGED, b.name, 6, "version %u.%u of npy is not known", b.data[6], b.data[7]);
    begin = b.data[6] == 1 ? 10 : 12;
    for (uint64_t i = begin; i > 8; i--)
        length = length << 8 | b.data[i - 1];
    if (length > b.size - begin)
        return lade_fail(error, LADE_DAMAGED, b.name, 8, "the header claims a length of %llu bytes; the file has %llu",
                         (unsigned long long)length, (unsigned long long)b.size);
    *t = (struct text){b.data, b.data + begin, b.data + begin + length, b.name, error};
    return LADE_OK;
}

int lade_npy_parse(struct lade_flat *flat, struct lade_bytes b, struct lade_error *error)
{
    struct header h = {.dims = 0};
    struct text t = {NULL, NULL, NULL, NULL, NULL};

    *flat = (struct lade_flat){.extents = 1};
    int status = find_header(&t, b, error);
    if (status == LADE_OK)
        status = read_header(&t, &h);
    if (status == LADE_OK && h.dims == 0)
        status = wrong(&t, "the array has no dimensions, so it holds no samples");
    for (unsigned d = 0; status == LADE_OK && d < h.dims; d++)
        if (h.dim[d] == 0)
            status = wrong(&t, "the array has a dimension of zero");
    if (status == LADE_OK)
        status = read_dtype(&t, &h, flat);
    if (status != LADE_OK)
        return status;
    flat->shape.dims = h.dims - 1;
    for (unsigned d = 1; d < h.dims; d++)
        flat->shape.dim[d - 1] = h.dim[d];
    uint64_t begin = (uint64_t)(t.end - t.begin), size = b.size - begin;
    flat->bytes = lade_shape_bytes(&flat->shape);
    if (flat->bytes == 0 || size / flat->bytes < h.dim[0])
        return lade_fail(error, LADE_DAMAGED, b.name, b.size, "ends too early: the header promises %llu samples",
                         (unsigned long long)h.dim[0]);
    if (size != h.dim[0] * flat->bytes)
        return lade_fail(error, LADE_DAMAGED, b.name, begin + h.dim[0] * flat->bytes,
                         "has extra bytes after the last element");
    flat->count = h.dim[0];
    flat->stride = flat->bytes;
    flat->extent[0] = (struct lade_extent){.data = b.data + begin, .offset = begin, .name = b.name};
    return LADE_OK;
}
