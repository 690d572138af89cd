/* SPDX-License-Identifier: MIT */
/* What every bag does: creation, handles, put, draw, exchange, evict, batches, visits, counts. */
#include "allocator.h"
#include "bags.h"

#include <math.h>

/* Capacities around the size of a group, and some that take many. */
static const uint64_t capacities[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 1000};
#define CAPACITIES (sizeof capacities / sizeof *capacities)

#define EACH_KIND(K) for (enum lade_bag_kind K = LADE_BAG_WORDS; K <= LADE_BAG_RECORDS; K++)
#define EACH_FULL(F) for (enum lade_bag_full F = LADE_BAG_REJECT; F <= LADE_BAG_EVICT_OLDEST; F++)

static size_t eight(void *context, const void *element)
{
    (void)context;
    (void)element;
    return 8;
}

static void expect_invalid(struct lade_bag_config config)
{
    struct lade_bag *bag = NULL;

    cr_assert_eq(lade_bag_create(&bag, &config), LADE_INVALID);
    cr_assert_null(bag);
}

static void expect_valid(struct lade_bag_config config)
{
    lade_bag_destroy(make_bag(config));
}

Test(bag, refuses_numbers_out_of_range)
{
    const struct lade_bag_config words = {.capacity = 8, .handles = 1};
    const struct lade_bag_config records = {.capacity = 8, .handles = 1, .kind = LADE_BAG_RECORDS, .record_size = 4};
    struct lade_bag_config c;
    struct lade_bag *bag = NULL;

    cr_assert_eq(lade_bag_create(NULL, &words), LADE_INVALID);
    cr_assert_eq(lade_bag_create(&bag, NULL), LADE_INVALID);
    cr_assert_null(bag);
    expect_valid(words);
    expect_valid(records);
#define INVALID(BASE, FIELD, VALUE) (c = (BASE), c.FIELD = (VALUE), expect_invalid(c))
    INVALID(words, capacity, 0);
    INVALID(words, capacity, LADE_BAG_MAX + 1);
    INVALID(words, capacity, UINT64_MAX);
    INVALID(words, handles, 0);
    INVALID(words, handles, LADE_BAG_HANDLES_MAX + 1);
    INVALID(words, handles, UINT32_MAX);
    INVALID(words, kind, (enum lade_bag_kind)3);
    INVALID(words, full, (enum lade_bag_full)3);
    INVALID(words, max_times_sampled, LADE_BAG_TIMES_MAX + 1);
    INVALID(words, samples_per_insert, -1);
    INVALID(words, samples_per_insert, (double)NAN);
    INVALID(words, samples_per_insert, (double)INFINITY);
    INVALID(records, record_size, 0);
    INVALID(records, record_size, LADE_BAG_RECORD_MAX + 1);
    INVALID(records, record_size, SIZE_MAX);
    INVALID(records, max_loans, LADE_BAG_LOANS_MAX + 1);
    INVALID(records, max_loans, UINT32_MAX);
}

Test(bag, refuses_fields_that_contradict_each_other)
{
    const struct lade_bag_config words = {.capacity = 8, .handles = 1};
    const struct lade_bag_config records = {.capacity = 8, .handles = 1, .kind = LADE_BAG_RECORDS, .record_size = 4};
    const struct lade_bag_config refs = {.capacity = 8, .handles = 1, .kind = LADE_BAG_REFS, .release = release_object};
    struct lade_bag_config c;

    expect_valid(refs);
    INVALID(words, record_size, 8);
    INVALID(words, max_loans, 1);
    INVALID(words, release, release_object);
    INVALID(words, byte_budget, 100);
    INVALID(words, bytes, eight);
    INVALID(refs, release, NULL);
    INVALID(refs, drop, drop_word);
    INVALID(refs, record_size, 8);
    INVALID(refs, max_loans, 1);
    INVALID(records, release, release_object);
    INVALID(records, drop, drop_word);
    c = words;
    c.byte_budget = 100;
    c.bytes = eight;
    expect_valid(c);
    INVALID(c, full, LADE_BAG_EVICT_OLDEST);
    c.kind = LADE_BAG_RECORDS;
    c.record_size = 4;
    expect_invalid(c);
    c = words;
    c.samples_per_insert = 4;
    INVALID(c, ratio_slack, 0);
    INVALID(c, ratio_slack, 3.9);
    INVALID(c, ratio_slack, -5);
    INVALID(c, ratio_slack, (double)NAN);
    c.ratio_slack = 4;
    expect_valid(c);
    INVALID(c, max_times_sampled, 3);
    c.max_times_sampled = 4;
    expect_valid(c);
    c.samples_per_insert = 3.5;
    expect_valid(c);
    INVALID(c, max_times_sampled, 3);
    c.samples_per_insert = 0.5;
    INVALID(c, ratio_slack, 0.9);
    c.ratio_slack = 1;
    c.max_times_sampled = 1;
    expect_valid(c);
}

Test(bag, a_size_that_no_machine_has_is_out_of_memory)
{
    struct failing f = {0};
    struct lade_alloc alloc = {failing_get, failing_put, &f};
    struct lade_bag_config c = {.capacity = LADE_BAG_MAX,
                                .handles = LADE_BAG_HANDLES_MAX,
                                .kind = LADE_BAG_RECORDS,
                                .record_size = LADE_BAG_RECORD_MAX,
                                .max_loans = LADE_BAG_LOANS_MAX,
                                .alloc = &alloc};
    struct lade_bag *bag = NULL;

    f.most = (size_t)1 << 30;
    cr_assert_eq(lade_bag_create(&bag, &c), LADE_NO_MEMORY);
    cr_assert_null(bag);
    cr_assert_eq(f.live, 0);
    cr_assert_eq(f.bytes, 0);
}

Test(bag, out_of_memory_leaves_nothing_behind)
{
    EACH_KIND(kind) EACH_FULL(full)
    {
        int fail = 1, status;
        do {
            struct failing f = {.fail_at = fail};
            struct lade_alloc alloc = {failing_get, failing_put, &f};
            struct lade_bag *bag = NULL;
            struct lade_bag_config c = {.capacity = 100, .handles = 3, .kind = kind, .full = full, .alloc = &alloc};
            c.record_size = kind == LADE_BAG_RECORDS ? RECORD : 0;
            c.release = kind == LADE_BAG_REFS ? release_object : NULL;
            status = lade_bag_create(&bag, &c);
            if (status == LADE_OK) {
                cr_assert_eq(f.calls, fail - 1);
                lade_bag_destroy(bag);
            } else {
                cr_assert_eq(status, LADE_NO_MEMORY);
                cr_assert_null(bag);
            }
            cr_assert_eq(f.live, 0);
            cr_assert_eq(f.bytes, 0);
        } while (fail++, status != LADE_OK);
        cr_assert_gt(fail, kind == LADE_BAG_WORDS && full != LADE_BAG_EVICT_OLDEST ? 4 : 8);
    }
    lade_bag_destroy(NULL);
}

Test(bag, handles_are_counted_and_reused)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 4, .handles = 3});
    struct lade_bag_handle *h[3], *extra = NULL;
    uint64_t word = 7;

    for (int i = 0; i < 3; i++) {
        h[i] = join_bag(bag);
        for (int j = 0; j < i; j++)
            cr_assert_neq(h[i], h[j]);
    }
    cr_assert_eq(lade_bag_join(bag, &extra), LADE_TOO_MANY);
    cr_assert_null(extra);
    cr_assert_eq(lade_bag_put(h[1], &word), LADE_OK);
    lade_bag_leave(h[1]);
    lade_bag_leave(NULL);
    extra = join_bag(bag);
    cr_assert_eq(extra, h[1]);
    cr_assert_eq(lade_bag_draw(extra, &word), LADE_OK);
    cr_assert_eq(stats_of(bag).put, 1);
    lade_bag_destroy(bag);
}

/* Every kind, with any handle for puts and draws: the capacity is exact, nothing is lost, nothing is returned twice. */
static void check_multiset(enum lade_bag_kind kind, enum lade_bag_full full, uint64_t capacity)
{
    struct failing f = {0};
    struct lade_alloc alloc = {failing_get, failing_put, &f};
    struct lade_bag *bag = make_bag((struct lade_bag_config){
        .capacity = capacity, .handles = 3, .kind = kind, .full = full, .seed = capacity, .alloc = &alloc});
    struct lade_bag_handle *h[3] = {join_bag(bag), join_bag(bag), join_bag(bag)};
    bool inside[NUMBERS] = {false};
    uint64_t held = 0, number = 0, next = 0;
    int before = f.calls;

    for (int i = 0; i < 3; i++)
        cr_assert_eq(draw_number(h[i], kind, &number), LADE_EMPTY);
    for (unsigned round = 0; round < 6; round++) {
        for (; held < capacity; held++) {
            do
                next = next % (NUMBERS - 1) + 1;
            while (inside[next]);
            cr_assert_eq(put_number(h[(held + round) % 3], kind, next), LADE_OK);
            inside[next] = true;
        }
        cr_assert_eq(stats_of(bag).held, capacity);
        for (int i = 0; i < 3 && full == LADE_BAG_REJECT; i++)
            cr_assert_eq(put_number(h[i], kind, NUMBERS - 1), LADE_FULL);
        /* Under evict oldest a put may evict although slots are free: every put has a fixed slot. */
        uint64_t left = round == 5 || full == LADE_BAG_EVICT_OLDEST ? 0 : capacity * round / 6;
        for (; held > left; held--) {
            cr_assert_eq(draw_number(h[held / 5 % 3], kind, &number), LADE_OK);
            cr_assert(number < NUMBERS && inside[number]);
            inside[number] = false;
        }
    }
    for (int i = 0; i < 3; i++)
        cr_assert_eq(draw_number(h[i], kind, &number), LADE_EMPTY);
    struct lade_bag_stats c = stats_of(bag);
    cr_assert_eq(c.held, 0);
    cr_assert_eq(c.evicted, 0);
    cr_assert_eq(c.full, full == LADE_BAG_REJECT ? 18 : 0);
    cr_assert_geq(c.empty, 6);
    cr_assert_eq(f.calls, before, "no allocation after creation");
    lade_bag_destroy(bag);
    cr_assert_eq(f.live, 0);
    cr_assert_eq(f.bytes, 0);
}

Test(bag, capacity_is_exact_and_nothing_is_lost_or_doubled)
{
    EACH_KIND(kind)
    EACH_FULL(full) for (size_t i = 0; i < CAPACITIES; i++) check_multiset(kind, full, capacities[i]);
}

/* The element that a full bag evicts is gone, the others stay; refs are released exactly then. */
Test(bag, a_put_on_a_full_bag_evicts_one)
{
    EACH_KIND(kind) for (enum lade_bag_full full = LADE_BAG_EVICT_UNIFORM; full <= LADE_BAG_EVICT_OLDEST; full++)
    {
        for (size_t i = 0; i < CAPACITIES; i++) {
            struct lade_bag *bag =
                make_bag((struct lade_bag_config){.capacity = capacities[i], .kind = kind, .full = full});
            struct lade_bag_handle *h = join_bag(bag);
            uint64_t total = 3 * capacities[i], number = 0, found = 0;
            for (uint64_t n = 1; n <= total; n++) {
                cr_assert_eq(put_number(h, kind, n), LADE_OK);
                uint64_t expected = n < capacities[i] ? n : capacities[i];
                cr_assert_eq(stats_of(bag).held, expected);
            }
            cr_assert_eq(stats_of(bag).evicted, total - capacities[i]);
            bool seen[NUMBERS] = {false};
            for (; draw_number(h, kind, &number) == LADE_OK; found++) {
                cr_assert(number >= 1 && number <= total && !seen[number]);
                seen[number] = true;
            }
            cr_assert_eq(found, capacities[i]);
            for (uint64_t n = 1; n <= total && kind == LADE_BAG_REFS; n++)
                cr_assert_eq(objects[n].released, 1);
            lade_bag_destroy(bag);
        }
    }
}

Test(bag, destroy_drops_what_is_left)
{
    EACH_FULL(full)
    {
        struct lade_bag *bag = make_bag(
            (struct lade_bag_config){.capacity = 100, .kind = LADE_BAG_WORDS, .full = full, .drop = drop_word});
        struct lade_bag_handle *h = join_bag(bag);
        memset(dropped, 0, sizeof dropped);
        for (uint64_t n = 1; n <= 70; n++)
            cr_assert_eq(put_number(h, LADE_BAG_WORDS, n), LADE_OK);
        lade_bag_destroy(bag);
        for (uint64_t n = 0; n < 100; n++)
            cr_assert_eq(dropped[n], n >= 1 && n <= 70);
        bag = make_bag((struct lade_bag_config){.capacity = 100, .kind = LADE_BAG_REFS, .full = full});
        h = join_bag(bag);
        for (uint64_t n = 1; n <= 70; n++)
            cr_assert_eq(put_number(h, LADE_BAG_REFS, n), LADE_OK);
        lade_bag_destroy(bag);
        for (uint64_t n = 1; n <= 70; n++)
            cr_assert_eq(objects[n].released, 1);
    }
}

Test(bag, words_and_pointers_have_a_range)
{
    const uint64_t bad[] = {0, LADE_BAG_WORD_MAX + 1, UINT64_C(1) << 63, UINT64_MAX};

    for (enum lade_bag_kind kind = LADE_BAG_WORDS; kind <= LADE_BAG_REFS; kind++)
        EACH_FULL(full)
        {
            struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 4, .kind = kind, .full = full});
            struct lade_bag_handle *h = join_bag(bag);
            uint64_t out = 0;
            for (int i = 0; i < 4; i++) {
                cr_assert_eq(lade_bag_put(h, &bad[i]), LADE_INVALID);
                cr_assert_eq(lade_bag_put_many(h, &bad[i], 1), 0);
                cr_assert_eq(lade_bag_exchange(h, &bad[i], &out), LADE_INVALID);
            }
            cr_assert_eq(lade_bag_put(h, NULL), LADE_INVALID);
            cr_assert_eq(lade_bag_draw(h, &out), LADE_EMPTY);
            cr_assert_null(lade_bag_scratch(h));
            lade_bag_destroy(bag);
        }
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 2});
    struct lade_bag_handle *h = join_bag(bag);
    const uint64_t ends[] = {1, LADE_BAG_WORD_MAX};
    uint64_t out[2] = {0, 0};
    cr_assert_eq(lade_bag_put_many(h, ends, 2), 2);
    cr_assert_eq(lade_bag_draw_many(h, out, 2), 2);
    cr_assert_eq(out[0] + out[1], LADE_BAG_WORD_MAX + 1);
    lade_bag_destroy(bag);
}

Test(bag, exchange_gives_another_one_and_keeps_the_number)
{
    EACH_KIND(kind) for (enum lade_bag_full full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_UNIFORM; full++)
    {
        for (size_t i = 0; i < CAPACITIES; i++) {
            struct lade_bag *bag =
                make_bag((struct lade_bag_config){.capacity = capacities[i], .kind = kind, .full = full});
            struct lade_bag_handle *h = join_bag(bag);
            bool inside[NUMBERS] = {false};
            union element in = element_of(kind, 1), out;
            uint64_t number = 0;
            cr_assert_eq(lade_bag_exchange(h, &in, &out), LADE_EMPTY);
            cr_assert_eq(draw_number(h, kind, &number), LADE_EMPTY, "a refused exchange puts nothing");
            for (uint64_t n = 1; n <= (capacities[i] + 1) / 2; n++) {
                cr_assert_eq(put_number(h, kind, n), LADE_OK);
                inside[n] = true;
            }
            uint64_t held = stats_of(bag).held;
            for (uint64_t n = 2000; n < 4000; n++) {
                bool same = n % 2; /* in and out at one address */
                in = element_of(kind, n);
                cr_assert_eq(lade_bag_exchange(h, &in, same ? &in : &out), LADE_OK);
                number = finish_number(kind, same ? &in : &out);
                cr_assert(number != n && inside[number]);
                inside[number] = false;
                inside[n] = true;
            }
            cr_assert_eq(stats_of(bag).held, held);
            lade_bag_destroy(bag);
        }
    }
}

Test(bag, exchange_is_not_for_evict_oldest)
{
    EACH_KIND(kind)
    {
        struct lade_bag *bag =
            make_bag((struct lade_bag_config){.capacity = 3, .kind = kind, .full = LADE_BAG_EVICT_OLDEST});
        struct lade_bag_handle *h = join_bag(bag);
        union element in = element_of(kind, 2), out;
        cr_assert_eq(put_number(h, kind, 1), LADE_OK);
        cr_assert_eq(lade_bag_exchange(h, &in, &out), LADE_INVALID);
        cr_assert_eq(lade_bag_exchange_many(h, &in, &out, 1), 0);
        cr_assert_eq(lade_bag_exchange_wait(h, &in, &out, LADE_FOREVER), LADE_INVALID);
        lade_bag_destroy(bag);
    }
}

/* The first word that is dropped frees slots for others, in the middle of a batch. */
static void draw_some_at_first(void *context, uint64_t word)
{
    struct lade_bag_handle *other = *(struct lade_bag_handle **)context;
    uint64_t out[100];

    (void)word;
    if (drops++ == 0)
        cr_assert_eq(lade_bag_draw_many(other, out, 100), 100);
}

Test(bag, a_batch_evicts_only_where_no_slot_is_free)
{
    struct lade_bag_handle *other = NULL;
    struct lade_bag *bag = make_bag((struct lade_bag_config){
        .capacity = 1000, .full = LADE_BAG_EVICT_UNIFORM, .drop = draw_some_at_first, .context = &other});
    struct lade_bag_handle *h = join_bag(bag);
    uint64_t word[1000], out[1000];

    other = join_bag(bag);
    for (uint64_t n = 0; n < 1000; n++)
        word[n] = n + 1;
    cr_assert_eq(lade_bag_put_many(h, word, 1000), 1000);
    cr_assert_eq(lade_bag_draw_many(h, out, 300), 300);
    cr_assert_eq(lade_bag_put_many(h, word, 300), 300);
    cr_assert_eq(drops, 0);
    cr_assert_eq(lade_bag_put_many(h, word, 500), 500);
    cr_assert_eq(drops, 400, "the slots that came free are filled first");
    cr_assert_eq(stats_of(bag).held, 1000);
    lade_bag_destroy(bag);
}

Test(bag, batches_stop_where_the_single_form_would)
{
    EACH_KIND(kind)
    {
        struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 10, .kind = kind});
        struct lade_bag_handle *h = join_bag(bag);
        size_t size = kind == LADE_BAG_RECORDS ? RECORD : 8;
        _Alignas(uint64_t) unsigned char in[16 * RECORD], out[16 * RECORD];
        bool seen[NUMBERS] = {false};
        for (uint64_t n = 0; n < 16; n++) {
            union element e = element_of(kind, n + 1);
            memcpy(in + n * size, &e, size);
        }
        cr_assert_eq(lade_bag_put_many(h, in, 0), 0);
        cr_assert_eq(lade_bag_draw_many(h, out, 16), 0);
        cr_assert_eq(lade_bag_exchange_many(h, in, out, 16), 0);
        cr_assert_eq(lade_bag_evict_many(h, 16), 0);
        cr_assert_eq(lade_bag_put_many(h, in, 7), 7);
        cr_assert_eq(lade_bag_put_many(h, in + 7 * size, 9), 3);
        cr_assert_eq(lade_bag_draw_many(h, out, 4), 4);
        cr_assert_eq(lade_bag_draw_many(h, out + 4 * size, 12), 6);
        for (size_t i = 0; i < 10; i++) {
            uint64_t n = number_of(kind, out + i * size);
            cr_assert(n >= 1 && n <= 10 && !seen[n]);
            seen[n] = true;
        }
        cr_assert_eq(lade_bag_put_many(h, in, 5), 5);
        cr_assert_eq(lade_bag_exchange_many(h, in + 5 * size, out, 11), 11);
        cr_assert_eq(stats_of(bag).held, 5);
        cr_assert_eq(lade_bag_evict_many(h, 2), 2);
        cr_assert_eq(stats_of(bag).evicted, 2);
        cr_assert_eq(lade_bag_drain(h), 3);
        cr_assert_eq(lade_bag_drain(h), 0);
        cr_assert_eq(stats_of(bag).evicted, 5);
        lade_bag_destroy(bag);
    }
}

Test(bag, evict_drops_one)
{
    EACH_FULL(full)
    {
        struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 9, .full = full, .drop = drop_word});
        struct lade_bag_handle *h = join_bag(bag);
        memset(dropped, 0, sizeof dropped);
        cr_assert_eq(lade_bag_evict(h), LADE_EMPTY);
        for (uint64_t n = 1; n <= 9; n++)
            cr_assert_eq(put_number(h, LADE_BAG_WORDS, n), LADE_OK);
        for (uint64_t n = 1; n <= 9; n++)
            cr_assert_eq(lade_bag_evict(h), LADE_OK);
        cr_assert_eq(lade_bag_evict(h), LADE_EMPTY);
        for (uint64_t n = 1; n <= 9; n++)
            cr_assert_eq(dropped[n], 1);
        lade_bag_close(bag);
        cr_assert_eq(lade_bag_evict(h), LADE_CLOSED);
        lade_bag_destroy(bag);
    }
}

struct visits {
    enum lade_bag_kind kind;
    size_t stop_after;
    size_t count;
    int times[NUMBERS];
    uint64_t order[NUMBERS];
};

static bool note_visit(void *context, const void *element)
{
    struct visits *v = context;
    uint64_t number = number_of(v->kind, element);

    v->times[number]++;
    v->order[v->count++] = number;
    return v->count != v->stop_after;
}

Test(bag, for_each_visits_each_element_once)
{
    EACH_KIND(kind)
    EACH_FULL(full) for (size_t i = 0; i < CAPACITIES; i++)
    {
        struct lade_bag *bag =
            make_bag((struct lade_bag_config){.capacity = capacities[i], .kind = kind, .full = full});
        struct lade_bag_handle *h = join_bag(bag);
        struct visits v = {.kind = kind};
        uint64_t gone = 0;
        uint64_t visited = 1;
        cr_assert_eq(lade_bag_for_each(h, note_visit, &v, &visited), LADE_OK);
        cr_assert_eq(visited, 0);
        for (uint64_t n = 1; n <= capacities[i]; n++)
            cr_assert_eq(put_number(h, kind, n), LADE_OK);
        cr_assert_eq(draw_number(h, kind, &gone), LADE_OK);
        for (int round = 0; round < 3; round++) { /* visiting changes nothing */
            memset(&v, 0, sizeof v);
            v.kind = kind;
            cr_assert_eq(lade_bag_for_each(h, note_visit, &v, &visited), LADE_OK);
            cr_assert_eq(visited, capacities[i] - 1);
            for (uint64_t n = 1; n <= capacities[i]; n++)
                cr_assert_eq(v.times[n], n != gone);
            for (size_t k = 1; k < v.count && full == LADE_BAG_EVICT_OLDEST; k++)
                cr_assert_lt(v.order[k - 1], v.order[k]);
        }
        if (capacities[i] > 3) {
            v = (struct visits){.kind = kind, .stop_after = 2};
            cr_assert_eq(lade_bag_for_each(h, note_visit, &v, &visited), LADE_CANCELLED);
            cr_assert_eq(visited, 2);
            cr_assert_eq(v.count, 2);
        }
        cr_assert_eq(stats_of(bag).held, capacities[i] - 1);
        lade_bag_destroy(bag);
    }
}

/* The rule: put number t replaces put number t - capacity if that is still in the bag, and nothing else. */
Test(bag, evict_oldest_keeps_its_law)
{
    EACH_KIND(kind) for (size_t i = 0; i < CAPACITIES; i++)
    {
        uint64_t capacity = capacities[i], number = 0;
        struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = capacity,
                                                                 .kind = kind,
                                                                 .full = LADE_BAG_EVICT_OLDEST,
                                                                 .drop = kind == LADE_BAG_WORDS ? drop_word : NULL});
        struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
        bool inside[NUMBERS] = {false};
        uint64_t evicted = 0;
        memset(objects, 0, sizeof objects);
        drops = 0;
        for (uint64_t t = 1; t < NUMBERS; t++) {
            cr_assert_eq(put_number(h[t % 2], kind, t), LADE_OK);
            inside[t] = true;
            if (t > capacity && inside[t - capacity]) {
                inside[t - capacity] = false;
                evicted++;
                if (kind == LADE_BAG_WORDS)
                    cr_assert_eq(drop_order[(drops - 1) % NUMBERS], t - capacity);
                if (kind == LADE_BAG_REFS)
                    cr_assert_eq(objects[t - capacity].released, 1);
            }
            cr_assert_eq(stats_of(bag).evicted, evicted);
            cr_assert(kind != LADE_BAG_WORDS || drops == evicted);
            if (t % 3 == 0) { /* a drawn element is not evicted, and its slot stays free until its turn */
                int status = draw_number(h[t / 3 % 2], kind, &number);
                cr_assert(status == LADE_OK && inside[number]);
                inside[number] = false;
            }
        }
        struct visits v = {.kind = kind};
        size_t held = 0;
        uint64_t visited = 0;
        cr_assert_eq(lade_bag_for_each(h[0], note_visit, &v, &visited), LADE_OK);
        cr_assert_eq(visited, stats_of(bag).held);
        for (uint64_t t = 1; t < NUMBERS; t++) {
            cr_assert_eq(v.times[t], inside[t]);
            if (inside[t])
                cr_assert_eq(v.order[held++], t);
        }
        lade_bag_destroy(bag);
    }
}

/* 16 bits distinguish the rounds of evict oldest. */
Test(bag, evict_oldest_continues_beyond_the_last_lap)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 2, .full = LADE_BAG_EVICT_OLDEST});
    struct lade_bag_handle *h = join_bag(bag);
    uint64_t out[2] = {0, 0};

    for (uint64_t t = 1; t <= 400001; t++)
        cr_assert_eq(lade_bag_put(h, &t), LADE_OK);
    cr_assert_eq(stats_of(bag).evicted, 399999);
    cr_assert_eq(lade_bag_draw_many(h, out, 2), 2);
    cr_assert_eq(out[0] + out[1], 400000 + 400001);
    lade_bag_destroy(bag);
}

static void draw_sequence(uint64_t seed, uint64_t words[200])
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 200, .seed = seed});
    struct lade_bag_handle *h = join_bag(bag);

    for (uint64_t n = 1; n <= 200; n++)
        cr_assert_eq(lade_bag_put(h, &n), LADE_OK);
    cr_assert_eq(lade_bag_draw_many(h, words, 200), 200);
    lade_bag_destroy(bag);
}

Test(bag, the_seed_decides_the_draws)
{
    uint64_t a[200], b[200], c[200];

    draw_sequence(0, a);
    draw_sequence(0, b);
    draw_sequence(1, c);
    cr_assert_arr_eq(a, b, sizeof a);
    cr_assert_neq(memcmp(a, c, sizeof a), 0);
}

Test(bag, handles_draw_from_separate_streams)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1000, .handles = 3});
    struct lade_bag_handle *h[3] = {join_bag(bag), join_bag(bag), join_bag(bag)};
    struct lade_loan loan;
    int same = 0;

    for (uint64_t n = 1; n <= 1000; n++)
        cr_assert_eq(lade_bag_put(h[2], &n), LADE_OK);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(lade_bag_sample(h[0], &loan), LADE_OK);
        uint64_t first = loan.word;
        cr_assert_eq(lade_bag_sample(h[1], &loan), LADE_OK);
        same += first == loan.word;
    }
    cr_assert_lt(same, 10);
    lade_bag_destroy(bag);
}

/* The size of a bag's own structures, and the padding of arrays to whole units. */
enum { FIXED = 4096 };

Test(bag, takes_the_memory_that_the_header_states)
{
    for (int kind = 0; kind < 6; kind++)
        for (uint64_t capacity = 1; capacity <= 100000; capacity = 7 * capacity + 1)
            for (unsigned handles = 1; handles <= 100; handles *= 10) {
                struct failing f = {0};
                struct lade_alloc alloc = {failing_get, failing_put, &f};
                struct lade_bag_config config = {.capacity = capacity, .handles = handles, .alloc = &alloc};
                size_t groups = (capacity + 63) / 64, cell = 0;
                struct lade_bag *bag;
                if (kind == 1) {
                    config.full = LADE_BAG_EVICT_OLDEST;
                    cell = 8;
                } else if (kind == 2) {
                    config.kind = LADE_BAG_REFS;
                    cell = 8;
                } else if (kind > 2) {
                    static const size_t sizes[][2] = {{5, 8}, {63, 64}, {65, 128}};
                    config.kind = LADE_BAG_RECORDS;
                    config.max_loans = (unsigned)kind;
                    config.record_size = sizes[kind - 3][0];
                    cell = sizes[kind - 3][1];
                }
                bag = make_bag(config);
                size_t spare = (size_t)handles * (3 + config.max_loans); /* in the pool: two words more each */
                size_t cells = cell ? (capacity + spare) * (cell + 8) + spare * 16 : 0;
                cr_assert_leq(f.bytes, 8 * capacity + 8 * groups + (size_t)handles * 1280 + cells + FIXED);
                lade_bag_destroy(bag);
                cr_assert_eq(f.bytes, 0);
            }
}
