/* SPDX-License-Identifier: MIT */
/* A mixture as a source: the samples of several sources, one source after another. */
#include "mixture.h"

#include "heap.h"
#include "sized.h"
#include "source.h"

#include <lade/random.h>
#include <string.h>

unsigned lade_mixture_source(const struct lade_mixture *m, uint64_t id)
{
    unsigned low = 0, high = m->sources - 1;

    while (low < high) {
        const unsigned middle = (low + high + 1) / 2;
        if (m->first[middle] <= id)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A sample in its source. */
struct place {
    struct lade_source *source;
    uint64_t i;
};

static struct place find(const void *self, uint64_t i)
{
    const struct lade_mixture *m = self;
    const unsigned s = lade_mixture_source(m, i);

    return (struct place){m->source[s], i - m->first[s]};
}

static int read_sample(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct place p = find(self, i);

    return lade_source_read(p.source, p.i, to, label, error);
}

static int read_label(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    const struct place p = find(self, i);

    return lade_source_label(p.source, p.i, label, error);
}

static uint64_t key_of(void *self, uint64_t i)
{
    const struct place p = find(self, i);

    return lade_source_key(p.source, p.i);
}

static void name_of(void *self, uint64_t i, char *to, size_t size)
{
    const struct place p = find(self, i);

    lade_source_name(p.source, p.i, to, size);
}

static int length_of(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct place p = find(self, i);

    return lade_source_length(p.source, p.i, field, length, error);
}

static int read_views(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct place p = find(self, i);

    return lade_source_read_views(p.source, p.i, views, error);
}

static void close_mixture(void *self)
{
    struct lade_mixture *m = self;

    for (unsigned s = 0; m->owned && s < m->sources; s++)
        lade_source_close(m->source[s]);
    lade_heap_put(m->alloc, m);
}

const struct lade_mixture *lade_mixture_of(const struct lade_source *source)
{
    return source->ops.close == close_mixture ? source->self : NULL;
}

int lade_source_mixture_find(const struct lade_source *mixture, uint64_t id, unsigned *source, uint64_t *number)
{
    const struct lade_mixture *m = lade_mixture_of(mixture);

    if (!m || id >= m->first[m->sources])
        return LADE_INVALID;
    *source = lade_mixture_source(m, id);
    *number = id - m->first[*source];
    return LADE_OK;
}

static int refuse(struct lade_error *error, const char *why)
{
    return lade_fail(error, LADE_INVALID, "mixture", LADE_NO_OFFSET, "%s", why);
}

static int differs(struct lade_error *error, unsigned s, const char *what)
{
    return lade_fail(error, LADE_INVALID, "mixture", LADE_NO_OFFSET,
                     "source %u has %s than source 0; all sources of a mixture have the same", s, what);
}

static bool same_shape(const struct lade_shape *a, const struct lade_shape *b)
{
    return a->dtype == b->dtype && a->dims == b->dims && memcmp(a->dim, b->dim, a->dims * sizeof *a->dim) == 0;
}

/* Compares the fields, and raises the lengths of ragged ones. */
static int join_fields(struct lade_mixture *m, unsigned s, struct lade_error *error)
{
    const struct lade_schema *other = &m->source[s]->schema;

    if (other->fields != m->schema.fields)
        return differs(error, s, "another number of fields");
    if (other->label != m->schema.label || other->key != m->schema.key || other->group != m->schema.group)
        return differs(error, s, "another field for label, key or group");
    for (unsigned f = 0; f < other->fields; f++) {
        struct lade_field *mine = &m->field[f];
        const struct lade_field *field = &other->field[f];
        if (strcmp(field->name, mine->name) != 0 || field->dtype != mine->dtype || field->dims != mine->dims ||
            memcmp(field->dim, mine->dim, field->dims * sizeof *field->dim) != 0 ||
            (field->ragged_max > 0) != (mine->ragged_max > 0))
            return lade_fail(error, LADE_INVALID, "mixture", LADE_NO_OFFSET,
                             "field %u ('%s') of source %u has another name, type or shape than in source 0 ('%s')", f,
                             field->name, s, mine->name);
        mine->ragged_max = field->ragged_max > mine->ragged_max ? field->ragged_max : mine->ragged_max;
    }
    return LADE_OK;
}

/* Whether source s goes with source 0. */
static int compare(struct lade_mixture *m, unsigned s, struct lade_error *error)
{
    const struct lade_source_info *one = lade_source_info(m->source[0]), *other = lade_source_info(m->source[s]);

    if (other->count == LADE_ENDLESS)
        return refuse(error, "an endless source cannot be in a mixture");
    if (m->source[s]->blocks)
        return refuse(error,
                      "a source that is read in windows cannot be in a mixture, whose samples come from anywhere; let "
                      "it have memory for all samples");
    if (lade_mixture_of(m->source[s]))
        return refuse(error, "a mixture cannot be in a mixture: list its sources");
    if (other->count > LADE_PERMUTATION_MAX - m->first[s])
        return refuse(error, "the sources have more than 2^62 samples");
    m->first[s + 1] = m->first[s] + other->count;
    if (!one->schema != !other->schema || (!one->schema && !same_shape(&one->shape, &other->shape)))
        return differs(error, s, "samples of another shape or type");
    if ((one->classes > 0) != (other->classes > 0))
        return differs(error, s, "labels, or has none, other");
    return one->schema ? join_fields(m, s, error) : LADE_OK;
}

/* *reads_labels: a source has no other way to a label than to read the sample. */
static int check(struct lade_mixture *m, struct lade_source_info *info, bool *reads_labels, struct lade_error *error)
{
    const struct lade_source_info *one = lade_source_info(m->source[0]);
    const uint32_t sum = lade_mixture_reduce(m->weight, m->sources);
    int status = LADE_OK;

    if (sum == 0)
        return refuse(error, "all weights are 0");
    if (sum > LADE_MIXTURE_WEIGHT_MAX)
        return refuse(error, "the sum of the weights, without their common factor, is above 2^20: round them");
    m->schema = m->source[0]->schema;
    memcpy(m->field, m->source[0]->field, sizeof m->field);
    m->schema.field = m->field;
    *info = (struct lade_source_info){
        .kind = "mixture", .shape = one->shape, .bytes = one->bytes, .class_names = one->class_names};
    for (unsigned s = 0; s < m->sources && status == LADE_OK; s++) {
        const struct lade_source_info *other = lade_source_info(m->source[s]);
        *reads_labels = *reads_labels || (!m->source[s]->ops.label && !other->schema);
        status = compare(m, s, error);
        info->class_names = other->classes == one->classes ? info->class_names : NULL;
        info->classes = other->classes > info->classes ? other->classes : info->classes;
        info->index_bytes += other->index_bytes;
    }
    info->count = m->first[m->sources];
    info->schema = one->schema ? &m->schema : NULL;
    return status;
}

static int make(struct lade_source **source, const struct lade_source_mixture *from, struct lade_error *error)
{
    struct lade_source_ops ops = {.name = name_of, .close = close_mixture};
    struct lade_source_info info;
    bool reads_labels = false;

    if (from->sources == 0 || from->sources > LADE_MIXTURE_SOURCES_MAX || !from->source || !from->weight)
        return refuse(error, "a mixture has 1 to 64 sources, each with a weight");
    if ((unsigned)from->end > LADE_MIXTURE_STOP)
        return refuse(error, "unknown end");
    struct lade_mixture *m = lade_heap_get(from->alloc, 1, sizeof *m);
    if (!m)
        return lade_fail(error, LADE_NO_MEMORY, "mixture", LADE_NO_OFFSET, "out of memory");
    m->sources = from->sources;
    m->end = from->end;
    m->owned = from->owned;
    m->alloc = from->alloc;
    memcpy(m->source, from->source, m->sources * sizeof *m->source);
    memcpy(m->weight, from->weight, m->sources * sizeof *m->weight);
    int status = check(m, &info, &reads_labels, error);
    if (status == LADE_OK) {
        /* Where the key is a field and a source has no other, the mixture has that field, too. */
        ops.key = m->schema.key != LADE_NO_FIELD && !m->source[0]->ops.key ? NULL : key_of;
        ops.label = reads_labels ? NULL : read_label;
        ops.read = info.schema ? NULL : read_sample;
        ops.length = info.schema ? length_of : NULL;
        ops.read_fields = info.schema ? read_views : NULL;
        status = lade_source_open_custom(source, &ops, m, &info, m->alloc, error);
    }
    if (status != LADE_OK)
        lade_heap_put(m->alloc, m);
    return status;
}

int lade_source_open_mixture_sized(struct lade_source **source, const struct lade_source_mixture *mixture, size_t size,
                                   struct lade_error *error)
{
    struct lade_source_mixture copy;
    const struct lade_source_mixture *known = lade_sized_in(mixture, size, &copy, sizeof copy);

    return known ? make(source, known, error) : lade_fail_unknown(error);
}
