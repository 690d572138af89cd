/* SPDX-License-Identifier: MIT */
/*
 * The counts of each part of a split against the distribution that the header states. Assumptions, false alarms and
 * power of each test: chi.h. Splits with a known fault must fail the same test.
 */
#include "check.h"
#include "chi.h"

#include <lade/random.h>
#include <lade/split.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

enum { CLASSES = 10, PARTS_MOST = 8 };

static void need(int status)
{
    if (status != LADE_OK) {
        fprintf(stderr, "a split returned: %s\n", lade_status_text(status));
        exit(2);
    }
}

static struct lade_split *make(struct lade_split_config config)
{
    struct lade_split *s = NULL;

    need(lade_split_create(&s, &config, NULL));
    return s;
}

/* Ways to find the part of a key. The faulty ones also use the class. */
struct way {
    const char *name;
    unsigned (*part)(const struct way *way, uint64_t key, unsigned class_number);
    struct lade_split *split;
};

static unsigned by_split(const struct way *way, uint64_t key, unsigned class_number)
{
    unsigned part;

    (void)class_number;
    need(lade_split_route_word(way->split, key, &part));
    return part;
}

static unsigned by_text(const struct way *way, uint64_t key, unsigned class_number)
{
    char name[64];
    unsigned part;
    int size = snprintf(name, sizeof name, "images/%u/%08llu.png", class_number, (unsigned long long)key);
    struct lade_split_item item = {.key = name, .key_size = (size_t)size};

    need(lade_split_route(way->split, &item, &part));
    return part;
}

/* 8 to 2, with a byte of the key's hash modulo 10: 256 is no multiple of that. */
static unsigned by_modulo(const struct way *way, uint64_t key, unsigned class_number)
{
    (void)way;
    (void)class_number;
    return (lade_random_at(lade_key_make(check_seed(), 0, 1), key, 0) & 255) % 10 >= 8;
}

/* A hash that sees the class: one class in ten has 1 % more in its second part. */
static unsigned by_class(const struct way *way, uint64_t key, unsigned class_number)
{
    uint64_t word = lade_random_at(lade_key_make(check_seed(), 0, 2), key, 0);

    (void)way;
    return (double)(word >> 11) * 0x1p-53 < (class_number == 7 ? 0.21 : 0.2);
}

/* Round-robin: the sizes are right, but more exact than chance. */
static unsigned in_turn(const struct way *way, uint64_t key, unsigned class_number)
{
    (void)way;
    (void)class_number;
    return key / (CLASSES * (CLASSES + 1) / 2) % 5 == 4;
}

/* Sizes of classes differ: class c has c + 1 shares. */
static unsigned class_of(uint64_t key)
{
    unsigned share = (unsigned)(key % (CLASSES * (CLASSES + 1) / 2)), c = 0;

    while (share > c)
        share -= ++c;
    return c;
}

/*
 * Null: for each class the counts of its parts are multinomial with the weights. The statistics of the classes are added:
 * classes * (parts - 1) degrees of freedom.
 */
static struct chi_result per_class(const struct way *way, const uint32_t *weight, unsigned parts, uint64_t keys)
{
    uint64_t count[CLASSES][PARTS_MOST] = {{0}};
    double statistic = 0, sum = 0, least = HUGE_VAL;

    for (uint64_t key = 0; key < keys; key++) {
        unsigned c = class_of(key), part = way->part(way, key, c);
        count[c][part]++;
    }
    for (unsigned p = 0; p < parts; p++)
        sum += weight[p];
    for (unsigned c = 0; c < CLASSES; c++) {
        uint64_t all = 0;
        for (unsigned p = 0; p < parts; p++)
            all += count[c][p];
        for (unsigned p = 0; p < parts; p++) {
            double expected = (double)all * weight[p] / sum, off = (double)count[c][p] - expected;
            statistic += off * off / expected;
            least = expected < least ? expected : least;
        }
    }
    struct chi_result r = chi_judge(statistic, (double)CLASSES * (parts - 1), keys);
    r.least = least;
    return r;
}

/* Null: of a row of n keys the number in part 0 is Binomial(n, alpha). Rare numbers share a cell. */
static struct chi_result binomial(const struct way *way, double alpha, uint64_t rows)
{
    enum { N = 40 };
    uint64_t count[N + 1] = {0}, cell[N + 1] = {0};
    double weight[N + 1] = {0};
    size_t cells = 0;

    for (uint64_t row = 0; row < rows; row++) {
        unsigned first = 0;
        for (uint64_t i = 0; i < N; i++)
            first += way->part(way, row * N + i, 0) == 0;
        count[first]++;
    }
    for (unsigned i = 0; i <= N; i++) {
        double p =
            exp(lgamma(N + 1) - lgamma(i + 1.0) - lgamma(N - i + 1.0) + i * log(alpha) + (N - i) * log(1 - alpha));
        cell[cells] += count[i];
        weight[cells] += p;
        if (weight[cells] * (double)rows >= 2 * CHI_LEAST)
            cells++;
    }
    if (cells <= N && weight[cells] > 0) { /* what is left over joins the last one */
        cell[cells - 1] += cell[cells];
        weight[cells - 1] += weight[cells];
    }
    return chi_test(cell, weight, cells);
}

/* Null: the parts of two neighbours are independent: products of the weights in a square of cells. */
static struct chi_result pairs(const struct way *a, const struct way *b, unsigned step, const uint32_t *weight,
                               unsigned parts, uint64_t keys)
{
    uint64_t count[PARTS_MOST * PARTS_MOST] = {0};
    double product[PARTS_MOST * PARTS_MOST];

    for (uint64_t i = 0; i < keys; i++) {
        uint64_t key = 2 * i;
        count[a->part(a, key, 0) * parts + b->part(b, key + step, 0)]++;
    }
    for (unsigned i = 0; i < parts * parts; i++)
        product[i] = (double)weight[i / parts] * weight[i % parts];
    return chi_test(count, product, (size_t)parts * parts);
}

static struct lade_split *of_rule(enum lade_split_rule rule, const uint32_t *weight, unsigned parts, uint64_t seed)
{
    return make((struct lade_split_config){.parts = parts,
                                           .weights = weight,
                                           .rule = rule,
                                           .store = rule == LADE_SPLIT_HASH ? LADE_SPLIT_PURE : LADE_SPLIT_EXACT,
                                           .seed = seed});
}

static void rules(void)
{
    static const uint32_t two[] = {8, 2}, five[] = {1, 30, 7, 60, 2}, large[] = {4000000000, 1000000000, 3};
    static const char *const rule[] = {"hash", "coin"};
    /* 1 % more in the smaller of two parts is found, also when only one class has it */
    const uint64_t keys = chi_draws(CLASSES, 0.2, 0.01, CHI_POWER) * (check_full() ? 10 : 1);

    for (int i = 0; i < 2; i++) {
        struct way way = {rule[i], by_split, of_rule((enum lade_split_rule)i, two, 2, check_seed())};
        chi_expect(per_class(&way, two, 2, keys), way.name, "8 : 2, ten classes");
        chi_expect(binomial(&way, 0.8, keys / 40), way.name, "8 : 2, forty at a time");
        struct way next = {rule[i], by_split, of_rule((enum lade_split_rule)i, two, 2, check_seed() + 1)};
        chi_expect(pairs(&way, &way, 1, two, 2, keys / 2), way.name, "neighbouring keys");
        chi_expect(pairs(&way, &next, 0, two, 2, keys / 2), way.name, "neighbouring seeds");
        lade_split_destroy(next.split);
        lade_split_destroy(way.split);
        way.split = of_rule((enum lade_split_rule)i, five, 5, check_seed());
        chi_expect(per_class(&way, five, 5, keys / 4), way.name, "1 : 30 : 7 : 60 : 2, ten classes");
        chi_expect(pairs(&way, &way, 1, five, 5, keys / 4), way.name, "1 : 30 : 7 : 60 : 2, neighbouring keys");
        lade_split_destroy(way.split);
        way = (struct way){rule[i], by_text, of_rule((enum lade_split_rule)i, two, 2, check_seed() + 2)};
        chi_expect(per_class(&way, two, 2, keys / 8), way.name, "keys are names of files");
        lade_split_destroy(way.split);
    }
    struct way way = {"hash", by_split, of_rule(LADE_SPLIT_HASH, large, 2, check_seed())};
    chi_expect(per_class(&way, large, 2, keys / 4), way.name, "weights near 2^32");
    lade_split_destroy(way.split);

    struct way fault[] = {{"modulo", by_modulo, NULL}, {"class", by_class, NULL}, {"in turn", in_turn, NULL}};
    chi_expect_failure(per_class(&fault[0], two, 2, keys), "modulo bias", "a byte modulo 10");
    chi_expect_failure(per_class(&fault[1], two, 2, keys), "class-dependent hash",
                       "one class has 0.21 in place of 0.2");
    chi_expect_failure(per_class(&fault[2], two, 2, keys), "in turn", "too even");
    chi_expect_failure(binomial(&fault[2], 0.8, keys / 40), "in turn", "too even, forty at a time");
}

/*
 * Null: each item goes to part 0 with probability alpha whatever came before, although many are taken for others: the
 * correction compensates for that. At the end one of 22 (compact) or 3 (arrays) new items is taken for another one.
 */
static struct chi_result filled(enum lade_split_store store, bool uncorrected, uint64_t items)
{
    static const uint32_t weight[] = {3, 2};
    struct way way = {
        "", by_split,
        make((struct lade_split_config){.parts = 2,
                                        .weights = weight,
                                        .rule = LADE_SPLIT_COIN,
                                        .store = store,
                                        /* more than it is made for: to 0.93 of the entries */
                                        .capacity = store == LADE_SPLIT_COMPACT ? items - items / 12 : items,
                                        .bits_per_item = store == LADE_SPLIT_ARRAYS ? 4 : 0,
                                        .uncorrected = uncorrected,
                                        .seed = check_seed()})};
    struct lade_split_stats stats;
    struct chi_result r = per_class(&way, weight, 2, items);

    need(lade_split_stats(way.split, &stats, NULL));
    check(stats.collision > 0.03, store == LADE_SPLIT_COMPACT ? "compact" : "arrays",
          "%.1f%% of new items are taken for others, %.2f bits an item, %.2f%% of all were", 100 * stats.collision,
          (double)stats.bytes * 8 / (double)items, 100 * (1 - (double)stats.entries / (double)items));
    lade_split_destroy(way.split);
    return r;
}

static void compact(void)
{
    const uint64_t items = check_full() ? 20000000 : 2000000;

    chi_expect(filled(LADE_SPLIT_COMPACT, false, items), "compact", "3 : 2, ten classes, overfull");
    chi_expect(filled(LADE_SPLIT_ARRAYS, false, items), "arrays", "3 : 2, ten classes, 4 bits an item");
    chi_expect_failure(filled(LADE_SPLIT_ARRAYS, true, items), "the paper's arrays",
                       "3 : 2, 4 bits an item, uncorrected");
}

/* Part and fold of an item are independent. */
static void folds(void)
{
    enum { FOLDS = 5, ITEMS = 1000000 };
    static const uint32_t weight[] = {1, 2, 3};
    uint64_t count[3 * FOLDS] = {0};
    double product[3 * FOLDS];
    struct lade_split *s = of_rule(LADE_SPLIT_HASH, weight, 3, check_seed());

    for (uint64_t key = 0; key < ITEMS; key++) {
        struct lade_split_item item = {.key = &key, .key_size = sizeof key};
        unsigned part, fold;
        need(lade_split_route(s, &item, &part));
        need(lade_split_fold(s, &item, FOLDS, &fold));
        count[part * FOLDS + fold]++;
    }
    for (unsigned i = 0; i < 3 * FOLDS; i++)
        product[i] = weight[i / FOLDS];
    chi_expect(chi_test(count, product, 3 * FOLDS), "folds", "five folds in three parts");
    lade_split_destroy(s);
}

/* Threads that route the same keys, or shares of them, each in a different order. */
struct worker {
    struct lade_split *split;
    uint64_t keys, number, workers, seed;
    uint8_t *part; /* NULL: another thread records it */
    unsigned classes;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct lade_permutation order;

    urcu_memb_register_thread();
    need(lade_permutation_init(&order, lade_key_make(w->seed, w->number, 3), w->keys));
    for (uint64_t i = 0; i < w->keys; i++) {
        uint64_t key = lade_permutation_at(&order, i);
        struct lade_split_item item = {
            .key = &key, .key_size = sizeof key, .class_number = w->classes ? (unsigned)(key % w->classes) : 0};
        unsigned part;
        int status;
        do
            status = lade_split_route(w->split, &item, &part);
        while (status == LADE_LIMITED);
        need(status);
        if (w->part && key % w->workers == w->number)
            w->part[key] = (uint8_t)part;
    }
    urcu_memb_unregister_thread();
    return NULL;
}

static void route_all(struct lade_split *s, uint64_t keys, unsigned workers, unsigned classes, uint8_t *part)
{
    struct worker w[8];

    for (unsigned i = 0; i < workers; i++)
        w[i] = (struct worker){s, keys, i, workers, check_seed() + workers, part, classes};
    check_threads(workers, work, w, sizeof *w);
}

/*
 * hash and coin: the parts are the same, whichever thread is first, with any number of threads, whether or not the
 * table grows.
 */
static void orders(void)
{
    enum { KEYS = 100000 };
    static const uint32_t weight[] = {5, 3, 2};
    static const char *const rule[] = {"hash", "coin"};
    uint8_t *first = check_memory(KEYS, 1), *other = check_memory(KEYS, 1);

    for (int i = 0; i < 2; i++) {
        unsigned same = 0;
        for (unsigned run = 0; run < 4; run++) {
            static const unsigned workers[] = {1, 1, 2, 6};
            struct lade_split *s = make((struct lade_split_config){.parts = 3,
                                                                   .weights = weight,
                                                                   .rule = (enum lade_split_rule)i,
                                                                   .seed = check_seed(),
                                                                   .capacity = run == 1 ? KEYS : 0});
            route_all(s, KEYS, workers[run], 0, run ? other : first);
            same += run > 0 && memcmp(first, other, KEYS) == 0;
            lade_split_destroy(s);
        }
        check(same == 3, rule[i], "the same %d parts with and without growth, in other orders, by 1, 2 and 6 threads",
              (int)KEYS);
    }
    free(first);
    free(other);
}

/*
 * quota: exact for each class, from one or several threads; and each item of a class is as likely as another to be among those
 * of part 0. Null for the latter: part 0 is a uniform subset of the 16 items. The counts of the items then have variance
 * a (1 - a) and correlation -1/15 a class: the sum of squares, scaled by 15/16, has 15 degrees of freedom.
 */
static struct chi_result positions(const uint8_t *part, unsigned classes)
{
    enum { N = 16 };
    const double alpha = 0.75;
    double statistic = 0;

    for (unsigned i = 0; i < N; i++) {
        double count = 0;
        for (unsigned c = 0; c < classes; c++)
            count += part[(size_t)i * classes + c] == 0;
        double off = count - alpha * classes;
        statistic += off * off / (classes * alpha * (1 - alpha));
    }
    return chi_judge(statistic * (N - 1) / N, N - 1, (uint64_t)classes * N);
}

static void quota(void)
{
    enum { OF_CLASS = 16, QUOTAS = 20000, KEYS = OF_CLASS * QUOTAS };
    uint64_t *want = check_memory(QUOTAS * 2, sizeof *want);
    uint8_t *part = check_memory(KEYS, 1);
    static const unsigned workers[] = {1, 4};

    for (unsigned c = 0; c < QUOTAS; c++) {
        want[2 * c] = 12;
        want[2 * c + 1] = 4;
    }
    for (int run = 0; run < 2; run++) {
        unsigned wrong = 0;
        struct lade_split *s = make((struct lade_split_config){.parts = 2,
                                                               .rule = LADE_SPLIT_QUOTA,
                                                               .classes = QUOTAS,
                                                               .quota = want,
                                                               .threads = workers[run],
                                                               .seed = check_seed() + (uint64_t)run});
        route_all(s, KEYS, workers[run], QUOTAS, part);
        for (unsigned c = 0; c < QUOTAS; c++) {
            unsigned count = 0;
            for (unsigned i = 0; i < OF_CLASS; i++)
                count += part[(size_t)i * QUOTAS + c] == 0;
            wrong += count != 12;
        }
        check(wrong == 0, "quota", "%u of %d classes differ from their quota, %u threads", wrong, (int)QUOTAS,
              workers[run]);
        chi_expect(positions(part, QUOTAS), "quota",
                   workers[run] == 1 ? "each item is as likely, one thread" : "each item is as likely, four threads");
        lade_split_destroy(s);
    }
    for (size_t i = 0; i < KEYS; i++)
        part[i] = i / QUOTAS >= 12;
    chi_expect_failure(positions(part, QUOTAS), "quota", "dealt out: the last four of each class");
    free(want);
    free(part);
}

/* What an item takes: the promises of the project. */
static void sizes(void)
{
    enum { N = 1000000, STEPS = 20 };
    struct lade_split_config config = {.parts = 2, .rule = LADE_SPLIT_COIN, .seed = check_seed()};
    struct lade_split *s = make(config);
    struct lade_split_stats stats;
    struct way way = {"", by_split, s};
    char path[] = "/tmp/lade-split-XXXXXX";
    struct stat saved;
    double mean = 0;
    int file = mkstemp(path);

    if (file >= 0)
        (void)close(file);
    for (uint64_t key = 0, step = 0; step <= STEPS; step++) {
        for (; key < N + N / STEPS * step; key++)
            (void)by_split(&way, key, 0);
        need(lade_split_stats(s, &stats, NULL));
        mean += (double)stats.bytes / (double)key / (STEPS + 1);
    }
    check(mean <= 40, "exact", "%.1f bytes an item on the average of 10^6 to 2 * 10^6, at most 40", mean);
    need(lade_split_save(s, path, NULL));
    lade_split_destroy(s);
    double size = stat(path, &saved) == 0 ? (double)saved.st_size / (2 * N) : HUGE_VAL;
    check(size <= 20, "file", "%.2f bytes an item, at most 20", size);
    (void)unlink(path);

    config.store = LADE_SPLIT_COMPACT;
    config.capacity = N;
    way.split = make(config);
    for (uint64_t key = 0; key < N; key++)
        (void)by_split(&way, key, 0);
    need(lade_split_stats(way.split, &stats, NULL));
    double bits = 8 * (double)stats.bytes / N;
    check(
        bits <= 13 && stats.misassigned <= 0.015, "compact",
        "%.2f bits an item, at most 13; %.2f%% were taken for others; the next one goes to the wrong part with %.2f%%, "
        "at most 1.5%%",
        bits, 100 * (1 - (double)stats.entries / N), 100 * stats.misassigned);
    lade_split_destroy(way.split);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    urcu_memb_register_thread();
    rules();
    compact();
    folds();
    orders();
    quota();
    sizes();
    chi_budget();
    urcu_memb_unregister_thread();
    return check_end();
}
