/* SPDX-License-Identifier: MIT */
/* Creation and destruction of a split. */
#include "split.h"

#include "fail.h"
#include "seed.h"
#include "sized.h"

#define THREADS_DEFAULT 8
#define PURPOSE UINT64_C(0x74696c7073) /* of keys derived from the seed */

/* Returns what is wrong with the fields for the store; NULL: nothing. */
static const char *store_problem(const struct lade_split_config *c)
{
    bool words = c->store == LADE_SPLIT_COMPACT || c->store == LADE_SPLIT_ARRAYS;

    if (words && (c->parts != 2 || c->rule != LADE_SPLIT_COIN))
        return "the stores compact and arrays need exactly two parts and rule coin";
    if (!words && (c->bits_per_item != 0 || c->uncorrected))
        return "bits_per_item and uncorrected apply only to the stores compact and arrays";
    if (c->store == LADE_SPLIT_PURE && (c->rule != LADE_SPLIT_HASH || c->capacity != 0))
        return "store pure needs rule hash and no capacity";
    if (c->store != LADE_SPLIT_EXACT && (c->content != LADE_SPLIT_FOLLOW || c->conflict != LADE_SPLIT_REFUSE))
        return "policies for contents and conflicts apply only to store exact";
    return NULL;
}

static const char *quota_problem(const struct lade_split_config *c)
{
    if (c->rule != LADE_SPLIT_QUOTA)
        return c->classes == 0 && !c->quota && c->threads == 0 ? NULL
                                                               : "classes, quota and threads apply only to rule quota";
    if (c->store != LADE_SPLIT_EXACT || !c->quota)
        return "rule quota needs store exact and a quota";
    if (c->classes == 0 || c->classes > LADE_SPLIT_CLASSES_MAX || c->threads > LADE_SPLIT_THREADS_MAX)
        return "rule quota needs 1 to 65536 classes and at most 1024 threads";
    return NULL;
}

static const char *config_problem(const struct lade_split_config *c)
{
    if (c->parts == 0 || c->parts > LADE_SPLIT_PARTS_MAX)
        return "parts must be 1 to 255";
    if ((unsigned)c->rule > LADE_SPLIT_QUOTA || (unsigned)c->store > LADE_SPLIT_ARRAYS ||
        (unsigned)c->content > LADE_SPLIT_REJECT || (unsigned)c->conflict > LADE_SPLIT_CONTENT_WINS)
        return "unknown rule, store, or policy for contents or conflicts";
    const char *problem = store_problem(c);
    return problem ? problem : quota_problem(c);
}

static int put_tokens(struct lade_bag *bag, const uint64_t *left, unsigned parts)
{
    struct lade_bag_handle *h = NULL;
    int status = lade_bag_join(bag, &h);

    for (unsigned part = 0; part < parts && status == LADE_OK; part++)
        for (uint64_t i = 0; i < left[part] && status == LADE_OK; i++)
            status = lade_bag_put(h, &(uint64_t){part + 1});
    lade_bag_leave(h);
    return status;
}

static int make_class(struct lade_split *s, unsigned number, const uint64_t *left)
{
    struct lade_split_class *c = &s->class_of[number];
    uint64_t tokens = 0;

    for (unsigned part = 0; part < s->config.parts; part++) {
        if (left[part] > LADE_BAG_MAX || left[part] > s->quota[(size_t)number * s->config.parts + part])
            return LADE_INVALID;
        tokens += left[part];
    }
    atomic_init(&c->left, tokens);
    if (tokens == 0)
        return LADE_OK;
    struct lade_bag_config config = {.capacity = tokens,
                                     .handles = s->config.threads,
                                     .seed = lade_random_at(lade_key_make(s->config.seed, 0, PURPOSE), number, 0),
                                     .alloc = s->config.alloc};
    int status = lade_bag_create(&c->tokens, &config);
    return status == LADE_OK ? put_tokens(c->tokens, left, s->config.parts) : status;
}

static int make_quota(struct lade_split *s, const uint64_t *left)
{
    const size_t size = (size_t)s->config.classes * s->config.parts;
    int status = LADE_OK;

    if (s->config.threads == 0)
        s->config.threads = THREADS_DEFAULT;
    s->class_of = lade_array_get(s->config.alloc, s->config.classes, sizeof *s->class_of);
    s->quota = lade_array_get(s->config.alloc, size, sizeof *s->quota);
    for (unsigned i = 0; s->class_of && i < s->config.classes; i++)
        s->class_of[i].tokens = NULL;
    if (!s->class_of || !s->quota)
        return LADE_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        s->quota[i] = s->config.quota[i];
    s->config.quota = s->quota;
    for (unsigned i = 0; i < s->config.classes && status == LADE_OK; i++)
        status = make_class(s, i, left + (size_t)i * s->config.parts);
    return status;
}

static int make_store(struct lade_split *s, const uint64_t *left)
{
    const struct lade_table_config table = {.reserve = s->config.capacity};
    int status = LADE_OK;

    s->weights = 0;
    for (unsigned i = 0; i < s->config.parts; i++) {
        s->weight[i] = s->config.weights ? s->config.weights[i] : 1;
        s->weights += s->weight[i];
    }
    s->config.weights = s->weight;
    if (s->weights == 0)
        return LADE_INVALID;
    for (uint64_t i = 0; i < 4; i++)
        for (uint64_t j = 0; j < 2; j++)
            s->sip[i].key[j] = lade_random_at(lade_key_make(s->config.seed, 1, PURPOSE), i, j);
    if (s->config.rule == LADE_SPLIT_HASH) {
        s->logs = lade_array_get(s->config.alloc, 1, sizeof *s->logs);
        if (!s->logs)
            return LADE_NO_MEMORY;
        lade_split_make_logs(s->logs);
    }
    if (s->config.store == LADE_SPLIT_EXACT)
        status = lade_table_create(&s->table, &table);
    else if (s->config.store != LADE_SPLIT_PURE)
        status = lade_split_make_words(s);
    if (status == LADE_OK && s->config.rule == LADE_SPLIT_QUOTA)
        status = make_quota(s, left);
    return status;
}

int lade_split_make(struct lade_split **split, const struct lade_split_config *config, const uint64_t *left)
{
    const struct lade_alloc *a = config->alloc ? config->alloc : &lade_default;

    if (config_problem(config))
        return LADE_INVALID;
    uint64_t seed = config->seed;
    if (config->random_seed && !lade_seed_draw(&seed))
        return LADE_IO;
    struct lade_split *s = lade_array_get(a, 1, sizeof *s);
    if (!s)
        return LADE_NO_MEMORY;
    s->config = *config;
    s->config.alloc = a;
    s->config.seed = seed;
    s->config.random_seed = false; /* a split created from this config is the same one */
    s->logs = NULL;
    s->table = NULL;
    s->word = NULL;
    s->words = 0;
    s->class_of = NULL;
    s->quota = NULL;
    atomic_init(&s->conflicts, 0);
    atomic_init(&s->dropped, 0);
    int status = make_store(s, left);
    if (status == LADE_OK)
        *split = s;
    else
        lade_split_destroy(s);
    return status;
}

static int explain_create(struct lade_error *error, int status, const struct lade_split_config *config)
{
    const char *reason = config_problem(config);

    if (status == LADE_NO_MEMORY)
        reason = "out of memory";
    else if (status == LADE_IO)
        reason = "the system returned no random bytes for the seed";
    else if (!reason)
        reason = "all weights are zero, a capacity is missing or too large, or a class has more than 2^30 items";
    return lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", reason);
}

int lade_split_create_sized(struct lade_split **split, const struct lade_split_config *config, size_t size,
                            struct lade_error *error)
{
    struct lade_split_config copy;

    if (!split || !config)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "split or config is NULL");
    config = lade_sized_in(config, size, &copy, sizeof copy);
    if (!config)
        return lade_fail_unknown(error);
    int status = lade_split_make(split, config, config->quota);
    if (status != LADE_OK)
        return explain_create(error, status, config);

    for (uint64_t i = 0; status == LADE_OK && i < (*split)->words; i++)
        atomic_init(&(*split)->word[i], 0);
    return status;
}

void lade_split_destroy(struct lade_split *s)
{
    if (!s)
        return;
    const struct lade_alloc *a = s->config.alloc;
    for (unsigned i = 0; s->class_of && i < s->config.classes; i++)
        lade_bag_destroy(s->class_of[i].tokens);
    lade_array_put(a, s->quota, (uint64_t)s->config.classes * s->config.parts, sizeof *s->quota);
    lade_array_put(a, s->class_of, s->config.classes, sizeof *s->class_of);
    lade_array_put(a, s->word, s->words, sizeof *s->word);
    lade_table_destroy(s->table);
    lade_array_put(a, s->logs, 1, sizeof *s->logs);
    lade_array_put(a, s, 1, sizeof *s);
}
