/* SPDX-License-Identifier: MIT */
/* Elements that are lent or visited and stay in the bag. */
#include "bag.h"

/* The cell in the slot word is borrowed: returns its element. Records stay borrowed, others are read at once. */
static void lend(struct lade_bag_handle *h, uint32_t cell, struct lade_loan *loan)
{
    struct lade_bag *b = h->bag;

    if (b->config.kind == LADE_BAG_RECORDS) {
        loan->record = cell_at(b, cell);
        atomic_fetch_add_explicit(&h->loans_out, 1, memory_order_relaxed);
        return;
    }
    if (b->config.kind == LADE_BAG_REFS) {
        loan->ref = ref_in(b, cell);
        (void)lade_ref_get(loan->ref);
    } else {
        loan->word = *(const uint64_t *)(const void *)cell_at(b, cell);
    }
    lade_bag_cell_unref(h, cell, -1);
}

/* The sample that reached the limit has removed the element. */
static void sampled_out(struct lade_bag_handle *h, uint64_t seen)
{
    if (h->bag->config.bytes)
        lade_bag_count_bytes_out(h, seen);
    if (h->bag->cells) {
        h->spare = lade_bag_fresh(h);
        lade_bag_cell_unref(h, (uint32_t)(seen & CELL_BITS), REMOVED + (int64_t)(seen >> TIMES_SHIFT) + 1);
    }
    add(h, DRAWN, 1);
}

int lade_bag_sample(struct lade_bag_handle *h, struct lade_loan *loan)
{
    struct lade_bag *b = h->bag;
    const struct lade_bag_config *c = &b->config;

    if (c->kind == LADE_BAG_RECORDS && atomic_load_explicit(&h->loans_out, memory_order_relaxed) >= c->max_loans)
        return LADE_TOO_MANY;
    if (c->samples_per_insert > 0 && !lade_bag_may_sample(h))
        return unless_closed(b, LADE_LIMITED); /* closed: no put will raise the limit */
    int status = lade_bag_choose(h, SAMPLE, 0);
    if (status != LADE_OK)
        return status;
    uint64_t seen = h->seen;
    uint64_t times = seen >> TIMES_SHIFT;
    bool taken_out = c->max_times_sampled > 0 && times + 1 >= c->max_times_sampled;
    if (taken_out)
        sampled_out(h, seen);
    loan->times = (uint32_t)(times < TIMES_FULL ? times + 1 : times);
    loan->cell = (uint32_t)(seen & CELL_BITS);
    loan->from = h->number;
    if (b->cells)
        lend(h, loan->cell, loan);
    else
        loan->word = seen & WORD_BITS;
    add(h, SAMPLED, 1);
    if (taken_out || has_limits(b))
        notify(b, &b->left);
    return LADE_OK;
}

void lade_bag_give_back(struct lade_bag_handle *h, struct lade_loan *loan)
{
    struct lade_bag *b = h->bag;

    if (b->config.kind == LADE_BAG_REFS)
        (void)lade_ref_put(loan->ref, b->config.release);
    if (b->config.kind == LADE_BAG_RECORDS) {
        lade_bag_cell_unref(h, loan->cell, -1);
        atomic_fetch_sub_explicit(&b->handle[loan->from].loans_out, 1, memory_order_relaxed);
    }
    loan->record = NULL;
    add(h, GIVEN_BACK, 1);
}

size_t lade_bag_sample_many(struct lade_bag_handle *h, struct lade_loan *loans, size_t count)
{
    size_t done = 0;

    while (done < count && lade_bag_sample(h, &loans[done]) == LADE_OK)
        done++;
    return done;
}

void lade_bag_give_back_many(struct lade_bag_handle *h, struct lade_loan *loans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lade_bag_give_back(h, &loans[i]);
}

size_t lade_bag_visit(struct lade_bag_handle *h, bool (*visit)(void *, const void *, uint64_t), void *context)
{
    struct lade_bag *b = h->bag;
    /* An element that stays is below the limit. */
    uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed);
    bool aged = b->config.full == LADE_BAG_EVICT_OLDEST;
    uint64_t n = aged ? b->config.capacity : slots_in(b, active & USED_BITS);
    uint64_t start = aged ? atomic_load_explicit(&b->ticket, memory_order_relaxed) : 0; /* the oldest is there */
    bool more = true;
    size_t visited = 0;

    for (uint64_t i = 0; more && i < n; i++) {
        if (lade_bag_borrow(h, (start + i) % n) != LADE_OK)
            continue;
        uint64_t word = h->seen & WORD_BITS;
        uint32_t cell = (uint32_t)(h->seen & CELL_BITS);
        more = visit(context, b->cells ? (const void *)cell_at(b, cell) : &word, h->seen >> TIMES_SHIFT);
        visited++;
        if (b->cells)
            lade_bag_cell_unref(h, cell, -1);
    }
    return visited;
}

struct visitor {
    bool (*visit)(void *context, const void *element);
    void *context;
    bool more;
};

static bool visit_element(void *context, const void *element, uint64_t times)
{
    struct visitor *v = context;

    (void)times;
    v->more = v->visit(v->context, element);
    return v->more;
}

int lade_bag_for_each(struct lade_bag_handle *h, bool (*visit)(void *, const void *), void *context, uint64_t *visited)
{
    struct visitor v = {visit, context, true};
    size_t count = lade_bag_visit(h, visit_element, &v);

    if (visited)
        *visited = count;
    return v.more ? LADE_OK : LADE_CANCELLED;
}
