/* SPDX-License-Identifier: MIT */
/* Parquet: row groups as blocks, which the shared object decodes. */
#define _POSIX_C_SOURCE 200809L
#include "arrow.h"
#include "parquet.h"

#include "checksum.h"
#include "heap.h"

#include <dlfcn.h>
#include <lade/version.h>
#include <sys/stat.h>

enum { FILES_MAX = 65536 };

/* A file, and how it was when it was opened. */
struct part {
    struct lade_parquet_file *file;
    char *path;
    struct stat about;
};

struct parquet {
    const struct lade_parquet_object *object;
    const struct lade_alloc *alloc;
    struct lade_arrow *t;
    struct part *part;
    uint64_t parts, space;
    struct place {
        uint32_t part, group;
    } * place; /* of each block */
    uint64_t places;
    uint32_t identity;
};

/* Library and object share a table, whose layout changes between versions. The object stays loaded. */
static int load_object(const struct lade_parquet_object **object, struct lade_error *error)
{
    void *loaded = dlopen(LADE_PARQUET_OBJECT, RTLD_NOW | RTLD_LOCAL);
    const char *reason = loaded ? NULL : dlerror();

    *object = loaded ? dlsym(loaded, LADE_PARQUET_OBJECT_SYMBOL) : NULL;
    if (!*object)
        return lade_fail(error, LADE_ABSENT, NULL, LADE_NO_OFFSET,
                         "no Parquet: %.200s; build lade with Arrow C++ (tools/setup arrow, or the system's), and put "
                         "the object where the loader of shared objects finds it",
                         reason ? reason : LADE_PARQUET_OBJECT " belongs to another release");
    if ((*object)->version == LADE_VERSION_NUMBER && (*object)->size == sizeof **object)
        return LADE_OK;
    return lade_fail(error, LADE_ABSENT, NULL, LADE_NO_OFFSET,
                     "no Parquet: " LADE_PARQUET_OBJECT " has version %u, the library %u; install both from one build",
                     (unsigned)(*object)->version, (unsigned)LADE_VERSION_NUMBER);
}

static void close_parquet(void *self)
{
    struct parquet *p = self;

    for (uint64_t i = 0; i < p->parts; i++) {
        p->object->close(p->part[i].file);
        lade_heap_put(p->alloc, p->part[i].path);
    }
    lade_heap_put(p->alloc, p->part);
    lade_heap_put(p->alloc, p->place);
    lade_heap_put(p->alloc, p);
}

/* Decodes columns of a block, unless the file is not what it was. */
static int decode(const struct parquet *p, uint64_t block, const uint32_t *columns, unsigned count,
                  struct ArrowArray *array, struct lade_error *error)
{
    const struct part *part = &p->part[p->place[block].part];
    char reason[LADE_PARQUET_TEXT] = "";
    struct stat now;

    if (stat(part->path, &now) != 0 || now.st_size != part->about.st_size || now.st_ino != part->about.st_ino ||
        now.st_mtim.tv_sec != part->about.st_mtim.tv_sec || now.st_mtim.tv_nsec != part->about.st_mtim.tv_nsec)
        return lade_fail(error, LADE_DAMAGED, part->path, LADE_NO_OFFSET,
                         "the file was changed or removed since it was opened");
    int status = p->object->read(part->file, p->place[block].group, columns, count, array, reason);
    return status == LADE_OK ? status
                             : lade_fail(error, status, part->path, LADE_NO_OFFSET, "row group %u: %s",
                                         (unsigned)p->place[block].group, reason);
}

static int fetch(void *self, uint64_t block, struct ArrowArray *array, struct lade_error *error)
{
    const struct parquet *p = self;

    return decode(p, block, p->t->top, p->t->tops, array, error);
}

/* Whether a column must be read to know its lengths, names, classes, nulls or the size of its images. */
static bool is_measured(const struct lade_arrow *t, unsigned column)
{
    const struct lade_arrow_type *type = &t->column[column];

    return type->is_list || type->is_dictionary || t->nulls == LADE_NULLS_SKIP ||
           ((int)column == t->roles.label && t->classes == 0) || (type->is_image && type->value.size.height == 0);
}

/* Bytes of a column that was not read, when it is decoded. */
static uint64_t bytes_of(const struct parquet *p, const struct lade_arrow_type *type, uint64_t block, uint64_t rows)
{
    const struct place *place = &p->place[block];

    if (type->is_image)
        return p->object->bytes(p->part[place->part].file, place->group, type->path[0]) + 8 * rows;
    return (type->is_bits ? rows * type->items / 8 : rows * type->items * lade_dtype_size(type->raw)) + rows / 8 + 8;
}

static uint64_t rows_of(const void *self, uint64_t block)
{
    const struct parquet *p = self;

    return p->object->rows(p->part[p->place[block].part].file, p->place[block].group);
}

static int measure_block(struct parquet *p, uint64_t block, struct lade_error *error)
{
    struct lade_arrow *t = p->t;
    const uint64_t rows = rows_of(p, block);
    struct lade_arrow_block b = {.array = {.length = (int64_t)rows}};
    struct ArrowArray array = {.release = NULL};
    uint32_t child[LADE_FIELDS_MAX], wanted[LADE_FIELDS_MAX];
    unsigned count = 0;
    int status = LADE_OK;
    uint64_t bytes = 0;

    for (unsigned i = 0; i < t->tops; i++) {
        child[i] = UINT32_MAX;
        for (unsigned c = 0; c < t->columns && child[i] == UINT32_MAX; c++)
            if (t->column[c].top == i && is_measured(t, c)) {
                child[i] = count;
                wanted[count++] = t->top[i];
            }
    }
    if (count > 0) {
        status = decode(p, block, wanted, count, &array, error);
        if (status == LADE_OK)
            status = lade_arrow_resolve(t, &b, &array, child, block, true, error);
        bytes = b.bytes;
    }
    for (unsigned c = 0; c < t->columns; c++)
        if (child[t->column[c].top] == UINT32_MAX)
            bytes += bytes_of(p, &t->column[c], block, rows);
    if (status == LADE_OK)
        status = lade_arrow_measure(t, &b, child, true, bytes, error);
    if (status == LADE_OK)
        lade_arrow_drop(t, &t->block[t->blocks - 1]);
    return status;
}

static void put_parquet(const void *self, struct lade_index_writer *w)
{
    const struct parquet *p = self;

    lade_arrow_put(p->t, w);
}

static bool take_parquet(void *self, struct lade_index_reader *r)
{
    struct parquet *p = self;

    return lade_arrow_take(p->t, r, p->places, rows_of, p);
}

/* From the index, if anything must be read for that at all. */
static int measure_all(struct parquet *p, struct lade_index *index, struct lade_error *error)
{
    bool reads = false;
    int status = LADE_OK;

    for (unsigned c = 0; c < p->t->columns && p->places > 0; c++)
        reads = reads || is_measured(p->t, c);
    if (!reads || !lade_index_load(index, take_parquet, p)) {
        for (uint64_t b = 0; b < p->places && status == LADE_OK; b++)
            status = measure_block(p, b, error);
        if (status == LADE_OK && reads)
            lade_index_save(index, put_parquet, p);
    }
    p->t->index_use = index->use;
    p->t->index_file = index->path;
    index->path = NULL;
    return status;
}

static bool same_columns(const struct lade_arrow *a, const struct lade_arrow *b)
{
    for (unsigned c = 0; c < a->columns; c++) {
        const struct lade_arrow_type *x = &a->column[c], *y = &b->column[c];
        if (c >= b->columns || strcmp(x->name, y->name) != 0 || x->value.field.dtype != y->value.field.dtype ||
            x->raw != y->raw || x->is_list != y->is_list || x->wide != y->wide || x->is_bits != y->is_bits ||
            x->is_dictionary != y->is_dictionary || x->depth != y->depth || x->levels != y->levels ||
            x->items != y->items || x->slot != y->slot || memcmp(x->path, y->path, sizeof x->path) != 0 ||
            memcmp(x->value.field.dim, y->value.field.dim, sizeof x->value.field.dim) != 0)
            return false;
    }
    return a->columns == b->columns;
}

/* The columns of a file, which must be those of the first. Takes the schema. */
static int choose(struct parquet *p, struct ArrowSchema *schema, const struct lade_source_arrow *config,
                  const char *path, struct lade_error *error)
{
    struct lade_arrow *t = p->t;

    if (p->parts == 1) {
        t->schema = *schema;
        return lade_arrow_choose(t, config, error);
    }
    struct lade_arrow *other = lade_heap_get(p->alloc, 1, sizeof *other);
    if (!other) {
        schema->release(schema);
        return lade_members_no_memory(error);
    }
    other->schema = *schema;
    other->alloc = p->alloc;
    other->file = t->file;
    int status = lade_arrow_choose(other, config, error);
    if (status == LADE_OK && !same_columns(t, other))
        status = lade_fail(error, LADE_DAMAGED, path, LADE_NO_OFFSET,
                           "the chosen columns have other types or places than in the first file");
    other->schema.release(&other->schema);
    lade_heap_put(p->alloc, other);
    return status;
}

struct opening {
    struct parquet *p;
    const struct lade_source_arrow *config;
    struct lade_index *index;
};

static int add_groups(struct parquet *p, uint64_t groups, struct lade_error *error)
{
    struct place *more = lade_heap_resize(p->alloc, p->place, (size_t)(p->places + groups + 1), sizeof *more);

    if (!more)
        return lade_members_no_memory(error);
    p->place = more;
    for (uint64_t g = 0; g < groups; g++)
        p->place[p->places++] = (struct place){(uint32_t)(p->parts - 1), (uint32_t)g};
    return LADE_OK;
}

static int open_part(void *context, const char *path, struct items *it)
{
    const struct opening *o = context;
    struct parquet *p = o->p;
    char reason[LADE_PARQUET_TEXT] = "";
    struct ArrowSchema schema = {.release = NULL};
    int status = no_file(it, path);

    if (status == LADE_OK && p->parts == FILES_MAX)
        status = wrong(it, "more than 65536 files", "");
    if (status != LADE_OK)
        return status;
    if (p->parts == p->space) {
        const uint64_t space = p->space ? 2 * p->space : 16;
        struct part *more = lade_heap_resize(p->alloc, p->part, (size_t)space, sizeof *more);
        if (!more)
            return lade_members_no_memory(it->error);
        p->part = more;
        p->space = space;
    }
    struct part *part = &p->part[p->parts];
    *part = (struct part){.path = lade_heap_text(p->alloc, path)};
    if (!part->path)
        return lade_members_no_memory(it->error);
    if (stat(path, &part->about) != 0)
        status = lade_fail(it->error, LADE_IO, path, LADE_NO_OFFSET, "cannot be opened");
    else if ((status = p->object->open(&part->file, path, &schema, reason)) != LADE_OK)
        status = lade_fail(it->error, status, path, LADE_NO_OFFSET, "%s", reason);
    if (status != LADE_OK) {
        lade_heap_put(p->alloc, part->path);
        return status;
    }
    p->parts++;
    status = choose(p, &schema, o->config, path, it->error);
    if (status == LADE_OK)
        status = add_groups(p, p->object->groups(part->file), it->error);
    unsigned char bytes[4];
    const uint32_t identity = p->object->identity(part->file);
    const struct lade_stamp stamp = {(uint64_t)part->about.st_size, part->about.st_mtim.tv_sec,
                                     (uint32_t)part->about.st_mtim.tv_nsec, identity};
    lade_index_add(o->index, path, &stamp);
    lade_write_number(bytes, identity, 4);
    p->identity = lade_crc32c(p->identity, bytes, sizeof bytes);
    return status;
}

static int make_parquet(struct parquet **to, const struct lade_parquet_object *object, const struct items *it,
                        const struct lade_source_arrow *config, const char *name)
{
    struct parquet *p = lade_heap_get(it->alloc, 1, sizeof *p);
    struct lade_arrow *t = lade_heap_get(it->alloc, 1, sizeof *t);

    if (!p || !t || !(t->file = lade_heap_text(it->alloc, name))) {
        lade_heap_put(it->alloc, p);
        lade_heap_put(it->alloc, t);
        return lade_members_no_memory(it->error);
    }
    t->kind = "parquet";
    t->alloc = p->alloc = it->alloc;
    t->classes = config->classes;
    t->largest = UINT64_MAX;
    t->feed = (struct lade_arrow_feed){.fetch = fetch, .close = close_parquet, .self = p, .in_order = true};
    p->t = t;
    p->object = object;
    *to = p;
    return LADE_OK;
}

static int open_files(struct lade_source **source, struct items *it, const struct lade_source_arrow *config,
                      struct lade_index *index)
{
    const struct lade_parquet_object *object;
    struct parquet *p = NULL;
    const char *path = next_file(it);
    int status = no_file(it, path);

    if (status == LADE_OK)
        status = load_object(&object, it->error);
    if (status == LADE_OK)
        status = make_parquet(&p, object, it, config, path);
    if (status != LADE_OK)
        return status;
    struct opening o = {p, config, index};
    do
        status = lade_each_path(it, path, open_part, &o);
    while (status == LADE_OK && (path = next_file(it)));
    if (status == LADE_OK)
        status = measure_all(p, index, it->error);
    if (status == LADE_OK)
        return lade_arrow_source(source, p->t, config, false, p->identity, it->error);
    lade_arrow_close(p->t);
    return status;
}

static int take_nulls(struct items *it, struct lade_source_arrow *config)
{
    const char *nulls = option(it, "nulls"), *fill = option(it, "fill"), *end;
    uint64_t number;

    if (nulls && !strcmp(nulls, "skip"))
        config->nulls = LADE_NULLS_SKIP;
    else if (nulls && !strcmp(nulls, "fill"))
        config->nulls = LADE_NULLS_FILL;
    else if (nulls && strcmp(nulls, "fail") != 0)
        return wrong(it, "nulls is fail, skip or fill, not", nulls);
    if (!fill)
        return LADE_OK;
    if (config->nulls != LADE_NULLS_FILL || !digits(fill + (*fill == '-'), &number, &end) || *end || number > 1u << 30)
        return wrong(it, "fill takes an integer up to 2^30, with nulls=fill, not", fill);
    config->fill = *fill == '-' ? -(double)number : (double)number;
    return LADE_OK;
}

static int take_fields(struct items *it, struct lade_source_arrow *config, struct lade_arrow_column *column)
{
    char *name;

    while ((name = option(it, "field"))) {
        const size_t length = strlen(name);
        if (config->columns == LADE_FIELDS_MAX)
            return wrong(it, "more than 16 fields", "");
        const bool image = length > 6 && !strcmp(name + length - 6, ":image");
        if (image)
            name[length - 6] = 0;
        column[config->columns++] = (struct lade_arrow_column){name, image};
    }
    config->column = config->columns ? column : NULL;
    return LADE_OK;
}

int lade_open_parquet(struct lade_source **source, struct items *it)
{
    struct lade_index index;
    struct lade_arrow_column column[LADE_FIELDS_MAX];
    int status = lade_index_begin(&index, it);
    struct lade_source_arrow config = {
        .label = option(it, "label"), .key = option(it, "key"), .group = option(it, "group"), .alloc = it->alloc};
    struct lade_shape shape = {.dtype = LADE_U8, .dims = 0};
    const char *size = option(it, "size");
    uint64_t window = 0;

    if (status == LADE_OK)
        status = take_fields(it, &config, column);
    if (status == LADE_OK)
        status = take_nulls(it, &config);
    if (status == LADE_OK)
        status = number(it, "classes", &config.classes);
    if (status == LADE_OK)
        status = number(it, "pixels", &config.pixels);
    if (status == LADE_OK && size) {
        status = dimensions(it, size, &shape);
        if (status == LADE_OK && (shape.dims != 2 || shape.dim[0] > 16384 || shape.dim[1] > 16384))
            status = wrong(it, "size takes HEIGHTxWIDTH, each up to 16384, not", size);
        config.height = (uint32_t)shape.dim[0];
        config.width = (uint32_t)shape.dim[1];
    }
    lade_index_options(&index, it); /* those below change nothing that is measured */
    if (status == LADE_OK)
        status = number(it, "memory", &config.memory);
    if (status == LADE_OK)
        status = number(it, "window", &window);
    if (status == LADE_OK && (window > LADE_WINDOW_MAX || config.pixels > UINT32_MAX))
        status = wrong(it, "window is at most 64, pixels at most 2^32 - 1", "");
    config.window = (unsigned)window;
    if (status == LADE_OK)
        status = open_files(source, it, &config, &index);
    lade_index_end(&index);
    return status;
}
