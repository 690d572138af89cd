/* SPDX-License-Identifier: MIT */
/* Packed batches: memory, and their content. */
#include "loader_pack.h"

#include "checksum.h"
#include "heap.h"

#include <stdio.h>

#define WINDOW 1024u
#define WINDOW_MAX (UINT64_C(1) << 20)
#define SAMPLES_MAX (UINT64_C(1) << 31) /* of a batch */

static int refuse(struct lade_error *error, const char *why)
{
    return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s", why);
}

static int check(const struct lade_loader *l, struct lade_error *error)
{
    const struct lade_loader_config *c = &l->config;
    bool packs = false;

    for (unsigned i = 0; i < l->fields->columns; i++)
        packs = packs || l->fields->column[i].is_packed;
    if (!packs)
        return refuse(error, "pack_row is set, but no delivered field is ragged");
    if (c->pack_row > INT32_MAX || c->pack_window > WINDOW_MAX)
        return refuse(error, "pack_row must be below 2^31 steps, and pack_window at most 2^20 samples");
    if ((unsigned)c->pack_longer > LADE_LONGER_DROP)
        return refuse(error, "pack_longer is unknown");
    if (c->buffer > 0 || c->drop_last || c->fault == LADE_FAULT_SUBSTITUTE)
        return refuse(error,
                      "packing works with neither stream mode, nor drop_last (pad completes the last batch), nor "
                      "substitutes (skip instead)");
    return LADE_OK;
}

/* Bytes of segment ids or positions, and of the offsets of rows. */
static size_t steps_bytes(const struct lade_loader *l, uint64_t rows)
{
    return (size_t)(rows * l->config.pack_row) * (l->fields->wide ? sizeof(int64_t) : sizeof(int32_t));
}

static size_t rows_bytes(const struct lade_loader *l, uint64_t rows)
{
    return (size_t)(rows + 1) * (l->fields->wide ? sizeof(int64_t) : sizeof(int32_t));
}

/* Bytes of the largest batch. */
static int set_block(struct lade_loader *l, struct lade_error *error)
{
    const char *why = "a batch of such rows does not fit into memory; set pack_samples, a smaller pack_row or batch";
    struct lade_fields *f = l->fields;
    const uint64_t rows = l->config.batch, steps = l->config.pack_row, samples = l->samples_max;

    if (steps > BYTES_MAX / 32 / rows)
        return refuse(error, why);
    f->block = 2 * lade_fields_align(steps_bytes(l, rows)) + lade_fields_align(rows_bytes(l, rows));
    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        const uint64_t count = c->is_packed ? rows * steps : samples;
        if (c->step == 0 || count > (BYTES_MAX - f->block) / 2 / c->step)
            return refuse(error, why);
        f->block += lade_fields_align((size_t)count * c->step);
    }
    return LADE_OK;
}

int lade_pack_create(struct lade_loader *l, struct lade_error *error)
{
    struct lade_loader_config *c = &l->config;
    int status = check(l, error);

    if (status != LADE_OK)
        return status;
    c->pack_window = c->pack_window ? c->pack_window : WINDOW;
    if (c->pack_samples == 0)
        c->pack_samples = c->pack_row < c->pack_window ? c->pack_row : c->pack_window;
    if (c->pack_samples > WINDOW_MAX || c->batch > SAMPLES_MAX / c->pack_samples)
        return refuse(error, "a batch has at most 2^31 samples, and a row 2^20; set pack_samples");
    l->pack = lade_heap_get(c->alloc, 1, sizeof *l->pack);
    if (!l->pack)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    l->pack->steps = (uint32_t)c->pack_row;
    l->pack->most = (uint32_t)c->pack_samples;
    l->pack->window = c->pack_window;
    l->pack->longer = c->pack_longer;
    l->samples_max = c->batch * c->pack_samples;
    for (unsigned i = 0; i < l->fields->columns; i++)
        l->fields->wide = l->fields->wide || (l->fields->column[i].is_packed && l->fields->column[i].wide);
    return set_block(l, error);
}

void lade_pack_free(struct lade_loader *l)
{
    lade_heap_put(l->config.alloc, l->pack);
    l->pack = NULL;
}

bool lade_pack_prepare(struct lade_worker *w)
{
    const struct lade_loader *l = w->loader;

    if (w->pack)
        return true;
    w->pack = lade_heap_get(l->config.alloc, 1, sizeof *w->pack);
    if (w->pack && lade_pack_work_init(l, w->pack))
        return true;
    lade_pack_release(w);
    return false;
}

void lade_pack_release(struct lade_worker *w)
{
    if (w->pack)
        lade_pack_work_free(w->loader, w->pack);
    lade_heap_put(w->loader->config.alloc, w->pack);
    w->pack = NULL;
}

void lade_pack_describe(struct lade_loader *l)
{
    static const char *const longer[] = {[LADE_LONGER_FAULT] = "one longer than a row is a fault",
                                         [LADE_LONGER_CUT] = "of one longer than a row the first steps",
                                         [LADE_LONGER_SPLIT] = "one longer than a row in parts",
                                         [LADE_LONGER_DROP] = "none longer than a row"};
    static const char *const ends[] = {[LADE_MIXTURE_REPEAT] =
                                           "each sample of a source of the mixture once in each of its rounds",
                                       [LADE_MIXTURE_DROP] = "each sample of the mixture exactly once in each epoch",
                                       [LADE_MIXTURE_STOP] = "each sample of the mixture at most once in each epoch"};
    const struct lade_mixture *m = l->order.mixture;
    const char *samples =
        l->config.draw == LADE_DRAW_WEIGHTED   ? "samples drawn independently, by weight, with replacement"
        : l->config.draw == LADE_DRAW_BALANCED ? "samples drawn independently, all classes alike, with "
                                                 "replacement"
        : m                                    ? ends[m->end]
                                               : "each sample exactly once in each epoch";

    (void)snprintf(l->pack->guarantee, sizeof l->pack->guarantee, "%s, %s; in rows that the seed decides, %s", samples,
                   longer[l->pack->longer],
                   l->config.in_order ? "with the same bytes for any number of threads"
                                      : "delivered as soon as they are ready");
}

const char *lade_pack_guarantee(const struct lade_loader *l)
{
    return l->pack->guarantee;
}

uint32_t lade_loader_identity(const struct lade_loader *l)
{
    const struct lade_loader_config *c = &l->config;
    const uint64_t number[] = {c->pack_row, c->pack_window, c->pack_samples, (uint64_t)c->pack_longer};
    uint32_t crc = lade_order_identity(&l->order);
    unsigned char bytes[8];

    if (!l->pack)
        return crc;
    for (unsigned i = 0; i < sizeof number / sizeof *number; i++) {
        lade_write_number(bytes, number[i], 8);
        crc = lade_crc32c(crc, bytes, 8);
    }
    for (unsigned i = 0; i < l->fields->columns; i++) { /* their lengths decide */
        lade_write_number(bytes, l->fields->column[i].is_packed ? l->fields->column[i].number : UINT64_MAX, 8);
        crc = lade_crc32c(crc, bytes, 8);
    }
    return crc;
}

/* Places the tensors of a batch. */
static void place(const struct lade_loader *l, struct lade_batch_buffer *slot)
{
    const struct lade_fields *f = l->fields;
    size_t at = 0;

    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        const uint64_t count = c->is_packed ? slot->rows * l->config.pack_row : slot->count;
        slot->offset[i] = at;
        at += lade_fields_align((size_t)count * c->step);
    }
    for (unsigned i = 0; i < 3; i++) {
        slot->offset[f->segments + i] = at;
        at += lade_fields_align(i == 2 ? rows_bytes(l, slot->rows) : steps_bytes(l, slot->rows));
    }
    slot->bytes = at;
}

/* Where a batch is filled: entry of the sample, row, and its steps so far. */
struct filling {
    struct lade_worker *worker;
    struct lade_batch_buffer *slot;
    uint64_t entry, row, at, segment;
};

static uint8_t *steps_at(const struct filling *x, unsigned column)
{
    const struct lade_loader *l = x->worker->loader;

    return x->slot->samples + x->slot->offset[column] +
           (size_t)(x->row * l->config.pack_row + x->at) * l->fields->column[column].step;
}

/* Reads the steps of a piece to their place, and the fixed fields of its sample. */
static int read_piece(const struct filling *x, const struct lade_piece *piece)
{
    const struct lade_loader *l = x->worker->loader;
    const struct lade_fields *f = l->fields;
    struct lade_view views[LADE_FIELDS_MAX];
    void *output = NULL;

    if (piece->faulty) {
        uint64_t length = 0;
        int status = lade_fields_packed_length(l, piece->id, &length, &x->slot->error);
        return status != LADE_OK ? status
                                 : lade_fail(&x->slot->error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                                             "sample %llu has %llu steps; a row has %llu: cut, split or drop it "
                                             "(pack_longer), or use longer rows",
                                             (unsigned long long)piece->id, (unsigned long long)length,
                                             (unsigned long long)l->config.pack_row);
    }
    memset(views, 0, f->schema * sizeof *views);
    for (unsigned i = 0; i < f->columns; i++) {
        const struct column *c = &f->column[i];
        uint8_t *to =
            c->is_packed ? steps_at(x, i) : x->slot->samples + x->slot->offset[i] + (size_t)x->entry * c->step;
        if (l->config.pipeline && c->number == l->config.pipeline_field) {
            output = to;
            to = x->worker->input;
        }
        views[c->number] = (struct lade_view){
            .data = to, .from = c->is_packed ? piece->from : 0, .length = c->is_packed ? piece->length : 1};
    }
    return lade_fields_read(x->worker, x->slot, piece->id, x->entry, views, output);
}

/* Stores segment ids and positions of the next steps. */
static void store_steps(const struct filling *x, uint64_t count, uint64_t segment, uint64_t from)
{
    const struct lade_loader *l = x->worker->loader;
    const struct lade_fields *f = l->fields;
    uint8_t *segments = x->slot->samples + x->slot->offset[f->segments];
    uint8_t *positions = x->slot->samples + x->slot->offset[f->segments + 1];
    const uint64_t first = x->row * l->config.pack_row + x->at, each = segment > 0;

    for (uint64_t i = 0; i < count && f->wide; i++) {
        ((int64_t *)(void *)segments)[first + i] = (int64_t)segment;
        ((int64_t *)(void *)positions)[first + i] = (int64_t)(from + i * each);
    }
    for (uint64_t i = 0; i < count && !f->wide; i++) {
        ((int32_t *)(void *)segments)[first + i] = (int32_t)segment;
        ((int32_t *)(void *)positions)[first + i] = (int32_t)(from + i * each);
    }
}

/* Pads the next steps. */
static void pad_steps(struct filling *x, uint64_t count)
{
    const struct lade_fields *f = x->worker->loader->fields;

    for (unsigned i = 0; i < f->columns; i++)
        if (f->column[i].is_packed)
            lade_column_pad(&f->column[i], steps_at(x, i), (size_t)count * f->column[i].step);
    store_steps(x, count, 0, 0);
    x->at += count;
}

/* Delivers a piece, or applies the fault policy to it. LADE_OK or an error. */
static int fill_piece(struct filling *x, const struct lade_piece *piece)
{
    struct lade_batch_buffer *slot = x->slot;

    slot->ids[x->entry] = piece->id;
    int status = read_piece(x, piece);
    if (status != LADE_OK && x->worker->loader->config.fault != LADE_FAULT_SKIP)
        return lade_worker_error(status);
    if (status != LADE_OK) {
        slot->faults++;
        lade_worker_note_fault(x->worker->loader, slot, piece->id);
        pad_steps(x, piece->length);
        return LADE_OK;
    }
    store_steps(x, piece->length, ++x->segment, piece->from);
    x->at += piece->length;
    x->entry++;
    slot->packed.steps += piece->length;
    slot->packed.cut += piece->cut;
    slot->packed.split += piece->split && piece->from == 0;
    return LADE_OK;
}

static int fill_rows(struct filling *x)
{
    const struct lade_loader *l = x->worker->loader;
    const struct lade_pack_work *p = x->worker->pack;
    uint8_t *rows = x->slot->samples + x->slot->offset[l->fields->segments + 2];

    for (x->row = 0; x->row < x->slot->rows; x->row++) {
        x->at = x->segment = 0;
        lade_fields_store(rows, l->fields->wide, x->row, x->entry);
        for (uint32_t i = p->begin[x->row]; i < p->begin[x->row + 1]; i++) {
            if (i % LADE_AT_ONCE == 0 && lade_worker_is_superseded(x->worker))
                return LADE_CANCELLED;
            int status = fill_piece(x, &p->piece[i]);
            if (status != LADE_OK)
                return status;
        }
        pad_steps(x, l->config.pack_row - x->at);
    }
    lade_fields_store(rows, l->fields->wide, x->row, x->entry);
    return LADE_OK;
}

bool lade_pack_fill(struct lade_worker *w, struct lade_batch_buffer *slot)
{
    const int64_t begin = lade_now();
    const uint64_t transformed = atomic_load_explicit(&w->transform_time, memory_order_relaxed);
    struct filling x = {.worker = w, .slot = slot};
    int status = w->pack->status;

    lade_batch_buffer_use(w->loader, slot, slot->memory, slot->count);
    place(w->loader, slot);
    if (status == LADE_OK)
        status = fill_rows(&x);
    else
        slot->error = w->pack->error;
    if (status == LADE_CANCELLED) /* no other status is: see lade_worker_error() */
        return false;
    slot->status = status;
    slot->count = x.entry;
    const uint64_t transforms = atomic_load_explicit(&w->transform_time, memory_order_relaxed) - transformed;
    lade_count(&w->read_time, (uint64_t)(lade_now() - begin) - transforms);
    return true;
}
