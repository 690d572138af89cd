/* SPDX-License-Identifier: MIT */
/* The union of splits, also when the hashes of names are so poor that many are alike. */
#include "splits.h"

/* 64 upper halves for all names. */
#define LADE_SPLIT_HIGH(high) ((high) % 64 * 1024)
#include "../split.c"

/* for_each fails if the table of the other split has a growth that ran out of memory. */
static int failing_visit; /* number of the call that fails; 0: none */

static int for_each_or_fail(struct lade_table *t, bool (*visit)(void *, const struct lade_table_entry *), void *context,
                            uint64_t *visited)
{
    return failing_visit && --failing_visit == 0 ? LADE_NO_MEMORY : lade_table_for_each(t, visit, context, visited);
}
#define lade_table_for_each for_each_or_fail
#include "../split_merge.c"
#undef lade_table_for_each

TestSuite(split_merge, .init = begin, .fini = end);

enum { KEYS = 200, SALT = 9 };

/* A word is named by its bytes, the lowest first, on every machine. */
static void name(uint64_t word, unsigned char bytes[8])
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(word >> 8 * i);
}

/* Keys from first to last - 1, in groups of three. */
static struct lade_split *decided(uint32_t weight, uint64_t first, uint64_t last)
{
    const uint32_t weights[] = {weight, 3, 2};
    struct lade_split *s = make((struct lade_split_config){.parts = 3, .weights = weights, .rule = LADE_SPLIT_COIN});

    for (uint64_t k = first; k < last; k++) {
        unsigned char key[8], group[8];
        struct lade_split_item it = {
            .key = key, .key_size = sizeof key, .group = k % 2 ? group : NULL, .group_size = sizeof group};
        unsigned part;
        name(k, key);
        name(k / 3, group);
        cr_assert_eq(lade_split_route(s, &it, &part), LADE_OK);
    }
    return s;
}

static unsigned recorded(struct lade_split *s, uint64_t k)
{
    unsigned char key[8];
    struct lade_split_item it = {.key = key, .key_size = sizeof key};
    struct lade_split_found found;

    name(k, key);
    int status = lade_split_find(s, &it, &found);
    cr_assert(status == LADE_OK || status == LADE_ABSENT);
    return found.key;
}

static void check_same(struct lade_split *a, struct lade_split *b)
{
    for (uint64_t k = 0; k < KEYS; k++)
        cr_assert_eq(recorded(a, k), recorded(b, k));
    cr_assert(stats_of(a).keys == stats_of(b).keys && stats_of(a).groups == stats_of(b).groups);
}

static uint64_t merge(struct lade_split *into, struct lade_split *from)
{
    uint64_t differences = 0;

    cr_assert_eq(lade_split_merge(into, from, SALT, true, NULL, NULL, &differences, NULL), LADE_OK);
    return differences;
}

Test(split_merge, names_that_are_alike_are_distinguished)
{
    struct lade_split *s = decided(5, 0, KEYS);
    uint64_t keys = 0;

    for (uint64_t k = 0; k < KEYS; k++) {
        cr_assert_neq(recorded(s, k), NONE);
        cr_assert_eq(part_of_word(s, k), recorded(s, k));
        keys++;
    }
    cr_assert_eq(stats_of(s).keys, keys);
    cr_assert_eq(recorded(s, KEYS), NONE);
    lade_split_destroy(s);
}

Test(split_merge, what_agrees_is_joined)
{
    struct lade_split *all = decided(5, 0, KEYS), *a = decided(5, 0, 120), *b = decided(5, 60, KEYS);
    uint64_t differences = 7;

    cr_assert_eq(lade_split_merge(a, b, SALT, false, NULL, NULL, &differences, NULL), LADE_OK);
    cr_assert_eq(differences, 0);
    check_same(a, all);
    cr_assert_eq(lade_split_merge(a, a, SALT, false, NULL, NULL, &differences, NULL), LADE_OK);
    check_same(a, all);
    lade_split_destroy(all);
    lade_split_destroy(a);
    lade_split_destroy(b);
}

struct heard {
    struct lade_split *s;
    unsigned count, keys;
    struct lade_split_difference last;
};

static void hear(void *context, const struct lade_split_difference *d)
{
    struct heard *h = context;

    h->count++;
    h->keys += d->kind == LADE_SPLIT_KEY;
    h->last = *d;
    cr_assert(d->part != d->other && (d->chosen == d->part || d->chosen == d->other));
}

Test(split_merge, differences_are_reported_and_change_nothing)
{
    struct lade_split *a = decided(5, 0, KEYS), *before = decided(5, 0, KEYS), *b = decided(1, 0, KEYS + 5);
    struct heard heard = {.s = a};
    uint64_t differences = 0, expected = 0;

    for (uint64_t k = 0; k < KEYS; k++)
        expected += recorded(a, k) != recorded(b, k);
    cr_assert_gt(expected, 10);
    cr_assert_eq(lade_split_merge(a, b, SALT, false, hear, &heard, &differences, NULL), LADE_CONFLICT);
    cr_assert(heard.count == differences && heard.keys == expected);
    check_same(a, before);
    cr_assert_eq(recorded(a, KEYS), NONE);
    cr_assert_eq(lade_split_merge(a, b, SALT, true, hear, &heard, NULL, NULL), LADE_OK);
    cr_assert_neq(recorded(a, KEYS), NONE);
    lade_split_destroy(a);
    lade_split_destroy(before);
    lade_split_destroy(b);
}

Test(split_merge, a_difference_names_the_key)
{
    struct lade_split *a = make((struct lade_split_config){.parts = 2}),
                      *b = make((struct lade_split_config){.parts = 2});
    struct heard heard = {.s = a};

    cr_assert(pin(a, "key", NULL, NULL, 0) == LADE_OK && pin(b, "key", NULL, NULL, 1) == LADE_OK);
    cr_assert_eq(lade_split_merge(a, b, SALT, false, hear, &heard, NULL, NULL), LADE_CONFLICT);
    cr_assert(heard.count == 1 && heard.last.hash == lade_split_hash(a, "key", 3) && heard.last.part == 0 &&
              heard.last.other == 1);
    lade_split_destroy(a);
    lade_split_destroy(b);
}

/* Three splits, in every order and bracketing, and some of them twice. */
Test(split_merge, the_order_does_not_matter)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint32_t weight[] = {1, 5, 40};
    const uint64_t from[] = {0, 50, 20}, to[] = {150, KEYS, 180};
    struct lade_split *first = NULL;
    bool changed = false;

    for (int i = 0; i < 12; i++) {
        struct lade_split *s[3];
        for (int j = 0; j < 3; j++) {
            int n = order[i % 6][j];
            s[j] = decided(weight[n], from[n], to[n]);
        }
        if (i < 6) { /* (0 with 1) with 2, and 1 once more */
            changed = merge(s[0], s[1]) > 0 || changed;
            merge(s[0], s[2]);
            merge(s[0], s[1]);
        } else { /* 0 with (1 with 2) */
            merge(s[1], s[2]);
            merge(s[0], s[1]);
        }
        if (first)
            check_same(first, s[0]);
        else
            first = s[0];
        lade_split_destroy(s[1]);
        lade_split_destroy(s[2]);
        if (s[0] != first)
            lade_split_destroy(s[0]);
    }
    cr_assert(changed);
    lade_split_destroy(first);
}

Test(split_merge, a_content_has_one_owner)
{
    struct lade_split_config config = {.parts = 2, .content = LADE_SPLIT_DROP};
    struct lade_split *a = make(config), *b = make(config);
    uint64_t differences;

    cr_assert_eq(route(a, "x", NULL, "bytes"), LADE_OK);
    cr_assert_eq(route(b, "y", NULL, "bytes"), LADE_OK);
    struct lade_error error;
    cr_assert_eq(lade_split_merge(a, b, SALT, false, NULL, NULL, &differences, &error), LADE_CONFLICT);
    cr_assert(differences == 1 && error.status == LADE_CONFLICT && strncmp(error.text, "1 names", 7) == 0);
    lade_split_destroy(a);
    lade_split_destroy(b);
}

Test(split_merge, splits_that_do_not_fit)
{
    struct lade_split *a = make((struct lade_split_config){.parts = 2}),
                      *other[] = {
                          make((struct lade_split_config){.parts = 3}),
                          make((struct lade_split_config){.parts = 2, .seed = 1}),
                          make((struct lade_split_config){.parts = 2, .store = LADE_SPLIT_PURE}),
                          make((struct lade_split_config){.parts = 2, .content = LADE_SPLIT_DROP}),
                      };

    struct lade_error error;
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(lade_split_merge(a, other[i], SALT, true, NULL, NULL, NULL, &error), LADE_INVALID);
        cr_assert(error.status == LADE_INVALID && strstr(error.text, "the same seed"));
        cr_assert_eq(lade_split_merge(other[i], a, SALT, true, NULL, NULL, NULL, NULL), LADE_INVALID);
        lade_split_destroy(other[i]);
    }
    lade_split_destroy(a);
}

Test(split_merge, an_error_of_either_pass_is_returned)
{
    struct lade_split *a = decided(1, 0, 50), *b = decided(1, 50, 100), *c = decided(1, 0, 100);

    for (int pass_ = 1; pass_ <= 2; pass_++) {
        failing_visit = pass_;
        cr_assert_eq(lade_split_merge(a, b, SALT, false, NULL, NULL, NULL, NULL), LADE_NO_MEMORY);
        cr_assert_eq(recorded(a, 70), NONE);
    }
    failing_visit = 1;
    cr_assert_eq(lade_split_merge(a, b, SALT, true, NULL, NULL, NULL, NULL), LADE_NO_MEMORY);
    failing_visit = 0;
    cr_assert_eq(lade_split_merge(a, b, SALT, false, NULL, NULL, NULL, NULL), LADE_OK); /* again, and all of it */
    check_same(a, c);
    lade_split_destroy(a);
    lade_split_destroy(b);
    lade_split_destroy(c);
}

/* An entry that finds no memory ends the merge. */
Test(split_merge, an_error_of_an_entry_is_returned)
{
    struct lade_split *a = decided(1, 0, 0), *b = decided(1, 0, KEYS);

    lade_table_destroy(a->table);
    cr_assert_eq(lade_table_create(&a->table, &(struct lade_table_config){.max_bytes = 4096}), LADE_OK);
    cr_assert_eq(lade_split_merge(a, b, SALT, false, NULL, NULL, NULL, NULL), LADE_NO_MEMORY);
    lade_split_destroy(a);
    lade_split_destroy(b);
}
