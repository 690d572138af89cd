/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* mincore */
#include "../table.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <urcu/urcu-memb.h>

/* Counts live allocations, also from liburcu's thread; returns nothing larger than most. */
struct counter {
    size_t most;
    _Atomic int held;
};

static void *counted_get(void *context, size_t size, size_t align)
{
    struct counter *c = context;
    void *memory = size > c->most ? NULL : aligned_alloc(align, size);

    c->held += memory != NULL;
    return memory;
}

static void counted_put(void *context, void *memory, size_t size)
{
    struct counter *c = context;

    (void)size;
    c->held--;
    free(memory);
}

static struct lade_table *make(struct lade_table_config config)
{
    struct lade_table *t = NULL;

    config.seeded = true;
    cr_assert_eq(lade_table_create(&t, &config), LADE_OK);
    return t;
}

static struct lade_table *make_words(void)
{
    return make((struct lade_table_config){0});
}

static void begin(void)
{
    urcu_memb_register_thread();
}

static void end(void)
{
    urcu_memb_unregister_thread();
}

TestSuite(table, .init = begin, .fini = end);

/* Identity: keys are their own positions, so that a test can choose them. */
static uint64_t same(void *context, uint64_t key)
{
    (void)context;
    return key;
}

static uint64_t one_place(void *context, const void *key, size_t size)
{
    (void)context;
    (void)key;
    (void)size;
    return UINT64_MAX;
}

static const struct lade_table_hash plain = {same, same, one_place, NULL};

Test(table, a_new_table_has_nothing)
{
    struct lade_table *t = make_words();
    uint64_t value = 7;

    cr_assert_eq(lade_table_get(t, 5, &value), LADE_ABSENT);
    cr_assert_eq(value, 7);
    cr_assert_eq(lade_table_replace(t, 5, 1, &value), LADE_ABSENT);
    cr_assert_eq(lade_table_remove(t, 5, &value), LADE_ABSENT);
    lade_table_destroy(t);
}

Test(table, the_first_insert_wins)
{
    struct lade_table *t = make_words();
    uint64_t value = 0;

    cr_assert_eq(lade_table_insert(t, 5, 50, &value), LADE_OK);
    cr_assert_eq(value, 50);
    cr_assert_eq(lade_table_insert(t, 5, 51, &value), LADE_PRESENT);
    cr_assert_eq(value, 50);
    cr_assert_eq(lade_table_get(t, 5, &value), LADE_OK);
    cr_assert_eq(value, 50);
    lade_table_destroy(t);
}

Test(table, replace_returns_the_old_value)
{
    struct lade_table *t = make_words();
    uint64_t value = 0;

    cr_assert_eq(lade_table_insert(t, 5, 50, NULL), LADE_OK);
    cr_assert_eq(lade_table_replace(t, 5, 51, &value), LADE_OK);
    cr_assert_eq(value, 50);
    cr_assert_eq(lade_table_get(t, 5, &value), LADE_OK);
    cr_assert_eq(value, 51);
    lade_table_destroy(t);
}

Test(table, a_removed_key_can_come_back)
{
    struct lade_table *t = make_words();
    uint64_t value = 0;

    cr_assert_eq(lade_table_insert(t, 5, 50, NULL), LADE_OK);
    cr_assert_eq(lade_table_remove(t, 5, &value), LADE_OK);
    cr_assert_eq(value, 50);
    cr_assert_eq(lade_table_get(t, 5, &value), LADE_ABSENT);
    cr_assert_eq(lade_table_remove(t, 5, NULL), LADE_ABSENT);
    cr_assert_eq(lade_table_insert(t, 5, 52, &value), LADE_OK);
    cr_assert_eq(lade_table_get(t, 5, &value), LADE_OK);
    cr_assert_eq(value, 52);
    lade_table_destroy(t);
}

Test(table, the_least_and_the_largest_value_and_no_larger_one)
{
    struct lade_table *t = make_words();
    uint64_t value = 1;

    cr_assert_eq(lade_table_insert(t, 1, 0, NULL), LADE_OK);
    cr_assert_eq(lade_table_get(t, 1, &value), LADE_OK);
    cr_assert_eq(value, 0);
    cr_assert_eq(lade_table_insert(t, 2, LADE_TABLE_VALUE_MAX, NULL), LADE_OK);
    cr_assert_eq(lade_table_get(t, 2, &value), LADE_OK);
    cr_assert_eq(value, LADE_TABLE_VALUE_MAX);
    cr_assert_eq(lade_table_insert(t, 3, LADE_TABLE_VALUE_MAX + 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert(t, 3, UINT64_MAX - 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert(t, 3, UINT64_MAX, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_replace(t, 1, UINT64_MAX, NULL), LADE_INVALID);
    lade_table_destroy(t);
}

Test(table, keys_that_look_like_codes_are_keys_as_any_other)
{
    struct lade_table *t = make((struct lade_table_config){.hash = &plain});
    const uint64_t keys[] = {0, UINT64_MAX, 1, UINT64_MAX - 1};
    uint64_t value = 0, values[4];
    int status[4];

    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(lade_table_get(t, keys[i], NULL), LADE_ABSENT);
        cr_assert_eq(lade_table_insert(t, keys[i], i, NULL), LADE_OK);
        cr_assert_eq(lade_table_insert(t, keys[i], 9, &value), LADE_PRESENT);
        cr_assert_eq(value, i);
    }
    cr_assert_eq(lade_table_get_many(t, keys, 4, values, status), 4);
    for (size_t i = 0; i < 4; i++)
        cr_assert_eq(values[i], i);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(lade_table_replace(t, keys[i], 10 + i, &value), LADE_OK);
        cr_assert_eq(value, i);
        cr_assert_eq(lade_table_remove(t, keys[i], &value), LADE_OK);
        cr_assert_eq(value, 10 + i);
        cr_assert_eq(lade_table_get(t, keys[i], NULL), LADE_ABSENT);
    }
    lade_table_destroy(t);
}

Test(table, it_grows_and_loses_nothing)
{
    struct lade_table *t = make_words();
    struct lade_table_stats stats;
    uint64_t value = 0;

    for (uint64_t i = 0; i < 300000; i++)
        cr_assert_eq(lade_table_insert(t, i, 2 * i, NULL), LADE_OK);
    for (uint64_t i = 0; i < 300000; i++) {
        cr_assert_eq(lade_table_get(t, i, &value), LADE_OK);
        cr_assert_eq(value, 2 * i);
        cr_assert_eq(lade_table_get(t, i + 300000, NULL), LADE_ABSENT);
    }
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.keys, 300000);
    cr_assert_geq(stats.growths, 4);
    cr_assert_geq(stats.cells, 300000 * 100 / 62);
    cr_assert_lt(stats.mean_probe, 2.0); /* (1 + 1 / (1 - 0.6)) / 2 = 1.75 at a load of 0.6 (Knuth 1963) */
    lade_table_destroy(t);
}

Test(table, coming_and_going_does_not_let_it_grow)
{
    struct lade_table *t = make_words();
    struct lade_table_stats stats;

    for (uint64_t i = 0; i < 40000; i++) {
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
        if (i >= 10)
            cr_assert_eq(lade_table_remove(t, i - 10, NULL), LADE_OK);
        if (i % 1000 == 0)
            lade_reclaim_barrier(); /* frees the old arrays: while they wait, it would grow */
    }
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.keys, 10);
    cr_assert_leq(stats.cells, 16384); /* 40000 / 0.6 when nothing is cleaned */
    lade_table_destroy(t);
}

Test(table, keys_with_one_place_do_not_let_it_run_away)
{
    struct lade_table *t = make((struct lade_table_config){.hash = &plain});
    struct lade_table_stats stats;
    uint64_t value = 0;

    for (uint64_t i = 1; i <= 2000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    for (uint64_t i = 1; i <= 2000; i++) {
        cr_assert_eq(lade_table_get(t, i, &value), LADE_OK);
        cr_assert_eq(value, i);
    }
    lade_table_stats(t, &stats);
    cr_assert_leq(stats.cells, 4 * 2000 * 10 / 6);
    cr_assert_eq(stats.longest_probe, 2000); /* every cell from the home on is the first, second, ... of one key */
    cr_assert(stats.mean_probe > 1000.49 && stats.mean_probe < 1000.51);
    lade_table_destroy(t);
}

Test(table, many_keys_at_once_give_the_same_as_single_ones)
{
    struct lade_table *t = make_words();
    uint64_t keys[100], values[100], winners[100];
    int status[100];

    for (uint64_t i = 0; i < 100; i++) {
        keys[i] = i / 2; /* each twice */
        values[i] = 100 + i;
    }
    values[98] = UINT64_MAX;
    cr_assert_eq(lade_table_insert_many(t, keys, 100, values, winners, status), 50);
    for (uint64_t i = 0; i < 98; i++) {
        cr_assert_eq(status[i], i % 2 ? LADE_PRESENT : LADE_OK);
        cr_assert_eq(winners[i], 100 + i / 2 * 2);
    }
    cr_assert_eq(status[98], LADE_INVALID);
    cr_assert_eq(status[99], LADE_OK);
    keys[7] = 1000;
    cr_assert_eq(lade_table_get_many(t, keys, 100, values, status), 99);
    for (uint64_t i = 0; i < 98; i++) {
        cr_assert_eq(status[i], i == 7 ? LADE_ABSENT : LADE_OK);
        if (i != 7)
            cr_assert_eq(values[i], 100 + i / 2 * 2);
    }
    cr_assert_eq(values[99], 199);
    lade_table_destroy(t);
}

Test(table, a_batch_finds_keys_in_each_cell_of_a_line_and_after_it)
{
    struct lade_table *t = make((struct lade_table_config){.hash = &plain});
    uint64_t keys[20], values[20];
    int status[20];

    for (uint64_t i = 0; i < 20; i++) {
        keys[i] = i + 1; /* all have the first home, and take consecutive cells */
        values[i] = 7;
        if (i < 18)
            cr_assert_eq(lade_table_insert(t, keys[i], 100 + i, NULL), LADE_OK);
    }
    cr_assert_eq(lade_table_remove(t, keys[2], NULL), LADE_OK);
    cr_assert_eq(lade_table_get_many(t, keys, 20, values, status), 17);
    for (uint64_t i = 0; i < 20; i++) {
        bool there = i != 2 && i < 18;
        cr_assert_eq(status[i], there ? LADE_OK : LADE_ABSENT);
        cr_assert_eq(values[i], there ? 100 + i : 7);
    }
    lade_table_destroy(t);
}

struct seen {
    uint64_t count, sum, stop_after;
};

static bool see(void *context, const struct lade_table_entry *entry)
{
    struct seen *seen = context;

    seen->count++;
    seen->sum += entry->key * 1000 + entry->value;
    return seen->count != seen->stop_after;
}

Test(table, for_each_visits_every_key_once)
{
    struct lade_table *t = make((struct lade_table_config){.hash = &plain});
    struct seen seen = {0};

    for (uint64_t i = 0; i < 1000; i++) /* 0 is a code */
        cr_assert_eq(lade_table_insert(t, i, i % 7, NULL), LADE_OK);
    cr_assert_eq(lade_table_remove(t, 500, NULL), LADE_OK);
    cr_assert_eq(lade_table_for_each(t, see, &seen, NULL), LADE_OK);
    cr_assert_eq(seen.count, 999);
    cr_assert_eq(seen.sum, 999 * 1000 / 2 * 1000 - 500 * 1000 + 142 * 21 + 15 - 500 % 7); /* 1000 = 142 * 7 + 6 */
    seen = (struct seen){.stop_after = 3};
    uint64_t visited = 0;
    cr_assert_eq(lade_table_for_each(t, see, &seen, &visited), LADE_CANCELLED);
    cr_assert_eq(visited, seen.count);
    cr_assert_eq(seen.count, 3);
    lade_table_destroy(t);
}

static bool insert_more(void *context, const struct lade_table_entry *entry)
{
    struct lade_table *t = context;
    uint64_t value = 0;

    if (entry->key >= 100)
        return true;
    for (uint64_t i = 0; i < 100; i++)
        cr_assert_eq(lade_table_insert(t, 1000 + entry->key * 100 + i, 1, NULL), LADE_OK);
    cr_assert_eq(lade_table_replace(t, entry->key, entry->value + 1, &value), LADE_OK);
    cr_assert_eq(value, 5, "key %llu was visited twice", (unsigned long long)entry->key);
    return true;
}

Test(table, a_table_may_grow_while_it_is_gone_over)
{
    struct lade_table *t = make_words();
    uint64_t value = 0;

    for (uint64_t i = 0; i < 100; i++)
        cr_assert_eq(lade_table_insert(t, i, 5, NULL), LADE_OK);
    cr_assert_eq(lade_table_for_each(t, insert_more, t, NULL), LADE_OK);
    for (uint64_t i = 0; i < 100; i++) {
        cr_assert_eq(lade_table_get(t, i, &value), LADE_OK);
        cr_assert_eq(value, 6, "key %llu was not visited", (unsigned long long)i);
    }
    lade_table_destroy(t);
}

Test(table, reserved_cells_are_used_without_growing)
{
    struct lade_table *t = make((struct lade_table_config){.reserve = 1000});
    struct lade_table_stats stats;

    for (uint64_t i = 0; i < 1000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.growths, 0);
    cr_assert_eq(lade_table_reserve(t, 200000), LADE_OK);
    for (uint64_t i = 1000; i < 200000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.growths, 1);
    cr_assert_eq(stats.keys, 200000);
    lade_table_destroy(t);
}

/* Large arrays count one cell of 64: forty seeds, since a single one may be lucky. */
Test(table, space_that_is_counted_by_samples_is_enough)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        const uint64_t keys = seed % 2 ? 100000 : 40000;
        struct lade_table *t =
            make((struct lade_table_config){.reserve = seed % 4 < 2 ? keys : 0, .seeded = true, .seed = seed});
        struct lade_table_stats stats;
        if (seed % 4 >= 2)
            cr_assert_eq(lade_table_reserve(t, keys), LADE_OK);
        for (uint64_t i = 0; i < keys; i++)
            cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
        lade_table_stats(t, &stats);
        cr_assert_eq(stats.growths, seed % 4 >= 2, "seed %d", (int)seed);
        lade_table_destroy(t);
    }
}

/* A thread that moves a block to a reserved array requests the pages of that block only, not of the whole array. */
Test(table, what_is_reserved_is_not_asked_for_at_once)
{
    enum { CELLS = 1 << 20, PAGES = CELLS * 16 / 4096 };
    static unsigned char resident[PAGES];
    struct lade_table *t = make((struct lade_table_config){.seeded = true});
    int pages = 0;

    for (uint64_t i = 0; i < 40; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    lade_rcu_read_lock();
    cr_assert(lade_table_grow(t, root_of(t), CELLS, false));
    struct array *next = next_of(root_of(t));
    lade_table_help(t, root_of(t));
    cr_assert_eq(mincore(next, PAGES * 4096, resident), 0);
    lade_rcu_read_unlock();
    for (int i = 0; i < PAGES; i++)
        pages += resident[i] & 1;
    cr_assert_leq(pages, 60, "%d of %d pages", pages, PAGES);
    lade_table_destroy(t);
}

Test(table, the_hash_is_copied)
{
    struct lade_table_hash hash = {.mix = same, .unmix = same};
    struct lade_table *t = make((struct lade_table_config){.hash = &hash});
    uint64_t value = 0;

    hash = (struct lade_table_hash){0};
    cr_assert_eq(lade_table_insert(t, 5, 6, NULL), LADE_OK);
    cr_assert(lade_table_get(t, 5, &value) == LADE_OK && value == 6);
    lade_table_destroy(t);
}

/* 16 bytes a cell; used to between 0.3, or 0.15 below 2^22 cells, and 0.6. Large tables count by samples: 1 % more. */
Test(table, takes_the_memory_that_the_header_states)
{
    struct lade_table *t = make_words();
    struct lade_table_stats stats;
    uint64_t keys = 0, large = 0;

    for (uint64_t next = 100; next < 1400000; next += next / 8) {
        for (; keys < next; keys++)
            cr_assert_eq(lade_table_insert(t, keys, 1, NULL), LADE_OK);
        lade_table_stats(t, &stats);
        const double used = (double)stats.keys / (double)stats.cells;
        cr_assert(stats.keys == keys && used < 0.61, "%d keys, %g used", (int)keys, used);
        cr_assert_gt(used, stats.cells < UINT64_C(1) << 22 ? 0.148 : 0.297, "%d keys in %d cells", (int)keys,
                     (int)stats.cells);
        lade_reclaim_barrier();
        lade_table_stats(t, &stats);
        cr_assert(stats.arrays_waiting == 0 && stats.bytes >= 16 * stats.cells);
        cr_assert_leq(stats.bytes,
                      16 * stats.cells + stats.cells / LADE_TABLE_BLOCK + 8192); /* a flag for each block */
        large += stats.cells >= UINT64_C(1) << 22;
    }
    cr_assert_gt(large, 0, "it was never large");
    lade_table_destroy(t);
}

Test(table, trim_leaves_at_most_24_bytes_a_key)
{
    struct lade_table *t = make_words();
    struct lade_table_stats stats;
    uint64_t value = 0;

    for (uint64_t i = 0; i < 150000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    for (uint64_t i = 0; i < 50000; i++)
        cr_assert_eq(lade_table_remove(t, i, NULL), LADE_OK);
    lade_reclaim_barrier();
    cr_assert_eq(lade_table_trim(t), LADE_OK);
    lade_reclaim_barrier();
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.keys, 100000);
    cr_assert_eq(stats.removed, 0);
    cr_assert_leq(stats.bytes, 24 * 100000);
    for (uint64_t i = 0; i < 150000; i++) {
        cr_assert_eq(lade_table_get(t, i, &value), i < 50000 ? LADE_ABSENT : LADE_OK);
        cr_assert(i < 50000 || value == i);
    }
    for (uint64_t i = 200000; i < 300000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    lade_table_stats(t, &stats);
    cr_assert_eq(stats.keys, 200000);
    lade_table_destroy(t);
}

Test(table, trim_is_put_off_while_a_reader_holds_an_old_array)
{
    struct lade_table *t = make_words();
    uint64_t key = 7, value = 0;
    int status;

    /* Calls from inside a read section leave the caller in it. */
    urcu_memb_read_lock();
    for (uint64_t i = 0; i < 1000; i++)
        cr_assert_eq(lade_table_insert(t, i, i, NULL), LADE_OK);
    cr_assert_eq(lade_table_insert(t, key, 0, &value), LADE_PRESENT);
    cr_assert_eq(lade_table_get(t, key, &value), LADE_OK);
    cr_assert_eq(lade_table_get_many(t, &key, 1, &value, &status), 1);
    cr_assert_eq(value, 7);
    cr_assert(urcu_memb_read_ongoing());
    cr_assert_eq(lade_table_trim(t), LADE_LIMITED);
    urcu_memb_read_unlock();
    lade_reclaim_barrier();
    cr_assert_eq(lade_table_trim(t), LADE_OK);
    lade_table_destroy(t);
}

/* Fills a table that cannot grow; returns the number of keys inserted. */
static uint64_t fill(struct lade_table *t)
{
    uint64_t n = 0, value = 0;
    int status;

    while ((status = lade_table_insert(t, n + 1, n, NULL)) == LADE_OK) /* 0 may have a separate cell */
        n++;
    cr_assert_eq(status, LADE_NO_MEMORY);
    for (uint64_t i = 0; i < n; i++) {
        cr_assert_eq(lade_table_get(t, i + 1, &value), LADE_OK);
        cr_assert_eq(value, i);
    }
    cr_assert_eq(lade_table_insert(t, 1, 1, &value), LADE_PRESENT);
    cr_assert_eq(lade_table_remove(t, 1, NULL), LADE_OK);
    cr_assert_eq(lade_table_insert(t, 1, 0, NULL), LADE_OK);
    return n;
}

Test(table, a_byte_limit_lets_it_be_filled_to_19_of_20)
{
    struct lade_table *t = make((struct lade_table_config){.max_bytes = 100000});
    struct lade_table_stats stats;
    uint64_t n = fill(t);

    lade_table_stats(t, &stats);
    cr_assert_leq(stats.bytes, 100000);
    cr_assert_eq(n, stats.cells * 243 / 256);
    lade_table_destroy(t);
}

Test(table, without_memory_to_grow_an_insert_fails_and_the_table_stays)
{
    struct counter counter = {.most = 20000};
    const struct lade_alloc alloc = {counted_get, counted_put, &counter};
    struct lade_table *t = make((struct lade_table_config){.alloc = &alloc});

    (void)fill(t);
    counter.most = SIZE_MAX;
    cr_assert_eq(lade_table_insert(t, 123456789, 1, NULL), LADE_OK);
    lade_table_destroy(t);
    cr_assert_eq(counter.held, 0);
}

Test(table, byte_strings_are_keys_too)
{
    struct lade_table *t = make((struct lade_table_config){.kind = LADE_TABLE_BYTES});
    uint64_t value = 0;

    cr_assert_eq(lade_table_insert_bytes(t, "abc", 3, 1, &value), LADE_OK);
    cr_assert_eq(lade_table_insert_bytes(t, "abcd", 4, 2, NULL), LADE_OK);
    cr_assert_eq(lade_table_insert_bytes(t, NULL, 0, 3, NULL), LADE_OK);
    cr_assert_eq(lade_table_insert_bytes(t, "a\0c", 3, 4, NULL), LADE_OK);
    cr_assert_eq(lade_table_insert_bytes(t, "abc", 3, 9, &value), LADE_PRESENT);
    cr_assert_eq(value, 1);
    cr_assert_eq(lade_table_get_bytes(t, "abcd", 4, &value), LADE_OK);
    cr_assert_eq(value, 2);
    cr_assert_eq(lade_table_get_bytes(t, "", 0, &value), LADE_OK);
    cr_assert_eq(value, 3);
    cr_assert_eq(lade_table_replace_bytes(t, "a\0c", 3, 5, &value), LADE_OK);
    cr_assert_eq(value, 4);
    cr_assert_eq(lade_table_remove_bytes(t, "a\0c", 3, &value), LADE_OK);
    cr_assert_eq(value, 5);
    cr_assert_eq(lade_table_get_bytes(t, "a\0c", 3, NULL), LADE_ABSENT);
    cr_assert_eq(lade_table_insert_bytes(t, "a\0c", 3, 6, NULL), LADE_OK);
    cr_assert_eq(lade_table_get_bytes(t, "ab", 2, NULL), LADE_ABSENT);
    lade_table_destroy(t);
}

static void strings(const struct lade_table_hash *hash, int n)
{
    struct counter counter = {.most = SIZE_MAX};
    const struct lade_alloc alloc = {counted_get, counted_put, &counter};
    struct lade_table *t = make((struct lade_table_config){.kind = LADE_TABLE_BYTES, .hash = hash, .alloc = &alloc});
    struct seen seen = {0};
    uint64_t value = 0;
    char key[16];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            cr_assert_eq(lade_table_insert_bytes(t, key, (size_t)sprintf(key, "%d", i), (uint64_t)i, NULL), LADE_OK);
        for (int i = 0; i < n; i++) {
            cr_assert_eq(lade_table_replace_bytes(t, key, (size_t)sprintf(key, "%d", i), 5, &value), LADE_OK);
            cr_assert_eq(value, (uint64_t)i);
        }
        for (int i = 0; i < n; i += 2)
            cr_assert_eq(lade_table_remove_bytes(t, key, (size_t)sprintf(key, "%d", i), NULL), LADE_OK);
        seen = (struct seen){0};
        cr_assert_eq(lade_table_for_each(t, see, &seen, NULL), LADE_OK);
        cr_assert_eq(seen.count, (uint64_t)n / 2);
        cr_assert_eq(seen.sum, (uint64_t)n / 2 * 5);
        for (int i = 1; i < n; i += 2)
            cr_assert_eq(lade_table_remove_bytes(t, key, (size_t)sprintf(key, "%d", i), NULL), LADE_OK);
    }
    lade_table_destroy(t);
    cr_assert_eq(counter.held, 0);
}

Test(table, byte_strings_come_and_go_and_nothing_is_left)
{
    strings(NULL, 5000);
}

Test(table, byte_strings_with_one_hash_are_distinguished)
{
    strings(&plain, 200);
}

Test(table, wrong_arguments_are_rejected)
{
    struct lade_table *t = NULL;
    struct lade_table *words = make_words();
    struct lade_table *bytes = make((struct lade_table_config){.kind = LADE_TABLE_BYTES});
    const struct lade_table_hash half = {.mix = same};
    struct lade_table_stats stats = {.keys = 1};

    cr_assert_eq(lade_table_create(NULL, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_create(&t, &(struct lade_table_config){.reserve = UINT64_MAX}), LADE_INVALID);
    cr_assert_eq(lade_table_create(&t, &(struct lade_table_config){.kind = (enum lade_table_kind)7}), LADE_INVALID);
    cr_assert_eq(lade_table_create(&t, &(struct lade_table_config){.hash = &half}), LADE_INVALID);
    cr_assert_eq(lade_table_create(&t, &(struct lade_table_config){.max_bytes = 10}), LADE_NO_MEMORY);
    cr_assert_null(t);
    cr_assert_eq(lade_table_get(NULL, 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert(NULL, 1, 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_get(bytes, 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert(bytes, 1, 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_get_bytes(words, "a", 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert_bytes(bytes, NULL, 1, 1, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_insert_bytes(bytes, "a", 1, UINT64_MAX, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_for_each(words, NULL, NULL, NULL), LADE_INVALID);
    cr_assert_eq(lade_table_reserve(words, UINT64_MAX), LADE_INVALID);
    cr_assert_eq(lade_table_trim(NULL), LADE_INVALID);
    lade_table_stats(NULL, &stats);
    cr_assert_eq(stats.keys, 0);
    uint64_t key[2] = {1, 2}, value[2] = {0};
    int status[4] = {0};
    cr_assert_eq(lade_table_get_many(bytes, key, 2, value, status), 0);
    cr_assert_eq(lade_table_insert_many(NULL, key, 2, value, NULL, status + 2), 0);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(status[i], LADE_INVALID);
    lade_table_destroy(words);
    lade_table_destroy(bytes);
    lade_table_destroy(NULL);
}

/* A thread that stopped inside an operation is a read section that does not end. */
Test(table, reserves_leave_few_old_arrays_while_a_reader_is_stopped)
{
    struct lade_table *t = make_words();
    struct lade_table_stats stats;
    uint64_t table, keys = 0;

    urcu_memb_read_lock();
    for (int batch = 0; batch < 200; batch++, keys += 1000)
        cr_assert_eq(lade_table_reserve(t, keys + 1000), LADE_OK);
    lade_table_stats(t, &stats);
    urcu_memb_read_unlock();
    table = stats.cells * 16;
    cr_assert_geq(stats.cells, keys);
    cr_assert_leq(stats.bytes - table, 2 * table, "old arrays %llu, table %llu bytes",
                  (unsigned long long)(stats.bytes - table), (unsigned long long)table);
    lade_table_destroy(t);
}

/* If twice the size cannot be allocated, the requested size is. */
Test(table, a_reserve_takes_what_there_is_while_a_reader_is_stopped)
{
    struct lade_table *t = make((struct lade_table_config){.max_bytes = UINT64_C(4) << 20});

    urcu_memb_read_lock();
    cr_assert_eq(lade_table_reserve(t, 50000), LADE_OK); /* 1.5 MiB */
    cr_assert_eq(lade_table_reserve(t, 70000), LADE_OK); /* 2 MiB; 3 would be too much */
    urcu_memb_read_unlock();
    lade_table_destroy(t);
}

/* A pointer whose upper bit is set, as tags of the allocator may, counts as no memory. */
static void *tagged_get(void *context, size_t size, size_t align)
{
    struct counter *c = context;

    if (size > 64)
        return aligned_alloc(align, size);
    c->held++;
    return (void *)(UINTPTR_MAX / 2 + 1 + 64); // NOLINT
}

static void tagged_put(void *context, void *memory, size_t size)
{
    struct counter *c = context;

    if (size > 64)
        free(memory);
    else
        c->held--;
}

Test(table, a_record_must_leave_the_bits_of_cells_alone)
{
    struct counter counter = {0};
    const struct lade_alloc alloc = {tagged_get, tagged_put, &counter};
    struct lade_table *t = make((struct lade_table_config){.kind = LADE_TABLE_BYTES, .alloc = &alloc});

    cr_assert_eq(lade_table_insert_bytes(t, "a", 1, 5, NULL), LADE_NO_MEMORY);
    cr_assert_eq(lade_table_get_bytes(t, "a", 1, NULL), LADE_ABSENT);
    cr_assert_eq(counter.held, 0);
    lade_table_destroy(t);
}
