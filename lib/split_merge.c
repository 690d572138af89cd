/* SPDX-License-Identifier: MIT */
/* The union of two splits that decided separately. */
#include "split.h"

#include "fail.h"

struct merging {
    struct lade_split *into;
    struct lade_key salt;
    bool change; /* false: only find differences */
    lade_split_report *report;
    void *context;
    uint64_t differences;
    int status;
};

/* A total order: among any number of values of one name, in any order, the same one is the least. */
static bool is_before(const struct merging *m, uint64_t name, uint64_t a, uint64_t b)
{
    uint64_t of_a = lade_random_at(m->salt, name ^ lade_split_identity(a), a >> LADE_SPLIT_PART_SHIFT);
    uint64_t of_b = lade_random_at(m->salt, name ^ lade_split_identity(b), b >> LADE_SPLIT_PART_SHIFT);

    return of_a < of_b || (of_a == of_b && a < b);
}

static void report_difference(struct merging *m, uint64_t name, uint64_t value, uint64_t other, uint64_t chosen)
{
    bool owned = lade_split_kind_of(value) == 0;
    struct lade_split_difference d = {
        .hash = name,
        .kind = owned ? LADE_SPLIT_CONTENT : (enum lade_split_kind)lade_split_kind_of(value),
        .part = owned ? LADE_SPLIT_NO_PART : lade_split_part_of(value),
        .other = owned ? LADE_SPLIT_NO_PART : lade_split_part_of(other),
        .chosen = owned ? LADE_SPLIT_NO_PART : lade_split_part_of(chosen),
    };

    m->differences++;
    if (m->report)
        m->report(m->context, &d);
}

static bool merge_entry(void *context, const struct lade_table_entry *entry)
{
    struct merging *m = context;
    const uint64_t name = entry->key & LADE_SPLIT_PLACE;
    uint64_t place = name, value = 0;
    int status = lade_split_look(m->into->table, &place, entry->value, &value);

    if (status == LADE_OK && value != entry->value) {
        uint64_t chosen = is_before(m, name, value, entry->value) ? value : entry->value;
        report_difference(m, name, value, entry->value, chosen);
        if (m->change && chosen != value)
            status = lade_table_replace(m->into->table, place, chosen, NULL);
    } else if (status == LADE_ABSENT) {
        status = m->change ? lade_split_claim(m->into->table, name, entry->value, &value) : LADE_OK;
    }
    m->status = status;
    return status == LADE_OK;
}

static int merge_pass(struct merging *m, struct lade_split *from, bool change)
{
    m->change = change;
    int status = lade_table_for_each(from->table, merge_entry, m, NULL);
    return m->status != LADE_OK ? m->status : status;
}

static bool fit(const struct lade_split_config *a, const struct lade_split_config *b)
{
    return a->store == LADE_SPLIT_EXACT && b->store == LADE_SPLIT_EXACT && a->seed == b->seed && a->parts == b->parts &&
           (a->content == LADE_SPLIT_FOLLOW) == (b->content == LADE_SPLIT_FOLLOW);
}

static int explain_merge(struct lade_error *error, int status, uint64_t differences)
{
    const char *reason = "out of memory; merge again to add what is missing";

    if (status == LADE_OK)
        return LADE_OK;
    if (status == LADE_CONFLICT)
        return lade_fail(error, status, NULL, LADE_NO_OFFSET,
                         "%llu names have different parts in the two splits, and nothing was changed; merge with "
                         "resolve to settle them",
                         (unsigned long long)differences);
    if (status == LADE_INVALID)
        reason = "both splits must be exact, with the same seed, parts and policy for contents";
    else if (status == LADE_FULL)
        reason = "sixteen names have hashes with 60 equal bits";
    return lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", reason);
}

int lade_split_merge(struct lade_split *into, struct lade_split *from, uint64_t salt, bool resolve,
                     lade_split_report *report, void *context, uint64_t *differences, struct lade_error *error)
{
    struct merging m = {.into = into, .report = report, .context = context, .status = LADE_OK};
    int status = LADE_OK;

    if (differences)
        *differences = 0;
    if (!fit(&into->config, &from->config))
        return explain_merge(error, LADE_INVALID, 0);
    if (into == from)
        return LADE_OK;
    m.salt = lade_key_make(salt, 0, LADE_SPLIT_FOR_MERGE);
    if (!resolve) {
        status = merge_pass(&m, from, false);
        if (status == LADE_OK && m.differences > 0)
            status = LADE_CONFLICT;
    }
    if (status == LADE_OK)
        status = merge_pass(&m, from, true);
    if (differences)
        *differences = m.differences;
    return explain_merge(error, status, m.differences);
}
