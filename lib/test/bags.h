/* SPDX-License-Identifier: MIT */
/* Bags of any kind whose elements are named by number, for tests: element number n is a word, an object or a record. */
#include <lade/bag.h>

#include <criterion/criterion.h>
#include <string.h>

#define NUMBERS 4096 /* elements have numbers from 1 to NUMBERS - 1 */
#define RECORD 24

struct object {
    struct lade_ref ref;
    uint64_t number;
    int released;
};

/* Each test runs in a separate process. */
static struct object objects[NUMBERS];
static int dropped[NUMBERS];
static uint64_t drop_order[NUMBERS];
static size_t drops;

static inline void release_object(struct lade_ref *ref)
{
    ((struct object *)(void *)ref)->released++;
}

static inline void drop_word(void *context, uint64_t word)
{
    (void)context;
    dropped[word]++;
    drop_order[drops++ % NUMBERS] = word;
}

static inline struct lade_bag *make_bag(struct lade_bag_config config)
{
    struct lade_bag *bag = NULL;

    if (config.handles == 0)
        config.handles = 2;
    if (config.kind == LADE_BAG_REFS && !config.release)
        config.release = release_object;
    if (config.kind == LADE_BAG_RECORDS && config.record_size == 0)
        config.record_size = RECORD;
    cr_assert_eq(lade_bag_create(&bag, &config), LADE_OK);
    cr_assert_not_null(bag);
    return bag;
}

static inline struct lade_bag_handle *join_bag(struct lade_bag *bag)
{
    struct lade_bag_handle *h = NULL;

    cr_assert_eq(lade_bag_join(bag, &h), LADE_OK);
    cr_assert_not_null(h);
    return h;
}

/* An element by its kind and number, as functions of a bag take it. */
union element {
    uint64_t word;
    struct lade_ref *ref;
    unsigned char record[RECORD];
};

static inline union element element_of(enum lade_bag_kind kind, uint64_t number)
{
    union element e = {.word = number};

    if (kind == LADE_BAG_REFS) {
        if (lade_ref_count(&objects[number].ref) == 0) {
            lade_ref_init(&objects[number].ref);
            objects[number].number = number;
            objects[number].released = 0;
        }
        e.ref = &objects[number].ref;
    } else if (kind == LADE_BAG_RECORDS) {
        for (size_t i = 0; i < RECORD; i++)
            e.record[i] = (unsigned char)((number >> 8 * (i % 2)) + 7 * i);
    }
    return e;
}

/* The number of an element, which must be whole. abort(): Criterion can end a test from its first thread only. */
static inline uint64_t number_of(enum lade_bag_kind kind, const void *element)
{
    union element e, same;

    memcpy(&e, element, kind == LADE_BAG_RECORDS ? RECORD : sizeof e.word);
    if (kind == LADE_BAG_WORDS)
        return e.word;
    if (kind == LADE_BAG_REFS) {
        if (lade_ref_count(e.ref) == 0)
            abort();
        return ((struct object *)(void *)e.ref)->number;
    }
    uint64_t number = e.record[0] | (uint64_t)(unsigned char)(e.record[1] - 7) << 8;
    same = element_of(kind, number);
    if (memcmp(e.record, same.record, RECORD) != 0)
        abort();
    return number;
}

static inline int put_number(struct lade_bag_handle *h, enum lade_bag_kind kind, uint64_t number)
{
    union element e = element_of(kind, number);

    return lade_bag_put(h, &e);
}

/* Drops a reference at once. */
static inline uint64_t finish_number(enum lade_bag_kind kind, const union element *e)
{
    uint64_t number = number_of(kind, e);

    if (kind == LADE_BAG_REFS)
        (void)lade_ref_put(e->ref, release_object);
    return number;
}

static inline int draw_number(struct lade_bag_handle *h, enum lade_bag_kind kind, uint64_t *number)
{
    union element e = {0};
    int status = lade_bag_draw(h, &e);

    if (status == LADE_OK)
        *number = finish_number(kind, &e);
    return status;
}

static inline struct lade_bag_stats stats_of(const struct lade_bag *bag)
{
    struct lade_bag_stats c = {0};

    lade_bag_stats(bag, &c);
    cr_assert_eq(c.put, c.drawn + c.evicted + c.held);
    return c;
}
