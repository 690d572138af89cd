/* SPDX-License-Identifier: MIT */
#include "bag_probe.h"

#include "ignore.h"
#include "sized.h"

#include <string.h>

int lade_bag_choose(struct lade_bag_handle *h, enum act act, uint64_t put)
{
    return choose_among(h, act, put, slots_to_try(h->bag), 0, false);
}

int lade_bag_borrow(struct lade_bag_handle *h, uint64_t slot)
{
    do
        if (attempt(h, VISIT, slot, 0, false))
            return LADE_OK;
    while (atomic_load_explicit(&h->bag->slot[slot], memory_order_relaxed) & h->bag->held);
    return LADE_EMPTY;
}

/*
 * Every cell belongs to a slot or a handle, is on loan, or is in the pool. lade_bag_create() made enough cells, so the
 * pool has one.
 */
uint32_t lade_bag_fresh(struct lade_bag_handle *h)
{
    uint64_t cell = 0;

    lade_ignore(lade_mpmc_pop(h->pool, &cell));
    return (uint32_t)cell;
}

void lade_bag_cell_unref(struct lade_bag_handle *h, uint32_t cell, int64_t loans)
{
    struct lade_bag *b = h->bag;

    LADE_STEP();
    /* All reads of the cell happen before its next use. */
    int64_t now =
        loans + atomic_fetch_add_explicit(&b->cell_refs[cell], loans,
                                          memory_order_release); /* [bag.cell_unref] -> [bag.cell_unref.last] */
    int64_t last = REMOVED;
    LADE_STEP();
    if (now != REMOVED)
        return;
    /*
     * In the meantime another thread may have tried to borrow it and reached this point too; the cell may even have
     * been reused.
     */
    if (!atomic_compare_exchange_strong_explicit(&b->cell_refs[cell], &last, 0, memory_order_acquire,
                                                 memory_order_acquire)) /* [bag.cell_unref.last] -> [bag.cell_unref] */
        return;
    if (b->config.kind == LADE_BAG_REFS)
        (void)lade_ref_put(ref_in(b, cell), b->config.release);
    lade_ignore(lade_mpmc_push(h->pool, cell)); /* the pool has a slot for every cell that can be pushed */
}

enum fate { HAND_OUT, DROP };

/* The cell has left its slot. The handle owns it; if the cell is on loan, the handle owns another free one instead. */
static void own_cell(struct lade_bag_handle *h, uint64_t seen, enum fate fate, bool to_scratch)
{
    struct lade_bag *b = h->bag;
    uint32_t cell = (uint32_t)(seen & CELL_BITS);
    uint64_t times = seen >> TIMES_SHIFT;
    bool refs = b->config.kind == LADE_BAG_REFS;

    if (times == 0) { /* never lent */
        if (refs && fate == DROP)
            (void)lade_ref_put(ref_in(b, cell), b->config.release);
        h->spare = cell;
        return;
    }
    h->spare = lade_bag_fresh(h);
    if (refs && fate == HAND_OUT)
        (void)lade_ref_get(ref_in(b, cell)); /* the cell keeps its reference for threads that are borrowing it */
    if (to_scratch)
        memcpy(cell_at(b, h->spare), cell_at(b, cell), b->element);
    lade_bag_cell_unref(h, cell, REMOVED + (int64_t)times);
}

void lade_bag_count_bytes_out(struct lade_bag_handle *h, uint64_t seen)
{
    struct lade_bag *b = h->bag;
    uint64_t word = seen & WORD_BITS;
    const void *element = b->cells ? (const void *)cell_at(b, (uint32_t)(seen & CELL_BITS)) : &word;

    add(h, BYTES_OUT, b->config.bytes(b->config.context, element));
}

/* The element has left the bag. */
LADE_BAG_INLINE void release_element(struct lade_bag_handle *h, uint64_t seen, enum fate fate, void *out, bool plain)
{
    struct lade_bag *b = h->bag;
    void *cell = !plain && b->cells ? cell_at(b, (uint32_t)(seen & CELL_BITS)) : NULL;

    if (!plain && b->config.bytes)
        lade_bag_count_bytes_out(h, seen);
    if (fate == DROP && b->config.drop)
        b->config.drop(b->config.context, cell ? *(uint64_t *)cell : seen & WORD_BITS);
    if (cell) {
        if (out)
            memcpy(out, cell, b->element);
        own_cell(h, seen, fate, fate == HAND_OUT && !out);
    } else if (out) {
        *(uint64_t *)out = seen & WORD_BITS;
    }
    add(h, fate == DROP ? EVICTED : DRAWN, 1);
}

/* A word, or a pointer as one. */
static inline uint64_t word_at(const struct lade_bag *b, const void *element)
{
    return b->config.kind == LADE_BAG_REFS ? (uintptr_t) * (struct lade_ref *const *)element
                                           : *(const uint64_t *)element;
}

/* Records may already be in the handle's scratch; words and pointers have a range. */
static inline bool is_valid(const struct lade_bag *b, const void *element)
{
    if (b->config.kind == LADE_BAG_RECORDS)
        return true;
    return element && word_at(b, element) != 0 && word_at(b, element) <= LADE_BAG_WORD_MAX;
}

/* Returns the slot word for an element. The element is copied into the handle's cell unless it fits into the slot. */
static inline uint64_t slot_word(struct lade_bag_handle *h, const void *element)
{
    struct lade_bag *b = h->bag;

    if (!b->cells)
        return word_at(b, element);
    if (element)
        memcpy(cell_at(b, h->spare), element, b->element);
    return CELL_HELD | h->spare | (b->config.full == LADE_BAG_EVICT_OLDEST ? 0 : (uint64_t)h->number << LAP_SHIFT);
}

/*
 * A put found the bag closed after it had filled the slot. Removes its element again and restores the free cell that
 * was there before. Returns false if another thread has taken the element.
 */
static bool take_back(struct lade_bag_handle *h, uint64_t slot, uint64_t put, uint64_t before)
{
    struct lade_bag *b = h->bag;
    uint64_t seen = atomic_load_explicit(&b->slot[slot], memory_order_relaxed);

    while ((seen & WORD_BITS) == (put & WORD_BITS)) {
        LADE_STEP();
        /*
         * This put may have evicted the element of the cell that it leaves. A put that overlaps close may take that
         * cell and write it.
         */
        if (!atomic_compare_exchange_strong_explicit(
                &b->slot[slot], &seen, before, memory_order_release,
                memory_order_relaxed)) /* [bag.back] -> [bag.put.turn], [bag.put.slot] */
            continue;
        if (b->cells)
            own_cell(h, seen, HAND_OUT, true);
        note_emptied(b, slot);
        return true;
    }
    return false;
}

/* The element is in the slot recorded in the handle. LADE_OK; or LADE_CLOSED, and the element is removed again. */
LADE_BAG_INLINE int complete(struct lade_bag_handle *h, uint64_t put, uint64_t before)
{
    if (!(announce_fill(h->bag, h->slot) & ACTIVE_CLOSED))
        return LADE_OK;
    return take_back(h, h->slot, put, before) ? unless_closed(h->bag, LADE_CLOSED) : LADE_OK;
}

/* Put number t fills slot t % capacity and replaces what put t - capacity left there. */
static int put_in_turn(struct lade_bag_handle *h, uint64_t put)
{
    struct lade_bag *b = h->bag;
    uint64_t n = b->config.capacity;

    if (is_closed(b))
        return unless_closed(b, LADE_CLOSED);
    LADE_STEP();
    uint64_t ticket = atomic_fetch_add_explicit(&b->ticket, 1, memory_order_relaxed); /* only a number */
    uint64_t slot = ticket % n;
    uint64_t lap = (ticket / n + 1) << LAP_SHIFT & LAP_BITS;
    uint64_t seen = atomic_load_explicit(&b->slot[slot], memory_order_relaxed);

    for (;;) {
        LADE_STEP();
        uint64_t behind = (atomic_load_explicit(&b->ticket, memory_order_relaxed) - ticket) / LAPS_APART;
        if (behind >= n || (int16_t)((lap - (seen & LAP_BITS)) >> LAP_SHIFT) <= 0) {
            /* A later put has filled this slot. This element is older and must leave. */
            release_element(h, put, DROP, NULL, false);
            return LADE_OK;
        }
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&b->slot[slot], &seen, put | lap, memory_order_seq_cst,
                                                    memory_order_seq_cst)) /* [bag.put.turn] -> [bag.take] */
            break;
    }
    if (seen & b->held)
        release_element(h, seen, DROP, NULL, false);
    else
        h->spare = (uint32_t)(seen & CELL_BITS);
    h->slot = slot;
    return complete(h, put | lap, lap | h->spare);
}

/* Replaces a random element, which is recorded in the handle. LADE_OK, LADE_EMPTY, LADE_CLOSED. */
static inline int swap(struct lade_bag_handle *h, uint64_t put)
{
    int status = choose_among(h, EXCHANGE, put, slots_to_try(h->bag), 0, false);

    if (status == LADE_OK)
        (void)announce_fill(h->bag, h->slot);
    return status;
}

LADE_BAG_INLINE int put_anywhere(struct lade_bag_handle *h, uint64_t put, bool plain)
{
    struct lade_bag *b = h->bag;

    for (;;) {
        int status = place(h, put, plain);
        if (status == LADE_OK)
            return complete(h, put, !plain && b->cells ? h->spare : 0);
        if (status != LADE_FULL || b->config.full == LADE_BAG_REJECT)
            return status;
        status = swap(h, put);
        if (status == LADE_OK)
            release_element(h, h->seen, DROP, NULL, false);
        if (status != LADE_EMPTY)
            return status;
    }
}

static uint64_t sum(const struct lade_bag *b, enum count which)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < b->config.handles; i++)
        total += atomic_load_explicit(&b->handle[i].count[which], memory_order_relaxed);
    return total;
}

static bool may_put(struct lade_bag_handle *h)
{
    const struct lade_bag_config *c = &h->bag->config;
    double put = (double)(sum(h->bag, PUT) + 1);
    double sampled = (double)sum(h->bag, SAMPLED);

    return put * c->samples_per_insert - sampled <= c->ratio_slack;
}

bool lade_bag_may_sample(struct lade_bag_handle *h)
{
    const struct lade_bag_config *c = &h->bag->config;
    double sampled = (double)(sum(h->bag, SAMPLED) + 1);
    double put = (double)sum(h->bag, PUT);

    return sampled - put * c->samples_per_insert <= c->ratio_slack;
}

static bool is_within_budget(const struct lade_bag *b, uint64_t size)
{
    uint64_t out = sum(b, BYTES_OUT); /* first, so that elements that come and leave in the meantime are not missed */
    uint64_t in = sum(b, BYTES_IN);
    uint64_t held = in > out ? in - out : 0; /* a draw may be counted before its put */

    return size <= b->config.byte_budget && held <= b->config.byte_budget - size;
}

/* Ensures that size bytes fit into the byte budget; evicts if the bag is configured to. */
static bool reserve_bag_bytes(struct lade_bag_handle *h, uint64_t size)
{
    struct lade_bag *b = h->bag;

    while (!is_within_budget(b, size)) {
        if (b->config.full == LADE_BAG_REJECT || size > b->config.byte_budget || lade_bag_evict(h) != LADE_OK) {
            add(h, SAW_FULL, 1);
            return false;
        }
    }
    return true;
}

/* Puts a valid word if the free slot that the handle remembers is not usable, or if it remembers none. */
LADE_BAG_NOINLINE int put_word_slow(struct lade_bag_handle *h, uint64_t word)
{
    struct lade_bag *b = h->bag;

    LADE_STEP();
    uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed); /* announce_fill() checks again */
    if (h->remembered == 0 && !(active & ACTIVE_CLOSED) && look_ahead(h, slots_in(b, used(active))) &&
        fill(h, recall(h), 0, word, true))
        return complete(h, word, 0);
    return put_anywhere(h, word, true);
}

/* The common put: a word, into the slot that this handle emptied last. */
LADE_BAG_INLINE int put_word(struct lade_bag_handle *h, uint64_t word)
{
    struct lade_bag *b = h->bag;

    if (word == 0 || word > LADE_BAG_WORD_MAX)
        return LADE_INVALID;
    if (h->remembered == 0)
        return put_word_slow(h, word);
    LADE_STEP();
    uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed); /* announce_fill() checks again */
    uint64_t slot = h->free_hints[h->last % REMEMBERED];
    if ((active & ACTIVE_CLOSED) || slot >= used(active) * LADE_BAG_GROUP || !fill(h, slot, 0, word, true))
        return put_word_slow(h, word);
    h->last--;
    h->remembered--;
    return complete(h, word, 0);
}

/*
 * The bag was closed while words were put into these slots. Takes them back, the last one first, down to a word that
 * another thread has drawn, because the words put must be a prefix of the batch. Returns the number that stays.
 */
LADE_BAG_NOINLINE size_t take_back_many(struct lade_bag_handle *h, const uint32_t *at, const uint64_t *word,
                                        size_t done)
{
    while (done > 0 && take_back(h, at[done - 1], word[done - 1], 0))
        done--;
    return done;
}

/* Puts the next word of a batch into the next slot. */
static inline bool fill_next(_Atomic uint64_t *slot, const uint32_t *at, const uint64_t *word, size_t *done)
{
    if (word[*done] - 1 >= LADE_BAG_WORD_MAX || !fill_slot(&slot[at[*done]], 0, word[*done]))
        return false;
    ++*done;
    return true;
}

/*
 * Puts words into free slots from the cursor on. Returns the number put, and whether many slots were free. Several
 * slots are filled before the group and active words are updated: no put of the batch is complete until then. The first
 * failure ends the batch, so that the processor does not wait for one slot before it tries the next.
 */
static inline size_t put_some(struct lade_bag_handle *h, uint64_t slots, const uint64_t *word, size_t count,
                              bool *has_enough)
{
    struct lade_bag *b = h->bag;
    _Atomic uint64_t *slot = b->slot;
    uint32_t at[AT_ONCE + SLOTS_IN_LINE];
    size_t wanted = count < AT_ONCE ? count : AT_ONCE;
    size_t found = find_free(h, slots, wanted, at, has_enough);
    size_t done = 0;
    uint64_t active = 0;

    wanted = found < wanted ? found : wanted;
    while (done + 4 <= wanted && fill_next(slot, at, word, &done) && fill_next(slot, at, word, &done) &&
           fill_next(slot, at, word, &done) && fill_next(slot, at, word, &done))
        ;
    while (done < wanted && fill_next(slot, at, word, &done))
        ;
    if (done < found)
        h->cursor = at[done];
    if (done == 0)
        return 0;
    for (uint64_t j = at[0] / LADE_BAG_GROUP; j <= at[done - 1] / LADE_BAG_GROUP; j++)
        active = announce_fill(b, j * LADE_BAG_GROUP);
    return active & ACTIVE_CLOSED ? take_back_many(h, at, word, done) : done;
}

/*
 * Puts words in small batches. If the groups in use are nearly full, takes another group into use. Puts words one by
 * one if that does not help, or while each put finds the bag full and evicts.
 */
static size_t put_words(struct lade_bag_handle *h, const uint64_t *word, size_t count)
{
    struct lade_bag *b = h->bag;
    uint64_t full = counted(h, SAW_FULL);
    bool has_enough = true;
    size_t done = 0;

    for (int empty = 0; done < count;) {
        LADE_STEP();
        uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed); /* announce_fill() checks again */
        uint64_t slots = slots_in(b, used(active));
        size_t n = 0;
        if (!(active & ACTIVE_CLOSED) && slots > 0 && empty < 4) {
            if (!has_enough && used(active) < b->groups && use_more(h, active, 1))
                slots = slots_in(b, used(active) + 1);
            if (h->cursor >= slots)
                h->cursor = 0;
            n = put_some(h, slots, word + done, count - done, &has_enough);
        } else if (put_word(h, word[done]) == LADE_OK) {
            n = 1;
        } else {
            break;
        }
        done += n;
        if (n == 0)
            empty++;
        else if (counted(h, SAW_FULL) == full)
            empty = 0;
        full = counted(h, SAW_FULL);
    }
    add(h, PUT, done);
    lade_event_notify_all_seq_cst(&b->arrived);
    return done;
}

LADE_BAG_NOINLINE int put_any(struct lade_bag_handle *h, const void *element, uint64_t times)
{
    struct lade_bag *b = h->bag;
    uint64_t size = 0;

    if (!is_valid(b, element))
        return LADE_INVALID;
    if (has_limits(b) && is_closed(b))
        return unless_closed(b, LADE_CLOSED);
    if (b->config.samples_per_insert > 0 && !may_put(h))
        return unless_closed(b, LADE_LIMITED);
    if (b->config.bytes) {
        size = b->config.bytes(b->config.context, element);
        if (!reserve_bag_bytes(h, size))
            return unless_closed(b, LADE_FULL);
    }
    uint64_t put = slot_word(h, element) | times << TIMES_SHIFT;
    int status = b->config.full == LADE_BAG_EVICT_OLDEST ? put_in_turn(h, put) : put_anywhere(h, put, false);
    if (status == LADE_OK) {
        add(h, PUT, 1);
        add(h, BYTES_IN, size);
        notify(b, &b->arrived);
        if (b->config.bytes && b->config.full != LADE_BAG_REJECT)
            notify(b, &b->left); /* it may have evicted a larger element */
    }
    return status;
}

static inline int put_one(struct lade_bag_handle *h, const void *element, uint64_t times)
{
    struct lade_bag *b = h->bag;

    if (!b->plain || times > 0)
        return put_any(h, element, times);
    int status = put_word(h, element ? *(const uint64_t *)element : 0);
    if (status == LADE_OK) {
        add(h, PUT, 1);
        lade_event_notify_all_seq_cst(&b->arrived);
    }
    return status;
}

int lade_bag_put(struct lade_bag_handle *h, const void *element)
{
    return put_one(h, element, 0);
}

int lade_bag_put_sampled(struct lade_bag_handle *h, const void *element, uint64_t times)
{
    uint32_t cell = h->spare;
    int status = put_one(h, element, times);

    /* If the cell has moved into a slot: all loans that the slot word counts have been given back. */
    if (h->bag->cells && times > 0 && h->spare != cell)
        lade_bag_cell_unref(h, cell, -(int64_t)times);
    return status;
}

LADE_BAG_NOINLINE int take_any(struct lade_bag_handle *h, enum fate fate, void *element)
{
    int status = choose_among(h, DRAW, 0, slots_to_try(h->bag), 0, false);

    if (status == LADE_OK) {
        release_element(h, h->seen, fate, element, false);
        notify(h->bag, &h->bag->left);
    }
    return status;
}

LADE_BAG_INLINE int finish_take(struct lade_bag_handle *h, enum fate fate, void *element)
{
    release_element(h, h->seen, fate, element, true);
    lade_event_notify_all_seq_cst(&h->bag->left);
    return LADE_OK;
}

LADE_BAG_NOINLINE int take_word_slow(struct lade_bag_handle *h, enum fate fate, void *element, uint64_t slots,
                                     uint64_t tried)
{
    int status = choose_among(h, DRAW, 0, slots, tried, true);

    return status == LADE_OK ? finish_take(h, fate, element) : status;
}

LADE_BAG_INLINE int take(struct lade_bag_handle *h, enum fate fate, void *element)
{
    uint64_t tried;

    if (!h->bag->plain)
        return take_any(h, fate, element);
    uint64_t slots = slots_to_try(h->bag);
    if (!choose_at_once(h, DRAW, 0, slots, &tried))
        return take_word_slow(h, fate, element, slots, tried);
    return finish_take(h, fate, element);
}

int lade_bag_draw(struct lade_bag_handle *h, void *element)
{
    return take(h, HAND_OUT, element);
}

int lade_bag_evict(struct lade_bag_handle *h)
{
    return take(h, DROP, NULL);
}

LADE_BAG_NOINLINE int exchange_any(struct lade_bag_handle *h, const void *in, void *out)
{
    struct lade_bag *b = h->bag;

    if (!is_valid(b, in) || b->config.full == LADE_BAG_EVICT_OLDEST)
        return LADE_INVALID;
    if (is_closed(b))
        return unless_closed(b, LADE_CLOSED);
    uint64_t size = b->config.bytes ? b->config.bytes(b->config.context, in) : 0;
    int status = swap(h, slot_word(h, in));
    if (status != LADE_OK)
        return status;
    release_element(h, h->seen, HAND_OUT, out, false);
    add(h, PUT, 1);
    add(h, BYTES_IN, size);
    notify(b, &b->arrived);
    if (has_limits(b))
        notify(b, &b->left);
    return LADE_OK;
}

LADE_BAG_INLINE int finish_exchange(struct lade_bag_handle *h, void *out)
{
    (void)announce_fill(h->bag, h->slot);
    release_element(h, h->seen, HAND_OUT, out, true);
    add(h, PUT, 1); /* the number of elements is unchanged: no thread waits for that */
    return LADE_OK;
}

LADE_BAG_NOINLINE int exchange_word_slow(struct lade_bag_handle *h, uint64_t word, void *out, uint64_t slots,
                                         uint64_t tried)
{
    int status = choose_among(h, EXCHANGE, word, slots, tried, true);

    return status == LADE_OK ? finish_exchange(h, out) : status;
}

LADE_BAG_INLINE int exchange_one(struct lade_bag_handle *h, const void *in, void *out)
{
    struct lade_bag *b = h->bag;
    uint64_t tried;

    if (!b->plain)
        return exchange_any(h, in, out);
    uint64_t word = in ? *(const uint64_t *)in : 0;
    if (word - 1 >= LADE_BAG_WORD_MAX)
        return LADE_INVALID;
    LADE_STEP();
    uint64_t active = atomic_load_explicit(&b->active, memory_order_relaxed); /* only the number of slots to scan */
    if (active & ACTIVE_CLOSED)
        return unless_closed(b, LADE_CLOSED);
    uint64_t slots = slots_in(b, used(active));
    if (!choose_at_once(h, EXCHANGE, word, slots, &tried))
        return exchange_word_slow(h, word, out, slots, tried);
    return finish_exchange(h, out);
}

int lade_bag_exchange(struct lade_bag_handle *h, const void *in, void *out)
{
    return exchange_one(h, in, out);
}

size_t lade_bag_put_many(struct lade_bag_handle *h, const void *elements, size_t count)
{
    const unsigned char *element = elements;
    size_t done = 0;

    if (h->bag->plain)
        return put_words(h, elements, count);
    while (done < count && put_any(h, element + done * h->bag->element, 0) == LADE_OK)
        done++;
    return done;
}

size_t lade_bag_draw_many(struct lade_bag_handle *h, void *elements, size_t count)
{
    unsigned char *element = elements;
    size_t done = 0;

    while (done < count && take(h, HAND_OUT, element + done * h->bag->element) == LADE_OK)
        done++;
    return done;
}

size_t lade_bag_exchange_many(struct lade_bag_handle *h, const void *in, void *out, size_t count)
{
    const unsigned char *from = in;
    unsigned char *to = out;
    size_t size = h->bag->element;
    size_t done = 0;

    while (done < count && exchange_one(h, from + done * size, to + done * size) == LADE_OK)
        done++;
    return done;
}

size_t lade_bag_evict_many(struct lade_bag_handle *h, size_t count)
{
    size_t done = 0;

    while (done < count && take(h, DROP, NULL) == LADE_OK)
        done++;
    return done;
}

size_t lade_bag_drain(struct lade_bag_handle *h)
{
    return lade_bag_evict_many(h, SIZE_MAX);
}

void *lade_bag_scratch(struct lade_bag_handle *h)
{
    return h->bag->config.kind == LADE_BAG_RECORDS ? cell_at(h->bag, h->spare) : NULL;
}

static void count_all(const struct lade_bag *b, struct lade_bag_stats *c)
{
    uint64_t out;

    c->drawn = sum(b, DRAWN);
    c->evicted = sum(b, EVICTED);
    c->put = sum(b, PUT);
    out = c->drawn + c->evicted;
    c->held = c->put > out ? c->put - out : 0;
    c->given_back = sum(b, GIVEN_BACK);
    c->sampled = sum(b, SAMPLED);
    out = sum(b, BYTES_OUT);
    c->bytes = sum(b, BYTES_IN);
    c->bytes = c->bytes > out ? c->bytes - out : 0;
    c->full = sum(b, SAW_FULL);
    c->empty = sum(b, SAW_EMPTY);
    c->scanned = sum(b, SCANNED);
}

void lade_bag_stats_sized(const struct lade_bag *b, struct lade_bag_stats *counts, size_t size)
{
    struct lade_bag_stats whole;

    count_all(b, &whole);
    whole.seed = b->config.seed;
    lade_sized_out(counts, size, &whole, sizeof whole);
}
