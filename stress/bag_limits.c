/* SPDX-License-Identifier: MIT */
/*
 * The limits of a bag: its capacity is exact while it grows and shrinks under many threads, evict-oldest keeps the
 * latest elements, and the byte budget and the ratio of samples to puts hold with the slack that bag.h states.
 */
#include "bag_elements.h"

#include <pthread.h>

#define ULL(x) ((unsigned long long)(x))

static const uint64_t capacities[] = {1, 2, 3, 63, 64, 65, 1000, 100000};
enum { CAPACITIES = sizeof capacities / sizeof *capacities };

/*
 * All threads put until FULL, then draw until EMPTY: exactly capacity elements each time, while the bag grows and
 * shrinks.
 */
struct filler {
    struct lade_bag *bag;
    enum lade_bag_kind kind;
    bool put;
    uint64_t done;
};

static void *filler_body(void *arg)
{
    struct filler *f = arg;
    struct lade_bag_handle *handle = bag_enter(f->bag);
    union element e;
    int status = LADE_OK;

    for (f->done = 0; status == LADE_OK; f->done += status == LADE_OK) {
        if (f->put)
            element_make(f->kind, &e, f->done + 1);
        status = f->put ? lade_bag_put(handle, &e) : lade_bag_draw(handle, &e);
        if (!f->put && status == LADE_OK)
            (void)element_number(f->kind, &e);
        if (f->put == (status != LADE_OK))
            element_drop(f->kind, &e);
    }
    lade_bag_leave(handle);
    return NULL;
}

static void exact_capacity(void)
{
    enum { THREADS = 4 };

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        unsigned wrong = 0, times = 0;
        elements_begin(NULL);
        for (unsigned c = 0; c < (SLOW > 1 ? CAPACITIES - 1 : CAPACITIES); c++) {
            struct filler filler[THREADS];
            struct lade_bag_config config = elements_config(kind, LADE_BAG_REJECT, capacities[c], THREADS);
            struct lade_bag *bag = bag_make(&config);
            unsigned rounds = capacities[c] > 10000 ? (check_full() ? 40u : 2u) : (check_full() ? 1000u : 60u) / SLOW;
            for (unsigned round = 0; round < 2 * rounds; round++, times++) {
                uint64_t sum = 0;
                for (unsigned i = 0; i < THREADS; i++)
                    filler[i] = (struct filler){bag, kind, round % 2 == 0, 0};
                check_threads(THREADS, filler_body, filler, sizeof *filler);
                for (unsigned i = 0; i < THREADS; i++)
                    sum += filler[i].done;
                wrong += sum != capacities[c];
            }
            lade_bag_destroy(bag);
        }
        check(wrong == 0 && atomic_load(&elements.torn) == 0 &&
                  atomic_load(&elements.made) == atomic_load(&elements.released),
              "lade_bag capacity", "%s: %d capacities filled or drained %u times by %d threads, %u times not exact",
              kind_name[kind], (int)CAPACITIES, times, (int)THREADS, wrong);
    }
}

/*
 * Evict-oldest without draws: when quiescent, the bag holds the elements of the last capacity puts. The number of a put
 * lies between the puts completed at its start and the puts begun at its end.
 */
struct elder {
    struct lade_bag *bag;
    unsigned number;
    uint64_t each;
    uint64_t *from, *to; /* by element number: bounds of the put's number */
    _Atomic uint64_t *begun, *done;
};

static void *elder_body(void *arg)
{
    struct elder *e = arg;
    struct lade_bag_handle *handle = bag_enter(e->bag);

    for (uint64_t i = 0; i < e->each; i++) {
        uint64_t word = e->number * e->each + i + 1;
        e->from[word] = atomic_load(e->done);
        atomic_fetch_add(e->begun, 1);
        if (lade_bag_put(handle, &word) != LADE_OK)
            exit(2);
        e->to[word] = atomic_load(e->begun) - 1;
        atomic_fetch_add(e->done, 1);
    }
    lade_bag_leave(handle);
    return NULL;
}

struct inside {
    uint64_t *word, count;
};

static bool collect(void *context, const void *element)
{
    struct inside *in = context;

    in->word[in->count++] = *(const uint64_t *)element;
    return true;
}

static void oldest_go(void)
{
    enum { THREADS = 4 };
    uint64_t each = (check_full() ? 200000u : 20000u) / SLOW, wrong = 0, unordered = 0, count_wrong = 0;

    for (unsigned c = 0; c < CAPACITIES && capacities[c] <= 1000; c++) {
        struct lade_bag_config config = elements_config(LADE_BAG_WORDS, LADE_BAG_EVICT_OLDEST, capacities[c], THREADS);
        struct elder elder[THREADS];
        uint64_t total = THREADS * each, *from = check_memory(total + 1, sizeof *from);
        uint64_t *to = check_memory(total + 1, sizeof *to);
        bool *is_inside = check_memory(total + 1, sizeof *is_inside);
        struct inside in = {check_memory(capacities[c], sizeof *in.word), 0};
        _Atomic uint64_t begun = 0, done = 0;

        config.drop = NULL;
        struct lade_bag *bag = bag_make(&config);
        for (unsigned i = 0; i < THREADS; i++)
            elder[i] = (struct elder){bag, i, each, from, to, &begun, &done};
        check_threads(THREADS, elder_body, elder, sizeof *elder);
        struct lade_bag_handle *handle = bag_enter(bag);
        uint64_t visited = 0;
        count_wrong += lade_bag_for_each(handle, collect, &in, &visited) != LADE_OK || visited != capacities[c];
        for (uint64_t i = 0; i < in.count; i++) {
            is_inside[in.word[i]] = true;
            wrong += to[in.word[i]] < total - capacities[c];
            unordered += i > 0 && from[in.word[i - 1]] >= to[in.word[i]];
        }
        for (uint64_t w = 1; w <= total; w++)
            wrong += from[w] >= total - capacities[c] && !is_inside[w];
        lade_bag_leave(handle);
        lade_bag_destroy(bag);
        free(from);
        free(to);
        free(is_inside);
        free(in.word);
    }
    check(wrong == 0 && unordered == 0 && count_wrong == 0, "lade_bag evict oldest",
          "capacities up to 1000, %d threads, %llu puts each: at rest %llu elements are not of the last capacity puts, "
          "%llu "
          "visited "
          "out of order, %llu times not full",
          (int)THREADS, ULL(each), ULL(wrong), ULL(unordered), ULL(count_wrong));
}

/* With a budget that is never reached, no put is refused and nothing is evicted. With a tight budget, it holds. */
struct spender {
    struct lade_bag *bag;
    unsigned number;
    uint64_t operations, refused, random;
    uint64_t most;
};

static size_t ten_bytes(void *context, const void *element)
{
    (void)context;
    (void)element;
    return 10;
}

static void *spender_body(void *arg)
{
    struct spender *s = arg;
    struct lade_bag_handle *handle = bag_enter(s->bag);

    for (uint64_t i = 0; i < s->operations; i++) {
        uint64_t word = i + 1;
        s->refused += lade_bag_put(handle, &word) != LADE_OK;
        if (i % 64 == 0) {
            struct lade_bag_stats counts;
            lade_bag_stats(s->bag, &counts);
            s->most = counts.bytes > s->most ? counts.bytes : s->most;
        }
        s->refused += lade_bag_draw(handle, &word) != LADE_OK;
    }
    lade_bag_leave(handle);
    return NULL;
}

static void budget(enum lade_bag_full full)
{
    enum { THREADS = 3, FAR = 1000000 };
    struct spender spender[THREADS];
    struct lade_bag_config config = elements_config(LADE_BAG_WORDS, full, 1000, THREADS);
    struct lade_bag_stats counts;
    uint64_t refused = 0;

    config.drop = NULL;
    config.bytes = ten_bytes;
    config.byte_budget = FAR;
    struct lade_bag *bag = bag_make(&config);
    for (unsigned i = 0; i < THREADS; i++)
        spender[i] =
            (struct spender){.bag = bag, .number = i, .operations = (check_full() ? 2000000u : 200000u) / SLOW};
    check_threads(THREADS, spender_body, spender, sizeof *spender);
    for (unsigned i = 0; i < THREADS; i++)
        refused += spender[i].refused;
    lade_bag_stats(bag, &counts);
    check(refused == 0 && counts.evicted == 0 && counts.bytes == 10 * counts.held, "lade_bag byte budget",
          "%s, %d threads, never near the budget: %llu puts refused, %llu elements evicted, %llu bytes held at rest",
          full_name[full], (int)THREADS, ULL(refused), ULL(counts.evicted), ULL(counts.bytes));
    lade_bag_destroy(bag);
}

/* The budget's slack: one element of each other handle. The same for the ratio. */
static void *pusher_body(void *arg)
{
    struct spender *s = arg;
    struct lade_bag_handle *handle = bag_enter(s->bag);

    for (uint64_t i = 0; i < s->operations; i++) {
        uint64_t word = i + 1;
        struct lade_bag_stats counts;
        s->refused += lade_bag_put(handle, &word) != LADE_OK;
        lade_bag_stats(s->bag, &counts);
        s->most = counts.bytes > s->most ? counts.bytes : s->most;
    }
    lade_bag_leave(handle);
    return NULL;
}

static void budget_holds(void)
{
    enum { THREADS = 3, BUDGET = 505 };
    uint64_t most = 0, refused = 0;

    for (unsigned round = 0; round < (check_full() ? 2000u : 200u) / SLOW; round++) {
        struct spender spender[THREADS];
        struct lade_bag_config config = elements_config(LADE_BAG_WORDS, LADE_BAG_REJECT, 1000, THREADS);
        config.drop = NULL;
        config.bytes = ten_bytes;
        config.byte_budget = BUDGET;
        struct lade_bag *bag = bag_make(&config);
        for (unsigned i = 0; i < THREADS; i++)
            spender[i] = (struct spender){.bag = bag, .operations = 60};
        check_threads(THREADS, pusher_body, spender, sizeof *spender);
        for (unsigned i = 0; i < THREADS; i++) {
            most = spender[i].most > most ? spender[i].most : most;
            refused += spender[i].refused;
        }
        lade_bag_destroy(bag);
    }
    check(most <= BUDGET + 10 * (THREADS - 1) && most >= BUDGET - 10 && refused > 0, "lade_bag byte budget",
          "%d threads put 10 bytes each until it is full at %d: %llu bytes at most", (int)THREADS, (int)BUDGET,
          ULL(most));
}

struct sampler {
    struct lade_bag *bag;
    bool puts;
    uint64_t operations, limited;
};

static void *sampler_body(void *arg)
{
    struct sampler *s = arg;
    struct lade_bag_handle *handle = bag_enter(s->bag);

    for (uint64_t i = 0; i < s->operations; i++) {
        uint64_t word = i + 1;
        struct lade_loan loan;
        int status = s->puts ? lade_bag_put(handle, &word) : lade_bag_sample(handle, &loan);
        if (!s->puts && status == LADE_OK)
            lade_bag_give_back(handle, &loan);
        s->limited += status == LADE_LIMITED;
    }
    lade_bag_leave(handle);
    return NULL;
}

static void ratio_holds(void)
{
    enum { THREADS = 4 };
    unsigned rounds = (check_full() ? 1000u : 100u) / SLOW;
    double worst = 0;
    uint64_t limited = 0;

    for (unsigned round = 0; round < rounds; round++) {
        struct sampler sampler[THREADS];
        struct lade_bag_config config = elements_config(LADE_BAG_WORDS, LADE_BAG_EVICT_UNIFORM, 100, THREADS);
        struct lade_bag_stats counts;
        config.samples_per_insert = 2;
        config.ratio_slack = 5;
        struct lade_bag *bag = bag_make(&config);
        for (unsigned i = 0; i < THREADS; i++)
            sampler[i] = (struct sampler){.bag = bag, .puts = i % 2, .operations = 1000};
        check_threads(THREADS, sampler_body, sampler, sizeof *sampler);
        lade_bag_stats(bag, &counts);
        double ahead = (double)counts.sampled - 2 * (double)counts.put;
        worst = ahead > worst ? ahead : -ahead > worst ? -ahead : worst;
        for (unsigned i = 0; i < THREADS; i++)
            limited += sampler[i].limited;
        lade_bag_destroy(bag);
    }
    /* Each other handle in the middle of an operation may add one element: two samples' worth if it is a put. */
    check(worst <= 5 + 2 * (THREADS - 1) && limited > 0, "lade_bag ratio",
          "2 samples for each put, slack 5, %u times %d threads: %.0f apart at most at rest, LIMITED %llu times",
          rounds, (int)THREADS, worst, ULL(limited));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 1800 : 300, "lade_bag");
    exact_capacity();
    oldest_go();
    budget(LADE_BAG_REJECT);
    budget(LADE_BAG_EVICT_UNIFORM);
    budget_holds();
    ratio_holds();
    check_within(0, NULL);
    return check_end();
}
