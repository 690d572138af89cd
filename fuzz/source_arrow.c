/* SPDX-License-Identifier: MIT */
/*
 * Any Arrow schema and arrays: an error with a text, or samples that can be read; all is released once. Buffers are as
 * large as an array that keeps to the interface needs them, and end there.
 */
#include "source_fuzz.h"

#include <lade/arrow.h>

enum { DEPTH_MAX = 4, LENGTH_MAX = 40, BUFFER_MAX = 1 << 16, LIST = 64 };

static const uint8_t *data;
static size_t left;
static int live;

static unsigned take(void)
{
    return left > 0 ? (left--, *data++) : 0;
}

/* Small most of the time. */
static int64_t number(void)
{
    static const int64_t odd[] = {-1, INT64_MAX, INT64_MIN, INT32_MAX, 1 << 20, -2, 0, 3};
    const unsigned byte = take();

    return byte < 240 ? byte % LENGTH_MAX : odd[byte % 8];
}

struct owned {
    int64_t children;
    void *list;
    void *child[4], *dictionary;
    void *buffers[3];
};

static void free_schema(struct ArrowSchema *s)
{
    struct owned *o = s->private_data;

    must(s->release == free_schema && live-- > 0);
    for (int64_t i = 0; i < o->children; i++) {
        struct ArrowSchema *child = o->child[i];
        if (child && child->release)
            child->release(child);
        free(child);
    }
    struct ArrowSchema *dictionary = o->dictionary;
    if (dictionary && dictionary->release)
        dictionary->release(dictionary);
    free(dictionary);
    free(o->list);
    free(o);
    s->release = NULL;
}

static void free_array(struct ArrowArray *a)
{
    struct owned *o = a->private_data;

    must(a->release == free_array && live-- > 0);
    for (int64_t i = 0; i < o->children; i++) {
        struct ArrowArray *child = o->child[i];
        if (child && child->release)
            child->release(child);
        free(child);
    }
    struct ArrowArray *dictionary = o->dictionary;
    if (dictionary && dictionary->release)
        dictionary->release(dictionary);
    free(dictionary);
    for (int b = 0; b < 3; b++)
        free(o->buffers[b]);
    free(o->list);
    free((void *)(uintptr_t)a->buffers);
    free(o);
    a->release = NULL;
}

static const char *const formats[] = {"c",    "C",  "i",  "l",  "g",   "f", "b", "u",  "z",    "U",  "w:3",
                                      "+w:2", "+l", "+L", "+s", "tdD", "n", "L", "w:", "+w:0", "vu", ""};

static void make_schema(struct ArrowSchema *s, unsigned depth)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", NULL, "a", ""};
    struct owned *o = calloc(1, sizeof *o);

    must(o);
    live++;
    *s = (struct ArrowSchema){.release = free_schema, .private_data = o};
    s->format = depth == 0 ? "+s" : formats[take() % (sizeof formats / sizeof *formats)];
    s->name = names[depth == 0 ? 7 : take() % 8];
    if (s->format[0] == '+' && depth < DEPTH_MAX)
        o->children = s->format[1] == 's' ? 1 + take() % 4 : 1;
    s->n_children = o->children;
    s->children = o->list = calloc(LIST, sizeof *s->children);
    for (int64_t i = 0; i < o->children; i++) {
        s->children[i] = o->child[i] = calloc(1, sizeof *s);
        make_schema(o->child[i], depth + 1);
    }
    if (depth > 0 && depth < DEPTH_MAX && s->format[0] && strchr("cil", s->format[0]) && take() % 4 == 0) {
        s->dictionary = o->dictionary = calloc(1, sizeof *s);
        make_schema(o->dictionary, DEPTH_MAX);
        if (take() % 8)
            s->dictionary->format = take() & 1 ? "u" : "U";
    }
    const unsigned wrong = take();
    if (wrong == 255)
        s->n_children = number();
    else if (wrong == 254)
        s->children = NULL;
}

/* A buffer of exactly this size, with bytes of the input, or small numbers that rise. */
static void *buffer(uint64_t bytes, unsigned width, bool rises)
{
    uint64_t value = 0;

    if (bytes > BUFFER_MAX || take() == 255)
        return NULL;
    uint8_t *to = malloc(bytes ? bytes : 1);
    must(to);
    const bool keeps = rises && take() % 8;
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = keeps || left == 0 ? (uint8_t)i : (uint8_t)take();
    for (uint64_t i = 0; keeps && i + width <= bytes; i += width) {
        value += take() % 4;
        memset(to + i, 0, width);
        memcpy(to + i, &value, width); /* little-endian */
    }
    return to;
}

/* The largest offset. One that is larger than any buffer becomes negative, as its buffer cannot be made. */
static uint64_t largest_offset(uint8_t *offsets, unsigned width, uint64_t slots)
{
    uint64_t most = 0;

    for (uint64_t i = 0; offsets && i <= slots; i++) {
        uint64_t value = 0;
        memcpy(&value, offsets + i * width, width);
        if (value > BUFFER_MAX)
            memset(offsets + i * width, 0xff, width);
        else
            most = value > most ? value : most;
    }
    return most;
}

/* An array of the schema, mostly; a parent needs at least this many slots. */
static void make_array(struct ArrowArray *a, const struct ArrowSchema *s, uint64_t needed, unsigned depth)
{
    const struct owned *schema = s->private_data;
    const char *f = s->format;
    struct owned *o = calloc(1, sizeof *o);
    const void **buffers = calloc(3, sizeof *buffers);
    const unsigned wrong = take();

    must(o && buffers);
    live++;
    *a = (struct ArrowArray){.length = (int64_t)needed, .release = free_array, .private_data = o, .buffers = buffers};
    a->offset = take() % 4 ? 0 : take() % 9;
    if (wrong == 255)
        a->length = number();
    if (wrong == 254)
        a->offset = number();
    a->null_count = take() % 2 ? 0 : wrong == 253 ? number() : -1;
    /* What a reader may touch is decided by length and offset. */
    const bool sane = a->length >= 0 && a->offset >= 0 && a->length <= 1 << 12 && a->offset <= 1 << 12;
    const uint64_t slots = sane ? (uint64_t)(a->length + a->offset) : 0;
    const bool text = f[0] && strchr("uzUZ", f[0]) && !f[1], lists = !strcmp(f, "+l") || !strcmp(f, "+L");
    const unsigned wide = f[0] == 'U' || !strcmp(f, "+L") ? 8 : 4;
    if (a->null_count)
        o->buffers[0] = sane ? buffer((slots + 7) / 8, 1, false) : NULL;
    a->n_buffers = !strcmp(f, "+s") || !strncmp(f, "+w", 2) ? 1 : text ? 3 : 2;
    uint64_t below = slots;
    if (text || lists) {
        o->buffers[1] = sane ? buffer((slots + 1) * wide, wide, true) : NULL;
        below = largest_offset(o->buffers[1], wide, slots);
        if (text)
            o->buffers[2] = buffer(below, 1, false);
    } else if (a->n_buffers == 2) {
        const uint64_t width = f[0] == 'w'                   ? 3
                               : f[0] && strchr("lgL", f[0]) ? 8
                               : f[0] && strchr("if", f[0])  ? 4
                               : f[0] == 't'                 ? 4
                                                             : 1;
        o->buffers[1] = sane ? buffer(f[0] == 'b' ? (slots + 7) / 8 : slots * width, 1, false) : NULL;
    } else if (!strncmp(f, "+w", 2)) {
        below = slots * 2;
    }
    for (int b = 0; b < 3; b++)
        buffers[b] = o->buffers[b];
    o->children = depth < DEPTH_MAX ? schema->children : 0;
    a->n_children = o->children;
    a->children = o->list = calloc(LIST, sizeof *a->children);
    for (int64_t i = 0; i < o->children; i++) {
        a->children[i] = o->child[i] = calloc(1, sizeof *a);
        make_array(o->child[i], schema->child[i], below < BUFFER_MAX ? below : 0, depth + 1);
    }
    if (schema->dictionary && take() % 16) {
        a->dictionary = o->dictionary = calloc(1, sizeof *a);
        make_array(o->dictionary, schema->dictionary, take() % 5, DEPTH_MAX);
    }
    if (wrong == 252)
        a->n_buffers = number();
    else if (wrong == 251)
        a->n_children = number();
    else if (wrong == 250)
        a->children = NULL;
    else if (wrong == 249)
        a->dictionary = NULL;
}

struct produced {
    struct ArrowSchema schema; /* a copy of what the stream returned */
    int batches, gone;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct produced *p = stream->private_data;

    make_schema(out, 0);
    p->schema = *out;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct produced *p = stream->private_data;

    out->release = NULL;
    if (take() == 255)
        return 5;
    if (p->batches-- > 0)
        make_array(out, &p->schema, take() % LENGTH_MAX, 0);
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void end(struct ArrowArrayStream *stream)
{
    struct produced *p = stream->private_data;

    must(p->gone++ == 0);
    stream->release = NULL;
}

static void read_all(struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);

    for (uint64_t i = 0; i < lade_source_info(source)->count; i++) {
        struct lade_view views[LADE_FIELDS_MAX];
        struct lade_error error = {.status = 0};
        int64_t label;
        for (unsigned f = 0; f < schema->fields; f++) {
            uint64_t length = 0;
            must(lade_source_length(source, i, f, &length, &error) == LADE_OK);
            const size_t bytes = (size_t)length * lade_field_bytes(&schema->field[f]);
            views[f] = (struct lade_view){bytes <= BUFFER_MAX ? malloc(bytes ? bytes : 1) : NULL, 0, length};
        }
        int status = lade_source_read_fields(source, i, views, &error);
        if (status != LADE_OK)
            check_error(status, &error, 0);
        (void)lade_source_label(source, i, &label, &error);
        (void)lade_source_group(source, i);
        for (unsigned f = 0; f < schema->fields; f++)
            free(views[f].data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct produced produced = {.batches = 1};
    struct ArrowArrayStream stream = {get_schema, get_next, last_error, end, &produced};
    struct lade_source *source;
    struct lade_error error = {.status = 0};

    data = bytes;
    left = size;
    live = 0;
    const unsigned choice = take();
    produced.batches = choice & 3;
    static const struct lade_arrow_column column[] = {{"a", false}, {"b", false}};
    const struct lade_source_arrow config = {.stream = &stream,
                                             .label = choice & 4 ? "a" : NULL,
                                             .group = choice & 8 ? "b" : NULL,
                                             .nulls = (enum lade_nulls)((choice >> 4) % 3),
                                             .column = choice & 64 ? column : NULL,
                                             .columns = choice & 64 ? 2 : 0};
    int status = lade_source_open_arrow(&source, &config, &error);
    must(produced.gone == 1);
    if (status == LADE_OK) {
        read_all(source);
        lade_source_close(source);
    } else {
        check_error(status, &error, 0);
    }
    must(live == 0);
    return 0;
}
