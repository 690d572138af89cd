/* SPDX-License-Identifier: MIT */
/*
 * Threads that use one table concurrently and know the expected results. Each owns keys that no other thread changes:
 * every result for them, and what for_each shows, is known exactly. All threads change the shared keys: values are
 * unique, and each value that was stored must be returned once, or be present in the end. All threads insert each race
 * key once: one wins, and all get the winner's value.
 */
#ifndef LADE_STRESS_TABLE_MODEL_H
#define LADE_STRESS_TABLE_MODEL_H

#include "../lib/reclaim.h"
#include "table_keys.h"

struct actor {
    _Alignas(128) unsigned number;
    uint64_t random;
    uint64_t *own;         /* the value and 1; 0: absent */
    uint64_t *race_winner; /* the same */
    unsigned char *race_won;
    uint32_t *seen; /* in which for_each a key was visited last */
    uint32_t visit;
    uint64_t next_value, next_race, base;
    uint64_t in, out, in_sum, out_sum; /* values of shared keys */
    uint64_t operations, refused, limited, visits, grown, shrunk, cleaned, wrong;
    uint64_t cells, growths;
    const char *first_wrong;
};

static void model_wrong(struct actor *a, const char *what)
{
    if (a->wrong++ == 0)
        a->first_wrong = what;
}

/* Is this the moment, the only one, to do that wrong? */
static bool goes_wrong(enum sabotage how, uint64_t count)
{
    if (scene.sabotage != how || count < 200 || scene.sabotaged)
        return false;
    scene.sabotaged = true;
    return true;
}

/* Encodes its key (24 bits), its writer (4) and its time (34). */
static uint64_t fresh_value(struct actor *a, uint64_t n)
{
    return n << 38 | (uint64_t)a->number << 34 | a->next_value++;
}

static bool is_value_of(uint64_t value, uint64_t n)
{
    return value >> 38 == n && (value >> 34) % 16 < scene.threads;
}

static uint64_t own_number(const struct actor *a, uint64_t i)
{
    return i * (scene.threads + 1) + a->number;
}

/* Checks the result of an operation on an own key. After NO_MEMORY, where it is allowed, nothing has changed. */
static void own_answer(struct actor *a, uint64_t i, enum model_act act, int status, uint64_t value, uint64_t other)
{
    uint64_t before = a->own[i];

    a->operations++;
    if (status == LADE_NO_MEMORY && scene.may_fail && act != M_GET) {
        a->refused++;
        return;
    }
    if (act == M_INSERT) {
        if (before ? status != LADE_PRESENT : status != LADE_OK)
            model_wrong(a, before ? "insert of a present key" : "insert of an absent key");
        if (other != (before ? before - 1 : value))
            model_wrong(a, "the winner of an insert");
        a->own[i] = before ? before : value + 1;
        return;
    }
    if (status != (before ? LADE_OK : LADE_ABSENT))
        model_wrong(a, before ? "a key is not found" : "a key is found that is not there");
    else if (before && other != before - 1)
        model_wrong(a, "another value than the last one");
    if (act != M_GET && before)
        a->own[i] = act == M_REPLACE ? value + 1 : 0;
}

static void own_single(struct actor *a, uint64_t i, enum model_act act)
{
    uint64_t n = own_number(a, i), value = fresh_value(a, n), other = UNKNOWN;
    int status;

    if (a->own[i] && goes_wrong(LOSE, a->operations))
        (void)model_do(M_REMOVE, n, 0, NULL);
    if (!a->own[i] && goes_wrong(BRING_BACK, a->operations))
        (void)model_do(M_INSERT, n, value, NULL);
    if (a->own[i] && goes_wrong(STALE, a->operations))
        (void)model_do(M_REPLACE, n, n << 38, NULL);
    status = model_do(act, n, value, &other);
    own_answer(a, i, act, status, value, other);
}

static uint64_t sum_of(uint64_t value)
{
    return check_next(&value);
}

static void value_in(struct actor *a, uint64_t value)
{
    a->in++;
    a->in_sum += sum_of(value);
}

static void value_out(struct actor *a, uint64_t value)
{
    a->out++;
    a->out_sum += sum_of(value);
}

static void shared_answer(struct actor *a, uint64_t n, enum model_act act, int status, uint64_t value, uint64_t other)
{
    bool shows = act == M_INSERT ? status == LADE_PRESENT : status == LADE_OK;

    a->operations++;
    if (status == LADE_NO_MEMORY && scene.may_fail && act != M_GET) {
        a->refused++;
        return;
    }
    if (!shows && status != (act == M_INSERT ? LADE_OK : LADE_ABSENT))
        model_wrong(a, "a status that cannot be");
    if (shows && !is_value_of(other, n))
        model_wrong(a, "a value that no thread wrote");
    if (act == M_INSERT && status == LADE_OK && other != value)
        model_wrong(a, "the winner of an insert");
    if (act == M_INSERT ? status == LADE_OK : act == M_REPLACE && status == LADE_OK)
        value_in(a, value);
    if (shows && (act == M_REPLACE || act == M_REMOVE))
        value_out(a, other);
}

static void shared_single(struct actor *a, uint64_t i, enum model_act act)
{
    uint64_t n = i * (scene.threads + 1) + scene.threads, value = fresh_value(a, n), other = UNKNOWN;
    int status = model_do(act, n, value, &other);

    shared_answer(a, n, act, status, value, other);
    if (act == M_INSERT && status == LADE_OK && goes_wrong(SHARED_LOST, a->operations))
        (void)model_do(M_REMOVE, n, 0, NULL);
}

/* Own and shared keys in one batch, some twice. */
static void batch(struct actor *a, uint64_t base, uint64_t window, bool inserts)
{
    uint64_t i[BATCH_MOST], key[BATCH_MOST], value[BATCH_MOST], other[BATCH_MOST];
    int status[BATCH_MOST];
    size_t count = 1 + check_below(&a->random, BATCH_MOST), good = 0, said;

    for (size_t j = 0; j < count; j++) {
        bool shared = check_below(&a->random, 8) == 0;
        i[j] = (base + check_below(&a->random, (unsigned)window)) % scene.keys;
        i[j] = i[j] * (scene.threads + 1) + (shared ? scene.threads : a->number);
        key[j] = key_of(i[j]);
        value[j] = fresh_value(a, i[j]);
        other[j] = UNKNOWN;
    }
    said = inserts ? lade_table_insert_many(scene.table, key, count, value, other, status)
                   : lade_table_get_many(scene.table, key, count, other, status);
    for (size_t j = 0; j < count; j++) {
        enum model_act act = inserts ? M_INSERT : M_GET;
        good += status[j] == LADE_OK;
        if (i[j] % (scene.threads + 1) == scene.threads)
            shared_answer(a, i[j], act, status[j], value[j], other[j]);
        else
            own_answer(a, i[j] / (scene.threads + 1), act, status[j], value[j], other[j]);
    }
    if (good != said)
        model_wrong(a, "the count of a batch");
}

static void race(struct actor *a)
{
    uint64_t r = a->next_race, n = scene.keys * (scene.threads + 1) + r, value = fresh_value(a, n), winner = UNKNOWN;
    int status = model_do(M_INSERT, n, value, &winner);

    a->operations++;
    if (status == LADE_NO_MEMORY && scene.may_fail) {
        a->refused++;
        return;
    }
    if (status != LADE_OK && status != LADE_PRESENT)
        model_wrong(a, "a status that cannot be");
    if (!is_value_of(winner, n) || (status == LADE_OK) != (winner == value))
        model_wrong(a, "the winner of a race");
    a->race_won[r] = status == LADE_OK || goes_wrong(TWO_WINNERS, status == LADE_PRESENT ? 200 : 0);
    a->race_winner[r] = winner + 1;
    a->next_race++;
}

/* Own keys do not change in the meantime: each present one is visited once, with its value. */
static bool visit_one(void *context, const struct lade_table_entry *entry)
{
    struct actor *a = context;
    uint64_t n = has_strings() ? number_of_string(entry->bytes, entry->size) : number_of_key(entry->key);
    uint64_t i = n / (scene.threads + 1);

    a->visits++;
    if (n == UNKNOWN || !is_value_of(entry->value, n)) {
        model_wrong(a, "for_each shows what no thread wrote");
        return true;
    }
    if (a->seen[n] == a->visit)
        model_wrong(a, "for_each visits a key twice");
    a->seen[n] = a->visit;
    if (a->own && i < scene.keys && own_number(a, i) == n && a->own[i] != entry->value + 1)
        model_wrong(a, "for_each shows another value, or a key that is not there");
    return true;
}

static bool visit_some(void *context, const struct lade_table_entry *entry)
{
    bool more = visit_one(context, entry);

    if (goes_wrong(VISITED_TWICE, 200))
        (void)visit_one(context, entry);
    return more;
}

static void visit_all(struct actor *a)
{
    int status;

    a->visit++;
    status = lade_table_for_each(scene.table, visit_some, a, NULL);
    if (status == LADE_NO_MEMORY && scene.may_fail)
        return;
    if (status != LADE_OK)
        model_wrong(a, "the status of for_each");
    for (uint64_t i = 0; i < scene.keys; i++)
        if (a->own[i] && a->seen[own_number(a, i)] != a->visit)
            model_wrong(a, "for_each leaves out a key");
}

/* How the table changed since the last check of this thread. */
static void look_around(struct actor *a)
{
    struct lade_table_stats stats;

    lade_table_stats(scene.table, &stats);
    if (a->growths && stats.growths > a->growths) {
        a->grown += stats.cells > a->cells;
        a->shrunk += stats.cells < a->cells;
        a->cleaned += stats.cells == a->cells;
    }
    a->cells = stats.cells;
    a->growths = stats.growths;
}

/*
 * After a trim that could not run, one of the threads waits until old arrays are freed, and retries: on a busy machine
 * that may take longer than all operations of the others, and the table would never shrink.
 */
static int trim(struct actor *a)
{
    int status = lade_table_trim(scene.table);

    if (status == LADE_LIMITED && a->number == 0 && !scene.stopped) {
        a->limited++;
        lade_reclaim_barrier();
        status = lade_table_trim(scene.table);
    }
    return status;
}

/* Operations on the whole table. */
static void whole_table(struct actor *a, bool draining)
{
    int status = LADE_OK;

    switch (check_below(&a->random, 6)) {
    case 0:
        visit_all(a);
        break;
    case 1:
    case 2:
        status = draining ? trim(a) : LADE_OK;
        break;
    case 3:
        status =
            draining ? LADE_OK : lade_table_reserve(scene.table, 1 + check_below(&a->random, (unsigned)scene.keys));
        break;
    default:
        look_around(a);
    }
    a->operations++;
    a->limited += status == LADE_LIMITED;
    a->refused += status == LADE_NO_MEMORY;
    if (status != LADE_OK && status != LADE_LIMITED && !(status == LADE_NO_MEMORY && scene.may_fail))
        model_wrong(a, "the status of trim or reserve");
}

/* Phases in which keys are inserted, removed, and replaced: a few keys of a window that moves over all of them. */
enum phase { FILL, DRAIN, CHURN, PHASES };

static void model_act(struct actor *a, enum phase phase)
{
    static const unsigned char share_of[PHASES][4] = {{25, 85, 95, 100}, {20, 25, 30, 100}, {20, 55, 65, 100}};
    uint64_t window = phase == CHURN ? scene.keys / 16 + 1 : scene.keys;
    unsigned r = check_below(&a->random, 100), act = M_GET;
    uint64_t i;

    if (phase == CHURN && check_below(&a->random, 4) == 0)
        a->base++;
    if (scene.whole && check_below(&a->random, (unsigned)scene.keys * scene.threads / 4 + 64) == 0) {
        whole_table(a, phase == DRAIN);
        return;
    }
    if (a->next_race < scene.races && check_below(&a->random, 8) == 0) {
        race(a);
        return;
    }
    if (!has_strings() && check_below(&a->random, 16) == 0) {
        batch(a, a->base, window, phase != DRAIN && r < 50);
        return;
    }
    while (r >= share_of[phase][act])
        act++;
    i = (a->base + check_below(&a->random, (unsigned)window)) % scene.keys;
    if (check_below(&a->random, 4) == 0)
        shared_single(a, i % (1 + scene.keys / 4), act);
    else
        own_single(a, i, act);
}

static void actors_begin(struct actor *actor, uint64_t random)
{
    for (unsigned i = 0; i < scene.threads; i++) {
        actor[i] = (struct actor){.number = i, .random = check_next(&random)};
        actor[i].own = check_memory(scene.keys, sizeof *actor[i].own);
        actor[i].race_winner = check_memory(scene.races, sizeof *actor[i].race_winner);
        actor[i].race_won = check_memory(scene.races, 1);
        actor[i].seen = check_memory(numbers(), sizeof *actor[i].seen);
    }
}

static void actors_end(struct actor *actor)
{
    for (unsigned i = 0; i < scene.threads; i++) {
        free(actor[i].own);
        free(actor[i].race_winner);
        free(actor[i].race_won);
        free(actor[i].seen);
    }
}

struct account {
    uint64_t operations, visits, refused, limited, grown, shrunk, cleaned, races, keys, wrong;
    const char *first_wrong;
};

static void account_wrong(struct account *sum, bool wrong, const char *what)
{
    if (wrong && sum->wrong++ == 0)
        sum->first_wrong = what;
}

/* One value, of one winner. A thread whose insert failed for lack of memory, and was not retried, has seen none. */
static uint64_t race_value(const struct actor *actor, uint64_t r, struct account *sum)
{
    uint64_t winner = 0;
    unsigned won = 0;

    for (unsigned i = 0; i < scene.threads; i++) {
        uint64_t seen = actor[i].race_winner[r];
        account_wrong(sum, seen && winner && seen != winner, "two values in a race");
        winner = seen ? seen : winner;
        won += actor[i].race_won[r];
    }
    account_wrong(sum, winner ? won != 1 : won != 0, "not one winner in a race");
    return winner;
}

/* When quiescent: the content matches the actors' models, by for_each and by get. */
static void model_settle(struct actor *actor, struct account *sum)
{
    struct actor rest = {.number = ACTORS_MOST, .visit = 1};
    uint64_t in = 0, present = 0, shared = 0, shared_sum = 0;
    struct lade_table_stats stats;

    rest.seen = check_memory(numbers(), sizeof *rest.seen);
    int status = lade_table_for_each(scene.table, visit_one, &rest, NULL);
    bool complete = status == LADE_OK;
    /* With a byte limit there may be no memory for the array that it needs. */
    account_wrong(sum, !complete && !(status == LADE_NO_MEMORY && scene.config.max_bytes), "the last for_each");
    for (uint64_t n = 0; n < numbers(); n++) {
        uint64_t i = n / (scene.threads + 1), owner = n % (scene.threads + 1), value = UNKNOWN;
        bool here = model_do(M_GET, n, 0, &value) == LADE_OK, racing = i >= scene.keys;
        uint64_t expected = racing                   ? race_value(actor, n - scene.keys * (scene.threads + 1), sum)
                            : owner == scene.threads ? (here ? value + 1 : 0)
                                                     : actor[owner].own[i];
        present += here;
        account_wrong(sum, complete && here != (rest.seen[n] == 1), "for_each and get do not agree at rest");
        account_wrong(sum, expected != (here ? value + 1 : 0), "the content at rest");
        if (!racing && owner == scene.threads && here) {
            shared++;
            shared_sum += sum_of(value);
        }
        sum->races += racing;
    }
    for (unsigned i = 0; i < scene.threads; i++) {
        struct actor *a = &actor[i];
        in += a->in - a->out;
        shared_sum -= a->in_sum - a->out_sum;
        sum->operations += a->operations;
        sum->visits += a->visits;
        sum->refused += a->refused;
        sum->limited += a->limited;
        sum->grown += a->grown;
        sum->shrunk += a->shrunk;
        sum->cleaned += a->cleaned;
        account_wrong(sum, a->wrong > 0, a->first_wrong);
    }
    account_wrong(sum, rest.wrong > 0, rest.first_wrong);
    account_wrong(sum, in != shared || shared_sum != 0, "values of shared keys lost or doubled");
    status = lade_table_stats(scene.table, &stats);
    account_wrong(sum, status == LADE_OK ? stats.keys != present : complete, "the count of keys");
    sum->keys += present;
    free(rest.seen);
}

/* Yields at random steps inside an operation. */
static void pause_at_steps(uint64_t seed)
{
#ifdef WITH_PAUSES
    static _Thread_local struct step_plan plan;

    plan.pauses = seed | 1;
    step_plan = &plan;
#else
    (void)seed;
#endif
}

static void *actor_body(void *arg)
{
    struct actor *a = arg;
    uint64_t phase = scene.operations / (2 * PHASES) + 1;

    urcu_memb_register_thread();
    pause_at_steps(a->random);
    (void)pthread_barrier_wait(&scene.gate);
    while (a->operations < scene.operations)
        model_act(a, (enum phase)(a->operations / phase % PHASES));
    for (uint64_t tries = 2 * scene.races; tries > 0 && a->next_race < scene.races; tries--)
        race(a);
    urcu_memb_unregister_thread();
    return NULL;
}

/* Runs all threads on a new table. False when there was no memory for it. */
static inline bool model_run(const struct lade_table_config *config, unsigned threads, uint64_t operations,
                             uint64_t keys, struct actor *actor)
{
    scene.config = *config;
    scene.threads = threads;
    scene.operations = operations / threads;
    scene.keys = keys;
    scene.races = keys;
    scene.whole = true;
    int status = lade_table_create(&scene.table, &scene.config);
    if (status == LADE_NO_MEMORY && scene.may_fail)
        return false;
    if (status != LADE_OK)
        exit(2);
    actors_begin(actor, check_seed() ^ keys << 8 ^ threads);
    (void)pthread_barrier_init(&scene.gate, NULL, threads);
    check_threads(threads, actor_body, actor, sizeof *actor);
    (void)pthread_barrier_destroy(&scene.gate);
    return true;
}

#endif
