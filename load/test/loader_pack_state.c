/* SPDX-License-Identifier: MIT */
/* Saved positions of loaders with packed batches. */
#define _GNU_SOURCE
#include "packs.h"

#include <sched.h>
#include <stdatomic.h>

static struct sequences spreads = {.length = spread};

static struct lade_loader_config packed(struct lade_source *source)
{
    return (struct lade_loader_config){.source = source,
                                       .batch = 2,
                                       .threads = 2,
                                       .in_order = true,
                                       .epochs = 3,
                                       .seed = 6,
                                       .pack_row = 40,
                                       .pack_window = 24};
}

/* At every batch of three epochs, continued with other threads and batches: exactly the rows that are left. */
Test(loader_pack_state, resume_at_every_batch)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *whole = all_rows(&config);
    struct lade_loader *l = open_loader(&config);
    struct rows *r = rows_new();

    for (uint64_t batch = 0; batch <= whole->batches; batch++) {
        struct lade_loader_config other = config;
        char *state = state_of(l);
        cr_assert_lt(strlen(state), 256);
        other.threads = 1 + (unsigned)batch % 3;
        other.batch = 1 + batch % 5;
        struct lade_loader *m = resume(&other, state);
        struct rows *left = rows_new();
        char *again = state_of(m);
        cr_assert_str_eq(again, state);
        cr_assert_eq(take_rows(m, left, 40, UINT64_MAX), LADE_CLOSED);
        cr_assert_eq(left->count, whole->count - r->count, "at batch %llu", (unsigned long long)batch);
        for (uint64_t i = 0; i < left->count; i++)
            cr_assert_eq(left->hash[i], whole->hash[r->count + i]);
        rows_free(left);
        lade_loader_destroy(m);
        free(again);
        free(state);
        cr_assert_eq(take_rows(l, r, 40, 1), batch < whole->batches ? LADE_OK : LADE_CLOSED);
    }
    rows_free(r);
    rows_free(whole);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* As one run after another, each as ready and with other batches: each step once. */
Test(loader_pack_state, chain_of_runs_as_ready)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *r = rows_new();
    char *state = NULL;
    int status = LADE_OK;

    config.in_order = false;
    config.threads = 3;
    for (unsigned run = 0; status == LADE_OK; run++) {
        config.batch = 1 + run % 3;
        struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
        free(state);
        status = take_rows(l, r, 40, 5);
        state = state_of(l);
        lade_loader_destroy(l);
    }
    cr_assert_eq(status, LADE_CLOSED);
    each_step(r, spread, LONGEST, 3);
    free(state);
    rows_free(r);
    lade_source_close(source);
}

/* The first read of all waits until the test allows it, so that one of the first two batches is late. */
static _Atomic bool has_begun, may_go;

static bool first_waits(uint64_t i)
{
    (void)i;
    if (!atomic_exchange(&has_begun, true))
        while (!atomic_load(&may_go))
            sched_yield();
    return false;
}

/* Three batches overtake a late one. The next run has its rows, and those after the three, in a batch. */
Test(loader_pack_state, overtaken_batch)
{
    struct sequences s = {.length = spread, .fails = first_waits};
    struct lade_source *source = open_sequences(&s, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *r = rows_new();

    config.epochs = 1;
    config.in_order = false;
    struct lade_loader *l = open_loader(&config);
    cr_assert_eq(take_rows(l, r, 40, 3), LADE_OK);
    char *state = state_of(l);
    atomic_store(&may_go, true);
    lade_loader_destroy(l);
    cr_assert(strchr(state, ','), "rows that are done are not all before the others: %s", state);
    config.batch = 7;
    l = resume(&config, state);
    cr_assert_eq(take_rows(l, r, 40, UINT64_MAX), LADE_CLOSED);
    each_step(r, spread, LONGEST, 1);
    free(state);
    rows_free(r);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* Each of three shards continues at each of its batches. */
Test(loader_pack_state, resume_of_a_shard)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);

    config.shards = 3;
    for (config.shard = 0; config.shard < 3; config.shard++) {
        struct rows *whole = all_rows(&config), *r = rows_new();
        char *state = NULL;
        int status = LADE_OK;
        while (status == LADE_OK) {
            struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
            status = take_rows(l, r, 40, 1);
            free(state);
            state = state_of(l);
            lade_loader_destroy(l);
        }
        cr_assert_eq(status, LADE_CLOSED);
        same_rows(whole, r);
        free(state);
        rows_free(r);
        rows_free(whole);
    }
    lade_source_close(source);
}

/* The states of all shards as one. */
static char *merge_all(char *const *states, unsigned count)
{
    struct lade_error error = {.text = "no text"};
    const size_t size = lade_loader_merge_states((const char *const *)states, count, NULL, 0, NULL, &error);
    char *text = malloc(size);

    cr_assert(size > 0 && text, "%s", error.text);
    cr_assert_eq(lade_loader_merge_states((const char *const *)states, count, text, size, NULL, NULL), size);
    return text;
}

/* Runs all shards, each for its number of batches, from a state or the start; their states merged. */
static char *run_shards(struct lade_loader_config config, unsigned shards, const char *state, const uint64_t *batches,
                        struct rows *r)
{
    char *states[8];

    for (unsigned shard = 0; shard < shards; shard++) {
        config.shard = shard;
        config.shards = shards;
        struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
        cr_assert_geq(take_rows(l, r, 40, batches[shard]), LADE_CLOSED);
        states[shard] = state_of(l);
        lade_loader_destroy(l);
    }
    char *merged = merge_all(states, shards);
    for (unsigned shard = 0; shard < shards; shard++)
        free(states[shard]);
    return merged;
}

/* Shards that are in step, or not, or of which some have ended the epoch, continue as another number of shards. */
Test(loader_pack_state, other_shards)
{
    static const uint64_t progress[][8] = {
        {1, 1, 1, 1, 1, 1, 1, 1}, {0, 3, 1, 2, 0, 0, 4, 1}, {2, 0, 0, 0, 0, 0, 0, 0}, {0, 99, 2, 99, 99, 1, 99, 99}};
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    const uint64_t all[8] = {99, 99, 99, 99, 99, 99, 99, 99};

    for (unsigned from = 1; from <= 8; from += from < 4 ? 1 : 2)
        for (unsigned to = 1; to <= 8; to += to < 4 ? 1 : 3)
            for (size_t p = 0; p < sizeof progress / sizeof *progress; p++) {
                struct lade_loader_config config = packed(source);
                struct rows *r = rows_new();
                config.epochs = 1;
                config.threads = 1;
                char *first = run_shards(config, from, NULL, progress[p], r);
                config.batch = 3;
                free(run_shards(config, to, first, all, r));
                for (uint64_t i = 0; i < PACK_COUNT; i++)
                    cr_assert_eq(r->entries[i], 1, "%u shards to %u, case %zu, sample %llu", from, to, p,
                                 (unsigned long long)i);
                each_step(r, spread, LONGEST, 1);
                free(first);
                rows_free(r);
            }
    lade_source_close(source);
}

/* In step, the rest is the same as without the change: the number of shards is changed at every batch of the epoch. */
Test(loader_pack_state, in_step)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *whole, *r = rows_new();
    const uint64_t one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    char *state = NULL;

    config.epochs = 1;
    whole = all_rows(&config);
    config.threads = 1;
    config.batch = 1;
    for (unsigned change = 0; r->count - r->empty < whole->count; change++) {
        const unsigned shards = 1 + change * 3 % 5;
        const uint64_t before = r->count;
        char *next = run_shards(config, shards, state, one, r);
        cr_assert_lt(strlen(next), 256, "its size does not grow with the number of changes");
        for (uint64_t i = before; i < r->count && i < whole->count; i++)
            cr_assert_eq(r->hash[i], whole->hash[i]);
        free(state);
        state = next;
    }
    cr_assert(r->count >= whole->count && r->steps == whole->steps);
    free(state);
    rows_free(r);
    rows_free(whole);
    lade_source_close(source);
}

/* A second change while the shards are apart, in a later epoch, and the epoch after it from the start. */
Test(loader_pack_state, changes_out_of_step)
{
    static const uint64_t first[] = {14, 16, 15}, second[] = {2, 0, 1, 3, 1}, third[] = {1, 3};
    const uint64_t all[4] = {99, 99, 99, 99};
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *r = rows_new();

    config.batch = 1;
    char *one = run_shards(config, 3, NULL, first, r);
    char *two = run_shards(config, 5, one, second, r), *three = run_shards(config, 2, two, third, r);
    free(run_shards(config, 4, three, all, r));
    each_step(r, spread, LONGEST, 3);
    free(one);
    free(two);
    free(three);
    rows_free(r);
    lade_source_close(source);
}

/* With a split, the place of a window is not its number of members. */
Test(loader_pack_state, part_of_a_split)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_split *split = fifths(8);
    struct lade_loader_config config = packed(source);

    config.split = split;
    config.part = 1;
    config.batch = 1;
    struct rows *whole = all_rows(&config), *r = rows_new();
    struct lade_loader *l = open_loader(&config);
    cr_assert_eq(take_rows(l, r, 40, whole->batches / 2), LADE_OK);
    char *state = state_of(l);
    lade_loader_destroy(l);
    l = resume(&config, state);
    cr_assert_eq(take_rows(l, r, 40, UINT64_MAX), LADE_CLOSED);
    same_rows(whole, r);
    free(state);
    lade_loader_destroy(l);
    rows_free(whole);
    rows_free(r);
    lade_split_destroy(split);
    lade_source_close(source);
}

static uint64_t other_lengths(uint64_t i)
{
    return i == 151 ? spread(i) + 1 : spread(i);
}

Test(loader_pack_state, refused)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct sequences changed = {.length = other_lengths};
    struct lade_source *other = open_sequences(&changed, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source), wrong;
    struct lade_error error = {.text = "no text"};
    char *state, *states[2];

    struct lade_loader *l = open_loader(&config);
    free(leave_after(l, 0, NULL));
    l = open_loader(&config);
    struct rows *r = rows_new();
    cr_assert_eq(take_rows(l, r, 40, 4), LADE_OK);
    state = state_of(l);
    lade_loader_destroy(l);
    wrong = config;
    wrong.pack_row = 41;
    expect_refusal(&wrong, state, LADE_CONFLICT, "packing");
    wrong = config;
    wrong.pack_window = 25;
    expect_refusal(&wrong, state, LADE_CONFLICT, "packing");
    wrong = config;
    wrong.pack_longer = LADE_LONGER_CUT;
    expect_refusal(&wrong, state, LADE_CONFLICT, "packing");
    wrong = config;
    wrong.pack_row = wrong.pack_window = 0;
    expect_refusal(&wrong, state, LADE_CONFLICT, "packing");
    wrong = config;
    wrong.shards = 2;
    expect_refusal(&wrong, state, LADE_CONFLICT, "merge the states");
    /* One state of two shards is not enough, and two of one shard are not the two. */
    config.shards = 2;
    l = open_loader(&config);
    states[0] = states[1] = state_of(l);
    cr_assert_eq(lade_loader_merge_states((const char *const *)states, 2, NULL, 0, NULL, &error), 0);
    lade_loader_destroy(l);
    free(states[0]);
    free(state);
    /* A sample that has grown since is found if it is in the window of the position, here that of samples 144 to 167. */
    config.shards = 1;
    config.sequential = true;
    rows_free(r);
    r = rows_new();
    l = open_loader(&config);
    do
        cr_assert_eq(take_rows(l, r, 40, 1), LADE_OK);
    while (r->entries[144] + r->entries[152] + r->entries[160] == 0);
    state = state_of(l);
    lade_loader_destroy(l);
    config.source = other;
    expect_refusal(&config, state, LADE_CONFLICT, "other lengths");
    free(state);
    rows_free(r);
    lade_source_close(source);
    lade_source_close(other);
}
