/* SPDX-License-Identifier: MIT */
/* Declarations shared by the tests of saved states. */
#ifndef STATES_H
#define STATES_H

#include "loads.h"

#include <stdio.h>

/* The state of a loader; the caller frees it. */
static inline char *state_of(const struct lade_loader *l)
{
    size_t size = lade_loader_state(l, NULL, 0);
    char *text = malloc(size);

    cr_assert(size > 0 && text);
    cr_assert_eq(lade_loader_state(l, text, size), size);
    cr_assert_eq(strlen(text) + 1, size);
    return text;
}

static inline struct lade_loader *resume(const struct lade_loader_config *config, const char *state)
{
    struct lade_loader *l;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_loader_resume(&l, config, state, &error), LADE_OK, "%s: %s", state, error.text);
    return l;
}

/* Takes up to this many batches. The number taken. */
static inline uint64_t take_batches(struct lade_loader *l, uint64_t most, struct tally *t)
{
    struct lade_batch b;
    uint64_t n = 0;
    int status = LADE_OK;

    while (n < most && (status = lade_loader_next(l, &b, INT64_C(60000000000), NULL)) == LADE_OK) {
        tally_add(t, &b);
        lade_loader_release(l, &b);
        n++;
    }
    cr_assert(status == LADE_OK || status == LADE_CLOSED);
    return n;
}

/* Takes some batches and ends the loader; returns its state. */
static inline char *leave_after(struct lade_loader *l, uint64_t batches, struct tally *t)
{
    (void)take_batches(l, batches, t);
    char *state = state_of(l);
    lade_loader_destroy(l);
    return state;
}

static inline struct lade_split *fifths(uint64_t seed)
{
    static const uint32_t weights[2] = {3, 2};
    struct lade_split *split;
    const struct lade_split_config config = {.parts = 2, .weights = weights, .store = LADE_SPLIT_PURE, .seed = seed};

    cr_assert_eq(lade_split_create(&split, &config, NULL), LADE_OK);
    return split;
}

static inline bool is_in(struct lade_split *split, unsigned part, uint64_t id)
{
    unsigned where = 99;

    if (!split)
        return true;
    cr_assert_eq(lade_split_route_word(split, id, &where), LADE_OK);
    return where == part;
}

#endif
