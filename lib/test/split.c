/* SPDX-License-Identifier: MIT */
/* Splits with an exact table. */
#include "splits.h"

#include "allocator.h"

#include <pthread.h>
#include <stdio.h>

TestSuite(split, .init = begin, .fini = end);

static struct lade_split *coin(unsigned parts)
{
    return make((struct lade_split_config){.parts = parts, .rule = LADE_SPLIT_COIN, .seed = 2});
}

Test(split, arguments)
{
    const struct lade_split_config good = {.parts = 2};
    struct lade_split_config bad;
    struct lade_split *s = NULL;
    struct lade_split_found found;
    unsigned part = 0;
    struct lade_split_item nothing = item(NULL, "g", "c");

    cr_assert(BAD(parts, 0) && BAD(parts, 256) && BAD(weights, ((uint32_t[]){0, 0})));
    cr_assert(BAD(rule, (enum lade_split_rule)3) && BAD(store, (enum lade_split_store)4));
    cr_assert(BAD(content, (enum lade_split_content)3) && BAD(conflict, (enum lade_split_conflict)3));
    cr_assert(BAD(rule, LADE_SPLIT_QUOTA) && BAD(classes, 1) && BAD(threads, 1) && BAD(quota, ((uint64_t[]){1, 1})));
    cr_assert(BAD(bits_per_item, 10) && BAD(uncorrected, true));
    bad = (struct lade_split_config){.parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_PURE};
    struct lade_error error = {.status = LADE_OK};
    cr_assert_eq(lade_split_create(&s, &bad, &error), LADE_INVALID);
    cr_assert(error.status == LADE_INVALID && strstr(error.text, "store pure needs rule hash"));
    bad = (struct lade_split_config){.parts = 2, .weights = (uint32_t[]){0, 0}};
    cr_assert_eq(lade_split_create(&s, &bad, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "all weights are zero"));
    cr_assert_eq(lade_split_create(NULL, &good, NULL), LADE_INVALID);
    cr_assert_eq(lade_split_create(&s, NULL, NULL), LADE_INVALID);
    cr_assert_null(s);
    s = make(good);
    cr_assert_eq(lade_split_route(s, &nothing, &part), LADE_INVALID);
    cr_assert_eq(part, NONE);
    cr_assert_eq(lade_split_find(s, &nothing, &found), LADE_INVALID);
    cr_assert_eq(pin(s, "a", NULL, NULL, 2), LADE_INVALID);
    lade_split_destroy(s);
    lade_split_destroy(NULL);
}

Test(split, the_first_decision_lasts)
{
    struct lade_split *s = coin(255);
    struct lade_split_item a = item("a", NULL, NULL);
    struct lade_split_found found;
    unsigned first[2000];

    cr_assert_eq(lade_split_find(s, &a, &found), LADE_ABSENT);
    cr_assert_eq(found.key, NONE);
    for (uint64_t i = 0; i < 2000; i++)
        first[i] = part_of_word(s, i);
    for (uint64_t i = 2000; i-- > 0;)
        cr_assert_eq(part_of_word(s, i), first[i]);
    unsigned part = part_of(s, "a", NULL, NULL);
    cr_assert_eq(lade_split_find(s, &a, &found), LADE_OK);
    cr_assert(found.key == part && found.group == NONE && found.content == NONE);
    uint64_t keys[255], sum = 0;
    struct lade_split_stats stats;
    cr_assert_eq(lade_split_stats(s, &stats, keys), LADE_OK);
    for (int i = 0; i < 255; i++)
        sum += keys[i];
    cr_assert(stats.keys == 2001 && sum == 2001 && stats.groups == 0 && stats.contents == 0 && stats.conflicts == 0);
    lade_split_destroy(s);
}

/* Words are their bytes, lowest first. */
Test(split, words_are_bytes)
{
    struct lade_split *s = coin(255);

    cr_assert_eq(part_of_word(s, UINT64_C(0x6867666564636261)), part_of(s, "abcdefgh", NULL, NULL));
    lade_split_destroy(s);
}

Test(split, a_group_stays_together)
{
    struct lade_split *s = coin(100);
    unsigned part = part_of(s, "frame 1", "video", NULL);

    cr_assert_eq(part_of(s, "frame 2", "video", NULL), part);
    cr_assert_eq(part_of(s, "frame 1", NULL, NULL), part);
    cr_assert(stats_of(s).groups == 1 && stats_of(s).keys == 2);
    /* A group of that kind that a key brings with it */
    cr_assert_eq(pin(s, "alone", NULL, NULL, 7), LADE_OK);
    cr_assert_eq(part_of(s, "alone", "new", NULL), 7);
    cr_assert_eq(part_of(s, "other", "new", NULL), 7);
    lade_split_destroy(s);
}

Test(split, content_is_followed)
{
    struct lade_split *s = coin(100);
    unsigned part = part_of(s, "a", NULL, "bytes");

    cr_assert_eq(part_of(s, "b", NULL, "bytes"), part);
    cr_assert_eq(part_of(s, "c", "g", "bytes"), part);
    cr_assert_eq(part_of(s, "d", "g", NULL), part); /* the group went with it */
    cr_assert_eq(stats_of(s).contents, 1);
    lade_split_destroy(s);
}

static struct lade_split *owning(enum lade_split_content content, enum lade_split_conflict conflict)
{
    return make(
        (struct lade_split_config){.parts = 100, .rule = LADE_SPLIT_COIN, .content = content, .conflict = conflict});
}

Test(split, content_is_taken_once)
{
    struct lade_split *s = owning(LADE_SPLIT_DROP, LADE_SPLIT_REFUSE);
    struct lade_split_item a = item("a", NULL, "bytes"), b = item("b", NULL, "bytes");
    struct lade_split_found found;
    unsigned part = part_of(s, "a", NULL, "bytes");

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(route(s, "b", NULL, "bytes"), LADE_PRESENT);
        cr_assert_eq(part_of(s, "a", NULL, "bytes"), part);
    }
    cr_assert_eq(stats_of(s).dropped, 3);
    cr_assert(lade_split_find(s, &a, &found) == LADE_OK && found.content == 0);
    cr_assert(lade_split_find(s, &b, &found) == LADE_ABSENT && found.content == NONE);
    cr_assert_eq(route(s, "c", "g", "bytes"), LADE_PRESENT);
    cr_assert_eq(part_of(s, "c", "g", "others"), part_of(s, "e", "g", "more"));
    lade_split_destroy(s);
}

/* The owner of a content does not determine a part: new items are in the parts that they would have without content. */
Test(split, content_that_is_taken_chooses_no_part)
{
    struct lade_split_config config = {.parts = 2, .rule = LADE_SPLIT_COIN, .content = LADE_SPLIT_DROP, .seed = 5};
    struct lade_split *with = make(config), *without = make(config);
    char name[16];

    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        cr_assert_eq(part_of(with, name, NULL, name), part_of(without, name, NULL, NULL), "item %d", i);
    }
    cr_assert_eq(stats_of(with).conflicts, 0);
    lade_split_destroy(with);
    lade_split_destroy(without);
}

Test(split, content_is_rejected)
{
    struct lade_split *s = owning(LADE_SPLIT_REJECT, LADE_SPLIT_REFUSE);

    cr_assert_eq(route(s, "a", NULL, "bytes"), LADE_OK);
    cr_assert_eq(route(s, "b", NULL, "bytes"), LADE_CONFLICT);
    cr_assert_eq(route(s, "a", NULL, "bytes"), LADE_OK);
    cr_assert(stats_of(s).conflicts == 1 && stats_of(s).keys == 1);
    /* b is first routed without its content: from then on the key is recorded, and so is the contradiction */
    cr_assert_eq(route(s, "b", NULL, NULL), LADE_OK);
    cr_assert_eq(route(s, "b", NULL, "bytes"), LADE_CONFLICT);
    lade_split_destroy(s);
    s = owning(LADE_SPLIT_REJECT, LADE_SPLIT_GROUP_WINS);
    cr_assert_eq(route(s, "a", NULL, "bytes"), LADE_OK);
    unsigned part = part_of(s, "b", NULL, NULL);
    cr_assert_eq(part_of(s, "b", NULL, "bytes"), part);
    cr_assert_eq(stats_of(s).conflicts, 1);
    lade_split_destroy(s);
}

/* A group and a content that are recorded on different sides, and an item that has both. */
static struct lade_split *divided(enum lade_split_conflict conflict)
{
    struct lade_split *s = owning(LADE_SPLIT_FOLLOW, conflict);

    cr_assert_eq(pin(s, "a", "g", NULL, 1), LADE_OK);
    cr_assert_eq(pin(s, "b", NULL, "c", 2), LADE_OK);
    return s;
}

Test(split, contradictions_are_refused)
{
    struct lade_split *s = divided(LADE_SPLIT_REFUSE);
    struct lade_split_item both = item("x", "g", "c");
    struct lade_split_found found;

    cr_assert_eq(route(s, "x", "g", "c"), LADE_CONFLICT);
    cr_assert_eq(lade_split_find(s, &both, &found), LADE_ABSENT);
    cr_assert(found.key == NONE && found.group == 1 && found.content == 2);
    cr_assert_eq(part_of(s, "x", "g", NULL), 1);
    cr_assert_eq(route(s, "x", NULL, "c"), LADE_CONFLICT); /* the key is already recorded */
    cr_assert_eq(part_of(s, "x", NULL, NULL), 1);
    cr_assert_eq(stats_of(s).conflicts, 2);
    lade_split_destroy(s);
}

Test(split, contradictions_are_resolved_and_counted)
{
    struct lade_split *s = divided(LADE_SPLIT_GROUP_WINS);

    cr_assert_eq(part_of(s, "x", "g", "c"), 1);
    cr_assert_eq(stats_of(s).conflicts, 1);
    lade_split_destroy(s);
    s = divided(LADE_SPLIT_CONTENT_WINS);
    cr_assert_eq(part_of(s, "x", "g", "c"), 2);
    cr_assert_eq(part_of(s, "x", "g", NULL), 2); /* recorded so, against its group */
    cr_assert_eq(stats_of(s).conflicts, 2);
    cr_assert_eq(part_of(s, "y", "g", NULL), 1);
    lade_split_destroy(s);
}

Test(split, pins_hold)
{
    struct lade_split *s = coin(3);

    for (unsigned i = 0; i < 3; i++) {
        char key[2] = {(char)('a' + i), 0};
        cr_assert_eq(pin(s, key, NULL, NULL, i), LADE_OK);
        cr_assert_eq(pin(s, key, NULL, NULL, i), LADE_OK);
        cr_assert_eq(pin(s, key, NULL, NULL, (i + 1) % 3), LADE_CONFLICT);
        cr_assert_eq(part_of(s, key, NULL, NULL), i);
    }
    cr_assert_eq(pin(s, "d", "g", NULL, 2), LADE_OK);
    cr_assert_eq(pin(s, "e", "g", NULL, 1), LADE_CONFLICT);
    cr_assert_eq(part_of(s, "e", "g", NULL), 2);
    lade_split_destroy(s);
}

Test(split, quotas_are_exact)
{
    const uint64_t quota[] = {70, 20, 10, 5, 0, 1, 0, 0, 0};
    uint64_t count[9] = {0};
    struct lade_split *s = make((struct lade_split_config){
        .parts = 3, .rule = LADE_SPLIT_QUOTA, .classes = 3, .quota = quota, .threads = 1, .seed = 3});
    struct lade_split_item i;
    unsigned part, order[106];

    for (uint64_t k = 0; k < 106; k++) {
        i = (struct lade_split_item){.key = &k, .key_size = sizeof k, .class_number = k >= 100};
        for (int twice = 0; twice < 2; twice++)
            cr_assert_eq(lade_split_route(s, &i, &part), LADE_OK);
        count[i.class_number * 3 + part]++;
        order[k] = part;
    }
    cr_assert_arr_eq(count, quota, sizeof count);
    for (unsigned c = 0; c < 3; c++) {
        uint64_t k = 1000 + c;
        i = (struct lade_split_item){.key = &k, .key_size = sizeof k, .class_number = c};
        cr_assert_eq(lade_split_route(s, &i, &part), LADE_FULL);
    }
    i = (struct lade_split_item){.key = "k", .key_size = 1, .class_number = 3};
    cr_assert_eq(lade_split_route(s, &i, &part), LADE_INVALID);
    cr_assert_eq(lade_split_pin(s, &i, 0), LADE_INVALID);
    /* Drawn, not dealt: the 70 of part 0 are not the first 70. */
    unsigned early = 0;
    for (int k = 0; k < 70; k++)
        early += order[k] == 0;
    cr_assert(early > 35 && early < 63, "%u", early);
    lade_split_destroy(s);
}

Test(split, a_group_takes_one_token)
{
    const uint64_t quota[] = {1, 1};
    struct lade_split *s =
        make((struct lade_split_config){.parts = 2, .rule = LADE_SPLIT_QUOTA, .classes = 1, .quota = quota});
    unsigned part = part_of(s, "a", "g", NULL);

    cr_assert_eq(part_of(s, "b", "g", NULL), part);
    cr_assert_eq(part_of(s, "c", "h", NULL), 1 - part);
    cr_assert_eq(route(s, "d", "i", NULL), LADE_FULL);
    lade_split_destroy(s);
}

Test(split, the_configuration_can_be_asked_for)
{
    const uint32_t weights[] = {4, 5};
    struct lade_split_config c;
    struct lade_split *s = make((struct lade_split_config){.parts = 2, .weights = weights, .seed = 77});

    lade_split_get_config(s, &c);
    cr_assert(c.parts == 2 && c.weights != weights && c.weights[0] == 4 && c.weights[1] == 5 && c.seed == 77);
    lade_split_destroy(s);
}

Test(split, memory_runs_out)
{
    const uint64_t quota[] = {3, 2, 1, 4};
    const struct lade_split_config configs[] = {
        {.parts = 2},
        {.parts = 2, .rule = LADE_SPLIT_QUOTA, .classes = 2, .quota = quota},
        {.parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = 100},
    };

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        for (int fail_at = 1;; fail_at++) {
            struct failing failing = {.fail_at = fail_at};
            struct lade_alloc alloc = {failing_get, failing_put, &failing};
            struct lade_split_config c = configs[i];
            struct lade_split *s = NULL;
            c.alloc = &alloc;
            int status = lade_split_create(&s, &c, NULL);
            if (status == LADE_OK)
                lade_split_destroy(s);
            cr_assert_eq(failing.live, 0);
            if (status == LADE_OK)
                break;
            cr_assert(status == LADE_NO_MEMORY && s == NULL);
        }
    }
}

enum { KEYS = 4000, GROUPS = 400 };

struct racer {
    struct lade_split *s;
    bool backwards;
    unsigned part[KEYS];
};

/* Every key is routed by both, with a token at stake for each group. */
static void *race(void *context)
{
    struct racer *r = context;

    urcu_memb_register_thread();
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t k = r->backwards ? KEYS - 1 - i : i, group = k / (KEYS / GROUPS);
        struct lade_split_item it = {.key = &k, .key_size = sizeof k, .group = &group, .group_size = sizeof group};
        int status;
        do
            status = lade_split_route(r->s, &it, &r->part[k]);
        while (status == LADE_LIMITED);
        cr_assert_eq(status, LADE_OK);
    }
    urcu_memb_unregister_thread();
    return NULL;
}

Test(split, threads_agree_and_tokens_are_kept)
{
    const uint64_t quota[] = {GROUPS / 4, GROUPS - GROUPS / 4};
    static struct racer a, b;
    pthread_t thread;
    unsigned count[2] = {0, 0};

    a.s = b.s = make((struct lade_split_config){.parts = 2, .rule = LADE_SPLIT_QUOTA, .classes = 1, .quota = quota});
    for (int backwards = 0; backwards < 2; backwards++) {
        a.backwards = backwards;
        cr_assert_eq(pthread_create(&thread, NULL, race, &a), 0);
        urcu_memb_unregister_thread();
        race(&b);
        urcu_memb_register_thread();
        pthread_join(thread, NULL);
        cr_assert_arr_eq(a.part, b.part, sizeof a.part);
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        for (unsigned k = i * (KEYS / GROUPS); k < (i + 1) * (KEYS / GROUPS); k++)
            cr_assert_eq(a.part[k], a.part[i * (KEYS / GROUPS)]);
        count[a.part[i * (KEYS / GROUPS)]]++;
    }
    cr_assert(count[0] == quota[0] && count[1] == quota[1]);
    lade_split_destroy(a.s);
}
