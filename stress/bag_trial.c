/* SPDX-License-Identifier: MIT */
#include "bag_trial.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

bool holds_all(uint64_t slot, uint64_t capacity)
{
    return slot < capacity;
}

/* Exactly the share 1 / part, of unrelated slots. */
static bool strewn(uint64_t slot, uint64_t capacity, uint64_t part)
{
    struct lade_permutation order;

    return lade_permutation_init(&order, lade_key_make(0, 0, part), capacity) == LADE_OK &&
           lade_permutation_at(&order, slot) < capacity / part;
}

bool holds_half(uint64_t slot, uint64_t capacity)
{
    return strewn(slot, capacity, 2);
}

bool holds_tenth(uint64_t slot, uint64_t capacity)
{
    return strewn(slot, capacity, 10);
}

bool holds_hundredth(uint64_t slot, uint64_t capacity)
{
    return strewn(slot, capacity, 100);
}

bool holds_first_tenth(uint64_t slot, uint64_t capacity)
{
    return slot < capacity / 10;
}

bool holds_last_tenth(uint64_t slot, uint64_t capacity)
{
    return slot >= capacity - capacity / 10;
}

bool holds_unequal(uint64_t slot, uint64_t capacity)
{
    return slot < capacity && slot % GROUP * 37 % GROUP < (uint64_t)GROUP >> slot / GROUP % 7;
}

bool holds_lonely(uint64_t slot, uint64_t capacity)
{
    return slot < capacity && (slot / GROUP == 3 || slot % GROUP == slot / GROUP % GROUP);
}

bool holds_few(uint64_t slot, uint64_t capacity)
{
    return slot < capacity &&
           (slot == 2 * GROUP + 1 || (slot >= 10 * GROUP + 5 && slot < 10 * GROUP + 7) || slot == capacity - 1);
}

/*
 * A draw cannot be directed to an element, but a put goes to the slot that its handle emptied last. So the bag is
 * filled from the first slot on, and drawn from until only the wanted elements are left; wanted ones are put back at
 * once. A bag that needs more than 40 draws per slot is not uniform: 6 on average are enough for the scenes above.
 */
void trial_arrange(struct trial *t, struct sampler *s)
{
    uint64_t capacity = t->scene.capacity, left = 0, wanted = 0, draws = 0;

    for (uint64_t i = 0; i < capacity; i++) {
        sampler_put(s, i + 1);
        wanted += t->scene.holds(i, capacity);
    }
    for (left = capacity; left > wanted && draws < 40 * capacity && s->errors == 0; draws++) {
        uint64_t word = sampler_draw(s);
        if (word == 0 || word > capacity)
            break;
        if (t->scene.holds(word - 1, capacity))
            sampler_put(s, word);
        else
            left--;
    }
    t->errors += left != wanted;
}

struct table *trial_table(struct trial *t, size_t cells, const char *what)
{
    struct table *table = &t->table[t->tables++];

    *table = (struct table){.cells = cells, .spread = 1};
    table->count = check_memory(cells, sizeof *table->count);
    table->weight = check_memory(cells, sizeof *table->weight);
    (void)snprintf(table->what, sizeof table->what, "%s%s%s", t->scene.name ? t->scene.name : "",
                   t->scene.name ? ", " : "", what);
    return table;
}

static size_t class_of(const struct trial *t, enum by by, uint64_t slot, uint64_t rank, uint64_t elements,
                       const uint64_t *size)
{
    switch (by) {
    case BY_POSITION:
        return trial_part(rank, elements, t->classes ? t->classes : TRIAL_CLASSES);
    case BY_PLACE:
        return slot % GROUP * TRIAL_CLASSES / GROUP;
    case BY_GROUP:
        return slot / GROUP;
    case BY_SIZE:
        return size[slot / GROUP];
    default:
        return rank;
    }
}

/* Skips cells without elements. */
static void squeeze(struct table *table)
{
    size_t cells = 0;

    for (size_t i = 0; i < table->cells; i++) {
        if (table->weight[i] == 0)
            continue;
        table->count[cells] = table->count[i];
        table->weight[cells++] = table->weight[i];
    }
    table->cells = cells;
}

void trial_classify(struct trial *t, const uint64_t *drawn)
{
    static const char *const name[] = {"by position", "by place in the group", "by group", "by size of the group",
                                       "by item"};
    uint64_t capacity = t->scene.capacity, elements = 0, stray = 0;
    uint64_t *size = check_memory((size_t)(capacity / GROUP + 1), sizeof *size);

    for (uint64_t i = 0; i < capacity; i++) {
        bool holds = t->scene.holds(i, capacity);
        elements += holds;
        size[i / GROUP] += holds;
        stray += holds ? 0 : drawn[i];
    }
    t->errors += stray;
    for (unsigned which = 0; which < 5; which++) {
        enum by by = (enum by)(1u << which);
        uint64_t rank = 0;
        if (!(t->by & by))
            continue;
        struct table *table = trial_table(t, capacity + GROUP + 1, name[which]);
        for (uint64_t i = 0; i < capacity; i++) {
            if (!t->scene.holds(i, capacity))
                continue;
            size_t cell = class_of(t, by, i, rank++, elements, size);
            table->count[cell] += drawn[i];
            table->weight[cell]++;
        }
        squeeze(table);
        table->sharp = t->sharp & by;
    }
    free(size);
}

bool trial_is_control(const struct trial *t)
{
    return t->set.subject > FAIR;
}

static struct chi_result verdict(const struct table *table)
{
    struct chi_result r = chi_test(table->count, table->weight, table->cells), scaled;

    if (table->spread == 1 && table->df == 0)
        return r;
    scaled = chi_judge(r.statistic / table->spread, table->df > 0 ? table->df : r.df,
                       (uint64_t)((double)r.draws / table->spread));
    scaled.least = r.least / table->spread; /* of as many draws */
    return scaled;
}

void trial_judge(struct trial *t)
{
    for (unsigned i = 0; i < t->tables; i++) {
        struct table *table = &t->table[i];
        struct chi_result r = verdict(table);
        if (!trial_is_control(t))
            chi_expect(r, t->name, table->what);
        else if (i + 1 == t->tables)
            chi_expect_failure(r, t->name, table->what);
        if (table->sharp && !trial_is_control(t) && !(chi_cell_bias(r) <= TRIAL_BIAS))
            check(false, t->name, "%s: too few draws for %g%%", table->what, 100 * TRIAL_BIAS);
        free(table->count);
        free(table->weight);
    }
    if (t->errors > 0)
        check(false, t->name, "%s: %llu operations failed or gave what was not there",
              t->scene.name ? t->scene.name : "", (unsigned long long)t->errors);
    if (t->must_scan && !trial_is_control(t))
        check(t->scanned > 0.8, t->name, "%s: %.3g of the draws went through the groups", t->scene.name, t->scanned);
    t->tables = 0;
}

uint64_t trial_draws(unsigned classes, double p)
{
    return chi_draws(classes - 1, p, TRIAL_BIAS, TRIAL_POWER);
}
