/* SPDX-License-Identifier: MIT */
/* Splits and items for tests. */
#include <lade/split.h>

#include <criterion/criterion.h>
#include <string.h>
#include <urcu/urcu-memb.h>

#define NONE LADE_SPLIT_NO_PART

/* A configuration that is valid except for one field is rejected; the variables are those of the caller. */
#define BAD(FIELD, VALUE) (bad = good, bad.FIELD = (VALUE), lade_split_create(&s, &bad, NULL) == LADE_INVALID)

static inline void begin(void)
{
    urcu_memb_register_thread();
}

static inline void end(void)
{
    urcu_memb_unregister_thread();
}

static inline struct lade_split *make(struct lade_split_config config)
{
    struct lade_split *s = NULL;

    cr_assert_eq(lade_split_create(&s, &config, NULL), LADE_OK);
    cr_assert_not_null(s);
    return s;
}

static inline struct lade_split_item item(const char *key, const char *group, const char *content)
{
    return (struct lade_split_item){key,     key ? strlen(key) : 0,         group, group ? strlen(group) : 0,
                                    content, content ? strlen(content) : 0, 0};
}

/* The part of an item that has one. */
static inline unsigned part_of(struct lade_split *s, const char *key, const char *group, const char *content)
{
    struct lade_split_item i = item(key, group, content);
    unsigned part = NONE;

    cr_assert_eq(lade_split_route(s, &i, &part), LADE_OK);
    return part;
}

static inline int route(struct lade_split *s, const char *key, const char *group, const char *content)
{
    struct lade_split_item i = item(key, group, content);
    unsigned part = 0;
    int status = lade_split_route(s, &i, &part);

    cr_assert((status == LADE_OK) == (part != NONE));
    return status;
}

static inline int pin(struct lade_split *s, const char *key, const char *group, const char *content, unsigned part)
{
    struct lade_split_item i = item(key, group, content);

    return lade_split_pin(s, &i, part);
}

static inline unsigned part_of_word(struct lade_split *s, uint64_t key)
{
    unsigned part = NONE;

    cr_assert_eq(lade_split_route_word(s, key, &part), LADE_OK);
    return part;
}

static inline struct lade_split_stats stats_of(struct lade_split *s)
{
    struct lade_split_stats stats;

    cr_assert_eq(lade_split_stats(s, &stats, NULL), LADE_OK);
    return stats;
}
