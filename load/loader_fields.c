/* SPDX-License-Identifier: MIT */
/*
 * Batches with a tensor for each field.
 *
 * The lengths of all samples of a batch are known before one is read, so the tensors are placed first, without gaps other
 * than for alignment, and each sample is read to where it stays. First the values of all fields, then the lengths of
 * padded fields and the offsets of concatenated ones.
 */
#include "fields.h"

#include "heap.h"

#include <string.h>

/* A row of the batch that a worker makes. */
struct lade_row {
    uint64_t origin;   /* the sample of the order */
    unsigned attempts; /* substitutes so far */
};

/* What samples take together. */
struct extents {
    uint64_t rows, longest[LADE_TENSORS_MAX], sum[LADE_TENSORS_MAX];
};

static int refuse(struct lade_error *error, const char *field, const char *why)
{
    return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "field '%s': %s", field, why);
}

bool lade_fields_wanted(const struct lade_loader_config *config)
{
    return config->fields > 0 || lade_source_info(config->source)->schema;
}

/* Steps of a row whose longest sample has this length. */
static uint64_t padded(const struct column *c, uint64_t longest)
{
    for (unsigned b = 0; b < c->buckets; b++)
        if (longest <= c->bucket[b])
            return c->bucket[b];
    const uint64_t least = longest > 0 ? longest : 1; /* no tensor has a dimension of zero */
    return (least - 1) / c->multiple * c->multiple + c->multiple;
}

/* Steps of a whole tensor. */
static uint64_t steps_of(const struct column *c, uint64_t rows, uint64_t longest, uint64_t sum)
{
    return !c->is_ragged ? rows : c->is_joined ? sum : rows * padded(c, longest);
}

/* Whether a column with this many rows has more steps than its total. */
static bool is_over(const struct column *c, uint64_t rows, uint64_t longest, uint64_t sum)
{
    return c->total > 0 && (c->is_joined ? sum > c->total : padded(c, longest) > c->total / rows);
}

/* Adds a sample. False, and unchanged: a total would be exceeded. */
static bool add(const struct lade_fields *f, struct extents *e, const uint64_t *length)
{
    struct extents more = {.rows = e->rows + 1};

    for (unsigned i = 0; i < f->columns; i++) {
        more.longest[i] = length[i] > e->longest[i] ? length[i] : e->longest[i];
        more.sum[i] = e->sum[i] + length[i];
        if (is_over(&f->column[i], more.rows, more.longest[i], more.sum[i]))
            return false;
    }
    *e = more;
    return true;
}

size_t lade_fields_align(size_t bytes)
{
    return (bytes + LADE_DEVICE_ALIGN - 1) / LADE_DEVICE_ALIGN * LADE_DEVICE_ALIGN;
}

static size_t lengths_bytes(const struct column *c, uint64_t rows)
{
    return (size_t)(rows + c->is_joined) * (c->wide ? sizeof(int64_t) : sizeof(int32_t));
}

/* Places the tensors of a batch. The bytes of all. */
static size_t place(const struct lade_fields *f, const struct extents *e, size_t *offset)
{
    size_t at = 0;

    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        offset[i] = at;
        at += lade_fields_align((size_t)steps_of(c, e->rows, e->longest[i], e->sum[i]) * c->step);
    }
    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        if (!c->is_ragged)
            continue;
        offset[c->lengths] = at;
        at += lade_fields_align(lengths_bytes(c, e->rows));
    }
    return at;
}

/* Buckets, multiple and maximum of a padded column. */
static int set_padding(struct column *c, const struct lade_loader_field *from, struct lade_error *error)
{
    const char *name = c->field->name;

    if (from->buckets > LADE_BUCKETS_MAX || (from->buckets > 0 && (!from->bucket || from->multiple > 0)))
        return refuse(error, name, "rows take up to 64 lengths or a multiple, not both");
    for (unsigned b = 0; b < from->buckets; b++) {
        if (from->bucket[b] <= (b ? from->bucket[b - 1] : 0))
            return refuse(error, name, "the lengths of rows do not rise");
        c->bucket[b] = from->bucket[b];
    }
    c->buckets = from->buckets;
    if (c->buckets > 0 && c->max > c->bucket[c->buckets - 1])
        return refuse(error, name, "no row is long enough for a sample of max steps");
    if (c->multiple > BYTES_MAX)
        return refuse(error, name, "the multiple is above 2^62");
    c->pads_zeros = true;
    if (!from->padding)
        return LADE_OK;
    memcpy(c->padding, from->padding, c->element);
    for (size_t b = 0; b < c->element; b++)
        c->pads_zeros = c->pads_zeros && c->padding[b] == 0;
    return LADE_OK;
}

static int set_ragged(struct column *c, const struct lade_loader_field *from, struct lade_error *error)
{
    const char *name = c->field->name;

    if ((unsigned)from->ragged > LADE_RAGGED_PACKED)
        return refuse(error, name, "it is padded, concatenated or packed");
    c->is_ragged = true;
    c->is_packed = from->ragged == LADE_RAGGED_PACKED;
    c->is_joined = from->ragged == LADE_RAGGED_CONCATENATED;
    c->wide = from->wide;
    c->cut = from->cut;
    c->element = lade_dtype_size(c->field->dtype);
    c->multiple = from->multiple ? from->multiple : 1;
    c->total = from->total;
    c->max = from->max ? from->max : c->field->ragged_max;
    if (!from->max && from->buckets > 0 && from->buckets <= LADE_BUCKETS_MAX && from->bucket)
        c->max = from->bucket[from->buckets - 1];
    if (c->max > c->field->ragged_max)
        c->max = c->field->ragged_max;
    if (c->is_packed && (from->cut || from->max || from->total || from->multiple || from->buckets))
        return refuse(error, name,
                      "a packed field has padding and wide only; pack_row and pack_longer decide the rest");
    if (c->is_joined && (from->buckets || from->multiple || from->padding))
        return refuse(error, name, "a concatenated field has no padding");
    return c->is_joined ? LADE_OK : set_padding(c, from, error);
}

/* Whether all but the name is zero. */
static bool is_plain(const struct lade_loader_field *from)
{
    return from->ragged == LADE_RAGGED_PADDED && !from->wide && !from->cut && from->max == 0 && from->total == 0 &&
           from->multiple == 0 && from->buckets == 0 && !from->padding;
}

static int add_column(struct lade_loader *l, const struct lade_loader_field *from, struct lade_error *error)
{
    const struct lade_schema *schema = lade_source_schema(l->config.source);
    struct lade_fields *f = l->fields;
    struct column *c = &f->column[f->columns];
    const int number = from->name ? lade_schema_find(schema, from->name) : LADE_NO_FIELD;

    if (number == LADE_NO_FIELD)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "the source has no field '%s'; its first is '%s'",
                         from->name ? from->name : "", schema->field[0].name);
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].number == (unsigned)number)
            return refuse(error, from->name, "it is named twice");
    for (int i = 0; i < 4; i++)
        if (from->reserved[i] != 0)
            return refuse(error, from->name, "a reserved word is not 0");
    *c = (struct column){.field = &schema->field[number], .number = (unsigned)number};
    c->step = lade_field_bytes(c->field);
    f->columns++;
    if (c->field->ragged_max > 0) {
        f->is_ragged = true;
        if (l->config.fields > 0 && (l->config.pack_row > 0) != (from->ragged == LADE_RAGGED_PACKED))
            return refuse(error, from->name, "with pack_row all ragged fields are packed, and only with it");
        return set_ragged(c, from, error);
    }
    return is_plain(from) ? LADE_OK : refuse(error, from->name, "it is not ragged: set only its name");
}

static int add_columns(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_schema *schema = lade_source_schema(l->config.source);
    const struct lade_loader_config *config = &l->config;
    const unsigned count = config->fields ? config->fields : schema->fields;
    const bool packs = config->pack_row > 0;
    unsigned tensors = packs ? 3 : 0;
    int status = LADE_OK;

    for (unsigned i = 0; i < count && status == LADE_OK; i++) {
        const struct lade_loader_field plain = {.name = i < schema->fields ? schema->field[i].name : NULL,
                                                .ragged = packs && i < schema->fields && schema->field[i].ragged_max > 0
                                                              ? LADE_RAGGED_PACKED
                                                              : LADE_RAGGED_PADDED};
        const struct lade_loader_field *from = config->fields ? &config->field[i] : &plain;
        const int number = from->name ? lade_schema_find(schema, from->name) : LADE_NO_FIELD;
        tensors += number != LADE_NO_FIELD && schema->field[number].ragged_max > 0 && !packs ? 2 : 1;
        if (tensors > LADE_TENSORS_MAX)
            return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                             "a batch has at most %u tensors, %s; choose fewer fields", LADE_TENSORS_MAX,
                             packs ? "three for its packed rows" : "two for each ragged field");
        status = add_column(l, from, error);
    }
    return status;
}

/* The field of the pipeline has its output's size. */
static int set_pipeline(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_pipeline *pipeline = l->config.pipeline;
    struct column *c = NULL;

    if (!pipeline)
        return LADE_OK;
    for (unsigned i = 0; i < l->fields->columns; i++)
        if (l->fields->column[i].number == l->config.pipeline_field)
            c = &l->fields->column[i];
    if (!c || c->is_ragged)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                         "the field of the pipeline is ragged, or is not delivered");
    l->input_bytes = c->step;
    if (lade_image_bytes(lade_pipeline_input(pipeline)) != c->step)
        return refuse(error, c->field->name, "the pipeline takes samples of another size");
    c->step = lade_image_bytes(lade_pipeline_output(pipeline));
    return LADE_OK;
}

/* Bytes of the largest batch. */
static int set_block(struct lade_loader *l, struct lade_error *error)
{
    struct lade_fields *f = l->fields;
    const uint64_t batch = l->config.batch;

    for (unsigned i = 0; i < f->columns; i++) {
        struct column *c = &f->column[i];
        const uint64_t row = c->is_joined ? c->max : c->is_ragged ? padded(c, c->max) : 1;
        uint64_t steps = row > BYTES_MAX / batch ? BYTES_MAX : row * batch;
        if (c->total > 0 && c->total < row)
            return refuse(error, c->field->name, "the total is below one sample of max steps; set max as well");
        if (c->total >= steps)
            c->total = 0; /* it limits nothing */
        if (c->total > 0)
            steps = c->total;
        f->is_limited = f->is_limited || c->total > 0;
        if (c->step == 0 || steps > (BYTES_MAX - f->block) / 2 / c->step)
            return refuse(error, c->field->name,
                          "a batch of such samples does not fit into memory; set max, total or a smaller batch");
        if (c->is_ragged && !c->wide && (c->is_joined ? steps : c->max) > INT32_MAX)
            return refuse(error, c->field->name, "offsets and lengths above 2^31 need wide, or a smaller max or total");
        f->block += lade_fields_align((size_t)steps * c->step) +
                    (c->is_ragged ? lade_fields_align(lengths_bytes(c, batch)) : 0);
    }
    return LADE_OK;
}

/* Segment ids, positions, and the samples of each row. */
static void add_packed_tensors(struct lade_loader *l)
{
    struct lade_fields *f = l->fields;
    const struct column *c = f->column;
    const enum lade_dtype dtype = f->wide ? LADE_I64 : LADE_I32;
    const uint64_t rows = l->config.batch;

    while (!c->is_packed)
        c++;
    f->segments = l->tensors;
    for (unsigned i = 0; i < 2; i++) {
        l->shape[l->tensors] = (struct lade_shape){.dtype = dtype, .dims = 2, .dim = {rows, l->config.pack_row}};
        f->info[l->tensors++] =
            (struct lade_tensor_info){c->field->name, c->number, i ? LADE_TENSOR_POSITIONS : LADE_TENSOR_SEGMENTS};
    }
    l->shape[l->tensors] = (struct lade_shape){.dtype = dtype, .dims = 1, .dim = {rows + 1}};
    f->info[l->tensors++] = (struct lade_tensor_info){c->field->name, c->number, LADE_TENSOR_ROWS};
}

static void set_shapes(struct lade_loader *l)
{
    struct lade_fields *f = l->fields;

    l->tensors = f->columns;
    for (unsigned i = 0; i < f->columns; i++) {
        struct column *c = &f->column[i];
        struct lade_shape shape = {.dtype = c->field->dtype, .dims = c->field->dims};
        memcpy(shape.dim, c->field->dim, c->field->dims * sizeof *shape.dim);
        if (l->config.pipeline && c->number == l->config.pipeline_field)
            shape = lade_loader_output(l->config.pipeline);
        const unsigned more = c->is_ragged && !c->is_joined ? 2 : 1;
        memmove(shape.dim + more, shape.dim, shape.dims * sizeof *shape.dim);
        shape.dims += more;
        shape.dim[0] = l->config.batch;
        l->shape[i] = shape;
        f->info[i] = (struct lade_tensor_info){c->field->name, c->number, LADE_TENSOR_VALUES};
    }
    for (unsigned i = 0; i < f->columns; i++) {
        struct column *c = &f->column[i];
        if (!c->is_ragged || c->is_packed)
            continue;
        c->lengths = l->tensors++;
        l->shape[c->lengths] =
            (struct lade_shape){.dtype = c->wide ? LADE_I64 : LADE_I32, .dims = 1, .dim = {l->config.batch}};
        f->info[c->lengths] = (struct lade_tensor_info){c->field->name, c->number,
                                                        c->is_joined ? LADE_TENSOR_OFFSETS : LADE_TENSOR_LENGTHS};
    }
    if (l->pack)
        add_packed_tensors(l);
    l->sample_bytes = f->column[0].is_ragged ? 0 : f->column[0].step;
}

/* Combinations that are refused. */
static int check_modes(const struct lade_loader *l, struct lade_error *error)
{
    const struct lade_loader_config *c = &l->config;
    const char *why = NULL;

    if (l->fields->is_limited && (c->fault == LADE_FAULT_SUBSTITUTE || c->drop_last || c->buffer > 0))
        why = "a total of steps goes with neither substitutes (skip instead), nor drop_last, nor stream mode";
    else if (c->buffer > 0 && lade_source_info(c->source)->count == LADE_ENDLESS)
        why = "an endless source has no fields to choose";
    else if (c->buffer > 0 && !lade_shuffle_fits(l))
        why = "stream mode with fields takes no exact split, and does not skip faults";
    return why ? lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s", why) : LADE_OK;
}

int lade_fields_create(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_schema *schema = lade_source_schema(l->config.source);

    if (l->config.fields > 0 && !l->config.field)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "there are no fields");
    l->fields = lade_heap_get(l->config.alloc, 1, sizeof *l->fields);
    if (!l->fields)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    l->fields->label = schema->label;
    l->fields->schema = schema->fields;
    int status = add_columns(l, error);
    if (status == LADE_OK)
        status = set_pipeline(l, error);
    if (status == LADE_OK)
        status = l->config.pack_row > 0 ? lade_pack_create(l, error) : set_block(l, error);
    if (status == LADE_OK)
        status = check_modes(l, error);
    if (status == LADE_OK)
        set_shapes(l);
    return status;
}

void lade_fields_free(struct lade_loader *l)
{
    lade_pack_free(l);
    lade_heap_put(l->config.alloc, l->fields);
    l->fields = NULL;
}

size_t lade_fields_block(const struct lade_loader *l)
{
    return l->fields->block;
}

bool lade_fields_limits(const struct lade_loader *l)
{
    return l->fields->is_limited;
}

int lade_fields_packed_length(const struct lade_loader *l, uint64_t id, uint64_t *length, struct lade_error *error)
{
    const struct lade_fields *f = l->fields;
    const struct column *first = NULL;

    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        uint64_t steps;
        if (!c->is_packed)
            continue;
        int status = lade_source_length(l->config.source, id, c->number, &steps, error);
        if (status != LADE_OK)
            return status;
        if (first && steps != *length)
            return lade_fail(error, LADE_DAMAGED, NULL, LADE_NO_OFFSET,
                             "fields '%s' and '%s' of sample %llu have %llu and %llu steps; packed together, they must "
                             "be equally long",
                             first->field->name, c->field->name, (unsigned long long)id, (unsigned long long)*length,
                             (unsigned long long)steps);
        first = first ? first : c;
        *length = steps;
    }
    return LADE_OK;
}

const struct lade_tensor_info *lade_loader_tensors(const struct lade_loader *l, unsigned *count)
{
    static const struct lade_tensor_info plain[LADE_BATCH_TENSORS] = {{"sample", 0, LADE_TENSOR_VALUES},
                                                                      {"label", 1, LADE_TENSOR_VALUES}};

    *count = l->tensors;
    return l->fields ? l->fields->info : plain;
}

bool lade_fields_prepare(struct lade_worker *w)
{
    const struct lade_loader *l = w->loader;
    const size_t rows = (size_t)l->config.batch;

    if (l->pack)
        return lade_pack_prepare(w);
    if (!w->row)
        w->row = lade_heap_get(l->config.alloc, rows, sizeof *w->row);
    if (!w->lengths)
        w->lengths = lade_heap_get(l->config.alloc, rows * l->fields->columns, sizeof *w->lengths);
    return w->row && w->lengths;
}

/* Steps of the columns of a sample, as they are delivered. */
static int measure(const struct lade_loader *l, uint64_t id, uint64_t *length, struct lade_error *error)
{
    const struct lade_fields *f = l->fields;

    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        length[i] = 1;
        if (!c->is_ragged)
            continue;
        int status = lade_source_length(l->config.source, id, c->number, &length[i], error);
        if (status != LADE_OK)
            return status;
        if (length[i] > c->max && !c->cut)
            return lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                             "field '%s' of sample %llu has %llu steps; batches take %llu: cut it, or raise max",
                             c->field->name, (unsigned long long)id, (unsigned long long)length[i],
                             (unsigned long long)c->max);
        length[i] = length[i] > c->max ? c->max : length[i];
    }
    return LADE_OK;
}

/* Adds a sample of a batch that is planned. False: it does not fit. */
static bool plan_row(const struct lade_loader *l, struct extents *e, uint64_t id)
{
    const struct lade_fields *f = l->fields;
    uint64_t length[LADE_TENSORS_MAX];

    /*
     * A sample without a length is a fault, which the worker that makes the batch applies the policy to. It may have one
     * by then, so it takes the space of the longest.
     */
    if (measure(l, id, length, NULL) != LADE_OK)
        for (unsigned i = 0; i < f->columns; i++)
            length[i] = f->column[i].is_ragged ? f->column[i].max : 1;
    return add(f, e, length);
}

uint64_t lade_fields_fit(const struct lade_loader *l, struct lade_walk *walk, const struct lade_cursor *from,
                         uint64_t *ids, uint64_t count)
{
    struct lade_cursor cursor = *from;
    struct extents e = {0};

    for (uint64_t i = 0, listed = 0; i < count; i++) {
        if (i == listed) { /* few at a time: a batch may hold far fewer than count */
            const uint64_t more = count - listed < LADE_AT_ONCE ? count - listed : LADE_AT_ONCE;
            lade_order_take(&l->order, walk, &cursor, ids + listed, more);
            listed += more;
        }
        if (!plan_row(l, &e, ids[i]))
            return i > 0 ? i : 1;
    }
    return count;
}

static void drop_row(const struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t row, uint64_t *rows)
{
    const size_t columns = w->loader->fields->columns, after = (size_t)(*rows - row - 1);

    memmove(slot->ids + row, slot->ids + row + 1, after * sizeof *slot->ids);
    memmove(w->row + row, w->row + row + 1, after * sizeof *w->row);
    memmove(w->lengths + row * columns, w->lengths + (row + 1) * columns, after * columns * sizeof *w->lengths);
    --*rows;
}

/* Applies the fault policy to a row: drops it, or lists a substitute. LADE_OK or an error. */
static int replace(const struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t row, uint64_t *rows,
                   int status)
{
    const struct lade_loader *l = w->loader;
    struct lade_row *r = &w->row[row];

    if (l->config.fault == LADE_FAULT_FAIL)
        return lade_worker_error(status);
    slot->faults += r->attempts == 0;
    if (r->attempts == 0)
        lade_worker_note_fault(l, slot, r->origin);
    if (l->config.fault == LADE_FAULT_SKIP) {
        drop_row(w, slot, row, rows);
        return LADE_OK;
    }
    if (r->attempts == LADE_SUBSTITUTES_MAX)
        return lade_worker_error(status);
    const uint64_t epoch = l->shuffle ? lade_shuffle_epoch(l, w->job.batch, row) : slot->epoch;
    slot->ids[row] = lade_order_substitute(&l->order, epoch, r->origin, r->attempts++);
    return LADE_OK;
}

/* Measures all rows, and places the tensors. */
static int measure_rows(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t *rows)
{
    const struct lade_fields *f = w->loader->fields;
    struct extents e = {0};

    for (uint64_t row = 0; row < *rows;) {
        uint64_t *length = w->lengths + row * f->columns;
        if (row % LADE_AT_ONCE == 0 && lade_worker_is_superseded(w))
            return LADE_CANCELLED;
        int status = measure(w->loader, slot->ids[row], length, &slot->error);
        if (status == LADE_OK && !f->is_ragged)
            e.rows++;
        else if (status == LADE_OK && !add(f, &e, length))
            status = lade_fail(&slot->error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                               "sample %llu has other lengths than when the batch was planned",
                               (unsigned long long)slot->ids[row]);
        if (status == LADE_OK)
            row++;
        else if ((status = replace(w, slot, row, rows, status)) != LADE_OK)
            return status;
    }
    for (unsigned i = 0; i < f->columns; i++)
        slot->steps[i] = f->column[i].is_ragged && !f->column[i].is_joined ? padded(&f->column[i], e.longest[i]) : 0;
    slot->bytes = place(f, &e, slot->offset);
    return LADE_OK;
}

void lade_column_pad(const struct column *c, uint8_t *to, size_t bytes)
{
    if (c->pads_zeros) {
        memset(to, 0, bytes);
        return;
    }
    for (size_t done = 0; done < bytes; done += c->element)
        memcpy(to + done, c->padding, c->element);
}

/* Where the values of a row begin. */
static uint8_t *row_of(const struct lade_batch_buffer *slot, const struct column *c, unsigned column, uint64_t row,
                       uint64_t start)
{
    const uint64_t steps = !c->is_ragged ? row : c->is_joined ? start : row * slot->steps[column];

    return slot->samples + slot->offset[column] + (size_t)steps * c->step;
}

/* The label that a view was read into, checked. */
static int take_label(const struct lade_loader *l, uint64_t id, const void *from, int64_t *label,
                      struct lade_error *error)
{
    const struct lade_source *source = l->config.source;

    if (!lade_integer_at(source->field[l->fields->label].dtype, from, label))
        return lade_fail(error, LADE_DAMAGED, source->info.kind, LADE_NO_OFFSET,
                         "the label of sample %llu is above 2^63", (unsigned long long)id);
    return lade_source_check_label(source, id, *label, error);
}

int lade_fields_read(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t id, uint64_t row,
                     struct lade_view *views, void *output)
{
    const struct lade_loader *l = w->loader;
    const int field = l->fields->label;
    uint64_t label = 0;

    if (field != LADE_NO_FIELD && !views[field].data)
        views[field] = (struct lade_view){.data = &label, .length = 1};
    slot->labels[row] = LADE_NO_LABEL;
    int status = lade_source_read_views(l->config.source, id, views, &slot->error);
    if (status == LADE_OK && field != LADE_NO_FIELD)
        status = take_label(l, id, views[field].data, &slot->labels[row], &slot->error);
    if (status == LADE_OK && output)
        status = lade_worker_transform(w, l->shuffle ? lade_shuffle_epoch(l, w->job.batch, row) : slot->epoch, id,
                                       output, &slot->error);
    return status;
}

/* Where a row is read to, and its padding. start: the steps of the rows before it, for each column. Returns the output of
 * the pipeline, or NULL. label: for a label that is no column. */
static void *place_row(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t row, const uint64_t *start,
                       struct lade_view *views, uint64_t *label)
{
    const struct lade_loader *l = w->loader;
    const struct lade_fields *f = l->fields;
    const uint64_t *length = w->lengths + row * f->columns;
    void *output = NULL;

    memset(views, 0, f->schema * sizeof *views);
    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        uint8_t *to = row_of(slot, c, i, row, start[i]);
        if (l->config.pipeline && c->number == l->config.pipeline_field) {
            output = to;
            to = w->input;
        }
        views[c->number] = (struct lade_view){.data = to, .length = length[i]};
        if (c->is_ragged && !c->is_joined)
            lade_column_pad(c, to + (size_t)length[i] * c->step, (size_t)(slot->steps[i] - length[i]) * c->step);
    }
    if (f->label != LADE_NO_FIELD && !views[f->label].data)
        views[f->label] = (struct lade_view){.data = label, .length = 1};
    return output;
}

/* Reads a row. start: the steps of the rows before it, for each column. */
static int read_row(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t row, const uint64_t *start)
{
    struct lade_view views[LADE_FIELDS_MAX];
    uint64_t label = 0;
    void *output = place_row(w, slot, row, start, views, &label);

    return lade_fields_read(w, slot, slot->ids[row], row, views, output);
}

void lade_fields_store(uint8_t *to, bool wide, uint64_t i, uint64_t value)
{
    const int64_t broad = (int64_t)value;
    const int32_t narrow = (int32_t)value;

    if (wide)
        memcpy(to + i * sizeof broad, &broad, sizeof broad);
    else
        memcpy(to + i * sizeof narrow, &narrow, sizeof narrow);
}

/*
 * Reads rows from number row on in one call of the source, where it has one. Whether it did, and none has an error: else
 * they are read one by one.
 */
static bool read_many(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t row, uint64_t rows,
                      const uint64_t *start)
{
    const struct lade_loader *l = w->loader;
    const struct lade_fields *f = l->fields;
    struct lade_view views[LADE_AT_ONCE * LADE_FIELDS_MAX];
    uint64_t label[LADE_AT_ONCE] = {0}, before[LADE_TENSORS_MAX];
    const uint64_t count = rows - row < LADE_AT_ONCE ? rows - row : LADE_AT_ONCE;

    if (!l->config.source->read_many || l->config.pipeline)
        return false;
    memcpy(before, start, f->columns * sizeof *before);
    views[0] = (struct lade_view){0}; /* place_row() sets all */
    for (uint64_t i = 0; i < count; i++) {
        (void)place_row(w, slot, row + i, before, views + i * f->schema, &label[i]);
        for (unsigned c = 0; c < f->columns; c++)
            before[c] += w->lengths[(row + i) * f->columns + c];
    }
    bool good =
        l->config.source->read_many(l->config.source->self, slot->ids + row, count, views, &slot->error) == LADE_OK;
    for (uint64_t i = 0; i < count && good; i++) {
        slot->labels[row + i] = LADE_NO_LABEL;
        good = f->label == LADE_NO_FIELD ||
               take_label(l, slot->ids[row + i], views[i * f->schema + (unsigned)f->label].data, &slot->labels[row + i],
                          &slot->error) == LADE_OK;
    }
    return good;
}

/* Stores element i of the lengths or offsets. */
static void store_length(const struct lade_batch_buffer *slot, const struct column *c, uint64_t i, uint64_t value)
{
    lade_fields_store(slot->samples + slot->offset[c->lengths], c->wide, i, value);
}

/* Stores the lengths of a row, or the offsets before it, and adds it to start. */
static void pass_row(const struct lade_worker *w, const struct lade_batch_buffer *slot, uint64_t row, uint64_t *start)
{
    const struct lade_fields *f = w->loader->fields;
    const uint64_t *length = w->lengths + row * f->columns;

    for (unsigned i = 0; i < f->columns; i++) {
        if (f->column[i].is_ragged)
            store_length(slot, &f->column[i], row, f->column[i].is_joined ? start[i] : length[i]);
        start[i] += length[i];
    }
}

/* Reads all rows. *again: a row has a substitute, which may be longer. */
static int read_rows(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t *rows, bool *again)
{
    const struct lade_fields *f = w->loader->fields;
    const bool moves = f->is_ragged && w->loader->config.fault == LADE_FAULT_SUBSTITUTE;
    uint64_t start[LADE_TENSORS_MAX] = {0};
    bool many = false; /* these rows are read already */

    *again = false;
    for (uint64_t row = 0; row < *rows;) {
        if (row % LADE_AT_ONCE == 0 && lade_worker_is_superseded(w))
            return LADE_CANCELLED;
        if (row % LADE_AT_ONCE == 0)
            many = read_many(w, slot, row, *rows, start);
        int status = many ? LADE_OK : read_row(w, slot, row, start);
        const bool is_read = status == LADE_OK;
        if (!is_read && (status = replace(w, slot, row, rows, status)) != LADE_OK)
            return status;
        *again = *again || (!is_read && moves);
        if (is_read || moves)
            pass_row(w, slot, row++, start);
    }
    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].is_joined) {
            store_length(slot, &f->column[i], *rows, start[i]);
            slot->steps[i] = start[i];
        }
    return LADE_OK;
}

bool lade_fields_fill(struct lade_worker *w, struct lade_batch_buffer *slot)
{
    const int64_t begin = lade_now();
    const uint64_t transformed = atomic_load_explicit(&w->transform_time, memory_order_relaxed);
    uint64_t rows = slot->count;
    bool again = false;
    int status;

    lade_batch_buffer_use(w->loader, slot, slot->memory, rows);
    for (uint64_t row = 0; row < rows; row++)
        w->row[row] = (struct lade_row){slot->ids[row], 0};
    do {
        status = measure_rows(w, slot, &rows);
        if (status == LADE_OK)
            status = read_rows(w, slot, &rows, &again);
    } while (status == LADE_OK && again);
    if (status == LADE_CANCELLED) /* no other status is: see lade_worker_error() */
        return false;
    slot->status = status;
    slot->count = status == LADE_OK ? rows : 0;
    const uint64_t transforms = atomic_load_explicit(&w->transform_time, memory_order_relaxed) - transformed;
    lade_count(&w->read_time, (uint64_t)(lade_now() - begin) - transforms);
    return true;
}

void lade_fields_show(struct lade_memory *m, const struct lade_batch_buffer *slot)
{
    const struct lade_fields *f = m->loader->fields;

    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        m->shape[i].dim[0] = c->is_joined ? slot->steps[i] : c->is_packed ? slot->rows : slot->count;
        if (c->is_packed)
            m->shape[i].dim[1] = m->loader->config.pack_row;
        if (!c->is_ragged || c->is_packed)
            continue;
        if (!c->is_joined)
            m->shape[i].dim[1] = slot->steps[i];
        m->shape[c->lengths].dim[0] = slot->count + c->is_joined;
    }
    for (unsigned i = 0; m->loader->pack && i < 3; i++)
        m->shape[f->segments + i].dim[0] = slot->rows + (i == 2);
}
