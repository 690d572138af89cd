/* SPDX-License-Identifier: MIT */
/* States of several shards are merged into one, which any number of shards can resume. */
#include "checksum.h"
#include "states.h"

#include <lade/random.h>

enum { COUNT = 103, RUNS = 3, MOST = 7 };

/*
 * Some shards take some batches of one epoch each, and the next ones get the rest. Each run may repeat, or leave out,
 * fewer samples than it has shards.
 */
struct plan {
    unsigned shards[RUNS];
    uint64_t batches[RUNS][MOST];
};

static char *join_all(char **states, unsigned count)
{
    struct lade_error error = {.text = "no text"};
    const char *turned[16]; /* more than any run has */

    for (unsigned r = 0; r < count; r++) /* in any order */
        turned[(r + 1) % count] = states[r];
    size_t size = lade_loader_merge_states(turned, count, NULL, 0, NULL, &error);
    cr_assert_gt(size, 0, "%s", error.text);
    char *joined = malloc(size);
    cr_assert(joined);
    cr_assert_eq(lade_loader_merge_states(turned, count, joined, size, NULL, &error), size);
    for (unsigned r = 0; r < count; r++)
        free(states[r]);
    return joined;
}

/* Samples never delivered, and samples delivered twice. */
static void count_misses(const struct tally *t, const struct lade_loader_config *c, uint64_t *missing, uint64_t *again)
{
    *missing = *again = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        uint32_t due = is_in(c->split, c->part, i);
        *missing += t->seen[i] < due;
        *again += t->seen[i] > due ? t->seen[i] - due : 0;
    }
}

static void run_plan(const struct plan *p, struct lade_loader_config config)
{
    char *joined = NULL;
    struct tally t;
    uint64_t missing, again, uneven = 0;

    tally_init(&t, COUNT);
    for (unsigned run = 0; run < RUNS && p->shards[run]; run++) {
        char *states[MOST];
        bool is_last = run + 1 == RUNS || p->shards[run + 1] == 0;
        config.shards = p->shards[run];
        uneven += config.shards - 1;
        for (unsigned r = 0; r < config.shards; r++) {
            config.shard = r;
            config.in_order = (r + run) % 2;
            config.threads = 1 + r % 3;
            struct lade_loader *l = joined ? resume(&config, joined) : open_loader(&config);
            states[r] = leave_after(l, is_last ? UINT64_MAX : p->batches[run][r], &t);
        }
        free(joined);
        joined = join_all(states, config.shards);
    }
    free(joined);
    count_misses(&t, &config, &missing, &again);
    if (config.pad)
        cr_assert(missing == 0 && again <= uneven, "%llu repeated", (unsigned long long)again);
    else
        cr_assert(again == 0 && missing <= uneven, "%llu left out, %llu twice", (unsigned long long)missing,
                  (unsigned long long)again);
    tally_free(&t);
}

Test(loader_merge, every_sample_once)
{
    static const struct plan plans[] = {
        {{4, 3}, {{2, 2, 2, 2}}},                                    /* equal progress */
        {{4, 1}, {{0, 1, 2, 3}}},                                    /* unequal */
        {{4, 7}, {{9, 9, 1, 0}}},                                    /* two have completed their epoch */
        {{1, 5}, {{3}}},                                             /* from one to many */
        {{2, 2}, {{0, 0}}},                                          /* nothing done */
        {{3, 4, 2}, {{1, 2, 3}, {1, 0, 2, 1}}},                      /* twice in an epoch */
        {{5, 2, 7}, {{9, 0, 1, 9, 2}, {9, 1}}},                      /* twice, and some had completed */
        {{7, 7, 7}, {{1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 0, 0, 0}}}, /* as many as before */
    };
    struct lade_source *source = numbers(COUNT);
    struct lade_split *split = fifths(3);

    for (unsigned kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
            const struct lade_loader_config config = {.source = source,
                                                      .batch = 5,
                                                      .epochs = 1,
                                                      .seed = i,
                                                      .split = kind & 1 ? split : NULL,
                                                      .part = kind & 1 ? 1 : 0,
                                                      .pad = kind & 2};
            run_plan(&plans[i], config);
        }
    lade_split_destroy(split);
    lade_source_close(source);
}

/* The epoch after the divided one is complete for the resuming shards. */
Test(loader_merge, next_epoch_is_whole)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 10, .threads = 2, .shards = 2, .epochs = 2};
    struct tally t;
    char *states[2];

    tally_init(&t, COUNT);
    for (unsigned r = 0; r < 2; r++) {
        config.shard = r;
        config.pad = true;
        states[r] = leave_after(open_loader(&config), 1 + r, &t);
    }
    char *joined = join_all(states, 2);
    config.shard = 0;
    config.shards = 1;
    free(leave_after(resume(&config, joined), UINT64_MAX, &t));
    tally_expect(&t, 2);
    free(joined);
    tally_free(&t);
    lade_source_close(source);
}

static void expect_refusal(const char *const *states, unsigned count, int why)
{
    struct lade_error error = {.text = ""};

    cr_assert_eq(lade_loader_merge_states(states, count, NULL, 0, NULL, &error), 0);
    cr_assert(error.status == why && error.text[0], "%s", error.text);
    cr_assert_eq(lade_loader_merge_states(states, count, NULL, 0, NULL, NULL), 0);
}

Test(loader_merge, states_that_do_not_belong_together)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1, .shards = 2};
    struct tally t;
    char *a, *b, *ahead, *elsewhere, *of_three;

    tally_init(&t, COUNT);
    a = leave_after(open_loader(&config), 1, &t);
    config.shard = 1;
    b = leave_after(open_loader(&config), 2, &t);
    ahead = leave_after(open_loader(&config), 12, &t); /* one batch of the next epoch: 51 samples are 11 batches */
    config.seed = 1;
    elsewhere = leave_after(open_loader(&config), 1, &t);
    config.seed = 0;
    config.shards = 3;
    of_three = leave_after(open_loader(&config), 1, &t);
    cr_assert_gt(lade_loader_merge_states((const char *[]){a, b}, 2, NULL, 0, NULL, NULL), 0);
    expect_refusal((const char *[]){a, a}, 2, LADE_CONFLICT);
    expect_refusal((const char *[]){b, b}, 2, LADE_CONFLICT);
    expect_refusal((const char *[]){a, ahead}, 2, LADE_CONFLICT);
    expect_refusal((const char *[]){a, elsewhere}, 2, LADE_CONFLICT);
    expect_refusal((const char *[]){a, of_three}, 2, LADE_CONFLICT);
    expect_refusal((const char *[]){a, b, a}, 3, LADE_CONFLICT);
    expect_refusal((const char *[]){a, "no state"}, 2, LADE_DAMAGED);
    expect_refusal((const char *[]){a}, 0, LADE_INVALID);
    expect_refusal(NULL, 1, LADE_INVALID);
    expect_refusal((const char *[]){a}, LADE_LOADER_SHARDS_MAX + 1, LADE_INVALID);
    char joined[1000];
    cr_assert_gt(lade_loader_merge_states((const char *[]){a, b}, 2, joined, sizeof joined, NULL, NULL), 0);
    expect_refusal((const char *[]){joined}, 1, LADE_CONFLICT);
    expect_refusal((const char *[]){joined, a}, 2, LADE_CONFLICT);
    free(a);
    free(b);
    free(ahead);
    free(elsewhere);
    free(of_three);
    tally_free(&t);
    lade_source_close(source);
}

/* Numbers 0 to count - 1, drawn anew with each call. */
static uint64_t below(struct lade_random *random, uint64_t count)
{
    return lade_random_below(random, count);
}

/*
 * Twenty reshards of an epoch among 1 to 8 ranks, each stopped at a random batch. What is left over is taken by one rank.
 * Without padding nothing comes twice, and nothing is lost: only one rank ends the epoch.
 */
static void run_chain(struct lade_random *random, struct lade_loader_config config, uint64_t count, size_t *longest)
{
    char *joined = NULL;
    struct tally t;
    uint64_t missing, again;

    tally_init(&t, count);
    for (int run = 0; run < 20; run++) {
        char *states[8];
        config.shards = 1 + (unsigned)below(random, 8);
        config.batch = 1 + below(random, 9);
        for (unsigned r = 0; r < config.shards; r++) {
            config.shard = r;
            config.in_order = below(random, 2);
            config.threads = 1 + (unsigned)below(random, 2);
            struct lade_loader *l = joined ? resume(&config, joined) : open_loader(&config);
            states[r] = leave_after(l, below(random, 4), &t);
        }
        free(joined);
        joined = join_all(states, config.shards);
        *longest = strlen(joined) > *longest ? strlen(joined) : *longest;
    }
    config.shard = 0;
    config.shards = 1;
    free(leave_after(resume(&config, joined), UINT64_MAX, &t));
    free(joined);
    count_misses(&t, &config, &missing, &again);
    cr_assert(missing == 0 && again == 0, "%llu missing, %llu twice", (unsigned long long)missing,
              (unsigned long long)again);
    tally_free(&t);
}

Test(loader_merge, twenty_reshards_lose_nothing, .timeout = 240)
{
    enum { MANY = 4000 };
    struct lade_source *source = numbers(MANY);
    struct lade_split *split = fifths(3);
    struct lade_random random;
    size_t longest = 0;

    lade_random_init(&random, lade_key_make(21, 5, 1), 0);
    for (unsigned chain = 0; chain < 24; chain++) {
        const struct lade_loader_config config = {
            .source = source, .epochs = 1, .seed = chain, .split = chain & 1 ? split : NULL};
        run_chain(&random, config, MANY, &longest);
    }
    cr_assert_lt(longest, 20000, "%zu", longest);
    lade_split_destroy(split);
    lade_source_close(source);
}

/* Of ranks in step one state stands for all, states stay small, and the batches together are those of one rank. */
Test(loader_merge, ranks_in_step_continue_the_sequence_of_one, .timeout = 240)
{
    enum { MANY = 840 * 21 };
    struct lade_source *source = numbers(MANY);
    struct lade_loader_config one = {
        .source = source, .batch = 840, .in_order = true, .epochs = 1, .seed = 4, .threads = 1};
    struct lade_loader *whole = open_loader(&one), *l;
    struct lade_random random;
    char *joined = NULL;

    lade_random_init(&random, lade_key_make(21, 6, 1), 0);
    for (int run = 0; run < 20; run++) {
        struct lade_batch all = next_of(whole), b;
        const unsigned shards = 1 + (unsigned)below(&random, 8);
        char *state = NULL;
        for (unsigned r = 0; r < shards; r++) {
            struct lade_loader_config config = one;
            config.batch = 840 / shards;
            config.shards = shards;
            config.shard = r;
            l = joined ? resume(&config, joined) : open_loader(&config);
            b = next_of(l);
            cr_assert_eq(b.count, 840 / shards);
            for (uint64_t i = 0; i < b.count; i++)
                cr_assert_eq(b.ids[i], all.ids[i * shards + r], "run %d, rank %u of %u", run, r, shards);
            lade_loader_release(l, &b);
            free(state);
            state = state_of(l);
            lade_loader_destroy(l);
        }
        free(joined);
        joined = join_all(&state, 1); /* the state of the last rank */
        cr_assert_lt(strlen(joined), 200, "%s", joined);
        lade_loader_release(whole, &all);
    }
    free(joined);
    lade_loader_destroy(whole);
    lade_source_close(source);
}

/* Ranks that are far apart, often: more ranges than a short list, in more runs than are kept apart. */
Test(loader_merge, ranks_far_apart_stay_exact)
{
    enum { MANY = 30000 };
    struct lade_source *source = numbers(MANY);
    struct lade_loader_config config = {.source = source, .batch = 50, .in_order = true, .epochs = 1, .threads = 1};
    struct tally t;
    char *joined = NULL;

    tally_init(&t, MANY);
    for (unsigned run = 0; run < 7; run++) {
        char *states[3];
        config.shards = 3;
        for (unsigned r = 0; r < 3; r++) {
            config.shard = r;
            states[r] = leave_after(joined ? resume(&config, joined) : open_loader(&config), r == run % 3 ? 0 : 20, &t);
        }
        free(joined);
        joined = join_all(states, 3);
    }
    config.shard = 0;
    config.shards = 1;
    free(leave_after(resume(&config, joined), UINT64_MAX, &t));
    tally_expect(&t, 1);
    free(joined);
    tally_free(&t);
    lade_source_close(source);
}

/* One state cannot stand for others if its batches were taken out of order. */
Test(loader_merge, one_state_with_holes_is_refused)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 5, .in_order = true, .threads = 1, .shards = 2};
    struct lade_loader *l = open_loader(&config);
    char text[600], *at;

    cr_assert_lt(lade_loader_state(l, text, 500), 500);
    lade_loader_destroy(l);
    at = strstr(text, "done=");
    cr_assert(at);
    strcpy(at, "done=0-3,5-7");
    sprintf(text + strlen(text), " crc=%08x", (unsigned)lade_crc32c(0, text, strlen(text)));
    expect_refusal((const char *[]){text}, 1, LADE_CONFLICT);
    lade_source_close(source);
}
