/* SPDX-License-Identifier: MIT */
/*
 * Every operation of the table concurrently, on 2 to 8 threads that know the expected results (table_model.h), while it
 * grows, shrinks and is cleaned; words and byte strings. In the end the content matches the model, and all memory is
 * freed.
 */
#include "table_model.h"

/* Old arrays are freed once liburcu has seen all readers; then only the array in use is left. */
static void settle_memory(struct account *sum)
{
    struct lade_table_stats stats;

    lade_reclaim_barrier();
    if (has_strings())
        lade_reclaim_barrier(); /* arrays with records wait twice */
    lade_table_stats(scene.table, &stats);
    account_wrong(sum, stats.arrays_waiting != 0, "old arrays are not freed");
    account_wrong(sum, stats.bytes > 16 * stats.cells + stats.cells / 4 + 4096, "the count of bytes");
    account_wrong(sum, lade_table_trim(scene.table) != LADE_OK, "the last trim");
    lade_table_destroy(scene.table);
    account_wrong(sum, scene.config.alloc && atomic_load(&memory.held) != 0, "memory is not given back");
}

static void play(struct lade_table_config config, unsigned threads, uint64_t operations, uint64_t keys,
                 enum sabotage sabotage, struct account *sum)
{
    static struct actor actor[ACTORS_MOST];

    memory_begin(0, 0);
    scene.sabotage = sabotage;
    scene.sabotaged = false;
    (void)model_run(&config, threads, operations, keys, actor);
    model_settle(actor, sum);
    if (goes_wrong(LEAK, 200))
        atomic_fetch_add(&memory.held, 1);
    settle_memory(sum);
    actors_end(actor);
}

#ifdef WITH_PAUSES /* arrays are small */
static const uint64_t sizes[] = {2, 20, 150, 1000};
#else
static const uint64_t sizes[] = {3, 60, 1000, 30000};
#endif
enum { SIZES = sizeof sizes / sizeof *sizes };

static void all_mixes(void)
{
    static const char *const kind_name[] = {"words", "byte strings"};
    uint64_t operations = (check_full() ? 6500000u : 1000000u) / SLOW, all = 0;
    unsigned turn = 0;

    for (unsigned kind = 0; kind <= LADE_TABLE_BYTES; kind++) {
        struct account sum = {0};
        for (unsigned s = 0; s < SIZES; s++)
            for (unsigned way = 0; way < 2; way++, turn++) {
                struct lade_table_config config = {.kind = (enum lade_table_kind)kind, .seeded = true};
                config.seed = check_seed() + turn;
                config.hash = way ? &model_hash : NULL;
                config.alloc = way != kind ? &memory_alloc : NULL;
                play(config, 2 + turn * 3 % (ACTORS_MOST - 1), operations, sizes[s], NO_SABOTAGE, &sum);
            }
        check(sum.wrong == 0, kind_name[kind],
              "2 to 8 threads, %llu operations, %llu visits, %llu races, %llu keys in the end: %llu wrong%s%s",
              ULL(sum.operations), ULL(sum.visits), ULL(sum.races), ULL(sum.keys), ULL(sum.wrong),
              sum.wrong ? ", first: " : "", sum.wrong ? sum.first_wrong : "");
        /* Few operations, as under a sanitizer, may not cover everything. */
        check(sum.grown > 0 && (sum.operations < 900000 || (sum.shrunk > 0 && sum.limited > 0)), kind_name[kind],
              "cover: seen larger %llu times, smaller %llu, cleaned %llu; trim put off %llu times", ULL(sum.grown),
              ULL(sum.shrunk), ULL(sum.cleaned), ULL(sum.limited));
        all += sum.operations;
    }
    printf("%llu operations in all\n", ULL(all));
}

static void sabotaged(void)
{
    static const char *const what[] = {"nothing",
                                       "a lost key",
                                       "a key that comes back",
                                       "a value from before",
                                       "a shared value that is lost",
                                       "a key visited twice",
                                       "two winners of a race",
                                       "memory that is kept"};

    for (unsigned s = NO_SABOTAGE; s < SABOTAGES; s++) {
        struct account sum = {0};
        struct lade_table_config config = {.seeded = true, .alloc = &memory_alloc};
        /* Two threads only where one alone never loses a race. */
        play(config, s == TWO_WINNERS ? 2 : 1, 10000, 100, (enum sabotage)s, &sum);
        bool noticed = sum.wrong > 0;
        check(noticed == (s != NO_SABOTAGE), "model", "negative: %s is %s%s%s", what[s],
              noticed ? "noticed" : "accepted", noticed ? ": " : "", noticed ? sum.first_wrong : "");
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 1800 : 300, "lade_table");
    urcu_memb_register_thread();
    sabotaged();
    all_mixes();
    urcu_memb_unregister_thread();
    check_within(0, NULL);
    return check_end();
}
