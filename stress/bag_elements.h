/* SPDX-License-Identifier: MIT */
/*
 * Elements of the three kinds that carry a number: the word itself, a reference-counted object that records how it was
 * released, or a record filled with a pattern that a torn copy breaks.
 */
#ifndef LADE_STRESS_BAG_ELEMENTS_H
#define LADE_STRESS_BAG_ELEMENTS_H

#include "check.h"

#include <lade/bag.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { RECORD_WORDS = 9 }; /* more than a cache line */

struct counted {
    struct lade_ref ref;
    uint64_t number, again;
};

union element {
    uint64_t word;
    struct lade_ref *ref;
    uint64_t record[RECORD_WORDS];
};

static const char *const kind_name[] = {"words", "refs", "records"};
static const char *const full_name[] = {"reject", "evict uniformly", "evict oldest"};

/* Of all objects since elements_begin(). */
static struct {
    _Atomic uint64_t made, released, torn;
    void (*gone)(uint64_t number); /* called for each object that is released and each word that the bag drops */
} elements;

static void elements_begin(void (*gone)(uint64_t))
{
    atomic_store_explicit(&elements.made, 0, memory_order_relaxed);
    atomic_store_explicit(&elements.released, 0, memory_order_relaxed);
    atomic_store_explicit(&elements.torn, 0, memory_order_relaxed);
    elements.gone = gone;
}

static struct counted *counted_of(struct lade_ref *ref)
{
    return (struct counted *)(void *)((char *)ref - offsetof(struct counted, ref));
}

/* Frees it, so that a sanitizer detects a late access; without a sanitizer the number is cleared. */
static void element_release(struct lade_ref *ref)
{
    struct counted *c = counted_of(ref);

    if (elements.gone)
        elements.gone(c->number);
    c->number = c->again = 0;
    free(c);
    atomic_fetch_add_explicit(&elements.released, 1, memory_order_relaxed);
}

static inline void element_dropped(void *context, uint64_t word)
{
    (void)context;
    if (elements.gone)
        elements.gone(word);
}

static void element_make(enum lade_bag_kind kind, union element *e, uint64_t number)
{
    uint64_t state = number;

    if (kind == LADE_BAG_WORDS) {
        e->word = number;
    } else if (kind == LADE_BAG_REFS) {
        struct counted *c = check_memory(1, sizeof *c);
        lade_ref_init(&c->ref);
        c->number = number;
        c->again = ~number;
        e->ref = &c->ref;
        atomic_fetch_add_explicit(&elements.made, 1, memory_order_relaxed);
    } else {
        e->record[0] = number;
        for (unsigned i = 1; i < RECORD_WORDS; i++)
            e->record[i] = check_next(&state);
    }
}

static uint64_t torn(void)
{
    atomic_fetch_add_explicit(&elements.torn, 1, memory_order_relaxed);
    return 0;
}

static uint64_t number_of_ref(struct lade_ref *ref)
{
    const struct counted *c = counted_of(ref);

    return c->again == ~c->number ? c->number : torn();
}

static uint64_t number_of_record(const uint64_t *record)
{
    uint64_t state = record[0];

    for (unsigned i = 1; i < RECORD_WORDS; i++)
        if (record[i] != check_next(&state))
            return torn();
    return record[0];
}

/* The number of an element; 0, and counted, when it is torn. */
static uint64_t element_number(enum lade_bag_kind kind, const void *element)
{
    const union element *e = element;

    return kind == LADE_BAG_WORDS  ? e->word
           : kind == LADE_BAG_REFS ? number_of_ref(e->ref)
                                   : number_of_record(e->record);
}

/* The number of a sampled element. */
static inline uint64_t loan_number(enum lade_bag_kind kind, const struct lade_loan *loan)
{
    return kind == LADE_BAG_WORDS  ? loan->word
           : kind == LADE_BAG_REFS ? number_of_ref(loan->ref)
                                   : number_of_record(loan->record);
}

/* Discards an element that the caller owns. */
static void element_drop(enum lade_bag_kind kind, union element *e)
{
    if (kind == LADE_BAG_REFS)
        (void)lade_ref_put(e->ref, element_release);
}

/* Bytes of an element in the arrays of the batch operations. */
static inline size_t element_size(enum lade_bag_kind kind)
{
    return kind == LADE_BAG_RECORDS ? sizeof(uint64_t[RECORD_WORDS]) : sizeof(uint64_t);
}

static struct lade_bag_config elements_config(enum lade_bag_kind kind, enum lade_bag_full full, uint64_t capacity,
                                              unsigned handles)
{
    return (struct lade_bag_config){
        .capacity = capacity,
        .handles = handles,
        .kind = kind,
        .record_size = kind == LADE_BAG_RECORDS ? element_size(kind) : 0,
        .full = full,
        .seed = check_seed(),
        .release = kind == LADE_BAG_REFS ? element_release : NULL,
        .drop = kind == LADE_BAG_WORDS ? element_dropped : NULL,
    };
}

static struct lade_bag *bag_make(const struct lade_bag_config *config)
{
    struct lade_bag *bag = NULL;

    if (lade_bag_create(&bag, config) != LADE_OK)
        exit(2);
    return bag;
}

static struct lade_bag_handle *bag_enter(struct lade_bag *bag)
{
    struct lade_bag_handle *handle = NULL;

    if (lade_bag_join(bag, &handle) != LADE_OK)
        exit(2);
    return handle;
}

#endif
