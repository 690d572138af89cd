/* SPDX-License-Identifier: MIT */
/* Seeds: 0 is a seed like any other; a random one is drawn if requested, and reported. */
#include <criterion/criterion.h>
#include <lade/lade.h>
#include <string.h>
#include <sys/random.h>

static uint64_t system_seed; /* what the system gives; 0: nothing */

/* In place of the C library's. */
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    cr_assert_eq(size, sizeof system_seed);
    if (system_seed == 0)
        return -1;
    memcpy(to, &system_seed, size);
    return (ssize_t)size;
}

enum { DRAWS = 50 };

/* The seed that a bag reports, and the order in which it gives its words. */
static uint64_t draw_all(struct lade_bag_config config, uint64_t word[DRAWS])
{
    struct lade_bag *bag;
    struct lade_bag_handle *h;
    struct lade_bag_stats counts;

    config.capacity = DRAWS;
    config.handles = 1;
    cr_assert_eq(lade_bag_create(&bag, &config), LADE_OK);
    cr_assert_eq(lade_bag_join(bag, &h), LADE_OK);
    for (uint64_t i = 1; i <= DRAWS; i++)
        cr_assert_eq(lade_bag_put_word(h, i), LADE_OK);
    for (int i = 0; i < DRAWS; i++)
        cr_assert_eq(lade_bag_draw_word(h, &word[i]), LADE_OK);
    lade_bag_stats(bag, &counts);
    lade_bag_destroy(bag);
    return counts.seed;
}

Test(seed, of_a_bag)
{
    uint64_t zero[DRAWS], given[DRAWS], drawn[DRAWS];
    struct lade_bag *bag = NULL;

    system_seed = 77;
    cr_assert_eq(draw_all((struct lade_bag_config){.seed = 0}, zero), 0);
    cr_assert_eq(draw_all((struct lade_bag_config){.seed = 77}, given), 77);
    cr_assert_eq(draw_all((struct lade_bag_config){.seed = 5, .random_seed = true}, drawn), 77);
    cr_assert(memcmp(given, drawn, sizeof given) == 0 && memcmp(zero, given, sizeof zero) != 0);
    system_seed = 0;
    cr_assert_eq(lade_bag_create(&bag, &(struct lade_bag_config){.capacity = 1, .handles = 1, .random_seed = true}),
                 LADE_IO);
    cr_assert_null(bag);
}

Test(seed, of_a_split)
{
    struct lade_split_config config = {.parts = 4, .store = LADE_SPLIT_PURE}, used;
    struct lade_split *zero, *given, *drawn, *none = NULL;
    struct lade_error error;
    unsigned differ = 0;

    system_seed = 78;
    cr_assert_eq(lade_split_create(&zero, &config, NULL), LADE_OK);
    config.seed = 78;
    cr_assert_eq(lade_split_create(&given, &config, NULL), LADE_OK);
    config.seed = 0;
    config.random_seed = true;
    cr_assert_eq(lade_split_create(&drawn, &config, NULL), LADE_OK);
    lade_split_get_config(drawn, &used);
    cr_assert(used.seed == 78 && !used.random_seed);
    for (uint64_t i = 0; i < 100; i++) {
        unsigned a, b, c;
        cr_assert_eq(lade_split_route_word(zero, i, &a), LADE_OK);
        cr_assert_eq(lade_split_route_word(given, i, &b), LADE_OK);
        cr_assert_eq(lade_split_route_word(drawn, i, &c), LADE_OK);
        cr_assert_eq(b, c);
        differ += a != b;
    }
    cr_assert_gt(differ, 0);
    system_seed = 0;
    cr_assert_eq(lade_split_create(&none, &config, &error), LADE_IO);
    cr_assert(!none && error.status == LADE_IO && strstr(error.text, "no random bytes"));
    lade_split_destroy(zero);
    lade_split_destroy(given);
    lade_split_destroy(drawn);
}

/* A table draws one unless it is given one. */
Test(seed, of_a_table)
{
    struct lade_table *table = NULL;

    cr_assert_eq(lade_table_create(&table, NULL), LADE_IO);
    cr_assert_null(table);
    cr_assert_eq(lade_table_create(&table, &(struct lade_table_config){.seeded = true, .seed = 0}), LADE_OK);
    lade_table_destroy(table);
}
