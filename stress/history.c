/* SPDX-License-Identifier: MIT */
#include "history.h"
#include "check.h"

#include <inttypes.h>
#include <lade/status.h>
#include <stdlib.h>
#include <string.h>

/* The front of the queue is word[0], and words after the end are zero: equal queues have equal bytes. */
struct queue {
    uint64_t capacity, count, word[HISTORY_QUEUE_MAX];
};

static void queue_begin(void *state, uint64_t parameter)
{
    struct queue *q = state;

    memset(q, 0, sizeof *q);
    q->capacity = parameter < HISTORY_QUEUE_MAX ? parameter : HISTORY_QUEUE_MAX;
}

static bool queue_apply(void *state, const struct history_op *op)
{
    struct queue *q = state;

    switch (op->kind) {
    case HISTORY_PUSH:
        if (q->count == q->capacity)
            return op->status == LADE_FULL;
        q->word[q->count++] = op->word;
        return op->status == LADE_OK;
    case HISTORY_POP:
        if (q->count == 0)
            return op->status == LADE_EMPTY;
        if (op->status != LADE_OK || q->word[0] != op->word)
            return false;
        q->count--;
        memmove(q->word, q->word + 1, q->count * sizeof *q->word);
        q->word[q->count] = 0;
        return true;
    default:
        return false;
    }
}

static void queue_print(FILE *to, const struct history_op *op)
{
    fprintf(to, "%s ", op->kind == HISTORY_PUSH ? "push" : "pop");
    if (op->kind == HISTORY_PUSH || op->status == LADE_OK)
        fprintf(to, "%" PRIu64 " ", op->word);
    fprintf(to, "-> %s", lade_status_text(op->status));
}

const struct history_spec history_queue = {sizeof(struct queue), queue_begin, queue_apply, queue_print};

/* The words are sorted, and words after the end are zero: equal bags have equal bytes. */
struct bag {
    uint64_t capacity, count, word[HISTORY_BAG_MAX];
};

static void bag_begin(void *state, uint64_t parameter)
{
    struct bag *b = state;

    memset(b, 0, sizeof *b);
    b->capacity = parameter < HISTORY_BAG_MAX ? parameter : HISTORY_BAG_MAX;
}

static void bag_add(struct bag *b, uint64_t word)
{
    size_t i = b->count++;

    for (; i > 0 && b->word[i - 1] > word; i--)
        b->word[i] = b->word[i - 1];
    b->word[i] = word;
}

static bool bag_remove(struct bag *b, uint64_t word)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->word[i] != word)
            continue;
        memmove(b->word + i, b->word + i + 1, (--b->count - i) * sizeof *b->word);
        b->word[b->count] = 0;
        return true;
    }
    return false;
}

static bool bag_apply(void *state, const struct history_op *op)
{
    struct bag *b = state;

    switch (op->kind) {
    case HISTORY_PUT:
        if (b->count == b->capacity)
            return op->status == LADE_FULL;
        bag_add(b, op->word);
        return op->status == LADE_OK;
    case HISTORY_DRAW:
        if (b->count == 0)
            return op->status == LADE_EMPTY;
        return op->status == LADE_OK && bag_remove(b, op->word);
    case HISTORY_EXCHANGE:
        if (b->count == 0)
            return op->status == LADE_EMPTY;
        if (op->status != LADE_OK || !bag_remove(b, op->word & UINT32_MAX))
            return false;
        bag_add(b, op->word >> 32);
        return true;
    default:
        return false;
    }
}

static void bag_print(FILE *to, const struct history_op *op)
{
    static const char *const name[] = {"put", "draw", "exchange"};

    fprintf(to, "%s ", name[op->kind]);
    if (op->kind == HISTORY_EXCHANGE)
        fprintf(to, "%" PRIu64 " for %" PRIu64 " ", op->word >> 32, op->word & UINT32_MAX);
    else if (op->kind == HISTORY_PUT || op->status == LADE_OK)
        fprintf(to, "%" PRIu64 " ", op->word);
    fprintf(to, "-> %s", lade_status_text(op->status));
}

const struct history_spec history_bag = {sizeof(struct bag), bag_begin, bag_apply, bag_print};

static void key_begin(void *state, uint64_t parameter)
{
    memcpy(state, &parameter, sizeof parameter);
}

static bool key_apply(void *state, const struct history_op *op)
{
    uint64_t value, in = op->word >> 32, out = op->word & UINT32_MAX;

    memcpy(&value, state, sizeof value);
    if (op->kind == HISTORY_INSERT && value == 0) {
        memcpy(state, &in, sizeof in);
        return op->status == LADE_OK && out == in;
    }
    if (value == 0)
        return op->status == LADE_ABSENT;
    if (op->kind == HISTORY_REMOVE || op->kind == HISTORY_REPLACE) {
        in = op->kind == HISTORY_REPLACE ? in : 0;
        memcpy(state, &in, sizeof in);
    }
    return op->status == (op->kind == HISTORY_INSERT ? LADE_PRESENT : LADE_OK) && out == value;
}

static void key_print(FILE *to, const struct history_op *op)
{
    static const char *const name[] = {"get", "insert", "replace", "remove"};

    fprintf(to, "%s ", name[op->kind]);
    if (op->kind == HISTORY_INSERT || op->kind == HISTORY_REPLACE)
        fprintf(to, "%" PRIu64 " ", op->word >> 32);
    fprintf(to, "-> %s", lade_status_text(op->status));
    if (op->status != LADE_ABSENT)
        fprintf(to, ", %" PRIu64, op->word & UINT32_MAX);
}

const struct history_spec history_key = {sizeof(uint64_t), key_begin, key_apply, key_print};

/* A set of byte strings of one length: open addressing, never more than half full. */
struct set {
    size_t length, count, slots;
    unsigned char *used, *bytes;
};

static size_t set_slot(const struct set *s, const void *key)
{
    const unsigned char *byte = key;
    uint64_t hash = 0;

    for (size_t i = 0; i < s->length; i++) {
        hash ^= byte[i];
        hash *= UINT64_C(0x100000001B3); /* Fowler, Noll, Vo */
    }
    hash ^= hash >> 29;
    size_t slot = (size_t)hash & (s->slots - 1);
    while (s->used[slot] && memcmp(s->bytes + slot * s->length, key, s->length) != 0)
        slot = (slot + 1) & (s->slots - 1);
    return slot;
}

static void set_begin(struct set *s, size_t length, size_t slots)
{
    s->length = length;
    s->count = 0;
    s->slots = slots;
    s->used = check_memory(slots, 1);
    s->bytes = check_memory(slots, length);
}

static void set_end(struct set *s)
{
    free(s->used);
    free(s->bytes);
}

/* Returns whether the key was absent. */
static bool set_add(struct set *s, const void *key)
{
    size_t slot = set_slot(s, key);

    if (s->used[slot])
        return false;
    if (s->count * 2 >= s->slots) {
        struct set grown;
        set_begin(&grown, s->length, s->slots * 2);
        for (size_t i = 0; i < s->slots; i++)
            if (s->used[i])
                (void)set_add(&grown, s->bytes + i * s->length);
        set_end(s);
        *s = grown;
        slot = set_slot(s, key);
    }
    s->used[slot] = 1;
    memcpy(s->bytes + slot * s->length, key, s->length);
    s->count++;
    return true;
}

/*
 * Operation i in the order of invocation is op[rank[i]]; before[i] is 1 + the index of the previous operation of its
 * thread.
 */
struct search {
    const struct history_spec *spec;
    const struct history_op *op;
    size_t count, mask_words, key_size;
    size_t *rank, *before, *order;
    unsigned char *key; /* for each depth: the done operations as bits, then the state */
    struct set seen;
    bool gave_up;
};

static bool is_done(const unsigned char *key, size_t i)
{
    uint64_t word;

    memcpy(&word, key + i / 64 * sizeof word, sizeof word);
    return word >> i % 64 & 1;
}

static void set_done(unsigned char *key, size_t i)
{
    uint64_t word;

    memcpy(&word, key + i / 64 * sizeof word, sizeof word);
    word |= UINT64_C(1) << i % 64;
    memcpy(key + i / 64 * sizeof word, &word, sizeof word);
}

/*
 * Continues from the state at this depth. An operation may come next when no remaining one returned before it was
 * invoked. Operations invoked later cannot have, so the least return stamp of the ones scanned so far decides.
 */
static bool extend(struct search *s, size_t depth)
{
    const unsigned char *here = s->key + depth * s->key_size;
    unsigned char *there = s->key + (depth + 1) * s->key_size;
    uint64_t least = UINT64_MAX;

    if (depth == s->count)
        return true;
    for (size_t i = 0; i < s->count; i++) {
        const struct history_op *op = &s->op[s->rank[i]];
        if (is_done(here, i))
            continue;
        if (op->invoked > least)
            return false;
        if (op->returned < least)
            least = op->returned;
        if (s->before[i] && !is_done(here, s->before[i] - 1))
            continue;
        memcpy(there, here, s->key_size);
        if (!s->spec->apply(there + s->mask_words * sizeof(uint64_t), op))
            continue;
        set_done(there, i);
        if (!set_add(&s->seen, there))
            continue;
        if (s->seen.count >= HISTORY_LIMIT) {
            s->gave_up = true;
            return false;
        }
        s->order[depth] = s->rank[i];
        if (extend(s, depth + 1))
            return true;
        if (s->gave_up)
            return false;
    }
    return false;
}

static bool well_formed(const struct history_op *op, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (op[i].invoked >= op[i].returned)
            return false;
        for (size_t j = i + 1; j < count; j++)
            if (op[i].thread == op[j].thread && op[j].invoked < op[i].returned && op[j].invoked != op[i].invoked)
                return false;
    }
    return true;
}

/* Stable, so that the parts of a batch keep their order. */
static void sort_by_invocation(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t j = i;
        for (; j > 0 && s->op[s->rank[j - 1]].invoked > s->op[i].invoked; j--)
            s->rank[j] = s->rank[j - 1];
        s->rank[j] = i;
    }
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < i; j++)
            if (s->op[s->rank[j]].thread == s->op[s->rank[i]].thread)
                s->before[i] = j + 1;
}

enum history_verdict history_check(const struct history_spec *spec, uint64_t parameter, const struct history_op *op,
                                   size_t count, size_t *order, size_t *visited)
{
    struct search s = {.spec = spec, .op = op, .count = count};
    bool found = false;

    if (!well_formed(op, count))
        return HISTORY_INVALID;
    s.mask_words = (count + 63) / 64;
    s.key_size = s.mask_words * sizeof(uint64_t) + spec->state_size;
    s.rank = check_memory(count, sizeof *s.rank);
    s.before = check_memory(count, sizeof *s.before);
    s.order = check_memory(count, sizeof *s.order);
    s.key = check_memory(count + 1, s.key_size);
    set_begin(&s.seen, s.key_size, 256);
    sort_by_invocation(&s);
    spec->begin(s.key + s.mask_words * sizeof(uint64_t), parameter);
    found = extend(&s, 0);
    if (order && found)
        memcpy(order, s.order, count * sizeof *order);
    if (visited)
        *visited = s.seen.count;
    set_end(&s.seen);
    free(s.rank);
    free(s.before);
    free(s.order);
    free(s.key);
    return found ? HISTORY_LINEARIZABLE : s.gave_up ? HISTORY_GAVE_UP : HISTORY_NOT;
}

bool history_replay(const struct history_spec *spec, uint64_t parameter, const struct history_op *op, size_t count,
                    const size_t *order)
{
    unsigned char *state = check_memory(1, spec->state_size);
    bool *used = check_memory(count, sizeof *used);
    bool right = true;

    spec->begin(state, parameter);
    for (size_t i = 0; i < count && right; i++) {
        right = order[i] < count && !used[order[i]] && spec->apply(state, &op[order[i]]);
        if (right)
            used[order[i]] = true;
        for (size_t j = 0; j < i && right; j++) {
            const struct history_op *first = &op[order[j]], *then = &op[order[i]];
            right = then->returned >= first->invoked && (then->thread != first->thread || order[j] < order[i]);
        }
    }
    free(used);
    free(state);
    return right;
}

bool history_overlaps(const struct history_op *op, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (op[i].thread != op[j].thread && op[i].invoked < op[j].returned && op[j].invoked < op[i].returned)
                return true;
    return false;
}

void history_print(FILE *to, const struct history_spec *spec, const struct history_op *op, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "  thread %u [%" PRIu64 ", %" PRIu64 "] ", op[i].thread, op[i].invoked, op[i].returned);
        spec->print(to, &op[i]);
        fprintf(to, "\n");
    }
}

void history_add(struct history_log *log, uint64_t returned, int kind, int status, uint64_t word)
{
    if (log->count == HISTORY_LOG_MAX) {
        fprintf(stderr, "the log of thread %u is full\n", log->thread);
        exit(2);
    }
    log->op[log->count++] = (struct history_op){log->invoked, returned, log->thread, kind, status, word};
}
