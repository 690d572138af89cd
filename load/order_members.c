/* SPDX-License-Identifier: MIT */
/* Which samples are members of an order: the part, weights for draws with replacement, the length of a mixture. */
#include "order_members.h"

#include "checksum.h"
#include "heap.h"
#include "thread.h"

#include <lade/thread.h>
#include <math.h>
#include <pthread.h>

#define MEMBERS_MAX UINT32_MAX /* of draws with replacement */
#define FEW_MAX (1 << 16)      /* members that are listed, so that substitutes need no search */

/* A separate thread scans the source, because it must be registered with liburcu, whatever the caller is. */
struct survey {
    struct lade_order *order;
    const double *weight;
    uint64_t classes;
    double *share; /* of each member; NULL: only count them */
    int status;
    struct lade_error *error;
};

/* Finds the part of a sample: LADE_SPLIT_NO_PART if it is in none. LADE_OK or an error. */
static int route(struct survey *s, uint64_t i, unsigned *part)
{
    const struct lade_order *o = s->order;
    uint64_t group;
    int status = lade_source_read_group(o->source, i, &group, s->error);

    if (status != LADE_OK)
        return status;
    status = lade_split_route_word(o->split, group, part);
    if (status == LADE_NO_MEMORY || status == LADE_LIMITED || status == LADE_TOO_MANY || status == LADE_INVALID)
        return lade_fail(s->error, status, NULL, LADE_NO_OFFSET, "the split could not decide sample %llu: %s",
                         (unsigned long long)i, lade_status_text(status));
    if (status != LADE_OK)
        *part = LADE_SPLIT_NO_PART;
    return LADE_OK;
}

static void count_members(struct survey *s)
{
    struct lade_order *o = s->order;
    uint64_t count = o->places;

    o->members = count;
    if (!o->split)
        return;
    o->members = 0;
    for (uint64_t i = 0; i < count && s->status == LADE_OK; i++) {
        unsigned part = LADE_SPLIT_NO_PART;
        s->status = route(s, i, &part);
        if (s->status != LADE_OK || part != o->part)
            continue;
        if (o->in_part)
            o->in_part[i / 64] |= UINT64_C(1) << i % 64;
        if (o->few && o->members < FEW_MAX)
            o->few[o->members] = i;
        o->members++;
    }
}

/* A part with more members than the list holds gets no list, which would take memory for each sample. */
static void trim_few(struct lade_order *o)
{
    const bool few = o->members > 0 && o->members <= FEW_MAX;
    uint64_t *less = few ? lade_heap_resize(o->alloc, o->few, (size_t)o->members, sizeof *less) : NULL;

    if (!few)
        lade_heap_put(o->alloc, o->few);
    if (!few || less)
        o->few = less;
}

/* Lists the members and the weight of each. */
static int list_members(struct survey *s)
{
    struct lade_order *o = s->order;
    uint64_t *size = lade_heap_get(o->alloc, s->classes + 1, sizeof *size), at = 0;
    uint32_t *label = lade_heap_raw(o->alloc, (size_t)o->members, sizeof *label);
    int status = size && label ? LADE_OK : lade_fail(s->error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");

    for (uint64_t i = 0; i < o->places && at < o->members && status == LADE_OK; i++) {
        int64_t l = 0;
        if (!lade_order_is_member(o, i))
            continue;
        if (!s->weight)
            status = lade_source_label(o->source, i, &l, s->error);
        if (status == LADE_OK && (l < 0 || (uint64_t)l > s->classes - !s->weight))
            status = lade_fail(s->error, LADE_DAMAGED, lade_source_info(o->source)->kind, LADE_NO_OFFSET,
                               "the label of sample %llu is none of the %llu classes", (unsigned long long)i,
                               (unsigned long long)s->classes);
        if (status != LADE_OK)
            break;
        o->member[at] = (uint32_t)i;
        label[at] = (uint32_t)l;
        size[l]++;
        s->share[at] = s->weight ? s->weight[i] : 0;
        at++;
    }
    for (uint64_t i = 0; !s->weight && status == LADE_OK && i < at; i++)
        s->share[i] = 1 / (double)size[label[i]];
    lade_heap_put(o->alloc, size);
    lade_heap_put(o->alloc, label);
    return status;
}

static void *go_over(void *context)
{
    struct survey *s = context;

    s->status = lade_thread_enter();
    if (s->status != LADE_OK)
        return NULL;
    if (s->share)
        s->status = list_members(s);
    else
        count_members(s);
    lade_thread_leave();
    return NULL;
}

static int run_survey(struct survey *s)
{
    pthread_t thread;

    if (!s->order->split && !s->share) {
        count_members(s);
        return LADE_OK;
    }
    if (!lade_thread_start(&thread, go_over, s))
        return lade_fail(s->error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "no thread could be started");
    (void)pthread_join(thread, NULL);
    return s->status;
}

/* Columns of equal height: a column that is too low is filled from one that is too high (Vose 1991). */
static int build_aliases(struct lade_order *o, double *share, struct lade_error *error)
{
    uint64_t n = o->members, low = 0, high = 0;
    uint32_t *stack = lade_heap_raw(o->alloc, (size_t)n, sizeof *stack);
    uint32_t heaviest = 0;
    double sum = 0;

    if (!stack)
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        if (!(share[i] >= 0) || isinf(share[i])) {
            lade_heap_put(o->alloc, stack);
            return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                             "the weight of sample %u is negative or not a finite number", (unsigned)o->member[i]);
        }
        sum += share[i];
        heaviest = share[i] > share[heaviest] ? (uint32_t)i : heaviest;
    }
    if (!(sum > 0) || isinf(sum)) {
        lade_heap_put(o->alloc, stack);
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                         "the sum of the weights is not a finite number above 0");
    }
    for (uint64_t i = 0; i < n; i++) {
        share[i] *= (double)n / sum;
        o->alias[i] = (uint32_t)i;
        o->limit[i] = UINT32_MAX;
        if (share[i] < 1)
            stack[low++] = (uint32_t)i;
        else
            stack[n - ++high] = (uint32_t)i;
    }
    while (low > 0 && high > 0) {
        uint32_t less = stack[--low], more = stack[n - high];
        o->limit[less] = (uint32_t)(share[less] * 0x1p32 < 0xffffffffp0 ? share[less] * 0x1p32 : 0xffffffffp0);
        o->alias[less] = more;
        share[more] -= 1 - share[less];
        if (share[more] < 1) {
            high--;
            stack[low++] = more;
        }
    }
    /* Every column that remains is full, up to rounding; but a weight of 0 is never drawn. */
    while (low > 0) {
        uint32_t less = stack[--low];
        o->limit[less] = share[less] > 0 ? UINT32_MAX : 0;
        o->alias[less] = share[less] > 0 ? less : heaviest;
    }
    lade_heap_put(o->alloc, stack);
    return LADE_OK;
}

/* A checksum of the weights. */
static uint32_t sum_of(const struct lade_order *o)
{
    uint32_t crc = 0;

    for (uint64_t i = 0; i < o->members; i++) {
        unsigned char bytes[12];
        lade_write_number(bytes, o->member[i], 4);
        lade_write_number(bytes + 4, o->alias[i], 4);
        lade_write_number(bytes + 8, o->limit[i], 4);
        crc = lade_crc32c(crc, bytes, sizeof bytes);
    }
    return crc;
}

static int prepare_draws(struct lade_order *o, const struct lade_loader_config *c, struct lade_error *error)
{
    size_t n = (size_t)o->members;
    struct survey s = {o, c->weight, lade_source_info(c->source)->classes, NULL, LADE_OK, error};
    int status = LADE_OK;

    if (o->places > MEMBERS_MAX)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET,
                         "draws with replacement take 2^32 - 1 samples at most");
    if (c->draw == LADE_DRAW_WEIGHTED ? !c->weight : s.classes == 0)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s",
                         c->weight ? "the source has no labels to balance"
                                   : "weights, or labels to balance, are missing");
    if (c->draw == LADE_DRAW_BALANCED)
        s.weight = NULL;
    o->member = lade_heap_raw(o->alloc, n, sizeof *o->member);
    o->alias = lade_heap_raw(o->alloc, n, sizeof *o->alias);
    o->limit = lade_heap_raw(o->alloc, n, sizeof *o->limit);
    s.share = lade_heap_raw(o->alloc, n, sizeof *s.share);
    if (!o->member || !o->alias || !o->limit || !s.share)
        status = lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    if (status == LADE_OK)
        status = run_survey(&s);
    if (status == LADE_OK)
        status = build_aliases(o, s.share, error);
    lade_heap_put(o->alloc, s.share);
    o->places = o->members;
    o->law = status == LADE_OK ? sum_of(o) : 0;
    return status;
}

/* Epochs have the length that the law gives them. */
static int init_mixture(struct lade_order *o, struct lade_error *error)
{
    int status = lade_mixture_law_init(&o->mix, o->mixture, o->mixture->weight, 0, NULL, o->alloc);

    o->places = o->members = o->mix.length;
    return status == LADE_OK ? LADE_OK
                             : lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s",
                                         status == LADE_LIMITED ? "an epoch of the mixture has more than 2^62 samples: "
                                                                  "the weight of a large source is too small"
                                                                : "out of memory");
}

int lade_order_init(struct lade_order *o, const struct lade_loader_config *c, struct lade_error *error)
{
    *o = (struct lade_order){.source = c->source,
                             .split = c->split,
                             .part = c->part,
                             .shard = c->shard,
                             .shards = c->shards ? c->shards : 1,
                             .pad = c->pad,
                             .sequential = c->sequential,
                             .draw = c->draw,
                             .alloc = c->alloc,
                             .seed = c->seed,
                             .places = lade_source_info(c->source)->count,
                             .first = UINT64_MAX,
                             .mixture = lade_mixture_of(c->source)};
    struct survey s = {o, NULL, 0, NULL, LADE_OK, error};
    if (o->source->blocks && o->draw != LADE_DRAW_ONCE)
        return lade_fail(error, LADE_INVALID, lade_source_info(o->source)->kind, LADE_NO_OFFSET,
                         "draws with replacement read samples in any order, but the source is read in windows; let it "
                         "have memory for all samples");
    if (o->split && o->draw == LADE_DRAW_ONCE && c->fault == LADE_FAULT_SUBSTITUTE &&
        !(o->few = lade_heap_raw(o->alloc, FEW_MAX, sizeof *o->few)))
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    if (o->split && (o->shards > 1 || lade_source_reads_group(o->source)) &&
        !(o->in_part = lade_heap_get(o->alloc, (size_t)(o->places / 64 + 1), sizeof *o->in_part))) {
        lade_order_free(o);
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
    }
    int status = o->mixture ? init_mixture(o, error) : run_survey(&s);
    if (o->few)
        trim_few(o);
    if (status == LADE_OK && o->members > 0 && o->draw != LADE_DRAW_ONCE)
        status = prepare_draws(o, c, error);
    if (status != LADE_OK)
        lade_order_free(o);
    return status;
}

void lade_order_free(struct lade_order *o)
{
    for (unsigned l = 0; l < o->levels; l++)
        lade_level_free(&o->level[l], o->alloc);
    lade_ranges_free(&o->done, o->alloc);
    lade_mixture_law_free(&o->mix, o->alloc);
    lade_mixture_law_free(&o->restarted, o->alloc);
    lade_heap_put(o->alloc, o->in_part);
    lade_heap_put(o->alloc, o->few);
    lade_heap_put(o->alloc, o->member);
    lade_heap_put(o->alloc, o->alias);
    lade_heap_put(o->alloc, o->limit);
    o->levels = 0;
    o->in_part = o->few = NULL;
    o->member = o->alias = o->limit = NULL;
}
