/* SPDX-License-Identifier: MIT */
/* Checks arrivals: each sample of the part once in each epoch, and no others. */
#include "feed.h"

#include <stdlib.h>

static bool bit_at(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void bit_set(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

bool tally_create(struct tally *t, uint64_t count)
{
    t->count = count;
    t->member = calloc((size_t)(count / 64 + 1), sizeof *t->member);
    t->on = t->member != NULL;
    return t->on;
}

void tally_member(struct tally *t, uint64_t i)
{
    bit_set(t->member, i);
    t->members++;
}

/* Samples not delivered; those of an epoch with faults are recorded. */
static uint64_t absent(struct tally *t, const struct tally_epoch *e)
{
    uint64_t sum = 0;

    for (uint64_t word = 0; word < t->count / 64 + 1; word++)
        for (uint64_t left = t->member[word] & ~e->seen[word]; left; left &= left - 1, sum++) {
            uint64_t i = word * 64 + (uint64_t)__builtin_ctzll(left);
            bool known = t->suspects == FAULTS_NAMED || e->faults == 0;
            for (unsigned s = 0; s < t->suspects && !known; s++)
                known = t->suspect[s] == i;
            if (!known)
                t->suspect[t->suspects++] = i;
        }
    return sum;
}

static uint64_t beyond(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void end_epoch(struct tally *t, const struct tally_epoch *e, bool complete)
{
    uint64_t length = e->arrived + (t->fault == LADE_FAULT_SKIP ? e->faults : 0);
    uint64_t explained = (t->fault == LADE_FAULT_SUBSTITUTE ? e->faults : 0) + t->pad_repeats;

    t->epochs++;
    t->foreign += e->foreign;
    if (!t->repeats && !t->parts)
        t->repeated += beyond(e->repeated, explained);
    if (!complete || e->begun_before || (t->packed && !t->whole))
        return;
    if (!t->parts)
        t->wrong_length += length > t->expected ? length - t->expected : t->expected - length;
    if (t->repeats || !t->whole)
        return;
    uint64_t missing = absent(t, e), excused = t->members - t->expected + e->faults;
    t->missing += beyond(missing, excused);
}

static struct tally_epoch *epoch_open(struct tally *t, uint64_t number, bool begun_before)
{
    struct tally_epoch *e = calloc(1, sizeof *e), **last = &t->open;

    if (!e)
        return NULL;
    e->seen = calloc((size_t)(t->count / 64 + 1), sizeof *e->seen);
    if (!e->seen) {
        free(e);
        return NULL;
    }
    e->number = number;
    e->begun_before = begun_before;
    while (*last)
        last = &(*last)->next;
    *last = e;
    return e;
}

static struct tally_epoch *epoch_of(struct tally *t, uint64_t number, bool begun_before)
{
    struct tally_epoch *e = t->open;

    while (e && e->number != number)
        e = e->next;
    return e ? e : epoch_open(t, number, begun_before);
}

static void drop(struct tally *t, struct tally_epoch *e)
{
    struct tally_epoch **at = &t->open;

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    free(e->seen);
    free(e);
}

static bool mixed_batch(struct tally *t, const struct lade_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t id = batch->ids[i];
        struct tally_epoch *e = t->open;
        if (id >= t->count || !bit_at(t->member, id)) {
            t->foreign++;
            continue;
        }
        while (e && bit_at(e->seen, id))
            e = e->next;
        if (!e && !(e = epoch_open(t, t->begun++, false)))
            return false;
        bit_set(e->seen, id);
        if (++e->distinct == t->expected && t->whole) {
            t->epochs++;
            drop(t, e);
        }
    }
    t->faults += batch->faults;
    return true;
}

static void mixed_end(struct tally *t, bool complete)
{
    uint64_t missing = t->asked > t->begun ? (t->asked - t->begun) * t->expected : 0, repeated = 0;

    for (; t->open; drop(t, t->open)) {
        t->open->faults = t->faults;
        if (t->open->number >= t->asked)
            repeated += t->open->distinct;
        else
            missing += beyond(t->expected, t->open->distinct);
        if (t->faults && t->whole)
            (void)absent(t, t->open);
        t->epochs++;
    }
    if (complete)
        t->missing = beyond(missing, t->excused + t->faults);
    t->repeated = beyond(repeated, (t->fault == LADE_FAULT_SUBSTITUTE ? t->faults : 0) + t->asked * t->pad_repeats);
}

bool tally_batch(struct tally *t, const struct lade_batch *batch, bool begun_before)
{
    if (t->mixed)
        return mixed_batch(t, batch);
    struct tally_epoch *e = epoch_of(t, batch->epoch, begun_before);

    if (!e)
        return false;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t id = batch->ids[i];
        if (id >= t->count || !bit_at(t->member, id)) {
            e->foreign++;
        } else if (bit_at(e->seen, id)) {
            e->repeated++;
        } else {
            bit_set(e->seen, id);
            e->distinct++;
        }
    }
    e->arrived += batch->count;
    e->faults += batch->faults;
    /* A complete epoch is settled, so that memory does not grow with the number of epochs. */
    const bool all = e->arrived + (t->fault == LADE_FAULT_SKIP ? e->faults : 0) == t->expected;
    if ((t->packed ? batch->last : all) && !e->begun_before) {
        end_epoch(t, e, true);
        drop(t, e);
    }
    return true;
}

void tally_end(struct tally *t, bool complete)
{
    if (t->mixed)
        mixed_end(t, complete);
    while (t->open) {
        end_epoch(t, t->open, complete);
        drop(t, t->open);
    }
}

void tally_free(struct tally *t)
{
    while (t->open)
        drop(t, t->open);
    free(t->member);
}

bool tally_right(const struct tally *t)
{
    return t->missing + t->repeated + t->foreign + t->wrong_length == 0;
}

void curve_add(struct curve *c, double x, double y)
{
    if (c->every == 0)
        c->every = 1;
    if (c->offered++ % c->every != 0)
        return;
    if (c->points == POINTS) {
        for (unsigned i = 0; i < POINTS / 2; i++) {
            c->x[i] = c->x[2 * i];
            c->y[i] = c->y[2 * i];
        }
        c->points = POINTS / 2;
        c->every *= 2;
        if ((c->offered - 1) % c->every != 0)
            return;
    }
    c->x[c->points] = x;
    c->y[c->points++] = y;
}
