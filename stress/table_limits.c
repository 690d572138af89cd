/* SPDX-License-Identifier: MIT */
/*
 * Tables at their limits: keys that all have the same home, an allocation failure at each call, a limit of bytes,
 * look-ups in signal handlers, fork.
 */
#include "tables.h"

#include "table_model.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct actor actor[ACTORS_MOST];

/* Every key has its home in the first cell, whatever the size of the array. */
static uint64_t crowd_mix(void *context, uint64_t key)
{
    (void)context;
    return number_of_key(key);
}

static uint64_t crowd_unmix(void *context, uint64_t number)
{
    (void)context;
    return key_of(number);
}

static uint64_t crowd_bytes(void *context, const void *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
    return 7;
}

static const struct lade_table_hash crowd = {crowd_mix, crowd_unmix, crowd_bytes, NULL};

/* Memory is counted by the allocator: arrays are the large pieces. */
enum { LARGE_PIECE = 1024 };

static void hostile(enum lade_table_kind kind, const char *name)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .hash = &crowd, .alloc = &memory_alloc};
    struct lade_table_stats stats;
    struct account sum = {0};
    uint64_t most;

    memory_begin(0, 0);
    memory.large_from = LARGE_PIECE;
    (void)model_run(&config, 4, (check_full() ? 400000 : 40000) / SLOW, 100, actor);
    lade_table_stats(scene.table, &stats);
    most =
        4 * 256 * numbers() / 154 + LADE_TABLE_FIRST; /* of cells: four times what all keys need that ever were there */
    model_settle(actor, &sum);
    actors_end(actor);
    lade_table_destroy(scene.table);
    check(sum.wrong == 0 && stats.cells <= most && atomic_load(&memory.most_bytes) < (int64_t)(2 * SPARE) &&
              stats.longest_probe > stats.keys / 2 && atomic_load(&memory.held) == 0,
          name,
          "one place for %llu keys, %llu operations: %llu wrong%s%s; %llu cells of at most %llu, %lld KiB at most, "
          "longest probe %llu",
          ULL(numbers()), ULL(sum.operations), ULL(sum.wrong), sum.wrong ? ", first: " : "",
          sum.wrong ? sum.first_wrong : "", ULL(stats.cells), ULL(most),
          (long long)atomic_load(&memory.most_bytes) / 1024, ULL(stats.longest_probe));
}

/* Calls `from` to `to` of the allocator fail. Then memory is available again, or the table is destroyed. */
static bool refused_from(enum lade_table_kind kind, uint64_t from, uint64_t to, uint64_t seed, bool ends,
                         struct account *sum)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .seed = seed, .alloc = &memory_alloc};
    uint64_t refused;

    memory_begin(from, to);
    if (!model_run(&config, 3, 3000 / (SLOW > 1 ? 2u : 1u), 30, actor)) {
        account_wrong(sum, atomic_load(&memory.held) != 0, "a table that was not made kept memory");
        return true;
    }
    refused = atomic_load(&memory.refused);
    if (!ends) {
        atomic_store(&memory.refuse_to, 0);
        model_settle(actor, sum);
    }
    for (unsigned i = 0; i < scene.threads; i++)
        account_wrong(sum, actor[i].wrong > 0, actor[i].first_wrong);
    actors_end(actor);
    lade_table_destroy(scene.table);
    account_wrong(sum, atomic_load(&memory.held) != 0, "memory is not given back");
    return refused > 0;
}

static void no_memory(enum lade_table_kind kind, const char *name)
{
    unsigned rounds = check_full() ? 50 : 6 / (SLOW > 1 ? 6u : 1u), calls = SLOW > 1 ? 12 : 40, runs = 0, refused = 0;
    struct account sum = {0};

    scene.may_fail = true;
    for (unsigned round = 0; round < rounds; round++) {
        bool more = true;
        /* Each call, one after the other; where each key needs memory, later calls with larger steps. */
        for (uint64_t n = 1; n <= calls && more; n++) {
            more = false;
            for (unsigned way = 0; way < 4; way++, runs++) {
                uint64_t from = n <= 24 ? n : n * n / 16;
                uint64_t to = way == 0 ? from + 1 : way == 1 ? from + 5 : UINT64_MAX;
                bool was_refused = refused_from(kind, from, to, round, way == 3, &sum);
                more = more || was_refused;
                refused += was_refused;
            }
        }
        if (kind == LADE_TABLE_BYTES)
            round += 3;
    }
    scene.may_fail = false;
    check(sum.wrong == 0 && refused > runs / 2, name,
          "memory refused in %u of %u runs on 3 threads, %llu operations returned NO_MEMORY: %llu wrong%s%s", refused,
          runs, ULL(sum.refused), ULL(sum.wrong), sum.wrong ? ", first: " : "", sum.wrong ? sum.first_wrong : "");
}

/* A thread that allocates an array waits a while for another thread that does. */
static _Atomic unsigned asking;

static void *crowded_get(void *context, size_t size, size_t align)
{
    if (size >= LARGE_PIECE) {
        atomic_fetch_add(&asking, 1);
        for (unsigned i = 0; i < 20 && atomic_load(&asking) < 2; i++)
            (void)sched_yield();
        void *got = memory_get(context, size, align);
        atomic_fetch_sub(&asking, 1);
        return got;
    }
    return memory_get(context, size, align);
}

static const struct lade_alloc crowded_alloc = {crowded_get, memory_put, NULL};

static void byte_limit(enum lade_table_kind kind, const char *name)
{
    struct account sum = {0};
    unsigned runs = (check_full() ? 200 : 20) / (SLOW > 1 ? 4u : 1u), full = 0, above = 0;
    int64_t most = 0;

    scene.may_fail = true;
    for (unsigned run = 0; run < runs; run++) {
        struct lade_table_config config = {
            .kind = kind, .seeded = true, .seed = run, .alloc = &crowded_alloc, .max_bytes = 3000 + run * 1000};
        memory_begin(0, 0);
        memory.large_from = LARGE_PIECE;
        (void)model_run(&config, 4, 20000 / SLOW, 200, actor);
        model_settle(actor, &sum);
        actors_end(actor);
        lade_table_destroy(scene.table);
        account_wrong(&sum, atomic_load(&memory.held) != 0, "memory is not given back");
        full += sum.refused > 0;
        /* The allocator is asked for whole units. */
        int64_t bytes = atomic_load(&memory.most_bytes), arrays = bytes / LARGE_PIECE;
        above += bytes > (int64_t)config.max_bytes + arrays * LADE_CACHELINE_PAIR;
        most = bytes * 100 / (int64_t)config.max_bytes > most ? bytes * 100 / (int64_t)config.max_bytes : most;
    }
    scene.may_fail = false;
    check(sum.wrong == 0 && above == 0 && full > 0, name,
          "%u limits of bytes, %llu inserts returned NO_MEMORY: at most %lld %% used, above the limit in %u; %llu "
          "wrong%s%s",
          runs, ULL(sum.refused), (long long)most, above, ULL(sum.wrong), sum.wrong ? ", first: " : "",
          sum.wrong ? sum.first_wrong : "");
}

/* Keys below this one are there all the time, with their number as value. */
enum { FIXED = 40 };
static _Atomic uint64_t handled, missed;

static void handler(int number)
{
    static _Thread_local uint64_t turn;
    uint64_t n = turn++ % (FIXED + 1), value = UNKNOWN;
    int status = model_do(M_GET, n, 0, &value);
    int saved = errno;

    (void)number;
    /* The last one is inserted and removed. */
    atomic_fetch_add(&missed, n < FIXED ? status != LADE_OK || value != n : status == LADE_OK && value >> 32 != n);
    atomic_fetch_add(&handled, 1);
    errno = saved;
}

static void interrupt(void *context)
{
    (void)context;
    (void)raise(SIGUSR1);
}

static bool count_one(void *context, const struct lade_table_entry *entry)
{
    *(uint64_t *)context += entry->value < FIXED;
    return true;
}

static _Atomic bool working;
static uint64_t visited_wrong;

/* All operations, with growth, cleaning and trim. */
static void *worker_body(void *arg)
{
    uint64_t rounds = *(const uint64_t *)arg;

    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t value = (uint64_t)FIXED << 32 | i, fixed = 0;
        (void)model_do(M_INSERT, FIXED, value, NULL);
        (void)model_do(M_INSERT, 1000 + i, value, NULL);
        (void)model_do(M_REPLACE, FIXED, value, NULL);
        (void)model_do(M_REMOVE, i % 16 == 0 ? FIXED : 1000 + i, 0, NULL);
        if (i % 64 == 0)
            (void)lade_table_trim(scene.table);
        if (i % 64 == 32)
            (void)lade_table_reserve(scene.table, 100 + i % 1000);
        if (i % 64 == 48) {
            (void)lade_table_for_each(scene.table, count_one, &fixed, NULL);
            visited_wrong += fixed != FIXED;
        }
    }
    return NULL;
}

static void *interrupted_body(void *arg)
{
    urcu_memb_register_thread();
    (void)worker_body(arg);
    atomic_store(&working, false);
    urcu_memb_unregister_thread();
    return NULL;
}

static void begin_fixed(enum lade_table_kind kind)
{
    scene.config = (struct lade_table_config){.kind = kind};
    scene.threads = 1;
    if (lade_table_create(&scene.table, &scene.config) != LADE_OK)
        exit(2);
    for (uint64_t n = 0; n < FIXED; n++)
        (void)model_do(M_INSERT, n, n, NULL);
    atomic_store(&handled, 0);
    atomic_store(&missed, 0);
    visited_wrong = 0;
}

static void signals(enum lade_table_kind kind, const char *name)
{
    struct sigaction action = {.sa_handler = handler};
    struct step_plan plan = {.disturb = interrupt};
    uint64_t rounds = 300 / (SLOW > 1 ? 4u : 1u), at_steps, other_times;
    pthread_t thread;

    (void)sigaction(SIGUSR1, &action, NULL);
    begin_fixed(kind);
    step_plan = &plan; /* at each step */
    (void)worker_body(&rounds);
    step_plan = NULL;
    at_steps = atomic_load(&handled);
    rounds = (check_full() ? 1000000u : 60000u) / SLOW; /* at any time, from another thread */
    atomic_store(&working, true);
    if (pthread_create(&thread, NULL, interrupted_body, &rounds) != 0)
        exit(2);
    while (atomic_load(&working)) {
        (void)pthread_kill(thread, SIGUSR1);
        (void)sched_yield();
    }
    (void)pthread_join(thread, NULL);
    lade_table_destroy(scene.table);
    other_times = atomic_load(&handled) - at_steps;
    check(atomic_load(&missed) == 0 && visited_wrong == 0 && at_steps > 1000 && other_times > 0, name,
          "get in a handler: at %llu steps, and %llu times from another thread: %llu wrong answers", ULL(at_steps),
          ULL(other_times), ULL(atomic_load(&missed) + visited_wrong));
}

/* The child continues to use the table, and so does the parent. */
static void forks(enum lade_table_kind kind, const char *name)
{
#ifdef WITH_TSAN
    (void)kind;
    printf("note: %s: ThreadSanitizer does not let a child make threads\n", name);
#else
    uint64_t rounds = 2000;
    int status = -1;

    begin_fixed(kind);
    (void)worker_body(&rounds);
    pid_t child = fork();
    if (child == 0) {
        (void)worker_body(&rounds);
        bool right = visited_wrong == 0;
        for (uint64_t n = 0; n < FIXED; n++) {
            uint64_t value = UNKNOWN;
            right = right && model_do(M_GET, n, 0, &value) == LADE_OK && value == n;
        }
        lade_reclaim_barrier();
        lade_reclaim_barrier(); /* arrays with byte strings wait twice */
        right = right && atomic_load(&scene.table->waiting) == 0;
        lade_table_destroy(scene.table);
        _exit(right ? 0 : 3);
    }
    (void)worker_body(&rounds);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    lade_table_destroy(scene.table);
    check(child > 0 && status == 0 && visited_wrong == 0, name, "fork: the child ended with status %d", status);
#endif
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"words", "byte strings"};

    check_begin(argc, argv);
    check_within(check_full() ? 1800 : 300, "table_limits");
    urcu_memb_register_thread();
    for (unsigned kind = 0; kind <= LADE_TABLE_BYTES; kind++) {
        forks((enum lade_table_kind)kind, name[kind]);
        signals((enum lade_table_kind)kind, name[kind]);
        hostile((enum lade_table_kind)kind, name[kind]);
        byte_limit((enum lade_table_kind)kind, name[kind]);
        no_memory((enum lade_table_kind)kind, name[kind]);
    }
    urcu_memb_unregister_thread();
    check_within(0, NULL);
    return check_end();
}
