/* SPDX-License-Identifier: MIT */
/* Routing: lookup of recorded decisions, new decisions, and conflicts between them. */
#include "split.h"

/* Tests create names with partly equal hashes. */
#ifndef LADE_SPLIT_HIGH
#define LADE_SPLIT_HIGH(high) (high)
#endif

#define PLACES (~LADE_SPLIT_PLACE + 1) /* maximum number of names with the same upper half */

int lade_split_look(struct lade_table *table, uint64_t *place, uint64_t value, uint64_t *found)
{
    int status = LADE_ABSENT;

    for (uint64_t i = 0; i < PLACES; i++, ++*place) {
        status = lade_table_get(table, *place, found);
        if (status != LADE_OK || lade_split_identity(*found) == lade_split_identity(value))
            return status;
    }
    return LADE_ABSENT;
}

int lade_split_claim(struct lade_table *table, uint64_t place, uint64_t value, uint64_t *winner)
{
    for (uint64_t i = 0; i < PLACES; i++, place++) {
        int status = lade_table_insert(table, place, value, winner);
        if (status != LADE_PRESENT || lade_split_identity(*winner) == lade_split_identity(value))
            return status;
    }
    return LADE_FULL; /* sixteen names with 60 equal bits: the hash is broken */
}

static uint64_t value_for(enum lade_split_kind kind, const struct lade_split_name *name, unsigned part)
{
    return (uint64_t)part << LADE_SPLIT_PART_SHIFT | (uint64_t)kind << LADE_SPLIT_KIND_SHIFT |
           (name->low & LADE_SPLIT_FINGERPRINT);
}

static uint64_t value_for_owner(const struct lade_split_name *content, const struct lade_split_name *key)
{
    return (key->low >> 32) % 255 << LADE_SPLIT_PART_SHIFT |
           ((content->low & LADE_SPLIT_FINGERPRINT) & ~LADE_SPLIT_OWNER) | (key->low & LADE_SPLIT_OWNER);
}

/* An item that is being routed. Arrays are indexed by kind. */
struct query {
    struct lade_split_name name[4];
    bool given[4];
    unsigned part[4]; /* recorded */
    unsigned class_number;
    unsigned pinned; /* part that was chosen elsewhere */
    bool conflict;
};

static void name_it(const struct lade_split *s, enum lade_split_kind kind, const void *bytes, size_t size,
                    struct lade_split_name *name)
{
    lade_split_sip(&s->sip[kind], bytes, size, name);
    name->high = LADE_SPLIT_HIGH(name->high) & LADE_SPLIT_PLACE;
}

static bool owns(const struct lade_split *s)
{
    return s->config.content != LADE_SPLIT_FOLLOW;
}

static void give_name(const struct lade_split *s, struct query *q, enum lade_split_kind kind, const void *bytes,
                      size_t size)
{
    q->part[kind] = LADE_SPLIT_NO_PART;
    q->given[kind] = bytes != NULL;
    if (bytes)
        name_it(s, kind, bytes, size, &q->name[kind]);
}

static int ask(const struct lade_split *s, const struct lade_split_item *item, struct query *q)
{
    q->pinned = LADE_SPLIT_NO_PART;
    q->conflict = false;
    q->class_number = item->class_number;
    give_name(s, q, LADE_SPLIT_KEY, item->key, item->key_size);
    give_name(s, q, LADE_SPLIT_GROUP, item->group, item->group_size);
    give_name(s, q, LADE_SPLIT_CONTENT, item->content, item->content_size);
    if (!item->key || (s->config.store != LADE_SPLIT_EXACT && item->group && item->content) ||
        (s->config.rule == LADE_SPLIT_QUOTA && item->class_number >= s->config.classes))
        return LADE_INVALID;
    return LADE_OK;
}

/* Returns the name that decides. */
static const struct lade_split_name *lead(const struct lade_split *s, const struct query *q)
{
    if (q->given[LADE_SPLIT_GROUP])
        return &q->name[LADE_SPLIT_GROUP];
    return &q->name[q->given[LADE_SPLIT_CONTENT] && !owns(s) ? LADE_SPLIT_CONTENT : LADE_SPLIT_KEY];
}

static void find_recorded(struct lade_split *s, struct query *q, enum lade_split_kind kind)
{
    uint64_t place, found;

    if (!q->given[kind])
        return;
    place = q->name[kind].high;
    if (lade_split_look(s->table, &place, value_for(kind, &q->name[kind], 0), &found) == LADE_OK)
        q->part[kind] = lade_split_part_of(found);
}

/* Finds the part that the recorded names agree on, or that the configuration prefers; none if nothing is recorded. */
static int settle(struct lade_split *s, struct query *q, unsigned *part)
{
    const unsigned key = q->part[LADE_SPLIT_KEY], group = q->part[LADE_SPLIT_GROUP],
                   content = q->part[LADE_SPLIT_CONTENT], none = LADE_SPLIT_NO_PART;
    bool by_content = group == none || (content != none && s->config.conflict == LADE_SPLIT_CONTENT_WINS);

    *part = key != none ? key : by_content ? content : group;
    if ((group != none && group != *part) || (content != none && content != *part))
        q->conflict = true;
    if (q->conflict && s->config.conflict == LADE_SPLIT_REFUSE)
        return LADE_CONFLICT;
    if (q->pinned != none && *part != none && *part != q->pinned) {
        q->conflict = true;
        return LADE_CONFLICT;
    }
    return LADE_OK;
}

/* A content belongs to the first key that has it. */
static int own_content(struct lade_split *s, struct query *q)
{
    const struct lade_split_name *content = &q->name[LADE_SPLIT_CONTENT];
    const uint64_t mine = value_for_owner(content, &q->name[LADE_SPLIT_KEY]);
    uint64_t winner;
    int status = lade_split_claim(s->table, content->high, mine, &winner);

    if (status == LADE_OK || (status == LADE_PRESENT && winner == mine))
        return LADE_OK;
    if (status == LADE_PRESENT && q->part[LADE_SPLIT_KEY] != LADE_SPLIT_NO_PART) {
        /* The key was accepted before it had this content. */
        q->conflict = true;
        return s->config.conflict == LADE_SPLIT_REFUSE ? LADE_CONFLICT : LADE_OK;
    }
    if (status == LADE_PRESENT && s->config.content == LADE_SPLIT_REJECT) {
        q->conflict = true;
        return LADE_CONFLICT;
    }
    if (status == LADE_PRESENT)
        atomic_fetch_add_explicit(&s->dropped, 1, memory_order_relaxed);
    return status;
}

static int choose(struct lade_split *s, struct query *q, enum lade_split_kind kind, unsigned *part,
                  struct lade_split_token *token)
{
    if (q->pinned != LADE_SPLIT_NO_PART)
        *part = q->pinned;
    else if (s->config.rule != LADE_SPLIT_QUOTA)
        *part = lade_split_choose(s, &q->name[kind]);
    else
        return lade_split_draw_token(s, q->class_number, token, part);
    return LADE_OK;
}

/*
 * Records a name that was not recorded when it was looked up. If another thread was first, the part of that thread
 * stands.
 */
static int record(struct lade_split *s, struct query *q, enum lade_split_kind kind, unsigned *part)
{
    struct lade_split_token token;
    uint64_t winner = 0;
    int status = LADE_OK;

    token.handle = NULL;
    if (*part == LADE_SPLIT_NO_PART)
        status = choose(s, q, kind, part, &token);
    if (status == LADE_FULL || status == LADE_LIMITED) {
        /* Another thread may have decided it in the meantime, with the token that is missing. */
        find_recorded(s, q, kind);
        if (q->part[kind] != LADE_SPLIT_NO_PART)
            return settle(s, q, part);
    }
    if (status != LADE_OK)
        return status;
    status = lade_split_claim(s->table, q->name[kind].high, value_for(kind, &q->name[kind], *part), &winner);
    lade_split_end_token(s, q->class_number, &token, status == LADE_OK);
    if (status != LADE_OK && status != LADE_PRESENT)
        return status;
    q->part[kind] = lade_split_part_of(winner);
    return settle(s, q, part);
}

static int route_exact(struct lade_split *s, struct query *q, unsigned *part)
{
    static const enum lade_split_kind order[] = {LADE_SPLIT_GROUP, LADE_SPLIT_CONTENT, LADE_SPLIT_KEY};
    int status = LADE_OK;

    find_recorded(s, q, LADE_SPLIT_KEY);
    find_recorded(s, q, LADE_SPLIT_GROUP);
    if (q->given[LADE_SPLIT_CONTENT] && owns(s)) {
        status = own_content(s, q);
        q->given[LADE_SPLIT_CONTENT] = false;
    } else {
        find_recorded(s, q, LADE_SPLIT_CONTENT);
    }
    if (status == LADE_OK)
        status = settle(s, q, part);
    for (int i = 0; i < 3 && status == LADE_OK; i++)
        if (q->given[order[i]] && q->part[order[i]] == LADE_SPLIT_NO_PART)
            status = record(s, q, order[i], part);
    if (q->conflict)
        atomic_fetch_add_explicit(&s->conflicts, 1, memory_order_relaxed);
    return status;
}

int lade_split_route(struct lade_split *s, const struct lade_split_item *item, unsigned *part)
{
    struct query q;
    int status = ask(s, item, &q);

    *part = LADE_SPLIT_NO_PART;
    if (status == LADE_OK && s->config.store == LADE_SPLIT_EXACT)
        status = route_exact(s, &q, part);
    else if (status == LADE_OK && s->config.store == LADE_SPLIT_PURE)
        *part = lade_split_choose(s, lead(s, &q));
    else if (status == LADE_OK)
        status = lade_split_route_compact(s, lead(s, &q), part);
    if (status != LADE_OK)
        *part = LADE_SPLIT_NO_PART;
    return status;
}

int lade_split_route_word(struct lade_split *s, uint64_t key, unsigned *part)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(key >> 8 * i);
    return lade_split_route(s, &(struct lade_split_item){.key = bytes, .key_size = sizeof bytes}, part);
}

int lade_split_pin(struct lade_split *s, const struct lade_split_item *item, unsigned part)
{
    struct query q;
    int status = ask(s, item, &q);

    if (s->config.store != LADE_SPLIT_EXACT || s->config.rule == LADE_SPLIT_QUOTA || part >= s->config.parts)
        return LADE_INVALID;
    q.pinned = part;
    return status == LADE_OK ? route_exact(s, &q, &part) : status;
}

int lade_split_find(struct lade_split *s, const struct lade_split_item *item, struct lade_split_found *found)
{
    struct query q;
    uint64_t value;
    int status = ask(s, item, &q);

    *found = (struct lade_split_found){LADE_SPLIT_NO_PART, LADE_SPLIT_NO_PART, LADE_SPLIT_NO_PART};
    if (status != LADE_OK || s->config.store != LADE_SPLIT_EXACT)
        return LADE_INVALID;
    find_recorded(s, &q, LADE_SPLIT_KEY);
    find_recorded(s, &q, LADE_SPLIT_GROUP);
    if (!owns(s)) {
        find_recorded(s, &q, LADE_SPLIT_CONTENT);
    } else if (q.given[LADE_SPLIT_CONTENT]) {
        uint64_t mine = value_for_owner(&q.name[LADE_SPLIT_CONTENT], &q.name[LADE_SPLIT_KEY]);
        uint64_t place = q.name[LADE_SPLIT_CONTENT].high;
        if (lade_split_look(s->table, &place, mine, &value) == LADE_OK && value == mine)
            q.part[LADE_SPLIT_CONTENT] = 0;
    }
    *found = (struct lade_split_found){q.part[LADE_SPLIT_KEY], q.part[LADE_SPLIT_GROUP], q.part[LADE_SPLIT_CONTENT]};
    return found->key == LADE_SPLIT_NO_PART ? LADE_ABSENT : LADE_OK;
}

int lade_split_fold(const struct lade_split *s, const struct lade_split_item *item, unsigned folds, unsigned *fold)
{
    struct query q;

    if (ask(s, item, &q) != LADE_OK || folds == 0)
        return LADE_INVALID;
    *fold = (unsigned)lade_split_below(lead(s, &q), LADE_SPLIT_FOR_FOLD, folds);
    return LADE_OK;
}

uint64_t lade_split_hash(const struct lade_split *s, const void *key, size_t size)
{
    struct lade_split_name name;

    name_it(s, LADE_SPLIT_KEY, key, size, &name);
    return name.high;
}
