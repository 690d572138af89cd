/* SPDX-License-Identifier: MIT */
/* The contents of a split, and its error probabilities. */
#include "split_filter.h"

#include "sized.h"

/* Computes what an item meets whose probe sequence begins at a word; one of many such sequences. */
static void meet_from(struct lade_split *s, uint64_t at, struct meeting *m)
{
    uint64_t bits[2];
    struct way w;

    meet_none(m);
    lade_split_random(&(struct lade_split_name){at, 0}, LADE_SPLIT_FOR_FILTER, 2, bits);
    begin(s, bits, &w);
    w.at = at;
    for (int i = 0; i < LADE_SPLIT_PROBE; i++, go_on(s, &w)) {
        uint64_t seen = atomic_load_explicit(&s->word[w.at], memory_order_relaxed);
        if (s->config.store == LADE_SPLIT_ARRAYS) {
            meet_arrays(s, m, seen);
            break;
        }
        for (unsigned entry = 0; entry < seen >> COUNT_SHIFT; entry++)
            meet(m, (unsigned)(seen >> ENTRY_BITS * entry) & 1);
        if (seen >> COUNT_SHIFT < ENTRIES)
            break;
    }
}

static unsigned entries_in(const struct lade_split *s, uint64_t word)
{
    unsigned set = 0;

    if (s->config.store == LADE_SPLIT_COMPACT)
        return (unsigned)(word >> COUNT_SHIFT);
    for (; word; word &= word - 1)
        set++;
    return set;
}

static void stats_of_words(struct lade_split *s, struct lade_split_stats *stats)
{
    const double whole = (double)LADE_SPLIT_WHOLE, a = (double)s->share / whole;
    double mass[2] = {0, 0}, coin = 0;

    for (uint64_t i = 0; i < s->words; i++) {
        struct meeting m;
        meet_from(s, i, &m);
        mass[0] += (double)m.mass[0] / whole;
        mass[1] += (double)m.mass[1] / whole;
        coin += (double)for_part_0(s, &m) / whole;
        stats->entries += entries_in(s, atomic_load_explicit(&s->word[i], memory_order_relaxed));
    }
    stats->bytes = s->words * sizeof *s->word;
    stats->collision = (mass[0] + mass[1]) / (double)s->words;
    stats->misassigned = (mass[0] * (1 - a) + mass[1] * a) / (double)s->words;
    stats->share = (mass[0] + coin) / (double)s->words;
}

struct counting {
    struct lade_split_stats *stats;
    uint64_t *part_keys;
    unsigned parts;
};

static bool count_entry(void *context, const struct lade_table_entry *entry)
{
    struct counting *c = context;
    unsigned part = lade_split_part_of(entry->value);

    switch (lade_split_kind_of(entry->value)) {
    case LADE_SPLIT_KEY:
        c->stats->keys++;
        if (c->part_keys && part < c->parts)
            c->part_keys[part]++;
        break;
    case LADE_SPLIT_GROUP:
        c->stats->groups++;
        break;
    default:
        c->stats->contents++;
    }
    return true;
}

static int measure_split(struct lade_split *s, struct lade_split_stats *stats, uint64_t *part_keys)
{
    struct counting counting = {stats, part_keys, s->config.parts};
    struct lade_table_stats table;

    *stats = (struct lade_split_stats){
        .conflicts = atomic_load_explicit(&s->conflicts, memory_order_relaxed),
        .dropped = atomic_load_explicit(&s->dropped, memory_order_relaxed),
    };
    for (unsigned i = 0; part_keys && i < s->config.parts; i++)
        part_keys[i] = 0;
    if (s->word)
        stats_of_words(s, stats);
    if (!s->table)
        return LADE_OK;
    lade_table_stats(s->table, &table);
    stats->bytes = table.bytes;
    return lade_table_for_each(s->table, count_entry, &counting, NULL);
}

int lade_split_stats_sized(struct lade_split *s, struct lade_split_stats *stats, size_t size, uint64_t *part_keys)
{
    struct lade_split_stats whole;
    int status = measure_split(s, &whole, part_keys);

    lade_sized_out(stats, size, &whole, sizeof whole);
    return status;
}

void lade_split_get_config_sized(const struct lade_split *s, struct lade_split_config *config, size_t size)
{
    lade_sized_out(config, size, &s->config, sizeof s->config);
}
