/* SPDX-License-Identifier: MIT */
/* States of several shards are merged into one, which any number of shards can resume. */
#include "states.h"

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
    const char *turned[MOST];

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
    expect_refusal((const char *[]){a}, 1, LADE_CONFLICT);
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
    free(a);
    free(b);
    free(ahead);
    free(elsewhere);
    free(of_three);
    tally_free(&t);
    lade_source_close(source);
}

/* Levels are limited: the fifth change of the number of shards in one epoch fails, with a reason. */
Test(loader_merge, too_many_levels)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 2, .threads = 1, .epochs = 1};
    struct tally t;
    char *joined = NULL;

    tally_init(&t, COUNT);
    for (int run = 0; run < 4; run++) {
        char *state = leave_after(joined ? resume(&config, joined) : open_loader(&config), 3, &t);
        free(joined);
        joined = join_all(&state, 1);
    }
    cr_assert_lt(strlen(joined), 500);
    char *last = leave_after(resume(&config, joined), 3, &t);
    expect_refusal((const char *[]){last}, 1, LADE_LIMITED);
    free(leave_after(resume(&config, last), UINT64_MAX, &t));
    tally_expect(&t, 1);
    free(last);
    free(joined);
    tally_free(&t);
    lade_source_close(source);
}
