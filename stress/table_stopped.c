/* SPDX-License-Identifier: MIT */
/*
 * A thread stops at each step of each operation on a table. The others continue, through growth, shrinking and
 * cleaning, and all their results must be correct. Old arrays are not freed in the meantime; their memory is measured.
 * Then the thread is released, its own result must be correct too, and every key must be present once.
 */
#include "tables.h"

#include "table_model.h"

enum { WORKERS = 2, VICTIMS_MOST = ACTORS_MOST - WORKERS };

enum operation {
    V_GET,
    V_INSERT,
    V_INSERT_SHARED,
    V_REPLACE,
    V_REMOVE,
    V_GET_MANY,
    V_INSERT_MANY,
    V_FILL, /* several inserts, so that the table grows */
    V_COMPLETE,
    V_TRIM,
    V_RESERVE,
    V_FOR_EACH,
    V_STATS,
    OPERATIONS
};
static const char *const operation_name[] = {"get",
                                             "insert",
                                             "insert of a shared key",
                                             "replace",
                                             "remove",
                                             "get_many",
                                             "insert_many",
                                             "inserts with growth",
                                             "completing a growth",
                                             "trim",
                                             "reserve",
                                             "for_each",
                                             "stats"};

typedef const char *fault;

struct victim {
    enum operation op;
    struct actor *actor;
    struct step_plan plan;
    pthread_t thread;
};

static struct actor actor[ACTORS_MOST];
static uint64_t random_state;

static void victim_acts(struct victim *v)
{
    struct actor *a = v->actor;
    struct lade_table_stats stats;
    int status = LADE_OK;

    switch (v->op) {
    case V_GET:
        own_single(a, 0, M_GET);
        break;
    case V_INSERT:
        own_single(a, 1, M_INSERT); /* removed before */
        break;
    case V_INSERT_SHARED:
        shared_single(a, 0, M_INSERT);
        break;
    case V_REPLACE:
        own_single(a, 0, M_REPLACE);
        break;
    case V_REMOVE:
        own_single(a, 0, M_REMOVE);
        break;
    case V_GET_MANY:
    case V_INSERT_MANY:
        if (!has_strings())
            batch(a, 0, scene.keys, v->op == V_INSERT_MANY);
        break;
    case V_FILL:
        for (uint64_t i = scene.keys - 4; i < scene.keys; i++)
            own_single(a, i, M_INSERT);
        break;
    case V_TRIM:
        status = lade_table_trim(scene.table);
        break;
    case V_COMPLETE:
    case V_RESERVE:
        status = lade_table_reserve(scene.table, v->op == V_RESERVE ? 2 * scene.keys : 1);
        break;
    case V_FOR_EACH:
        visit_all(a);
        break;
    default:
        lade_table_stats(scene.table, &stats);
    }
    if (status != LADE_OK && status != LADE_LIMITED)
        model_wrong(a, "the status of trim or reserve");
}

static void *victim_body(void *arg)
{
    struct victim *v = arg;

    urcu_memb_register_thread();
    step_plan = &v->plan;
    victim_acts(v);
    step_plan = NULL;
    urcu_memb_unregister_thread();
    if (!v->plan.stopped)
        (void)sem_post(&v->plan.reached);
    return NULL;
}

static void victim_stops(struct victim *v, enum operation op, struct actor *a, unsigned step)
{
    v->op = op;
    v->actor = a;
    v->plan = (struct step_plan){.stop_at = step};
    (void)sem_init(&v->plan.reached, 0, 0);
    (void)sem_init(&v->plan.resume, 0, 0);
    if (pthread_create(&v->thread, NULL, victim_body, v) != 0)
        exit(2);
    step_wait(&v->plan.reached);
}

static void victim_continues(struct victim *v)
{
    (void)sem_post(&v->plan.resume);
    (void)pthread_join(v->thread, NULL);
    (void)sem_destroy(&v->plan.reached);
    (void)sem_destroy(&v->plan.resume);
}

/* Bytes of arrays that are neither in use nor to be used next. */
static uint64_t held_back(struct lade_table *t, uint64_t *used)
{
    uint64_t bytes;

    *used = 0;
    urcu_memb_read_lock();
    bytes = atomic_load(&t->bytes);
    for (struct array *a = root_of(t); a; a = next_of(a))
        *used += a->size;
    urcu_memb_read_unlock();
    return bytes > *used ? bytes - *used : 0;
}

/*
 * The maximum of retained memory, without what the thread itself held when it stopped (an array that it was about to
 * add or to free), in percent of the largest table size since then, or of 1 MiB.
 */
static struct {
    uint64_t by_thread, largest;                    /* since the thread stopped */
    uint64_t most_bytes, most_percent, most_arrays; /* since the last reset */
} retained;

static void measure_from_here(void)
{
    retained.by_thread = held_back(scene.table, &retained.largest);
    if (retained.largest < SPARE)
        retained.largest = SPARE;
}

static void measure(void)
{
    uint64_t used, held = held_back(scene.table, &used), arrays = atomic_load(&scene.table->waiting);

    held = held > retained.by_thread ? held - retained.by_thread : 0;
    if (used > retained.largest)
        retained.largest = used;
    if (held > retained.most_bytes)
        retained.most_bytes = held;
    if (held * 100 / retained.largest > retained.most_percent)
        retained.most_percent = held * 100 / retained.largest;
    if (arrays > retained.most_arrays)
        retained.most_arrays = arrays;
}

/* One phase, or all of them twice. */
static enum phase only;

static void *worker_body(void *arg)
{
    struct actor *a = arg;
    uint64_t phase = scene.operations / (2 * PHASES) + 1, begun = a->operations;

    urcu_memb_register_thread();
    while (a->operations - begun < scene.operations)
        model_act(a, only == PHASES ? (enum phase)((a->operations - begun) / phase % PHASES) : only);
    urcu_memb_unregister_thread();
    return NULL;
}

/*
 * Other threads continue. In a large table they pause after each phase: memory that is still retained then is due to
 * the stopped thread.
 */
static void others_go_on(bool large)
{
    if (!large) {
        only = PHASES;
        check_threads(WORKERS, worker_body, actor, sizeof *actor);
        return;
    }
    scene.operations /= 2 * PHASES;
    for (unsigned i = 0; i < 2 * PHASES; i++) {
        only = (enum phase)(i % PHASES);
        check_threads(WORKERS, worker_body, actor, sizeof *actor);
        measure();
    }
}

/* Own keys 0 are there, own keys 1 were removed; some more, so that the table is before, in or after a growth. */
static void begin_scene(enum lade_table_kind kind, unsigned victims, uint64_t operations, uint64_t keys,
                        unsigned filled)
{
    memory_begin(0, 0);
    scene.config = (struct lade_table_config){.kind = kind, .seeded = true, .seed = check_seed() + filled};
    scene.config.alloc = &memory_alloc;
    scene.threads = WORKERS + victims;
    scene.operations = operations / WORKERS;
    scene.keys = keys;
    scene.races = 0;
    scene.whole = true;
    scene.stopped = true;
    if (lade_table_create(&scene.table, &scene.config) != LADE_OK)
        exit(2);
    actors_begin(actor, check_next(&random_state));
    for (unsigned i = WORKERS; i < scene.threads; i++) {
        own_single(&actor[i], 0, M_INSERT);
        own_single(&actor[i], 1, M_INSERT);
        own_single(&actor[i], 1, M_REMOVE);
    }
    for (unsigned i = 0; i < filled; i++)
        own_single(&actor[i % WORKERS], 2 + i / WORKERS % (keys - 2), M_INSERT);
}

static fault end_scene(void)
{
    struct account sum = {0};

    model_settle(actor, &sum);
    actors_end(actor);
    return sum.wrong ? sum.first_wrong : NULL;
}

/* One grace period for many tables: then all memory is freed. */
static fault bury(struct lade_table *table, bool all)
{
    enum { MOST_BURIED = 64 };
    static struct lade_table *buried[MOST_BURIED];
    static unsigned count;
    fault found = NULL;

    if (table)
        buried[count++] = table;
    if (count < MOST_BURIED && !all)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        (void)lade_table_complete(buried[i]);
    lade_reclaim_barrier();
    lade_reclaim_barrier(); /* arrays with byte strings wait twice */
    for (unsigned i = 0; i < count; i++) {
        uint64_t used, held = held_back(buried[i], &used);
        if (held != 0 || atomic_load(&buried[i]->waiting) != 0)
            found = "old arrays are not freed after the release";
    }
    while (count > 0)
        lade_table_destroy(buried[--count]);
    return found;
}

/* *stopped is set if the operation has that many steps. */
static fault run_trial(enum lade_table_kind kind, enum operation op, unsigned filled, unsigned step,
                       uint64_t operations, uint64_t keys, bool *stopped)
{
    static struct victim v;
    fault found, later;

    begin_scene(kind, 1, operations, keys, filled);
    victim_stops(&v, op, &actor[WORKERS], step);
    *stopped = v.plan.stopped;
    measure_from_here();
    if (*stopped)
        others_go_on(keys > 1000);
    victim_continues(&v);
    found = end_scene();
    later = bury(scene.table, false);
    return found ? found : later;
}

struct tally {
    unsigned trials, faults, most_steps;
    fault first;
};

static void note(struct tally *tally, fault found, enum operation op, unsigned filled, unsigned step)
{
    if (!found)
        return;
    if (tally->faults++ == 0)
        tally->first = found;
    if (table_fault == SOUND && tally->faults == 1)
        printf("%s, %u filled, stopped at step %u: %s\n", operation_name[op], filled, step, found);
}

static void each_step(enum operation op, uint64_t operations, unsigned every, struct tally *tally)
{
    static const unsigned filled[] = {0, 3, 4, 5, 9, 14};

    for (unsigned kind = 0; kind <= LADE_TABLE_BYTES; kind++)
        for (unsigned f = 0; f < sizeof filled / sizeof *filled; f++) {
            bool stopped = true;
            /* A broken table of byte strings would free what is in use. */
            if ((SLOW > 1 && f % 3 != 1) || (table_fault != SOUND && kind == LADE_TABLE_BYTES))
                continue;
            for (unsigned step = 1; stopped; step += 1 + check_below(&random_state, 2 * every - 1)) {
                fault found = run_trial((enum lade_table_kind)kind, op, filled[f], step, operations, 12, &stopped);
                tally->trials += stopped;
                if (stopped && step > tally->most_steps)
                    tally->most_steps = step;
                note(tally, found, op, filled[f], step);
            }
        }
}

static void never_blocks(enum operation op, uint64_t operations)
{
    struct tally tally = {0};

    each_step(op, operations, SLOW > 1 ? 12 : check_full() ? 1 : 4, &tally);
    check(tally.faults == 0 && tally.trials > 0, "lade_table",
          "%s stopped in %u trials at up to %u steps, then %llu operations of others: %u faults%s%s",
          operation_name[op], tally.trials, tally.most_steps, ULL(operations), tally.faults,
          tally.first ? ", first: " : "", tally.first ? tally.first : "");
}

/* A longer run in a table of some MiB, where the size of old arrays matters. */
static void never_blocks_for_long(uint64_t operations, unsigned rounds)
{
    enum { KEYS = 30000 };
    struct tally tally = {0};

    retained.most_bytes = retained.most_percent = retained.most_arrays = 0;
    for (unsigned round = 0; round < rounds; round++) {
        enum operation op = (enum operation)(round % OPERATIONS);
        unsigned filled = 2 * (1 + check_below(&random_state, KEYS - 2)), step;
        bool stopped = false;
        /* An operation that has fewer steps is tried again at an earlier one. */
        for (step = 1 + check_below(&random_state, 2000); !stopped; step = 1 + step / 4) {
            if (op == V_GET_MANY || op == V_INSERT_MANY)
                op = V_FILL;
            fault found =
                run_trial((enum lade_table_kind)(round % 4 == 3), op, filled, step, operations, KEYS, &stopped);
            tally.trials += stopped;
            note(&tally, found, op, filled, step);
        }
    }
    check(tally.faults == 0 && tally.trials == rounds, "lade_table",
          "%u threads, one at a time, stopped in a large table, then %llu operations of others: %u faults%s%s",
          tally.trials, ULL(operations), tally.faults, tally.first ? ", first: " : "", tally.first ? tally.first : "");
    check(
        retained.most_percent <= 200 && (SLOW > 1 || retained.most_bytes > 0), "lade_table",
        "held back by a stopped thread: at most %llu arrays, %llu KiB, %llu %% of the table at its largest or of 1 MiB",
        ULL(retained.most_arrays), ULL(retained.most_bytes / 1024), ULL(retained.most_percent));
}

/*
 * Two threads allocate the next array and one loses the race. No other thread has seen its array, so it is freed
 * although this thread, inside a read section all the time, retains every array that was in use.
 */
static void too_late(void)
{
    unsigned trials = 0, kept = 0;
    bool stopped = true;

    for (unsigned step = 1; stopped; step++) {
        static struct victim v;
        uint64_t arrays = 0;
        urcu_memb_read_lock();
        begin_scene(LADE_TABLE_WORDS, 1, 24, 12, 1);
        victim_stops(&v, V_FILL, &actor[WORKERS], step);
        stopped = v.plan.stopped;
        others_go_on(false);
        victim_continues(&v);
        for (struct array *a = root_of(scene.table); a; a = next_of(a))
            arrays++;
        trials += stopped;
        kept += atomic_load(&scene.table->waiting) != atomic_load(&scene.table->growths) + 1 - arrays;
        fault found = end_scene();
        urcu_memb_read_unlock();
        kept += found != NULL;
        (void)bury(scene.table, false);
    }
    check(kept == 0 && trials > 0, "lade_table", "arrays that come too late: %u trials, kept in %u", trials, kept);
}

/* Another thread trims the table between two steps of a reserve: that must not be reported as lack of memory. */
static void trimmed_meanwhile(void)
{
    unsigned trials = 0, trimmed = 0, faults = 0;
    bool stopped = true;

    for (unsigned step = 1; stopped; step++) {
        static struct victim v;
        begin_scene(LADE_TABLE_WORDS, 1, 24, 12, 1);
        (void)lade_table_reserve(scene.table, 100);
        lade_reclaim_barrier();
        victim_stops(&v, V_RESERVE, &actor[WORKERS], step);
        stopped = v.plan.stopped;
        trimmed += lade_table_trim(scene.table) == LADE_OK;
        victim_continues(&v);
        trials += stopped;
        faults += end_scene() != NULL;
        (void)bury(scene.table, false);
    }
    check(faults == 0 && trimmed > 0, "lade_table", "reserve beside %u trims: %u trials, %u faults", trimmed, trials,
          faults);
}

/* Threads stop one after the other at random steps, and stay stopped. */
static void abandoned(unsigned rounds, uint64_t operations)
{
    static struct victim v[VICTIMS_MOST];
    struct tally tally = {0};
    unsigned stopped = 0;

    for (unsigned round = 0; round < rounds; round++) {
        fault found, later;
        begin_scene((enum lade_table_kind)(round % 2), VICTIMS_MOST, operations, 12, round % 8);
        for (unsigned i = 0; i < VICTIMS_MOST; i++) {
            enum operation op = (enum operation)check_below(&random_state, OPERATIONS);
            victim_stops(&v[i], op, &actor[WORKERS + i], 1 + check_below(&random_state, 60));
            stopped += v[i].plan.stopped;
            others_go_on(false);
        }
        for (unsigned i = 0; i < VICTIMS_MOST; i++)
            victim_continues(&v[round % 2 ? i : VICTIMS_MOST - 1 - i]);
        found = end_scene();
        later = bury(scene.table, false);
        note(&tally, found ? found : later, OPERATIONS - 1, round % 8, 0);
    }
    check(tally.faults == 0 && stopped > 0, "lade_table",
          "%u times %d threads stop one after the other, %u inside an operation, and others go on: %u faults%s%s",
          rounds, (int)VICTIMS_MOST, stopped, tally.faults, tally.first ? ", first: " : "",
          tally.first ? tally.first : "");
}

/* The driver must detect a broken table whose fault a stopped thread makes visible. */
static void negatives(void)
{
    static const char *const what[] = {"", "copies write over", "cells are moved without being frozen"};

    for (unsigned how = WRITE_OVER; how <= NOT_FROZEN; how++) {
        struct tally tally = {0};
        table_fault = (enum table_fault)how;
        /* Few operations of others: later arrays hide what is written into an old one. Of 500 trials few show it, or none. */
        for (unsigned round = 0; round < 16 && tally.faults == 0; round++)
            each_step(how == WRITE_OVER ? V_RESERVE : V_REPLACE, 12, 1, &tally);
        table_fault = SOUND;
        check(tally.faults > 0, "driver", "negative: %s: %u of %u trials%s%s", what[how], tally.faults, tally.trials,
              tally.first ? ", first: " : "", tally.first ? tally.first : "");
    }
    begin_scene(LADE_TABLE_WORDS, 1, 100, 12, 5);
    measure_from_here();
    atomic_fetch_add(&scene.table->bytes, 3 * SPARE);
    measure();
    atomic_fetch_sub(&scene.table->bytes, 3 * SPARE);
    fault rest = end_scene();
    (void)bury(scene.table, true);
    check(retained.most_percent > 200 && !rest, "driver", "negative: 3 MiB that are held back are %s",
          retained.most_percent > 200 ? "noticed" : "accepted");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 3000 : 300, "table_stopped");
    urcu_memb_register_thread();
    random_state = check_seed();
    negatives();
    for (unsigned op = 0; op < OPERATIONS; op++)
        never_blocks((enum operation)op, (check_full() ? 10000u : 400u) / SLOW);
    too_late();
    trimmed_meanwhile();
    abandoned(check_full() ? 500 : 40 / SLOW, (check_full() ? 20000u : 2000u) / SLOW);
    never_blocks_for_long((check_full() ? 1000000u : 100000u) / SLOW, check_full() ? 130 : OPERATIONS / SLOW + 3);
    fault rest = bury(NULL, true);
    check(!rest, "lade_table", "after the release %s", rest ? rest : "all old arrays are freed");
    urcu_memb_unregister_thread();
    check_within(0, NULL);
    return check_end();
}
